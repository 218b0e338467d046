"""A linear layer and the cross entropy of its outputs: an attribute of loss.py, as in torch."""

import math

from rushlight.nn import functional as F
from rushlight.nn.modules._loss_base import _WeightedLoss
from rushlight.nn.modules.linear import Linear


class LinearCrossEntropyLoss(_WeightedLoss):
    """CrossEntropyLoss of the outputs of a Linear layer, which it holds.

    Args:
        in_features: size of the input's last dimension.
        num_classes: c.
        out_features: sizes of the positions, each of which has a target.
        bias: whether the layer adds one.
        device, dtype: of its parameters.
        reduction: "mean", "sum", or "none" for a loss per target.
        weight: a factor for each class, shape (c).
        ignore_index: the class that costs nothing; without it -100.
        label_smoothing: part of the target that is spread over all classes.
        options: None; torch's ways to save memory are not here.

    Shape: input (n, in_features) or (in_features), target (n, *out_features) of class indices, or
    probabilities (n, c, *out_features); a scalar, or that of class indices with reduction="none".

    >>> loss = torch.nn.LinearCrossEntropyLoss(3, 5)
    >>> loss(torch.zeros(2, 3), torch.tensor([0, 4]))
    tensor(1.6094, grad_fn=<NllLossBackward0>)
    """

    ignore_index: int | None
    label_smoothing: float

    def __init__(
        self, in_features, num_classes, *, out_features=(), bias=False, device=None, dtype=None,
        reduction="mean", weight=None, ignore_index=None, label_smoothing=0.0, options=None,
    ):  # fmt: skip
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(weight=weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        rows = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)
        self.options = options

    def forward(self, input, target):
        rows = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape(*rows, self.linear.in_features), target,
            linear_bias=None if bias is None else bias.reshape(rows), weight=self.weight,
            reduction=self.reduction, ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self):
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
