"""rushlight: PyTorch's everyday API in a few megabytes, on CPUs, NVIDIA GPUs and virtual GPUs.

    >>> import rushlight as torch
    >>> torch.ones(2, 2).sum()
    tensor(4.)

A changer must know: importing this module must stay cheap. Submodules load on first use, through
`__getattr__`; NumPy is never imported here, and no thread is started.
"""

import os as _os
from math import e, inf, nan, pi

# The methods that are written in Python; what they need is loaded on their first call.
from rushlight import _C, _methods, _more_methods
from rushlight._C import *  # noqa: F403 - every op of the table
from rushlight._modes import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from rushlight._version import __version__

bool = _C.bool
newaxis = None

# name -> module that defines it; loaded when first asked for.
_LAZY = {
    "Generator": "rushlight._C",
    "TypedStorage": "rushlight.storage",
    "UntypedStorage": "rushlight.storage",
    "load": "rushlight.serialization",
    "save": "rushlight.serialization",
    "get_printoptions": "rushlight._tensor_str",
    "norm_except_dim": "rushlight.nn.utils._factors",
    "printoptions": "rushlight._tensor_str",
    "resize_as_": "rushlight._more_methods",
    "set_printoptions": "rushlight._tensor_str",
    "finfo": "rushlight._type_info",
    "iinfo": "rushlight._type_info",
    "from_dlpack": "rushlight.utils.dlpack",
    "to_dlpack": "rushlight.utils.dlpack",
    "autocast": "rushlight.amp",
    "GradScaler": "rushlight.amp",
    "i0": "rushlight.special",
    "pdist": "rushlight.nn.functional",
    "pca_lowrank": "rushlight._lowrank",
    "svd_lowrank": "rushlight._lowrank",
    "vmap": "rushlight.func",
    "channel_shuffle": "rushlight.nn.functional",
    "cosine_similarity": "rushlight.nn.functional",
    "pairwise_distance": "rushlight.nn.functional",
    "pixel_shuffle": "rushlight.nn.functional",
    "pixel_unshuffle": "rushlight.nn.functional",
    "rms_norm": "rushlight.nn.functional",
    "as_torch": "rushlight._runner.alias",
    "load_ipython_extension": "rushlight._runner.extension",
    "unload_ipython_extension": "rushlight._runner.extension",
}
_SUBMODULES = {
    "accelerator",
    "amp",
    "autograd",
    "backends",
    "compiler",
    "cuda",
    "distributed",
    "distributions",
    "func",
    "functional",
    "hub",
    "jit",
    "linalg",
    "mps",
    "multiprocessing",
    "nn",
    "optim",
    "profiler",
    "random",
    "return_types",
    "serialization",
    "signal",
    "special",
    "storage",
    "testing",
    "types",
    "utils",
    "version",
    "vision",
}

_PYTHON_OPS = (
    "rushlight._python_ops",
    "rushlight._determinism",
    "rushlight.functional",
    "rushlight._matrices",
    "rushlight._statistics",
    "rushlight._placing",
    "rushlight._elementwise",
    "rushlight._ranges",
    "rushlight._windows",
    "rushlight._copies",
)

if _os.environ.get("RUSHLIGHT_VIRTUAL_GPUS"):
    from rushlight.cuda import _nvidia_smi

    _nvidia_smi.start_from_environment()


def __getattr__(name):
    if name.startswith("_"):  # a module of ours on its way in, or nothing
        raise AttributeError(f"module 'rushlight' has no attribute '{name}'", name=name)
    import importlib

    if name in _SUBMODULES:
        try:
            return importlib.import_module("rushlight." + name)
        except ModuleNotFoundError as error:
            if error.name != "rushlight." + name:
                raise
    elif name in _LAZY:
        value = getattr(importlib.import_module(_LAZY[name]), name)
        globals()[name] = value
        return value
    elif name.endswith("Tensor"):
        legacy = importlib.import_module("rushlight._legacy")
        if name in legacy.DTYPES:
            value = globals()[name] = legacy.make_type(name)
            return value
    else:
        for module in _PYTHON_OPS:
            value = getattr(importlib.import_module(module), name, None)
            if value is not None:
                globals()[name] = value
                return value
    message = f"torch.{name} is not in rushlight {__version__[:3]}"
    raise AttributeError(message, name=name)


def __dir__():
    import importlib

    python_ops = [name for m in _PYTHON_OPS for name in importlib.import_module(m).__all__]
    return sorted({*globals(), *_LAZY, *_SUBMODULES, *python_ops})
