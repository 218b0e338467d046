"""The layers, a file for each family, under torch's module paths."""

from rushlight.nn.modules import (
    activation,
    adaptive,
    attention,
    batchnorm,
    channelshuffle,
    container,
    conv,
    conv_transpose,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    linear,
    loss,
    loss_more,
    normalization,
    padding,
    piecewise,
    pixelshuffle,
    pooling,
    rectifier,
    rnn,
    sparse,
    transformer,
    unpooling,
    upsampling,
)
from rushlight.nn.modules._global_hooks import *  # noqa: F403
from rushlight.nn.modules.module import Module

_FAMILIES = (
    activation,
    adaptive,
    attention,
    batchnorm,
    channelshuffle,
    container,
    conv,
    conv_transpose,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    linear,
    loss,
    loss_more,
    normalization,
    padding,
    piecewise,
    pixelshuffle,
    pooling,
    rectifier,
    rnn,
    sparse,
    transformer,
    unpooling,
    upsampling,
)
for _family in _FAMILIES:
    globals().update((_name, getattr(_family, _name)) for _name in _family.__all__)

__all__ = sorted(["Module", *(_name for _family in _FAMILIES for _name in _family.__all__)])
