"""The layers, a file for each family, under torch's module paths."""

from importlib import import_module

from rushlight.nn.modules import utils as utils
from rushlight.nn.modules._global_hooks import *  # noqa: F403
from rushlight.nn.modules.module import Module

_FAMILIES = (
    "activation adaptive batchnorm channelshuffle container conv "
    "distance dropout flatten fold instancenorm linear loss "
    "normalization padding pixelshuffle pooling rnn sparse "
    "transformer upsampling"
).split()

__all__ = ["Module"]
for _family in _FAMILIES:
    _file = import_module(f"{__name__}.{_family}")
    globals().update((_name, getattr(_file, _name)) for _name in _file.__all__)
    __all__ += _file.__all__
__all__.sort()


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
