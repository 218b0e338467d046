"""A row for each family of kernels. Each uses only families whose rows come before it, so that the
first row that fails names the family; the CPU compares.
"""

import rushlight as torch
import rushlight.nn.functional as F
from tests.gpu.rows import many, row, same, same_gradients

CUDA = "kernels/cuda/"


@row("x + 1", f"{CUDA}pointwise/arithmetic.cu, {CUDA}runtime/launch.h")
def _():
    same(lambda x: torch.arange(3, 1000, 7, device=x.device), torch.ones(1))
    for size in (1, 31, 256, 1000, many(1 << 24) + 1):
        same(lambda x: x + 1, torch.arange(float(size)))


@row("pointwise", f"{CUDA}pointwise/kernels.h")
def _():
    x, y = torch.rand(1003) * 4 - 2, torch.rand(1003) + 0.5
    for name in ("exp", "sin", "tanh", "erf", "sigmoid", "sqrt", "floor", "sign", "digamma"):
        same(lambda x, name=name: getattr(torch, name)(x), y if name == "sqrt" else x)
    for name in ("mul", "true_divide", "maximum", "atan2", "pow", "lt", "fmod"):
        same(lambda x, y, name=name: getattr(torch, name)(x, y), y, x)
    for dtype in (torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64):
        same(lambda x: x * 3 - x, (x * 8).to(dtype))
    same(lambda x, y: torch.where(x > 0, F.gelu(x), y), x, y)
    same(lambda x: x.bool() & (x > 1), x)
    same_gradients(lambda x, y: (x.tanh() * y).exp(), x, y)


@row("broadcast", f"{CUDA}pointwise/kernels.h")
def _():
    for shape in ((3, 5), (33, 1027), (130, 64), (2, 3, 257)):
        x = torch.randn(*shape)
        bias, column = torch.randn(shape[-1]), torch.randn(*shape[:-1], 1)
        same(lambda x, b, c: [x + b, x * c, b - c, x.to(torch.bfloat16) + b], x, bias, column)
    same(lambda x: x[:, 1:] + x[:, :-1].t().contiguous().t(), torch.randn(65, 130))


@row("reductions", f"{CUDA}reduce/")
def _():
    x = torch.randn(37, 301)
    for f in (torch.sum, torch.mean, torch.amax, torch.argmin, torch.var, torch.prod):
        same(lambda x, f=f: [f(x, 0), f(x, 1)], x)
    same(lambda x: [x.sum(), x.norm(), x.std(), x.logsumexp(1), x.max(), (x > 0).any(1)], x)
    same(lambda x: list(x.max(1)) + list(torch.var_mean(x, 0)), x)
    same_gradients(lambda x, b: x * b, x, torch.randn(301))  # that of b is a sum
    numbers = torch.arange(many(1 << 24)) % 7
    same(lambda x: [x.sum(), x.float().mean(), x.max(), x.argmax()], numbers)


@row("softmax and losses", f"{CUDA}softmax.cu, {CUDA}cross_entropy.cu")
def _():
    x, classes = torch.randn(19, 1003), torch.randint(0, 1003, (19,))
    same_gradients(lambda x: x.softmax(-1), x)
    same_gradients(lambda x: x.log_softmax(0), x)
    same_gradients(lambda x, c: F.cross_entropy(x, c, label_smoothing=0.1), x, classes)
    same_gradients(F.mse_loss, x, torch.randn(19, 1003))


@row("batch, layer, group norm", f"{CUDA}norm.cu")
def _():
    x, w, b = torch.randn(6, 8, 5, 7), torch.rand(8), torch.randn(8)
    same_gradients(lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True), x, w, b)
    same_gradients(lambda x, w, b: F.group_norm(x, 4, w, b), x, w, b)
    same_gradients(lambda x: F.layer_norm(x, (7,)), x)


@row("pooling, fold, resampling", f"{CUDA}pool.cu, {CUDA}fold.cu, {CUDA}resample.cu")
def _():
    x = torch.randn(2, 3, 13, 17)
    same_gradients(lambda x: F.max_pool2d(x, 3, 2, 1), x)
    same_gradients(lambda x: F.avg_pool2d(x, 2) + F.adaptive_avg_pool2d(x, (6, 8)), x)
    same_gradients(lambda x: F.unfold(x, 3, stride=2), x)
    same_gradients(lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"), x)
    grid = torch.rand(2, 4, 5, 2) * 2 - 1
    same_gradients(lambda x, g: F.grid_sample(x, g, align_corners=False), x, grid)


@row("scan", f"{CUDA}scan.cu, {CUDA}block_scan.h")
def _():
    for shape in ((3, 5), (4, 4099), (many(1 << 22),)):
        x = torch.randint(-3, 4, shape)
        same(lambda x: [x.cumsum(-1), *x.cummax(-1)], x)
    same(lambda x: [x.cumsum(0), x.cumprod(1), x.logcumsumexp(1)], torch.rand(33, 65))


@row("sort", f"{CUDA}sort/sort.cu, {CUDA}sort/radix_sort.cu")
def _():
    for x in (torch.randn(5, 301), torch.randint(-9, 9, (7, 1025)), torch.randn(many(1 << 21))):
        same(lambda x: [*x.sort(dim=-1, stable=True), x.topk(3, -1).values, x.median()], x)
    x = torch.randint(0, 50, (many(1 << 18),))
    same(lambda x: list(torch.unique(x, return_inverse=True, return_counts=True)), x)
    same(lambda x: [torch.bincount(x), torch.searchsorted(torch.unique(x), x)], x)


@row("index", f"{CUDA}index/, {CUDA}sort/runs.h")
def _():
    x, at = torch.randn(50, 6), torch.randint(-50, 50, (400,))
    same(lambda x, at: [x[at], x[at % 50, at % 6], x[x > 0], (x > 0).nonzero()], x, at)
    same(lambda x, at: x.gather(0, (at % 50).reshape(-1, 1).expand(-1, 6)), x, at)
    same(lambda x, at: x.index_put((at,), x[:1].expand(400, 6), accumulate=True), x, at)
    same(lambda x, at: x.scatter_add(0, (at % 50).reshape(-1, 1), x[:1, :1].expand(400, 1)), x, at)
    same_gradients(lambda w, at: F.embedding(at, w), x, at % 50)
    same_gradients(lambda w, at: F.embedding_bag(at.reshape(8, 50), w, mode="mean"), x, at % 50)


@row("an index out of range", f"{CUDA}runtime/devices.cpp, {CUDA}runtime/launch.h")
def _():
    x = torch.arange(12.0, device="cuda").reshape(3, 4)
    for _ in range(3):
        try:
            x[torch.tensor([0, 99], device="cuda")]
            torch.cuda.synchronize()
        except IndexError as error:
            words = str(error).splitlines()[0]
            assert "index 99 is out of bounds" in words, words
        else:
            raise AssertionError("nothing was raised")
        assert x[torch.tensor([2, 1], device="cuda")].sum().item() == 60
    return words


@row("random numbers", f"{CUDA}random/random.cu")
def _():
    n = many(1 << 22)
    draws = []
    for _ in range(2):
        torch.manual_seed(7)
        draws.append([torch.rand(n, device="cuda"), torch.randn(n, device="cuda")])
    for a, b in zip(*draws, strict=True):
        assert torch.equal(a, b), "one seed gives two sequences"
    uniform, normal = draws[0]
    apart = 6 / n**0.5  # six deviations of a mean
    assert abs(uniform.mean().item() - 0.5) < apart and 0 <= uniform.min().item() < 0.01
    assert abs(normal.mean().item()) < apart and abs(normal.std().item() - 1) < apart
    assert not torch.equal(torch.rand(9, device="cuda"), torch.rand(9, device="cuda"))
    order = torch.randperm(n, device="cuda")
    assert torch.equal(order.sort().values, torch.arange(n, device="cuda"))
    kept = (F.dropout(torch.ones(n, device="cuda"), 0.25) > 0).float().mean().item()
    assert abs(kept - 0.75) < apart, kept
