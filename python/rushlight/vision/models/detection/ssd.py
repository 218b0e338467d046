"""SSD (Liu et al., Single Shot MultiBox Detector, 2015)."""

import math
from collections import OrderedDict

import rushlight
from rushlight import nn
from rushlight.nn import functional as F

from ...ops import boxes as box_ops
from ..vgg import VGG16_Weights, vgg16
from . import _utils
from ._utils import best_of_level, by_pixel, retrieve_out_channels
from ._weights import published, with_weights
from .anchor_utils import DefaultBoxGenerator
from .backbone_utils import layers_to_train
from .single_stage import SingleStage, matched_anchors
from .transform import GeneralizedRCNNTransform

__all__ = ["SSD300_VGG16_Weights", "ssd300_vgg16"]
SSD300_VGG16_Weights = published(
    "SSD300_VGG16_Weights", __name__, COCO_V1="ssd300_vgg16_coco-b556d3b4.pth"
)


def _xavier(layers):
    for layer in layers.modules():
        if isinstance(layer, nn.Conv2d):
            nn.init.xavier_uniform_(layer.weight)
            if layer.bias is not None:
                nn.init.zeros_(layer.bias)


class SSDScoringHead(nn.Module):
    """One layer for each feature map, the results as rows of anchors.

    Args:
        module_list: the layers.
        num_columns: of each anchor's row.
    """

    def __init__(self, module_list, num_columns):
        super().__init__()
        self.module_list, self.num_columns = module_list, num_columns

    def forward(self, x):
        """(n, anchors, num_columns) of all maps."""
        pairs = zip(self.module_list, x, strict=True)
        return rushlight.cat([by_pixel(layer(map), self.num_columns) for layer, map in pairs], 1)


def _scoring(in_channels, num_anchors, columns):
    layers = nn.ModuleList(
        nn.Conv2d(channels, columns * count, 3, padding=1)
        for channels, count in zip(in_channels, num_anchors, strict=True)
    )
    _xavier(layers)
    return layers


class SSDClassificationHead(SSDScoringHead):
    """The logits of each anchor's classes.

    Args:
        in_channels: of each feature map.
        num_anchors: at each pixel of each map.
        num_classes: with the background.
    """

    def __init__(self, in_channels, num_anchors, num_classes):
        super().__init__(_scoring(in_channels, num_anchors, num_classes), num_classes)


class SSDRegressionHead(SSDScoringHead):
    """The differences of each anchor's box.

    Args:
        in_channels: of each feature map.
        num_anchors: at each pixel of each map.
    """

    def __init__(self, in_channels, num_anchors):
        super().__init__(_scoring(in_channels, num_anchors, 4), 4)


class SSDHead(nn.Module):
    """Classes and boxes of all anchors.

    Args:
        in_channels: of each feature map.
        num_anchors: at each pixel of each map.
        num_classes: with the background.
    """

    def __init__(self, in_channels, num_anchors, num_classes):
        super().__init__()
        self.classification_head = SSDClassificationHead(in_channels, num_anchors, num_classes)
        self.regression_head = SSDRegressionHead(in_channels, num_anchors)

    def forward(self, x):
        """{"bbox_regression": (n, anchors, 4), "cls_logits": (n, anchors, classes)}"""
        return {
            "bbox_regression": self.regression_head(x),
            "cls_logits": self.classification_head(x),
        }


class SSD(SingleStage):
    """The class and the box of each default box, learned from the worst mistakes.

    Args:
        backbone: gives feature maps.
        anchor_generator: a DefaultBoxGenerator.
        size: (width, height) to which images are resized.
        num_classes: with the background.
        image_mean, image_std: of GeneralizedRCNNTransform.
        head: an SSDHead.
        score_thresh: the least probability of what is returned.
        nms_thresh: the greatest overlap of two of one class.
        detections_per_img: at most.
        iou_thresh: a box has an object from this overlap on.
        topk_candidates: the best of each class that are looked at.
        positive_fraction: of boxes with an object, among those that are learned from.
        kwargs: for GeneralizedRCNNTransform.

    Shape: as of FasterRCNN.
    """

    def __init__(
        self, backbone, anchor_generator, size, num_classes, image_mean=None, image_std=None,
        head=None, score_thresh=0.01, nms_thresh=0.45, detections_per_img=200, iou_thresh=0.5,
        topk_candidates=400, positive_fraction=0.25, **kwargs,
    ):  # fmt: skip
        super().__init__()
        self.backbone, self.anchor_generator = backbone, anchor_generator
        self.box_coder = _utils.BoxCoder((10.0, 10.0, 5.0, 5.0))
        if head is None:
            channels = getattr(backbone, "out_channels", None)
            if channels is None:
                channels = retrieve_out_channels(backbone, size)
            counts = anchor_generator.num_anchors_per_location()
            if len(channels) != len(counts):
                raise ValueError(
                    f"The length of the output channels from the backbone ({len(channels)}) do not "
                    "match the length of the anchor generator aspect ratios "
                    f"({len(counts)})"
                )
            head = SSDHead(channels, counts, num_classes)
        self.head = head
        self.proposal_matcher = _utils.SSDMatcher(iou_thresh)
        self.transform = GeneralizedRCNNTransform(
            min(size), max(size), image_mean or [0.485, 0.456, 0.406],
            image_std or [0.229, 0.224, 0.225],
            **{"size_divisible": 1, "fixed_size": size, **kwargs},
        )  # fmt: skip
        self.score_thresh, self.nms_thresh = score_thresh, nms_thresh
        self.detections_per_img, self.topk_candidates = detections_per_img, topk_candidates
        self.neg_to_pos_ratio = (1.0 - positive_fraction) / positive_fraction

    def compute_loss(self, targets, head_outputs, anchors, sizes=None):
        """{"bbox_regression": loss, "classification": loss}"""
        logits = head_outputs["cls_logits"]
        matched = matched_anchors(self.proposal_matcher, anchors, targets)
        boxes, classes, count = [], [], 0
        for target, codes, own, found in zip(
            targets, head_outputs["bbox_regression"], anchors, matched, strict=True
        ):
            at = rushlight.where(found >= 0)[0]
            count += len(at)
            wanted = self.box_coder.encode_single(target["boxes"][found[at]], own[at])
            boxes.append(F.smooth_l1_loss(codes[at], wanted, reduction="sum"))
            label = rushlight.zeros(len(own), dtype=rushlight.int64, device=own.device)
            label[at] = target["labels"][found[at]]
            classes.append(label)
        wanted = rushlight.stack(classes)
        loss = F.cross_entropy(
            logits.reshape(-1, logits.shape[-1]), wanted.reshape(-1), reduction="none"
        ).reshape(wanted.shape)
        seen = wanted > 0
        # Of the background, those count that the network takes most for something else.
        worst = loss.detach().masked_fill(seen, -math.inf).sort(1, descending=True).indices
        rank = worst.sort(1).indices
        background = rank < self.neg_to_pos_ratio * seen.sum(1, keepdim=True)
        count = max(1, count)
        return {
            "bbox_regression": sum(boxes) / count,
            "classification": (loss[seen].sum() + loss[background].sum()) / count,
        }

    def postprocess_detections(self, head_outputs, anchors, image_shapes, sizes=None):
        """A dict of detections for each image."""
        found = []
        for codes, scores, own, shape in zip(
            head_outputs["bbox_regression"], head_outputs["cls_logits"].softmax(-1), anchors,
            image_shapes, strict=True,
        ):  # fmt: skip
            boxes = self.box_coder.decode_single(codes, own)
            boxes = box_ops.clip_boxes_to_image(boxes, shape)
            parts = []
            for label in range(1, scores.shape[-1]):
                best, at = best_of_level(scores[:, label], self.score_thresh, self.topk_candidates)
                parts.append((boxes[at], best, at.new_full((len(at),), label)))
            found.append(self.best_of(*zip(*parts, strict=True)))
        return found


class SSDFeatureExtractorVGG(nn.Module):
    """Maps of several sizes of the features of VGG, and of layers after them.

    Args:
        backbone: the features of VGG.
        highres: whether there is one layer more, for images of 512 pixels.
    """

    def __init__(self, backbone, highres):
        super().__init__()
        _, _, third, fourth, _ = (i for i, x in enumerate(backbone) if isinstance(x, nn.MaxPool2d))
        backbone[third].ceil_mode = True
        self.scale_weight = nn.Parameter(rushlight.ones(512) * 20)
        self.features = nn.Sequential(*backbone[:fourth])
        extra = [_narrow(1024, 256, 512, 3, 2, 1), _narrow(512, 128, 256, 3, 2, 1)]
        extra += [_narrow(256, 128, 256, 3), _narrow(256, 128, 256, 3)]
        if highres:
            extra.append(_narrow(256, 128, 256, 4))
        last = nn.Sequential(
            nn.MaxPool2d(3, 1, 1, ceil_mode=False),
            nn.Conv2d(512, 1024, 3, padding=6, dilation=6),
            nn.ReLU(inplace=True),
            nn.Conv2d(1024, 1024, 1),
            nn.ReLU(inplace=True),
        )
        for layers in (*extra, last):
            _xavier(layers)
        self.extra = nn.ModuleList([nn.Sequential(*backbone[fourth:-1], last), *extra])

    def forward(self, x):
        """An OrderedDict of maps, the largest first."""
        x = self.features(x)
        maps = [self.scale_weight.reshape(1, -1, 1, 1) * F.normalize(x)]
        for layers in self.extra:
            x = layers(x)
            maps.append(x)
        return OrderedDict((str(i), each) for i, each in enumerate(maps))


def _narrow(inputs, inside, outputs, kernel, stride=1, padding=0):
    return nn.Sequential(
        nn.Conv2d(inputs, inside, 1),
        nn.ReLU(inplace=True),
        nn.Conv2d(inside, outputs, kernel, stride, padding),
        nn.ReLU(inplace=True),
    )


def _vgg_extractor(backbone, highres, trainable_layers):
    features = backbone.features
    pools = [i for i, layer in enumerate(features) if isinstance(layer, nn.MaxPool2d)]
    stages = [0, *pools[:-1]]
    if not 0 <= trainable_layers <= len(stages):
        raise ValueError(
            f"trainable_layers should be in the range [0, {len(stages)}]. Instead got "
            f"{trainable_layers}"
        )
    first = stages[len(stages) - trainable_layers] if trainable_layers else len(features)
    for layer in features[:first]:
        layer.requires_grad_(False)
    return SSDFeatureExtractorVGG(features, highres)


@with_weights(SSD300_VGG16_Weights, VGG16_Weights.IMAGENET1K_FEATURES)
def ssd300_vgg16(*, num_classes, is_trained, weights_backbone, trainable_backbone_layers, progress,
                 **config):  # fmt: skip
    """SSD on VGG with 16 layers, for images of 300 pixels."""
    layers = layers_to_train(is_trained, trainable_backbone_layers, 5, 4)
    backbone = vgg16(weights=weights_backbone, progress=progress)
    anchors = DefaultBoxGenerator(
        [[2], [2, 3], [2, 3], [2, 3], [2], [2]],
        scales=[0.07, 0.15, 0.33, 0.51, 0.69, 0.87, 1.05],
        steps=[8, 16, 32, 64, 100, 300],
    )
    usual = {"image_mean": [0.48235, 0.45882, 0.40784], "image_std": [1.0 / 255.0] * 3}
    return SSD(
        _vgg_extractor(backbone, False, layers), anchors, (300, 300), num_classes,
        **{**usual, **config},
    )  # fmt: skip
