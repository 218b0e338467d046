"""Hooks of modules: what they are given, and what they make of results, against torch."""

import collections
import copy
import pickle
import warnings

import pytest

import rushlight
from tests.conftest import ask

from .compare import message

pytestmark = pytest.mark.usefixtures("on_device")
Pair = collections.namedtuple("Pair", "first second")


def plain(value):
    """Tensors as lists, in what a hook was given."""
    if isinstance(value, (tuple, list)):
        return [plain(v) for v in value]
    return value.tolist() if hasattr(value, "tolist") else value


def both(run):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = run(rushlight), ask(run)
    assert ours == theirs
    return ours


def test_gradients_of_inputs_that_want_none():
    def run(library):
        class Sums(library.nn.Module):
            def forward(self, a, b, c, d=None):
                wants.append([t.requires_grad for t in (a, b, c)])
                return a * 2 + b, b * 1.0, c * a, d

        seen, wants = [], []
        module = Sums()
        module.register_full_backward_hook(lambda m, gi, go: seen.append(plain([gi, go])))
        module.register_full_backward_pre_hook(lambda m, go: seen.append(plain(go)))
        a = library.ones(2, requires_grad=True)
        b, c = library.zeros(2), library.full((2,), 3.0, requires_grad=True)
        for d in (5, b):
            out = module(a, b, c, d)
            wants.append([getattr(o, "requires_grad", None) for o in out])
            (out[0].sum() + out[2].sum()).backward()
            module(a, b, c, d)[2].sum().backward()
        return seen, wants, plain([a.grad, c.grad]), b.grad

    both(run)


def test_in_place_on_what_hooks_watch():
    def run(library):
        class Adds(library.nn.Module):
            def forward(self, x):
                return x.add_(1)

        said = []
        a = library.ones(2, requires_grad=True)
        for module in (Adds(), library.nn.ReLU(inplace=True), library.nn.Linear(2, 2)):
            module.register_full_backward_hook(lambda *_: None)
            for call in (lambda m=module: m(a * 1).add_(1), lambda m=module: m(a * 1)[0].zero_()):
                kind, text = message(call)
                said.append((kind, text[:70].replace("FunctionBackward ", "Function ")))
        return said

    ours = both(run)
    assert "is a view and is being modified" in ours[0][1]


def test_named_tuples_stay_ones():
    def run(library):
        class Two(library.nn.Module):
            def forward(self, x):
                return Pair(x * 2, x * 3)

        module, seen = Two(), []
        module.register_full_backward_hook(lambda m, gi, go: seen.append(plain([gi, go])))
        x = library.ones(2, requires_grad=True)
        out = module(x)
        out.first.sum().backward()
        return type(out) is Pair, seen, plain(x.grad)

    assert both(run)[0]


def test_hooks_that_are_always_called():
    def run(library):
        class Fails(library.nn.Module):
            def forward(self, x, fail=True):
                if fail:
                    raise RuntimeError("in forward")
                return x

        def fails(m, args):
            raise RuntimeError("in the hook before")

        seen, errors = [], []
        module, x = Fails(), library.ones(1)
        first = module.register_forward_hook(
            lambda m, a, out: seen.append(plain(out)), always_call=True
        )
        errors.append(message(lambda: module(x)))
        module(x, fail=False)
        before = module.register_forward_pre_hook(fails)
        errors.append(message(lambda: module(x)))
        before.remove()
        last = module.register_forward_hook(lambda m, a, out: 1 / 0, prepend=True, always_call=True)
        errors.append(message(lambda: module(x, fail=False)))
        last.remove()
        first.remove()
        module.register_forward_hook(lambda m, a, out: 1 / 0)
        module.register_forward_hook(
            lambda m, a, k, out: seen.append(plain(out)), with_kwargs=True, always_call=True
        )
        errors.append(message(lambda: module(x, fail=False)))
        return seen, errors

    assert len(both(run)[0]) == 5


def test_global_hooks_of_the_last_operation():
    def run(library):
        modules = library.nn.modules.module
        seen = []
        x = library.ones(1, 2, requires_grad=True)
        net = library.nn.ReLU()
        handle = modules.register_module_backward_hook(
            lambda m, gi, go: seen.append(("all", plain([gi, go])))
        )
        net.register_backward_hook(lambda m, gi, go: seen.append(("own", plain([gi, go]))))
        net(x * 1).sum().backward()
        handle.remove()
        second = message(lambda: modules.register_module_full_backward_hook(lambda *_: None))
        return seen, second

    from rushlight.nn.modules import _hooks

    try:
        seen, _ = both(run)
    finally:
        _hooks.everywhere.is_full = None
    assert [kind for kind, _ in seen] == ["all", "own"]


def named_hook(module, state, *_):
    module.seen = len(state)


def test_hooks_before_loading_are_pickled():
    layer = rushlight.nn.Linear(1, 1)
    layer.register_load_state_dict_pre_hook(named_hook)
    for other in (pickle.loads(pickle.dumps(layer)), copy.deepcopy(layer)):
        other.load_state_dict(layer.state_dict())
        assert other.seen == 2
    assert not hasattr(layer, "seen")
    assert "_is_full_backward_hook" not in copy.deepcopy(rushlight.nn.Linear(1, 1)).__dict__


@pytest.mark.filterwarnings("error")
def test_pre_hooks_alone_do_not_warn(on_device):
    """Only where no input requires grad; hooks of the gradient of the inputs are not needed."""
    torch = rushlight
    layer = torch.nn.Linear(2, 3)
    layer.register_full_backward_pre_hook(lambda module, grads: (grads[0] * 2,))
    x = torch.ones(1, 2, requires_grad=True)
    layer(x).sum().backward()
    assert x.grad.tolist() == (2 * layer.weight.sum(0, keepdim=True)).tolist()
    with pytest.raises(UserWarning, match="no inputs require gradients"):
        layer(torch.ones(1, 2)).sum().backward()
