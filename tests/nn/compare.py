"""Moving values between the library and torch; results of layers are compared to 1e-5."""

import numpy as np

from tests.compare import same_as_torch


def assert_same(ours, theirs, rtol=1e-5):
    same_as_torch(ours, theirs, rtol)


def random(*shape, seed=0, low=-1.0, high=1.0):
    """Numbers that both libraries are given: float32, the same on every run."""
    numbers = np.random.RandomState(seed).uniform(low, high, shape)
    return numbers.astype(np.float32)


def both(ours, theirs, array, requires_grad=False, device="cpu"):
    """One array as a tensor of each library, ours on the device."""
    array = np.array(array)
    a, b = ours.tensor(array.tolist(), dtype=_dtype(ours, array)), theirs.from_numpy(array.copy())
    a = a.reshape(array.shape).to(device)
    if requires_grad:
        a.requires_grad_()
        b.requires_grad_()
    return a, b


def _dtype(library, array):
    return getattr(library, str(array.dtype))


def message(call):
    """(type name, text) of the error that a call raises."""
    try:
        call()
    except Exception as error:
        return type(error).__name__, str(error)
    raise AssertionError("no error was raised")
