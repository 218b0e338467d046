"""Losses of margins and of embeddings: attributes of loss.py, as in torch."""

from rushlight.nn import functional as F
from rushlight.nn.modules._loss_base import _Loss, _WeightedLoss
from rushlight.nn.modules.distance import PairwiseDistance

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class HingeEmbeddingLoss(_Loss):
    """Distances x where y is 1, max(0, margin - x) where y is -1.

    Args:
        margin: distance beyond which a dissimilar pair costs nothing.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.HingeEmbeddingLoss()(torch.tensor([0.5]), torch.tensor([-1.0]))
    tensor(0.5000)
    """

    margin: float

    def __init__(self, margin=1.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input, target):
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """The logistic loss log(1 + exp(-y x)), y being 1 or -1.

    Args:
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.SoftMarginLoss()(torch.zeros(1), torch.ones(1))
    tensor(0.6931)
    """

    def forward(self, input, target):
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class CosineEmbeddingLoss(_Loss):
    """1 - cos(x1, x2) where y is 1, max(0, cos(x1, x2) - margin) where y is -1.

    Args:
        margin: cosine below which a dissimilar pair costs nothing, from -1 to 1.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input1 and input2 (n, d) or (d), target (n) or (); a scalar, or (n) with
    reduction="none".

    >>> x = torch.ones(1, 2)
    >>> torch.nn.CosineEmbeddingLoss()(x, -x, torch.tensor([1])).round()
    tensor(2.)
    """

    margin: float

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1, input2, target):
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class MarginRankingLoss(_Loss):
    """max(0, -y (x1 - x2) + margin): x1 should be the larger where y is 1, x2 where y is -1.

    Args:
        margin: the least wanted difference.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input1, input2 and target (n) or (); a scalar, or that shape with reduction="none".

    >>> y = torch.ones(1)
    >>> torch.nn.MarginRankingLoss()(torch.tensor([1.0]), torch.tensor([3.0]), y)
    tensor(2.)
    """

    margin: float

    def __init__(self, margin=0.0, size_average=None, reduce=None, reduction="mean"):
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input1, input2, target):
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class TripletMarginLoss(_Loss):
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm distance (Balntas et
    al., 2016).

    Args:
        margin: the least wanted difference of the distances, positive.
        p: exponent of the norm.
        eps: added to each difference, so that the gradient exists.
        swap: use d(positive, negative) where it is less than d(anchor, negative).
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: anchor, positive and negative (n, d) or (d); a scalar, or (n) with reduction="none".

    >>> a = torch.zeros(1, 2)
    >>> torch.nn.TripletMarginLoss()(a, a, a)
    tensor(1.)
    """

    margin: float
    p: float
    eps: float
    swap: bool

    def __init__(
        self, margin=1.0, p=2.0, eps=1e-6, swap=False, size_average=None, reduce=None,
        reduction="mean",
    ):  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_loss(
            anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps,
            swap=self.swap, reduction=self.reduction,
        )  # fmt: skip


class TripletMarginWithDistanceLoss(_Loss):
    """TripletMarginLoss with any distance.

    Args:
        distance_function: maps two tensors to distances; PairwiseDistance() if None.
        margin: the least wanted difference of the distances, positive.
        swap: use d(positive, negative) where it is less than d(anchor, negative).
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: anchor, positive and negative (n, *); a scalar, or the distances' shape with
    reduction="none".

    >>> a = torch.zeros(1, 2)
    >>> torch.nn.TripletMarginWithDistanceLoss(margin=0.5)(a, a, a)
    tensor(0.5000)
    """

    margin: float
    swap: bool

    def __init__(self, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
        super().__init__(None, None, reduction)
        if margin <= 0:
            raise ValueError(
                "TripletMarginWithDistanceLoss: expected margin to be greater than 0, "
                f"got {margin} instead"
            )
        if distance_function is None:
            distance_function = PairwiseDistance()
        self.distance_function = distance_function
        self.margin = margin
        self.swap = swap

    def forward(self, anchor, positive, negative):
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function,
            margin=self.margin, swap=self.swap, reduction=self.reduction,
        )  # fmt: skip


class MultiMarginLoss(_WeightedLoss):
    """The multi-class hinge loss: sum over the classes i other than y of max(0, margin - x[y] +
    x[i])^p, divided by c.

    Args:
        p: exponent, 1 or 2.
        margin: the least wanted difference of the logits.
        weight: a factor for each class, shape (c).
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input (n, c) or (c), target (n) or () of class indices; a scalar, or (n) with
    reduction="none".

    >>> torch.nn.MultiMarginLoss()(torch.tensor([[0.0, 1.0]]), torch.tensor([0]))
    tensor(1.)
    """

    margin: float
    p: int

    def __init__(
        self, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
    ):
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                "MultiMarginLoss: expected weight to be None or 1D tensor, got "
                f"{weight.dim()}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input, target):
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight,
            reduction=self.reduction,
        )  # fmt: skip


class MultiLabelMarginLoss(_Loss):
    """The multi-label hinge loss: sum over targets y and other classes i of max(0, 1 - (x[y] -
    x[i])), divided by c.

    Args:
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target (n, c) or (c); the target's class indices end at the first -1. A scalar,
    or (n) with reduction="none".

    >>> torch.nn.MultiLabelMarginLoss()(torch.zeros(1, 2), torch.tensor([[0, -1]]))
    tensor(0.5000)
    """

    def forward(self, input, target):
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Mean over the classes of -(y log sigmoid(x) + (1 - y) log sigmoid(-x)): one against all.

    Args:
        weight: a factor for each class, shape (c).
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target (n, c); a scalar, or (n) with reduction="none".

    >>> torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(1, 2), torch.ones(1, 2))
    tensor(0.6931)
    """

    def forward(self, input, target):
        return F.multilabel_soft_margin_loss(input, target, self.weight, reduction=self.reduction)
