"""interpolate: what its sizes, factors and modes mean; the kernels are in C++."""

from __future__ import annotations

import operator
import warnings
from functools import lru_cache
from typing import Any

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import Sequence, Truth, op

NEAREST = ("nearest", "nearest-exact", "area")
SMOOTH = {"linear": 1, "bilinear": 2, "trilinear": 3, "bicubic": 2, "lanczos": 2}


def _sizes(shape, size, scale_factor):
    """(new sizes, None) or (new sizes, factors), from whichever the caller gave."""
    rank = len(shape) - 2
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
                f"with spatial dimensions of {list(shape[2:])} and {shown} {given}. Please "
                f"provide input tensor in (N, C, d1, d2, ...,dK) format and {letters} format."
            )
        values = list(given)
    else:
        values = [given] * rank
    if size is None:
        try:
            sizes = [int(n * f) for n, f in zip(shape[2:], values, strict=True)]
            if max(sizes) >= 2**63:
                raise OverflowError
            return sizes, values
        except (OverflowError, ValueError):
            raise RuntimeError(
                f"value cannot be converted to type int64_t without overflow\n"
                f"interpolate(): scale_factor {scale_factor} of input {list(shape)}"
            ) from None
    try:
        return list(map(operator.index, values)), None
    except TypeError:
        raise TypeError(
            "expected size to be one of int or Tuple[int] or Tuple[int, int] or Tuple[int, int, "
            f"int], but got size with types {[type(n) for n in values]}"
        ) from None


@lru_cache(maxsize=256)
def _scaled(shape, scale_factor):
    return _sizes(shape, None, scale_factor)


@lru_cache(maxsize=256)
def _check_mode(rank, mode, align_corners, antialias):
    if mode in NEAREST:
        if align_corners is not None:
            raise ValueError(
                "align_corners option can only be set with the interpolating modes: "
                "linear | bilinear | bicubic | trilinear"
            )
    if antialias and not (mode in ("bilinear", "bicubic", "lanczos") and rank == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires "
            f"a 4-D tensor as input, got mode '{mode}' and {rank + 2}-D"
        )
    if mode == "lanczos" and not antialias:
        raise ValueError("lanczos mode requires antialias=True")
    wanted = SMOOTH.get(mode, rank)
    if rank in (1, 2, 3) and wanted != rank:
        raise NotImplementedError(
            f"Got {rank + 2}D input, but {mode} mode needs {wanted + 2}D input"
        )
    if rank not in (1, 2, 3) or (mode not in NEAREST and SMOOTH.get(mode) != rank):
        raise NotImplementedError(
            "Input Error: Only 3D, 4D and 5D input Tensors supported (got "
            f"{rank + 2}D) for the modes: nearest | linear | bilinear | bicubic | trilinear | "
            f"area | nearest-exact (got {mode})"
        )


@op("nn.functional")
def interpolate(
    input: Tensor,
    size: int | Sequence[int] | Any = None,
    scale_factor: Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: Truth | None = None,
    antialias: Truth = False,
) -> Tensor:
    """Resamples the dimensions after the channels.

    Args:
        size: the new sizes, an int or one for each dimension; or
        scale_factor: the factor, a float or one for each dimension.
        mode: "nearest", "nearest-exact", "linear", "bilinear", "trilinear", "bicubic", "area" or,
            with antialias, "lanczos".
        align_corners: whether corner pixels coincide (not for the nearest modes).
        recompute_scale_factor: take the factor from the rounded new size.
        antialias: widen the filter where the size shrinks ("bilinear", "bicubic", "lanczos").

    Shape: (n, c, *) to (n, c, *'), *' = size or floor(* scale_factor).

    >>> torch.nn.functional.interpolate(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    rank = input.dim() - 2
    _check_mode(rank, mode, align_corners, antialias)
    if recompute_scale_factor and size is not None:
        raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
    if size is None and type(scale_factor) in (int, float):
        size, factors = _scaled(input.shape, scale_factor)
    else:
        size, factors = _sizes(input.shape, size, scale_factor)
    if mode == "area":
        pool = getattr(_C._nn, f"adaptive_avg_pool{rank}d")
        return pool(input, size[0] if rank == 1 else size)
    if recompute_scale_factor or factors is None:
        factors = ()
    return _C._nn._resample(input, size, factors, mode, bool(align_corners), antialias)


@op("nn.functional")
def upsample(
    input: Tensor,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """The older name of `interpolate`.

    >>> torch.nn.functional.upsample(torch.tensor([[[1.0, 2.0]]]), scale_factor=2)
    tensor([[[1., 1., 2., 2.]]])
    """
    warnings.warn(
        "`nn.functional.upsample` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


@op("nn.functional")
def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The older name of `interpolate` with mode "nearest".

    >>> torch.nn.functional.upsample_nearest(torch.ones(1, 1, 2, 2), scale_factor=2).shape
    torch.Size([1, 1, 4, 4])
    """
    warnings.warn(
        "`nn.functional.upsample_nearest` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, "nearest")


@op("nn.functional")
def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Tensor:
    """The older name of `interpolate` with mode "bilinear" and aligned corners.

    >>> torch.nn.functional.upsample_bilinear(torch.ones(1, 1, 2, 2), scale_factor=2).shape
    torch.Size([1, 1, 4, 4])
    """
    warnings.warn(
        "`nn.functional.upsample_bilinear` is deprecated. Use `nn.functional.interpolate` instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, "bilinear", True)
