"""Products that read a large activation or norm keep how it is computed, not the result."""

import contextlib
import gc

import pytest

import rushlight
from tests.conftest import ask

ROWS, WIDTH = 1024, 256  # 1 MiB of float32, from which on a result is computed again


def f(torch):
    return torch.nn.functional


MADE = {
    "gelu": lambda t, x, w: f(t).gelu(x),
    "gelu tanh": lambda t, x, w: f(t).gelu(x, approximate="tanh"),
    "silu": lambda t, x, w: f(t).silu(x),
    "layer_norm": lambda t, x, w: f(t).layer_norm(x, (WIDTH,), w, w * 0.5),
    "rms_norm": lambda t, x, w: f(t).rms_norm(x, (WIDTH,), w),
    "group_norm": lambda t, x, w: f(t).group_norm(x, 4, w, w * 0.5),
    "sin of a part": lambda t, x, w: t.sin(x[:, :]),
    "view": lambda t, x, w: f(t).gelu(x).view(4, -1, WIDTH),
    "in place after": lambda t, x, w: f(t).gelu(x).mul_(2),
    "without grad": lambda t, x, w: f(t).gelu(x.detach()),
}


def inputs(torch, rows=ROWS):
    start = torch.arange(float(rows * WIDTH)).view(rows, WIDTH)
    x = ((start * 0.37).sin() * 2).requires_grad_()
    w = (torch.arange(float(WIDTH)) * 0.11).cos().requires_grad_()
    weight = ((torch.arange(float(WIDTH * WIDTH)).view(WIDTH, WIDTH) * 0.7).sin() / 16).detach()
    return x, w, weight.requires_grad_()


def keeping():
    """Under hooks every result is kept as it is."""
    return rushlight.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)


def same(a, b):
    return (a is None and b is None) or rushlight.equal(a, b)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("bias", [False, True])
def test_gradients(name, bias):
    def answer():
        x, w, weight = inputs(rushlight)
        h = MADE[name](rushlight, x, w)
        out = f(rushlight).linear(h, weight, w if bias else None)
        return rushlight.autograd.grad(out.square().mean(), (x, w, weight), allow_unused=True)

    recomputed = answer()
    with keeping():
        assert all(map(same, recomputed, answer()))


@pytest.mark.parametrize("norm", [False, True])
def test_convolution(norm):
    def answer():
        x, _, weight = inputs(rushlight)
        image, kernel = x.view(4, 64, 32, 32), weight.view(-1)[: 32 * 64 * 9].view(32, 64, 3, 3)
        h = f(rushlight).silu(f(rushlight).group_norm(image, 8) if norm else image)
        out = f(rushlight).conv2d(h, kernel, padding=1)
        return rushlight.autograd.grad(out.square().mean(), (x, weight))

    recomputed = answer()
    with keeping():
        assert all(map(same, recomputed, answer()))


@pytest.mark.parametrize("name", ["gelu", "layer_norm", "rms_norm"])
def test_second_gradients_and_passes(name):
    def answer():
        x, w, weight = inputs(rushlight)
        loss = (MADE[name](rushlight, x, w) @ weight.t()).square().mean()
        first = rushlight.autograd.grad(loss, (x, weight), create_graph=True)
        loss.backward(retain_graph=True)
        loss.backward(retain_graph=True)
        second = rushlight.autograd.grad(sum(g.square().sum() for g in first), (x, weight))
        return [*second, x.grad, weight.grad]

    recomputed = answer()
    with keeping():
        assert all(map(same, recomputed, answer()))


def allocated(make, *, hooks=False):
    """Bytes on a virtual GPU that the graph of make(x, w) @ weight keeps, beside its result."""
    device = "cuda:0"
    x, w, weight = (t.detach().to(device).requires_grad_() for t in inputs(rushlight))
    gc.collect()
    before = rushlight.cuda.memory_allocated(device)
    with keeping() if hooks else contextlib.nullcontext():
        out = make(rushlight, x, w) @ weight
    kept = rushlight.cuda.memory_allocated(device) - before - out.numel() * 4
    out.sum().backward()
    return kept


@pytest.mark.parametrize("name", ["gelu", "silu", "layer_norm", "rms_norm", "view"])
def test_memory(virtual_gpus, name):
    whole = ROWS * WIDTH * 4
    assert allocated(MADE[name], hooks=True) >= whole
    assert allocated(MADE[name]) < whole / 10


def test_no_gradient_of_the_weight_keeps_nothing():
    def answer(torch):
        x, w, weight = inputs(torch, 4)
        seen = []
        with torch.autograd.graph.saved_tensors_hooks(
            lambda t: seen.append(tuple(t.shape)) or t, lambda t: t
        ):
            x @ weight.detach()
            x.detach() @ weight
            torch.addmm(w, x, weight.detach())
            torch.bmm(x[None], weight.detach()[None])
        out = x @ weight.detach()
        return seen, out.grad_fn._saved_self is None, out.grad_fn._saved_mat2 is None

    assert answer(rushlight) == ask(answer)


def test_other_results_of_a_freed_graph(reference):
    """As the result itself would be, how it is computed outlives the node that made it."""

    def answer(torch):
        x, _, weight = inputs(torch)
        other = weight.detach().clone().requires_grad_()
        h = f(torch).gelu(x)
        a, b = (h @ weight).sum(), (h @ other).sum()
        a.backward()
        (g,) = torch.autograd.grad(b, other)
        return g.sum(0)[:4].mul(10).round().tolist()

    assert answer(rushlight) == answer(reference)


def test_what_is_shown_and_hooked():
    def answer(torch):
        x, _, weight = inputs(torch)
        out = f(torch).gelu(x) @ weight
        shown = out.grad_fn._saved_self
        log = [tuple(shown.shape), shown.requires_grad, type(shown.grad_fn).__name__]
        out.grad_fn._raw_saved_self.register_hooks(
            lambda t: log.append(tuple(t.shape)) or t * 2, lambda t: t
        )
        (g,) = torch.autograd.grad(out.sum(), weight)
        return log, g.sum(0)[:4].mul(10).round().tolist()

    assert answer(rushlight) == ask(answer)


def test_written_input_is_refused():
    """torch finds it one node later."""
    x, _, weight = inputs(rushlight)
    h = x * 1
    out = f(rushlight).gelu(h) @ weight
    h.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()
