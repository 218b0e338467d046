"""The second stage of a detector: class, box, mask and key points of each proposal."""

import rushlight
from rushlight import nn
from rushlight.nn import functional as F

from ...ops import boxes as box_ops
from . import _utils
from .keypoint_heatmaps import heatmaps_to_keypoints, keypointrcnn_inference, keypointrcnn_loss
from .mask_targets import (
    maskrcnn_inference,
    maskrcnn_loss,
    paste_masks_in_image,
    project_masks_on_boxes,
)

__all__ = [
    "RoIHeads", "fastrcnn_loss", "heatmaps_to_keypoints", "keypointrcnn_inference",
    "keypointrcnn_loss", "maskrcnn_inference", "maskrcnn_loss", "paste_masks_in_image",
    "project_masks_on_boxes",
]  # fmt: skip


def fastrcnn_loss(class_logits, box_regression, labels, regression_targets):
    """(loss of the classes, loss of the boxes of those that are no background).

    Args:
        class_logits: (n, classes).
        box_regression: (n, classes * 4).
        labels: for each image the classes of its proposals.
        regression_targets: for each image what their boxes should be.
    """
    labels, wanted = rushlight.cat(labels), rushlight.cat(regression_targets)
    at = rushlight.where(labels > 0)[0]
    codes = box_regression.reshape(len(class_logits), box_regression.shape[-1] // 4, 4)
    boxes = F.smooth_l1_loss(codes[at, labels[at]], wanted[at], beta=1 / 9, reduction="sum")
    return F.cross_entropy(class_logits, labels), boxes / labels.numel()


class RoIHeads(nn.Module):
    """Looks at each proposal again.

    Args:
        box_roi_pool: takes regions out of feature maps.
        box_head: makes a vector of each.
        box_predictor: makes classes and boxes of each vector.
        fg_iou_thresh: a proposal has an object from this overlap on.
        bg_iou_thresh: below this one it has none.
        batch_size_per_image: proposals that each image is learned from.
        positive_fraction: of them with an object, at most.
        bbox_reg_weights: of the BoxCoder, by default (10, 10, 5, 5).
        score_thresh: the least probability of what is returned.
        nms_thresh: the greatest overlap of two of one class.
        detections_per_img: at most.
        mask_roi_pool: as box_roi_pool, for masks.
        mask_head: for masks.
        mask_predictor: for masks.
        keypoint_roi_pool: as box_roi_pool, for key points.
        keypoint_head: for key points.
        keypoint_predictor: for key points.
    """

    def __init__(
        self, box_roi_pool, box_head, box_predictor, fg_iou_thresh, bg_iou_thresh,
        batch_size_per_image, positive_fraction, bbox_reg_weights, score_thresh, nms_thresh,
        detections_per_img, mask_roi_pool=None, mask_head=None, mask_predictor=None,
        keypoint_roi_pool=None, keypoint_head=None, keypoint_predictor=None,
    ):  # fmt: skip
        super().__init__()
        self.box_similarity = box_ops.box_iou
        self.proposal_matcher = _utils.Matcher(fg_iou_thresh, bg_iou_thresh)
        self.fg_bg_sampler = _utils.BalancedPositiveNegativeSampler(
            batch_size_per_image, positive_fraction
        )
        self.box_coder = _utils.BoxCoder(bbox_reg_weights or (10.0, 10.0, 5.0, 5.0))
        self.box_roi_pool, self.box_head = box_roi_pool, box_head
        self.box_predictor = box_predictor
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img = detections_per_img
        self.mask_roi_pool, self.mask_head = mask_roi_pool, mask_head
        self.mask_predictor = mask_predictor
        self.keypoint_roi_pool, self.keypoint_head = keypoint_roi_pool, keypoint_head
        self.keypoint_predictor = keypoint_predictor

    def has_mask(self):
        """Whether all parts for masks are there."""
        parts = (self.mask_roi_pool, self.mask_head, self.mask_predictor)
        return all(part is not None for part in parts)

    def has_keypoint(self):
        """Whether all parts for key points are there."""
        parts = (self.keypoint_roi_pool, self.keypoint_head, self.keypoint_predictor)
        return all(part is not None for part in parts)

    def assign_targets_to_proposals(self, proposals, gt_boxes, gt_labels):
        """(the object of each proposal, its class: 0 for none, -1 for unused), for each image."""
        objects, labels = [], []
        for own, boxes, classes in zip(proposals, gt_boxes, gt_labels, strict=True):
            if boxes.numel() == 0:
                objects.append(own.new_zeros(len(own), dtype=rushlight.int64))
                labels.append(objects[-1])
                continue
            found = self.proposal_matcher(self.box_similarity(boxes, own))
            objects.append(found.clamp(min=0))
            label = classes[objects[-1]].to(rushlight.int64)
            label = label.masked_fill(found == self.proposal_matcher.BELOW_LOW_THRESHOLD, 0)
            unused = found == self.proposal_matcher.BETWEEN_THRESHOLDS
            labels.append(label.masked_fill(unused, -1))
        return objects, labels

    def subsample(self, labels):
        """Which proposals of each image are learned from."""
        pairs = zip(*self.fg_bg_sampler(labels), strict=True)
        return [rushlight.where(positive | negative)[0] for positive, negative in pairs]

    def select_training_samples(self, proposals, targets):
        """(proposals, their objects, classes and what their boxes should be), for each image."""
        self.check_targets(targets)
        dtype = proposals[0].dtype
        gt_boxes = [target["boxes"].to(dtype) for target in targets]
        gt_labels = [target["labels"] for target in targets]
        pairs = zip(proposals, gt_boxes, strict=True)
        proposals = [rushlight.cat((own, boxes)) for own, boxes in pairs]
        objects, labels = self.assign_targets_to_proposals(proposals, gt_boxes, gt_labels)
        matched = []
        for i, at in enumerate(self.subsample(labels)):
            proposals[i], labels[i], objects[i] = proposals[i][at], labels[i][at], objects[i][at]
            boxes = gt_boxes[i]
            boxes = boxes if boxes.numel() else boxes.new_zeros((1, 4))
            matched.append(boxes[objects[i]])
        return proposals, objects, labels, self.box_coder.encode(matched, proposals)

    def check_targets(self, targets):
        """ValueError or TypeError for targets that a head cannot learn from."""
        if targets is None:
            raise ValueError("targets should not be None")
        needed = ["boxes", "labels"] + ["masks"] * self.has_mask()
        for target in targets:
            for name in needed + ["keypoints"] * self.has_keypoint():
                if name not in target:
                    raise ValueError(f"Every element of targets should have a {name} key")
            if not target["boxes"].is_floating_point():
                raise TypeError(
                    f"target boxes must of float type, instead got {target['boxes'].dtype}"
                )
            if target["labels"].dtype != rushlight.int64:
                raise TypeError(
                    f"target labels must of int64 type, instead got {target['labels'].dtype}"
                )
            if self.has_keypoint() and target["keypoints"].dtype != rushlight.float32:
                raise TypeError(
                    f"target keypoints must of float type, instead got {target['keypoints'].dtype}"
                )

    def postprocess_detections(self, class_logits, box_regression, proposals, image_shapes):
        """(boxes, probabilities, classes) of each image, the most probable first."""
        counts = [len(boxes) for boxes in proposals]
        classes = class_logits.shape[-1]
        every = self.box_coder.decode(box_regression, proposals).split(counts)
        found = []
        for boxes, scores, shape in zip(
            every, class_logits.softmax(-1).split(counts), image_shapes, strict=True
        ):
            labels = rushlight.arange(classes, device=boxes.device).expand(scores.shape)[:, 1:]
            boxes = box_ops.clip_boxes_to_image(boxes, shape)[:, 1:].reshape(-1, 4)
            scores, labels = scores[:, 1:].reshape(-1), labels.reshape(-1)
            at = rushlight.where(scores > self.score_thresh)[0]
            at = at[box_ops.remove_small_boxes(boxes[at], 1e-2)]
            boxes, scores, labels = boxes[at], scores[at], labels[at]
            keep = box_ops.batched_nms(boxes, scores, labels, self.nms_thresh)
            keep = keep[: self.detections_per_img]
            found.append((boxes[keep], scores[keep], labels[keep]))
        return tuple([part[i] for part in found] for i in range(3))

    def _of_objects(self, proposals, labels, objects):
        # The proposals with an object, and which one, for each image.
        at = [rushlight.where(label > 0)[0] for label in labels]
        return (
            [own[i] for own, i in zip(proposals, at, strict=True)],
            [own[i] for own, i in zip(objects, at, strict=True)],
        )

    def _masks(self, features, regions, shapes, result, objects, targets):
        pooled = self.mask_roi_pool(features, regions, shapes)
        logits = self.mask_predictor(self.mask_head(pooled))
        if self.training:
            masks, labels = ([target[name] for target in targets] for name in ("masks", "labels"))
            return {"loss_mask": maskrcnn_loss(logits, regions, masks, labels, objects)}
        labels = [found["labels"] for found in result]
        for found, masks in zip(result, maskrcnn_inference(logits, labels), strict=True):
            found["masks"] = masks
        return {}

    def _keypoints(self, features, regions, shapes, result, objects, targets):
        pooled = self.keypoint_roi_pool(features, regions, shapes)
        logits = self.keypoint_predictor(self.keypoint_head(pooled))
        if self.training:
            points = [target["keypoints"] for target in targets]
            return {"loss_keypoint": keypointrcnn_loss(logits, regions, points, objects)}
        for found, points, scores in zip(
            result, *keypointrcnn_inference(logits, regions), strict=True
        ):
            found["keypoints"], found["keypoints_scores"] = points, scores
        return {}

    def forward(self, features, proposals, image_shapes, targets=None):
        """(a dict of detections for each image, losses while training)."""
        objects = labels = wanted = None
        if self.training:
            proposals, objects, labels, wanted = self.select_training_samples(proposals, targets)
        pooled = self.box_head(self.box_roi_pool(features, proposals, image_shapes))
        logits, codes = self.box_predictor(pooled)
        if self.training:
            losses = fastrcnn_loss(logits, codes, labels, wanted)
            losses = dict(zip(("loss_classifier", "loss_box_reg"), losses, strict=True))
            result = []
            regions, objects = self._of_objects(proposals, labels, objects)
        else:
            found = self.postprocess_detections(logits, codes, proposals, image_shapes)
            result = [
                {"boxes": boxes, "labels": kinds, "scores": scores}
                for boxes, scores, kinds in zip(*found, strict=True)
            ]
            losses, regions = {}, [each["boxes"] for each in result]
        common = (features, regions, image_shapes, result, objects, targets)
        if self.has_mask():
            losses |= self._masks(*common)
        if self.has_keypoint():
            losses |= self._keypoints(*common)
        return result, losses
