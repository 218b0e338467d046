"""Boxes (n, 4): areas, overlaps, formats, and the choice of one among many that overlap."""

import math

import rushlight
from rushlight import _C

FORMATS = ("xyxy", "xywh", "cxcywh")


def upcast(t):
    """Whole numbers of 32 bits and floats of 32 at least: products of sides fit."""
    if t.is_floating_point():
        return t if t.dtype in (rushlight.float32, rushlight.float64) else t.float()
    return t if t.dtype in (rushlight.int32, rushlight.int64) else t.int()


def box_convert(boxes, in_fmt, out_fmt):
    """Boxes written in another format.

    Args:
        boxes: (n, 4).
        in_fmt: "xyxy" (two corners), "xywh" (a corner and the size) or "cxcywh" (centre and size).
        out_fmt: likewise.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import box_convert
    >>> box_convert(torch.tensor([[1., 2., 4., 8.]]), "xyxy", "cxcywh")
    tensor([[2.5000, 5.0000, 3.0000, 6.0000]])
    """
    if in_fmt not in FORMATS or out_fmt not in FORMATS:
        raise ValueError(
            f"Unsupported Bounding Box Conversions for given in_fmt {in_fmt} and out_fmt {out_fmt}"
            f": there are {', '.join(FORMATS)}"
        )
    if in_fmt == out_fmt:
        return boxes.clone()
    a, b, c, d = boxes.unbind(-1)
    if in_fmt == "xywh":
        c, d = a + c, b + d
    elif in_fmt == "cxcywh":
        a, b, c, d = a - 0.5 * c, b - 0.5 * d, a + 0.5 * c, b + 0.5 * d
    if out_fmt == "xywh":
        c, d = c - a, d - b
    elif out_fmt == "cxcywh":
        a, b, c, d = (a + c) / 2, (b + d) / 2, c - a, d - b
    return rushlight.stack((a, b, c, d), dim=-1)


def box_area(boxes, fmt="xyxy"):
    """Width times height of each box.

    Args:
        boxes: (n, 4).
        fmt: "xyxy", "xywh" or "cxcywh".

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import box_area
    >>> box_area(torch.tensor([[0., 0., 2., 3.]]))
    tensor([6.])
    """
    boxes = upcast(boxes)
    if fmt == "xyxy":
        return (boxes[..., 2] - boxes[..., 0]) * (boxes[..., 3] - boxes[..., 1])
    if fmt in FORMATS:
        return boxes[..., 2] * boxes[..., 3]
    raise ValueError(f"Unsupported Bounding Box area for given format {fmt}")


def shared(boxes1, boxes2):
    """(area of the intersection, of the union) of each pair, (n, m)."""
    corner = rushlight.max(boxes1[..., None, :2], boxes2[..., None, :, :2])
    other = rushlight.min(boxes1[..., None, 2:], boxes2[..., None, :, 2:])
    sides = upcast(other - corner).clamp(min=0)
    both = sides[..., 0] * sides[..., 1]
    return both, box_area(boxes1)[..., None] + box_area(boxes2)[..., None, :] - both


def box_iou(boxes1, boxes2, fmt="xyxy"):
    """The intersection over the union of each pair of boxes.

    Args:
        boxes1: (n, 4).
        boxes2: (m, 4).
        fmt: "xyxy", "xywh" or "cxcywh".

    Shape: (n, m).

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import box_iou
    >>> box_iou(torch.tensor([[0., 0., 2., 2.]]), torch.tensor([[1., 0., 3., 2.]]))
    tensor([[0.3333]])
    """
    if fmt != "xyxy":
        boxes1, boxes2 = (box_convert(boxes, fmt, "xyxy") for boxes in (boxes1, boxes2))
    both, union = shared(boxes1, boxes2)
    return both / union


def around(boxes1, boxes2):
    """The sides of the smallest box that holds each pair, (n, m, 2)."""
    corner = rushlight.min(boxes1[:, None, :2], boxes2[:, :2])
    other = rushlight.max(boxes1[:, None, 2:], boxes2[:, 2:])
    return upcast(other - corner).clamp(min=0)


def generalized_box_iou(boxes1, boxes2):
    """The intersection over the union, less the share of the box around both that neither covers.

    Args:
        boxes1: (n, 4) as two corners.
        boxes2: (m, 4).

    Source: Rezatofighi et al., Generalized Intersection over Union, 2019.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import generalized_box_iou
    >>> generalized_box_iou(torch.tensor([[0., 0., 1., 1.]]), torch.tensor([[2., 0., 3., 1.]]))
    tensor([[-0.3333]])
    """
    both, union = shared(boxes1, boxes2)
    sides = around(boxes1, boxes2)
    area = sides[..., 0] * sides[..., 1]
    return both / union - (area - union) / area


def distances(boxes1, boxes2, eps):
    """(the overlap less the distance of the centres, the overlap) of each pair."""
    overlap = box_iou(boxes1, boxes2)
    sides = around(boxes1, boxes2)
    diagonal = sides[..., 0] ** 2 + sides[..., 1] ** 2 + eps
    centres = [(boxes[:, :2] + boxes[:, 2:]) / 2 for boxes in (boxes1, boxes2)]
    apart = upcast(centres[0][:, None] - centres[1][None])
    return overlap - (apart[..., 0] ** 2 + apart[..., 1] ** 2) / diagonal, overlap


def distance_box_iou(boxes1, boxes2, eps=1e-7):
    """The intersection over the union, less the squared distance of the centres over the squared
    diagonal of the box around both.

    Args:
        boxes1: (n, 4) as two corners.
        boxes2: (m, 4).
        eps: keeps the diagonal from 0.

    Source: Zheng et al., Distance-IoU Loss, 2020.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import distance_box_iou
    >>> distance_box_iou(torch.tensor([[0., 0., 2., 2.]]), torch.tensor([[1., 0., 3., 2.]]))
    tensor([[0.2564]])
    """
    return distances(upcast(boxes1), upcast(boxes2), eps)[0]


def aspect_term(sizes1, sizes2):
    """How much the ratios of width to height differ, 0 to 1."""
    angles = [rushlight.atan(width / height) for width, height in (sizes1, sizes2)]
    return 4 / math.pi**2 * (angles[0] - angles[1]) ** 2


def complete_box_iou(boxes1, boxes2, eps=1e-7):
    """distance_box_iou(), less a term for ratios of width to height that differ.

    Args:
        boxes1: (n, 4) as two corners.
        boxes2: (m, 4).
        eps: keeps divisors from 0.

    Source: Zheng et al., Distance-IoU Loss, 2020.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import complete_box_iou
    >>> complete_box_iou(torch.tensor([[0., 0., 2., 2.]]), torch.tensor([[0., 0., 2., 2.]]))
    tensor([[1.]])
    """
    boxes1, boxes2 = upcast(boxes1), upcast(boxes2)
    near, overlap = distances(boxes1, boxes2, eps)
    sizes1 = boxes1[:, None, 2] - boxes1[:, None, 0], boxes1[:, None, 3] - boxes1[:, None, 1]
    sizes2 = boxes2[:, 2] - boxes2[:, 0], boxes2[:, 3] - boxes2[:, 1]
    ratio = aspect_term(sizes1, sizes2)
    with rushlight.no_grad():
        weight = ratio / (1 - overlap + ratio + eps)
    return near - weight * ratio


def clip_boxes_to_image(boxes, size):
    """Boxes with their corners moved into the image.

    Args:
        boxes: (..., 4) as two corners.
        size: (height, width) of the image.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import clip_boxes_to_image
    >>> clip_boxes_to_image(torch.tensor([[-1., 2., 9., 9.]]), (4, 6))
    tensor([[0., 2., 6., 4.]])
    """
    height, width = size
    xs, ys = boxes[..., 0::2].clamp(0, width), boxes[..., 1::2].clamp(0, height)
    return rushlight.stack((xs, ys), dim=boxes.dim()).reshape(boxes.shape)


def remove_small_boxes(boxes, min_size):
    """The indices of the boxes whose sides are both at least min_size.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import remove_small_boxes
    >>> remove_small_boxes(torch.tensor([[0., 0., 1., 9.], [0., 0., 5., 5.]]), 2)
    tensor([1])
    """
    sides = boxes[:, 2:] - boxes[:, :2]
    return rushlight.where((sides >= min_size).all(1))[0]


def masks_to_boxes(masks):
    """The smallest box around the true elements of each mask.

    Args:
        masks: (n, height, width).

    Shape: (n, 4), as two corners that both lie in the mask.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import masks_to_boxes
    >>> masks_to_boxes(torch.tensor([[[0, 0, 0], [0, 1, 1]]]))
    tensor([[1., 1., 2., 1.]])
    """
    if masks.numel() == 0:
        return rushlight.zeros((0, 4), device=masks.device)
    filled = masks != 0
    edges = []
    for line in (filled.any(1), filled.any(2)):  # columns, rows
        first = line.int().argmax(1)
        last = line.shape[1] - 1 - line.flip(1).int().argmax(1)
        edges.append((first, last))
    (left, right), (top, bottom) = edges
    return rushlight.stack((left, top, right, bottom), 1).float()


def nms(boxes, scores, iou_threshold):
    """The indices of the boxes that stay, best first: a box goes if one with a higher score stays
    and overlaps it by more than iou_threshold (non-maximum suppression).

    Args:
        boxes: (n, 4) as two corners.
        scores: (n).
        iou_threshold: the greatest intersection over union of two that stay.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import nms
    >>> boxes = torch.tensor([[0., 0., 2., 2.], [0., 0., 2., 3.], [5., 5., 6., 6.]])
    >>> nms(boxes, torch.tensor([0.5, 0.9, 0.7]), 0.5)
    tensor([1, 2])
    """
    return _C._nms(boxes, scores, iou_threshold)


def batched_nms(boxes, scores, idxs, iou_threshold):
    """nms() among the boxes of each class alone.

    Args:
        boxes: (n, 4) as two corners.
        scores: (n).
        idxs: the class of each, (n).
        iou_threshold: as of nms().

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import batched_nms
    >>> boxes = torch.tensor([[0., 0., 2., 2.], [0., 0., 2., 2.]])
    >>> batched_nms(boxes, torch.tensor([0.5, 0.9]), torch.tensor([0, 1]), 0.5)
    tensor([1, 0])
    """
    if boxes.numel() == 0:
        return rushlight.empty((0,), dtype=rushlight.int64, device=boxes.device)
    # Classes are moved apart, so that one call serves all.
    step = boxes.max() + 1
    return nms(boxes + (idxs.to(boxes) * step)[:, None], scores, iou_threshold)
