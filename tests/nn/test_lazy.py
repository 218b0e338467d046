"""Lazy modules and tensors without a shape: copies, state dicts and refusals, against torch."""

import copy
import pickle
import warnings

import pytest

import rushlight
from tests.conftest import ask

from .compare import message

pytestmark = pytest.mark.usefixtures("on_device")
LAYERS = [
    "LazyLinear(3)", "LazyConv2d(3, 2)", "LazyConvTranspose2d(3, 2)", "LazyBatchNorm2d()",
    "LazyInstanceNorm2d(affine=True, track_running_stats=True)",
    "LazyInstanceNorm2d()", "LazyBatchNorm2d(affine=False, track_running_stats=False)",
]  # fmt: skip


def layer_of(library, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(f"nn.{text}", {"nn": library.nn})


@pytest.mark.parametrize("text", LAYERS)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_become_ordinary_ones(text, copied):
    layer = copied(copied(layer_of(rushlight, text)))
    assert type(layer).__name__.startswith("Lazy")
    layer(rushlight.ones(2, 3, 5, 5))
    assert not type(layer).__name__.startswith("Lazy")
    assert not layer._forward_pre_hooks and not layer._forward_pre_hooks_with_kwargs
    assert type(copied(layer)) is type(layer)


@pytest.mark.parametrize("text", LAYERS[:-1])
def test_state_dicts(text):
    def run(library):
        lazy, full = layer_of(library, text), layer_of(library, text)
        full(library.ones(2, 3, 5, 5))
        kinds = {k: type(v).__name__ for k, v in lazy.double().state_dict().items()}
        refused = message(lambda: full.load_state_dict(lazy.state_dict()))
        lazy.load_state_dict(layer_of(library, text).state_dict())
        still = lazy.has_uninitialized_params()
        lazy.load_state_dict(full.state_dict())
        shapes = {k: list(v.shape) for k, v in lazy.state_dict().items()}
        lazy.zero_grad()
        return kinds, (refused[0], refused[1][:60]), still, shapes, lazy.has_uninitialized_params()

    assert run(rushlight) == ask(run)


CALLS = [
    "t.add(x, x)", "x + x", "t.empty_like(x)", "x.detach()", "x.numel()", "x.sum()", "x[0]",
    "x.shape", "x.size()", "x.dtype", "x.requires_grad", "x.double().dtype", "x.share_memory_()",
    "t.nn.functional.linear(t.ones(2), x)", "x.view(-1)",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("kind", ["UninitializedParameter", "UninitializedBuffer"])
def test_what_needs_a_shape_is_refused(call, kind):
    def run(library):
        x = getattr(library.nn.parameter, kind)()
        try:
            return str(eval(call, {"t": library, "x": x}))
        except (RuntimeError, ValueError) as error:
            return type(error).__name__, str(error)[:45]

    assert run(rushlight) == ask(run)
