"""Records of TensorBoard, made by tensorboardX."""

from .writer import hparams

__all__ = ["hparams"]
