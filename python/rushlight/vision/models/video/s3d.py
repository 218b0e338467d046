"""S3D for videos (Xie et al., 2018): Inception whose convolutions are split in space and time."""

from functools import partial

from .... import cat, nn
from ...ops.misc import Conv3dNormActivation
from .._weights import with_weights
from ._weights import CLASSES, published_video

__all__ = ["S3D", "S3D_Weights", "s3d"]
S3D_Weights = published_video("S3D_Weights", __name__, "s3d-d76dad2f.pth", 224, (256, 256))

# Of each block: channels in, of the first branch, before and in the second, before and in the
# third, of the fourth; and where a pooling comes between.
_FIRST = ((192, 64, 96, 128, 16, 32, 32), (256, 128, 128, 192, 32, 96, 64))
_SECOND = (
    (480, 192, 96, 208, 16, 48, 64), (512, 160, 112, 224, 24, 64, 64),
    (512, 128, 128, 256, 24, 64, 64), (512, 112, 144, 288, 32, 64, 64),
    (528, 256, 160, 320, 32, 128, 128),
)  # fmt: skip
_THIRD = ((832, 256, 160, 320, 32, 128, 128), (832, 384, 192, 384, 48, 128, 128))


class TemporalSeparableConv(nn.Sequential):
    """A convolution of each frame, and one over time."""

    def __init__(self, in_planes, out_planes, kernel_size, stride, padding, norm_layer):
        k, s, p = kernel_size, stride, padding
        super().__init__(
            Conv3dNormActivation(
                in_planes, out_planes, (1, k, k), (1, s, s), (0, p, p), norm_layer=norm_layer
            ),
            Conv3dNormActivation(
                out_planes, out_planes, (k, 1, 1), (s, 1, 1), (p, 0, 0), norm_layer=norm_layer
            ),
        )


class SepInceptionBlock3D(nn.Module):
    """Four branches beside each other."""

    def __init__(self, in_planes, b0_out, b1_mid, b1_out, b2_mid, b2_out, b3_out, norm_layer):
        super().__init__()

        def single(inputs, outputs):
            return Conv3dNormActivation(inputs, outputs, 1, norm_layer=norm_layer)

        def double(middle, outputs):
            conv = TemporalSeparableConv(middle, outputs, 3, 1, 1, norm_layer)
            return nn.Sequential(single(in_planes, middle), conv)

        self.branch0 = single(in_planes, b0_out)
        self.branch1, self.branch2 = double(b1_mid, b1_out), double(b2_mid, b2_out)
        self.branch3 = nn.Sequential(nn.MaxPool3d(3, 1, 1), single(in_planes, b3_out))

    def forward(self, x):
        """Their channels, one after another."""
        return cat([self.branch0(x), self.branch1(x), self.branch2(x), self.branch3(x)], 1)


class S3D(nn.Module):
    """Inception for videos, with separable convolutions.

    Args:
        num_classes: outputs of the last layer.
        dropout: probability before it.
        norm_layer: makes the normalisations; BatchNorm3d with a small momentum by default.

    Shape: (n, 3, frames, h, w) gives (n, num_classes), from 14 frames of 224 x 224 on.
    """

    def __init__(self, num_classes=400, dropout=0.2, norm_layer=None):
        super().__init__()
        norm = norm_layer or partial(nn.BatchNorm3d, eps=0.001, momentum=0.001)
        flat = partial(nn.MaxPool3d, (1, 3, 3), (1, 2, 2), (0, 1, 1))
        self.features = nn.Sequential(
            TemporalSeparableConv(3, 64, 7, 2, 3, norm),
            flat(),
            Conv3dNormActivation(64, 64, 1, norm_layer=norm),
            TemporalSeparableConv(64, 192, 3, 1, 1, norm),
            flat(),
            *(SepInceptionBlock3D(*planes, norm) for planes in _FIRST),
            nn.MaxPool3d((3, 3, 3), (2, 2, 2), (1, 1, 1)),
            *(SepInceptionBlock3D(*planes, norm) for planes in _SECOND),
            nn.MaxPool3d((2, 2, 2), (2, 2, 2)),
            *(SepInceptionBlock3D(*planes, norm) for planes in _THIRD),
        )
        self.avgpool = nn.AvgPool3d((2, 7, 7), 1)
        self.classifier = nn.Sequential(nn.Dropout(dropout), nn.Conv3d(1024, num_classes, 1))

    def forward(self, x):
        """The logits of the classes, averaged over positions and frames."""
        return self.classifier(self.avgpool(self.features(x))).mean((2, 3, 4))


@with_weights(S3D_Weights, classes=CLASSES)
def s3d(**config):
    """S3D, of eleven blocks.

    Args:
        config: what S3D takes.
    """
    return S3D(**config)
