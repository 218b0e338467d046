"""Gradients of recorded operations: backward, grad, Function, and checks against differences."""

from rushlight import _C
from rushlight._grad_mode import enable_grad, inference_mode, no_grad, set_grad_enabled
from rushlight.autograd._backward import backward, grad
from rushlight.autograd.gradcheck import gradcheck, gradgradcheck

__all__ = [
    "Function",
    "Variable",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "grad",
    "grad_mode",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
]


_SUBMODULES = (
    "anomaly_mode", "forward_ad", "function", "functional", "grad_mode", "graph", "profiler",
    "profiler_util",
    "variable",
)  # fmt: skip
_LAZY = {
    "Function": "function",
    "FunctionCtx": "function",
    "Variable": "variable",
    "detect_anomaly": "anomaly_mode",
    "set_detect_anomaly": "anomaly_mode",
    "set_multithreading_enabled": "grad_mode",
    "_profiler_enabled": "profiler",
}


def __getattr__(name):
    import importlib

    if name in _SUBMODULES:
        return importlib.import_module("rushlight.autograd." + name)
    if name in _LAZY:
        module = importlib.import_module("rushlight.autograd." + _LAZY[name])
        value = getattr(module, name)
        globals()[name] = value
        return value
    raise AttributeError(f"torch.autograd.{name} is not in rushlight", name=name)
