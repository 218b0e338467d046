"""torch.autograd.graph: hooks on saved tensors, edges, and hooks on several gradients."""

import threading
import weakref

import numpy
import pytest

import rushlight as torch
from tests.conftest import ask

graph = torch.autograd.graph


PROGRAMS = {
    "pointwise": lambda t, x: (x * 2).exp().sum(),
    "products": lambda t, x: (x @ x.t()).tanh().sum(),
    "in place": lambda t, x: (x * 1).exp_().mul(x).sum(),
    "through a view": lambda t, x: (x * 1).view(-1)[2:].sigmoid().sum(),
    "softmax": lambda t, x: (t.softmax(x, 1) * x).sum(),
    "convolution": lambda t, x: t.conv1d(x[None], t.ones(2, 3, 2)).square().sum(),
    "norm": lambda t, x: (t.nn.functional.layer_norm(x, (4,)) ** 3).sum(),
    "batch norm": lambda t, x: (
        t.nn.functional.batch_norm(x, None, None, training=True) ** 3
    ).sum(),
    "pool": lambda t, x: t.nn.functional.max_pool1d(x[None], 2).square().sum(),
    "sort": lambda t, x: (x.sort(1).values * x).sum(),
    "gather": lambda t, x: x.gather(1, t.tensor([[0], [1], [3]])).square().sum(),
    "moments": lambda t, x: x.std() + x.var(0).sum() + x.norm(),
    "prod": lambda t, x: x.prod(1).sum() + x.cumprod(0).sum(),
    "loss": lambda t, x: t.nn.functional.cross_entropy(x, t.tensor([1, 2, 0])),
    "inverse": lambda t, x: t.linalg.inv(x @ x.t() + t.eye(3)).sum(),
    "logsumexp": lambda t, x: x.logsumexp(1).sum(),
    "extremes": lambda t, x: x.max(1).values.sum() * x.amin(),
    "linear": lambda t, x: t.nn.functional.linear(x, t.ones(2, 4), t.ones(2)).relu().sum(),
}


def values(t):
    return t.tensor(numpy.linspace(-1.3, 1.9, 12, dtype="float32").reshape(3, 4) ** 3 + 0.25)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_go_through_the_hooks(name, create_graph):
    def gradients(*hooks):
        x = values(torch).requires_grad_()
        if hooks:
            with graph.saved_tensors_hooks(*hooks):
                y = PROGRAMS[name](torch, x)
        else:
            y = PROGRAMS[name](torch, x)
        (first,) = torch.autograd.grad(y, x, create_graph=create_graph)
        if create_graph and first.requires_grad:
            return first, torch.autograd.grad(first.square().sum(), x)[0]
        return (first,)

    packed = []

    def pack(t):
        packed.append(tuple(t.shape))
        return t.detach().numpy().copy()

    expected = gradients()
    for ours, plain in zip(gradients(pack, torch.tensor), expected, strict=True):
        torch.testing.assert_close(ours, plain)
    assert packed
    strided = gradients(lambda t: torch.stack([t.detach()] * 2, -1), lambda t: t[..., 0])
    for ours, plain in zip(strided, expected, strict=True):
        torch.testing.assert_close(ours, plain)


@pytest.mark.parametrize("name", ["pointwise", "products", "softmax"])
def test_hooks_are_called_as_often_as_in_torch(name):
    def program(t):
        said = []
        x = values(t).requires_grad_()

        def pack(saved):
            said.append(("pack", tuple(saved.shape), t.is_grad_enabled()))
            return saved

        def unpack(saved):
            said.append(("unpack", tuple(saved.shape), t.is_grad_enabled()))
            return saved

        with t.autograd.graph.saved_tensors_hooks(pack, unpack):
            y = PROGRAMS[name](t, x)
            t.exp(x.detach())  # not recorded
            with t.no_grad():
                x.exp().square()
        y.backward()
        return sorted(said)

    assert program(torch) == ask(program)


def test_words_of_errors():
    same = lambda t: t  # noqa: E731

    def attempt(t, pack, unpack):
        x = t.ones(3, requires_grad=True)
        try:
            with t.autograd.graph.saved_tensors_hooks(pack, unpack):
                y = x.exp()
            y.sum().backward()
        except Exception as error:
            return type(error), str(error)[:60]
        return None

    for pack, unpack in (
        (lambda t: t.add_(1), same),
        (lambda t: None, same),
        (same, lambda t: 5),
        (lambda: 0, same),
    ):
        assert attempt(torch, pack, unpack) == ask(
            lambda t, pack=pack, unpack=unpack: attempt(t, pack, unpack)
        )
    assert attempt(torch, same, lambda t: t.double()) is None
    assert attempt(torch, same, lambda t: t[:2])[0] is RuntimeError
    assert attempt(torch, same, lambda t: t.to("meta"))[0] is RuntimeError


def test_written_after_it_was_packed():
    x = torch.ones(2, requires_grad=True)
    with graph.saved_tensors_hooks(torch.clone, lambda t: t):
        y = x * 3
        z = y.square().sum()
        y.mul_(100)
    z.backward()
    assert x.grad.tolist() == [18, 18]
    with graph.allow_mutation_on_saved_tensors() as context:
        y = x * 3
        z = y.square().sum()
        y.mul_(100)
        context.clear()
        with pytest.raises(RuntimeError, match="Trying to backward outside"):
            z.backward()


def test_a_hook_that_raises_leaves_nothing_on():
    def fails(t):
        raise KeyError("packed")

    x = torch.ones(2, requires_grad=True)
    with pytest.raises(KeyError), graph.saved_tensors_hooks(fails, fails):
        x.exp()
    x.exp().sum().backward()
    y = x.clone()
    with pytest.raises(KeyError), graph.saved_tensors_hooks(fails, fails):
        y.exp_()
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([2 * float(numpy.e)] * 2)


def test_a_backward_pass_within_a_hook():
    x = torch.ones(3, requires_grad=True)
    inside = []

    def unpack(t):
        if not inside:
            inside.append(1)
            y.backward(torch.ones(3))  # runs the node that is running, and lets go of it
        return t

    with graph.saved_tensors_hooks(lambda t: t, unpack):
        y = x.exp()
    y.sum().backward()
    assert x.grad.tolist() == pytest.approx([2 * float(numpy.e)] * 3)
    with pytest.raises(RuntimeError, match="second time"):
        y.sum().backward()


def test_a_hook_frees_the_graph():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x, x)
            kept.append(ctx)
            return x * x

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_tensors
            return g * (a + b)

    kept = []
    x = torch.ones(3, requires_grad=True)
    holder = {}

    def unpack(t):
        holder.clear()
        return t

    with graph.saved_tensors_hooks(lambda t: t, unpack):
        holder["y"] = Square.apply(x)
    a, b = kept[0].saved_tensors
    assert a.tolist() == b.tolist() == [1, 1, 1]


def test_what_hooks_keep_is_freed_with_the_graph():
    class Kept:
        pass

    alive = []

    def pack(t):
        kept = Kept()
        alive.append(weakref.ref(kept))
        return kept

    x = torch.ones(2, requires_grad=True)
    with graph.saved_tensors_hooks(pack, lambda kept: torch.ones(2)):
        x.exp()
        y = x.exp().sin().sum()
        assert [r() is None for r in alive] == [True, False, False]
    y.backward()
    assert all(r() is None for r in alive)


def test_hooks_belong_to_their_thread():
    said = []
    x = torch.ones(2, requires_grad=True)

    def work():
        x.exp()

    with graph.saved_tensors_hooks(lambda t: said.append(1), lambda t: t):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert not said


def test_save_on_cpu(virtual_gpus):
    for pinned in (False, True):
        x = torch.ones(3, device="cuda:1", requires_grad=True)
        with graph.save_on_cpu(pin_memory=pinned):
            y = (x * 2).exp().sum()
        y.backward()
        assert x.grad.device == torch.device("cuda:1")
        assert x.grad.tolist() == pytest.approx([2 * float(numpy.exp(2))] * 3)


def test_edges():
    def program(t):
        from_tensor = t.autograd.graph.get_gradient_edge
        x = t.ones(3, requires_grad=True)
        y = x * 2
        edge = from_tensor(y)
        said = [edge.node is y.grad_fn, edge.output_nr, type(from_tensor(x).node).__name__]
        said.append(t.autograd.grad((y * 3).sum(), [edge])[0].tolist())
        said.append(t.autograd.grad(edge, x, grad_outputs=t.full((3,), 5.0))[0].tolist())
        t.autograd.backward(from_tensor((x * 4).sum()), inputs=[from_tensor(x)])
        said.append(x.grad.tolist())
        first, second = t.ones(2, 2, requires_grad=True).mul(1).unbind(0)
        edge = from_tensor(second)
        said += [edge.output_nr, edge.node is first.grad_fn]
        hand_made = t.autograd.graph.GradientEdge(edge.node, edge.output_nr, None)
        said.append(t.autograd.grad((first * second * 3).sum(), [hand_made])[0].tolist())
        return said

    assert program(torch) == ask(program)


def test_hostile_edges():
    x = torch.ones(3, requires_grad=True)
    y = x * 2
    node = y.grad_fn
    for edge, kind in (
        (graph.GradientEdge(node, 7, None), IndexError),
        (graph.GradientEdge(node, -1, None), IndexError),
        (graph.GradientEdge(node, 2**70, None), (IndexError, TypeError)),
        (graph.GradientEdge(None, 0, None), TypeError),
        (graph.GradientEdge(node, "0", None), TypeError),
    ):
        with pytest.raises(kind):
            torch.autograd.grad(y.sum(), [edge])
    edge = graph.GradientEdge(node, 0, None)
    for gradient in (torch.ones(4), torch.ones(1, 3), torch.ones(3, device="meta")):
        with pytest.raises(RuntimeError, match="Mismatch in shape"):
            torch.autograd.backward(edge, gradient)
    torch.autograd.backward(edge, torch.ones(3))
    assert x.grad.tolist() == [2.0] * 3


def test_what_is_captured_is_not_run():
    def program(t):
        x = t.ones(3, requires_grad=True)
        y = x.exp()
        ran = []
        y.grad_fn.register_hook(lambda *g: ran.append(1))
        t.autograd.grad((y * y).sum(), y)
        t.autograd.grad(y.sum(), x)  # its saved tensors are still there
        return ran

    assert program(torch) == ask(program) == [1]


@pytest.mark.parametrize("mode", ["all", "any"])
def test_multi_grad_hook(mode):
    def program(t):
        said = []
        leaves = [t.ones(2, requires_grad=True) for _ in range(4)]
        a, b, c, d = leaves
        middle = a * b

        def hook(grads):
            grads = [grads] if isinstance(grads, t.Tensor) else grads
            said.append([None if g is None else g.tolist() for g in grads])

        handle = t.autograd.graph.register_multi_grad_hook((a, middle, c, d), hook, mode=mode)
        (middle * c).sum().backward()
        (middle.detach() * d).sum().backward()
        handle.remove()
        (a * 2).sum().backward()
        return said if mode == "all" else len(said)

    assert program(torch) == ask(program)


def test_node_metadata():
    y = torch.ones(2, requires_grad=True) * 2
    y.grad_fn.metadata["name"] = y.grad_fn.metadata
    assert y.grad_fn.metadata["name"] is y.grad_fn.metadata
    y.grad_fn.metadata.clear()
    assert isinstance(y.grad_fn, graph.Node)


@pytest.mark.parametrize("record", [False, True])
def test_a_hook_that_sets_the_data_of_its_gradient(record):
    w = torch.rand(4, 6, requires_grad=True)
    kept = []

    def spoil(grad):
        for g in [*kept, *(grad if isinstance(grad, tuple) else [grad])]:
            g.data = torch.zeros(2)
        kept.append(grad[0] if isinstance(grad, tuple) else grad)

    def gradient(watch):
        v = torch.nn.functional.nll_loss(w, torch.arange(4), reduction="none")
        watch(v)
        return torch.autograd.grad((v * v).sum(), w, create_graph=record)[0]

    expected = gradient(lambda v: None)
    for watch in (
        lambda v: v.register_hook(spoil),
        lambda v: v.grad_fn.register_prehook(spoil),
        lambda v: v.grad_fn.register_hook(lambda inputs, outputs: spoil(inputs)),
    ):
        kept.clear()
        try:
            found = gradient(watch)
        except RuntimeError as error:
            assert record and ("size of value" in str(error) or "data of a result" in str(error))
        else:
            torch.testing.assert_close(found, expected)


def test_a_result_is_seen_with_its_history_and_leaks_nothing():
    seen = []

    def pack(t):
        seen.append((t.requires_grad, t.is_leaf))
        return t

    x = torch.ones(2, requires_grad=True)
    with graph.saved_tensors_hooks(pack, lambda t: t):
        y = x.exp()
    assert seen == [(True, False)]
    y.sum().backward()
    alive = weakref.ref(y)
    del y
    assert alive() is None


def test_writes_through_data_have_a_count_of_their_own():
    a = torch.ones(3)
    b = a.data
    b.add_(1)
    b[0] = 5
    assert (a._version, b._version, a.data._version) == (0, 2, 0)
    a.detach().mul_(2)
    assert a._version == 1
    x = torch.ones(3, requires_grad=True)
    w = torch.ones(3)
    y = x * w
    w.data.mul_(3)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0]
    y = x * b
    b.zero_()
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()
