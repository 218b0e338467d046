"""Functions of nn.functional and nn.init take attributes, as torch's, which are Python."""

import copy
import inspect
import pickle

import pytest

import rushlight as torch
from rushlight.nn import functional as F
from rushlight.nn import init
from tests.conftest import ask

NAMES = (
    "relu leaky_relu sigmoid tanh softmax dropout cross_entropy mse_loss interpolate pad".split()
)


@pytest.mark.parametrize("name", NAMES)
def test_functional(name):
    def takes(torch):
        function = getattr(torch.nn.functional, name)
        function.default_gain = [2]
        kept = function.default_gain == [2] == vars(function)["default_gain"]
        del function.default_gain
        return kept, hasattr(function, "default_gain")

    assert takes(torch) == tuple(ask(takes)) == (True, False)


def test_init():
    init.kaiming_uniform_.of = "weights"
    assert init.kaiming_uniform_.of == "weights"
    del init.kaiming_uniform_.of


def test_they_are_still_built_in_functions():
    assert inspect.isbuiltin(F.relu)
    assert repr(F.relu) == "<built-in function relu>"
    assert str(inspect.signature(F.relu)) == "(input, inplace=False)"
    assert copy.deepcopy(F.relu) is F.relu
    assert pickle.loads(pickle.dumps(F.relu)) is F.relu
    assert F.relu(torch.tensor([-1.0, 2.0]), inplace=False).tolist() == [0.0, 2.0]
    with pytest.raises(TypeError, match=r"relu\(\)"):
        F.relu(nothing=1)


def test_attributes_may_refer_back():
    F.relu6.itself = F.relu6  # a cycle that the collector visits
    F.relu.itself = F.relu
    import gc

    gc.collect()
    assert F.relu.itself is F.relu
    del F.relu6.itself, F.relu.itself
