"""torchvision.models: networks for images, under the names of their published weights.

>>> model = torch.vision.models.resnet18(num_classes=10)
>>> model(torch.zeros(1, 3, 64, 64)).shape
torch.Size([1, 10])
"""

from . import detection, optical_flow, quantization, segmentation, video
from ._api import (
    get_model,
    get_model_builder,
    get_model_weights,
    get_weight,
    list_models,
    register_model,
)
from ._weights import Weights, WeightsEnum
from .alexnet import AlexNet, AlexNet_Weights, alexnet
from .convnext import *  # noqa: F403
from .densenet import *  # noqa: F403
from .efficientnet import *  # noqa: F403
from .googlenet import *  # noqa: F403
from .inception import *  # noqa: F403
from .maxvit import *  # noqa: F403
from .mnasnet import *  # noqa: F403
from .mobilenetv2 import MobileNet_V2_Weights, MobileNetV2, mobilenet_v2
from .mobilenetv3 import *  # noqa: F403
from .regnet import *  # noqa: F403
from .resnet import *  # noqa: F403
from .shufflenetv2 import *  # noqa: F403
from .squeezenet import *  # noqa: F403
from .swin_transformer import *  # noqa: F403
from .vgg import *  # noqa: F403
from .vision_transformer import *  # noqa: F403
