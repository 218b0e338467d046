"""utils.checkpoint: the gradients of a plain run, random numbers included, in both ways."""

import warnings
import weakref

import numpy as np
import pytest

import rushlight as torch
from rushlight.utils.checkpoint import checkpoint, checkpoint_sequential
from tests.conftest import ask


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 5), torch.nn.Dropout(0.5), torch.nn.Tanh(), torch.nn.Linear(5, 2)
    )


def run(call, reentrant):
    net = model()
    x = torch.ones(3, 4, requires_grad=True)
    torch.manual_seed(1)
    out = call(net, x, reentrant)
    after = torch.rand(1).item()
    out.square().sum().backward()
    return out.detach(), after, x.grad, [p.grad for p in net.parameters()]


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize(
    "call",
    [
        lambda net, x, r: checkpoint(net, x, use_reentrant=r),
        lambda net, x, r: checkpoint_sequential(net, 2, x, use_reentrant=r),
    ],
)
def test_same_as_a_plain_run(call, reentrant):
    plain = run(lambda net, x, _: net(x), reentrant)
    torch.testing.assert_close(run(call, reentrant), plain, rtol=0, atol=0)


def test_parameters_alone_get_gradients_without_reentry():
    net = model().eval()
    checkpoint(net, torch.ones(1, 4), use_reentrant=False).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        out = checkpoint(net, torch.ones(1, 4), use_reentrant=True)
    assert not out.requires_grad


def test_several_outputs_and_other_arguments():
    x = torch.ones(2, requires_grad=True)

    def f(x, scale, flag, *, shift):
        return x * scale, "word" if flag else None, x + shift

    a, word, b = checkpoint(f, x, 3.0, True, use_reentrant=False, shift=2.0)
    assert word == "word"
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_runs_twice_and_no_more():
    calls = []
    x = torch.ones(1, requires_grad=True)

    def f(x):
        calls.append(torch.is_grad_enabled())
        return x.exp()

    checkpoint(f, x, use_reentrant=False).backward()
    assert calls == [True, True]
    calls.clear()
    checkpoint(f, x, use_reentrant=True).backward()
    assert calls == [False, True]


def test_words():
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.exp, torch.ones(1, requires_grad=True))
    with pytest.raises(ValueError, match="Unexpected keyword arguments: shift"):
        checkpoint(torch.exp, torch.ones(1), use_reentrant=True, shift=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpoint(torch.exp, torch.ones(1), use_reentrant=False)


def cube(x):
    return (x * x).exp() * x


@pytest.mark.parametrize("nested", [False, True])
def test_grad_and_second_derivatives(nested):
    def inner(x):
        return checkpoint(cube, x, use_reentrant=False) if nested else cube(x)

    def f(x):
        return inner(x) * x

    results = []
    for call in (lambda x: checkpoint(f, x, use_reentrant=False), lambda x: cube(x) * x):
        x = torch.tensor([0.5, 0.25], dtype=torch.float64, requires_grad=True)
        y = call(x).sum()
        (first,) = torch.autograd.grad(y, x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
        (third,) = torch.autograd.grad(second.sum(), x)
        results.append((first.detach(), second.detach(), third))
    torch.testing.assert_close(results[0], results[1])
    x = torch.tensor([0.5, 0.25], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(f, x) and torch.autograd.gradgradcheck(f, x)


def test_reentrant_refuses_grad():
    x = torch.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"incompatible with \.grad"):
        torch.autograd.grad(checkpoint(cube, x, use_reentrant=True), x)


def test_runs_again_for_each_pass():
    calls = []
    x = torch.ones(1, requires_grad=True)
    y = checkpoint(lambda x: calls.append(0) or cube(x), x, use_reentrant=False)
    y.backward(retain_graph=True)
    y.backward()
    assert len(calls) == 3
    assert x.grad.item() == pytest.approx(2 * 3 * torch.e, rel=1e-5)


@pytest.mark.parametrize("early", [True, False])
def test_early_stop(early):
    steps = []

    def f(x):
        x = x.exp()
        steps.append(1)
        x = x.exp()
        steps.append(2)
        return x + 1

    x = torch.zeros(1, requires_grad=True)
    checkpoint(f, x, use_reentrant=False, early_stop=early).backward()
    assert steps == ([1, 2, 1] if early else [1, 2, 1, 2])
    steps.clear()
    with torch.utils.checkpoint.set_checkpoint_early_stop(not early):
        checkpoint(f, x, use_reentrant=False, early_stop=early).backward()
    assert steps == ([1, 2, 1, 2] if early else [1, 2, 1])


def changing(shape=lambda n: 2 + n):
    count = []

    def f(x):
        count.append(0)
        return (x * torch.ones(shape(len(count)), 1)).exp().sum()

    return f


def test_determinism_check():
    x = torch.ones(1, requires_grad=True)
    y = checkpoint(changing(), x, use_reentrant=False)
    with pytest.raises(torch.utils.checkpoint.CheckpointError, match="different metadata") as info:
        y.backward()
    assert "'shape': torch.Size([3, 1])" in str(info.value)
    with pytest.raises(ValueError, match="determinism_check should be one of"):
        checkpoint(cube, x, use_reentrant=False, determinism_check="other")
    calls = []

    def grows(x):
        calls.append(0)
        return cube(x) if len(calls) == 1 else x + 1

    y = checkpoint(grows, x, use_reentrant=False)
    with pytest.raises(RuntimeError, match="A different number of tensors was saved"):
        y.backward()


def test_debug_names_the_lines():
    x = torch.ones(1, requires_grad=True)
    y = checkpoint(changing(), x, use_reentrant=False, debug=True)
    with pytest.raises(torch.utils.checkpoint.CheckpointError) as info:
        y.backward()
    text = str(info.value)
    assert "during the original forward" in text and "during recomputation" in text
    assert text.count("exp().sum()") >= 2
    with pytest.raises(ValueError, match="debug=True is incompatible"):
        checkpoint(cube, x, use_reentrant=False, debug=True, context_fn=lambda: (None, None))


def test_contexts_and_autocast():
    import contextlib

    log = []

    @contextlib.contextmanager
    def note(word):
        log.append(word)
        yield

    x = torch.ones(2, 2, requires_grad=True)
    y = checkpoint(cube, x, use_reentrant=False, context_fn=lambda: (note("first"), note("second")))
    y.sum().backward()
    assert log == ["first", "second"]
    seen = []
    with torch.autocast("cpu", dtype=torch.bfloat16):
        y = checkpoint(lambda x: seen.append((x @ x).dtype) or (x @ x), x, use_reentrant=False)
    y.float().sum().backward()
    assert set(seen) == {torch.bfloat16}


def test_a_write_to_an_argument_is_noticed():
    x = torch.ones(2, requires_grad=True)
    w = torch.ones(2)
    y = checkpoint(lambda x, w: (x * w).exp(), x, w, use_reentrant=False)
    w.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_keeps_no_activations():
    alive = []

    def f(x):
        y = x.exp()
        alive.append(weakref.ref(y))
        return y.sin().sum()

    y = checkpoint(f, torch.ones(3, requires_grad=True), use_reentrant=False)
    assert alive[0]() is None
    y.backward()
    assert all(ref() is None for ref in alive)


def selective(torch):
    """Gradients of a checkpoint with a policy, by a function and by a list."""
    from functools import partial

    checkpoint = torch.utils.checkpoint
    aten, found = torch.ops.aten, []
    policy = checkpoint.CheckpointPolicy
    for given in (lambda context, op, *args, **kwargs: policy.MUST_SAVE, [aten.mm.default]):
        x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        contexts = partial(checkpoint.create_selective_checkpoint_contexts, given)
        run = checkpoint.checkpoint(
            lambda x: (x @ x).exp(), x, use_reentrant=False, context_fn=contexts
        )
        run.sum().backward()
        found.append(x.grad.log().tolist())
    return found


def test_selective_checkpoint():
    np.testing.assert_allclose(selective(torch), ask(selective), rtol=1e-5)
    with pytest.raises(TypeError, match="must be either a function or a list"):
        torch.utils.checkpoint.create_selective_checkpoint_contexts(3)
