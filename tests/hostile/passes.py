"""Backward passes whose operands, saved tensors and gradients are spoiled before them and in their
hooks: other data, other sizes, no memory, another dtype, device or history."""

import random

import rushlight as torch

F = torch.nn.functional


def _graphs():
    """(result, leaves) of operations that keep something for their gradient."""
    x, w = torch.rand(6, 8, requires_grad=True), torch.rand(8, 8, requires_grad=True)
    n, i = torch.randint(0, 6, (6,)), torch.randint(0, 6, (6, 1))
    image, kernel = torch.rand(2, 3, 9, 9, requires_grad=True), torch.rand(4, 3, 3, 3)
    t = torch.empty_strided((6, 8), (1, 6)).fill_(0.5).requires_grad_()
    return {
        "products": lambda: ((x @ w).exp() * t, [x, w, t]),
        "conv": lambda: (F.conv2d(image, kernel.requires_grad_()), [image, kernel]),
        "pool": lambda: (F.max_pool2d(image, 2), [image]),
        "norm": lambda: (F.layer_norm(x, (8,), w[0], w[1]), [x, w]),
        "batch norm": lambda: (F.batch_norm(image, None, None, training=True), [image]),
        "loss": lambda: (F.cross_entropy(x, n), [x, n]),
        "index": lambda: (x[n] + x.gather(0, i), [x, n, i]),
        "scatter": lambda: (x.scatter_add(0, i, x * 1).index_add(0, n, t), [x, n, i, t]),
        "bags": lambda: (F.embedding_bag(n, x, torch.tensor([0, 3]), mode="max"), [x, n]),
        "order": lambda: (x.sort(1)[0] + x.cummax(0)[0] + x.cumprod(1), [x]),
        "reduce": lambda: (x.max(1)[0] + x.prod(1) + x.std(1) + x.logsumexp(1), [x]),
        "views": lambda: (t.t().as_strided((3, 2), (2, 1), 3) * x[1:4, ::4], [x, t]),
        "distances": lambda: (F.pdist(x) * torch.cdist(x, w[:3]).sum(), [x, w]),
        "means": lambda: (F.adaptive_avg_pool2d(image, 2), [image]),
        "codes": lambda: (F.max_pool2d(image, 2, return_indices=True)[0], [image]),
        "alignment": lambda: (F.ctc_loss(t.view(6, 1, 8), n.view(1, 6)[:, :2] + 1, [6], [2]), [t]),
        "linalg": lambda: (torch.linalg.solve(w + 9 * torch.eye(8), w).sum(1), [w]),
        "attention": lambda: (F.scaled_dot_product_attention(image, image, image), [image]),
        "lstm": lambda: (torch.nn.LSTM(8, 4)(x)[0], [x]),
        "resample": lambda: (F.interpolate(image, scale_factor=2.0, mode="bilinear"), [image]),
        "masks": lambda: (x.masked_select(t > 0.3) + torch.where(x > 0.5, x, t).flatten(), [x, t]),
    }


def _kept(node):
    """The tensors that the nodes before one show that they keep, and these nodes."""
    nodes, kept = [node], []
    for each in nodes:
        nodes += [n for n, _ in each.next_functions if n is not None and n not in nodes]
        for name in dir(each):
            if name.startswith("_saved_"):
                value = getattr(each, name)
                many = value if isinstance(value, tuple) else (value,)
                kept += [v for v in many if isinstance(v, torch.Tensor)]
    return nodes, kept


def _spoil(t, draw):
    whole = t.detach().clone()
    filling = 2**40 if t.dtype == torch.int64 else float("nan")
    data = [
        whole.flatten()[:0], whole.flatten()[:1], whole.to(torch.int8), whole.to("meta"),
        whole.double(), whole.flip(0).clone(), torch.full_like(whole, filling),
        torch.zeros(()).expand(t.shape), torch.zeros([1] * 8),
    ]  # fmt: skip
    sizes = (0, 4, t.untyped_storage().nbytes() // 2, 10**5)
    ways = (
        lambda: setattr(t, "data", draw.choice(data)),
        lambda: setattr(t, "data", draw.choice(data)),
        lambda: t.untyped_storage().resize_(draw.choice(sizes)),
        lambda: torch.utils.swap_tensors(t, draw.choice(data)),
        t.detach_,
        lambda: t.requires_grad_(False),
        lambda: setattr(t, "grad", torch.zeros(t.shape)),
        lambda: t.grad.untyped_storage().resize_(0),
        lambda: t.data.resize_(0),
    )
    try:
        draw.choice(ways)()
    except Exception:
        return


def one(name, seed):
    draw = random.Random(f"{name} {seed}")
    result, leaves = _graphs()[name]()
    nodes, kept = _kept(result.grad_fn)
    tensors = [*leaves, *kept, result]

    def act():
        for _ in range(draw.randint(1, 3)):
            _spoil(draw.choice(tensors), draw)

    def answer(grads, *_):
        act()
        for g in grads:
            if g is not None and draw.random() < 0.5:
                _spoil(g, draw)
        nothing, empty = (None,) * len(grads), (torch.ones(0),) * len(grads)
        others = (None, grads, (), 5, nothing, empty)
        return draw.choice(others)

    node = draw.choice(nodes)
    how = draw.choice(("before", "hook", "prehook", "tensor", "twice", "by hand"))
    ones = torch.ones_like(result)
    if how == "before":
        act()
    elif how == "hook":
        node.register_hook(answer)
    elif how == "prehook":
        node.register_prehook(answer)
    elif how == "tensor":
        result.register_hook(lambda g: answer((g,)) and None)
    elif how == "by hand":
        node(*[draw.choice((None, ones, torch.ones(0), ones.double(), 5)) for _ in range(2)])
        act()
    if how == "twice":
        wanted = [t for t in leaves if t.requires_grad]
        grads = torch.autograd.grad(result, wanted, ones, create_graph=True)
        act()
        sum(g.sum() for g in grads).backward()
    else:
        result.backward(ones)
    for t in leaves:
        repr(t.grad)


CALLS = [
    (f"pass of {name} {seed}", lambda name=name, seed=seed: one(name, seed))
    for name in _graphs()
    for seed in range(30)
]
