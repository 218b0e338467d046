"""What "the same as torch" means: shape, dtype and values, with one table of tolerances."""

import numpy as np

# Relative, and absolute for values below 1. Integers and bools are exact.
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 3e-6, "float64": 1e-12}


def name_of(dtype):
    """ "float32", of a dtype of either library."""
    return str(dtype).removeprefix("torch.").removeprefix("rushlight.")


def values_of(tensor):
    """As float64, whatever the library, dtype and device."""
    tensor = tensor.detach().cpu()
    if "float" in name_of(tensor.dtype):
        tensor = tensor.double()
    return np.asanyarray(tensor.numpy())  # recorded answers may be samples, masked arrays


def same_as_torch(ours, theirs, rtol=0.0):
    """Asserts it of tensors, or of tuples and lists of them.

    Args:
        rtol: relative, and absolute for values below 1; None: TOLERANCE of the dtype.
    """
    if isinstance(ours, tuple | list):
        for a, b in zip(ours, list(theirs), strict=True):
            same_as_torch(a, b, rtol)
        return
    kind = name_of(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert name_of(ours.dtype) == kind
    rtol = TOLERANCE.get(kind, 0) if rtol is None else rtol
    np.testing.assert_allclose(values_of(ours), values_of(theirs), rtol=rtol, atol=rtol)
