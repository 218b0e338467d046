"""What the losses of pairs of boxes share."""

import rushlight

from .boxes import upcast


class Pairs:
    """Boxes (..., 4) beside their targets: overlaps and the sides of the boxes around them."""

    def __init__(self, boxes1, boxes2, eps):
        a, b = upcast(boxes1), upcast(boxes2)
        self.first, self.second = a.unbind(-1), b.unbind(-1)
        sides = rushlight.min(a[..., 2:], b[..., 2:]) - rushlight.max(a[..., :2], b[..., :2])
        # As the source has it: where they do not meet, nothing is shared.
        meet = (sides > 0).all(-1)
        self.both = rushlight.where(meet, sides[..., 0] * sides[..., 1], 0.0)
        areas = [(x2 - x1) * (y2 - y1) for x1, y1, x2, y2 in (self.first, self.second)]
        self.union = areas[0] + areas[1] - self.both
        self.overlap = self.both / (self.union + eps)
        around = rushlight.max(a[..., 2:], b[..., 2:]) - rushlight.min(a[..., :2], b[..., :2])
        self.width, self.height = around.unbind(-1)

    def distance(self, eps):
        """1 less the overlap, plus the distance of the centres over the diagonal around both."""
        (ax, ay, ax2, ay2), (bx, by, bx2, by2) = self.first, self.second
        apart = ((ax + ax2) / 2 - (bx + bx2) / 2) ** 2 + ((ay + ay2) / 2 - (by + by2) / 2) ** 2
        return 1 - self.overlap + apart / (self.width**2 + self.height**2 + eps)


def reduced(loss, reduction):
    """The loss per pair, its mean (0 without pairs) or its sum."""
    if reduction == "none":
        return loss
    if reduction == "mean":
        return loss.mean() if loss.numel() else 0.0 * loss.sum()
    if reduction == "sum":
        return loss.sum()
    raise ValueError(
        f"Invalid Value for arg 'reduction': '{reduction}'\n Supported reduction modes: 'none', "
        "'mean', 'sum'"
    )
