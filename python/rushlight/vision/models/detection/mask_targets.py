"""Masks of regions: what to learn, what was found, and its place in the image (He et al., 2017)."""

import rushlight
from rushlight.nn import functional as F

from ...ops.roi_align import roi_align


def maskrcnn_inference(x, labels):
    """The mask of each detection's class, from 0 to 1: (n, 1, m, m) for each image.

    Args:
        x: logits (n, classes, m, m) of all images.
        labels: for each image the classes of its detections.
    """
    counts, every = [len(label) for label in labels], rushlight.cat(labels)
    at = rushlight.arange(len(every), device=every.device)
    return x.sigmoid()[at, every][:, None].split(counts)


def project_masks_on_boxes(gt_masks, boxes, matched_idxs, M):
    """The part of an object's mask in each box, (n, M, M).

    Args:
        gt_masks: of the objects, (objects, h, w).
        boxes: (n, 4).
        matched_idxs: the object of each box.
        M: side of the result.
    """
    rows = rushlight.cat([matched_idxs[:, None].to(boxes), boxes], 1)
    return roi_align(gt_masks[:, None].to(rows), rows, (M, M), 1.0)[:, 0]


def maskrcnn_loss(mask_logits, proposals, gt_masks, gt_labels, mask_matched_idxs):
    """The cross entropy of each pixel of the masks of the objects' classes.

    Args:
        mask_logits: (n, classes, m, m) of all images.
        proposals: for each image its boxes.
        gt_masks: for each image the masks of its objects.
        gt_labels: for each image their classes.
        mask_matched_idxs: for each image the object of each box.
    """
    side = mask_logits.shape[-1]
    labels = rushlight.cat(
        [label[at] for label, at in zip(gt_labels, mask_matched_idxs, strict=True)]
    )
    wanted = rushlight.cat(
        [
            project_masks_on_boxes(masks, boxes, at, side)
            for masks, boxes, at in zip(gt_masks, proposals, mask_matched_idxs, strict=True)
            if len(boxes)
        ]
        or [mask_logits.new_zeros((0, side, side))]
    )
    if wanted.numel() == 0:
        return mask_logits.sum() * 0
    at = rushlight.arange(len(labels), device=labels.device)
    return F.binary_cross_entropy_with_logits(mask_logits[at, labels], wanted)


def _larger(boxes, scale):
    # Boxes around the same centres.
    x1, y1, x2, y2 = boxes.unbind(1)
    half_w, half_h = (x2 - x1) * 0.5 * scale, (y2 - y1) * 0.5 * scale
    x, y = (x2 + x1) * 0.5, (y2 + y1) * 0.5
    return rushlight.stack((x - half_w, y - half_h, x + half_w, y + half_h), 1)


def _pasted(mask, box, height, width):
    # A mask (m, m) at the size of its box, in an image of zeros.
    x1, y1, x2, y2 = box
    image = mask.new_zeros((height, width))
    left, top = max(x1, 0), max(y1, 0)
    right, bottom = min(x2 + 1, width), min(y2 + 1, height)
    if right > left and bottom > top:
        size = (max(y2 - y1 + 1, 1), max(x2 - x1 + 1, 1))
        mask = F.interpolate(mask[None, None], size, mode="bilinear", align_corners=False)[0, 0]
        image[top:bottom, left:right] = mask[top - y1 : bottom - y1, left - x1 : right - x1]
    return image


def paste_masks_in_image(masks, boxes, img_shape, padding=1):
    """Masks (n, 1, m, m) of boxes, as masks (n, 1, h, w) of the image.

    Args:
        masks: (n, 1, m, m).
        boxes: (n, 4), in pixels of the image.
        img_shape: (height, width).
        padding: zeros around each mask before it is enlarged.
    """
    side = masks.shape[-1]
    masks = F.pad(masks, (padding,) * 4)
    boxes = _larger(boxes, (side + 2 * padding) / side).to(rushlight.int64).tolist()
    pairs = zip(masks[:, 0], boxes, strict=True)
    found = [_pasted(mask, box, *img_shape) for mask, box in pairs]
    return rushlight.stack(found)[:, None] if found else masks.new_empty((0, 1, *img_shape))
