"""Parametrizations, weight and spectral norm, the cells of recurrent layers, against torch."""

import copy
import io
import pickle
import warnings

import pytest

import rushlight
from tests.conftest import ask

from .compare import assert_same, message

LAYERS = ["Linear(3, 4)", "Conv2d(2, 4, 3)", "ConvTranspose2d(4, 2, 3)", "Linear(5, 1)"]
SHAPES = [(2, 3), (2, 2, 5, 5), (2, 4, 3, 3), (7, 5)]
NORMS = [
    "utils.parametrizations.weight_norm(m)",
    "utils.parametrizations.weight_norm(m, dim=1)",
    "utils.parametrizations.weight_norm(m, dim=None)",
    "utils.parametrizations.weight_norm(m, 'bias')",
    "utils.parametrizations.spectral_norm(m)",
    "utils.parametrizations.spectral_norm(m, n_power_iterations=3, dim=1)",
    "utils.parametrizations.spectral_norm(m, 'bias', dim=0)",
    "utils.weight_norm(m)",
    "utils.weight_norm(m, dim=None)",
    "utils.weight_norm(m, 'bias')",
    "utils.spectral_norm(m)",
    "utils.spectral_norm(m, dim=1, n_power_iterations=2)",
]


def built(library, layer, norm):
    library.manual_seed(0)
    nn = library.nn
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = eval(f"nn.{layer}", {"nn": nn})
        return eval(f"nn.{norm}", {"nn": nn, "m": m})


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(("layer", "shape"), list(zip(LAYERS, SHAPES, strict=True)))
def test_normalised_weights(reference, device, layer, shape, norm):
    results = []
    for library in (rushlight, reference):
        where = device if library is rushlight else "cpu"
        m = built(library, layer, norm).to(where)
        x = library.linspace(-1, 1, 1000).to(where)[: rushlight.Size(shape).numel()].reshape(shape)
        x.requires_grad_()
        optimizer = library.optim.SGD(m.parameters(), 0.01)
        for _ in range(3):
            loss = m(x).sin().sum()
            loss.backward()
            optimizer.step()
        m.eval()
        out = [loss, m(x), x.grad, m.weight, m.bias, *m.state_dict().values()]
        results.append((repr(m), list(m.state_dict()), [n for n, _ in m.named_parameters()], out))
    ours, theirs = results
    assert ours[:3] == theirs[:3]
    assert_same(ours[3], theirs[3], 3e-5)


@pytest.mark.parametrize("norm", NORMS)
def test_removal(device, norm):
    def results(library):
        utils = library.nn.utils
        where = device if library is rushlight else "cpu"
        m, x = built(library, "Linear(3, 4)", norm).to(where), library.ones(1, 3).to(where)
        name = "bias" if "bias" in norm else "weight"
        m(x)
        if "parametrizations" in norm:
            assert utils.parametrize.is_parametrized(m, name)
            assert utils.parametrize.type_before_parametrizations(m) is library.nn.Linear
            utils.parametrize.remove_parametrizations(m, name)
            assert type(m) is library.nn.Linear
            assert not utils.parametrize.is_parametrized(m)
        elif "spectral" in norm:
            assert utils.remove_spectral_norm(m, name) is m
        else:
            assert utils.remove_weight_norm(m, name) is m
        out = m(x)
        return list(m.state_dict()), [out, *m.state_dict().values()]

    ours, theirs = results(rushlight), ask(results)
    assert ours[0] == theirs[0]
    assert_same(ours[1], theirs[1])


# Programs over P, nn, torch and a Linear(3, 3) m; what they leave in `out` must agree.
PROGRAMS = """
P.register_parametrization(m, "weight", Symmetric()); out = m.weight, m.parametrizations.weight.original
P.register_parametrization(m, "weight", Symmetric()); m.weight = torch.ones(3, 3); out = m.weight
P.register_parametrization(m, "weight", Twice()); P.register_parametrization(m, "weight", Twice()); out = m.weight
P.register_parametrization(m, "weight", Twice()); P.register_parametrization(m, "bias", Twice()); P.remove_parametrizations(m, "weight"); out = m.weight, m.bias
P.register_parametrization(m, "weight", Twice()); P.remove_parametrizations(m, "weight", False); out = m.weight
P.register_parametrization(m, "weight", Rank()); m.weight = torch.ones(3, 3) * 2; out = m.weight, m.parametrizations.weight.original1
P.register_parametrization(m, "weight", Rank()); P.remove_parametrizations(m, "weight", False)
P.register_parametrization(m, "weight", Rank()); P.remove_parametrizations(m, "weight"); out = m.weight
P.register_parametrization(m, "weight", Twice()); m.weight = torch.ones(3, 3)
P.register_parametrization(m, "weight", Double()); out = m.weight
P.register_parametrization(m, "weight", Double(), unsafe=True); out = m.weight
P.register_parametrization(m, "weight", Row())
P.register_parametrization(m, "weight", Twice()); P.register_parametrization(m, "weight", Row())
P.register_parametrization(m, "weight", Text())
P.register_parametrization(m, "other", Twice())
P.remove_parametrizations(m, "weight")
P.register_parametrization(m, "weight", Twice()); c = copy.deepcopy(m); m.weight.sum().backward(); out = c(torch.ones(3)), c.parametrizations.weight.original
P.register_parametrization(m, "weight", Twice()); pickle.dumps(m)
P.register_parametrization(m, "weight", Twice()); n = nn.Linear(3, 3); P.transfer_parametrizations_and_params(m, n); out = n.weight, torch.tensor(isinstance(n, nn.Linear))
m.register_buffer("b", torch.ones(2)); P.register_parametrization(m, "b", Twice()); out = m.b, torch.tensor(len(list(m.parameters())))
P.ParametrizationList([], m.weight)
""".strip().split("\n")  # noqa: E501


def classes(library):
    nn = library.nn

    class Symmetric(nn.Module):
        def forward(self, x):
            return x.triu() + x.triu(1).T

        def right_inverse(self, x):
            return x.triu()

    class Twice(nn.Module):
        def forward(self, x):
            return 2 * x

    class Rank(nn.Module):
        def forward(self, x, y):
            return x.unsqueeze(-1) @ y.unsqueeze(-2)

        def right_inverse(self, x):
            return x[:, 0], x[0] / x[0, 0]

    class Double(nn.Module):
        def forward(self, x):
            return x.double()

    class Row(nn.Module):
        def forward(self, x):
            return x[0]

    class Text(nn.Module):
        def forward(self, x):
            return "text"

    return locals()


@pytest.mark.parametrize("program", PROGRAMS)
def test_parametrize(on_device, program):
    def results(library):
        library.manual_seed(0)
        m = library.nn.Linear(3, 3, device="cpu")  # a GPU has a stream of its own
        m.to(on_device if library is rushlight else "cpu")
        scope = {**classes(library), "P": library.nn.utils.parametrize, "torch": library, "m": m}
        scope.update(copy=copy, pickle=pickle)
        try:
            exec(program, scope)
        except Exception as error:
            first = str(error).split("\n")[0]
            return type(error), first.replace("rushlight", "torch"), repr(m)
        return repr(m), scope.get("out")

    ours, theirs = results(rushlight), ask(results)
    if isinstance(theirs[0], type):
        assert ours == theirs
    else:
        assert ours[0] == theirs[0]
        assert_same(ours[1], theirs[1])


def test_cached(on_device):
    calls = []

    class Count(rushlight.nn.Module):
        def forward(self, x):
            calls.append(1)
            return x + 1

    parametrize = rushlight.nn.utils.parametrize
    m = parametrize.register_parametrization(rushlight.nn.Linear(2, 2), "weight", Count())
    calls.clear()
    with parametrize.cached():
        assert m.weight is m.weight
        assert len(calls) == 1
    assert m.weight is not m.weight


def test_copies_are_independent(device):
    """torch's share a class: there the copy loses its weight when the first one's is restored."""
    parametrize = rushlight.nn.utils.parametrize
    m = built(rushlight, "Linear(3, 4)", NORMS[0]).to(device)
    c = copy.deepcopy(m)
    parametrize.remove_parametrizations(m, "weight")
    assert_same(c.weight, m.weight)
    assert parametrize.is_parametrized(c)


def test_old_state_dicts(device):
    """weight_norm's old names load into the parametrization; spectral_norm's v is found again."""
    layers = [built(rushlight, "Linear(3, 4)", norm).to(device) for norm in (NORMS[7], NORMS[0])]
    state = layers[0].state_dict()
    layers[1].load_state_dict(state)
    assert "weight_g" in state
    assert_same(layers[1].weight, layers[0].weight)

    old, new = (built(rushlight, "Linear(3, 4)", NORMS[10]).to(device) for _ in range(2))
    x = rushlight.ones(1, 3, device=device)
    for _ in range(30):
        old(x)
    state = dict(old.state_dict(), weight=old.weight.detach())
    del state["weight_v"]
    new.load_state_dict(state)
    new.eval()
    assert_same(new(x), old.eval()(x))


def test_saved_state_loads_in_torch(reference, device):
    ours, theirs = (built(library, "Linear(3, 4)", NORMS[4]) for library in (rushlight, reference))
    file = io.BytesIO()
    rushlight.save(ours.to(device).state_dict(), file)
    file.seek(0)
    theirs.load_state_dict(reference.load(file, map_location="cpu"))
    x = rushlight.ones(1, 3, device=device)
    assert_same(ours.eval()(x), theirs.eval()(reference.ones(1, 3)))


CELLS = {"lstm_cell": 4, "gru_cell": 3, "rnn_tanh_cell": 1, "rnn_relu_cell": 1}


@pytest.mark.parametrize("name", CELLS)
@pytest.mark.parametrize("bias", [True, False])
def test_cells(reference, device, name, bias):
    results = []
    for library in (rushlight, reference):
        where = device if library is rushlight else "cpu"
        library.manual_seed(0)
        n = CELLS[name] * 4
        x, h, w, v = (library.randn(*s).to(where) for s in ((2, 3), (2, 4), (n, 3), (n, 4)))
        biases = [library.randn(n).to(where), library.randn(n).to(where)] if bias else []
        state = (h, h * 2) if name == "lstm_cell" else h
        results.append(getattr(library, name)(x, state, w, v, *biases))
    assert type(results[0]) is (tuple if name == "lstm_cell" else rushlight.Tensor)
    assert_same(*results)


def test_words(on_device):
    m = rushlight.nn.utils.spectral_norm(rushlight.nn.Linear(2, 2))
    words = "Cannot register two spectral_norm hooks on the same parameter weight"
    assert words in message(lambda: rushlight.nn.utils.spectral_norm(m))[1]
    assert message(lambda: rushlight.nn.utils.remove_weight_norm(m))[0] == "ValueError"


@pytest.mark.parametrize("dim", [-1, 0, 1, 2])
def test_the_function_under_its_private_name(dim, device):
    def results(t):
        where = device if t is rushlight else "cpu"
        v = t.arange(1.0, 25.0, device=where).view(2, 3, 4).requires_grad_()
        g = t.norm_except_dim(v.detach(), 2, dim).mul(2).requires_grad_()
        w = t._weight_norm(v, g, dim)
        w.sin().sum().backward()
        return [x.flatten().tolist() for x in (w, v.grad, g.grad)]

    for ours, theirs in zip(results(rushlight), ask(results), strict=True):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("shape", ["3, 4", "4, 3", "3, 3"])
def test_reflections_of_a_weight(device, shape):
    def found(torch):
        d = device if torch is rushlight else "cpu"
        torch.manual_seed(0)
        m = eval(f"torch.nn.Linear({shape})", {"torch": torch}).to(d)
        torch.nn.utils.parametrizations.orthogonal(
            m, orthogonal_map="householder", use_trivialization=False
        )
        first = m.weight.tolist()
        m.weight = m.weight.detach() * -2
        return [*first, *m.weight.tolist()]

    for ours, theirs in zip(found(rushlight), ask(found), strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)


@pytest.mark.parametrize("trivial", [False, True])
@pytest.mark.parametrize("chosen", ["matrix_exp", "cayley"])
@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4)])
def test_complex_weights_stay_unitary(device, shape, chosen, trivial):
    rushlight.manual_seed(0)
    layer = rushlight.nn.Linear(*shape, dtype=rushlight.complex64).to(device)
    start = layer.weight.detach().clone()
    rushlight.nn.utils.parametrizations.orthogonal(
        layer, "weight", chosen, use_trivialization=trivial
    )
    optimizer = rushlight.optim.SGD(layer.parameters(), 0.1)
    for _ in range(3):
        w = layer.weight if shape[0] <= shape[1] else layer.weight.mT
        one = rushlight.eye(min(shape), dtype=w.dtype, device=device)
        rushlight.testing.assert_close(w.mH @ w, one, atol=1e-5, rtol=0)
        optimizer.zero_grad()
        layer(rushlight.ones(2, shape[0], dtype=w.dtype, device=device)).norm().backward()
        optimizer.step()
    if trivial:
        exact = layer.weight.detach().clone()
        layer.weight = exact
        assert rushlight.equal(layer.weight, exact) or min(shape) < max(shape)
    assert start.shape == layer.weight.shape


def test_complex_weights_have_no_reflections(device):
    layer = rushlight.nn.Linear(2, 2, dtype=rushlight.complex64).to(device)
    with pytest.raises(ValueError, match="householder parametrization does not support complex"):
        rushlight.nn.utils.parametrizations.orthogonal(layer, "weight", "householder")
