"""torch.optim.adam.adam() and its relatives: steps over lists of tensors, as torch takes them."""

import importlib
import inspect

import numpy as np
import pytest

import rushlight
from rushlight.optim import _functional
from tests.conftest import ask

BETAS = {"beta1": 0.9, "beta2": 0.99, "lr": 0.1, "weight_decay": 0.01, "eps": 1e-6}
# name -> (how many states as the parameter, scalars and what they begin as, settings)
STEPS = {
    "adam": (3, [0.0], {**BETAS, "amsgrad": True, "maximize": False}),
    "adamw": (3, [0.0], {**BETAS, "amsgrad": True, "maximize": True}),
    "sgd": (0, [], {"weight_decay": 0.01, "momentum": 0.9, "lr": 0.1, "dampening": 0.1,
                    "nesterov": False, "maximize": False}),
    "rmsprop": (3, [0.0], {"lr": 0.1, "alpha": 0.9, "eps": 1e-6, "weight_decay": 0.01,
                           "momentum": 0.5, "centered": True}),
    "adagrad": (1, [0.0], {"lr": 0.1, "weight_decay": 0.01, "lr_decay": 0.1, "eps": 1e-6,
                           "maximize": False}),
    "adadelta": (2, [0.0], {"lr": 0.1, "rho": 0.9, "eps": 1e-6, "weight_decay": 0.01,
                            "maximize": False}),
    "adamax": (2, [0.0], BETAS),
    "nadam": (2, [1.0, 0.0], {**BETAS, "momentum_decay": 4e-3}),
    "radam": (2, [0.0], BETAS),
    "rprop": (2, [0.0], {"step_size_min": 1e-6, "step_size_max": 50, "etaminus": 0.5,
                         "etaplus": 1.2}),
    "asgd": (1, [1.0, 0.1, 0.0], {"lambd": 1e-4, "lr": 0.1, "t0": 1e6, "alpha": 0.75,
                                  "weight_decay": 0.01}),
}  # fmt: skip


def steps(lib, name):
    """All tensors after three steps."""
    as_parameter, scalars, settings = STEPS[name]
    function = getattr(lib.optim._functional, name)
    start = [[1.0, -2.0, 3.0], [[0.5]]]
    params = [lib.tensor(each) for each in start]
    lists = [[lib.zeros_like(p) for p in params] for _ in range(as_parameter)]
    lists += [[lib.tensor(value) for _ in params] for value in scalars]
    if name == "sgd":
        lists = [[None, None]]
    if name == "rprop":
        lists[1] = [lib.full_like(p, 0.1) for p in params]
    for i in range(3):
        grads = [p * (i + 1) - 0.5 for p in params]
        assert function(params, grads, *lists, **settings) is None
    return [t.tolist() for t in params] + [t.tolist() for one in lists for t in one]


@pytest.mark.parametrize("name", STEPS)
def test_steps_over_lists(name):
    ours, theirs = steps(rushlight, name), ask(lambda lib: steps(lib, name))
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", STEPS)
def test_signatures_are_those_of_torch(name):
    pytest.importorskip("torch")
    found = [
        [
            (p.name, str(p.kind), p.default)
            for p in inspect.signature(getattr(module, name)).parameters.values()
        ]
        for module in (_functional, importlib.import_module("torch.optim._functional"))
    ]
    assert found[0] == found[1]


def test_all_of_them_are_in_one_module_too():
    assert _functional.adam is importlib.import_module("rushlight.optim.adam").adam


def test_wrong_calls():
    adam = importlib.import_module("rushlight.optim.adam").adam
    x = [rushlight.ones(2)]
    with pytest.raises(TypeError, match="amsgrad"):
        adam(x, x, x, x, [], x)
    settings = {**STEPS["adam"][2], "amsgrad": False}
    with pytest.raises(AssertionError, match="must be None"):
        adam(x, x, x, x, [], x, grad_scale=rushlight.ones(()), **settings)
    with pytest.raises(KeyError, match="exp_avg"):
        adam(x, x, [], x, [], x, **settings)
    with pytest.raises(TypeError, match="must be a Tensor"):
        adam(x, x, [3], x, [], x, **settings)
