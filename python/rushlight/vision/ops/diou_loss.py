"""The loss of intersection over union and the distance of centres."""

from ._pairs import Pairs, reduced


def distance_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """1 - distance_box_iou() of each box and its target.

    Args:
        boxes1: (n, 4) as two corners.
        boxes2: the targets, (n, 4).
        reduction: "none", "mean" or "sum".
        eps: keeps divisors from 0.

    Source: Zheng et al., Distance-IoU Loss, 2020.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import distance_box_iou_loss
    >>> box = torch.tensor([[0., 0., 2., 2.]])
    >>> distance_box_iou_loss(box, box + torch.tensor([1., 0., 1., 0.]))
    tensor([0.7436])
    """
    return reduced(Pairs(boxes1, boxes2, eps).distance(eps), reduction)
