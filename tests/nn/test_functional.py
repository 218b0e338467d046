"""torch.nn.functional: each name that torch has too has torch's parameters, and is found lazily."""

import inspect

import pytest

import rushlight
from rushlight import _index, _table
from rushlight.nn import functional as F
from tests.compare import same_as_torch
from tests.conftest import ask

OURS = sorted(name for name in dir(F) if not name.startswith("_"))


def parameters(functional, name):
    """Names and defaults; None where there are none that could be read."""
    try:
        signature = inspect.signature(getattr(functional, name, None))
    except (TypeError, ValueError):
        return None
    found = [(p.name, p.default) for p in signature.parameters.values() if p.name != "out"]
    required = inspect.Parameter.empty
    return [(name, "required" if default is required else default) for name, default in found]


@pytest.mark.parametrize("name", OURS)
def test_parameters_are_those_of_torch(name):
    wanted = ask(lambda torch: parameters(torch.nn.functional, name))
    ours = parameters(F, name)
    if wanted and ours and "args" not in dict(wanted):
        assert ours == wanted


@pytest.mark.parametrize("name", _table.names(_index.FUNCTIONAL))
def test_operations_in_python_are_listed_and_found(name):
    assert name in dir(F)
    assert callable(getattr(F, name))


def test_a_missing_name_says_so():
    version = ".".join(rushlight.__version__.split(".")[:2])
    with pytest.raises(
        AttributeError, match=f"^torch.nn.functional.nothing is not in rushlight {version}$"
    ):
        _ = F.nothing
    with pytest.raises(AttributeError, match=f"^torch.nothing is not in rushlight {version}$"):
        _ = rushlight.nothing


@pytest.mark.parametrize(
    "name", "relu relu6 hardtanh elu selu celu leaky_relu silu mish hardswish hardsigmoid".split()
)
def test_inplace_writes_to_the_input(name, device):
    x = rushlight.tensor([-4.0, -0.5, 0.5, 7.0], device=device)
    function = getattr(F, name)
    wanted = function(x)
    given = x.clone()
    assert function(given, inplace=True) is given
    assert given.tolist() == wanted.tolist()
    assert x.tolist() == [-4.0, -0.5, 0.5, 7.0]


def test_dropout_in_place(device):
    x = rushlight.ones(100, device=device)
    assert F.dropout(x, 0.5, True, True) is x
    assert set(x.tolist()) <= {0.0, 2.0}
    with pytest.raises(ValueError, match="between 0 and 1"):
        F.dropout(x, float("nan"))


@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_weights_of_elements(reference, name, reduction, device):
    values = [[0.5, -1.0, 3.0], [0.0, 2.0, -1.0], [1.0, 2.0, 0.5]]
    x, y, w = (rushlight.tensor(v, device=device) for v in values)
    a, b, c = (reference.tensor(v) for v in values)
    x.requires_grad_(), a.requires_grad_()
    ours = getattr(F, name)(x, y, weight=w, reduction=reduction)
    theirs = getattr(reference.nn.functional, name)(a, b, weight=c, reduction=reduction)
    assert ours.tolist() == pytest.approx(theirs.tolist())
    ours.sum().backward(), theirs.sum().backward()
    assert x.grad.tolist() == pytest.approx(a.grad.tolist())
    with pytest.raises(ValueError, match="same size"):
        getattr(F, name)(x, y, weight=w[:2])


def test_rrelu_in_place(device):
    x = rushlight.tensor([-1.0, 2.0], device=device)
    assert F.rrelu_(x, 0.5, 0.5) is x
    assert x.tolist() == [-0.5, 2.0]


@pytest.mark.parametrize("training", [False, True])
def test_gradient_of_rrelu_in_place(training, device):
    x = rushlight.tensor([-1.0, 2.0, -3.0], device=device, requires_grad=True)
    y = x * 1
    assert F.rrelu_(y, 0.5, 0.5, training) is y
    y.sum().backward()
    assert y.tolist() == [-0.5, 2.0, -1.5]
    assert x.grad.tolist() == [0.5, 1.0, 0.5]
    assert type(F.rrelu(x, training=training).grad_fn).__name__ == "RreluWithNoiseBackward0"


def rrelu_in_training(torch, dtype, transposed, inplace):
    """A draw, its gradient and the gradient of that."""
    torch.manual_seed(3)
    values = [(i - 10) / 5 for i in range(15)]
    leaf = torch.tensor(values, dtype=getattr(torch, dtype), requires_grad=True)
    x = leaf.reshape(3, 5).t() if transposed else leaf.reshape(3, 5)
    x = x * 1
    y = torch.nn.functional.rrelu(x, 0.1, 0.6, True, inplace)
    w = torch.ones_like(y.detach()).requires_grad_()
    (g,) = torch.autograd.grad((y * w).sum(), leaf, create_graph=True)
    (h,) = torch.autograd.grad((g * g).sum(), w)
    return y, g, h


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_rrelu_draws_torchs_slopes(reference, dtype, transposed, inplace):
    given = dtype, transposed, inplace
    ours, theirs = (rrelu_in_training(torch, *given) for torch in (rushlight, reference))
    same_as_torch(ours, theirs, rtol=None if dtype == "bfloat16" else 0)


def test_rrelu_in_training(device):
    x = rushlight.linspace(-3, 1, 4000, device=device, requires_grad=True)
    y = F.rrelu(x, 0.25, 0.75, training=True)
    slope = (y / x).detach().cpu()
    positive = x.detach().cpu() > 0
    assert (slope[positive] == 1).all()
    bent = slope[~positive]
    assert bent.min() >= 0.25 and bent.max() <= 0.75 and abs(bent.mean() - 0.5) < 0.02
    y.sum().backward()
    assert rushlight.allclose(x.grad.cpu(), slope)
    assert F.rrelu(x[:0], training=True).shape == (0,)
    with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
        F.rrelu(rushlight.ones(2, dtype=rushlight.int64, device=device), training=True)
    with pytest.raises(RuntimeError, match="Lower bound should be less than"):
        F.rrelu(x, 0.5, 0.1)
