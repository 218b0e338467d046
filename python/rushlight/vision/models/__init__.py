"""torchvision.models: networks for images, under the names of their published weights.

>>> model = torch.vision.models.resnet18(num_classes=10)
>>> model(torch.zeros(1, 3, 64, 64)).shape
torch.Size([1, 10])
"""

from . import detection, segmentation, video
from ._weights import Weights, WeightsEnum, get_model_weights, get_weight
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


def list_models() -> list[str]:
    """The names that get_model() takes.

    >>> "resnet18" in torch.vision.models.list_models()
    True
    """
    return sorted(_functions())


def _functions():
    named = vars(detection) | vars(segmentation) | vars(video) | globals()
    return {name: value for name, value in named.items() if hasattr(value, "weights_enum")}


def get_model(name: str, **config):
    """The model of this name; `config` is what its function takes.

    Args:
        name: one of list_models().

    Raises:
        ValueError: for an unknown name.

    >>> type(torch.vision.models.get_model("alexnet")).__name__
    'AlexNet'
    """
    functions = _functions()
    if name not in functions:
        raise ValueError(f"Unknown model {name}")
    return functions[name](**config)
