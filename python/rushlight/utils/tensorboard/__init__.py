"""SummaryWriter: event files that TensorBoard opens, written by tensorboardX."""

from .writer import SummaryWriter

__all__ = ["SummaryWriter"]
