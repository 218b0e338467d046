"""grad(is_grads_batched=True): several gradients in one pass, the same as one after another."""

import pytest

import rushlight as torch
from tests.conftest import ask

F = torch.nn.functional


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        assert g.dim() == 2
        return g * 2


x = torch.linspace(-1, 2, 6, dtype=torch.float64).reshape(2, 3)
w = torch.linspace(0.5, 1.5, 12, dtype=torch.float64).reshape(4, 3)
v = torch.linspace(1, 2, 3, dtype=torch.float64)
b = torch.linspace(-1, 1, 24, dtype=torch.float64).reshape(2, 3, 4)
CALLS = {
    "a sum with a broadcast vector": (lambda x, v: x + v, x, v),
    "a product with a number": (lambda x, v: x * v[0], x, v),
    "a product with a column": (lambda x, v: x * v[:2, None], x, v),
    "an output that is saved": (lambda x: x.tanh().exp(), x),
    "where": (lambda x, v: torch.where(x > 0, x, v), x, v),
    "two dtypes": (lambda x, v: x * v, x, v.float()),
    "mm": (lambda x, w: x @ w.mT, x, w),
    "mm of a transposed matrix": (lambda x, w: x.mT.mT @ w.T.contiguous(), x, w),
    "a vector by a matrix": (lambda v, w: v @ w.mT, v, w),
    "a matrix by a vector": (lambda w, v: w @ v, w, v),
    "dot": (lambda v, w: v @ w[0], v, w),
    "bmm": (lambda b: torch.bmm(b, b.mT), b),
    "a batch by a matrix": (lambda b, w: b @ w, b, w),
    "addmm": (lambda v, x, w: torch.addmm(v[0], x, w.mT, beta=2, alpha=3), v, x, w),
    "baddbmm": (lambda v, b: torch.baddbmm(v, b, b.mT), v, b),
    "linear": (F.linear, x, w, torch.ones(4, dtype=torch.float64)),
    "linear of a vector": (F.linear, v, w, torch.ones(4, dtype=torch.float64)),
    "reshape": (lambda b: b.reshape(6, 4).flatten(), b),
    "a reshape that copies": (lambda b: b.mT.reshape(-1) * 2, b),
    "permute": (lambda b: b.permute(2, 0, 1), b),
    "transpose": (lambda b: b.transpose(0, -1), b),
    "t of a vector": (lambda v: v.t() * 3, v),
    "expand": (lambda v: v.expand(2, 3), v),
    "expand of a dimension": (lambda v: v[:, None].expand(3, 2), v),
    "squeeze": (lambda x: x.unsqueeze(1).squeeze(), x),
    "select and slice": (lambda b: b[1, :, 1::2], b),
    "sum": (lambda x: x.sum(), x),
    "sum of a dimension": (lambda b: b.sum(1) + b.sum((0, 1), keepdim=True)[0], b),
    "mean": (lambda b: b.mean(-1, keepdim=True) * b.mean(), b),
    "softmax": (lambda x: x.softmax(0) + x.log_softmax(-1), x),
    "softmax of a number": (lambda v: v[0].softmax(0), v),
    "layer_norm": (lambda x, v: F.layer_norm(x, (3,), v), x, v),
    "conv1d": (lambda b, w: F.conv1d(b, w.reshape(2, 3, 2)), b, w[:, :3]),
    "cumsum": (lambda x: x.cumsum(1), x),
    "cat and split": (lambda x, v: torch.cat([x, v[None]]).split(2)[0], x, v),
    "several results": (lambda x: x.sort(1)[0] * x.unbind(1)[0][:, None], x),
    "gather": (lambda x: x.gather(1, torch.tensor([[0], [2]])), x),
    "an inverse": (lambda w: torch.linalg.inv(w[:3] + torch.eye(3)), w),
    "written in place": (lambda x, v: x.clone().mul_(v).add_(1)[0].exp_(), x, v),
    "a view that was written to": (lambda x, v: _written(x, v), x, v),
    "a Function": (lambda x: Doubled.apply(x * 2), x),
    "an input twice": (lambda x: x * x + x.sum(0), x),
}


def _written(x, v):
    y = x * 1
    y[0].mul_(v)
    return y * y


def rows_of(y, n=3):
    return torch.arange(n * y.numel(), dtype=y.dtype).reshape(n, *y.shape).sin()


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("create_graph", [False, True])
def test_each_row_is_its_own_gradient(name, create_graph):
    call, *inputs = CALLS[name]
    inputs = [t.clone().requires_grad_() for t in inputs]
    y = call(*inputs)
    rows = rows_of(y)
    found = torch.autograd.grad(
        y, inputs, rows, is_grads_batched=True, retain_graph=True, create_graph=create_graph
    )
    single = [
        torch.autograd.grad(y, inputs, row, retain_graph=True, create_graph=create_graph)
        for row in rows
    ]
    for k, g in enumerate(found):
        expected = torch.stack([row[k] for row in single])
        assert g.dtype == inputs[k].dtype
        assert g.shape == expected.shape
        torch.testing.assert_close(g, expected)
    if create_graph and any(g.requires_grad for g in found):
        twice = []
        for gradients in (found, [torch.stack(rows) for rows in zip(*single, strict=True)]):
            total = sum((g**2).sum() for g in gradients if g.requires_grad)
            twice.append(torch.autograd.grad(total, inputs, retain_graph=True, allow_unused=True))
        for one, other in zip(*twice, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                torch.testing.assert_close(one, other)


def test_a_second_derivative_in_rows_too():
    x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    (rows,) = torch.autograd.grad(
        x.exp(), x, torch.eye(3), create_graph=True, is_grads_batched=True
    )
    (twice,) = torch.autograd.grad(rows, x, torch.ones(2, 3, 3), is_grads_batched=True)
    torch.testing.assert_close(twice, x.detach().exp().expand(2, 3))


def test_hooks_see_each_row():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    seen = []
    y.register_hook(lambda g: seen.append(g.tolist()))
    y.register_hook(lambda g: g * 3)
    y.grad_fn.register_hook(lambda inner, outer: (inner[0] + outer[0], None))
    y.retain_grad()
    (g,) = torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)
    assert seen == [[1, 0], [0, 1]]
    assert g.tolist() == [[9, 0], [0, 9]]
    assert y.grad is None


@pytest.mark.parametrize("answer", ["torch.ones(3)", "5", "torch.ones(2, dtype=torch.int64)"])
def test_a_hook_with_a_wrong_answer(answer):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: eval(answer))
    with pytest.raises((RuntimeError, TypeError), match="hook"):
        torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)


def test_rows_that_nothing_needs():
    x, unused = torch.ones(2, requires_grad=True), torch.ones(3, requires_grad=True)
    found = torch.autograd.grad(
        x * 2, (x, unused), torch.zeros(0, 2), is_grads_batched=True, allow_unused=True
    )
    assert [tuple(g.shape) for g in found] == [(0, 2), (0, 3)]
    (_, none) = torch.autograd.grad(
        x * 2, (x, unused), torch.eye(2), is_grads_batched=True, allow_unused=True
    )
    assert none is None
    (_, zeros) = torch.autograd.grad(
        x * 2, (x, unused), torch.eye(2), is_grads_batched=True, materialize_grads=True
    )
    assert zeros.shape == (2, 3)


SHAPES = """
torch.autograd.grad(x * 2, x, torch.ones(3), is_grads_batched=True)
torch.autograd.grad(x * 2, x, torch.ones(3, 1), is_grads_batched=True)
torch.autograd.grad(x * 2, x, torch.ones(3, 2, 2), is_grads_batched=True)
"""


@pytest.mark.parametrize("text", SHAPES.strip().splitlines())
def test_shapes_that_do_not_fit(text):
    def refused(torch):
        scope = {"torch": torch, "x": torch.ones(2, requires_grad=True)}
        try:
            eval(text, scope)
        except RuntimeError as error:
            return str(error).partition(" has a shape")[0]
        return None

    assert refused(torch) == ask(refused)


@pytest.mark.parametrize("rows", ["None", "torch.tensor(1.0)", "[None]"])
def test_a_batch_is_needed(rows):
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="is_grads_batched"):
        torch.autograd.grad(x.sum(), x, eval(rows), is_grads_batched=True)
