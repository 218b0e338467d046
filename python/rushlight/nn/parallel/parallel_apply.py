"""Calling replicas, each with its own arguments, on its own device."""

import traceback

from rushlight import _C
from rushlight.cuda._device import device as device_context
from rushlight.nn.parallel.scatter_gather import indices


def parallel_apply(modules, inputs, kwargs_tup=None, devices=None):
    """Calls each module with its arguments, in order, with its device as the current one.

    Args:
        modules: as many as there are inputs
        inputs: for each a tuple of arguments, or one argument
        kwargs_tup: for each a dict of keyword arguments
        devices: for each a device; default: where its arguments are

    Shape: whatever the modules take and return.

    Raises: what a module raises, with its type kept; the message names the replica.

    >>> with torch.cuda.virtual(2):
    ...     nets = torch.nn.parallel.replicate(torch.nn.Linear(2, 1).cuda(), [0, 1])
    ...     inputs = [torch.ones(3, 2, device=i) for i in (0, 1)]
    ...     out = torch.nn.parallel.parallel_apply(nets, inputs)
    >>> [y.device.index for y in out]
    [0, 1]
    """
    if len(modules) != len(inputs):
        raise AssertionError(
            f"The number of modules {len(modules)} is not equal to the number of inputs "
            f"{len(inputs)}"
        )
    kwargs_tup = ({},) * len(modules) if kwargs_tup is None else kwargs_tup
    if len(kwargs_tup) != len(modules):
        raise AssertionError(f"{len(modules)} modules, and {len(kwargs_tup)} dicts of arguments")
    if devices is None:
        devices = [_find_device(arguments) for arguments in zip(inputs, kwargs_tup, strict=True)]
    elif len(devices) != len(modules):
        raise AssertionError(f"{len(modules)} modules, and {len(devices)} devices")
    else:
        devices = indices(devices)
    outputs = []
    calls = zip(modules, inputs, kwargs_tup, devices, strict=True)
    for replica, (module, arguments, keywords, index) in enumerate(calls):
        if not isinstance(arguments, (list, tuple)):
            arguments = (arguments,)
        try:
            with device_context(index):
                outputs.append(module(*arguments, **keywords))
        except Exception as error:
            where = f"in replica {replica} on device {index}"
            if index is None:
                where = f"in replica {replica}"
            raise renamed(error, where) from None  # the text shows it
    return outputs


def get_a_var(obj):
    """The first tensor in lists, tuples and dicts, or None."""
    if isinstance(obj, _C.Tensor):
        return obj
    if isinstance(obj, dict):
        obj = obj.items()
    elif not isinstance(obj, (list, tuple)):
        return None
    return next((found for found in map(get_a_var, obj) if found is not None), None)


def _find_device(value):
    if isinstance(value, _C.Tensor):
        return value.get_device() if value.is_cuda else None
    if isinstance(value, dict):
        value = tuple(value.values())
    if isinstance(value, (list, tuple)):
        return next((i for i in map(_find_device, value) if i is not None), None)
    return None


def renamed(error: Exception, where: str) -> Exception:
    """The same error, of the same type, whose message names the replica."""
    kind = type(error)
    frames = "".join(traceback.format_exception(error))
    message = f"Caught {kind.__name__} {where}.\nOriginal {frames}"
    if isinstance(error, KeyError):
        message = _Verbatim(message)
    try:
        new = kind.__new__(kind)
        new.args = (message,)
        new.__dict__.update(error.__dict__)
        new.__dict__.pop("__notes__", None)
        shows_it = message in str(new)
    except Exception:
        new, shows_it = error, False
    if not shows_it:  # a class that writes its own text, or that cannot be made so
        new.add_note(f"Caught {kind.__name__} {where}.")
    return new


class _Verbatim(str):
    """A KeyError shows its key by repr: this text is shown with its line breaks."""

    def __repr__(self):
        return str(self)
