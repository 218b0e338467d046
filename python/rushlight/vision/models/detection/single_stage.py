"""Detectors of one stage: what RetinaNet, FCOS and SSD share."""

import rushlight
from rushlight import nn

from ...ops import boxes as box_ops
from ._utils import features_of


class SingleStage(nn.Module):
    """Features, then the class and box of each anchor.

    A subclass has backbone, anchor_generator, head and transform, and says what it learns:
    compute_loss(targets, head_outputs, anchors, sizes), and what it finds:
    postprocess_detections(head_outputs, anchors, image_shapes, sizes), where sizes are how many
    anchors each feature map has.
    """

    def forward(self, images, targets=None):
        """Losses while training, else a dict of detections for each image.

        Args:
            images: a list of (3, h, w), from 0 to 1.
            targets: for each image a dict of "boxes" (n, 4) and "labels" (n).
        """
        originals, images, targets, features = features_of(self, images, targets)
        maps = list(features.values())
        outputs = self.head(maps)
        anchors = self.anchor_generator(images, maps)
        counts = self.anchor_generator.num_anchors_per_location()
        sizes = [
            each.shape[2] * each.shape[3] * count for each, count in zip(maps, counts, strict=True)
        ]
        if self.training:
            return self.compute_loss(targets, outputs, anchors, sizes)
        found = self.postprocess_detections(outputs, anchors, images.image_sizes, sizes)
        return self.transform.postprocess(found, images.image_sizes, originals)

    def best_of(self, boxes, scores, labels):
        """The detections of an image that stay, of those of each level."""
        boxes, scores, labels = (rushlight.cat(parts) for parts in (boxes, scores, labels))
        keep = box_ops.batched_nms(boxes, scores, labels, self.nms_thresh)
        keep = keep[: self.detections_per_img]
        return {"boxes": boxes[keep], "scores": scores[keep], "labels": labels[keep]}


def matched_anchors(matcher, anchors, targets):
    """The object of each anchor, or a negative number, for each image."""
    return [
        matcher(box_ops.box_iou(target["boxes"], own))
        if target["boxes"].numel()
        else own.new_full((len(own),), -1, dtype=rushlight.int64)
        for own, target in zip(anchors, targets, strict=True)
    ]


def check_parts(backbone, anchor_generator, kinds):
    """Raises for a backbone or an anchor generator that cannot be one."""
    if not hasattr(backbone, "out_channels"):
        raise ValueError(
            "backbone should contain an attribute out_channels specifying the number of output "
            "channels (assumed to be the same for all the levels)"
        )
    if not isinstance(anchor_generator, kinds):
        raise TypeError(
            f"anchor_generator should be of type AnchorGenerator or None, instead got "
            f"{type(anchor_generator)}"
        )
