"""What moves, sums and multiplies complex numbers: values, gradients and their gradients as
PyTorch's, whose names of the nodes are left out: those here are of the parts.
"""

import pytest

import rushlight
from tests.conftest import ask
from tests.ops.test_complex import close, followed


def index(t, a):
    return t.tensor([[1, 0, 2], [0, 0, 1]], device=a.device)


def places(t, a):
    return t.tensor([[1, 0, 2], [0, 2, 1]], device=a.device)


def row(t, a):
    return t.tensor([1, 0, 1], device=a.device)


def mask(t, a):
    return t.tensor([[True, False, True], [False, False, True]], device=a.device)


PRODUCTS = {
    "mm": lambda t, a, b, r: t.mm(a, b.t()),
    "@": lambda t, a, b, r: a.mH @ b @ a.T,
    "bmm": lambda t, a, b, r: t.bmm(a.expand(2, 2, 3), b.t().expand(2, 3, 2)),
    "batches": lambda t, a, b, r: t.matmul(a[None, :, None], b[:, None].mT),
    "matrix by vector": lambda t, a, b, r: t.mv(a, b[0]),
    "vector by matrix": lambda t, a, b, r: b[:, 0] @ a,
    "dot": lambda t, a, b, r: a[0].dot(b[1]),
    "vdot": lambda t, a, b, r: t.vdot(a[0], b[1]),
    "vecdot": lambda t, a, b, r: t.linalg.vecdot(a, b),
    "inner": lambda t, a, b, r: t.inner(a, b),
    "outer": lambda t, a, b, r: t.outer(a[0], b[1]),
    "addmm": lambda t, a, b, r: t.addmm(b[0, :2], a, b.t(), beta=2, alpha=0.5),
    "addmv": lambda t, a, b, r: t.addmv(b[:, 1], a, b[0], beta=0.5, alpha=2),
    "baddbmm": lambda t, a, b, r: t.baddbmm(
        b[:, :2], a.expand(2, 2, 3), b.t().expand(2, 3, 2), beta=0.5
    ),
    "addr": lambda t, a, b, r: t.addr(a, b[:, 0], b[1]),
    "einsum": lambda t, a, b, r: t.einsum("ij,kj->ik", a, b),
    "einsum of three": lambda t, a, b, r: t.einsum("ij,kj,ij->k", a, b, a),
    "tensordot": lambda t, a, b, r: t.tensordot(a, b, dims=2),
    "kron": lambda t, a, b, r: t.kron(a, b),
    "linear": lambda t, a, b, r: t.nn.functional.linear(a, b, b[:, 0]),
    "linear of a batch": lambda t, a, b, r: t.nn.functional.linear(a[None], b, b[:, 0]),
    "matrix_power": lambda t, a, b, r: t.linalg.matrix_power(a @ b.t(), 3),
    "multi_dot": lambda t, a, b, r: t.linalg.multi_dot([a, b.t(), a]),
    "matrix_exp": lambda t, a, b, r: t.linalg.matrix_exp(a @ b.t() / 9),
    "solve": lambda t, a, b, r: t.linalg.solve(a @ a.mH + b @ b.mH, b),
    "inv": lambda t, a, b, r: t.linalg.inv(a @ a.mH + a @ b.t()),
    "cov": lambda t, a, b, r: t.cov(a),
    "corrcoef": lambda t, a, b, r: t.corrcoef(a),
}
SUMS = {
    "prod": lambda t, a, b, r: a.prod(),
    "prod of columns": lambda t, a, b, r: a.prod(0) * a.prod(1, keepdim=True),
    "cumsum": lambda t, a, b, r: a.cumsum(1) * b,
    "cumprod": lambda t, a, b, r: a.cumprod(1) * b.cumprod(0),
    "var": lambda t, a, b, r: a.var() * b.var(1, keepdim=True),
    "std": lambda t, a, b, r: a.std(0, correction=0) * r,
    "var_mean": lambda t, a, b, r: t.var_mean(a, 0)[0] * t.var_mean(b, 0)[1],
    "std_mean": lambda t, a, b, r: t.std_mean(a, 0)[0] * t.std_mean(b, 0)[1],
    "norm": lambda t, a, b, r: a.norm() * b.norm(dim=1),
    "norm of 3": lambda t, a, b, r: a.norm(3, dim=0),
    "vector_norm": lambda t, a, b, r: t.linalg.vector_norm(a, 1.5, dim=1),
    "largest": lambda t, a, b, r: t.linalg.vector_norm(a, float("inf")),
    "linalg.norm": lambda t, a, b, r: t.linalg.norm(a) + t.linalg.norm(b, "fro"),
    "matrix_norm": lambda t, a, b, r: t.linalg.matrix_norm(a, 1) + t.linalg.matrix_norm(b),
    "logsumexp": lambda t, a, b, r: t.logsumexp(a, 1) * t.logsumexp(b, (0, 1)),
    "trapezoid": lambda t, a, b, r: t.trapezoid(a, dx=0.5) * t.trapezoid(b, r),
    "trace": lambda t, a, b, r: a.trace() * b.trace(),
    "dist": lambda t, a, b, r: t.dist(a, b),
}
MOVES = {
    "cat": lambda t, a, b, r: t.cat([a, b * a, a], 1),
    "cat with real numbers": lambda t, a, b, r: t.cat([a, r[None]]) * 2,
    "stack": lambda t, a, b, r: t.stack([a, b], 1),
    "hstack": lambda t, a, b, r: t.hstack([a, b]),
    "flip": lambda t, a, b, r: a.flip(0, 1) * b,
    "roll": lambda t, a, b, r: a.roll(1, 1) * b,
    "rot90": lambda t, a, b, r: t.rot90(a) @ b,
    "index": lambda t, a, b, r: a[[1, 0, 1], [0, 2, 2]] * b[0],
    "a mask": lambda t, a, b, r: a[mask(t, a)] * b[0],
    "index_select": lambda t, a, b, r: a.index_select(0, row(t, a)) * a[1],
    "gather": lambda t, a, b, r: a.gather(1, index(t, a)) * b,
    "scatter": lambda t, a, b, r: a.scatter(1, places(t, a), b),
    "scatter of a number": lambda t, a, b, r: a.scatter(1, index(t, a)[:, :1], 2j) * b,
    "scatter of a real number": lambda t, a, b, r: a.scatter(1, index(t, a)[:, :1], 2.5) * b,
    "scatter_add": lambda t, a, b, r: a.scatter_add(1, index(t, a), b * b),
    "in place": lambda t, a, b, r: (a * b).scatter_add_(1, index(t, a), b) * a,
    "masked_select": lambda t, a, b, r: a.masked_select(mask(t, a)) * b[0],
    "masked_scatter": lambda t, a, b, r: a.masked_scatter(mask(t, a), b) * b,
    "take": lambda t, a, b, r: a.take(row(t, a)) * b[0],
    "take_along_dim": lambda t, a, b, r: a.take_along_dim(index(t, a), 1) * b,
    "put": lambda t, a, b, r: a.put(row(t, a)[:2], b[0, :2]) * b,
    "index_add": lambda t, a, b, r: a.index_add(1, row(t, a), b, alpha=2),
    "index_copy": lambda t, a, b, r: a.index_copy(1, row(t, a)[:2], b[:, :2]) * b,
    "index_fill": lambda t, a, b, r: a.index_fill(1, row(t, a)[:1], 2 - 1j) * b,
    "index_put": lambda t, a, b, r: (a * 1).index_put_((row(t, a)[:2],), b[0]) * b,
    "tril": lambda t, a, b, r: a.tril() * b.triu(-1),
    "diag": lambda t, a, b, r: a.diag() * b[:, 0] @ a,
    "diag_embed": lambda t, a, b, r: t.diag_embed(a) @ b.t(),
    "diagonal": lambda t, a, b, r: a.diagonal(1) * b.diagonal(),
    "diff": lambda t, a, b, r: a.diff() * b.diff(),
    "block_diag": lambda t, a, b, r: t.block_diag(a, b, r),
    "cumulative_trapezoid": lambda t, a, b, r: t.cumulative_trapezoid(a, dx=0.5),
    "combinations": lambda t, a, b, r: t.combinations(a[0]) * b[0, 0],
    "conv1d": lambda t, a, b, r: t.nn.functional.conv1d(a[None], b[None, :, :2], b[:1, 0]),
    "conv1d, same": lambda t, a, b, r: t.nn.functional.conv1d(a[None], b[None], padding="same"),
    "conv2d": lambda t, a, b, r: t.nn.functional.conv2d(a[None], b[None, None, :1, :2]),
    "conv_transpose1d": lambda t, a, b, r: t.nn.functional.conv_transpose1d(a, b[:, None]),
    "index_put, added": lambda t, a, b, r: a.index_put((row(t, a) % 2,), b[0], accumulate=True),
    "l1_loss": lambda t, a, b, r: t.nn.functional.l1_loss(a, b),
    "pad": lambda t, a, b, r: t.nn.functional.pad(a, (1, 2), value=1.5) * 2,
    "repeat": lambda t, a, b, r: a.repeat(1, 2) * b.repeat(1, 2),
    "repeat_interleave": lambda t, a, b, r: a.repeat_interleave(2, 1),
    "tile": lambda t, a, b, r: a.tile(2) * 2,
    "meshgrid": lambda t, a, b, r: t.meshgrid(a[0], b[1], indexing="ij")[0] * a[0],
    "atleast_3d": lambda t, a, b, r: t.atleast_3d(a) * b[0, 0],
    "split": lambda t, a, b, r: a.split(2, 1)[1] * b.chunk(3, 1)[0],
    "unfold": lambda t, a, b, r: a.unfold(1, 2, 1) * 2,
    "assigned": lambda t, a, b, r: assigned(t, a, b),
    "assigned by mask": lambda t, a, b, r: assigned_by_mask(t, a, b),
    "real part of a real result": lambda t, a, b, r: (a * a.conj()).real,
}


def assigned(t, a, b):
    c = a * 2
    c[0] = b[1]
    c[1, ::2] = 2j
    return c * b


def assigned_by_mask(t, a, b):
    c = a * 2
    c[mask(t, a)] = 1 - 1j
    return c * b


CALLS = PRODUCTS | SUMS | MOVES


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(name, dtype, device):
    ours = followed(rushlight, CALLS[name], dtype, device)
    theirs = ask(lambda torch: followed(torch, CALLS[name], dtype))
    tolerance = 1e-7 if dtype == "complex128" else 2e-2
    close(ours[:2] + ours[3:], theirs[:2] + theirs[3:], tolerance)


@pytest.mark.parametrize("name", ["mm", "bmm", "dot", "matrix by vector", "addmm", "baddbmm"])
def test_products_have_torchs_nodes(name, device):
    ours = followed(rushlight, CALLS[name], "complex64", device)
    assert ours[2] == ask(lambda torch: followed(torch, CALLS[name], "complex64"))[2]


def test_strided_empty_and_without_dimensions(device):
    def run(torch, device="cpu"):
        steps = torch.arange(24, dtype=torch.float64, device=device)
        z = torch.complex(steps, steps.flip(0)).reshape(4, 6)
        none, index = z[:0], torch.tensor([1, 0], device=device)
        made = [
            z.t()[::2] @ z[:, ::3].conj(), z[:, 1].dot(z[:, 4]), none.t() @ none, none @ z.t(),
            none.prod(), none.cumprod(1), none.sum(0), none.exp(), z[0, 0].exp(),
            z[0, 0].cumprod(0), z[0, 0].prod(), z.t()[1::2].cumsum(0), z[::2, 1].gather(0, index),
            torch.nn.functional.pad(none, (1, 0)), none.masked_select(none.real > 0), none.tril(),
            torch.matmul(z[:, :0], z[:0, :]),
        ]  # fmt: skip
        return [(str(m.dtype), list(m.shape), m.tolist()) for m in made]

    close(run(rushlight, device), ask(run), 1e-10)


def test_out(device):
    def run(torch, device="cpu"):
        a = torch.tensor([[1 + 2j, 3], [0.5j, 1]], device=device)
        index = torch.tensor([1, 0], device=device)
        out = torch.empty(0, dtype=a.dtype, device=device)
        made = [torch.mm(a, a, out=out).tolist(), torch.index_select(a, 0, index, out=out).tolist()]
        made += [
            torch.cumsum(a, 0, out=out).tolist(),
            torch.prod(a, 0, out=out[0].clone()).tolist(),
        ]
        return made, out.tolist()

    close(run(rushlight, device), ask(run), 1e-6)


REFUSED = {
    "two dtypes": lambda t, z, x: t.mm(z, x),
    "two widths": lambda t, z, x: t.mm(z, z.to(t.complex128)),
    "shapes": lambda t, z, x: t.mm(z, z[:1]),
    "scatter of real numbers": lambda t, z, x: z.scatter(0, t.zeros(2, 2, dtype=t.int64), x),
    "index_add of real numbers": lambda t, z, x: z.index_add(0, t.tensor([0, 1]), x),
    "gather beyond": lambda t, z, x: z.gather(0, t.full((2, 2), 9)),
    "index_select beyond": lambda t, z, x: z.index_select(0, t.tensor([7])),
    "a real target": lambda t, z, x: x.addmm_(z, z),
    "a real out": lambda t, z, x: t.mm(z, z, out=x),
    "a singular matrix": lambda t, z, x: t.linalg.inv(z * 0),
    "norm in a real dtype": lambda t, z, x: t.linalg.vector_norm(z, dtype=t.float32),
    "quantile": lambda t, z, x: z.quantile(0.5),
    "clamp": lambda t, z, x: z.clamp(0, 1),
    "relu": lambda t, z, x: t.nn.functional.relu(z),
    "max": lambda t, z, x: z.max(),
    "softmax of integers": lambda t, z, x: z.sort(),
    "a loss that is complex": lambda t, z, x: z.requires_grad_().sum().backward(),
    "bincount": lambda t, z, x: t.bincount(z[0]),
    "an index": lambda t, z, x: x[z],
    "embedding": lambda t, z, x: t.nn.functional.embedding(z, x),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_with_torchs_type(name):
    def run(torch):
        z = torch.tensor([[1 + 2j, 3], [0.5j, 1]])
        try:
            return repr(REFUSED[name](torch, z, torch.ones(2, 2)))
        except Exception as error:
            return type(error).__name__

    assert run(rushlight) == ask(run)


def test_gradcheck(device):
    class Wrong(rushlight.autograd.Function):
        @staticmethod
        def forward(ctx, z):
            ctx.save_for_backward(z)
            return z * z

        @staticmethod
        def backward(ctx, g):
            return g * 2 * ctx.saved_tensors[0]  # without the conjugate

    z = rushlight.tensor([1 + 2j, 0.5 - 1j], dtype=rushlight.complex128, device=device)
    x = rushlight.tensor([0.5, 2.0], dtype=rushlight.float64, device=device)
    z.requires_grad_(), x.requires_grad_()
    check, check_twice = rushlight.autograd.gradcheck, rushlight.autograd.gradgradcheck
    assert check(lambda z, x: (z * x).exp(), (z, x)) and check(lambda x: x * 1j, x)
    assert check_twice(lambda z, x: (z * x).exp(), (z, x)) and check(abs, z, fast_mode=True)
    assert not check(Wrong.apply, z, raise_exception=False)


def trained(torch, name, dtype="complex64", device="cpu", **settings):
    z = torch.tensor([[1 + 2j, -0.5j], [3, 2 - 1j]], dtype=getattr(torch, dtype), device=device)
    x = torch.nn.Parameter(z)
    y = torch.nn.Parameter(torch.tensor([0.5, -1.0], device=device))
    optimizer = getattr(torch.optim, name)([x, y], **settings)
    for _ in range(4):
        optimizer.zero_grad()
        ((x @ x.mH).abs().sum() + (x * y).real.square().sum()).backward()
        optimizer.step()
    state = {k: v.tolist() for k, v in optimizer.state[x].items() if isinstance(v, torch.Tensor)}
    return x.tolist(), y.tolist(), sorted(state.items())


OPTIMIZERS = {
    "SGD": {"lr": 0.01},
    "SGD, momentum": {"lr": 0.01, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
    "Adam": {"lr": 0.1},
    "Adam, amsgrad": {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1},
    "AdamW": {"lr": 0.1},
    "Adagrad": {"lr": 0.1},
    "Adadelta": {},
    "Adamax": {"lr": 0.1},
    "RMSprop": {"lr": 0.1, "momentum": 0.5, "centered": True},
    "NAdam": {"lr": 0.1},
    "RAdam": {"lr": 0.1},
    "Rprop": {"lr": 0.1},
    "ASGD": {"lr": 0.1},
}


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name, device):
    def run(torch, device="cpu"):
        return trained(torch, name.split(",")[0], device=device, **OPTIMIZERS[name])

    close(run(rushlight, device), ask(run), 1e-4)


def test_layers(device):
    def run(torch, device="cpu"):
        torch.manual_seed(5)
        linear = torch.nn.Linear(3, 2, dtype=torch.complex64)
        conv = torch.nn.Conv2d(1, 2, 2, dtype=torch.complex64)
        drawn = [p.tolist() for p in (*linear.parameters(), *conv.parameters())]
        linear, conv = linear.to(device), conv.to(device)
        x = torch.tensor([[1 + 2j, 3, -1j], [0.5, 1j, 2]], device=device)
        out = linear(x), conv(x[None, None])
        (out[0].abs().sum() + out[1].abs().sum()).backward()
        torch.nn.utils.clip_grad_norm_(linear.parameters(), 0.5)
        grads = [p.grad.tolist() for p in (*linear.parameters(), *conv.parameters())]
        return drawn, [o.tolist() for o in out], grads

    close(run(rushlight, device), ask(run), 1e-4)
