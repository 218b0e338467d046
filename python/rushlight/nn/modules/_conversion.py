"""Moving a module between devices and dtypes.

A parameter stays the same object and gets new data, so an optimizer made earlier keeps working;
to the meta device and from it, it is a new one, as torch's.
"""

import rushlight.__future__ as future
from rushlight import _C
from rushlight._dtype_names import as_dtype
from rushlight._grad_mode import no_grad

_TO_FORMS = (
    " * (torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, "
    "bool copy = False, *, torch.memory_format memory_format = None)\n"
    " * (torch.dtype dtype, bool non_blocking = False, bool copy = False, *, "
    "torch.memory_format memory_format = None)\n"
    " * (Tensor tensor, bool non_blocking = False, bool copy = False, *, "
    "torch.memory_format memory_format = None)\n"
)


def _wrong_to(args, kwargs):
    got = [type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()]
    return TypeError(
        f"to() received an invalid combination of arguments - got ({', '.join(got)}), "
        f"but expected one of:\n{_TO_FORMS}"
    )


def parse_to(*args, **kwargs):
    """(device, dtype, non_blocking, memory_format) from any form of `to`'s arguments."""
    names = ("device", "dtype", "non_blocking", "copy")
    args = [as_dtype(each) for each in args]
    first = args[0] if args else kwargs.get("tensor")
    if isinstance(first, _C.Tensor):
        names, args = ("non_blocking", "copy"), args[1:]
        given = {"device": first.device, "dtype": first.dtype}
        kwargs = {k: v for k, v in kwargs.items() if k != "tensor"}
    elif isinstance(first, _C.dtype):
        names, given = ("dtype", "non_blocking", "copy"), {}
    else:
        given = {}
    if len(args) > len(names):
        raise _wrong_to(args, kwargs)
    given.update(zip(names, args, strict=False))
    for name, value in kwargs.items():
        if name in given or name not in (*names, "memory_format"):
            raise _wrong_to(args, kwargs)
        given[name] = value
    if "copy" in given:  # a module's own tensors are converted
        raise RuntimeError(".to() does not accept copy argument")
    device, dtype = given.get("device"), as_dtype(given.get("dtype"))
    if device is not None and not isinstance(device, _C.device):
        if not isinstance(device, (str, int)) or isinstance(device, bool):
            raise _wrong_to(args, kwargs)
        device = _C.device(device)
    if dtype is not None and not isinstance(dtype, _C.dtype):
        raise _wrong_to(args, kwargs)
    if not isinstance(given.get("non_blocking", False), (bool, int)):
        raise _wrong_to(args, kwargs)
    return device, dtype, given.get("non_blocking", False), given.get("memory_format")


vars(_C._nn)["_parse_to"] = parse_to  # where libraries take it from


def _floating(t):
    return t.is_floating_point()


class Conversion:
    """The part of Module that replaces the data of parameters and buffers."""

    def _apply(self, fn, recurse=True):
        """Runs `fn` over every parameter, gradient and buffer, here and below."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        with no_grad():
            for name, param in self._parameters.items():
                if param is not None:
                    self._convert(name, param, fn)
            for name, buffer in self._buffers.items():
                if buffer is not None:
                    self._put(self._buffers, name, fn(buffer))
        return self

    def _convert(self, name, param, fn):
        made = fn(param)  # itself: what `fn` writes there is a write to it
        if future._swap_module_params_on_conversion:
            self._exchange(name, param, made, fn)
            return
        if made.is_meta != param.is_meta or future._overwrite_module_params_on_conversion:
            from rushlight.nn.parameter import Parameter

            new = Parameter(made, param.requires_grad)
            if param.grad is not None:
                new.grad = fn(param.grad).requires_grad_(param.grad.requires_grad)
            self._put(self._parameters, name, new)
            return
        if made is not param:
            param.data = made
        if param.grad is not None:
            grad = fn(param.grad)
            if grad is not param.grad:
                param.grad.data = grad

    def _exchange(self, name, param, made, fn):
        from rushlight.nn.parameter import Parameter
        from rushlight.utils import swap_tensors

        new = made if isinstance(made, Parameter) else Parameter(made, param.requires_grad)
        grad = param.grad
        try:
            if new is not param:
                swap_tensors(param, new)
            if grad is not None:
                param.grad = fn(grad).requires_grad_(grad.requires_grad)
        except Exception as error:
            raise RuntimeError(
                f"_apply(): Couldn't swap {type(self).__name__}.{name}\n{error}"
            ) from error

    def to(self, *args, **kwargs):
        """Moves and casts parameters and buffers in place; returns the module.

        Called as `to(device)`, `to(dtype)`, `to(device, dtype)`, `to(tensor)` or
        `to(memory_format=...)`. A dtype changes floating-point tensors only.

        Args:
            non_blocking: let the copies run beside the host where they can.

        >>> torch.nn.Linear(2, 2).to(torch.float64).weight.dtype
        torch.float64
        """
        device, dtype, non_blocking, memory_format = parse_to(*args, **kwargs)
        if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
            raise TypeError(
                "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                f"dtype={dtype}"
            )

        def convert(t):
            target = dtype if _floating(t) or t.is_complex() else None
            if t.is_meta and device is not None and device.type != "meta":
                raise NotImplementedError(
                    "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty()"
                    " instead of torch.nn.Module.to() when moving module from meta to a different "
                    "device."
                )
            if memory_format is not None and t.dim() in (4, 5):
                return t.to(device, target, non_blocking, memory_format=memory_format)
            return t.to(device, target, non_blocking)

        return self._apply(convert)

    def cuda(self, device=None):
        """Moves parameters and buffers to a GPU, the current one if `device` is None; returns the
        module.
        """
        return self._apply(lambda t: t.cuda(device))

    def cpu(self):
        """Moves parameters and buffers to the CPU; returns the module."""
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type):
        """Casts all parameters and buffers, the integer ones too, to `dst_type`."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self):
        """Casts floating-point parameters and buffers to float32."""
        return self._apply(lambda t: t.float() if _floating(t) else t)

    def double(self):
        """Casts floating-point parameters and buffers to float64."""
        return self._apply(lambda t: t.double() if _floating(t) else t)

    def half(self):
        """Casts floating-point parameters and buffers to float16."""
        return self._apply(lambda t: t.half() if _floating(t) else t)

    def bfloat16(self):
        """Casts floating-point parameters and buffers to bfloat16."""
        return self._apply(lambda t: t.bfloat16() if _floating(t) else t)

    def to_empty(self, *, device, recurse=True):
        """Moves to a `device` without copying: the values are undefined afterwards. With
        recurse=False, of this module alone.
        """

        def empty(t):
            return _C.empty_like(t, device=device)

        def convert(t):
            return t._of_part(empty) if hasattr(t, "_of_part") else empty(t)

        return self._apply(convert, recurse=recurse)

    def share_memory(self):
        """Moves parameters and buffers to memory that other processes can map."""
        return self._apply(lambda t: t.share_memory_())
