"""Losses of regression, classification and likelihoods; those of margins and of
linear layers come from loss_margin.py and loss_linear.py.

`reduction` is "none", "mean" or "sum".
"""

import warnings

from rushlight.nn import functional as F
from rushlight.nn.modules._class_path import settle
from rushlight.nn.modules._loss_base import _Loss, _WeightedLoss
from rushlight.nn.modules.loss_linear import LinearCrossEntropyLoss
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
    "LinearCrossEntropyLoss",
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
    """The absolute error |x - y|.

    Args:
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.L1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(1.)
    """

    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """The squared error (x - y)^2.

    Args:
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(2.)
    """

    def forward(self, input, target):
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """(x - y)^2 / (2 beta) where |x - y| < beta, else |x - y| - beta / 2 (Girshick, 2015).

    Args:
        reduction: "mean", "sum", or "none" for a loss per element.
        beta: where the parabola meets the lines.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.SmoothL1Loss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(0.7500)
    """

    def __init__(self, size_average=None, reduce=None, reduction="mean", beta=1.0):
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input, target):
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """(x - y)^2 / 2 where |x - y| < delta, else delta * (|x - y| - delta / 2) (Huber, 1964).

    Args:
        reduction: "mean", "sum", or "none" for a loss per element.
        delta: where the parabola meets the lines.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.HuberLoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
    tensor(0.7500)
    """

    def __init__(self, reduction="mean", delta=1.0):
        super().__init__(reduction=reduction)
        if not isinstance(delta, float | int):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        self.delta = delta

    def forward(self, input, target):
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class CrossEntropyLoss(_WeightedLoss):
    """-log softmax(x)[target]: logits against class indices or class probabilities.

    Args:
        weight: a factor for each class, shape (c); on the input's device.
        ignore_index: a target of this value adds neither loss nor gradient.
        reduction: "mean" (weighted by `weight`), "sum", or "none" for a loss per target.
        label_smoothing: part of the target that is spread over all classes.

    Shape: input (n, c, *) or (c), target (n, *) or () of class indices, or probabilities of the
    input's shape; a scalar, or (n, *) with reduction="none".

    >>> torch.nn.CrossEntropyLoss()(torch.zeros(1, 2), torch.tensor([0]))
    tensor(0.6931)
    """

    ignore_index: int
    label_smoothing: float

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

    Args:
        weight: a factor for each class, shape (c).
        ignore_index: a target of this value adds neither loss nor gradient.
        reduction: "mean" (weighted by `weight`), "sum", or "none" for a loss per target.

    Shape: input (n, c, *) or (c), target (n, *) or () of class indices; a scalar, or (n, *) with
    reduction="none".

    >>> torch.nn.NLLLoss()(torch.tensor([[-0.5, -1.0]]), torch.tensor([1]))
    tensor(1.)
    """

    ignore_index: int

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
    """The older name of NLLLoss for images."""

    def __init__(self, weight=None, size_average=None, ignore_index=-100, reduce=None,
                 reduction="mean"):  # fmt: skip
        warnings.warn(
            "`NLLLoss2d` has been deprecated: `NLLLoss` takes images too",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class BCELoss(_WeightedLoss):
    """Binary cross-entropy of probabilities: -(y log x + (1 - y) log(1 - x)), each log no less than
    -100.

    Args:
        weight: a factor for each element, broadcast to the input.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target of one shape; a scalar, or that shape with reduction="none".

    >>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input, target):
        return F.binary_cross_entropy(input, target, self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Binary cross-entropy of logits: BCELoss of sigmoid(x), computed without overflow.

    Args:
        weight: a factor for each element, broadcast to the input.
        reduction: "mean", "sum", or "none" for a loss per element.
        pos_weight: a factor for the positive examples of each class, broadcast to the target.

    Shape: input and target of one shape; a scalar, or that shape with reduction="none".

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
    """The Kullback-Leibler divergence of log-probabilities from a target: target * (log target -
    input).

    Args:
        reduction: also "batchmean", the sum divided by the batch size, which is the mathematical
            value.
        log_target: whether the target is given as log-probabilities.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.KLDivLoss(reduction="sum")(torch.zeros(2), torch.ones(2))
    tensor(0.)
    """

    def __init__(self, size_average=None, reduce=None, reduction="mean", log_target=False):
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input, target):
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """Negative log-likelihood of a Poisson distribution: exp(x) - y x; with log_input=False, x - y
    log(x + eps).

    Args:
        log_input: whether the input is the logarithm of the rate.
        full: add Stirling's approximation of log(y!) where y > 1.
        eps: keeps log(x) finite if log_input is False.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target any, broadcast; a scalar, or their shape with reduction="none".

    >>> torch.nn.PoissonNLLLoss()(torch.zeros(2), torch.ones(2))
    tensor(1.)
    """

    log_input: bool
    full: bool
    eps: float

    def __init__(
        self, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
        reduction="mean",
    ):  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input, target):
        """The loss of `log_input`, the log of the rate (or the rate), for counts `target`."""
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps,
            reduction=self.reduction,
        )  # fmt: skip


class GaussianNLLLoss(_Loss):
    """Negative log-likelihood of a normal distribution: (log(var) + (x - y)^2 / var) / 2 (Nix and
    Weigend, 1994).

    Args:
        full: add log(2 pi) / 2.
        eps: the smallest variance.
        reduction: "mean", "sum", or "none" for a loss per element.

    Shape: input and target (n, *), var the same, or without the last dimension, or with size 1
    there; a scalar, or (n, *) with reduction="none".

    >>> torch.nn.GaussianNLLLoss()(torch.zeros(2), torch.ones(2), torch.ones(2))
    tensor(0.5000)
    """

    full: bool
    eps: float

    def __init__(self, *, full=False, eps=1e-6, reduction="mean"):
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input, target, var):
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class CTCLoss(_Loss):
    """-log of the probability that the outputs, repeats and blanks removed, spell the target
    (Graves et al., 2006).

    Args:
        blank: the index of the blank label.
        reduction: "mean" (of each loss divided by its target's length), "sum", or "none".
        zero_infinity: losses that are infinite, as the target is longer than the input, become 0.

    Shape: log_probs (t, n, c) or (t, c), targets (n, s), (sum of target_lengths) or (s),
    input_lengths and target_lengths (n) or (); a scalar, or (n) with reduction="none".

    >>> log_probs = torch.zeros(2, 1, 2).log_softmax(2)
    >>> torch.nn.CTCLoss()(log_probs, torch.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """

    blank: int
    zero_infinity: bool

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
