"""Gradient clipping, parameters as one vector, sequences of several lengths."""

from rushlight.nn.utils import rnn
from rushlight.nn.utils.clip_grad import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from rushlight.nn.utils.convert_parameters import parameters_to_vector, vector_to_parameters

__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_",
    "get_total_norm", "parameters_to_vector", "rnn", "vector_to_parameters",
]  # fmt: skip


def __getattr__(name):
    raise AttributeError(f"torch.nn.utils.{name} is not in rushlight 0.1")
