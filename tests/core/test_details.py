"""Small things that are torch's: names of nodes, methods there are not, gradients at NaN."""

import math

import pytest

import rushlight
from tests.conftest import ask

NODES = {
    "F.soft_margin_loss(x, x.detach().sign())": "SoftMarginLossBackward0",
    "F.multi_margin_loss(x, T.tensor([0, 1]), reduction='sum')": "MultiMarginLossBackward0",
    "F.multilabel_margin_loss(x, T.zeros(2, 2).long())": "MultilabelMarginLossBackward0",
    "T.matrix_exp(x)": "LinalgMatrixExpBackward0",
}


@pytest.mark.parametrize("call", NODES)
def test_names_of_nodes(call):
    def name(torch):
        x = torch.tensor([[1.0, 2.0], [0.5, 3.0]], requires_grad=True)
        return eval(call, {"T": torch, "F": torch.nn.functional, "x": x}).grad_fn.name()

    assert name(rushlight) == ask(name) == NODES[call]


def test_methods_that_torch_has_not():
    names = "maximum_ minimum_ selu_ celu_ relu_ clamp_min_"
    found = ask(lambda torch: [hasattr(torch.Tensor, n) for n in names.split()])
    assert [hasattr(rushlight.Tensor, n) for n in names.split()] == found
    assert found == [False] * 4 + [True] * 2
    x = rushlight.tensor([-1.0, 2.0])
    for function in (rushlight.selu_, rushlight.nn.functional.celu_):
        assert function(x) is x


USES = {
    "x[i]": lambda torch, x, i: x[i],
    "x[i] = 1": lambda torch, x, i: x.__setitem__(i, torch.ones(())),
    "x[i, 0]": lambda torch, x, i: x[:, None][i, 0],
    "index_put": lambda torch, x, i: x.index_put((i,), torch.ones(())),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_dtypes_of_indices(use, dtype):
    def tried(torch):
        i = torch.tensor([1, 0], dtype=getattr(torch, dtype))
        try:
            USES[use](torch, torch.arange(3.0), i)
        except IndexError as error:
            return str(error).partition(", but got")[0]
        return "taken"

    expected = "tensors used as indices must be long, int, byte or bool tensors"
    assert tried(rushlight) == ask(tried) == ("taken" if dtype[3:] in ("32", "64") else expected)


@pytest.mark.parametrize("weight", ["0.5", "T.tensor(0.5)", "x"])
@pytest.mark.parametrize(
    "call", ["T.lerp(x, 1.0, {})", "x.lerp(1, {})", "x.clone().lerp_(1.0, {})"]
)
def test_the_end_of_lerp_is_a_tensor(call, weight):
    def tried(torch):
        x = torch.tensor([1.0, 2.0])
        try:
            return eval(call.format(weight), {"T": torch, "x": x}).tolist()
        except TypeError:
            return "TypeError"

    assert tried(rushlight) == ask(tried) == "TypeError"


SPECIAL = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 0.25]


@pytest.mark.parametrize("call", ["T.copysign(x, y)", "T.copysign(x, -1.0)"])
def test_gradients_at_nan_and_infinity(call):
    def gradients(torch):
        x = torch.tensor(SPECIAL * 2, requires_grad=True)
        y = torch.tensor([1.0] * 8 + [-1.0] * 8)
        eval(call, {"T": torch, "F": torch.nn.functional, "x": x, "y": y}).sum().backward()
        return [str(g) for g in x.grad.add(0.0).tolist()]

    assert gradients(rushlight) == ask(gradients)


STACKS = {
    "LSTM": lambda nn, n: nn.LSTM(2, 2, num_layers=n),
    "GRU": lambda nn, n: nn.GRU(2, 2, n, bidirectional=True),
    "TransformerEncoder": lambda nn, n: nn.TransformerEncoder(nn.Linear(1, 1), n),
    "TransformerDecoder": lambda nn, n: nn.TransformerDecoder(nn.Linear(1, 1), n),
    "Transformer": lambda nn, n: nn.Transformer(2, 1, num_encoder_layers=n),
}


@pytest.mark.parametrize("name", STACKS)
@pytest.mark.parametrize("layers", [2**31, 2**70])
def test_a_stack_of_too_many_layers(name, layers):
    """torch takes memory until there is none, which ends the process."""
    with pytest.raises(RuntimeError, match="can't allocate memory: a stack of num_layers="):
        STACKS[name](rushlight.nn, layers)


def test_functions_under_the_name_that_older_layers_use():
    from rushlight import _VF

    assert _VF.lstm is rushlight.lstm and rushlight._VF is _VF
    with pytest.raises(AttributeError, match="no_such"):
        _VF.no_such
