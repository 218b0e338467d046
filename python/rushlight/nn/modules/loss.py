"""Losses of regression, classification and likelihoods; those of margins come from loss_margin.py.

`reduction` is "none", "mean" or "sum".
"""

from rushlight.nn import functional as F
from rushlight.nn.modules._class_path import settle
from rushlight.nn.modules._loss_base import _Loss, _WeightedLoss
from rushlight.nn.modules.loss_margin import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class L1Loss(_Loss):
    """|x - y|.

    >>> torch.nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(1.)
    """

    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """(x - y)^2.

    >>> torch.nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """

    def forward(self, input, target):
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """(x - y)^2 / (2 beta) where |x - y| < beta, else |x - y| - beta / 2 (Girshick, 2015).

    >>> torch.nn.SmoothL1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(0.7500)
    """

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input, target):
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """(x - y)^2 / 2 where |x - y| < delta, else delta * (|x - y| - delta / 2).

    >>> torch.nn.HuberLoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(0.7500)
    """

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input, target):
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class CrossEntropyLoss(_WeightedLoss):
    """-log softmax(x)[target]: logits against class indices or class probabilities.

    Args:
        weight: a factor for each class, shape (c); on the input's device.
        ignore_index: a target with this value counts for nothing.
        label_smoothing: share of the target that is spread over all classes.

    Shape: input (n, c, *), target (n, *) integers or (n, c, *) probabilities.

    >>> torch.nn.CrossEntropyLoss()(torch.zeros(1, 2), torch.tensor([0]))
    tensor(0.6931)
    """

    def __init__(
        self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean",
        label_smoothing=0.0,
    ):  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )  # fmt: skip


class NLLLoss(_WeightedLoss):
    """-x[target]: log-probabilities against class indices.

    Shape: input (n, c, *), target (n, *).

    >>> torch.nn.NLLLoss()(torch.tensor([[-0.5, -1.0]]), torch.tensor([1]))
    tensor(1.)
    """

    def __init__(
        self, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction="mean"
    ):
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input, target):
        return F.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class NLLLoss2d(NLLLoss):
    """The old name of NLLLoss for images."""


class BCELoss(_WeightedLoss):
    """-(y log x + (1 - y) log(1 - x)): probabilities against 0 and 1.

    >>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input, target):
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """BCELoss of sigmoid(x), computed without overflow.

    Args:
        pos_weight: a factor for the positive examples of each class.

    >>> torch.nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def __init__(
        self, weight=None, size_average=None, reduce=None, reduction="mean", pos_weight=None
    ):
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    """target * (log target - input), the input being log-probabilities.

    Args:
        reduction: also "batchmean", the sum over the batch size, which is the mathematical one.
        log_target: whether the target is given as logarithm.

    >>> torch.nn.KLDivLoss(reduction="sum")(torch.zeros(2), torch.ones(2))
    tensor(0.)
    """

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """exp(x) - y x; with `log_input=False`, x - y log(x + eps).

    >>> torch.nn.PoissonNLLLoss()(torch.zeros(2), torch.ones(2))
    tensor(1.)
    """

    def __init__(
        self, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
        reduction="mean",
    ):  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input, target):
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps,
            reduction=self.reduction,
        )  # fmt: skip


class GaussianNLLLoss(_Loss):
    """(log(var) + (x - y)^2 / var) / 2, var no less than eps.

    >>> torch.nn.GaussianNLLLoss()(torch.zeros(2), torch.ones(2), torch.ones(2))
    tensor(0.5000)
    """

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input, target, var):
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class CTCLoss(_Loss):
    """-log of the probability that the outputs, repeats and blanks removed, spell the target.

    Args:
        blank: the class that stands for no label.
        zero_infinity: targets that cannot be spelt count for nothing.

    Shape: log_probs (t, n, c) or (t, c), targets (n, s) or (sum of target_lengths) or (s).

    >>> log_probs = torch.zeros(2, 1, 2).log_softmax(2)
    >>> torch.nn.CTCLoss()(log_probs, torch.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """

    def __init__(self, blank=0, reduction="mean", zero_infinity=False):
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs, targets, input_lengths, target_lengths):
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction,
            self.zero_infinity,
        )  # fmt: skip


settle(globals())
