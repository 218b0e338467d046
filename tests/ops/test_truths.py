"""Arguments that torch reads with `if` in Python take any object; those of its C++ take a bool."""

import pytest

import rushlight
from tests.conftest import ask

CALLS = [
    "F.relu6(x, 1)", "F.relu6(x, [])", "F.relu6(x, 'a')", "F.relu(x, 1)", "F.threshold(x, 1, 2, 1)",
    "F.dropout(x, 0.5, False, 1)", "F.dropout(x, 0.5, 1)", "F.dropout1d(x[0], 0.5, False, 1)",
    "F.dropout2d(x, 0.5, False, 1)", "F.dropout3d(x[None], 0.5, False, 1)",
    "F.alpha_dropout(x, 0.5, False, 1)", "F.feature_alpha_dropout(x, 0.5, False, 1)",
    "F.rrelu(x, 0.1, 0.3, False, 1)", "F.rrelu(x, 0.1, 0.3, 1)",
    "F.max_pool1d(x[0], 2, return_indices=1)", "F.max_pool2d(x, 2, return_indices=1)",
    "F.max_pool2d(x, 2, return_indices=0)", "F.max_pool2d(x, 2, ceil_mode=1)",
    "F.max_pool3d(x[None], 1, return_indices=1)", "F.adaptive_max_pool1d(x[0], 2, 1)",
    "F.adaptive_max_pool2d(x, 2, 1)", "F.adaptive_max_pool3d(x[None], 1, 0)",
    "F.fractional_max_pool2d(x, 2, 2, return_indices=0)",
    "F.interpolate(x, size=3, mode='bilinear', antialias=1)",
    "F.interpolate(x, scale_factor=2, mode='bilinear', recompute_scale_factor=1)",
    "F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=1)",
    "F.gaussian_nll_loss(x, x, T.ones_like(x), full=1)", "F.poisson_nll_loss(x, x, full=1)",
    "F.gumbel_softmax(x[0], hard=1).shape", "T.nn.MaxPool2d(2, return_indices=1)(x)",
    "T.nn.ReLU6(1)(x)", "T.sum(x, 0, 1)", "T.sort(x, 0, 1)",
]  # fmt: skip


def tried(torch, call, device="cpu"):
    x = torch.linspace(-1, 8, 24, device=device).view(1, 1, 4, 6)
    try:
        result = eval(call, {"T": torch, "F": torch.nn.functional, "x": x})
    except TypeError as error:
        return str(error).splitlines()[0].split(" must be")[0].split(" received")[0]
    parts = result if isinstance(result, tuple) else [result]
    return [p.tolist() if isinstance(p, torch.Tensor) else p for p in parts], x.tolist()


@pytest.mark.parametrize("call", CALLS)
def test_as_torch(call, device):
    ours, theirs = tried(rushlight, call, device), ask(lambda torch: tried(torch, call))
    if isinstance(theirs, str):
        assert isinstance(ours, str)
        return

    def flat(value):
        for v in value:
            yield from flat(v) if isinstance(v, list | tuple) else [v]

    assert list(flat(ours)) == pytest.approx(list(flat(theirs)), rel=1e-5, abs=1e-6)


def test_an_object_that_does_not_tell(device):
    class Silent:
        def __bool__(self):
            raise ZeroDivisionError

    x = rushlight.ones(1, 1, 2, 2, device=device)
    F = rushlight.nn.functional
    for call in (F.relu6, F.dropout1d):
        with pytest.raises(ZeroDivisionError):
            call(x[0], inplace=Silent())
    with pytest.raises(ZeroDivisionError):
        F.max_pool2d(x, 2, return_indices=Silent())


@pytest.mark.parametrize("name", ["retain_graph", "create_graph"])
def test_backward(name, device):
    x = rushlight.ones(2, requires_grad=True, device=device)
    y = (x * x).sum()
    y.backward(**{name: 1})
    y.backward()
    assert x.grad.tolist() == [4, 4]
