"""torchvision.models.segmentation: networks that give each pixel a class.

>>> network = torch.vision.models.segmentation.lraspp_mobilenet_v3_large(
...     num_classes=4, weights_backbone=None)
>>> network.eval()(torch.zeros(1, 3, 64, 64))["out"].shape
torch.Size([1, 4, 64, 64])
"""

from .deeplabv3 import *  # noqa: F403
from .fcn import *  # noqa: F403
from .lraspp import *  # noqa: F403
