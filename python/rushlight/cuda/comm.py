"""Copies and sums over several GPUs."""

from ..nn.parallel.comm import *  # noqa: F403
from ..nn.parallel.comm import __all__ as __all__
