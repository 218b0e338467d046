"""FCOS (Tian et al., Fully Convolutional One-Stage Object Detection, 2019)."""

import math

import rushlight
from rushlight import nn
from rushlight.nn import functional as F

from ...ops import boxes as box_ops
from ...ops import generalized_box_iou_loss
from ...ops.feature_pyramid_network import LastLevelP6P7
from ...ops.focal_loss import sigmoid_focal_loss
from ..resnet import ResNet50_Weights
from . import _utils
from ._utils import best_of_level, by_pixel
from ._weights import published, with_weights
from .anchor_utils import AnchorGenerator
from .faster_rcnn import resnet50_pyramid
from .single_stage import SingleStage, check_parts
from .transform import GeneralizedRCNNTransform

__all__ = ["FCOS", "FCOS_ResNet50_FPN_Weights", "fcos_resnet50_fpn"]
FCOS_ResNet50_FPN_Weights = published(
    "FCOS_ResNet50_FPN_Weights", __name__, COCO_V1="fcos_resnet50_fpn_coco-99b0c9b7.pth"
)


class _Tower(nn.Module):
    # Normalised convolutions of each map, in `conv`.
    def __init__(self, in_channels, num_convs, norm_layer):
        super().__init__()
        layers = []
        for _ in range(num_convs):
            layers.append(nn.Conv2d(in_channels, in_channels, 3, 1, 1))
            layers.append(norm_layer(in_channels) if norm_layer else nn.GroupNorm(32, in_channels))
            layers.append(nn.ReLU())
        self.conv = nn.Sequential(*layers)
        for layer in layers[::3]:
            nn.init.normal_(layer.weight, std=0.01)
            nn.init.zeros_(layer.bias)


class FCOSClassificationHead(_Tower):
    """The logits of each place's classes.

    Args:
        in_channels: of the feature maps.
        num_anchors: at each pixel.
        num_classes: with the background.
        num_convs: convolutions before the last.
        prior_probability: of an object, before anything is learned.
        norm_layer: makes a normalisation; by default of 32 groups.
    """

    def __init__(
        self, in_channels, num_anchors, num_classes, num_convs=4, prior_probability=0.01,
        norm_layer=None,
    ):  # fmt: skip
        super().__init__(in_channels, num_convs, norm_layer)
        self.num_classes, self.num_anchors = num_classes, num_anchors
        self.cls_logits = nn.Conv2d(in_channels, num_anchors * num_classes, 3, 1, 1)
        nn.init.normal_(self.cls_logits.weight, std=0.01)
        odds = (1 - prior_probability) / prior_probability
        nn.init.constant_(self.cls_logits.bias, -math.log(odds))

    def forward(self, x):
        """(n, locations, num_classes) of all maps."""
        maps = [self.cls_logits(self.conv(feature)) for feature in x]
        return rushlight.cat([by_pixel(each, self.num_classes) for each in maps], 1)


class FCOSRegressionHead(_Tower):
    """The distances of each place to the sides of its box, and how near it is to the centre.

    Args:
        in_channels: of the feature maps.
        num_anchors: at each pixel.
        num_convs: convolutions before the last.
        norm_layer: makes a normalisation; by default of 32 groups.
    """

    def __init__(self, in_channels, num_anchors, num_convs=4, norm_layer=None):
        super().__init__(in_channels, num_convs, norm_layer)
        self.bbox_reg = nn.Conv2d(in_channels, num_anchors * 4, 3, 1, 1)
        self.bbox_ctrness = nn.Conv2d(in_channels, num_anchors, 3, 1, 1)
        for layer in (self.bbox_reg, self.bbox_ctrness):
            nn.init.normal_(layer.weight, std=0.01)
            nn.init.zeros_(layer.bias)

    def forward(self, x):
        """(n, locations, 4) and (n, locations, 1) of all maps."""
        maps = [self.conv(feature) for feature in x]
        sides = [by_pixel(self.bbox_reg(each).relu(), 4) for each in maps]
        near = [by_pixel(self.bbox_ctrness(each), 1) for each in maps]
        return rushlight.cat(sides, 1), rushlight.cat(near, 1)


class FCOSHead(nn.Module):
    """Classes, boxes and nearness to the centre of all locations.

    Args:
        in_channels: of the feature maps.
        num_anchors: at each pixel.
        num_classes: with the background.
        num_convs: convolutions of each part.
    """

    def __init__(self, in_channels, num_anchors, num_classes, num_convs=4):
        super().__init__()
        self.box_coder = _utils.BoxLinearCoder(normalize_by_size=True)
        self.classification_head = FCOSClassificationHead(
            in_channels, num_anchors, num_classes, num_convs
        )
        self.regression_head = FCOSRegressionHead(in_channels, num_anchors, num_convs)

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        """{"classification": loss, "bbox_regression": loss, "bbox_ctrness": loss}"""
        logits, codes = head_outputs["cls_logits"], head_outputs["bbox_regression"]
        labels, boxes = [], []
        for target, matched in zip(targets, matched_idxs, strict=True):
            label, box, at = target["labels"], target["boxes"], matched.clamp(min=0)
            if len(label) == 0:
                label, box = label.new_zeros(1), box.new_zeros((1, 4))
            labels.append(label[at].masked_fill(matched < 0, -1))
            boxes.append(box[at])
        labels, boxes, anchors = (rushlight.stack(x) for x in (labels, boxes, anchors))
        seen = labels >= 0
        wanted = rushlight.zeros_like(logits)
        wanted[seen, labels[seen]] = 1.0
        found = self.box_coder.decode(codes, anchors)
        left, top, right, bottom = self.box_coder.encode(anchors, boxes)[seen].unbind(-1)
        near = rushlight.sqrt(
            rushlight.minimum(left, right) / rushlight.maximum(left, right)
            * (rushlight.minimum(top, bottom) / rushlight.maximum(top, bottom))
        )  # fmt: skip
        losses = {
            "classification": sigmoid_focal_loss(logits, wanted, reduction="sum"),
            "bbox_regression": generalized_box_iou_loss(found[seen], boxes[seen], reduction="sum"),
            "bbox_ctrness": F.binary_cross_entropy_with_logits(
                head_outputs["bbox_ctrness"].squeeze(2)[seen], near, reduction="sum"
            ),
        }
        count = max(1, int(seen.sum()))
        return {name: loss / count for name, loss in losses.items()}

    def forward(self, x):
        """{"cls_logits", "bbox_regression", "bbox_ctrness"}: (n, locations, ...) each."""
        sides, near = self.regression_head(x)
        return {
            "cls_logits": self.classification_head(x),
            "bbox_regression": sides,
            "bbox_ctrness": near,
        }


class FCOS(SingleStage):
    """The class of each place in the maps, and the box around it.

    Args:
        backbone: gives feature maps; has out_channels.
        num_classes: with the background.
        min_size, max_size, image_mean, image_std: of GeneralizedRCNNTransform.
        anchor_generator: one box for each place.
        head: an FCOSHead.
        center_sampling_radius: how far from an object's centre locations learn it, in their boxes.
        score_thresh: the least probability of what is returned.
        nms_thresh: the greatest overlap of two of one class.
        detections_per_img: at most.
        topk_candidates: the best of each map that are looked at.
        kwargs: for GeneralizedRCNNTransform.

    Shape: as of FasterRCNN.
    """

    def __init__(
        self, backbone, num_classes, min_size=800, max_size=1333, image_mean=None, image_std=None,
        anchor_generator=None, head=None, center_sampling_radius=1.5, score_thresh=0.2,
        nms_thresh=0.6, detections_per_img=100, topk_candidates=1000, **kwargs,
    ):  # fmt: skip
        super().__init__()
        if anchor_generator is None:
            sizes = ((8,), (16,), (32,), (64,), (128,))
            anchor_generator = AnchorGenerator(sizes, ((1.0,),) * len(sizes))
        check_parts(backbone, anchor_generator, AnchorGenerator)
        self.backbone, self.anchor_generator = backbone, anchor_generator
        count = anchor_generator.num_anchors_per_location()[0]
        if count != 1:
            raise ValueError(
                f"anchor_generator.num_anchors_per_location()[0] should be 1 instead of {count}"
            )
        self.head = head or FCOSHead(backbone.out_channels, count, num_classes)
        self.box_coder = _utils.BoxLinearCoder(normalize_by_size=True)
        self.transform = GeneralizedRCNNTransform(
            min_size, max_size, image_mean or [0.485, 0.456, 0.406],
            image_std or [0.229, 0.224, 0.225], **kwargs,
        )  # fmt: skip
        self.center_sampling_radius, self.score_thresh = center_sampling_radius, score_thresh
        self.nms_thresh, self.detections_per_img = nms_thresh, detections_per_img
        self.topk_candidates = topk_candidates

    def _matched(self, anchors, boxes, sizes):
        # The smallest object that each place learns, or -1.
        if boxes.numel() == 0:
            return anchors.new_full((len(anchors),), -1, dtype=rushlight.int64)
        locations = (anchors[:, :2] + anchors[:, 2:]) / 2
        middles = (boxes[:, :2] + boxes[:, 2:]) / 2
        side = anchors[:, 2] - anchors[:, 0]
        apart = (locations[:, None] - middles[None]).abs().amax(2)
        fits = apart < self.center_sampling_radius * side[:, None]
        (x, y), (x1, y1, x2, y2) = locations[:, :, None].unbind(1), boxes[None].unbind(2)
        inside = rushlight.stack([x - x1, y - y1, x2 - x, y2 - y], 2)
        fits &= inside.amin(2) > 0
        # Each map is for objects of its own sizes, the first and last for all smaller and larger.
        least, most = side * 4, side * 8
        least[: sizes[0]] = 0
        most[len(most) - sizes[-1] :] = math.inf
        farthest = inside.amax(2)
        fits &= (farthest > least[:, None]) & (farthest < most[:, None])
        area = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
        best, at = (fits.to(rushlight.float32) * (1e8 - area[None])).max(1)
        return at.masked_fill(best < 1e-5, -1)

    def compute_loss(self, targets, head_outputs, anchors, sizes):
        """The losses of classes, boxes and nearness to the centre."""
        pairs = zip(anchors, targets, strict=True)
        matched = [self._matched(own, target["boxes"], sizes) for own, target in pairs]
        return self.head.compute_loss(targets, head_outputs, anchors, matched)

    def postprocess_detections(self, head_outputs, anchors, image_shapes, sizes):
        """A dict of detections for each image."""
        names = ("cls_logits", "bbox_regression", "bbox_ctrness")
        found = []
        for *outputs, own, shape in zip(
            *(head_outputs[name] for name in names), anchors, image_shapes, strict=True
        ):
            parts = []
            classes = outputs[0].shape[-1]
            for logits, codes, near, boxes in zip(
                *(x.split(sizes) for x in (*outputs, own)), strict=True
            ):
                scores, at = best_of_level(
                    (logits.sigmoid() * near.sigmoid()).sqrt().flatten(), self.score_thresh,
                    self.topk_candidates,
                )  # fmt: skip
                place = at.div(classes, rounding_mode="floor")
                boxes = self.box_coder.decode(codes[place], boxes[place])
                parts.append((box_ops.clip_boxes_to_image(boxes, shape), scores, at % classes))
            found.append(self.best_of(*zip(*parts, strict=True)))
        return found


@with_weights(FCOS_ResNet50_FPN_Weights, ResNet50_Weights.IMAGENET1K_V1)
def fcos_resnet50_fpn(*, num_classes, is_trained, weights_backbone, trainable_backbone_layers,
                      progress, **config):  # fmt: skip
    """FCOS on ResNet with 50 layers and a feature pyramid."""
    backbone = resnet50_pyramid(
        is_trained, weights_backbone, trainable_backbone_layers, progress,
        returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(256, 256),
    )  # fmt: skip
    return FCOS(backbone, num_classes, **config)
