"""Layers, losses and containers: the names of torch.nn."""

import importlib

from rushlight import _table
from rushlight.nn import functional, init, modules, parameter, utils
from rushlight.nn.modules import *  # noqa: F403
from rushlight.nn.modules import __all__ as _layers
from rushlight.nn.modules.utils import factory_kwargs
from rushlight.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    *_layers,
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "factory_kwargs",
    "functional",
    "init",
    "modules",
    "parameter",
    "utils",
]


def __getattr__(name):
    if name in ("attention", "grad", "parallel"):
        return importlib.import_module(f"rushlight.nn.{name}")
    if name == "DataParallel":
        from rushlight.nn.parallel import DataParallel

        return DataParallel
    from rushlight._importable import find

    return find(__name__, name)
