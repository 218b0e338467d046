"""Detectors of two stages: a backbone, proposals, and heads that look at them again."""

from rushlight import nn

from ._utils import features_of


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
        originals, images, targets, features = features_of(self, images, targets)
        proposals, losses = self.rpn(images, features, targets)
        found, more = self.roi_heads(features, proposals, images.image_sizes, targets)
        found = self.transform.postprocess(found, images.image_sizes, originals)
        return {**more, **losses} if self.training else found
