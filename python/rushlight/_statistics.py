"""Histograms."""

from __future__ import annotations

from typing import Any

from rushlight import _C
from rushlight._C import Tensor
from rushlight._dtype_names import NAMES as DTYPE_NAMES
from rushlight._table import op


def _edges(x, bins, range, dim=0):
    """The edges of the bins of dimension `dim`; x: its samples."""
    if isinstance(bins, _C.Tensor):
        if bins.dtype != x.dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but "
                f"got input with dtype {_short(x)} and bins for dimension {dim} with dtype "
                f"{_short(bins)}"
            )
        if bins.dim() != 1:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have one dimension, but got "
                f"{bins.dim()} dimensions in the bins tensor for dimension {dim}"
            )
        if bins.numel() == 0:
            raise RuntimeError(
                "torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements "
                f"in the bins tensor for dimension {dim}"
            )
        if bins.numel() > 1:
            return bins.clone()
        bins = 0
    if bins <= 0:
        raise RuntimeError(
            f"torch.histogram(): bins must be > 0, but got {bins} for dimension {dim}"
        )
    if range is None:
        low, high = (x.min().item(), x.max().item()) if x.numel() else (0.0, 1.0)
    else:
        low, high = range
    if not (abs(low) < float("inf") and abs(high) < float("inf")):
        raise RuntimeError(
            f"torch.histogramdd: dimension {dim}'s range [{low:g}, {high:g}] is not finite"
        )
    if low > high:
        raise RuntimeError(
            f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for "
            f"dimension {dim}"
        )
    if low == high:
        low, high = low - 0.5, high + 0.5
    return _C.linspace(low, high, bins + 1, dtype=x.dtype, device=x.device)


def _short(x):
    return DTYPE_NAMES[x.dtype].lower()


def _check_range(range, n):
    if range is not None and len(range) != 2 * n:
        raise RuntimeError(
            f"torch.histogramdd: for a {n}-dimensional histogram range should have {2 * n} "
            f"elements, but got {len(range)}"
        )


def _check_weight(input, weight):
    """input: the samples, in a dimension more than there are weights."""
    if weight is None:
        return
    if weight.shape != input.shape[:-1]:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided it should have the same shape as the "
            "input tensor excluding its innermost dimension, but got input with shape "
            f"{list(input.shape)} and weight with shape {list(weight.shape)}"
        )
    if weight.dtype != input.dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor "
            f"should have the same dtype, but got input({_short(input)}), and "
            f"weight({_short(weight)})"
        )


def _counted(name, points, edges, weight, density):
    if not points.is_floating_point():
        raise NotImplementedError(f"\"{name}\" not implemented for '{DTYPE_NAMES[points.dtype]}'")
    if weight is None and len(edges) == 1:
        hist = _ones_counted(points[:, 0], edges[0])
    else:
        hist = _weights_counted(points, edges, weight)
    if density:
        hist = hist / hist.sum()
        for d, e in enumerate(edges):
            shape = [1] * len(edges)
            shape[d] = -1
            hist = hist / (e[1:] - e[:-1]).reshape(shape)
    return hist


def _ones_counted(x, edges):
    n = edges.shape[0] - 1
    x = x.contiguous()
    # 0: below all edges; n + 1: the last one, which its bin has too, what lies above it, and NaN.
    places = _C.searchsorted(edges, x, right=True, out_int32=True)
    hist = places.bincount(minlength=n + 2)[1 : n + 1]
    hist[n - 1 :] += (x == edges[-1]).sum()
    return hist.to(x.dtype)


def _weights_counted(points, edges, weight):
    inside = points.new_ones(points.shape[0], dtype=_C.bool)
    flat = points.new_zeros(points.shape[0], dtype=_C.int64)
    for d, e in enumerate(edges):
        x = points[:, d].contiguous()
        n = e.shape[0] - 1
        inside = inside & (x >= e[0]) & (x <= e[-1])
        flat = flat * n + (_C.searchsorted(e, x, right=True) - 1).clamp(0, n - 1)
    sizes = [e.shape[0] - 1 for e in edges]
    amounts = _C.ones_like(points[:, 0]) if weight is None else weight.reshape(-1)
    total = _C.Size(sizes).numel()
    hist = points.new_zeros(total)
    return hist.scatter_add(0, flat[inside], amounts[inside].to(points.dtype)).reshape(sizes)


@op("torch", "Tensor", out=True, returns="hist, bin_edges", differentiable=False, waits=True)
def histogram(
    input: Tensor,
    bins: int | Tensor = 100,
    *,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
):
    """Counts in bins, and the edges of the bins.

    Args:
        bins: how many, of equal width; or the vector of edges.
        range: the outer edges; those of the data if None.
        weight: what each element counts.
        density: scale the counts so that their integral is 1.

    Shape: input and weight (*), hist (n), bin_edges (n + 1), n being the number of bins.

    >>> torch.histogram(torch.tensor([0.0, 1.0, 3.0]), bins=2, range=(0.0, 4.0)).hist
    tensor([2., 1.])
    """
    x = input.detach().reshape(-1)
    _check_range(range, 1)
    edges = _edges(x, bins, range)
    weight = None if weight is None else weight.reshape(-1)
    _check_weight(x.unsqueeze(-1), weight)
    hist = _counted("histogram_cpu", x.unsqueeze(1), [edges], weight, density)
    return hist, edges


@op("torch", returns="hist, bin_edges", differentiable=False, waits=True)
def histogramdd(
    input: Tensor,
    bins: Any,
    range: Any = None,
    weight: Tensor | None = None,
    density: bool = False,
):
    """Counts of points in cells of several dimensions, and the edges.

    Args:
        input: points in rows.
        bins: an int, a list of ints, or vectors of edges, one for each column.
        range: the outer edges, two for each column; those of the data if None.
        weight: what each point counts.
        density: scale the counts so that their integral is 1.

    Shape: input (m, d), weight (m), hist (bins_1, ..., bins_d), bin_edges d vectors (bins_i + 1).

    >>> torch.histogramdd(torch.tensor([[0.0, 1.0], [1.0, 0.0]]), bins=[2, 2]).hist
    tensor([[0., 1.],
            [1., 0.]])
    """
    if input.dim() < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    points = input.detach().reshape(-1, input.shape[-1])
    n = points.shape[1]
    if isinstance(bins, int):
        bins = [bins] * n
    if len(bins) != n:
        raise RuntimeError(
            "histogramdd: The size of bins must be equal to the innermost dimension of the input."
        )
    _check_range(range, n)
    ranges = [None] * n if range is None else list(zip(range[::2], range[1::2], strict=True))
    edges = [
        _edges(x, b, r, d)
        for d, (x, b, r) in enumerate(zip(points.unbind(1), bins, ranges, strict=True))
    ]
    _check_weight(input, weight)
    hist = _counted("histogram_cpu", points, edges, weight, density)
    return hist, tuple(edges)
