"""Kernels one pixel high and wide over volumes, which run as those of images: convolutions equal
those with the same kernel among zeros."""

import pytest

import rushlight as torch
from rushlight.nn import functional as F

CASES = [  # groups, kernel, stride, padding and dilation of the depth
    (1, 1, 1, 0, 1),
    (1, 3, 1, 1, 1),
    (1, 3, 2, 2, 2),
    (2, 2, 1, 0, 1),
    (6, 3, 1, 1, 1),
    (6, 1, 1, 0, 1),
]
FORMATS = [torch.contiguous_format, torch.channels_last_3d]


@pytest.mark.parametrize("memory_format", FORMATS, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("groups", "kernel", "stride", "padding", "dilation"), CASES)
def test_a_kernel_of_one_pixel(
    device, groups, kernel, stride, padding, dilation, dtype, memory_format
):
    torch.manual_seed(0)

    def small(*shape):  # integers, so that every order of summation gives the same
        return torch.randint(-2, 3, shape).to(device, dtype)

    x = small(2, 6, 5, 3, 4).to(memory_format=memory_format).requires_grad_()
    w = small(6, 6 // groups, kernel, 1, 1).requires_grad_()
    b = small(6).requires_grad_()
    wide = F.pad(w, (1, 1, 1, 1))
    depth = {"stride": (stride, 1, 1), "dilation": (dilation, 1, 1), "groups": groups}
    y = F.conv3d(x, w, b, padding=(padding, 0, 0), **depth)
    expected = F.conv3d(x, wide, b, padding=(padding, 1, 1), **depth)
    assert torch.equal(y, expected)
    g = small(*y.shape)
    for ours, theirs in zip(
        torch.autograd.grad(y, (x, w, b), g), torch.autograd.grad(expected, (x, w, b), g),
        strict=True,
    ):  # fmt: skip
        assert torch.equal(ours, theirs)
