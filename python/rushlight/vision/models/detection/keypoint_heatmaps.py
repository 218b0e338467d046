"""Key points as positions in heat maps of regions, there and back (He et al., 2017)."""

import rushlight
from rushlight.nn import functional as F


def keypoints_to_heatmap(keypoints, rois, heatmap_size):
    """(the position of each key point in a heat map, whether it is in it and visible).

    Args:
        keypoints: (n, k, 3): x, y and whether it is visible.
        rois: (n, 4).
        heatmap_size: the side of the map.

    Shape: (n, k) both.
    """
    x1, y1, x2, y2 = (side[:, None] for side in rois.unbind(1))
    x, y, seen = keypoints.unbind(-1)
    last = heatmap_size - 1
    column = ((x - x1) * (heatmap_size / (x2 - x1))).floor().long().masked_fill(x == x2, last)
    row = ((y - y1) * (heatmap_size / (y2 - y1))).floor().long().masked_fill(y == y2, last)
    inside = (column >= 0) & (row >= 0) & (column < heatmap_size) & (row < heatmap_size)
    valid = (inside & (seen > 0)).long()
    return (row * heatmap_size + column) * valid, valid


def _best_place(maps, box):
    # Key points (k, 3) and their scores (k), of heat maps (k, m, m) at the size of their region.
    left, top, width, height = box
    rows, columns = max(int(-(-height // 1)), 1), max(int(-(-width // 1)), 1)
    large = F.interpolate(maps[:, None], (rows, columns), mode="bicubic", align_corners=False)
    scores, at = large[:, 0].reshape(len(maps), -1).max(1)
    row = at.div(columns, rounding_mode="floor")
    x = ((at - row * columns).float() + 0.5) * (width / columns) + left
    y = (row.float() + 0.5) * (height / rows) + top
    return rushlight.stack([x, y, rushlight.ones_like(x)], 1), scores


def heatmaps_to_keypoints(maps, rois):
    """(key points (n, k, 3), their scores (n, k)) of heat maps.

    Args:
        maps: logits (n, k, m, m).
        rois: (n, 4).
    """
    sides = (rois[:, 2:] - rois[:, :2]).clamp(min=1)
    boxes = rushlight.cat([rois[:, :2], sides], 1).tolist()
    found = [_best_place(own, box) for own, box in zip(maps, boxes, strict=True)]
    if not found:
        count = maps.shape[1]
        return maps.new_zeros((0, count, 3)), maps.new_zeros((0, count))
    points, scores = zip(*found, strict=True)
    return rushlight.stack(points), rushlight.stack(scores)


def keypointrcnn_loss(keypoint_logits, proposals, gt_keypoints, keypoint_matched_idxs):
    """The cross entropy of each key point's place, of those that can be seen.

    Args:
        keypoint_logits: (n, k, m, m) of all images.
        proposals: for each image its boxes.
        gt_keypoints: for each image the key points of its objects.
        keypoint_matched_idxs: for each image the object of each box.
    """
    side = keypoint_logits.shape[-1]
    if keypoint_logits.shape[-2] != side:
        raise ValueError(
            "keypoint_logits height and width (last two elements of shape) should be equal. "
            f"Instead got H = {keypoint_logits.shape[-2]} and W = {side}"
        )
    pairs = [
        keypoints_to_heatmap(points[at], boxes, side)
        for boxes, points, at in zip(proposals, gt_keypoints, keypoint_matched_idxs, strict=True)
    ]
    positions, valid = (
        rushlight.cat([x.reshape(-1) for x in part]) for part in zip(*pairs, strict=True)
    )
    at = rushlight.where(valid)[0]
    if positions.numel() == 0 or len(at) == 0:
        return keypoint_logits.sum() * 0
    return F.cross_entropy(keypoint_logits.reshape(len(positions), -1)[at], positions[at])


def keypointrcnn_inference(x, boxes):
    """(key points, their scores) for each image.

    Args:
        x: logits (n, k, m, m) of all images.
        boxes: for each image its detections.
    """
    maps = x.split([len(box) for box in boxes])
    found = [heatmaps_to_keypoints(*pair) for pair in zip(maps, boxes, strict=True)]
    return tuple([part[i] for part in found] for i in range(2))
