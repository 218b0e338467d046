"""Padding by reflections, edges and periods: values by the index that each element comes from,
gradients and theirs by finite differences, memory formats."""

import itertools

import pytest

import rushlight
import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck
from tests.conftest import ask

MODES = ["reflect", "replicate", "circular"]
CASES = [
    ((2, 5), (2, 3)),
    ((1, 2, 4, 5), (1, 0, 3, 2)),
    ((2, 4, 5), (4, 1, 0, 2)),
    ((1, 2, 3, 4, 3), (1, 2, 2, 0, 0, 1)),
    ((2, 3, 6), (-2, 3)),
    ((2, 1, 6, 5), (2, -3, -1, 0)),
    ((2, 3, 6), (0, 0)),
]


def index_of(i, size, mode):
    if mode == "replicate":
        return min(max(i, 0), size - 1)
    if mode == "circular":
        return i % size
    return size - 1 - abs(size - 1 - abs(i))


def expected(x, pad, mode):
    for k in range(len(pad) // 2):
        dim, left, right = x.dim() - 1 - k, pad[2 * k], pad[2 * k + 1]
        first, size = 0, x.size(dim)
        if mode == "circular":  # what is cut away does not come around
            first, size = max(-left, 0), size - max(-left, 0) - max(-right, 0)
            left, right = max(left, 0), max(right, 0)
        rows = [first + index_of(i, size, mode) for i in range(-left, size + right)]
        x = torch.stack([x.select(dim, i) for i in rows], dim)
    return x


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("shape", "pad"), CASES, ids=str)
def test_values(shape, pad, mode, device):
    for dtype in (torch.float32, torch.int64, torch.bfloat16):
        x = torch.randint(-99, 99, shape).to(dtype)
        found = torch.nn.functional.pad(x.to(device), pad, mode=mode)
        assert torch.equal(found.cpu(), expected(x, pad, mode))
        moved = x.transpose(0, -1).contiguous().transpose(0, -1).to(device)
        assert torch.equal(torch.nn.functional.pad(moved, pad, mode=mode), found)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("shape", "pad"), CASES, ids=str)
def test_gradients(shape, pad, mode, device):
    x = torch.randn(shape, dtype=torch.float64, device=device, requires_grad=True)
    square = lambda x: torch.nn.functional.pad(x, pad, mode=mode).square()  # noqa: E731
    assert gradcheck(square, (x,))
    assert gradgradcheck(square, (x,))


@pytest.mark.parametrize("mode", MODES)
def test_channels_last_stays(mode, device):
    x = torch.randn(2, 3, 5, 4, device=device).contiguous(memory_format=torch.channels_last)
    x.requires_grad_()
    y = torch.nn.functional.pad(x, (1, 2, 0, 1), mode=mode)
    assert y.is_contiguous(memory_format=torch.channels_last)
    y.square().sum().backward()
    assert x.grad.is_contiguous(memory_format=torch.channels_last)


def test_batches(device):
    x = torch.randn(4, 2, 5, 3, device=device)
    for mode, size in itertools.product(MODES, (1, 2)):
        pad = lambda x, m=mode, s=size: torch.nn.functional.pad(x, (s, 0), mode=m)  # noqa: E731
        assert torch.equal(torch.vmap(pad)(x), torch.stack([pad(part) for part in x]))
        assert torch.equal(
            torch.vmap(pad, in_dims=1)(x), torch.stack([pad(p) for p in x.unbind(1)])
        )


def test_wrong_sizes(device):
    x = torch.randn(1, 2, 3, device=device)
    with pytest.raises(RuntimeError, match="Padding size should be less than"):
        torch.nn.functional.pad(x, (3, 0), mode="reflect")
    with pytest.raises(RuntimeError, match="wrapping around more than once"):
        torch.nn.functional.pad(x, (0, 4), mode="circular")
    with pytest.raises(RuntimeError, match="negative dimension -1"):
        torch.nn.functional.pad(x[None], (0, 0, -3, 0), mode="replicate")
    with pytest.raises(RuntimeError, match=r"overflow|too large"):
        torch.nn.functional.pad(x, (2**62, 2**62), mode="replicate")


AMOUNTS = [
    ((1, 1, 4), (-5, 1)), ((1, 4), (-4, 0)), ((1, 1, 3, 4), (-4, 0, 0, 0)),
    ((1, 1, 3, 4), (-4, 0, -3, 0)), ((1, 1, 3, 4), (0, 0, -2, -1)), ((0, 1, 4), (-4, 0)),
    ((1, 1, 2, 3, 4), (0, -4, 0, 0, 0, 0)), ((1, 1, 2, 3, 4), (0, 0, 0, 0, -2, 0)),
    ((1, 1, 4), (-1, 2)), ((1, 1, 4), (2, -3)),
]  # fmt: skip


@pytest.mark.parametrize("mode", ["reflect", "replicate"])
@pytest.mark.parametrize(("shape", "amounts"), AMOUNTS)
def test_amounts_that_leave_nothing(shape, amounts, mode, device):
    def found(t, device="cpu"):
        try:
            return list(t.nn.functional.pad(t.ones(shape, device=device), amounts, mode).shape)
        except RuntimeError as error:
            return str(error).splitlines()[0].replace(" )", ")")

    assert found(rushlight, device) == ask(found)


@pytest.mark.parametrize("value", [0, -0.0, False, 1.5, float("nan")])
@pytest.mark.parametrize("mode", ["reflect", "replicate", "circular"])
def test_a_value_of_zero_is_taken_in_every_mode(mode, value, device):
    def padded(torch, device="cpu"):
        x = torch.arange(4.0, device=device).reshape(1, 1, 4)
        try:
            return torch.nn.functional.pad(x, (1, 1), mode=mode, value=value).tolist()
        except RuntimeError as error:
            return str(error)

    assert padded(rushlight, device) == ask(padded)
