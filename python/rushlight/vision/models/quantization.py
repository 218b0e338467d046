"""torchvision.models.quantization: its names can be imported, and say that they are not there."""

from ..._importable import make

_MODELS = (
    "googlenet inception_v3 mobilenet_v2 mobilenet_v3_large resnet18 resnet50 resnext101_32x8d "
    "resnext101_64x4d shufflenet_v2_x0_5 shufflenet_v2_x1_0 shufflenet_v2_x1_5 shufflenet_v2_x2_0"
).split()
_CLASSES = (
    "QuantizableGoogLeNet QuantizableInception3 QuantizableMobileNetV2 QuantizableMobileNetV3 "
    "QuantizableResNet QuantizableShuffleNetV2"
).split()
_PLACE = "vision.models.quantization"

globals().update({name: make(_PLACE, name, "raises", "quantized") for name in _MODELS})
globals().update({name: make(_PLACE, name, "class", "quantized") for name in _CLASSES})
