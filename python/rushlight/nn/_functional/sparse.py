"""Embeddings: rows of a table at integer indices."""

from __future__ import annotations

from rushlight import _C
from rushlight._C import Tensor
from rushlight._grad_mode import no_grad
from rushlight._table import op


@op("torch")
def embedding_renorm_(input: Tensor, indices: Tensor, max_norm: float, norm_type: float):
    """Scales the rows that are in use down to a norm, in place.

    Args:
        input: the table, (rows, columns).
        indices: which rows, integers.
        max_norm: the largest norm.
        norm_type: the norm's exponent.

    Shape: input (rows, columns), indices (*); the result is input.

    >>> torch.embedding_renorm_(torch.tensor([[3.0, 4.0]]), torch.tensor([0]), 1.0, 2.0)
    tensor([[0.6000, 0.8000]])
    """
    with no_grad():
        rows = indices.reshape(-1).unique()
        chosen = input[rows]
        norms = _C.norm(chosen, norm_type, 1, True)
        scale = _C.where(norms > max_norm, max_norm / (norms + 1e-7), _C.ones_like(norms))
        input[rows] = chosen * scale
    return input


def _padding(weight, padding_idx):
    if padding_idx is None:
        return -1
    count = weight.size(0)
    if padding_idx > 0 and padding_idx >= count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    if padding_idx < -count:
        raise AssertionError("Padding_idx must be within num_embeddings")
    return padding_idx + count if padding_idx < 0 else padding_idx


@op("nn.functional")
def embedding(
    input: Tensor,
    weight: Tensor,
    padding_idx: int | None = None,
    max_norm: float | None = None,
    norm_type: float = 2.0,
    scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Tensor:
    """The rows of `weight` at the indices `input`.

    Args:
        weight: the table.
        padding_idx: a row that gets no gradient.
        max_norm: rows in use are first scaled, in place, to at most this norm.
        norm_type: exponent of that norm.
        scale_grad_by_freq: divide a row's gradient by how often it was used.
        sparse: whether the gradient of weight is a sparse tensor.

    Shape: input (*), weight (n, d), output (*, d).

    >>> torch.nn.functional.embedding(torch.tensor([1, 0]), torch.tensor([[1.0], [2.0]]))
    tensor([[2.],
            [1.]])
    """
    padding_idx = _padding(weight, padding_idx)
    if max_norm is not None:
        embedding_renorm_(weight, input, max_norm, norm_type)
    return _C.embedding(weight, input, padding_idx, scale_grad_by_freq, sparse)


@op("nn.functional")
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Sums, means or maxima of bags of rows, without the rows in between.

    Args:
        weight: the table.
        offsets: the index at which each bag starts, for a one-dimensional input.
        max_norm: rows in use are first scaled, in place, to at most this norm.
        norm_type: exponent of that norm.
        scale_grad_by_freq: divide a row's gradient by how often it was used.
        mode: "sum", "mean" or "max".
        sparse: whether the gradient of weight is a sparse tensor.
        per_sample_weights: a factor for each row, with "sum" only.
        include_last_offset: offsets have one more element, where the last bag ends.
        padding_idx: a row that counts in no bag and gets no gradient.

    Shape: input (bags, n), or (total) with offsets (bags); weight (rows, d); output (bags, d).

    >>> torch.nn.functional.embedding_bag(torch.tensor([[0, 1]]), torch.tensor([[1.0], [2.0]]))
    tensor([[1.5000]])
    """
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a "
                f"mini-batch of fixed length sequences. However, found offsets of type "
                f"{type(offsets)}"
            )
        bags, length = input.shape
        offsets = _C.arange(bags, device=input.device) * length
        include_last_offset = False
        ids = input.reshape(-1)
    elif input.dim() == 1:
        if offsets is None:
            raise ValueError("offsets has to be a 1D Tensor but got None")
        if offsets.dim() != 1:
            raise ValueError("offsets has to be a 1D Tensor")
        ids = input
    else:
        raise ValueError(
            f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}"
        )
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None:
        if per_sample_weights.shape != input.shape:
            raise ValueError(
                f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, "
                f"then it must have the same shape as the input ({input.shape})"
            )
        if mode != "sum":
            raise NotImplementedError(
                "embedding_bag: per_sample_weights was not None. per_sample_weights is only "
                f"supported for mode='sum' (got mode='{mode}'). Please open a feature request on "
                "GitHub."
            )
        per_sample_weights = per_sample_weights.reshape(-1)
    rows = weight.size(0)
    if padding_idx is not None and not -rows <= padding_idx < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but "
            f"got {padding_idx}"
        )
    if max_norm is not None:
        embedding_renorm_(weight, ids, max_norm, norm_type)
    return _C._embedding_bag_of(
        weight, ids, offsets, mode, per_sample_weights, _padding(weight, padding_idx),
        scale_grad_by_freq, sparse, include_last_offset,
    )  # fmt: skip
