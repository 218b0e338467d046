"""Losses of a linear layer's outputs."""

from __future__ import annotations

import math

from rushlight import _C
from rushlight._C import Tensor
from rushlight._table import op


@op("nn.functional")
def linear_cross_entropy(
    input: Tensor,
    linear_weight: Tensor,
    target: Tensor,
    *,
    linear_bias: Tensor | None = None,
    weight: Tensor | None = None,
    reduction: str = "mean",
    ignore_index: int | None = None,
    label_smoothing: float = 0.0,
    options=None,
) -> Tensor:
    """cross_entropy(linear(input, linear_weight, linear_bias), target).

    Args:
        linear_weight: the layer's weight, classes first and features last.
        target: class indices, or a probability for each class.
        linear_bias: the layer's bias.
        weight: a factor for each class.
        reduction: "mean", "sum", or "none" for a loss per target.
        ignore_index: the class that costs nothing; without it -100, and of probabilities none.
        label_smoothing: the share of the target that is spread over all classes.
        options: None; torch's ways to save memory are not here.

    Shape: input (f) or (n, f), linear_weight (c, *, f), linear_bias (c, *), target (n, *) or
        (n, c, *); a scalar, or that of class indices with reduction="none".

    Raises:
        NotImplementedError: options.
        RuntimeError: shapes that do not fit.

    >>> x, w = torch.eye(2), torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    >>> torch.nn.functional.linear_cross_entropy(x, w, torch.tensor([0, 1]))
    tensor(0.3133)
    """
    if options is not None:
        raise NotImplementedError("linear_cross_entropy(): options has to be None: no chunks here")
    if not 1 <= input.dim() <= 2:
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(
            f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}"
        )
    features = input.shape[-1]
    if features != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), got "
            f"{features} and {linear_weight.shape[-1]}, respectively"
        )
    classes, positions = tuple(linear_weight.shape[:-1]), linear_weight.shape[1:-1]
    if linear_bias is not None and tuple(linear_bias.shape) != classes:
        raise RuntimeError(f"expected linear_bias shape {classes}, got {tuple(linear_bias.shape)}")
    if positions and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} "
            f"requires batched input, (N, {features}), got unbatched input with shape "
            f"{tuple(input.shape)}"
        )
    shape = (*input.shape[:-1], *classes)
    if ignore_index is not None and tuple(target.shape) == shape:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    rows = math.prod(classes)
    logits = _C._nn.linear(
        input,
        linear_weight.reshape(rows, features),
        None if linear_bias is None else linear_bias.reshape(rows),
    ).reshape(shape)
    return _C._nn.cross_entropy(
        logits, target, weight, None, -100 if ignore_index is None else ignore_index, None,
        reduction, label_smoothing,
    )  # fmt: skip
