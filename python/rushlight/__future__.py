"""torch.__future__: how modules replace the values of their parameters when they are converted."""

_overwrite_module_params_on_conversion = _swap_module_params_on_conversion = False


def set_overwrite_module_params_on_conversion(value: bool) -> None:
    """Whether conversions of a module give it new parameters, instead of new data to the old ones.

    Args:
        value: the setting; it is False at first.

    >>> torch.__future__.set_overwrite_module_params_on_conversion(False)
    """
    global _overwrite_module_params_on_conversion
    _overwrite_module_params_on_conversion = value


def get_overwrite_module_params_on_conversion() -> bool:
    """Whether conversions of a module give it new parameters.

    >>> torch.__future__.get_overwrite_module_params_on_conversion()
    False
    """
    return _overwrite_module_params_on_conversion


def set_swap_module_params_on_conversion(value: bool) -> None:
    """Whether conversions of a module exchange its parameters with new ones, by
    torch.utils.swap_tensors(): the object stays, whatever becomes of its data.

    Args:
        value: the setting; it is False at first.

    >>> torch.__future__.set_swap_module_params_on_conversion(False)
    """
    global _swap_module_params_on_conversion
    _swap_module_params_on_conversion = value


def get_swap_module_params_on_conversion() -> bool:
    """Whether conversions of a module exchange its parameters with new ones.

    >>> torch.__future__.get_swap_module_params_on_conversion()
    False
    """
    return _swap_module_params_on_conversion
