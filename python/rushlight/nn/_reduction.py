"""torch.nn._reduction, also F._Reduction: numbers and strings of a loss's `reduction`."""

import warnings

_NUMBERS = {"none": 0, "mean": 1, "elementwise_mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """The number of a reduction: none 0, mean 1, sum 2.

    >>> torch.nn._reduction.get_enum("sum")
    2
    """
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.",
            stacklevel=2,
        )
    if reduction not in _NUMBERS:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return _NUMBERS[reduction]


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> str:
    """The reduction that the two old arguments mean.

    >>> torch.nn._reduction.legacy_get_string(False, True, emit_warning=False)
    'sum'
    """
    reduction = "sum"
    if reduce is False:
        reduction = "none"
    elif size_average is not False:
        reduction = "mean"
    if emit_warning:
        warnings.warn(
            "size_average and reduce args will be deprecated, please use "
            f"reduction='{reduction}' instead.",
            stacklevel=2,
        )
    return reduction


def legacy_get_enum(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True
) -> int:
    """The number of the reduction that the two old arguments mean.

    >>> torch.nn._reduction.legacy_get_enum(True, True, emit_warning=False)
    1
    """
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
