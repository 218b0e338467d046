"""Gradient clipping, parameters as one vector, sequences of several lengths, normalised weights."""

import importlib

from rushlight import _table
from rushlight.nn.utils import rnn
from rushlight.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from rushlight.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters
from rushlight.nn.utils.spectral_norm import remove_spectral_norm, spectral_norm
from rushlight.nn.utils.weight_norm import remove_weight_norm, weight_norm

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "get_total_norm", "parameters_to_vector", "remove_spectral_norm", "remove_weight_norm", "rnn",
    "spectral_norm", "vector_to_parameters", "weight_norm",
]  # fmt: skip


# They need the layers, which need this package.
_LAZY = ("fusion", "init", "memory_format", "parametrizations", "parametrize", "prune", "stateless")
_FROM = {
    "convert_conv2d_weight_memory_format": "memory_format",
    "convert_conv3d_weight_memory_format": "memory_format",
    "fuse_conv_bn_eval": "fusion",
    "fuse_conv_bn_weights": "fusion",
    "fuse_linear_bn_eval": "fusion",
    "fuse_linear_bn_weights": "fusion",
    "skip_init": "init",
}


def __getattr__(name):
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _FROM:
        return getattr(importlib.import_module(f"{__name__}.{_FROM[name]}"), name)
    raise AttributeError(_table.absent(f"torch.nn.utils.{name}"), name=name)
