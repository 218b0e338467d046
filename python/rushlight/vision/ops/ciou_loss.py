"""The loss of intersection over union, the distance of centres, and ratios of sides."""

import rushlight

from ._pairs import Pairs, reduced
from .boxes import aspect_term


def complete_box_iou_loss(boxes1, boxes2, reduction="none", eps=1e-7):
    """1 - complete_box_iou() of each box and its target.

    Args:
        boxes1: (n, 4) as two corners.
        boxes2: the targets, (n, 4).
        reduction: "none", "mean" or "sum".
        eps: keeps divisors from 0.

    Source: Zheng et al., Distance-IoU Loss, 2020.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import complete_box_iou_loss
    >>> box = torch.tensor([[0., 0., 2., 2.]])
    >>> complete_box_iou_loss(box, box, reduction="sum")
    tensor(0.)
    """
    pairs = Pairs(boxes1, boxes2, eps)
    sizes = [(x2 - x1, y2 - y1) for x1, y1, x2, y2 in (pairs.first, pairs.second)]
    ratio = aspect_term(sizes[1], sizes[0])
    with rushlight.no_grad():
        weight = ratio / (1 - pairs.overlap + ratio + eps)
    return reduced(pairs.distance(eps) + weight * ratio, reduction)
