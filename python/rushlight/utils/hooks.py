"""Hooks under torch's module path: what registering one returns, and those that no file keeps."""

import warnings

from rushlight.nn.modules._hooks import RemovableHandle

__all__ = ["RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]


def unserializable_hook(f):
    """Marks a hook of tensors whose absence in files needs no warning; returns it.

    Args:
        f: the hook.
    """
    f.__torch_unserializable__ = True
    return f


def warn_if_has_hooks(tensor):
    """Warns of each hook of a tensor that a file will not keep.

    Args:
        tensor: the tensor.
    """
    for hook in (tensor._backward_hooks or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
                stacklevel=2,
            )
