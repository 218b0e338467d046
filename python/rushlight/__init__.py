"""rushlight: PyTorch's everyday API in a few megabytes, on CPUs, NVIDIA GPUs and virtual GPUs.

    >>> import rushlight as torch
    >>> torch.ones(2, 2).sum()
    tensor(4.)

Note: importing this module must stay cheap. Submodules load on first use, through `__getattr__`;
NumPy is never imported here, and no thread is started.
"""

import os as _os
import sys as _sys
from math import e, inf, nan, pi

from rushlight import _C, _absent_methods, _index
from rushlight._C import *  # noqa: F403 - the rows of the table that are in C++
from rushlight._grad_mode import (
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
)
from rushlight.torch_version import __version__

# The methods that are written in Python; what defines them is imported by their first call.
_C._declare_methods(_index.TENSOR)
_absent_methods.add_methods(_C.Tensor)

bool = _C.bool
legacy_contiguous_format = _C.contiguous_format  # its name in torch 1.4
newaxis = None

# What is no operation: types, context managers, files, and our own names.
_OTHERS = {
    **dict.fromkeys(
        (
            "Tag",
            "per_channel_affine",
            "per_channel_affine_float_qparams",
            "per_channel_symmetric",
            "per_tensor_affine",
            "per_tensor_symmetric",
            "qscheme",
        ),
        "rushlight._named_kinds",
    ),
    "_assert": "rushlight._checks",
    "_assert_async": "rushlight._checks",
    "_check": "rushlight._checks",
    "_check_index": "rushlight._checks",
    "_check_is_size": "rushlight._checks",
    "_check_not_implemented": "rushlight._checks",
    "_check_tensor_all": "rushlight._checks",
    "_check_type": "rushlight._checks",
    "_check_value": "rushlight._checks",
    "_check_with": "rushlight._checks",
    "_dirichlet_grad": "rushlight._C",
    "_sample_dirichlet": "rushlight._C",
    "_standard_gamma": "rushlight._C",
    "_standard_gamma_grad": "rushlight._C",
    "_weight_norm": "rushlight.nn.utils._weight_norms",
    "Event": "rushlight.cuda.streams",
    "Generator": "rushlight._C",
    "Stream": "rushlight.cuda.streams",
    "TypedStorage": "rushlight.storage",
    "UntypedStorage": "rushlight.storage",
    **{
        f"{name}Storage": "rushlight._storage_classes"
        for name in (
            "BFloat16",
            "Bool",
            "Byte",
            "Char",
            "ComplexDouble",
            "ComplexFloat",
            "Double",
            "Float",
            "Half",
            "Int",
            "Long",
            "Short",
        )
    },
    "finfo": "rushlight._type_info",
    "iinfo": "rushlight._type_info",
    "get_rng_state": "rushlight.random",
    "initial_seed": "rushlight.random",
    "manual_seed": "rushlight.random",
    "seed": "rushlight.random",
    "set_rng_state": "rushlight.random",
    "has_lapack": "rushlight.__config__",
    "has_mkl": "rushlight.__config__",
    "has_openmp": "rushlight.__config__",
    "has_spectral": "rushlight.__config__",
    "ops": "rushlight._ops",
    "printoptions": "rushlight._tensor_str",
    "compile": "rushlight.compiler",
    "cond": "rushlight._control_flow",
    "is_tensor": "rushlight._tensor_types",
    "load": "rushlight.serialization",
    "save": "rushlight.serialization",
    "Future": "rushlight.futures",
    "from_dlpack": "rushlight.utils.dlpack",
    "to_dlpack": "rushlight.utils.dlpack",
    "vmap": "rushlight.func",
    "autocast": "rushlight.amp",
    "GradScaler": "rushlight.amp",
    **{
        f"sparse_{name}": "rushlight._sparse.layouts"
        for name in ("coo", "csr", "csc", "bsr", "bsc")
    },
    "as_torch": "rushlight._runner.alias",
    "load_ipython_extension": "rushlight._runner.extension",
    "unload_ipython_extension": "rushlight._runner.extension",
}
_REMOVED = ("eig", "lstsq", "matrix_rank", "solve", "symeig")  # nor these: they refuse
_DEPRECATED = ("has_cuda", "has_cudnn", "has_mkldnn", "has_mps")  # not in dir(): they warn
_SUBMODULES = {
    "__config__",
    "__future__",
    "accelerator",
    "amp",
    "_VF",
    "_dynamo",
    "_jit_internal",
    "_ops",
    "_tensor",
    "_tensor_str",
    "_utils",
    "autograd",
    "backends",
    "compiler",
    "cpu",
    "cuda",
    "distributed",
    "distributions",
    "fft",
    "func",
    "functional",
    "futures",
    "fx",
    "hub",
    "jit",
    "library",
    "linalg",
    "mps",
    "masked",
    "multiprocessing",
    "nn",
    "optim",
    "overrides",
    "profiler",
    "quasirandom",
    "random",
    "return_types",
    "serialization",
    "signal",
    "sparse",
    "special",
    "storage",
    "testing",
    "torch_version",
    "types",
    "utils",
    "version",
    "vision",
    "xpu",
}


class _Importable:
    """Finds the modules that hold names without their function, if no file is there."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if not name.startswith("rushlight."):
            return None
        from rushlight._importable import find_spec

        return find_spec(name)


def _find(name, module="rushlight"):
    from rushlight._importable import find

    return find(module, name)


_sys.meta_path.append(_Importable)
# _C is a package, too: modules of torch._C are among them.
vars(_C).update(
    __getattr__=lambda name: _find(name, "rushlight._C"),
    __path__=[],
    _TensorMeta=type(_C.Tensor),
    TensorBase=_C.Tensor,
    _TensorBase=_C.Tensor,
    # Where pickles have torch.sin and all such functions.
    _VariableFunctions=_sys.modules[__name__],
    _VariableFunctionsClass=_sys.modules[__name__],
)

if _os.environ.get("RUSHLIGHT_VIRTUAL_GPUS"):
    from rushlight.cuda import _nvidia_smi

    _nvidia_smi.start_from_environment()


def _find_name(name):
    import importlib

    import rushlight._table as _table

    if name in _SUBMODULES:
        try:
            return importlib.import_module("rushlight." + name)
        except ModuleNotFoundError as error:
            if error.name != "rushlight." + name:
                raise
    elif name in _OTHERS:
        value = globals()[name] = getattr(importlib.import_module(_OTHERS[name]), name)
        return value
    elif name in _REMOVED:
        return getattr(importlib.import_module("rushlight._removed"), name)
    elif name in _DEPRECATED:
        return getattr(importlib.import_module("rushlight.__config__"), name)
    elif name == "torch":  # annotations of libraries say torch.torch.Tensor
        return _sys.modules[__name__]
    elif name.startswith("_foreach_"):
        from rushlight import _foreach

        if (value := _foreach.find(name)) is not None:
            return value
    elif name.startswith("__"):
        raise AttributeError(f"module 'rushlight' has no attribute '{name}'", name=name)
    elif name.endswith("Tensor"):
        from rushlight._dtype_names import TENSOR_TYPES

        if name in TENSOR_TYPES:
            from rushlight._tensor_types import make_type

            value = globals()[name] = make_type(name)
            return value
    elif (value := _table.find(_index.TORCH, name)) is not None:
        globals()[name] = value
        return value
    return _find(name)


# Not as __getattr__, with which CPython reads no name of a module the quick way.
_C._find_names_by(_sys.modules[__name__], _find_name)
TYPE_CHECKING = False
if TYPE_CHECKING:

    def __getattr__(name): ...


del TYPE_CHECKING


def __dir__():
    from rushlight import _table

    names = {*globals(), *_OTHERS, *_SUBMODULES, *_table.names(_index.TORCH)}
    return sorted(n for n in names if n.startswith("__") or not n.startswith("_"))
