"""The operations of the sweep: one short row each.

A row is a statement on `x`, whose shape comes from its kind (operands.py), and on operands that the
row adds: `y="(R, C)"` is a tensor of that shape, `m="nn.Linear(E, E)"` a module, made once.
"""

from dataclasses import dataclass, field

FLOATS = ("float32", "float64", "bfloat16")
REALS = ("float32", "float64")
WHOLE = ("int64", "int32")
NUMBERS = (*FLOATS, *WHOLE)
ALL = (*NUMBERS, "bool")


@dataclass(frozen=True)
class Op:
    name: str
    statement: str
    dtypes: tuple[str, ...] = FLOATS
    kind: str = "grid"
    backward: bool = True
    operands: dict[str, str] = field(default_factory=dict)


def row(name, statement, dtypes=FLOATS, kind="grid", backward=True, **operands):
    return Op(name, statement, dtypes, kind, backward, operands)


def functions(names, dtypes=FLOATS, prefix="t.", **options):
    return [row(name, f"{prefix}{name}(x)", dtypes, **options) for name in names.split()]


def two(names, dtypes=NUMBERS, **options):
    return [row(name, f"t.{name}(x, y)", dtypes, y="(R, C)", **options) for name in names.split()]


def layer(name, module, kind, statement="m(x)", dtypes=REALS, **operands):
    return row(name, statement, dtypes, kind, m=f"nn.{module}", **operands)


POINTWISE = [
    *functions("exp exp2 expm1 log log2 log10 log1p sqrt rsqrt sin cos tan asin acos atan sinh"),
    *functions("cosh tanh sigmoid erf erfc erfinv lgamma digamma logit reciprocal square"),
    *functions("abs neg sign", NUMBERS),
    *functions("floor ceil round trunc frac"),
    *functions("isnan isfinite logical_not", ALL, backward=False),
    *functions("relu leaky_relu elu gelu silu softplus mish hardswish hardtanh relu6 logsigmoid "
               "selu hardsigmoid softsign", prefix="F."),
    *two("maximum minimum fmod remainder"),
    *two("atan2 hypot logaddexp copysign", FLOATS),
    *two("eq lt", ALL, backward=False),
    *two("logical_and bitwise_xor", (*WHOLE, "bool"), backward=False),
    row("add", "x + y", NUMBERS, y="(R, C)"),
    row("sub", "x - y", NUMBERS, y="(R, C)"),
    row("mul", "x * y", NUMBERS, y="(R, C)"),
    row("div", "x / y", NUMBERS, y="(R, C)"),
    row("floor_divide", "x // y", NUMBERS, y="(R, C)", backward=False),
    row("pow", "x ** y", FLOATS, y="(R, C)"),
    row("add number", "x + 2", ALL),
    row("mul number", "x * 2", NUMBERS),
    row("number sub", "1 - x", NUMBERS),
    row("div number", "x / 3", NUMBERS),
    row("square by **", "x ** 2", NUMBERS),
    row("pow 1.7", "x ** 1.7"),
    row("gt number", "x > 1", ALL, backward=False),
    row("add row", "x + y", NUMBERS, y="(C,)"),
    row("mul column", "x * y", NUMBERS, y="(R, 1)"),
    row("add_", "x.add_(0)", NUMBERS, backward=False),
    row("mul_", "x.mul_(y)", NUMBERS, y="t.ones_like(x)", backward=False),
    row("zero_", "y.zero_()", ALL, y="(R, C)", backward=False),
    row("copy_", "y.copy_(x)", ALL, y="(R, C)", backward=False),
    row("clamp", "x.clamp(0, 1)", NUMBERS),
    row("clamp min", "x.clamp(min=0)", NUMBERS),
    row("where", "t.where(c, x, y)", ALL, y="(R, C)", c="rand(R, C) > 0.5"),
    row("masked_fill", "x.masked_fill(c, 0)", ALL, c="rand(R, C) > 0.5"),
    row("lerp", "t.lerp(x, y, 0.3)", y="(R, C)"),
    row("addcmul", "t.addcmul(x, y, z)", NUMBERS, y="(R, C)", z="(R, C)"),
    row("to float32", "x.to(t.float32)", ALL),
    row("to float64", "x.to(t.float64)", ALL),
    row("to bfloat16", "x.to(t.bfloat16)", ALL),
    row("to int64", "x.to(t.int64)", ALL, backward=False),
    row("to bool", "x.to(t.bool)", ALL, backward=False),
    row("dropout", "F.dropout(x, 0.5)"),
]  # fmt: skip

REDUCED = [
    *functions("sum mean prod std var norm", FLOATS),
    *functions("amax amin", NUMBERS),
    *functions("max argmax", ALL, backward=False),
    *functions("all any count_nonzero", ALL, backward=False),
    row("sum of numbers", "x.sum()", (*WHOLE, "bool")),
    row("sum over rows", "x.sum(0)", ALL),
    row("sum over columns", "x.sum(1)", ALL),
    row("mean over columns", "x.mean(1)"),
    row("mean over rows", "x.mean(0)"),
    row("var over columns", "x.var(1)"),
    row("var over rows", "x.var(0)"),
    row("max over columns", "x.max(1)", ALL),
    row("max over rows", "x.max(0)", NUMBERS),
    row("amax over columns", "x.amax(1)", NUMBERS),
    row("argmax over columns", "x.argmax(1)", NUMBERS, backward=False),
    row("any over columns", "x.any(1)", ALL, backward=False),
    row("norm over columns", "x.norm(dim=1)"),
    row("logsumexp", "x.logsumexp(1)"),
    row("softmax", "x.softmax(1)"),
    row("softmax over rows", "x.softmax(0)"),
    row("log_softmax", "x.log_softmax(1)"),
    row("normalize", "F.normalize(x, dim=1)"),
    row("cumsum", "x.cumsum(1)", NUMBERS),
    row("cumsum over rows", "x.cumsum(0)", NUMBERS),
    row("cumprod", "x.cumprod(1)"),
    row("sort", "x.sort(1)", NUMBERS),
    row("sort of a vector", "x.sort()", NUMBERS, "vector"),
    row("argsort", "x.argsort(1)", NUMBERS, backward=False),
    row("topk", "x.topk(3, 1)", NUMBERS),
    row("topk of a vector", "x.topk(5)", NUMBERS, "vector"),
    row("median", "x.median()", NUMBERS),
    row("kthvalue", "x.kthvalue(2, 1)", NUMBERS),
    row("unique", "x.unique()", (*REALS, *WHOLE), "vector", backward=False),
    row("bincount", "x.bincount()", WHOLE, "vector", backward=False),
    row("equal", "t.equal(x, y)", ALL, y="x.clone()", backward=False),
    row("allclose", "t.allclose(x, y)", FLOATS, y="x.clone()", backward=False),
]

LOSSES = [
    row("mse_loss", "F.mse_loss(x, y)", y="(R, C)"),
    row("l1_loss", "F.l1_loss(x, y)", y="(R, C)"),
    row("smooth_l1_loss", "F.smooth_l1_loss(x, y)", y="(R, C)"),
    row("binary_cross_entropy", "F.binary_cross_entropy(x, y)", y="(R, C)"),
    row("bce_with_logits", "F.binary_cross_entropy_with_logits(x, y)", y="(R, C)"),
    row("kl_div", "F.kl_div(x, y)", y="(R, C)"),
    row("cross_entropy", "F.cross_entropy(x, i)", i="index(C, R)"),
    row("nll_loss", "F.nll_loss(x, i)", i="index(C, R)"),
    row("cosine_similarity", "F.cosine_similarity(x, y)", y="(R, C)"),
]

SHAPES = [
    row("view", "x.reshape(-1)", ALL),
    row("transpose", "x.transpose(0, 1)", ALL),
    row("unsqueeze", "x.unsqueeze(0)", ALL),
    row("x[1]", "x[1]", ALL),
    row("x[:, 1:3]", "x[:, 1:3]", ALL),
    row("x[:, None]", "x[:, None]", ALL),
    row("split", "x.split(2)[0]", ALL),
    row("clone", "x.clone()", ALL),
    row("contiguous", "x.contiguous()", ALL),
    row("cat", "t.cat([x, y])", ALL, y="(R, C)"),
    row("cat over columns", "t.cat([x, y], 1)", ALL, y="(R, C)"),
    row("stack", "t.stack([x, y])", ALL, y="(R, C)"),
    row("repeat", "x.repeat(2, 2)", ALL),
    row("repeat_interleave", "x.repeat_interleave(2, 0)", ALL),
    row("flip", "x.flip(1)", ALL),
    row("roll", "x.roll(1, 1)", ALL),
    row("tril", "x.tril()", ALL),
    row("pad", "F.pad(x, (1, 1))", ALL),
    row("permute and copy", "x.permute(0, 2, 3, 1).contiguous()", ALL, "image"),
    row("gather", "x.gather(1, i)", ALL, i="index(C, R, C)"),
    row("index_select", "x.index_select(0, i)", ALL, i="index(R, R)"),
    row("x[i]", "x[i]", ALL, i="index(R, R)"),
    row("x[i, j]", "x[i, j]", ALL, i="index(R, R)", j="index(C, R)"),
    row("x[c]", "x[c]", ALL, c="rand(R, C) > 0.5"),
    row("y[i] = x", "y.__setitem__(i, x)", ALL, y="(R, C)", i="index(R, R)", backward=False),
    row("y[c] = 0", "y.__setitem__(c, 0)", ALL, y="(R, C)", c="rand(R, C) > 0.5", backward=False),
    row("y[1:] = x[1:]", "y.__setitem__(s, x[1:])", ALL, y="(R, C)", s="slice(1, None)",
        backward=False),
    row("scatter", "y.scatter(1, i, x)", NUMBERS, y="(R, C)", i="index(C, R, C)"),
    row("scatter_add", "y.scatter_add(1, i, x)", NUMBERS, y="(R, C)", i="index(C, R, C)"),
    row("index_add", "y.index_add(0, i, x)", NUMBERS, y="(R, C)", i="index(R, R)"),
    row("nonzero", "x.nonzero()", ALL, backward=False),
    row("one_hot", "F.one_hot(x, 10)", ("int64",), "vector", backward=False),
    row("tolist", "x.tolist()", ALL, backward=False),
    row("item", "x.sum().item()", FLOATS, backward=False),
    row("zeros_like", "t.zeros_like(x)", ALL, backward=False),
    row("empty_like", "t.empty_like(x)", ALL, backward=False),
    row("full", "t.full((R, C), 2, dtype=x.dtype)", ALL, backward=False),
    row("arange", "t.arange(n, dtype=x.dtype)", NUMBERS, "vector", backward=False),
    row("linspace", "t.linspace(0, 1, n, dtype=x.dtype)", FLOATS, "vector", backward=False),
    row("rand", "t.rand(R, C, dtype=x.dtype)", backward=False),
    row("randn", "t.randn(R, C, dtype=x.dtype)", backward=False),
    row("randint", "t.randint(9, (R, C), dtype=x.dtype)", WHOLE, backward=False),
    row("randperm", "t.randperm(n)", ("int64",), "vector", backward=False),
    row("bernoulli", "t.bernoulli(x)", backward=False),
    row("meshgrid", "t.meshgrid(x[0], x[0], indexing='ij')", ALL, backward=False),
]  # fmt: skip

PRODUCTS = [
    row("matmul", "x @ y", NUMBERS, y="(C, R)"),
    row("matmul by a transposed", "x @ y.t()", NUMBERS, y="(R, C)"),
    row("matrix by vector", "x @ y", NUMBERS, y="(C,)"),
    row("dot", "t.dot(x, y)", NUMBERS, "vector", y="(n,)"),
    row("outer", "t.outer(x[0], y)", NUMBERS, y="(C,)"),
    row("bmm", "t.bmm(x, y)", NUMBERS, "stack", y="(B, R, R)"),
    row("bmm by transposed", "x @ y.mT", FLOATS, "stack", y="(B, R, R)"),
    row("stack by matrix", "x @ y", FLOATS, "stack", y="(R, R)"),
    row("einsum", "t.einsum('bij,bjk->bik', x, y)", FLOATS, "stack", y="(B, R, R)"),
    row("addmm", "t.addmm(b, x, y)", y="(C, R)", b="(R,)"),
    row("tall by thin", "x @ y", y="(C, 4)"),
    row("cdist", "t.cdist(x, y)", REALS, y="(R, C)"),
    row("linalg.inv", "t.linalg.inv(x + e)", REALS, "stack", e="3 * t.eye(R).to(x.dtype)"),
    row("linalg.solve", "t.linalg.solve(x + e, x)", REALS, "stack", e="3 * t.eye(R).to(x.dtype)"),
    row("linalg.det", "t.linalg.det(x + e)", REALS, "stack", e="3 * t.eye(R).to(x.dtype)"),
    row("linalg.qr", "t.linalg.qr(x + e)", REALS, "stack", e="3 * t.eye(R).to(x.dtype)"),
    row("linalg.svd", "t.linalg.svdvals(x)", REALS, "stack"),
    row("linalg.eigh", "t.linalg.eigh(x)", REALS, "stack", backward=False),
    row("linalg.cholesky", "t.linalg.cholesky(x @ x.mT + e)", REALS, "stack",
        e="3 * t.eye(R).to(x.dtype)"),
]  # fmt: skip

LAYERS = [
    layer("Linear", "Linear(C, C)", "grid", dtypes=FLOATS),
    layer("Linear of sequences", "Linear(E, E)", "sequence", dtypes=FLOATS),
    layer("MLP", "Sequential(nn.Linear(E, E), nn.ReLU(), nn.Linear(E, 10))", "sequence"),
    layer("Conv1d", "Conv1d(C, C, 3, padding=1)", "signal"),
    layer("Conv2d 3x3", "Conv2d(C, C, 3, padding=1)", "image", dtypes=FLOATS),
    layer("Conv2d 1x1", "Conv2d(C, C, 1)", "image"),
    layer("Conv2d stride 2", "Conv2d(C, C, 3, 2, 1)", "image"),
    layer("Conv2d depthwise", "Conv2d(C, C, 3, padding=1, groups=C)", "image"),
    layer("Conv2d depthwise 5x5", "Conv2d(C, C, 5, padding=2, groups=C)", "image"),
    layer("Conv2d dilated", "Conv2d(C, C, 3, padding=2, dilation=2)", "image"),
    layer("Conv2d of RGB", "Conv2d(3, 16, 3, padding=1)", "image", "m(y)", y="(N, 3, H, W)"),
    layer("Conv3d", "Conv3d(C, C, 3, padding=1)", "volume"),
    layer("ConvTranspose2d", "ConvTranspose2d(C, C, 4, 2, 1)", "image"),
    layer("BatchNorm1d", "BatchNorm1d(C)", "grid"),
    layer("BatchNorm2d", "BatchNorm2d(C)", "image", dtypes=FLOATS),
    layer("BatchNorm2d, eval", "BatchNorm2d(C).eval()", "image"),
    layer("GroupNorm", "GroupNorm(1, C)", "image"),
    layer("InstanceNorm2d", "InstanceNorm2d(C)", "image"),
    layer("LayerNorm", "LayerNorm(E)", "sequence", dtypes=FLOATS),
    layer("LayerNorm of rows", "LayerNorm(C)", "grid", dtypes=FLOATS),
    layer("RMSNorm", "RMSNorm(E)", "sequence", dtypes=FLOATS),
    layer("MaxPool2d", "MaxPool2d(2)", "image", dtypes=FLOATS),
    layer("MaxPool2d 3x3", "MaxPool2d(3, 2, 1)", "image"),
    layer("AvgPool2d", "AvgPool2d(2)", "image", dtypes=FLOATS),
    layer("AdaptiveAvgPool2d", "AdaptiveAvgPool2d(1)", "image", dtypes=FLOATS),
    layer("Upsample nearest", "Upsample(scale_factor=2)", "image"),
    layer("Upsample bilinear", "Upsample(scale_factor=2, mode='bilinear')", "image"),
    layer("PixelShuffle", "PixelShuffle(2)", "image", "m(y)", y="(N, 4 * C, H, W)"),
    layer("LSTM", "LSTM(E, E, batch_first=True)", "sequence"),
    layer("GRU", "GRU(E, E, batch_first=True)", "sequence"),
    layer("RNN", "RNN(E, E, batch_first=True)", "sequence"),
    layer("LSTMCell", "LSTMCell(C, C)", "grid"),
    layer("MultiheadAttention", "MultiheadAttention(E, 4, batch_first=True)", "sequence",
          "m(x, x, x, need_weights=False)"),
    layer("TransformerEncoderLayer", "TransformerEncoderLayer(E, 4, 2 * E, 0.0, batch_first=True)",
          "sequence"),
    layer("Embedding", "Embedding(1000, 64)", "vector", "m(i)", i="index(1000, n)"),
    layer("EmbeddingBag", "EmbeddingBag(1000, 64)", "vector", "m(i.view(-1, 4))",
          i="index(1000, n)"),
    layer("PReLU", "PReLU()", "image"),
    layer("GLU", "GLU(-1)", "sequence"),
    layer("Flatten", "Flatten()", "image"),
    row("attention", "attend(x, x, x)", FLOATS, "heads", attend="F.scaled_dot_product_attention"),
    row("attention, causal", "attend(x, x, x, is_causal=True)", FLOATS, "heads",
        attend="F.scaled_dot_product_attention"),
    row("unfold", "F.unfold(x, 3, padding=1)", REALS, "image"),
    row("grid_sample", "F.grid_sample(x, where, align_corners=False)", REALS, "image",
        where="rand(N, H, W, 2).to(x.dtype)"),
    row("SGD step", "o.step()", REALS, backward=False, o="optimizer('SGD', lr=1e-6)"),
    row("SGD momentum", "o.step()", REALS, backward=False,
        o="optimizer('SGD', lr=1e-6, momentum=0.9)"),
    row("Adam step", "o.step()", REALS, backward=False, o="optimizer('Adam', lr=1e-6)"),
    row("AdamW step", "o.step()", REALS, backward=False, o="optimizer('AdamW', lr=1e-6)"),
    row("RMSprop step", "o.step()", REALS, backward=False, o="optimizer('RMSprop', lr=1e-6)"),
    row("clip_grad_norm_", "nn.utils.clip_grad_norm_([p], 1.0)", REALS, backward=False,
        p="parameter()"),
]  # fmt: skip

OPS = [*POINTWISE, *REDUCED, *LOSSES, *SHAPES, *PRODUCTS, *LAYERS]
