"""Convolutions of 3 x 3 that go by Winograd's tiles, against float64, which does not."""

import pytest

import rushlight as rl
from rushlight.nn import functional as f
from tests.emulator import EMULATED

# n, channels, results, height, width, padding: odd sizes, rows of one tile, wide paddings.
SHAPES = [
    (4, 32, 32, 16, 16, 1),
    (3, 32, 64, 15, 17, 1),
    (3, 64, 32, 9, 21, 0),
    (1, 64, 48, 40, 33, 2),
    (70, 64, 64, 5, 4, 1),
    (80, 64, 48, 2, 4, 1),
    (90, 48, 32, 4, 2, 3),
    (2, 32, 32, 24, 24, 5),
]
if EMULATED:
    SHAPES = SHAPES[4:5]


def close(result, exact, most):
    """As near as sums in float32 are: `most` bounds what was added up."""
    assert result.dtype == rl.float32
    error = (result.double() - exact).abs().max().item()
    assert error <= 2e-6 * most, (error, most)


def check(n, channels, results, height, width, padding, device, groups=1, layout=None):
    rl.manual_seed(n + height)
    x = rl.randn(n, channels, height, width, device=device)
    if layout:
        x = x.contiguous(memory_format=layout)
    w = rl.randn(results, channels // groups, 3, 3, device=device)
    bias = rl.randn(results, device=device)
    leaves = [t.requires_grad_() for t in (x, w, bias)]
    doubles = [t.detach().double().requires_grad_() for t in leaves]
    y = f.conv2d(*leaves, padding=padding, groups=groups)
    exact = f.conv2d(*doubles, padding=padding, groups=groups)
    grad = rl.randn_like(y)
    grads = rl.autograd.grad(y, leaves, grad)
    exact_grads = rl.autograd.grad(exact, doubles, grad.double())
    close(y, exact, (9 * channels // groups) ** 0.5 * 5)
    close(grads[0], exact_grads[0], (9 * results // groups) ** 0.5 * 5)
    close(grads[1], exact_grads[1], (n * y.shape[2] * y.shape[3]) ** 0.5 * 8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("layout", [None, "channels_last"])
def test_shapes(shape, layout, device):
    check(*shape, device, layout=layout and getattr(rl, layout))


def test_groups(device):
    check(16, 64, 128, 12, 10, 1, device, groups=2)


def test_transposed(device):
    rl.manual_seed(0)
    x, w = rl.randn(6, 64, 9, 14, device=device), rl.randn(64, 16, 3, 3, device=device)
    bias = rl.randn(32, device=device)
    doubles = [t.double() for t in (x, w, bias)]
    y = f.conv_transpose2d(x, w, bias, padding=1, groups=2)
    close(y, f.conv_transpose2d(*doubles, padding=1, groups=2), (9 * 32) ** 0.5 * 5)


def test_volumes(device):
    rl.manual_seed(0)
    x, w = rl.randn(2, 32, 5, 12, 11, device=device), rl.randn(32, 32, 3, 3, 3, device=device)
    leaves = [x.requires_grad_(), w.requires_grad_()]
    doubles = [t.detach().double().requires_grad_() for t in leaves]
    y, exact = f.conv3d(*leaves, padding=1), f.conv3d(*doubles, padding=1)
    close(y, exact, (27 * 32) ** 0.5 * 5)
    grads = rl.autograd.grad(y.square().sum(), leaves)
    exact_grads = rl.autograd.grad(exact.square().sum(), doubles)
    for grad, wanted in zip(grads, exact_grads, strict=True):
        close(grad, wanted, wanted.abs().max().item())


@pytest.mark.parametrize("value", [float("inf"), -float("inf"), float("nan"), 3e38])
def test_what_is_not_finite_reaches_no_other_results(value, device):
    """Sums and differences of a tile would spread it, as NaN, to all four of its results."""
    x = rl.ones(2, 32, 16, 16, device=device)
    w = rl.full((32, 32, 3, 3), 0.5, device=device)
    x[0, 3, 5, 6] = value
    leaves = [x.requires_grad_(), w.requires_grad_()]
    y = f.conv2d(*leaves, padding=1)
    exact = f.conv2d(x.detach().double(), w.detach().double(), padding=1)
    assert y.isnan().equal(exact.isnan())
    assert y.isinf().equal(exact.float().isinf())
    finite = exact.float().isfinite()
    assert y[finite].double().allclose(exact[finite], rtol=1e-5)
    (grad,) = rl.autograd.grad(y.sum(), [leaves[1]])
    assert grad[:, 3].isfinite().any() == (value == 3e38)
    assert grad[:, :3].isfinite().all() and grad[:, 4:].isfinite().all()


def test_two_threads_give_one_threads_results(device):
    """Bit for bit in the results; the weights' gradient is summed by each thread."""
    x, w = rl.randn(8, 32, 14, 14, device=device), rl.randn(32, 32, 3, 3, device=device)
    threads = rl.get_num_threads()
    results = []
    try:
        for count in (1, 2):
            rl.set_num_threads(count)
            results.append(f.conv2d(x, w, padding=1))
    finally:
        rl.set_num_threads(threads)
    assert results[0].equal(results[1])
