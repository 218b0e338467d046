"""Moving values between the library and torch, and comparing them."""

import numpy as np


def random(*shape, seed=0, low=-1.0, high=1.0):
    """Numbers that both libraries are given: float32, the same on every run."""
    numbers = np.random.RandomState(seed).uniform(low, high, shape)
    return numbers.astype(np.float32)


def both(ours, theirs, array, requires_grad=False):
    """One array as a tensor of each library."""
    array = np.array(array)
    a, b = ours.tensor(array.tolist(), dtype=_dtype(ours, array)), theirs.from_numpy(array.copy())
    a = a.reshape(array.shape)
    if requires_grad:
        a.requires_grad_()
        b.requires_grad_()
    return a, b


def _dtype(library, array):
    return getattr(library, str(array.dtype))


def values(tensor):
    """Any tensor as a NumPy array."""
    return np.array(tensor.detach().cpu().tolist(), dtype=np.float64).reshape(tuple(tensor.shape))


def assert_same(ours, theirs, tolerance=1e-5):
    """Shapes equal, values within tolerance (relative to 1 or the value)."""
    if isinstance(ours, tuple | list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b, tolerance)
        return
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype) == str(theirs.dtype)
    np.testing.assert_allclose(values(ours), values(theirs), rtol=tolerance, atol=tolerance)


def message(call):
    """(type name, text) of the error that a call raises."""
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
    raise AssertionError("no error was raised")
