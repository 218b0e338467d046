"""The focal loss."""

from rushlight.nn import functional as F

from ._pairs import reduced


def sigmoid_focal_loss(inputs, targets, alpha=0.25, gamma=2, reduction="none"):
    """Binary cross entropy in which what is already right counts less: (1 - p)^gamma times it, p
    the probability given to the target.

    Args:
        inputs: logits.
        targets: 0 or 1, of the same shape.
        alpha: the weight of ones, 1 - alpha that of zeros; negative: none.
        gamma: how much less.
        reduction: "none", "mean" or "sum".

    Source: Lin et al., Focal Loss for Dense Object Detection, 2017.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import sigmoid_focal_loss
    >>> sigmoid_focal_loss(torch.zeros(1), torch.ones(1))
    tensor([0.0433])
    """
    if not (0 <= alpha <= 1) and alpha != -1:
        raise ValueError(f"Invalid alpha value: {alpha}. alpha must be in the range [0,1] or -1.")
    p = inputs.sigmoid()
    loss = F.binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    loss = loss * (1 - (p * targets + (1 - p) * (1 - targets))) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    return reduced(loss, reduction)
