"""Detectors of two stages: a backbone, proposals, and heads that look at them again."""

from collections import OrderedDict

import rushlight
from rushlight import nn

from ._utils import check_sides, check_targets, sizes_of


class GeneralizedRCNN(nn.Module):
    """Features, proposals and detections, one after another.

    Args:
        backbone: gives feature maps.
        rpn: gives proposals.
        roi_heads: gives detections of features and proposals.
        transform: prepares images and brings detections back to them.
    """

    def __init__(self, backbone, rpn, roi_heads, transform):
        super().__init__()
        self.transform, self.backbone = transform, backbone
        self.rpn, self.roi_heads = rpn, roi_heads

    def forward(self, images, targets=None):
        """Losses while training, else a dict of detections for each image.

        Args:
            images: a list of (3, h, w), from 0 to 1.
            targets: for each image a dict of "boxes" (n, 4) and "labels" (n), and where the network
                has such heads "masks" (n, h, w) and "keypoints" (n, k, 3).
        """
        if self.training:
            check_targets(targets)
        originals = sizes_of(images)
        images, targets = self.transform(images, targets)
        check_sides(targets)
        features = self.backbone(images.tensors)
        if isinstance(features, rushlight.Tensor):
            features = OrderedDict([("0", features)])
        proposals, losses = self.rpn(images, features, targets)
        found, more = self.roi_heads(features, proposals, images.image_sizes, targets)
        found = self.transform.postprocess(found, images.image_sizes, originals)
        return {**more, **losses} if self.training else found
