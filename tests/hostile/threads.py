"""Calls in which one thread changes what another one computes with: its numbers, its indices, its
memory, its shape and dtype, its device."""

import io
import pickle
import random
import sys
import threading
import time

import rushlight as torch

F = torch.nn.functional
CALLS = []


def call(function):
    CALLS.append((function.__name__, function))
    return function


def together(seconds, *workers):
    """All workers again and again, each in a thread of its own; what they raise is their affair."""
    stop = time.monotonic() + seconds

    def loop(work):
        while time.monotonic() < stop:
            try:
                work()
            except (RuntimeError, IndexError, ValueError, TypeError):
                continue

    threads = [threading.Thread(target=loop, args=(work,)) for work in workers]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)


@call
def threads_replace_data():
    x = torch.ones(300_000)
    y = torch.ones(300_000)
    small, big = torch.ones(1), torch.ones(300_000)

    def replace():
        x.data = small
        x.data = big.clone()

    together(1, replace, lambda: x + y, lambda: x.sum(), lambda: x.sort(), lambda: x.add_(1))


@call
def threads_take_gradients_away():
    w = torch.ones(300, 300, requires_grad=True)

    def take():
        w.grad = None

    together(1, lambda: (w @ w).sum().backward(), take, take)


@call
def threads_change_geometry():
    x = torch.ones(500, 600)

    def turn():
        x.t_()
        x.unsqueeze_(0).squeeze_(0)

    together(1, turn, lambda: x * 2, lambda: x.sum(0), lambda: x.clone(), lambda: x @ x)


@call
def threads_resize_storage():
    x = torch.ones(300_000)

    def resize():
        x.untyped_storage().resize_(0)
        x.untyped_storage().resize_(1_200_000)

    together(1, resize, lambda: x + 1, lambda: x.sum(), lambda: x.cumsum(0))


@call
def threads_change_indices():
    x = torch.ones(10_000)
    n = torch.zeros(100_000, dtype=torch.int64)

    def change():
        n.fill_(2**40)
        n.fill_(0)

    def write():
        x.index_add_(0, n, torch.ones(100_000))

    together(1, change, lambda: x[n], lambda: x.gather(0, n), write, lambda: x.index_select(0, n))


@call
def threads_share_a_graph():
    x = torch.ones(1000, requires_grad=True)
    y = (x * 2).exp()

    def backward():
        y.sum().backward(retain_graph=True)

    together(1, backward, backward, lambda: setattr(x, "grad", None), lambda: repr(x.grad))


@call
def threads_share_a_list():
    items = [torch.ones(1000) for _ in range(10)]

    def change():
        items.clear()
        items.extend(torch.ones(1000) for _ in range(10))

    together(1, change, lambda: torch.cat(items), lambda: torch.stack(items))


def changed(tensor, draw):
    """`tensor` with other data: fewer elements, another dtype, another order, its own again."""
    whole = tensor.detach().clone()
    few = whole.flatten()[:1].clone()
    narrow = whole.to(torch.int8 if whole.dtype == torch.int64 else torch.float16)
    turned = whole.flip(0).transpose(0, -1) if whole.dim() else whole
    wild = torch.full_like(whole, 2**40) if whole.dtype == torch.int64 else whole

    def change():
        other = draw.choice([few, narrow, turned, wild, whole, whole.clone()])
        if draw.random() < 0.8 or tensor.requires_grad:
            tensor.data = other
        else:  # and the one that it was goes
            torch.utils.swap_tensors(tensor, other.clone())

    return change


def classes(*size, below=10):
    return torch.randint(0, below, size)


# Operands, and what is computed with them; sizes for which the interpreter's lock is given up. An
# operand that is not dense is copied first, which is when the others can change.
OPERATIONS = {
    "pointwise": (
        lambda: [torch.rand(200, 300), torch.rand(200, 300), torch.rand(300, 200).t()],
        lambda a, b, c: (torch.addcmul(a, b, c), torch.where(a > b, b, c), a.add_(b)),
    ),
    "matmul": (
        lambda: [torch.rand(120, 100), torch.rand(100, 90), torch.rand(90)],
        lambda a, b, c: (a @ b, torch.addmm(c, a, b), (a @ b) @ c),
    ),
    "conv": (
        lambda: [
            torch.rand(8, 20, 20, 4).permute(0, 3, 1, 2),
            torch.rand(6, 4, 3, 3),
            torch.rand(6),
        ],
        lambda a, b, c: (F.conv2d(a, b, c), F.conv_transpose2d(a, b.transpose(0, 1), stride=2)),
    ),
    "pool": (
        lambda: [torch.rand(40, 20, 8).permute(2, 0, 1)],
        lambda a: (F.max_pool2d(a, 3, return_indices=True), F.avg_pool2d(a, 2), F.max_pool2d(a, 2)),
    ),
    "norm": (
        lambda: [
            torch.rand(60, 50, 8).permute(0, 2, 1),
            torch.rand(8),
            torch.rand(8),
            torch.rand(50),
        ],
        lambda a, m, v, w: (
            F.batch_norm(a, m, v, v, m, training=True),
            F.batch_norm(a, m, v, v, m),
            F.group_norm(a, 2, m, v),
            F.layer_norm(a, (50,), w, w),
        ),
    ),
    "losses": (
        lambda: [torch.rand(10, 900).t(), classes(900), torch.rand(10)],
        lambda a, n, w: (F.cross_entropy(a, n, w), F.nll_loss(a, n, w), F.softmax(a, 1)),
    ),
    "planes": (
        lambda: [torch.rand(4, 10, 300), classes(4, 300), torch.rand(10)],
        lambda a, n, w: (F.cross_entropy(a, n, w, label_smoothing=0.1), F.nll_loss(a, n, w)),
    ),
    "embedding": (
        lambda: [torch.rand(16, 10).t(), classes(60, 50)],
        lambda a, n: (F.embedding(n, a), F.one_hot(n, 10)),
    ),
    "index": (
        lambda: [torch.rand(10, 30), classes(3000), torch.rand(3000, 30)],
        lambda a, n, v: (a[n], a.index_put_((n,), v, True), a.index_select(0, n), a[a > 0.5]),
    ),
    "gather": (
        lambda: [torch.rand(10, 300), classes(10, 300), torch.rand(300, 10).t()],
        lambda a, n, v: (a.gather(0, n), a.scatter_(0, n, v), a.scatter_add_(0, n.int(), a)),
    ),
    "places": (
        lambda: [torch.rand(4000), classes(4000, below=4000), torch.rand(4000)],
        lambda a, n, v: (
            torch.searchsorted(a, v, sorter=n),
            torch.bincount(n, v),
            torch.unique(n.view(400, 10), dim=0),
            torch.multinomial(a, 3000, True),
        ),
    ),
    "sort": (
        lambda: [torch.rand(50, 200), torch.rand(200, 50)],
        lambda a, b: (a.sort(0), b.topk(9, 0), a.median(1), b.cumsum(0), a.cummax(1), a.max(0)),
    ),
    "join": (
        lambda: [torch.rand(50, 200), torch.rand(200, 50).t()],
        lambda a, b: (torch.cat([a, b]), torch.stack([b, a]), a.repeat(2, 2), a.copy_(b)),
    ),
    "linalg": (
        lambda: [torch.rand(40, 40) + 9 * torch.eye(40), torch.rand(30, 40).t()],
        lambda a, b: (
            torch.linalg.solve(a, b),
            torch.linalg.inv(a),
            torch.linalg.qr(b),
            torch.linalg.svd(b, False),
            torch.linalg.eigh(a + a.t()),
            torch.linalg.cholesky(a @ a.t()),
            torch.linalg.det(a),
        ),
    ),
    "large factors": (
        lambda: [(torch.rand(200, 200) + 9 * torch.eye(200)).t()],
        lambda a: (
            torch.linalg.inv(a),
            torch.linalg.lu_factor(a),
            torch.linalg.cholesky_ex(a),
            torch.linalg.ldl_factor(a),
            torch.geqrf(a),
        ),
    ),
    "reducing": (
        lambda: [torch.rand(10, 300), classes(10, 300), torch.rand(300, 10).t(), classes(10)],
        lambda a, n, v, m: (
            a.scatter_reduce(0, n, v.t().contiguous(), "prod"),
            a.scatter_reduce(0, n, a, "mean"),
            a.index_reduce(0, m, v.t(), "amax"),
            a.index_add(0, m, v.t()),
            a.index_copy(0, m, v.t()),
            a.index_fill(0, m, 2.0),
        ),
    ),
    "recurrent": (
        lambda: [torch.rand(5, 90, 8), torch.rand(8, 32).t(), torch.rand(32, 8), torch.rand(32)],
        lambda x, w, v, b: (
            torch.lstm_cell(x[0], (x[1], x[2]), w, v, b, b),
            torch.gru_cell(x[0], x[1], w[:24], v[:24], b[:24]),
            F.scaled_dot_product_attention(x, x.flip(0), x, is_causal=True),
        ),
    ),
    "moments": (
        lambda: [torch.rand(200, 300), torch.rand(300, 200).t()],
        lambda a, b: (
            torch.var_mean(a, 1),
            torch.std_mean(b),
            torch.aminmax(a, dim=0),
            torch.histc(b.detach(), 9),
            F.binary_cross_entropy(a, b),
        ),
    ),
    "distances": (
        lambda: [torch.rand(60, 50), torch.rand(50, 60).t()],
        lambda a, b: (F.pdist(a), F.pdist(b, 1.0), torch.cdist(a, b), torch.cdist(a, b, 1.0)),
    ),
    "alignments": (
        lambda: [torch.rand(40, 8, 30).log_softmax(2), classes(8, 12) + 1],
        lambda a, n: (
            F.ctc_loss(a, n, [40] * 8, [12] * 8),
            F.ctc_loss(a, n.flatten(), [40] * 8, [12] * 8, zero_infinity=True),
        ),
    ),
    "windows": (
        lambda: [torch.rand(20, 20, 3, 4).permute(2, 3, 0, 1), torch.rand(4, 12, 12, 12)],
        lambda a, v: (
            F.adaptive_avg_pool2d(a, 7),
            F.adaptive_max_pool2d(a, 7),
            F.avg_pool2d(a, 3),
            F.max_pool2d(a.contiguous(), 2),
            F.adaptive_avg_pool3d(v, 5),
            F.max_pool3d(v, 3),
            F.interpolate(v, scale_factor=2.0),
        ),
    ),
    "resample": (
        lambda: [torch.rand(20, 20, 2, 4).permute(2, 3, 0, 1), torch.rand(2, 30, 30, 2) * 2 - 1],
        lambda a, g: (
            F.interpolate(a, scale_factor=2.0, mode="bilinear"),
            F.interpolate(a, size=(11, 13), mode="area"),
            F.grid_sample(a, g, align_corners=False),
            F.grid_sample(a, g, "nearest", "reflection", align_corners=True),
        ),
    ),
    "bags": (
        lambda: [torch.rand(16, 10).t(), classes(900), torch.arange(0, 900, 9), torch.rand(900)],
        lambda a, n, o, w: (
            F.embedding_bag(n, a, o, mode="sum", per_sample_weights=w),
            F.embedding_bag(n, a, o, mode="max"),
            F.embedding_bag(n.view(30, 30), a),
        ),
    ),
    "padding": (
        lambda: [
            torch.rand(30, 30, 4, 2).permute(3, 2, 0, 1),
            torch.rand(700, 36, 2).permute(2, 1, 0),
        ],
        lambda a, c: (
            F.pad(a, (1, 2, 3, 4)),
            F.pad(a, (1, 2, 3, 4), "reflect"),
            F.unfold(a, 3),
            F.fold(c, (30, 27), 3),
            a.unfold(2, 5, 2) * 2,
            F.pixel_shuffle(a, 2),
        ),
    ),
    "assignment": (
        lambda: [torch.rand(200, 300), torch.rand(300, 200).t(), classes(200, below=200)],
        lambda a, b, n: (
            a.__setitem__(n, b) or a,
            a.__setitem__((slice(None), slice(0, 300, 2)), b[:, :150]) or a,
            a.__setitem__(a > 0.5, 0.25) or a,
            a.__setitem__((slice(None), n), b[:, :200]) or a,
            a.masked_scatter(b > 0.5, b),
            a.masked_select(b > 0.5),
        ),
    ),
    "reading": (
        lambda: [torch.rand(200, 300), torch.rand(300, 200).t()],
        lambda a, b: (
            a.to(torch.float64),
            read(a.tolist, b.numpy().sum, a.__repr__, b.unique, lambda: a.equal(b)),
            read(lambda: torch.save([a, b], io.BytesIO()), lambda: pickle.dumps(b), a.nonzero),
        ),
    ),
}


def read(*looks):
    """All of them, whatever each may raise."""
    for look in looks:
        try:
            look()
        except (RuntimeError, IndexError, ValueError, TypeError):
            continue
    return ()


def trained(operands, compute):
    """Forward and backward over all results that can be differentiated."""
    leaves = [x.detach().requires_grad_(x.is_floating_point()) for x in operands]
    total = 0
    for result in compute(*leaves):
        for part in result if isinstance(result, tuple) else (result,):
            if part.requires_grad:
                total = total + part.sum()
    total.backward()


def hammer(name):
    make, compute = OPERATIONS[name]
    operands = make()
    draw = random.Random(name)
    changes = [changed(x, draw) for x in operands]

    def change():
        draw.choice(changes)()

    def train():
        trained(operands, compute)

    together(0.5, change, change, lambda: compute(*operands), train)


for _name in OPERATIONS:
    CALLS.append((f"threads_change_operands of {_name}", lambda name=_name: hammer(name)))


@call
def threads_change_what_backward_kept():
    """The operands of a recorded graph change while it runs."""
    for make, compute in OPERATIONS.values():
        leaves = [x.requires_grad_(x.is_floating_point()) for x in make()]
        draw = random.Random(0)
        changes = [changed(x, draw) for x in leaves]
        try:
            results = compute(*leaves)
        except RuntimeError:  # an in-place step on a leaf
            continue

        def backward(results=results):
            for result in results:
                for part in result if isinstance(result, tuple) else (result,):
                    part.sum().backward(retain_graph=True)

        together(0.1, lambda changes=changes, draw=draw: draw.choice(changes)(), backward)


@call
def threads_change_optimizer_state():
    parameters = [torch.nn.Parameter(torch.rand(100, 200).t()) for _ in range(4)]
    optimizers = [
        torch.optim.SGD(parameters, 0.1, momentum=0.9),
        torch.optim.Adam(parameters, 0.1, amsgrad=True),
    ]
    draw = random.Random(0)

    def step():
        for p in parameters:
            p.grad = torch.rand(100, 200).t() if p.shape == (200, 100) else torch.ones_like(p)
        for optimizer in optimizers:
            optimizer.step()

    step()
    state = [t for o in optimizers for s in o.state.values() for t in s.values()]
    changes = [changed(t, draw) for t in [*parameters, *state] if isinstance(t, torch.Tensor)]
    together(1, lambda: draw.choice(changes)(), step)


@call
def threads_end_the_devices():
    """Virtual GPUs come and go while another thread computes on them."""
    kept = []

    def compute():
        x = torch.rand(300, 300, device="cuda")
        kept.append((x @ x).relu_().sum(0))
        del kept[:-5]
        kept[-1].cpu()

    def change():
        torch.cuda.virtual(2)
        time.sleep(0.001)
        torch.cuda.virtual(0)

    try:
        together(1, compute, change, lambda: repr(kept[-1]), lambda: kept[0].cpu() + 1)
    finally:
        torch.cuda.virtual(0)


@call
def threads_drop_memory():
    """New data and results of other sizes for a tensor that kernels are reading."""
    x = torch.rand(400, 500)

    def resize():
        torch.add(torch.ones(3), 1, out=x)
        torch.add(torch.ones(400, 500), 1, out=x)

    def replace():
        x.data = torch.rand(400, 500)
        x.data = torch.rand(4, 5)

    def use():
        torch.exp(x), x.sum(), x @ x.t(), x.t().contiguous(), x.tolist(), x.numpy().sum()

    together(1, resize, replace, use, lambda: x.fill_(1.0))
