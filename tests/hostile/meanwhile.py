"""Calls during which another thread, or a handler of signals, gives the operands other data, takes
their memory away or changes their shape: at each moment in which an operation gives up the lock,
whatever the scheduler does. Nothing may be read or written but what belongs to the call."""

import random

import rushlight as torch
import rushlight.vision.ops as boxes
from rushlight import _C

F, nn, linalg, fft = torch.nn.functional, torch.nn, torch.linalg, torch.fft
CHANGES = ("few", "none", "narrow", "many", "taken", "turned")


def changed(t, change):
    flat = t.detach().flatten()
    if change == "taken":
        t.untyped_storage().resize_(0)
    elif change == "turned" and t.requires_grad:
        t.data = t.detach().t() if t.dim() == 2 else t.detach()[None]
    elif change == "turned":
        t.t_() if t.dim() == 2 else t.unsqueeze_(0)
    else:
        inexact = t.is_floating_point() or t.is_complex()
        t.data = {
            "few": lambda: flat[:1].clone(),
            "none": lambda: flat[:0].clone(),
            "narrow": lambda: t.detach().to(torch.float16 if inexact else torch.int8),
            "many": lambda: torch.cat([t.detach()] * 2) if t.dim() else flat.repeat(9),
        }[change]()


def tensors_of(function):
    """Those of a module or an optimizer, which are operands too."""
    if isinstance(function, nn.Module):
        return [*function.parameters(), *function.buffers()]
    if isinstance(getattr(function, "__self__", None), torch.optim.Optimizer):
        held = [p for group in function.__self__.param_groups for p in group["params"]]
        return [*held, *(p.grad for p in held)]
    return []


def called(function, operands, at, change, draw):
    """Calls it, then its gradient; at the moment of number `at` what it computes with changes. How
    many moments there were. `operands`: arguments of the call's own, of which tensors change."""
    changing = [t for t in operands if isinstance(t, torch.Tensor)] + tensors_of(function)
    count = 0
    if change == "taken":  # memory that was resized is let go when it is resized again
        for t in changing:
            memory = t.untyped_storage()
            memory.resize_(memory.nbytes() + 64)

    def meanwhile():
        nonlocal count
        count += 1
        if count - 1 != at:
            return
        for t in changing:
            try:
                changed(t, change)
            except (RuntimeError, TypeError, ValueError, IndexError):
                continue

    _C._set_meanwhile(meanwhile)
    try:
        outs = function(*operands)
        outs = list(outs) if isinstance(outs, (tuple, list)) else [outs]
        outs = [o for o in outs if isinstance(o, torch.Tensor) and o.requires_grad]
        gradients = [torch.ones_like(o) for o in outs]
        if draw.random() < 0.5:  # as sum() gives them
            gradients = [torch.ones((), dtype=o.dtype).expand(o.shape) for o in outs]
        changing += gradients
        if outs and draw.random() < 0.7:
            torch.autograd.backward(outs, gradients)
        elif outs:  # the gradient of the gradient too
            leaves = [t for t in changing if t.requires_grad and t.is_leaf]
            found = torch.autograd.grad(
                outs, leaves, gradients, create_graph=True, allow_unused=True
            )
            changing += [g for g in found if g is not None]
            sum(g.abs().sum() for g in found if g is not None).backward()
    except Exception as error:  # whatever it is, but in order
        str(error)
    finally:
        _C._set_meanwhile(None)
    return count


def leaf(*sizes):
    return torch.rand(*sizes, requires_grad=True)


def transposed(*sizes):
    return torch.rand(*reversed(sizes)).permute(*reversed(range(len(sizes)))).requires_grad_()


def positions(most, *sizes):
    return torch.randint(0, most, sizes)


def stepping(make):
    """A step of an optimizer for two parameters."""

    def case():
        weights = [leaf(40, 9), leaf(9)]
        optimizer = make(weights)
        for w in weights:
            w.grad = torch.rand(w.shape)
        optimizer.step()
        return (optimizer.step,)

    return case


def assigned(x, i, v):
    x[i] = v


CASES = {
    "adaptive averages": lambda: (F.adaptive_avg_pool2d, leaf(2, 3, 20, 20), (7, 9)),
    "adaptive maxima": lambda: (F.adaptive_max_pool2d, leaf(2, 3, 20, 20), (7, 9)),
    "maxima": lambda: (F.max_pool2d, transposed(2, 3, 20, 20), 2),
    "averages": lambda: (F.avg_pool3d, leaf(2, 3, 8, 8, 8), 2),
    "resampling": lambda: (lambda x: F.interpolate(x, (9, 31)), leaf(2, 3, 20, 20)),
    "unfolding": lambda: (F.unfold, leaf(2, 3, 12, 12), 3),
    "folding": lambda: (lambda x: F.fold(x, 8, 3), transposed(2, 27, 36)),
    "pairs": lambda: (F.pdist, leaf(40, 6), 1.0),
    "distances": lambda: (lambda x, y: torch.cdist(x, y, 1.5), leaf(30, 6), transposed(40, 6)),
    "moments": lambda: (torch.var_mean, leaf(50, 20, 20), (0, 2)),
    "extremes": lambda: (lambda x: torch.aminmax(x, dim=1), leaf(50, 20, 20)),
    "likelihoods": lambda: (F.binary_cross_entropy, leaf(30, 100), torch.rand(30, 100)),
    "alignment": lambda: (
        lambda x, n: F.ctc_loss(x.log_softmax(2), n, [20] * 3, [4] * 3),
        leaf(20, 3, 50),
        torch.randint(1, 50, (3, 4)),
    ),
    "overlaps": lambda: (boxes.nms, torch.rand(500, 4).cumsum(1), torch.rand(500), 0.99),
    "smoothed losses": lambda: (
        lambda x, n, w: F.cross_entropy(x, n, w, label_smoothing=0.1),
        transposed(300, 200),
        positions(200, 300),
        torch.rand(200),
    ),
    "embedding": lambda: (F.embedding, positions(90, 3000), leaf(90, 64)),
    "bags": lambda: (F.embedding_bag, positions(90, 30, 100), leaf(90, 64)),
    "reading": lambda: (lambda x, i, j: x[i, :, j], transposed(9, 8, 7), *[positions(7, 50)] * 2),
    "masks": lambda: (lambda x, m: x[m], leaf(90, 80), torch.rand(90, 80) > 0.5),
    "writing": lambda: (assigned, torch.rand(90, 80), positions(80, 500), torch.rand(500, 80)),
    "filling": lambda: (assigned, torch.rand(90, 80), torch.rand(90, 80) > 0.5, torch.rand(())),
    "adding": lambda: (
        lambda x, i, v: x.index_put((i,), v, accumulate=True),
        leaf(90, 80),
        positions(90, 500),
        leaf(500, 80),
    ),
    "gather": lambda: (torch.gather, leaf(90, 80), 1, positions(80, 90, 40)),
    "scatter": lambda: (
        torch.scatter_add, leaf(90, 80), 1, positions(80, 90, 40), transposed(90, 40)
    ),
    "selection": lambda: (torch.index_select, transposed(90, 80), 0, positions(90, 70)),
    "taking": lambda: (torch.take_along_dim, leaf(90, 80), positions(90, 9, 80), 0),
    "sorting": lambda: (torch.sort, transposed(90, 80)),
    "largest": lambda: (torch.topk, leaf(90, 80), 7),
    "unique": lambda: (torch.unique, torch.rand(900)),
    "searching": lambda: (torch.searchsorted, torch.rand(9, 80).sort()[0], torch.rand(9, 70)),
    "counting": lambda: (torch.bincount, positions(90, 3000), torch.rand(3000)),
    "repeats": lambda: (torch.repeat_interleave, leaf(80, 9), positions(5, 80), 0),
    "sums of prefixes": lambda: (torch.cumsum, transposed(90, 80), 0),
    "products": lambda: (torch.matmul, transposed(50, 40), leaf(40, 30)),
    "batches of products": lambda: (torch.matmul, leaf(5, 50, 40), transposed(5, 40, 30)),
    "added products": lambda: (torch.addmm, leaf(50, 30), leaf(50, 40), transposed(40, 30)),
    "linear": lambda: (F.linear, transposed(50, 40), leaf(30, 40), leaf(30)),
    "attention": lambda: (
        F.scaled_dot_product_attention,
        *(transposed(2, 4, 16, 8) for _ in range(3)),
        torch.rand(16, 16),
    ),
    "convolution": lambda: (nn.Conv2d(3, 8, 3, padding=1), leaf(2, 3, 20, 20)),
    "its transpose": lambda: (nn.ConvTranspose2d(3, 8, 3, stride=2), transposed(2, 3, 9, 9)),
    "depthwise convolution": lambda: (nn.Conv2d(8, 8, 5, groups=8), leaf(2, 8, 20, 20)),
    "volumes": lambda: (nn.Conv3d(2, 4, 3), leaf(1, 2, 9, 9, 9)),
    "batch norm": lambda: (nn.BatchNorm2d(8), transposed(4, 8, 9, 9)),
    "layer norm": lambda: (nn.LayerNorm(80), transposed(90, 80)),
    "group norm": lambda: (nn.GroupNorm(2, 8), leaf(4, 8, 9, 9)),
    "lstm": lambda: (nn.LSTM(6, 8, 2), leaf(9, 4, 6)),
    "gru": lambda: (nn.GRU(6, 8, bidirectional=True), transposed(9, 4, 6)),
    "transformer": lambda: (nn.TransformerEncoderLayer(8, 2, 16), leaf(9, 4, 8)),
    "softmax": lambda: (F.log_softmax, transposed(90, 80), 1),
    "formulas": lambda: (
        lambda x, y: F.gelu(x * y.exp() + 2) / y, leaf(90, 80), transposed(90, 80)
    ),
    "choices": lambda: (torch.where, torch.rand(90, 80) > 0.5, leaf(90, 80), transposed(90, 80)),
    "joining": lambda: (lambda x, y: torch.cat([x, y, x]), leaf(90, 80), transposed(9, 80)),
    "padding": lambda: (lambda x: F.pad(x, (2, 3, 1, 1), "reflect"), leaf(2, 3, 20, 20)),
    "grids": lambda: (
        lambda x, g: F.grid_sample(x, g, align_corners=False), leaf(2, 3, 9, 9), leaf(2, 5, 6, 2)
    ),
    "spectra": lambda: (lambda x: fft.rfft2(x).abs(), transposed(9, 30, 40)),
    "solutions": lambda: (linalg.solve, leaf(5, 9, 9), transposed(5, 9, 4)),
    "factors": lambda: (linalg.qr, transposed(5, 9, 4)),
    "eigenvalues": lambda: (lambda x: linalg.eigh(x @ x.mT), leaf(5, 9, 9)),
    "inverses": lambda: (linalg.inv, transposed(5, 9, 9)),
    "copying": lambda: (lambda x, y: x.copy_(y), torch.rand(90, 80), transposed(90, 80)),
    "results elsewhere": lambda: (
        lambda x, y, z: torch.add(x, y, out=z),
        torch.rand(90, 80), torch.rand(80), torch.rand(90, 80),
    ),
    "adam": stepping(torch.optim.Adam),
    "momentum": stepping(lambda w: torch.optim.SGD(w, 0.1, momentum=0.9)),
    "norms of gradients": lambda: (
        lambda x, y: nn.utils.clip_grad_norm_([x, y], 0.1), *map(graded, (leaf(90, 8), leaf(9)))
    ),
    "histogram": lambda: (lambda x: torch.histc(x, 20), transposed(90, 80)),
    "draws": lambda: (lambda w: torch.multinomial(w, 5), torch.rand(90, 80)),
}  # fmt: skip


def graded(t):
    t.grad = torch.rand(t.shape)
    return t


def every_moment(name, change):
    """Up to 24 of them, each with operands of its own."""
    draw = random.Random(name)
    count = called(*parts(CASES[name]()), -1, None, draw)
    moments = range(count) if count <= 24 else sorted(draw.sample(range(count), 24))
    for at in moments:
        for _ in range(2):
            called(*parts(CASES[name]()), at, change, draw)


def parts(case):
    function, *operands = case
    return function, operands


CALLS = [
    (
        f"meanwhile the operands of {name} change: {change}",
        lambda n=name, c=change: every_moment(n, c),
    )
    for name in CASES
    for change in CHANGES
]
