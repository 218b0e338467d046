"""RetinaNet (Lin et al., Focal Loss for Dense Object Detection, 2017)."""

import functools
import math

import rushlight
from rushlight import nn

from ...ops import boxes as box_ops
from ...ops.feature_pyramid_network import LastLevelP6P7
from ...ops.focal_loss import sigmoid_focal_loss
from ...ops.misc import Conv2dNormActivation
from ..resnet import ResNet50_Weights, resnet50
from . import _utils
from ._utils import best_of_level, box_loss, by_pixel
from ._weights import published, with_weights
from .anchor_utils import AnchorGenerator
from .backbone_utils import layers_to_train, resnet_extractor
from .faster_rcnn import resnet50_pyramid
from .single_stage import SingleStage, check_parts, matched_anchors
from .transform import GeneralizedRCNNTransform

__all__ = [
    "RetinaNet",
    "RetinaNet_ResNet50_FPN_V2_Weights",
    "RetinaNet_ResNet50_FPN_Weights",
    "retinanet_resnet50_fpn",
    "retinanet_resnet50_fpn_v2",
]  # fmt: skip
RetinaNet_ResNet50_FPN_Weights = published(
    "RetinaNet_ResNet50_FPN_Weights", __name__, COCO_V1="retinanet_resnet50_fpn_coco-eeacb38b.pth"
)
RetinaNet_ResNet50_FPN_V2_Weights = published(
    "RetinaNet_ResNet50_FPN_V2_Weights", __name__,
    COCO_V1="retinanet_resnet50_fpn_v2_coco-5905b1c5.pth",
)  # fmt: skip


class _Tower(nn.Module):
    # Four convolutions of each map, in `conv`.
    def __init__(self, in_channels, norm_layer):
        super().__init__()
        self.conv = nn.Sequential(
            *(Conv2dNormActivation(in_channels, in_channels, norm_layer=norm_layer)
              for _ in range(4))
        )  # fmt: skip
        for module in self.conv.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.normal_(module.weight, std=0.01)
                if module.bias is not None:
                    nn.init.zeros_(module.bias)

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        for i in range(4):
            for name in ("weight", "bias"):  # of older files
                old = f"{prefix}conv.{2 * i}.{name}"
                if old in state_dict:
                    state_dict[f"{prefix}conv.{i}.0.{name}"] = state_dict.pop(old)
        super()._load_from_state_dict(state_dict, prefix, *rest)


class RetinaNetClassificationHead(_Tower):
    """The logits of each anchor's classes.

    Args:
        in_channels: of the feature maps.
        num_anchors: at each pixel.
        num_classes: with the background.
        prior_probability: of an object, before anything is learned.
        norm_layer: makes a normalisation after each convolution.
    """

    def __init__(
        self, in_channels, num_anchors, num_classes, prior_probability=0.01, norm_layer=None
    ):  # fmt: skip
        super().__init__(in_channels, norm_layer)
        self.cls_logits = nn.Conv2d(in_channels, num_anchors * num_classes, 3, 1, 1)
        nn.init.normal_(self.cls_logits.weight, std=0.01)
        odds = (1 - prior_probability) / prior_probability
        nn.init.constant_(self.cls_logits.bias, -math.log(odds))
        self.num_classes, self.num_anchors = num_classes, num_anchors

    def compute_loss(self, targets, head_outputs, matched_idxs):
        """The mean over images of the focal loss for each object."""
        losses = []
        for target, logits, matched in zip(
            targets, head_outputs["cls_logits"], matched_idxs, strict=True
        ):
            at = rushlight.where(matched >= 0)[0]
            wanted = rushlight.zeros_like(logits)
            wanted[at, target["labels"][matched[at]]] = 1.0
            used = matched != _utils.Matcher.BETWEEN_THRESHOLDS
            loss = sigmoid_focal_loss(logits[used], wanted[used], reduction="sum")
            losses.append(loss / max(1, len(at)))
        return sum(losses) / len(targets)

    def forward(self, x):
        """(n, anchors, num_classes) of all maps."""
        maps = [self.cls_logits(self.conv(feature)) for feature in x]
        return rushlight.cat([by_pixel(each, self.num_classes) for each in maps], 1)


class RetinaNetRegressionHead(_Tower):
    """The differences of each anchor's box.

    Args:
        in_channels: of the feature maps.
        num_anchors: at each pixel.
        norm_layer: makes a normalisation after each convolution.
    """

    def __init__(self, in_channels, num_anchors, norm_layer=None):
        super().__init__(in_channels, norm_layer)
        self.bbox_reg = nn.Conv2d(in_channels, num_anchors * 4, 3, 1, 1)
        nn.init.normal_(self.bbox_reg.weight, std=0.01)
        nn.init.zeros_(self.bbox_reg.bias)
        self.box_coder = _utils.BoxCoder((1.0, 1.0, 1.0, 1.0))
        self._loss_type = "l1"

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        """The mean over images of the boxes' loss for each object."""
        losses = []
        for target, codes, own, matched in zip(
            targets, head_outputs["bbox_regression"], anchors, matched_idxs, strict=True
        ):
            at = rushlight.where(matched >= 0)[0]
            boxes = target["boxes"][matched[at]]
            loss = box_loss(self._loss_type, self.box_coder, own[at], boxes, codes[at])
            losses.append(loss / max(1, len(at)))
        return sum(losses) / max(1, len(targets))

    def forward(self, x):
        """(n, anchors, 4) of all maps."""
        maps = [self.bbox_reg(self.conv(feature)) for feature in x]
        return rushlight.cat([by_pixel(each, 4) for each in maps], 1)


class RetinaNetHead(nn.Module):
    """Classes and boxes of all anchors.

    Args:
        in_channels: of the feature maps.
        num_anchors: at each pixel.
        num_classes: with the background.
        norm_layer: makes a normalisation after each convolution.
    """

    def __init__(self, in_channels, num_anchors, num_classes, norm_layer=None):
        super().__init__()
        self.classification_head = RetinaNetClassificationHead(
            in_channels, num_anchors, num_classes, norm_layer=norm_layer
        )
        self.regression_head = RetinaNetRegressionHead(in_channels, num_anchors, norm_layer)

    def compute_loss(self, targets, head_outputs, anchors, matched_idxs):
        """{"classification": loss, "bbox_regression": loss}"""
        classes, boxes = self.classification_head, self.regression_head
        return {
            "classification": classes.compute_loss(targets, head_outputs, matched_idxs),
            "bbox_regression": boxes.compute_loss(targets, head_outputs, anchors, matched_idxs),
        }

    def forward(self, x):
        """{"cls_logits": (n, anchors, classes), "bbox_regression": (n, anchors, 4)}"""
        return {
            "cls_logits": self.classification_head(x),
            "bbox_regression": self.regression_head(x),
        }


def default_anchors():
    """Anchors of three sizes and three ratios for each of five maps."""
    sizes = tuple(
        (x, int(x * 2 ** (1 / 3)), int(x * 2 ** (2 / 3))) for x in (32, 64, 128, 256, 512)
    )
    return AnchorGenerator(sizes, ((0.5, 1.0, 2.0),) * len(sizes))


class RetinaNet(SingleStage):
    """The class and the box of each anchor, learned by the focal loss.

    Args:
        backbone: gives feature maps; has out_channels.
        num_classes: with the background.
        min_size, max_size, image_mean, image_std: of GeneralizedRCNNTransform.
        anchor_generator: the boxes that are chosen from.
        head: a RetinaNetHead.
        proposal_matcher: a Matcher of anchors.
        score_thresh: the least probability of what is returned.
        nms_thresh: the greatest overlap of two of one class.
        detections_per_img: at most.
        fg_iou_thresh, bg_iou_thresh: overlaps with an object and with none.
        topk_candidates: the best of each map that are looked at.
        kwargs: for GeneralizedRCNNTransform.

    Shape: as of FasterRCNN.
    """

    def __init__(
        self, backbone, num_classes, min_size=800, max_size=1333, image_mean=None, image_std=None,
        anchor_generator=None, head=None, proposal_matcher=None, score_thresh=0.05, nms_thresh=0.5,
        detections_per_img=300, fg_iou_thresh=0.5, bg_iou_thresh=0.4, topk_candidates=1000,
        **kwargs,
    ):  # fmt: skip
        super().__init__()
        anchor_generator = anchor_generator or default_anchors()
        check_parts(backbone, anchor_generator, AnchorGenerator)
        self.backbone, self.anchor_generator = backbone, anchor_generator
        count = anchor_generator.num_anchors_per_location()[0]
        self.head = head or RetinaNetHead(backbone.out_channels, count, num_classes)
        self.proposal_matcher = proposal_matcher or _utils.Matcher(
            fg_iou_thresh, bg_iou_thresh, True
        )
        self.box_coder = _utils.BoxCoder((1.0, 1.0, 1.0, 1.0))
        self.transform = GeneralizedRCNNTransform(
            min_size, max_size, image_mean or [0.485, 0.456, 0.406],
            image_std or [0.229, 0.224, 0.225], **kwargs,
        )  # fmt: skip
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img, self.topk_candidates = detections_per_img, topk_candidates

    def compute_loss(self, targets, head_outputs, anchors, sizes=None):
        """The losses of classes and boxes."""
        matched = matched_anchors(self.proposal_matcher, anchors, targets)
        return self.head.compute_loss(targets, head_outputs, anchors, matched)

    def postprocess_detections(self, head_outputs, anchors, image_shapes, sizes):
        """A dict of detections for each image."""
        found = []
        for logits, codes, own, shape in zip(
            head_outputs["cls_logits"], head_outputs["bbox_regression"], anchors, image_shapes,
            strict=True,
        ):  # fmt: skip
            parts = []
            for level in zip(*(x.split(sizes) for x in (logits, codes, own)), strict=True):
                scores, at = best_of_level(
                    level[0].sigmoid().flatten(), self.score_thresh, self.topk_candidates
                )
                anchor = at.div(logits.shape[-1], rounding_mode="floor")
                boxes = self.box_coder.decode_single(level[1][anchor], level[2][anchor])
                boxes = box_ops.clip_boxes_to_image(boxes, shape)
                parts.append((boxes, scores, at % logits.shape[-1]))
            found.append(self.best_of(*zip(*parts, strict=True)))
        return found


@with_weights(RetinaNet_ResNet50_FPN_Weights, ResNet50_Weights.IMAGENET1K_V1, without_eps=True)
def retinanet_resnet50_fpn(*, num_classes, is_trained, weights_backbone,
                           trainable_backbone_layers, progress, **config):  # fmt: skip
    """RetinaNet on ResNet with 50 layers and a feature pyramid."""
    backbone = resnet50_pyramid(
        is_trained, weights_backbone, trainable_backbone_layers, progress,
        returned_layers=[2, 3, 4], extra_blocks=LastLevelP6P7(256, 256),
    )  # fmt: skip
    return RetinaNet(backbone, num_classes, **config)


@with_weights(RetinaNet_ResNet50_FPN_V2_Weights, ResNet50_Weights.IMAGENET1K_V1)
def retinanet_resnet50_fpn_v2(*, num_classes, is_trained, weights_backbone,
                              trainable_backbone_layers, progress, **config):  # fmt: skip
    """RetinaNet, the second version, on ResNet with 50 layers and a feature pyramid."""
    layers = layers_to_train(is_trained, trainable_backbone_layers, 5, 3)
    backbone = resnet_extractor(
        resnet50(weights=weights_backbone, progress=progress), layers, [2, 3, 4],
        LastLevelP6P7(2048, 256),
    )  # fmt: skip
    anchors = default_anchors()
    norm = functools.partial(nn.GroupNorm, 32)
    count = anchors.num_anchors_per_location()[0]
    head = RetinaNetHead(backbone.out_channels, count, num_classes, norm_layer=norm)
    head.regression_head._loss_type = "giou"
    return RetinaNet(backbone, num_classes, anchor_generator=anchors, head=head, **config)
