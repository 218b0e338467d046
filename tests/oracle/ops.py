"""torch's table of operations with, for each row, the same call here."""

import fnmatch
import operator
import types

import torch
from torch.testing._internal.common_methods_invocations import op_db

import rushlight
from rushlight._importable import entries as importable
from tests import quick_torch

quick_torch.draw_samples_anywhere()

# Their values are whatever the memory held.
UNWRITTEN = {
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "new_empty",
    "new_empty_strided",
    "resize_",
    "resize_as_",
}
# Drawn, and a GPU draws other numbers than the CPU.
# Torch's polynomials are 1e-6 off near 5 (mpmath agrees with ours): tests/ops/test_pointwise.py
# compares these by themselves.
ROUGH = {
    "special.airy_ai",
    "special.bessel_j0",
    "special.bessel_j1",
    "special.bessel_y0",
    "special.bessel_y1",
}
DRAWN = {
    "bernoulli",
    "cauchy",
    "exponential",
    "geometric",
    "log_normal",
    "multinomial",
    "nn.functional.alpha_dropout",
    "nn.functional.dropout",
    "nn.functional.dropout2d",
    "nn.functional.dropout3d",
    "nn.functional.feature_alpha_dropout",
    "nn.functional.multi_head_attention_forward",  # its samples drop half
    "nn.functional.rrelu",
    "normal",
    "pca_lowrank",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "svd_lowrank",  # by a random projection
    "uniform",
}
# Which of several equal elements they point to is left open by torch.
OPEN_ORDER = {
    "argsort",
    "kthvalue",
    "median",
    "mode",
    "nanmedian",
    "sort",
    "topk",
}
# Complex results whose imaginary parts are open up to multiples of 2 pi.
OPEN_PHASE = {"logcumsumexp"}
# Results that hold vectors, with True where they are rows.
VECTORS = {
    "svd": ((0, False), (2, False)),
    "svd_lowrank": ((0, False), (2, False)),
    "pca_lowrank": ((0, False), (2, False)),
    "linalg.svd": ((0, False), (2, True)),
    "linalg.eigh": ((1, False),),
}
# Which gradient is right is open, or torch's is wrong.
OPEN_GRADIENT = {
    "msort",  # equal elements may change places
    "as_strided_scatter",  # torch passes on what belongs to places that were written over
}
# The strides of a result are torch's, but of these. Where torch's is contiguous, so is ours.
OTHER_STRIDES = {
    "histogramdd": "torch's edges are columns of one tensor, ours one tensor each",
    "linalg.lstsq": "ours are row-major: LAPACK's columns would be one more copy",
    "linalg.lu_solve": "with adjoint=True and gradients, ours is the contiguous product",
    "linalg.solve": "torch lays vectors in a batch out as the columns of one matrix",
    "linalg.solve_ex": "as linalg.solve",
    "linalg.solve_triangular": "with left=False ours is the transpose of what was solved",
}
# A position out of range is IndexError here, as everywhere; torch raises RuntimeError.
POSITIONS = {"gather", "scatter", "scatter_add", "scatter_reduce"}
ABSENT = object()
# masked.logaddexp: where a mask leaves nothing, torch's second gradient is NaN, ours 0.
# What makes complex tensors: ops/test_complex.py, test_eig.py, test_fft.py and test_stft.py compare
# it with torch. Results of torch.fft lie in memory as MKL leaves them; here they are contiguous.
COMPLEX = {
    "masked.logaddexp",
    *"cdouble cfloat chalf complex linalg.eig linalg.eigvals polar view_as_complex".split(),
    *"istft stft fft.fft fft.ifft fft.rfft fft.irfft fft.hfft fft.ihfft".split(),
    *"fft.fft2 fft.ifft2 fft.rfft2 fft.irfft2 fft.hfft2 fft.ihfft2".split(),
    *"fft.fftn fft.ifftn fft.rfftn fft.irfftn fft.hfftn fft.ihfftn".split(),
}


def entries(names=()):
    """The rows of the table, in its order; all of them, or those of names or patterns."""

    def wanted(op):
        return any(fnmatch.fnmatch(text, n) for n in names for text in (op.name, title(op)))

    return [op for op in op_db if not names or wanted(op)]


def dim_given(op, operands):
    """The dimension of one of OPEN_ORDER, where it is no keyword."""
    place = 2 if op.name in ("kthvalue", "topk") else 1
    given = operands[place] if len(operands) > place else None
    return given if isinstance(given, int) and not isinstance(given, bool) else -1


def title(op):
    return op.name + ("." + op.variant_test_name if op.variant_test_name else "")


def _seeded(op, *args, **kwargs):
    """What torch's samples wrap random operations in: the same seed for each call."""
    rushlight.manual_seed(42)
    return op(*args, **kwargs)


def _path(root, name):
    for part in name.split("."):
        root = getattr(root, part, ABSENT)
        if root is ABSENT:
            return ABSENT
    return root


def ours(op):
    """The function here that op.op is in torch; ABSENT if there is none of its name."""
    home, _, name = op.name.rpartition(".")
    modules = [home] if home else ["", "Tensor"]
    names_alone = {key.partition("(")[0] for each in modules for key in importable(each)}
    if op.name in COMPLEX or name in names_alone or home.startswith("torch.ops"):  # torch's own
        return ABSENT
    there = _path(rushlight, op.name)
    if there is ABSENT:
        there = getattr(rushlight.Tensor, op.name, getattr(rushlight.Tensor, op.name + "_", ABSENT))
    if there is ABSENT:
        return (
            getattr(operator, op.name, ABSENT) if op.op is getattr(operator, op.name, 0) else ABSENT
        )
    call = op.op
    # A lambda of the table is the same call with our names in its globals.
    if isinstance(call, types.FunctionType) and call.__module__.startswith("torch.testing"):
        scope = {**call.__globals__, "torch": rushlight, "wrapper_set_seed": _seeded}
        return types.FunctionType(
            call.__code__, scope, call.__name__, call.__defaults__, call.__closure__
        )
    return there


def variant(call):
    """Our method of the name of torch's method or operator `call`; None where torch has none."""
    if call is None:
        return None
    name = getattr(call, "__name__", "")
    if getattr(operator, name, None) is call:
        return call
    if not hasattr(torch.Tensor, name):
        return None
    return getattr(rushlight.Tensor, name, ABSENT)
