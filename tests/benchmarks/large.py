"""Large operations, where memory and arithmetic set the pace."""

from tests.benchmarks.limits import moving, multiplying
from tests.benchmarks.rows import Row


def big(t):  # 64 MB each
    return {"t": t, "a": t.ones(4096, 4096), "b": t.ones(4096, 4096)}


def vector(t):  # 4 MB
    x = t.linspace(0.01, 8.0, 1 << 20)
    return {"t": t, "f": t.nn.functional, "x": x, "out": t.empty(1 << 20)}


def halves(t):
    x = t.linspace(0.01, 8.0, 1 << 22).to(t.bfloat16)
    return {"t": t, "x": x, "y": x + 1}


def planes(t):
    return {"f": t.nn.functional, "x": t.arange(64.0 * 1000 * 128).view(64, 1000, 128) % 977 / 100}


def logits(t):
    x = (t.arange(8192.0 * 1000).view(8192, 1000) % 977 / 100).requires_grad_()
    return {"t": t, "f": t.nn.functional, "x": x, "target": t.arange(8192) % 1000}


def matrices(m, k, n):
    def setup(t):
        t.manual_seed(0)
        return {"t": t, "a": t.rand(m, k), "b": t.rand(k, n), "out": t.empty(m, n)}

    return setup


def convolution(t):
    t.manual_seed(0)
    x, w = t.rand(64, 32, 32, 32), t.rand(32, 32, 5, 5)
    f = t.nn.functional
    y_of_x = f.conv2d(x.requires_grad_(), w, padding=2)
    y_of_w = f.conv2d(x.detach(), w.clone().requires_grad_(), padding=2)
    return {
        "f": f, "x": x.detach(), "w": w, "g": t.ones(64, 32, 32, 32),
        "y_of_x": y_of_x, "y_of_w": y_of_w,
    }  # fmt: skip


def image(t):
    t.manual_seed(0)
    x = t.rand(64, 32, 32, 32)
    pooled = t.rand(64, 32, 16, 16)
    layer = t.nn.BatchNorm2d(32)
    return {
        "t": t, "f": t.nn.functional, "x": x, "v": x.clone().requires_grad_(), "g": pooled,
        "layer": layer,
    }  # fmt: skip


def numbers(t):
    return {"t": t, "f": t.nn.functional, "x": t.ones(1 << 22)}


CONV = "conv2d 32->32, 5x5, 64x32x32x32: "
CONV_PRODUCTS = 64 * 32 * 32 * 32 * 32 * 25
MIB, LOGITS, IMAGE = 1 << 20, 4 * 8192 * 1000, 4 * 64 * 32 * 32 * 32  # bytes
# Bytes of their operands and results, each read or written once; of an operation, each by itself.
ROWS = [
    Row("a + b", 0.25, big, "a + b, 64 MB", limit=moving(3 * 64 * MIB)),
    Row("(a * 3 + b) * a", 0.25, big, "(a * 3 + b) * a, 64 MB", limit=moving(8 * 64 * MIB)),
    Row("t.relu(a)", 0.20, big, "relu, 64 MB", limit=moving(2 * 64 * MIB)),
    Row("a.sum()", 1.0, big, "sum, 64 MB", limit=moving(64 * MIB)),
    Row("t.exp(x, out=out)", 0.35, vector, "exp, 4 MB", limit=moving(8 * MIB)),
    Row("t.log(x, out=out)", 0.4, vector, "log, 4 MB", limit=moving(8 * MIB)),
    Row("t.tanh(x, out=out)", 0.25, vector, "tanh, 4 MB", limit=moving(8 * MIB)),
    Row("t.sigmoid(x, out=out)", 0.7, vector, "sigmoid, 4 MB", limit=moving(8 * MIB)),
    Row("f.gelu(x)", 1.0, vector, "gelu, 4 MB", limit=moving(8 * MIB)),
    Row("x + y", 1.0, halves, "bfloat16 a + b, 4M", limit=moving(3 * 8 * MIB)),
    Row("f.cross_entropy(x, target).backward()", 0.35, logits,
        "cross_entropy with backward, 8192x1000", rounds=5,
        limit=moving(6 * LOGITS)),  # read twice; a gradient written, and added to that before it
    Row("f.softmax(x.detach(), 1)", 0.40, logits, "softmax, 8192x1000", limit=moving(2 * LOGITS)),
    Row("f.softmax(x, 1)", 1.0, planes, "softmax over the middle, 64x1000x128",
        limit=moving(2 * LOGITS)),
    Row("t.mm(a, b, out=out)", 0.95, matrices(1024, 1024, 1024), "matmul 1024",
        limit=multiplying(1024**3)),
    Row("t.mm(a, b, out=out)", 0.98, matrices(64, 784, 128), "matmul 64x784x128",
        limit=multiplying(64 * 784 * 128)),
    Row("t.mm(a, b, out=out)", 0.4, matrices(32, 32, 32), "matmul 32", limit=multiplying(32**3)),
    Row("t.mm(a, b, out=out)", 1.0, matrices(1024, 1024, 1024), "matmul 1024, 2 threads",
        threads=2, limit=multiplying(1024**3, threads=2)),
    Row("f.conv2d(x, w, padding=2)", 1.0, convolution, CONV + "forward",
        limit=multiplying(CONV_PRODUCTS)),
    Row("y_of_x.backward(g, retain_graph=True)", 1.0, convolution, CONV + "input gradient",
        limit=multiplying(CONV_PRODUCTS)),
    Row("y_of_w.backward(g, retain_graph=True)", 1.0, convolution, CONV + "weight gradient",
        limit=multiplying(CONV_PRODUCTS)),
    Row("f.max_pool2d(x, 2)", 0.03, image, "max_pool2d 64x32x32x32", limit=moving(5 * IMAGE // 4)),
    Row("f.max_pool2d(v, 2).backward(g)", 0.05, image, "max_pool2d with backward",
        limit=moving(5 * IMAGE // 2)),
    Row("layer(x)", 0.6, image, "batch_norm, training forward", limit=moving(3 * IMAGE)),
    Row("t.rand(1 << 22)", 0.1, numbers, "rand, 4M", limit=moving(16 * MIB)),
    Row("t.randn(1 << 22)", 0.25, numbers, "randn, 4M", limit=moving(16 * MIB)),
    Row("f.dropout(x, 0.5)", 0.1, numbers, "dropout, 4M", rounds=5, limit=moving(32 * MIB)),
]  # fmt: skip
