"""Histograms, integrals and differences of samples."""

from __future__ import annotations

from typing import Any

from rushlight import _C
from rushlight._arguments import wrapped
from rushlight._C import Tensor
from rushlight._dtype_names import NAMES as DTYPE_NAMES
from rushlight._table import Number, Sequence, op


def _steps(name, y, x, dx, dim):
    """The distances of neighbours along dim, last; and y with dim last."""
    if y.dim() == 0:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    dim = wrapped(dim, y.dim())
    y = y.movedim(dim, -1)
    if y.dtype == _C.bool:
        raise RuntimeError(f"{name}: received a bool input for `y`, but bool is not supported")
    if x is None:
        return y, dx, dim
    if x.dtype == _C.bool:
        raise RuntimeError(f"{name}: received a bool input for `x`, but bool is not supported")
    if x.dim() == 0:
        return y, None, dim
    if x.dim() == 1 and x.shape[0] != y.shape[-1]:
        raise RuntimeError(
            f"{name}: There must be one `x` value for each sample point\n"
            f"got {x.shape[0]} for {y.shape[-1]}"
        )
    if x.dim() > 1:
        while x.dim() < y.dim():
            x = x.unsqueeze(0)
        x = x.movedim(dim, -1)
    return y, x[..., 1:] - x[..., :-1], dim


@op("torch")
def trapezoid(y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """The integral of samples along a dimension, by trapezoids.

    Args:
        y: the samples.
        x: their coordinates; else they are dx apart.
        dx: their distance.
        dim: the dimension.

    >>> torch.trapezoid(torch.tensor([1.0, 2.0, 3.0]))
    tensor(4.)
    """
    y, steps, _ = _steps("trapezoid", y, x, dx, dim)
    if steps is None:
        return (y[..., 0] * 0).to((y / 1).dtype) if y.shape[-1] else y.sum(-1)
    if y.shape[-1] == 0:
        return y.new_zeros(y.shape[:-1], dtype=(y / 1).dtype)
    return ((y[..., 1:] + y[..., :-1]) * steps).sum(-1) / 2


@op("torch")
def trapz(y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: int = -1) -> Tensor:
    """Alias of trapezoid().

    >>> torch.trapz(torch.tensor([1.0, 2.0, 3.0]), dx=2)
    tensor(8.)
    """
    return trapezoid(y, x, dx=dx, dim=dim)


@op("torch")
def cumulative_trapezoid(
    y: Tensor, x: Tensor | None = None, *, dx: Number = 1, dim: int = -1
) -> Tensor:
    """The running integral of samples along a dimension, by trapezoids.

    Args: as of trapezoid.

    >>> torch.cumulative_trapezoid(torch.tensor([1.0, 2.0, 3.0]))
    tensor([1.5000, 4.0000])
    """
    y, steps, dim = _steps("cumulative_trapezoid", y, x, dx, dim)
    if steps is None:
        steps = 0
    areas = ((y[..., 1:] + y[..., :-1]) * steps).movedim(-1, dim)
    return areas.cumsum(dim) / 2


@op("torch")
def gradient(input: Tensor, *, spacing=None, dim: Sequence[int] | None = None, edge_order: int = 1):
    """The derivative of samples along each dimension, by central differences.

    Args:
        spacing: the distance of samples; a list of distances or of coordinates, one per dimension.
        dim: one dimension or several; all if None.
        edge_order: 1 or 2, the order of the differences at both ends.

    >>> torch.gradient(torch.tensor([1.0, 2.0, 4.0]))
    (tensor([1.0000, 1.5000, 2.0000]),)
    """
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    rank = input.dim()
    dims = range(rank) if dim is None else dim
    dims = [wrapped(d, rank) for d in dims]
    if len(set(dims)) != len(dims):
        raise RuntimeError(f"dim {dims[0]} appears multiple times in the list of dims")
    spacings: list
    if spacing is None or isinstance(spacing, (int, float)):
        spacings = [1.0 if spacing is None else spacing] * len(dims)
    elif isinstance(spacing, _C.Tensor):
        spacings = [spacing]
    else:
        spacings = list(spacing)
    if len(spacings) != len(dims):
        raise RuntimeError(
            "torch.gradient expected spacing to be unspecified, a scalar or a list of length "
            f"equal to 'self.dim() = {len(dims)}', since dim argument was not given, but got a "
            f"list of length {len(spacings)}"
        )
    for d in dims:
        if rank == 0 or input.shape[d] < edge_order + 1:
            raise RuntimeError(
                "torch.gradient expected each dimension size to be at least edge_order+1"
            )
    if input.dtype == _C.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
    return tuple(_derivative(input, d, s, edge_order) for d, s in zip(dims, spacings, strict=True))


def _derivative(x, dim, spacing, edge_order):
    x = x.movedim(dim, -1)
    if isinstance(spacing, _C.Tensor) and spacing.dim():
        if spacing.shape[0] != x.shape[-1]:
            raise RuntimeError(
                "torch.gradient expected each input of spacing to have the size of its dimension"
            )
        h = spacing[1:] - spacing[:-1]
    else:
        dtype = x.dtype if x.is_floating_point() else _C.get_default_dtype()
        h = _C.as_tensor(spacing, dtype=dtype, device=x.device).expand(x.shape[-1] - 1)
    slope = (x[..., 1:] - x[..., :-1]) / h
    before, after = h[:-1], h[1:]
    inner = (slope[..., :-1] * after + slope[..., 1:] * before) / (before + after)
    first, last = slope[..., :1], slope[..., -1:]
    if edge_order == 2:
        first = first + (first - slope[..., 1:2]) * h[0] / (h[0] + h[1])
        last = last + (last - slope[..., -2:-1]) * h[-1] / (h[-1] + h[-2])
    return _C.cat([part.movedim(-1, dim) for part in (first, inner, last)], dim)


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
    hist = hist.scatter_add(0, flat[inside], amounts[inside].to(points.dtype)).reshape(sizes)
    if density:
        hist = hist / hist.sum()
        for d, e in enumerate(edges):
            shape = [1] * len(edges)
            shape[d] = -1
            hist = hist / (e[1:] - e[:-1]).reshape(shape)
    return hist


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
    *,
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
