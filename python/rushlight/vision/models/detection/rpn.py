"""The network that proposes where objects may be (Ren et al., Faster R-CNN, 2015)."""

import rushlight
from rushlight import nn
from rushlight.nn import functional as F

from ...ops import boxes as box_ops
from ...ops.misc import Conv2dNormActivation
from . import _utils
from ._utils import BoxCoder, by_pixel
from .anchor_utils import AnchorGenerator  # noqa: F401 - torchvision has it here too
from .image_list import ImageList  # noqa: F401


class RPNHead(nn.Module):
    """Convolutions, and for each box how likely an object is there and where it is.

    Args:
        in_channels: of the feature maps.
        num_anchors: boxes at each pixel.
        conv_depth: how many convolutions.
    """

    def __init__(self, in_channels, num_anchors, conv_depth=1):
        super().__init__()
        self.conv = nn.Sequential(
            *(Conv2dNormActivation(in_channels, in_channels, 3, norm_layer=None)
              for _ in range(conv_depth))
        )  # fmt: skip
        self.cls_logits = nn.Conv2d(in_channels, num_anchors, 1)
        self.bbox_pred = nn.Conv2d(in_channels, num_anchors * 4, 1)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight, std=0.01)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        for name in ("weight", "bias"):  # of older files
            if prefix + f"conv.{name}" in state_dict:
                state_dict[prefix + f"conv.0.0.{name}"] = state_dict.pop(prefix + f"conv.{name}")
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def forward(self, x):
        """(logits of objects, differences of boxes), a list of maps each."""
        maps = [self.conv(feature) for feature in x]
        return [self.cls_logits(each) for each in maps], [self.bbox_pred(each) for each in maps]


def concat_box_prediction_layers(box_cls, box_regression):
    """Maps of all levels as rows: (n * boxes, classes) and (n * boxes, 4).

    Args:
        box_cls: for each level (n, a * classes, h, w).
        box_regression: for each level (n, a * 4, h, w).
    """
    classes = [
        by_pixel(cls, cls.shape[1] * 4 // boxes.shape[1])
        for cls, boxes in zip(box_cls, box_regression, strict=True)
    ]
    return (
        rushlight.cat(classes, 1).flatten(0, -2),
        rushlight.cat([by_pixel(boxes, 4) for boxes in box_regression], 1).reshape(-1, 4),
    )


class RegionProposalNetwork(nn.Module):
    """Proposes boxes in which there may be an object.

    Args:
        anchor_generator: makes the boxes that are chosen from.
        head: an RPNHead.
        fg_iou_thresh: an anchor has an object from this overlap on.
        bg_iou_thresh: below this one it has none.
        batch_size_per_image: anchors that each image is learned from.
        positive_fraction: of them with an object, at most.
        pre_nms_top_n: {"training": count, "testing": count} of the best in each map.
        post_nms_top_n: likewise, of those that stay.
        nms_thresh: the greatest overlap of two that stay.
        score_thresh: the least probability of an object.
    """

    def __init__(
        self, anchor_generator, head, fg_iou_thresh, bg_iou_thresh, batch_size_per_image,
        positive_fraction, pre_nms_top_n, post_nms_top_n, nms_thresh, score_thresh=0.0,
    ):  # fmt: skip
        super().__init__()
        self.anchor_generator, self.head = anchor_generator, head
        self.box_coder = BoxCoder((1.0, 1.0, 1.0, 1.0))
        self.box_similarity = box_ops.box_iou
        self.proposal_matcher = _utils.Matcher(fg_iou_thresh, bg_iou_thresh, True)
        self.fg_bg_sampler = _utils.BalancedPositiveNegativeSampler(
            batch_size_per_image, positive_fraction
        )
        self._pre_nms_top_n, self._post_nms_top_n = pre_nms_top_n, post_nms_top_n
        self.nms_thresh, self.score_thresh, self.min_size = nms_thresh, score_thresh, 1e-3

    def pre_nms_top_n(self):
        """How many boxes of each map are looked at."""
        return self._pre_nms_top_n["training" if self.training else "testing"]

    def post_nms_top_n(self):
        """How many boxes of each image stay."""
        return self._post_nms_top_n["training" if self.training else "testing"]

    def assign_targets_to_anchors(self, anchors, targets):
        """(1 for an object, 0 for none, -1 for unused; the box of the object), for each image."""
        labels, matched = [], []
        for own, target in zip(anchors, targets, strict=True):
            boxes = target["boxes"]
            if boxes.numel() == 0:
                matched.append(rushlight.zeros_like(own))
                labels.append(own.new_zeros(len(own), dtype=rushlight.float32))
                continue
            found = self.proposal_matcher(self.box_similarity(boxes, own))
            matched.append(boxes[found.clamp(min=0)])
            label = (found >= 0).to(rushlight.float32)
            unused = found == self.proposal_matcher.BETWEEN_THRESHOLDS
            labels.append(label.masked_fill(unused, -1.0))
        return labels, matched

    def _best_of_levels(self, objectness, counts):
        # Where the best of each map are, (n, at most pre_nms_top_n * maps).
        found, begin = [], 0
        for part in objectness.split(counts, 1):
            best = part.topk(min(self.pre_nms_top_n(), part.shape[1]), dim=1).indices
            found.append(best + begin)
            begin += part.shape[1]
        return rushlight.cat(found, 1)

    def filter_proposals(self, proposals, objectness, image_shapes, num_anchors_per_level):
        """(boxes, probabilities) of each image, the best first."""
        n, device = len(proposals), proposals.device
        objectness = objectness.detach().reshape(n, -1)
        levels = rushlight.cat(
            [rushlight.full((count,), i, dtype=rushlight.int64, device=device)
             for i, count in enumerate(num_anchors_per_level)]
        )  # fmt: skip
        best = self._best_of_levels(objectness, num_anchors_per_level)
        boxes, scores = [], []
        for own, logits, shape, at in zip(proposals, objectness, image_shapes, best, strict=True):
            box, score, level = own[at], logits[at].sigmoid(), levels[at]
            box = box_ops.clip_boxes_to_image(box, shape)
            keep = box_ops.remove_small_boxes(box, self.min_size)
            keep = keep[score[keep] >= self.score_thresh]
            box, score, level = box[keep], score[keep], level[keep]
            keep = box_ops.batched_nms(box, score, level, self.nms_thresh)
            keep = keep[: self.post_nms_top_n()]
            boxes.append(box[keep])
            scores.append(score[keep])
        return boxes, scores

    def compute_loss(self, objectness, pred_bbox_deltas, labels, regression_targets):
        """(loss of whether there is an object, loss of where it is)."""
        positive, negative = self.fg_bg_sampler(labels)
        positive, negative = (rushlight.where(rushlight.cat(x))[0] for x in (positive, negative))
        sampled = rushlight.cat([positive, negative])
        labels, wanted = rushlight.cat(labels), rushlight.cat(regression_targets)
        boxes = F.smooth_l1_loss(
            pred_bbox_deltas[positive], wanted[positive], beta=1 / 9, reduction="sum"
        ) / len(sampled)
        logits = objectness.flatten()[sampled]
        return F.binary_cross_entropy_with_logits(logits, labels[sampled]), boxes

    def forward(self, images, features, targets=None):
        """(boxes of each image, losses while training)."""
        maps = list(features.values())
        objectness, deltas = self.head(maps)
        anchors = self.anchor_generator(images, maps)
        counts = [each[0].numel() for each in objectness]
        objectness, deltas = concat_box_prediction_layers(objectness, deltas)
        proposals = self.box_coder.decode(deltas.detach(), anchors).reshape(len(anchors), -1, 4)
        boxes, _ = self.filter_proposals(proposals, objectness, images.image_sizes, counts)
        if not self.training:
            return boxes, {}
        if targets is None:
            raise ValueError("targets should not be None")
        labels, matched = self.assign_targets_to_anchors(anchors, targets)
        wanted = self.box_coder.encode(matched, anchors)
        losses = self.compute_loss(objectness, deltas, labels, wanted)
        return boxes, dict(zip(("loss_objectness", "loss_rpn_box_reg"), losses, strict=True))
