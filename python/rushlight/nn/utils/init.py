"""Modules whose parameters are not initialised."""

import inspect

__all__ = ["skip_init"]


def skip_init(module_cls, *args, **kwargs):
    """A module with the memory of its parameters, but not their values, for what is loaded anyway.

    Args:
        module_cls: the class of the module; its constructor takes `device`.
        args, kwargs: for the constructor.

    Raises:
        RuntimeError: if it is no module, or its constructor takes no device.

    >>> torch.nn.utils.skip_init(torch.nn.Linear, 5, 1)
    Linear(in_features=5, out_features=1, bias=True)
    """
    from rushlight.nn.modules.module import Module

    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, device="meta", **kwargs).to_empty(device=device)
