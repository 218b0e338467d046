"""The loss of generalized intersection over union."""

from ._pairs import Pairs, reduced


def generalized_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """1 - generalized_box_iou() of each box and its target.

    Args:
        boxes1: (n, 4) as two corners.
        boxes2: the targets, (n, 4).
        reduction: "none", "mean" or "sum".
        eps: keeps divisors from 0.

    Source: Rezatofighi et al., Generalized Intersection over Union, 2019.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import generalized_box_iou_loss
    >>> box = torch.tensor([[0., 0., 1., 1.]])
    >>> generalized_box_iou_loss(box, box + torch.tensor([2., 0., 2., 0.]))
    tensor([1.3333])
    """
    pairs = Pairs(boxes1, boxes2, eps)
    area = pairs.width * pairs.height
    return reduced(1 - (pairs.overlap - (area - pairs.union) / (area + eps)), reduction)
