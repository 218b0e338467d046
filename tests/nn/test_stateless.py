"""functional_call, and classes that keep parameters in their own way: a module with other tensors
than its own."""

from collections import OrderedDict

import pytest

import rushlight as torch
from rushlight import nn
from rushlight.func import functional_call

pytestmark = pytest.mark.usefixtures("on_device")


def net():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))


@pytest.mark.parametrize("call", [functional_call, nn.utils.stateless.functional_call])
def test_gradients_go_to_what_was_given(call):
    model, x = net(), torch.randn(4, 2)
    own = model[0].weight
    given = {name: p.detach().clone().requires_grad_() for name, p in model.named_parameters()}
    out = call(model, given, (x,))
    out.square().sum().backward()
    assert given["0.weight"].grad is not None and own.grad is None and model[0].weight is own
    expected = torch.autograd.grad(model(x).square().sum(), own)[0]
    torch.testing.assert_close(given["0.weight"].grad, expected)
    assert torch.equal(call(model, {}, x), model(x))  # one argument that is no tuple


def test_buffers_that_a_call_changes_are_those_given():
    model = net()
    given = {"1.running_mean": torch.zeros(2), "1.num_batches_tracked": torch.tensor(7)}
    functional_call(model, given, (torch.randn(3, 2),))
    assert given["1.num_batches_tracked"] == 8 and model[1].num_batches_tracked == 0
    assert torch.equal(model[1].running_mean, torch.zeros(2)) and given["1.running_mean"].any()


def test_a_buffer_that_a_call_assigns_goes_into_the_dict():
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("seen", torch.zeros(1))

        def forward(self, x):
            self.seen = self.seen + len(x)
            return x

    model, given = Counts(), {"seen": torch.ones(1)}
    functional_call(model, given, torch.zeros(3))
    assert given["seen"].item() == 4 and model.seen.item() == 0
    with nn.utils.stateless._reparametrize_module(model, given):
        assert model.seen.item() == 4
        model(torch.zeros(1))
    assert given["seen"].item() == 5 and model.seen.item() == 0


def test_shared_parameters_and_an_exception():
    model = net()
    model[1].weight = model[1].bias
    x, five = torch.randn(3, 2), torch.full((2,), 5.0)
    tied = functional_call(model, {"1.bias": five}, (x,))
    both = functional_call(model, {"1.bias": five, "1.weight": five}, (x,), tie_weights=False)
    alone = functional_call(model, {"1.bias": five}, (x,), tie_weights=False)
    assert torch.equal(tied, both) and not torch.equal(tied, alone)
    weight = model[0].weight
    with pytest.raises(RuntimeError):
        functional_call(model, {"0.weight": torch.ones(5, 7)}, (x,))
    assert model[0].weight is weight


def test_refusals():
    model, x, one = net(), torch.ones(3, 2), torch.ones(2, 2)
    for given, kind, words in (
        (3, ValueError, "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple"),
        ([{"0.weight": one}, {"0.weight": one}], ValueError, "appeared in multiple dictionaries"),
        ({"0.weight": 3}, TypeError, "3 is not an instance of torch.Tensor"),
        ({"zz.weight": one}, AttributeError, "Sequential has no attribute `zz`"),
        ({"0": one}, TypeError, "attribute `0`: Linear"),
    ):
        with pytest.raises(kind, match=words):
            functional_call(model, given, (x,))
    with pytest.raises(RuntimeError, match=r"(?s)Unexpected key.*'x'.*Missing key.*'1.weight'"):
        functional_call(model, {"x": one}, (x,), strict=True)


def test_own_setattr():
    """Of a class that replaces the dicts of its base past Module's __setattr__."""

    class Functional(nn.Linear):
        def __init__(self):
            nn.Module.__init__(self)
            self._parameters = OrderedDict(weight=None, bias=None)

        def __setattr__(self, name, value):
            if name in self.__dict__.get("_parameters", ()):
                self._parameters[name] = value
            else:
                object.__setattr__(self, name, value)

    layer = Functional()
    layer.weight, layer.bias = torch.ones(2, 3), torch.zeros(2)
    assert layer(torch.ones(1, 3)).tolist() == [[3, 3]]
    layer._parameters["weight"] = torch.zeros(2, 3)
    assert not layer(torch.ones(1, 3)).any() and not layer.weight.any()
    layer._parameters = {"weight": torch.ones(2, 3), "bias": torch.ones(2)}
    assert layer(torch.ones(1, 3)).tolist() == [[4, 4]] and list(layer._buffers) == []
