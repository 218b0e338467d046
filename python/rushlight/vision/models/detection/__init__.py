"""torchvision.models.detection: networks that find objects, their outlines and their key points.

>>> network = torch.vision.models.detection.ssdlite320_mobilenet_v3_large(
...     num_classes=4, weights_backbone=None)
>>> sorted(network.eval()([torch.zeros(3, 32, 32)])[0])
['boxes', 'labels', 'scores']
"""

from .faster_rcnn import *  # noqa: F403
from .fcos import *  # noqa: F403
from .keypoint_rcnn import *  # noqa: F403
from .mask_rcnn import *  # noqa: F403
from .retinanet import *  # noqa: F403
from .ssd import *  # noqa: F403
from .ssdlite import *  # noqa: F403
