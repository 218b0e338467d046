"""Resampling: every mode works along one dimension after the other.

The places are computed in float32, and in float64 for float64, as torch does: where a place falls
next to a boundary between two elements, that decides which one is taken.
"""

import math
import operator
import warnings

from rushlight import _C
from rushlight._casts import casts
from rushlight.nn._functional.grid import cubic_weights

__all__ = ["interpolate", "upsample", "upsample_bilinear", "upsample_nearest"]

NEAREST = ("nearest", "nearest-exact", "area")
SMOOTH = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2, "lanczos": 2}


def _sizes(input, size, scale_factor):
    """(new sizes, None) or (new sizes, factors), from whichever the caller gave."""
    rank = input.dim() - 2
    if (size is None) == (scale_factor is None):
        if size is None:
            raise ValueError("either size or scale_factor should be defined")
        raise ValueError("only one of size or scale_factor should be defined")
    if size is not None:
        given, what, shown = size, "output", "output size of"
        letters = "output size in (o1, o2, ...,oK)"
    else:
        given, what, shown = scale_factor, "scale_factor", "scale_factor of shape"
        letters = "scale_factor in (s1, s2, ...,sK)"
    if isinstance(given, list | tuple):
        if len(given) != rank:
            raise ValueError(
                f"Input and {what} must have the same number of spatial dimensions, but got input "
                f"with spatial dimensions of {list(input.shape[2:])} and {shown} {given}. Please "
                f"provide input tensor in (N, C, d1, d2, ...,dK) format and {letters} format."
            )
        values = list(given)
    else:
        values = [given] * rank
    if size is None:
        sizes = [int(n * f) for n, f in zip(input.shape[2:], values, strict=True)]
        return sizes, values
    try:
        return list(map(operator.index, values)), None
    except TypeError:
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, "
            f"int], but got size with types {[type(n) for n in values]}"
        ) from None


def _check_mode(input, mode, align_corners, antialias):
    rank = input.dim() - 2
    if mode in NEAREST:
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: "
                "linear | bilinear | bicubic | trilinear"
            )
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and rank == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            f"a 4-D tensor as input, got mode '{mode}' and {input.dim()}-D"
        )
    if mode == "lanczos" and not antialias:
        raise ValueError("lanczos mode requires antialias=True")
    wanted = SMOOTH.get(mode, rank)
    if rank in (1, 2, 3) and wanted != rank:
        raise NotImplementedError(
            f"Got {input.dim()}D input, but {mode} mode needs {wanted + 2}D input"
        )
    if rank not in (1, 2, 3) or (mode not in NEAREST and SMOOTH.get(mode) != rank):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{input.dim()}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | "
            f"area | nearest-exact (got {mode})"
        )


@casts(cuda="full")
def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None,
    recompute_scale_factor=None, antialias=False,
):  # fmt: skip
    """Resamples the dimensions behind the channels.

    Args:
        size: the new size; or
        scale_factor: the factor for each dimension.
        mode: "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area" or,
            with antialias, "lanczos".
        align_corners: whether the corner elements keep their places (not for the nearest modes).
        recompute_scale_factor: take the factor from the new size, rounded as that is.
        antialias: widen the filter where the size shrinks ("bilinear", "bicubic", "lanczos").

    >>> torch.nn.functional.interpolate(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    _check_mode(input, mode, align_corners, antialias)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    size, factors = _sizes(input, size, scale_factor)
    rank = input.dim() - 2
    if mode == "area":
        pool = getattr(_C._nn, f"adaptive_avg_pool{rank}d")
        return pool(input, size[0] if rank == 1 else size)
    if recompute_scale_factor or factors is None:
        factors = [None] * rank
    _check_sizes(input, size)
    if mode in ("nearest", "nearest-exact"):
        for i in range(rank):
            index = _nearest(input.size(i + 2), size[i], factors[i], mode, input.device)
            input = input if index is None else _C.index_select(input, i + 2, index)
        return input
    if input.dtype == _C.uint8:
        exact = _smooth(input.to(_C.float32), size, factors, mode, bool(align_corners), antialias)
        return exact.round().clamp(0, 255).to(_C.uint8)
    if not input.is_floating_point():
        raise NotImplementedError(
            f"\"upsample_{mode}\" not implemented for '{input.dtype}': it takes floating dtypes "
            "and uint8"
        )
    return _smooth(input, size, factors, mode, bool(align_corners), antialias)


def _check_sizes(input, size):
    if min(size) <= 0 or 0 in input.shape[2:]:
        raise RuntimeError(
            "Input and output sizes should be greater than 0, but got input "
            f"{tuple(input.shape[2:])} output {tuple(size)}"
        )
    if input.size(1) == 0:
        raise RuntimeError(
            f"Non-empty {input.dim()}D data tensor expected but got a tensor with sizes "
            f"{list(input.shape)}"
        )


def _nearest(have, want, factor, mode, device):
    """For each new element the old one that it copies; None when all stay."""
    if have == want:
        return None
    shift = 0.5 if mode == "nearest-exact" else 0.0
    places = _C.arange(want, dtype=_C.float32, device=device) + shift
    step = 1.0 / factor if factor else have / want
    return (places * _C.tensor(step, dtype=_C.float32).item()).to(_C.int64).clamp_(max=have - 1)


def _step(have, want, factor, align):
    """How far apart new elements are, in old ones."""
    if align:
        return (have - 1) / (want - 1) if want > 1 else 0.0
    return 1.0 / factor if factor else have / want


def _smooth(input, size, factors, mode, align, antialias):
    # Narrow dtypes are computed in float32 and rounded once.
    wide = _C.float64 if input.dtype == _C.float64 else _C.float32
    x = input.to(wide)
    for i in reversed(range(input.dim() - 2)):
        dim, have, want = i + 2, input.size(i + 2), size[i]
        step = _step(have, want, factors[i], align)
        if antialias:
            matrix = _filter_matrix(have, want, step, mode, x)
            x = _C.matmul(x.transpose(dim, -1), matrix.t()).transpose(dim, -1)
        elif have != want:
            x = _along(x, dim, have, want, step, mode, align)
    return x.to(input.dtype)


def _along(x, dim, have, want, step, mode, align):
    """Two or four neighbours of each new element, weighted."""
    cubic = mode == "bicubic"
    places = _C.arange(want, dtype=x.dtype, device=x.device)
    places = places * step if align else (places + 0.5) * step - 0.5
    places = places if cubic else places.clamp_(min=0)
    first = places.floor().clamp_(max=have - 1)
    shape = [1] * x.dim()
    shape[dim] = want
    t = (places - first).clamp_(0, 1).reshape(shape)
    first = first.to(_C.int64)
    weights, offset = (cubic_weights(t), -1) if cubic else ((1 - t, t), 0)
    out = None
    for k, weight in enumerate(weights):
        index = (first + (k + offset)).clamp_(0, have - 1)
        part = _C.index_select(x, dim, index) * weight
        out = part if out is None else out + part
    return out


def _triangle(x):
    return (1 - x.abs()).clamp_(min=0)


def _cubic(x):
    """Keys' filter with a = -0.5, which image libraries use."""
    x = x.abs()
    near = (1.5 * x - 2.5) * x * x + 1
    far = ((-0.5 * x + 2.5) * x - 4) * x + 2
    return _C.where(x < 1, near, _C.where(x < 2, far, 0.0))


def _lanczos(x):
    def sinc(y):
        scaled = _C.where(y == 0, 1.0, y) * math.pi
        return _C.where(y == 0, 1.0, scaled.sin() / scaled)

    return _C.where(x.abs() < 3, sinc(x) * sinc(x / 3), 0.0)


FILTERS = {"bilinear": (_triangle, 1.0), "bicubic": (_cubic, 2.0), "lanczos": (_lanczos, 3.0)}


def _filter_matrix(have, want, step, mode, like):
    """(want, have): the share of each old element in each new one."""
    kernel, reach = FILTERS[mode]
    widened = max(step, 1.0)
    support = reach * widened
    centre = (_C.arange(want, dtype=_C.float64) + 0.5).unsqueeze(1) * step
    low = (centre - support + 0.5).trunc().clamp_(min=0)
    high = (centre + support + 0.5).trunc().clamp_(max=have)
    place = _C.arange(have, dtype=_C.float64)
    weights = kernel((place + 0.5 - centre) / widened)
    weights = _C.where((place >= low) & (place < high), weights, 0.0)
    return (weights / weights.sum(1, keepdim=True)).to(like.dtype).to(like.device)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    """The old name of `interpolate`.

    >>> torch.nn.functional.upsample(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input, size=None, scale_factor=None):
    """`interpolate` with mode "nearest", under its old name.

    >>> torch.nn.functional.upsample_nearest(torch.ones(1, 1, 2, 2), scale_factor=2).shape
    torch.Size([1, 1, 4, 4])
    """
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    """`interpolate` with mode "bilinear" and aligned corners, under its old name.

    >>> torch.nn.functional.upsample_bilinear(torch.ones(1, 1, 2, 2), scale_factor=2).shape
    torch.Size([1, 1, 4, 4])
    """
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, "bilinear", True)
