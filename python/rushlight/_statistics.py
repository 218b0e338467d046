"""Histograms."""

from __future__ import annotations

from typing import Any

from rushlight import _C
from rushlight._C import Tensor
from rushlight._dtype_names import NAMES as DTYPE_NAMES
from rushlight._table import op


def _edges(name, x, bins, range):
    """The edges of the bins of one dimension; x: its samples."""
    if isinstance(bins, _C.Tensor):
        if bins.dim() != 1 or bins.numel() == 0:
            raise RuntimeError(f"{name}(): bins tensor should have one dimension and be non-empty")
        if bins.dtype != x.dtype:
            raise RuntimeError(
                f"{name}(): input tensor and bins tensors should have the same dtype"
            )
        return bins.clone()
    if bins <= 0:
        raise RuntimeError(f"{name}(): bins must be > 0, but got {bins} for dimension 0")
    if range is None:
        low, high = (x.min().item(), x.max().item()) if x.numel() else (0.0, 1.0)
    else:
        low, high = range
    if not (abs(low) < float("inf") and abs(high) < float("inf")):
        raise RuntimeError(f"{name}(): range [{low}, {high}] is not finite")
    if low > high:
        raise RuntimeError(f"{name}(): min should not exceed max, but got min {low} max {high}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return _C.linspace(low, high, bins + 1, dtype=x.dtype, device=x.device)


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
    edges = _edges("histogramdd", x, bins, range)
    if weight is not None and weight.shape != input.shape:
        raise RuntimeError(
            "histogramdd(): if weight tensor is provided, it should have the same shape as the "
            "input tensor excluding its innermost dimension"
        )
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
        raise RuntimeError("histogramdd(): input tensor should have at least 2 dimensions")
    points = input.detach().reshape(-1, input.shape[-1])
    n = points.shape[1]
    if isinstance(bins, int):
        bins = [bins] * n
    if len(bins) != n:
        raise RuntimeError(
            f"histogramdd(): expected {n} bin counts for {n} dimensions, but got {len(bins)}"
        )
    ranges = [None] * n if range is None else list(zip(range[::2], range[1::2], strict=True))
    edges = [
        _edges("histogramdd", x, b, r)
        for x, b, r in zip(points.unbind(1), bins, ranges, strict=True)
    ]
    hist = _counted("histogram_cpu", points, edges, weight, density)
    return hist, tuple(edges)
