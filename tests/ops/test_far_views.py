"""Views at the limits: a ninth dimension, offsets and strides near the end of 64 bits, lines of no
elements. What is refused is refused before memory is touched, which the sanitizers' stage sees."""

import pytest

import rushlight as torch

EIGHT = (1,) * 8
NINTH = "at most 8 dimensions"


@pytest.mark.parametrize("dim", [0, 3, 8, -1])
def test_a_ninth_dimension(dim, device):
    x = torch.ones(EIGHT, device=device)
    for call in (
        lambda: x.unsqueeze(dim),
        lambda: torch.unsqueeze_copy(x, dim),
        lambda: x.clone().unsqueeze_(dim),
        lambda: x[None],
        lambda: x[..., None],
        lambda: x.unfold(min(dim, 7), 1, 1),
    ):
        with pytest.raises(RuntimeError, match=NINTH):
            call()


@pytest.mark.parametrize("before", [1, 2, 200])
def test_an_offset_beyond_64_bits_of_bytes(before, device):
    """Resized by out=, such a tensor would begin before its memory: 2**62 elements are 2**64."""
    memory = torch.zeros(400, device=device)
    with pytest.raises(RuntimeError, match="overflow"):
        out = memory.as_strided((0,), (1,), 2**62 - before)
        torch.add(torch.ones(400, device=device), 1, out=out)
    assert not memory.any()


def test_strides_beyond_64_bits(device):
    lines = torch.zeros(2, 0, device=device).as_strided((2, 0), (2**62, 1))
    point = torch.zeros(1, device=device).as_strided((1, 1), (2**62, 2**62))
    for call in (
        lambda: lines[1],
        lambda: lines[1:],
        lambda: lines.unsqueeze(0),
        lambda: point.diagonal(),
    ):
        with pytest.raises(RuntimeError, match="overflow"):
            call()
    assert (point + 1).tolist() == [[1]]


def test_scattered_from_nothing(device):
    index, nothing = torch.tensor(0, device=device), torch.zeros(0, device=device)
    for shape in ((), (1,)):
        for call in (torch.scatter, torch.scatter_add):
            with pytest.raises(RuntimeError, match="no larger size than src"):
                call(torch.ones(shape, device=device), 0, index, nothing)
    with pytest.raises(RuntimeError, match="no larger size than src"):
        torch.scatter_reduce(torch.ones((), device=device), 0, index, nothing, "sum")


def test_windows_and_results_beyond_64_bits(device):
    F = torch.nn.functional
    x = torch.ones(1, 1, 4, 4, device=device)
    none = torch.ones(0, 1, 4, 4, device=device)
    for size in ((2**62, 2**62), (2**32, 2**32)):
        for image in (x, none):
            for call in (F.adaptive_avg_pool2d, F.adaptive_max_pool2d):
                with pytest.raises(RuntimeError):
                    call(image, size)
    assert F.max_pool2d(x, 2**63 - 1, ceil_mode=True).tolist() == [[[[1]]]]
    assert torch.eye(0, 2**63 - 1, device=device).shape == (0, 2**63 - 1)


def test_lines_of_one_far_element(device):
    """What a stride leads to is not there: neither computed nor read."""
    for dtype in (torch.float32, torch.complex64, torch.complex128):
        memory = torch.ones(1, dtype=dtype, device=device)
        line, square = memory.as_strided((1,), (2**62,)), memory.as_strided((1, 1), (2**62, 2**62))
        for call in (torch.fft.fft, torch.fft.ifft, torch.fft.fft2):
            assert call(square).flatten().tolist() == [1]
        assert torch.fft.fft(line).tolist() == [1]
        if not dtype.is_complex:  # complex ones are seen as pairs: refused
            for call in (torch.cumsum, torch.cumprod, torch.sum, torch.softmax):
                assert call(square, 0).flatten().tolist() == [1]
            assert (square @ square).tolist() == [[1]]
        assert torch.cat([square, square]).tolist() == [[1], [1]]
