"""grid_sample against torch: modes, paddings, positions far outside and NaN."""

import functools

import pytest

import rushlight
from tests.ops.nn_compare import array, compare

F = rushlight.nn.functional
CASES = [
    (mode, rank) for mode in ("bilinear", "nearest", "bicubic") for rank in (2, 3)
][:-1]  # fmt: skip


@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
@pytest.mark.parametrize(("mode", "rank"), CASES)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_against_torch(reference, device, mode, rank, padding, align, dtype):
    for size in ((4, 5, 6), (1, 4, 1)):
        compare(
            reference,
            lambda t, x, g: t.nn.functional.grid_sample(x, g, mode, padding, align),
            [array((2, 3, *size[:rank]), 1), array((2, *(3, 4, 2)[:rank], rank), 2, 1.5)],
            device,
            dtype=dtype,
            second=dtype == "float64",
        )


def test_more_positions_than_a_block(reference, device):
    compare(
        reference,
        lambda t, x, g: t.nn.functional.grid_sample(x, g, align_corners=False),
        [array((2, 2, 7, 9), 1), array((2, 13, 31, 2), 2)],
        device,
        second=False,
    )


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_channels_one_by_one(mode, dtype, device):
    """Channels are taken together, from pixels or planes: each is what it is alone."""
    kind = getattr(rushlight, dtype)
    rushlight.manual_seed(0)
    for channels, size, points in ((3, (5, 4), 140), (8, (3, 7), 30), (13, (9, 9), 20)):
        x = rushlight.randn(2, channels, *size, device=device).to(kind)
        x[0, 1, 0, 0] = float("inf")
        grid = (rushlight.rand(2, points, 1, 2, device=device) * 3 - 1.5).to(kind)
        grid[1, 3, 0, 1] = float("nan")
        sample = functools.partial(F.grid_sample, grid=grid, mode=mode, align_corners=False)
        planes = [sample(x[:, c : c + 1].contiguous()) for c in range(channels)]
        expected = rushlight.cat(planes, dim=1)
        last = x.contiguous(memory_format=rushlight.channels_last)
        for images in (x, last, last[:, :, :, :2].contiguous(), x[:, :, :, :2]):
            if images.size(3) == size[1]:
                y = sample(images)
                assert y.is_contiguous()
                rushlight.testing.assert_close(y, expected, equal_nan=True)
            else:
                alone = [sample(images[:, c : c + 1].contiguous()) for c in range(channels)]
                rushlight.testing.assert_close(
                    sample(images), rushlight.cat(alone, dim=1), equal_nan=True
                )


def test_only_what_is_needed(device):
    x = rushlight.ones(1, 1, 2, 2, device=device)
    grid = rushlight.zeros(1, 1, 1, 2, device=device, requires_grad=True)
    F.grid_sample(x, grid, "nearest", align_corners=False).sum().backward()
    assert grid.grad.tolist() == [[[[0.0, 0.0]]]]  # zeros, as in torch, not None


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
def test_gradients_with_history_are_those_without(device, mode):
    """Of the input alone, of the grid alone; positions outside and NaN too."""
    x = rushlight.arange(1.0, 17.0, device=device).reshape(1, 1, 4, 4)
    grid = rushlight.tensor([[[[-0.3, 0.1], [5.0, float("nan")], [-0.9, 1.0]]]], device=device)
    for at in (0, 1):
        operands = [x, grid]
        leaf = operands[at] = operands[at].clone().requires_grad_()
        y = F.grid_sample(*operands, mode, align_corners=False)
        (plain,) = rushlight.autograd.grad(y.sum(), leaf, retain_graph=True)
        seed = rushlight.ones_like(y, requires_grad=True)
        (g,) = rushlight.autograd.grad(y, leaf, seed, create_graph=True)
        assert rushlight.allclose(g.detach(), plain, 1e-4, 1e-5, equal_nan=True)
        (again,) = rushlight.autograd.grad(g.sum(), seed)
        assert again.shape == y.shape


FAR = [float("nan"), float("inf"), -float("inf"), 1e20, -1e20, 3e9, -1e38]


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_positions_far_outside(device, mode, padding):
    """No element outside is read or written."""
    x = rushlight.arange(1.0, 17.0, device=device).reshape(1, 1, 4, 4).requires_grad_()
    points = [[a, b] for a in [*FAR, 0.0] for b in [*FAR, 0.0]]
    grid = rushlight.tensor(points, device=device).reshape(1, 8, 8, 2).requires_grad_()
    y = F.grid_sample(x, grid, mode, padding, align_corners=False)
    y.sum().backward()
    assert y.shape == (1, 1, 8, 8)
    assert y[0, 0, 7, 7] > 0
    if padding == "border" and mode == "bilinear":
        assert y.min() >= 1
        assert y.max() <= 16


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_dtypes(device, dtype):
    x = rushlight.randn(2, 3, 6, 7, device=device)
    grid = rushlight.rand(2, 5, 5, 2, device=device) * 2 - 1
    kind = getattr(rushlight, dtype)
    a, b = x.to(kind).requires_grad_(), grid.to(kind).requires_grad_()
    y = F.grid_sample(a, b, align_corners=False)
    want = F.grid_sample(a.detach().float(), b.detach().float(), align_corners=False)
    assert rushlight.allclose(y.float(), want, rtol=1e-2, atol=3e-2)
    y.sum().backward()
    assert a.grad.dtype == b.grad.dtype == kind


def test_empty(device):
    for sizes in (
        ((0, 1, 2, 2), (0, 3, 3, 2)),
        ((1, 0, 2, 2), (1, 3, 3, 2)),
        ((1, 1, 2, 2), (1, 0, 3, 2)),
    ):
        x = rushlight.ones(sizes[0], device=device, requires_grad=True)
        grid = rushlight.zeros(sizes[1], device=device, requires_grad=True)
        F.grid_sample(x, grid, align_corners=False).sum().backward()
        assert x.grad.shape == x.shape
        assert grid.grad.abs().sum() == 0


def test_affine_grids_of_one_line_warn(device):
    theta = rushlight.ones(1, 2, 3, device=device)
    grid = rushlight.nn.functional.affine_grid
    with pytest.warns(UserWarning, match="has changed for unit-size grids when align_corners=True"):
        grid(theta, (1, 1, 1, 3), align_corners=True)
    grid(theta, (1, 1, 1, 3), align_corners=False)
    grid(theta, (1, 1, 2, 3), align_corners=True)
    with pytest.raises(NotImplementedError, match=r"Got size torch\.Size\(\[1, 1, 1\]\)"):
        grid(theta, (1, 1, 1), align_corners=True)
