"""The layers, a file for each family, under torch's module paths."""

from importlib import import_module

from rushlight.nn.modules import utils as utils
from rushlight.nn.modules._global_hooks import *  # noqa: F403
from rushlight.nn.modules.module import Module

_FAMILIES = (
    "activation adaptive attention batchnorm channelshuffle container conv "
    "conv_transpose distance dropout flatten fold instancenorm linear loss loss_more "
    "normalization padding piecewise pixelshuffle pooling rectifier rnn sparse "
    "transformer unpooling upsampling"
).split()

__all__ = ["Module"]
for _family in _FAMILIES:
    _file = import_module(f"{__name__}.{_family}")
    globals().update((_name, getattr(_file, _name)) for _name in _file.__all__)
    __all__ += _file.__all__
__all__.sort()
