"""functorch, which PyTorch installs beside torch: the names of torch.func, and modules as functions
of their parameters. functorch.dim, its dimensions as objects, is not in rushlight.
"""

import copy
import functools
import warnings

from rushlight import _table, func
from rushlight.func import functional_call, stack_module_state
from rushlight.nn import Module

__all__ = [
    "FunctionalModule",
    "FunctionalModuleWithBuffers",
    "combine_state_for_ensemble",
    "functionalize",
    "grad",
    "grad_and_value",
    "hessian",
    "jacfwd",
    "jacrev",
    "jvp",
    "make_functional",
    "make_functional_with_buffers",
    "make_fx",
    "vjp",
    "vmap",
]


def _deprecated(function, instead=None):
    """The function, which warns that its name is deprecated as torch does."""
    name = function.__name__

    @functools.wraps(function)
    def warned(*args, **kwargs):
        warnings.warn(
            "We've integrated functorch into PyTorch. As the final step of the integration, "
            f"`functorch.{name}` is deprecated as of PyTorch 2.0 and will be deleted in a future "
            f"version of PyTorch >= 2.3. Please use `{instead or f'torch.func.{name}'}` instead; "
            "see the PyTorch 2.0 release notes and/or the `torch.func` migration guide for more "
            "details https://pytorch.org/docs/main/func.migrating.html",
            FutureWarning,
            stacklevel=2,
        )
        return function(*args, **kwargs)

    return warned


grad, grad_and_value = _deprecated(func.grad), _deprecated(func.grad_and_value)
hessian, jacfwd, jacrev = map(_deprecated, (func.hessian, func.jacfwd, func.jacrev))
jvp, vjp = _deprecated(func.jvp), _deprecated(func.vjp)
functionalize = _deprecated(func.functionalize)
vmap = _deprecated(func.vmap, "torch.vmap")


def _split(model, disable_autograd_tracking):
    """(a copy without values, its parameters by name, its buffers by name)"""
    stateless = copy.deepcopy(model)
    parameters = dict(stateless.named_parameters())
    buffers = dict(stateless.named_buffers())
    if disable_autograd_tracking:
        parameters = {name: p.detach() for name, p in parameters.items()}
    return stateless.to("meta"), parameters, buffers


class FunctionalModule(Module):
    """A module as a function of its parameters; make_functional() makes it."""

    def __init__(self, stateless_model, param_names, names_map):
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.names_map = names_map

    def forward(self, params, *args, **kwargs):
        """What the module gives with these parameters."""
        named = dict(zip(self.param_names, params, strict=True))
        return functional_call(self.stateless_model, named, args, kwargs)


class FunctionalModuleWithBuffers(Module):
    """A module as a function of its parameters and buffers; make_functional_with_buffers() makes
    it."""

    def __init__(
        self, stateless_model, param_names, buffer_names, param_names_map, buffer_names_map
    ):
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names
        self.all_names_map = {**param_names_map, **buffer_names_map}

    def forward(self, params, buffers, *args, **kwargs):
        """What the module gives with these parameters and buffers."""
        names = (*self.param_names, *self.buffer_names)
        named = dict(zip(names, (*params, *buffers), strict=True))
        return functional_call(self.stateless_model, named, args, kwargs)


@functools.partial(_deprecated, instead="torch.func.functional_call")
def make_functional(model, disable_autograd_tracking=False):
    """(a FunctionalModule, its parameters); torch.func.functional_call does it without a copy."""
    if any(True for _ in model.buffers()):
        raise RuntimeError(
            "make_functional(model): `model` has buffers. Please use "
            "make_functional_with_buffers(model) instead."
        )
    stateless, parameters, _ = _split(model, disable_autograd_tracking)
    made = FunctionalModule(stateless, tuple(parameters), {name: [name] for name in parameters})
    return made, tuple(parameters.values())


@functools.partial(_deprecated, instead="torch.func.functional_call")
def make_functional_with_buffers(model, disable_autograd_tracking=False):
    """(a FunctionalModuleWithBuffers, its parameters, its buffers)"""
    stateless, parameters, buffers = _split(model, disable_autograd_tracking)
    maps = ({name: [name] for name in each} for each in (parameters, buffers))
    made = FunctionalModuleWithBuffers(stateless, tuple(parameters), tuple(buffers), *maps)
    return made, tuple(parameters.values()), tuple(buffers.values())


@functools.partial(_deprecated, instead="torch.func.stack_module_state")
def combine_state_for_ensemble(models):
    """(one functional module for all models, their parameters stacked, their buffers stacked)"""
    if not models:
        raise RuntimeError("combine_state_for_ensemble: Expected at least one model, got 0.")
    parameters, buffers = stack_module_state(models)
    made, _, _ = make_functional_with_buffers.__wrapped__(models[0])
    return made, tuple(parameters.values()), tuple(buffers.values())


def make_fx(f, *args, **kwargs):
    """Raises: there is no tracing below the calls of functions."""
    raise NotImplementedError(
        f"functorch.make_fx is not in rushlight {_table.SHORT_VERSION}: operations are not "
        "dispatched to Python one by one\ntorch.fx.symbolic_trace records the calls of a module"
    )


def __getattr__(name):
    if name == "compile":
        import importlib

        return importlib.import_module(f"{__name__}.compile")
    if name == "dim":
        raise AttributeError(
            f"functorch.dim is not in rushlight {_table.SHORT_VERSION}: dimensions have positions, "
            "not names\nuse torch.einsum, or einops"
        )
    raise AttributeError(f"module 'functorch' has no attribute {name!r}")
