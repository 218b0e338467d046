"""AlexNet (Krizhevsky, 2014, "one weird trick")."""

from ... import flatten, nn
from ._weights import published, with_weights

__all__ = ["AlexNet", "AlexNet_Weights", "alexnet"]
AlexNet_Weights = published(
    "AlexNet_Weights", __name__, IMAGENET1K_V1=("alexnet-owt-7be5be79.pth",)
)


class AlexNet(nn.Module):
    """Five convolutions and three linear layers.

    Args:
        num_classes: outputs of the last layer.
        dropout: probability before the linear layers.

    Shape: (n, 3, h, w) gives (n, num_classes).
    """

    def __init__(self, num_classes=1000, dropout=0.5):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 64, 11, stride=4, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(64, 192, 5, padding=2),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2),
            nn.Conv2d(192, 384, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(384, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.Conv2d(256, 256, 3, padding=1),
            nn.ReLU(inplace=True),
            nn.MaxPool2d(3, 2),
        )
        self.avgpool = nn.AdaptiveAvgPool2d((6, 6))
        self.classifier = nn.Sequential(
            nn.Dropout(dropout),
            nn.Linear(256 * 6 * 6, 4096),
            nn.ReLU(inplace=True),
            nn.Dropout(dropout),
            nn.Linear(4096, 4096),
            nn.ReLU(inplace=True),
            nn.Linear(4096, num_classes),
        )

    def forward(self, x):
        """The logits of the classes."""
        return self.classifier(flatten(self.avgpool(self.features(x)), 1))


@with_weights(AlexNet_Weights)
def alexnet(**config):
    """AlexNet."""
    return AlexNet(**config)
