"""torchvision.models.video: networks that give a video a class.

>>> network = torch.vision.models.video.mc3_18(num_classes=3)
>>> network.eval()(torch.zeros(1, 3, 4, 16, 16)).shape
torch.Size([1, 3])
"""

from .mvit import *  # noqa: F403
from .resnet import *  # noqa: F403
from .s3d import *  # noqa: F403
from .swin_transformer import *  # noqa: F403
