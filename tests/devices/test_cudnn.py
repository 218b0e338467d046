"""Convolutions on cuDNN: what goes through it, what stays ours, which algorithm is taken. On the
emulated provider tests/emulator/libraries/cudnn.cpp stands in and checks every call.
"""

import ctypes
import os

import pytest

import rushlight as torch
from rushlight.nn import functional as F
from tests.devices.stand_ins import stand_in

pytestmark = pytest.mark.emulated
cudnn = torch.backends.cudnn
EXACT, FAST, TENSOR_CORES = 3, 0, 1  # cuDNN's numbers
UNSTEADY, STEADY, FRUGAL = 0, 3, 4  # of the algorithms that the stand-in offers


@pytest.fixture
def library():
    return stand_in("cuDNN")


def both(function, *shapes, dtype=torch.float64):
    """The result and the gradients of all inputs, on the CPU and on a device."""
    answers = []
    for device in ("cpu", "cuda:1"):
        generator = torch.Generator().manual_seed(1)
        inputs = [
            torch.randn(*s, dtype=dtype, generator=generator).to(device).requires_grad_()
            for s in shapes
        ]
        out = function(*inputs)
        (out * torch.arange(out.numel(), device=device).reshape(out.shape).remainder(5)).sum(
        ).backward()  # fmt: skip
        answers.append([out.detach().cpu(), *(i.grad.cpu() for i in inputs)])
    return zip(*answers, strict=True)


CALLS = [
    (lambda x, w, b: F.conv1d(x, w, b, padding=1), (2, 3, 7), (4, 3, 3), (4,)),
    (lambda x, w, b: F.conv2d(x, w, b, stride=2, groups=2), (2, 4, 7, 6), (6, 2, 3, 2), (6,)),
    (lambda x, w: F.conv2d(x, w, dilation=2, padding=(1, 2)), (2, 3, 6, 5), (4, 3, 3, 2)),
    (lambda x, w, b: F.conv3d(x, w, b, padding=1), (1, 2, 4, 3, 5), (3, 2, 2, 3, 2), (3,)),
    (lambda x, w: F.conv2d(x, w, stride=50), (1, 2, 6, 6), (3, 2, 3, 3)),  # one window
    (lambda x, w, b: F.conv_transpose2d(x, w, b, stride=2, output_padding=1), (2, 4, 3, 4),
     (4, 3, 3, 2), (3,)),
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS, ids=range(len(CALLS)))
def test_convolutions_and_their_gradients_go_through_it(library, call):
    before = library.emulated_convolutions()
    for ours, expected in both(*call):
        assert torch.allclose(expected, ours)
    assert library.emulated_convolutions() == before + 3


def test_what_its_rule_of_sizes_does_not_give_is_ours(library):
    before = library.emulated_convolutions()
    shapes = (1, 2, 4, 4), (2, 3, 2, 2)
    for ours, expected in both(
        lambda x, w: F.conv_transpose2d(x, w, stride=2, dilation=3, output_padding=2), *shapes
    ):
        assert torch.allclose(expected, ours)
    assert library.emulated_convolutions() == before


def test_refused_or_switched_off_is_ours(library):
    before, refused = library.emulated_convolutions(), library.emulated_refused()
    shapes = (1, 3, 5, 7), (2, 3, 2, 2)
    library.emulated_refuse(1)
    try:
        for ours, expected in both(F.conv2d, *shapes):
            assert torch.allclose(expected, ours)
        for ours, expected in both(F.conv2d, *shapes):
            assert torch.allclose(expected, ours)
    finally:
        library.emulated_refuse(0)
    assert library.emulated_refused() == refused + 3  # once for each product
    with cudnn.flags(enabled=False):
        for ours, expected in both(F.conv2d, (1, 3, 5, 8), (2, 3, 2, 2)):
            assert torch.allclose(expected, ours)
    assert library.emulated_convolutions() == before
    assert cudnn.is_available() and cudnn.version() == 91002


def test_which_algorithm(library):
    x, w = torch.randn(1, 2, 6, 9, device="cuda:1"), torch.randn(3, 2, 2, 2, device="cuda:1")
    expected = F.conv2d(x.cpu(), w.cpu())

    def offer():
        assert torch.allclose(F.conv2d(x, w).cpu(), expected, atol=1e-5)
        return library.emulated_offer()

    trials = library.emulated_trials()
    assert offer() == STEADY  # the same results in each run, unless a quicker way is asked for
    with cudnn.flags(enabled=True, benchmark=True):
        assert offer() == UNSTEADY and offer() == UNSTEADY
        assert library.emulated_trials() == trials + 1
    with cudnn.flags(enabled=True, benchmark=True, deterministic=True):
        assert offer() == STEADY
    torch.use_deterministic_algorithms(True)
    try:
        with cudnn.flags(enabled=True, benchmark=True):
            assert offer() == STEADY
    finally:
        torch.use_deterministic_algorithms(False)


def test_where_memory_is_short(library):
    """2000 bytes of workspace, 600, or none."""
    provider = ctypes.CDLL(os.environ["RUSHLIGHT_CUDA_LIBRARY"])
    x, w = torch.randn(1, 2, 6, 11, device="cuda:1"), torch.randn(3, 2, 2, 2, device="cuda:1")
    expected = F.conv2d(x.cpu(), w.cpu())

    def offer(refused, **flags):
        before = library.emulated_convolutions()
        out = torch.empty(3 * 5 * 10, device="cuda:1")  # the result has room, then there is none
        try:
            provider.emulated_refuse(ctypes.c_size_t(refused), 100)
            with cudnn.flags(enabled=True, **flags):
                result = F.conv2d(x, w)
        finally:
            provider.emulated_refuse(ctypes.c_size_t(0), 0)
        assert torch.allclose(result.cpu(), expected, atol=1e-5) and out.numel() == 150
        return library.emulated_offer() if library.emulated_convolutions() > before else None

    assert offer(5000) == STEADY and offer(2000) == FRUGAL and offer(5000) == STEADY
    assert offer(2000, benchmark=True) == FRUGAL
    assert offer(601) == FRUGAL


@pytest.mark.parametrize(
    ("dtype", "tf32", "math"),
    [("float32", True, FAST), ("float32", False, EXACT), ("float64", True, EXACT),
     ("float16", True, TENSOR_CORES), ("bfloat16", False, TENSOR_CORES)],
)  # fmt: skip
def test_precision(library, dtype, tf32, math):
    kind = getattr(torch, dtype)
    x, w = torch.randn(1, 2, 5, 5).to(kind), torch.randn(3, 2, 3, 3).to(kind)
    with cudnn.flags(enabled=True, allow_tf32=tf32):
        out = F.conv2d(x.to("cuda:1"), w.to("cuda:1"), padding=1)
    assert library.emulated_math() == math
    expected = F.conv2d(x.double(), w.double(), padding=1)
    tolerance = {"float16": 2e-2, "bfloat16": 0.15}.get(dtype, 1e-5)
    assert torch.allclose(out.cpu().double(), expected, atol=tolerance)
