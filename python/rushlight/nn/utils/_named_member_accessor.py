"""Exchange of a module's tensor by name, which functional calls of libraries use."""

from rushlight import _C

_MISSING = object()


def swap_tensor(module, name, tensor, allow_missing=False):
    """Sets a parameter, buffer or attribute of a module and returns the tensor it had.

    Args:
        module: the module.
        name: of the tensor, without dots.
        tensor: the new one; if missing (what an earlier call returned), the name is removed.
        allow_missing: accept a name that the module does not have.
    """
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    if tensor is not None and tensor is not _MISSING and not isinstance(tensor, _C.Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    for home in (module._parameters, module._buffers):
        if name in home:
            old = home[name]
            if tensor is _MISSING:
                del home[name]
            else:
                home[name] = tensor
            return old
    old = getattr(module, name, _MISSING)
    if old is _MISSING and not allow_missing:
        raise AttributeError(f"{type(module).__name__} has no attribute `{name}`")
    if old is not _MISSING and not isinstance(old, _C.Tensor):
        raise TypeError(f"attribute `{name}`: {old} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(module, name, tensor)
    elif old is not _MISSING:
        delattr(module, name)
    return old
