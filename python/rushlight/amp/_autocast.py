"""autocast as a context and decorator.

Note: the row of each operation says what is cast (csrc/bindings/table/row.h, and `autocast=` of
@op).
"""

import functools
import warnings

from rushlight import _C, cuda

_DTYPES = (_C.bfloat16, _C.float16)


def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocast for a kind of device.

    Args:
        device_type: "cpu", "cuda" or another.

    >>> torch.amp.is_autocast_available("cpu")
    True
    """
    return device_type in ("cpu", "cuda")


class autocast:
    """Operations that gain from it compute in a shorter dtype; others stay exact.

    Matrix products and convolutions take float16 or bfloat16, losses float32; on GPUs also
    softmax, norms, powers, exponentials and sums take float32. float64 is never cast.

    Args:
        device_type: "cpu" or "cuda"; operations on other devices are not concerned.
        dtype: the shorter dtype; bfloat16 on the CPU, float16 on GPUs by default.
        enabled: False ends an outer autocast inside.
        cache_enabled: what is_autocast_cache_enabled() returns inside; casts are never kept.

    Raises:
        RuntimeError: for another kind of device.

    >>> x = torch.ones(2, 2)
    >>> with torch.autocast("cpu"):
    ...     (x @ x).dtype
    torch.bfloat16
    """

    __module__ = "rushlight.amp.autocast_mode"

    def __init__(self, device_type, dtype=None, enabled=True, cache_enabled=None):
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if not is_autocast_available(device_type):
            raise RuntimeError(
                f"User specified an unsupported autocast device_type '{device_type}'\n"
                "autocast is for 'cpu' and 'cuda'"
            )
        self.device = device_type
        self.fast_dtype = _C.get_autocast_dtype(device_type) if dtype is None else dtype
        if enabled and device_type == "cuda" and not cuda.is_available():
            warnings.warn(
                "CUDA is not available or torch_xla is imported. Disabling autocast.",
                stacklevel=2,
            )
            enabled = False
        elif enabled and self.fast_dtype not in _DTYPES:
            name = device_type.upper()
            warnings.warn(
                f"In {name} autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"{name} Autocast only supports dtypes of torch.bfloat16, torch.float16 currently.",
                stacklevel=2,
            )
            enabled = False
        self._enabled = bool(enabled)
        if cache_enabled is None:
            cache_enabled = _C.is_autocast_cache_enabled()
        self._cache_enabled = cache_enabled

    def __enter__(self):
        self._before = (
            _C.is_autocast_enabled(self.device),
            _C.get_autocast_dtype(self.device),
            _C.is_autocast_cache_enabled(),
        )
        _C.set_autocast_cache_enabled(self._cache_enabled)
        _C.set_autocast_enabled(self.device, self._enabled)
        if self._enabled:
            _C.set_autocast_dtype(self.device, self.fast_dtype)
        return self

    def __exit__(self, *error):
        enabled, dtype, cache_enabled = self._before
        _C.set_autocast_cache_enabled(cache_enabled)
        _C.set_autocast_enabled(self.device, enabled)
        _C.set_autocast_dtype(self.device, dtype)
        return False

    def __call__(self, func):
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. "
                "Did you mean to use autocast as a context manager? For example:\n"
                "    with torch.autocast(device_type=...):\n        output = model(input)"
            )

        @functools.wraps(func)
        def inside(*args, **kwargs):
            with self:
                return func(*args, **kwargs)

        return inside


def _cast(value, device_type, dtype):
    """Tensors of the device, also within lists, tuples and dicts, as this dtype."""
    if isinstance(value, _C.Tensor):
        eligible = (
            value.is_floating_point()
            and value.device.type == device_type
            and value.dtype is not _C.float64
        )
        return value.to(dtype) if eligible else value
    if isinstance(value, list | tuple):
        return type(value)(_cast(v, device_type, dtype) for v in value)
    if isinstance(value, dict):
        return {k: _cast(v, device_type, dtype) for k, v in value.items()}
    return value


def custom_fwd(fwd=None, *, device_type, cast_inputs=None):
    """Decorates the forward of an autograd.Function: it and its backward see the same autocast.

    Args:
        fwd: the forward; None for a decorator with arguments.
        device_type: "cpu" or "cuda".
        cast_inputs: inside autocast, tensors are cast to this dtype and forward runs without it.

    >>> class Product(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    ...     def forward(ctx, a, b):
    ...         return a @ b
    >>> with torch.autocast("cpu"):
    ...     Product.apply(torch.ones(2, 2), torch.ones(2, 2)).dtype
    torch.float32
    """
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def forward(*args, **kwargs):
        ctx = args[0]  # of a function that is no forward its first argument, which is cast too
        enabled = _C.is_autocast_enabled(device_type)
        ctx._dtype = _C.get_autocast_dtype(device_type)
        if cast_inputs is None or not enabled:
            ctx._fwd_used_autocast = enabled
            return fwd(*args, **kwargs)
        ctx._fwd_used_autocast = False
        args = _cast(args, device_type, cast_inputs)
        with autocast(device_type, enabled=False):
            return fwd(*args, **_cast(kwargs, device_type, cast_inputs))

    return forward


def custom_bwd(bwd=None, *, device_type):
    """Decorates the backward of an autograd.Function whose forward has custom_fwd.

    Args:
        bwd: the backward; None for a decorator with arguments.
        device_type: "cpu" or "cuda".

    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.amp.custom_fwd(device_type="cpu")
    ...     def forward(ctx, x):
    ...         return x * 2
    ...     @staticmethod
    ...     @torch.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         return grad * 2
    >>> x = torch.ones(1, requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor([2.])
    """
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def backward(ctx, *grads):
        with autocast(device_type, dtype=ctx._dtype, enabled=ctx._fwd_used_autocast):
            return bwd(ctx, *grads)

    return backward
