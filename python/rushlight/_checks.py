"""torch._assert and torch._check*: raise an error unless a condition holds."""

import warnings

from rushlight import _C

__all__ = [
    "_assert", "_assert_async", "_check", "_check_index", "_check_is_size",
    "_check_not_implemented", "_check_tensor_all", "_check_type", "_check_value", "_check_with",
]  # fmt: skip


def _assert(condition, message):
    """`assert condition, message`, as a function; what has `__torch_function__` takes the call."""
    kind = type(condition)
    if not isinstance(condition, _C.Tensor) and hasattr(kind, "__torch_function__"):
        return kind.__torch_function__(_assert, (kind,), (condition, message), {})
    assert condition, message
    return None


def _assert_async(input, assert_msg="Expected Tensor with single nonzero value, but got zero"):
    """Raises RuntimeError if the one element of a tensor is zero."""
    if not input.item():
        raise RuntimeError(assert_msg)


def _check_with(error_type, cond, message):
    """Raises an error of the type, with the text of message(), unless the condition is True."""
    if not isinstance(cond, bool):
        if isinstance(cond, _C.Tensor):
            raise TypeError(
                "cond must be a bool, but got a Tensor. For tensor conditions, use "
                "torch._check_tensor_all() to assert that all elements are true."
            )
        raise TypeError(f"cond must be a bool, but got {type(cond)}")
    if cond:
        return
    if message is None:
        text = "Expected cond to be True, but got False."
    elif not callable(message):
        raise TypeError("message must be a callable")
    else:
        text = str(message())
    raise error_type(text)


def _check(cond, message=None):
    """Raises RuntimeError unless the condition is True."""
    _check_with(RuntimeError, cond, message)


def _check_index(cond, message=None):
    """Raises IndexError unless the condition is True."""
    _check_with(IndexError, cond, message)


def _check_value(cond, message=None):
    """Raises ValueError unless the condition is True."""
    _check_with(ValueError, cond, message)


def _check_type(cond, message=None):
    """Raises TypeError unless the condition is True."""
    _check_with(TypeError, cond, message)


def _check_not_implemented(cond, message=None):
    """Raises NotImplementedError unless the condition is True."""
    _check_with(NotImplementedError, cond, message)


def _check_is_size(i, message=None, *, max=None):
    """Raises RuntimeError unless the number is a size: not negative, and `max` at most."""
    warnings.warn(
        "_check_is_size will be removed in a future PyTorch release along with "
        "guard_size_oblivious.     Use _check(i >= 0) instead.",
        FutureWarning,
        stacklevel=2,
    )
    _check(i >= 0, message)
    if max is not None:
        _check(i <= max, message)


def _check_tensor_all(cond, message=None):
    """Raises RuntimeError unless every element of a bool tensor is True."""
    if not isinstance(cond, _C.Tensor):
        raise TypeError(f"cond must be a tensor, but got {type(cond)}")
    if cond.dtype != _C.bool:
        raise TypeError(f"cond tensor must have dtype torch.bool, but got {cond.dtype}")
    _check(cond.all().item(), message)
