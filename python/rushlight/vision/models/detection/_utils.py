"""What detectors share: boxes matched with objects, and encoded as regression targets."""

import math
from collections import OrderedDict

import rushlight
from rushlight.nn import functional as F

from ...ops import complete_box_iou_loss, distance_box_iou_loss, generalized_box_iou_loss
from ...ops.misc import FrozenBatchNorm2d

_CLIP = math.log(1000.0 / 16)  # so that exp() does not overflow


class BalancedPositiveNegativeSampler:
    """Draws boxes to learn from, with and without an object, at a fixed ratio.

    Args:
        batch_size_per_image: how many to draw for each image.
        positive_fraction: how many of them have an object, at most.
    """

    def __init__(self, batch_size_per_image, positive_fraction):
        self.batch_size_per_image = batch_size_per_image
        self.positive_fraction = positive_fraction

    def __call__(self, matched_idxs):
        """(masks of those with an object, masks of those without), for labels by image."""
        chosen = []
        for labels in matched_idxs:
            positive, negative = (rushlight.where(x)[0] for x in (labels >= 1, labels == 0))
            most = int(self.batch_size_per_image * self.positive_fraction)
            count = min(len(positive), most)
            for kind, wanted in (
                (positive, count),
                (negative, min(len(negative), self.batch_size_per_image - count)),
            ):
                drawn = kind[rushlight.randperm(len(kind), device=kind.device)[:wanted]]
                mask = rushlight.zeros_like(labels, dtype=rushlight.uint8)
                chosen.append(mask.index_fill(0, drawn, 1))
        return chosen[0::2], chosen[1::2]


def centres(boxes):
    """(x, y, width, height) of boxes (..., 4), each (...)."""
    x1, y1, x2, y2 = boxes.unbind(-1)
    width, height = x2 - x1, y2 - y1
    return x1 + 0.5 * width, y1 + 0.5 * height, width, height


class BoxCoder:
    """Boxes as their differences to others: of the centres in sizes, of the sizes as logarithms.

    Args:
        weights: factors of x, y, width and height.
        bbox_xform_clip: the greatest logarithm that decode() takes.
    """

    def __init__(self, weights, bbox_xform_clip=_CLIP):
        self.weights, self.bbox_xform_clip = weights, bbox_xform_clip

    def encode(self, reference_boxes, proposals):
        """The differences of each image's boxes to its proposals, a list."""
        counts = [len(boxes) for boxes in reference_boxes]
        every = self.encode_single(rushlight.cat(reference_boxes), rushlight.cat(proposals))
        return every.split(counts)

    def encode_single(self, reference_boxes, proposals):
        """The differences of boxes (n, 4) to proposals (n, 4)."""
        wx, wy, ww, wh = self.weights
        x, y, width, height = centres(proposals)
        gx, gy, gw, gh = centres(reference_boxes)
        return rushlight.stack(
            (
                wx * (gx - x) / width,
                wy * (gy - y) / height,
                ww * (gw / width).log(),
                wh * (gh / height).log(),
            ),
            1,
        )

    def decode(self, rel_codes, boxes):
        """Boxes (n, classes, 4) of differences to the boxes of all images."""
        every = rushlight.cat(boxes)
        codes = rel_codes.reshape(len(every), -1) if len(every) else rel_codes
        found = self.decode_single(codes, every)
        return found.reshape(len(every), -1, 4) if len(every) else found

    def decode_single(self, rel_codes, boxes):
        """Boxes (n, 4 * classes) of differences (n, 4 * classes) to boxes (n, 4)."""
        x, y, width, height = (v[:, None] for v in centres(boxes.to(rel_codes.dtype)))
        dx, dy, dw, dh = (rel_codes[:, i::4] / w for i, w in enumerate(self.weights))
        gx, gy = dx * width + x, dy * height + y
        half_w = 0.5 * dw.clamp(max=self.bbox_xform_clip).exp() * width
        half_h = 0.5 * dh.clamp(max=self.bbox_xform_clip).exp() * height
        corners = (gx - half_w, gy - half_h, gx + half_w, gy + half_h)
        return rushlight.stack(corners, 2).flatten(1)


class BoxLinearCoder:
    """Boxes as the distances of their sides from the centres of others.

    Args:
        normalize_by_size: whether distances are in sizes of the other box.
    """

    def __init__(self, normalize_by_size=True):
        self.normalize_by_size = normalize_by_size

    def encode(self, reference_boxes, proposals):
        """Distances (..., 4), to the left, top, right and bottom of proposals (..., 4)."""
        x, y, width, height = centres(reference_boxes)
        x1, y1, x2, y2 = proposals.unbind(-1)
        found = rushlight.stack((x - x1, y - y1, x2 - x, y2 - y), -1)
        if self.normalize_by_size:
            found = found / rushlight.stack((width, height, width, height), -1)
        return found

    def decode(self, rel_codes, boxes):
        """Boxes (..., 4) of distances (..., 4) from the centres of boxes (..., 4)."""
        x, y, width, height = centres(boxes.to(rel_codes.dtype))
        if self.normalize_by_size:
            rel_codes = rel_codes * rushlight.stack((width, height, width, height), -1)
        left, top, right, bottom = rel_codes.unbind(-1)
        return rushlight.stack((x - left, y - top, x + right, y + bottom), -1)


class Matcher:
    """The object that each box belongs to, by their overlaps.

    Args:
        high_threshold: a box belongs to an object from this overlap on.
        low_threshold: below this one it belongs to none; between the two it is not used.
        allow_low_quality_matches: whether each object gets the boxes that overlap it most, however
            little that is.
    """

    BELOW_LOW_THRESHOLD, BETWEEN_THRESHOLDS = -1, -2

    def __init__(self, high_threshold, low_threshold, allow_low_quality_matches=False):
        if low_threshold > high_threshold:
            raise AssertionError("low_threshold should be <= high_threshold")
        self.high_threshold, self.low_threshold = high_threshold, low_threshold
        self.allow_low_quality_matches = allow_low_quality_matches

    def __call__(self, match_quality_matrix):
        """The object of each box (n), or a negative number, for overlaps (objects, n)."""
        if match_quality_matrix.numel() == 0:
            what = "proposal" if len(match_quality_matrix) else "ground-truth"
            raise ValueError(f"No {what} boxes available for one of the images during training")
        best, objects = match_quality_matrix.max(0)
        found = objects.masked_fill(best < self.low_threshold, self.BELOW_LOW_THRESHOLD)
        between = (best >= self.low_threshold) & (best < self.high_threshold)
        found = found.masked_fill(between, self.BETWEEN_THRESHOLDS)
        if self.allow_low_quality_matches:
            most = match_quality_matrix.max(1, keepdim=True).values
            found = rushlight.where((match_quality_matrix == most).any(0), objects, found)
        return found


class SSDMatcher(Matcher):
    """A Matcher that gives each object the box that overlaps it most.

    Args:
        threshold: a box belongs to an object from this overlap on.
    """

    def __init__(self, threshold):
        super().__init__(threshold, threshold)

    def __call__(self, match_quality_matrix):
        found = super().__call__(match_quality_matrix)
        best = match_quality_matrix.max(1).indices
        found[best] = rushlight.arange(len(best), device=best.device)
        return found


def overwrite_eps(model, eps):
    """Sets eps of the frozen normalisations."""
    for module in model.modules():
        if isinstance(module, FrozenBatchNorm2d):
            module.eps = eps


def retrieve_out_channels(model, size):
    """The channels of each feature map of a backbone for images of size (width, height)."""
    trains = model.training
    model.eval()
    with rushlight.no_grad():
        device = next(model.parameters()).device
        features = model(rushlight.zeros((1, 3, size[1], size[0]), device=device))
    model.train(trains)
    maps = [features] if isinstance(features, rushlight.Tensor) else features.values()
    return [each.shape[1] for each in maps]


_OVERLAP_LOSSES = {
    "ciou": complete_box_iou_loss,
    "diou": distance_box_iou_loss,
    "giou": generalized_box_iou_loss,
}


def box_loss(kind, box_coder, anchors, matched_boxes, codes, options=None):
    """The summed loss of codes as boxes, by the name of the loss."""
    options = options or {}
    if kind in ("l1", "smooth_l1"):
        wanted = box_coder.encode_single(matched_boxes, anchors)
        if kind == "l1":
            return F.l1_loss(codes, wanted, reduction="sum")
        return F.smooth_l1_loss(codes, wanted, reduction="sum", beta=options.get("beta", 1.0))
    if kind not in _OVERLAP_LOSSES:
        raise ValueError(f"Unsupported loss {kind}: l1, smooth_l1, {', '.join(_OVERLAP_LOSSES)}")
    found = box_coder.decode_single(codes, anchors)
    eps = options.get("eps", 1e-7)
    return _OVERLAP_LOSSES[kind](found, matched_boxes, reduction="sum", eps=eps)


def best_of_level(scores, threshold, most):
    """(the scores above a threshold, largest first and `most` at most, where they are), of (n)."""
    at = rushlight.where(scores > threshold)[0]
    scores, order = scores[at].topk(min(most, len(at)))
    return scores, at[order]


def check_targets(targets):
    """AssertionError unless there are boxes (n, 4) for each image to learn from."""
    from ...._checks import _assert

    _assert(targets is not None, "targets should not be none when in training mode")
    for target in targets:
        boxes = target["boxes"]
        tensor = isinstance(boxes, rushlight.Tensor)
        _assert(tensor, f"Expected target boxes to be of type Tensor, got {type(boxes)}.")
        _assert(
            boxes.dim() == 2 and boxes.shape[-1] == 4,
            f"Expected target boxes to be a tensor of shape [N, 4], got {boxes.shape}.",
        )


def check_sides(targets):
    """AssertionError where a box has no area."""
    from ...._checks import _assert

    for i, target in enumerate(targets or ()):
        boxes = target["boxes"]
        bad = rushlight.where((boxes[:, 2:] <= boxes[:, :2]).any(1))[0]
        if len(bad):
            _assert(
                False,
                "All bounding boxes should have positive height and width. Found invalid box "
                f"{boxes[bad[0]].tolist()} for target at index {i}.",
            )


def sizes_of(images):
    """(height, width) of each image; AssertionError for what is none."""
    from ...._checks import _assert

    for image in images:
        _assert(
            len(image.shape[-2:]) == 2,
            f"expecting the last two dimensions of the Tensor to be H and W instead got "
            f"{image.shape[-2:]}",
        )
    return [tuple(image.shape[-2:]) for image in images]


def features_of(network, images, targets):
    """(sizes of the images as given, images and targets as prepared, features by name)."""
    if network.training:
        check_targets(targets)
    originals = sizes_of(images)
    images, targets = network.transform(images, targets)
    check_sides(targets)
    features = network.backbone(images.tensors)
    if isinstance(features, rushlight.Tensor):
        features = OrderedDict([("0", features)])
    return originals, images, targets, features


def by_pixel(maps, columns):
    """Maps (n, a * columns, h, w) as rows (n, h * w * a, columns)."""
    n, _, h, w = maps.shape
    rows = maps.reshape(n, -1, columns, h, w).permute(0, 3, 4, 1, 2)
    return rows.reshape(n, -1, columns)
