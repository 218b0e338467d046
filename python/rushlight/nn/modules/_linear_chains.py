"""What Sequential does on a device with kernels for a Linear and its activation in one."""

from rushlight import _C
from rushlight.nn.modules._hooks import CALL_HOOKS, everywhere
from rushlight.nn.modules.activation import GELU
from rushlight.nn.modules.linear import Linear
from rushlight.nn.modules.rectifier import ReLU


def _is_plain(module):
    """Whether calling it is its class's forward and nothing else."""
    own = module.__dict__
    if everywhere.active or "forward" in own:
        return False
    return not module._hooked or not any(own.get(name) for name in CALL_HOOKS)


def _letter(module):
    """The activation as _linear_chain() names it; None for any other module."""
    kind = type(module)
    if kind is ReLU and _is_plain(module):
        return "r"
    if kind is GELU and module.approximate == "tanh" and _is_plain(module):
        return "g"
    return None


def _chain_at(modules, start):
    """The Linear layers from `start` on, the letters of their activations, and where they end."""
    layers, letters, at = [], "", start
    while at < len(modules):
        layer = modules[at]
        if type(layer) is not Linear or layer.bias is None or not _is_plain(layer):
            break
        layers.append(layer)
        letter = _letter(modules[at + 1]) if at + 1 < len(modules) else None
        letters += letter or "-"
        at += 2 if letter else 1
    return layers, letters, at


def run_fused(modules, input):
    """Calls the modules one after the other, chains of Linear and ReLU or GELU as one."""
    at = 0
    while at < len(modules):
        layers, letters, end = _chain_at(modules, at)
        if letters.strip("-"):
            weights = [layer.weight for layer in layers]
            biases = [layer.bias for layer in layers]
            result = _C._linear_chain(input, weights, biases, letters)
            if result is not None:
                input, at = result, end
                continue
        input = modules[at](input)
        at += 1
    return input
