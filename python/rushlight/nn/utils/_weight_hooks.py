"""What the hooks of weight_norm and spectral_norm share: finding one, refusing a second."""

from rushlight.nn.parameter import UninitializedParameter


def key_of(module, kind, name):
    """The key of this kind of hook on parameter `name` in `_forward_pre_hooks`, or None."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return key
    return None


def refuse_second(module, kind, name, function):
    """RuntimeError where the parameter has such a hook already."""
    if key_of(module, kind, name) is not None:
        raise RuntimeError(f"Cannot register two {function} hooks on the same parameter {name}")


def refuse_uninitialized(weight, kind, what):
    """ValueError for a parameter without a value yet."""
    if isinstance(weight, UninitializedParameter):
        raise ValueError(
            f"The module passed to `{kind.__name__}` can't have uninitialized parameters. "
            f"Make sure to run the dummy forward before applying {what} normalization"
        )


def remove(module, kind, name, function):
    """Takes the hook away; ValueError if there is none. The weight is a parameter again."""
    key = key_of(module, kind, name)
    if key is None:
        raise ValueError(f"{function} of '{name}' not found in {module}")
    module._forward_pre_hooks[key].remove(module)
    del module._forward_pre_hooks[key]
