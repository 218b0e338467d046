"""Faster R-CNN (Ren et al., 2015), on a feature pyramid (Lin et al., 2016)."""

from .... import nn
from ...ops.misc import Conv2dNormActivation, FrozenBatchNorm2d
from ...ops.poolers import MultiScaleRoIAlign
from ..mobilenetv3 import MobileNet_V3_Large_Weights, mobilenet_v3_large
from ..resnet import ResNet50_Weights, resnet50
from ._weights import published, with_weights
from .anchor_utils import AnchorGenerator
from .backbone_utils import layers_to_train, mobilenet_extractor, resnet_extractor
from .generalized_rcnn import GeneralizedRCNN
from .roi_heads import RoIHeads
from .rpn import RegionProposalNetwork, RPNHead
from .transform import GeneralizedRCNNTransform

__all__ = [
    "FasterRCNN",
    "FasterRCNN_MobileNet_V3_Large_320_FPN_Weights",
    "FasterRCNN_MobileNet_V3_Large_FPN_Weights",
    "FasterRCNN_ResNet50_FPN_V2_Weights",
    "FasterRCNN_ResNet50_FPN_Weights",
    "fasterrcnn_mobilenet_v3_large_320_fpn",
    "fasterrcnn_mobilenet_v3_large_fpn",
    "fasterrcnn_resnet50_fpn",
    "fasterrcnn_resnet50_fpn_v2",
]  # fmt: skip
FasterRCNN_ResNet50_FPN_Weights = published(
    "FasterRCNN_ResNet50_FPN_Weights", __name__, COCO_V1="fasterrcnn_resnet50_fpn_coco-258fb6c6.pth"
)
FasterRCNN_ResNet50_FPN_V2_Weights = published(
    "FasterRCNN_ResNet50_FPN_V2_Weights", __name__,
    COCO_V1="fasterrcnn_resnet50_fpn_v2_coco-dd69338a.pth",
)  # fmt: skip
FasterRCNN_MobileNet_V3_Large_FPN_Weights = published(
    "FasterRCNN_MobileNet_V3_Large_FPN_Weights", __name__,
    COCO_V1="fasterrcnn_mobilenet_v3_large_fpn-fb6a3cc7.pth",
)  # fmt: skip
FasterRCNN_MobileNet_V3_Large_320_FPN_Weights = published(
    "FasterRCNN_MobileNet_V3_Large_320_FPN_Weights", __name__,
    COCO_V1="fasterrcnn_mobilenet_v3_large_320_fpn-907ea3f9.pth",
)  # fmt: skip


class FasterRCNN(GeneralizedRCNN):
    """Proposals, then the class and box of each.

    Args:
        backbone: gives one feature map or an OrderedDict of them; has out_channels.
        num_classes: with the background; or None, where box_predictor is given.
        min_size, max_size, image_mean, image_std: of GeneralizedRCNNTransform.
        rpn_anchor_generator: the boxes that are chosen from.
        rpn_head: an RPNHead.
        rpn_pre_nms_top_n_train, rpn_pre_nms_top_n_test: proposals looked at in each map.
        rpn_post_nms_top_n_train, rpn_post_nms_top_n_test: proposals that stay.
        rpn_nms_thresh: the greatest overlap of two proposals.
        rpn_fg_iou_thresh, rpn_bg_iou_thresh: overlaps with an object and with none.
        rpn_batch_size_per_image, rpn_positive_fraction: what proposals are learned from.
        rpn_score_thresh: the least probability of a proposal.
        box_roi_pool, box_head, box_predictor: of RoIHeads.
        box_score_thresh, box_nms_thresh, box_detections_per_img: what is returned.
        box_fg_iou_thresh, box_bg_iou_thresh: overlaps with an object and with none.
        box_batch_size_per_image, box_positive_fraction: what classes are learned from.
        bbox_reg_weights: of the BoxCoder.
        kwargs: for GeneralizedRCNNTransform.

    Shape: a list of (3, h, w) gives a list of dicts: boxes (n, 4), labels (n) and scores (n); while
    training, with a list of targets, a dict of losses.
    """

    def __init__(
        self, backbone, num_classes=None, min_size=800, max_size=1333, image_mean=None,
        image_std=None, rpn_anchor_generator=None, rpn_head=None, rpn_pre_nms_top_n_train=2000,
        rpn_pre_nms_top_n_test=1000, rpn_post_nms_top_n_train=2000, rpn_post_nms_top_n_test=1000,
        rpn_nms_thresh=0.7, rpn_fg_iou_thresh=0.7, rpn_bg_iou_thresh=0.3,
        rpn_batch_size_per_image=256, rpn_positive_fraction=0.5, rpn_score_thresh=0.0,
        box_roi_pool=None, box_head=None, box_predictor=None, box_score_thresh=0.05,
        box_nms_thresh=0.5, box_detections_per_img=100, box_fg_iou_thresh=0.5,
        box_bg_iou_thresh=0.5, box_batch_size_per_image=512, box_positive_fraction=0.25,
        bbox_reg_weights=None, **kwargs,
    ):  # fmt: skip
        if not hasattr(backbone, "out_channels"):
            raise ValueError(
                "backbone should contain an attribute out_channels specifying the number of output "
                "channels (assumed to be the same for all the levels)"
            )
        if not isinstance(rpn_anchor_generator, AnchorGenerator | None):
            raise TypeError(
                "rpn_anchor_generator should be of type AnchorGenerator or None instead of "
                f"{type(rpn_anchor_generator)}"
            )
        if not isinstance(box_roi_pool, MultiScaleRoIAlign | None):
            raise TypeError(
                "box_roi_pool should be of type MultiScaleRoIAlign or None instead of "
                f"{type(box_roi_pool)}"
            )
        if num_classes is None and box_predictor is None:
            raise ValueError("num_classes should not be None when box_predictor is not specified")
        if num_classes is not None and box_predictor is not None:
            raise ValueError("num_classes should be None when box_predictor is specified")
        channels = backbone.out_channels
        anchors = rpn_anchor_generator or default_anchors()
        head = rpn_head or RPNHead(channels, anchors.num_anchors_per_location()[0])
        rpn = RegionProposalNetwork(
            anchors, head, rpn_fg_iou_thresh, rpn_bg_iou_thresh, rpn_batch_size_per_image,
            rpn_positive_fraction,
            {"training": rpn_pre_nms_top_n_train, "testing": rpn_pre_nms_top_n_test},
            {"training": rpn_post_nms_top_n_train, "testing": rpn_post_nms_top_n_test},
            rpn_nms_thresh, rpn_score_thresh,
        )  # fmt: skip
        pool = box_roi_pool or MultiScaleRoIAlign(["0", "1", "2", "3"], 7, 2)
        if box_head is None:
            box_head = TwoMLPHead(channels * pool.output_size[0] ** 2, 1024)
        if box_predictor is None:
            box_predictor = FastRCNNPredictor(1024, num_classes)
        heads = RoIHeads(
            pool, box_head, box_predictor, box_fg_iou_thresh, box_bg_iou_thresh,
            box_batch_size_per_image, box_positive_fraction, bbox_reg_weights, box_score_thresh,
            box_nms_thresh, box_detections_per_img,
        )  # fmt: skip
        transform = GeneralizedRCNNTransform(
            min_size, max_size, image_mean or [0.485, 0.456, 0.406],
            image_std or [0.229, 0.224, 0.225], **kwargs,
        )  # fmt: skip
        super().__init__(backbone, rpn, heads, transform)


class TwoMLPHead(nn.Module):
    """Two linear layers.

    Args:
        in_channels: of a region, with all its pixels.
        representation_size: of the result.
    """

    def __init__(self, in_channels, representation_size):
        super().__init__()
        self.fc6 = nn.Linear(in_channels, representation_size)
        self.fc7 = nn.Linear(representation_size, representation_size)

    def forward(self, x):
        """(n, c, h, w) gives (n, representation_size)."""
        return self.fc7(self.fc6(x.flatten(1)).relu()).relu()


class FastRCNNConvFCHead(nn.Sequential):
    """Convolutions, then linear layers.

    Args:
        input_size: (channels, height, width) of a region.
        conv_layers: the channels of each convolution.
        fc_layers: the width of each linear layer.
        norm_layer: makes a normalisation after each convolution.
    """

    def __init__(self, input_size, conv_layers, fc_layers, norm_layer=None):
        channels, height, width = input_size
        layers = []
        for outputs in conv_layers:
            layers.append(Conv2dNormActivation(channels, outputs, norm_layer=norm_layer))
            channels = outputs
        layers.append(nn.Flatten())
        channels *= height * width
        for outputs in fc_layers:
            layers += [nn.Linear(channels, outputs), nn.ReLU(inplace=True)]
            channels = outputs
        super().__init__(*layers)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
                if module.bias is not None:
                    nn.init.zeros_(module.bias)


class FastRCNNPredictor(nn.Module):
    """The logits of the classes, and the box of each.

    Args:
        in_channels: of a region.
        num_classes: with the background.
    """

    def __init__(self, in_channels, num_classes):
        super().__init__()
        self.cls_score = nn.Linear(in_channels, num_classes)
        self.bbox_pred = nn.Linear(in_channels, num_classes * 4)

    def forward(self, x):
        """(n, classes) and (n, classes * 4)."""
        x = x.flatten(1)
        return self.cls_score(x), self.bbox_pred(x)


def default_anchors(levels=5):
    """Anchors of one size and three ratios for each of five maps."""
    sizes = ((32,), (64,), (128,), (256,), (512,))[:levels]
    return AnchorGenerator(sizes, ((0.5, 1.0, 2.0),) * levels)


def resnet50_pyramid(is_trained, weights_backbone, trainable_backbone_layers, progress, **pyramid):
    """ResNet with 50 layers and a pyramid, its normalisations frozen where it has learned."""
    layers = layers_to_train(is_trained, trainable_backbone_layers, 5, 3)
    norm = FrozenBatchNorm2d if is_trained else nn.BatchNorm2d
    backbone = resnet50(weights=weights_backbone, progress=progress, norm_layer=norm)
    return resnet_extractor(backbone, layers, **pyramid)


def second_version(is_trained, weights_backbone, trainable_backbone_layers, progress):
    """The backbone and the heads of the second version, which normalise everywhere.

    Source: Li et al., Benchmarking Detection Transfer Learning with Vision Transformers, 2021.
    """
    layers = layers_to_train(is_trained, trainable_backbone_layers, 5, 3)
    backbone = resnet_extractor(
        resnet50(weights=weights_backbone, progress=progress), layers, norm_layer=nn.BatchNorm2d
    )
    anchors = default_anchors()
    head = RPNHead(backbone.out_channels, anchors.num_anchors_per_location()[0], conv_depth=2)
    box_head = FastRCNNConvFCHead(
        (backbone.out_channels, 7, 7), [256] * 4, [1024], norm_layer=nn.BatchNorm2d
    )
    return backbone, {"rpn_anchor_generator": anchors, "rpn_head": head, "box_head": box_head}


@with_weights(FasterRCNN_ResNet50_FPN_Weights, ResNet50_Weights.IMAGENET1K_V1, without_eps=True)
def fasterrcnn_resnet50_fpn(*, num_classes, is_trained, weights_backbone,
                            trainable_backbone_layers, progress, **config):  # fmt: skip
    """Faster R-CNN on ResNet with 50 layers and a feature pyramid."""
    backbone = resnet50_pyramid(is_trained, weights_backbone, trainable_backbone_layers, progress)
    return FasterRCNN(backbone, num_classes, **config)


@with_weights(FasterRCNN_ResNet50_FPN_V2_Weights, ResNet50_Weights.IMAGENET1K_V1)
def fasterrcnn_resnet50_fpn_v2(*, num_classes, is_trained, weights_backbone,
                               trainable_backbone_layers, progress, **config):  # fmt: skip
    """Faster R-CNN, the second version, on ResNet with 50 layers and a feature pyramid."""
    backbone, heads = second_version(
        is_trained, weights_backbone, trainable_backbone_layers, progress
    )
    return FasterRCNN(backbone, num_classes, **heads, **config)


def _on_mobilenet(num_classes, is_trained, weights_backbone, trainable_backbone_layers, progress,
                  **config):  # fmt: skip
    layers = layers_to_train(is_trained, trainable_backbone_layers, 6, 3)
    norm = FrozenBatchNorm2d if is_trained else nn.BatchNorm2d
    backbone = mobilenet_v3_large(weights=weights_backbone, progress=progress, norm_layer=norm)
    anchors = AnchorGenerator(((32, 64, 128, 256, 512),) * 3, ((0.5, 1.0, 2.0),) * 3)
    pyramid = mobilenet_extractor(backbone, True, layers)
    config = {"rpn_score_thresh": 0.05, **config}
    return FasterRCNN(pyramid, num_classes, rpn_anchor_generator=anchors, **config)


@with_weights(
    FasterRCNN_MobileNet_V3_Large_320_FPN_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1
)
def fasterrcnn_mobilenet_v3_large_320_fpn(**config):
    """Faster R-CNN on the large MobileNet V3, for small images."""
    usual = {"min_size": 320, "max_size": 640, "rpn_pre_nms_top_n_test": 150,
             "rpn_post_nms_top_n_test": 150}  # fmt: skip
    return _on_mobilenet(**{**usual, **config})


@with_weights(FasterRCNN_MobileNet_V3_Large_FPN_Weights, MobileNet_V3_Large_Weights.IMAGENET1K_V1)
def fasterrcnn_mobilenet_v3_large_fpn(**config):
    """Faster R-CNN on the large MobileNet V3."""
    return _on_mobilenet(**config)
