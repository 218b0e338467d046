"""Splitting, joining, repeating and reversing: arguments' names, strides, gradients."""

import pytest

import rushlight as rl


def lists(parts):
    assert isinstance(parts, tuple)
    return [part.tolist() for part in parts]


def test_the_names_of_arguments(on_device):
    x = rl.arange(6)
    assert lists(rl.split(tensor=x, split_size_or_sections=4)) == [[0, 1, 2, 3], [4, 5]]
    assert lists(rl.split(x, split_size_or_sections=[1, 5])) == [[0], [1, 2, 3, 4, 5]]
    assert lists(x.split(split_size=[1, 5])) == [[0], [1, 2, 3, 4, 5]]
    with pytest.raises(TypeError):
        x.split(split_size_or_sections=2)
    assert lists(rl.tensor_split(x, sections=2)) == lists(x.tensor_split(indices=(3,)))
    by_tensor = x.tensor_split(tensor_indices_or_sections=rl.tensor([3], device="cpu"))
    assert lists(by_tensor) == [[0, 1, 2], [3, 4, 5]]
    for name, t in (("hsplit", x), ("vsplit", x.view(6, 1)), ("dsplit", x.view(1, 1, 6))):
        split = getattr(rl, name)
        for parts in (split(t, sections=2), split(t, indices=[3]), getattr(t, name)(2)):
            assert [p.flatten().tolist() for p in parts] == [[0, 1, 2], [3, 4, 5]]
        with pytest.raises(RuntimeError, match="not divisible by the split_size 4"):
            split(t, 4)
        with pytest.raises(RuntimeError):
            split(t, 0)
    with pytest.raises(RuntimeError, match="at least 2 dimension"):
        rl.vsplit(x, 2)


def test_unsafe_parts_share_memory(on_device):
    x = rl.arange(4.0, requires_grad=True)
    y = x * 1
    for parts in (rl.unsafe_split(y, 2), rl.unsafe_chunk(y, 2), y.unsafe_split_with_sizes([2, 2])):
        assert parts[1].data_ptr() == y.data_ptr() + 8 and parts[1]._base is None
    rl.unsafe_split(y, 3)[1].sum().backward()
    assert x.grad.tolist() == [0, 0, 0, 1]


def test_cat_gives_empty_vectors_a_gradient(device):
    empty = rl.zeros(0, device=device, requires_grad=True)
    x = rl.ones(2, 3, device=device, requires_grad=True)
    rl.cat([empty, x, x[:0]]).sum().backward()
    assert empty.grad.shape == (0,) and x.grad.tolist() == [[1] * 3] * 2


def test_repeat_interleave(device):
    x = rl.arange(6.0).reshape(2, 3).to(device).requires_grad_()
    twice = x.repeat_interleave(2, 1)
    assert twice.tolist() == [[0, 0, 1, 1, 2, 2], [3, 3, 4, 4, 5, 5]] and twice.is_contiguous()
    twice.sum().backward()
    assert x.grad.tolist() == [[2] * 3] * 2
    counts = rl.tensor([2, 0, 1]).to(device)
    assert x.repeat_interleave(counts, dim=-1).tolist() == [[0, 0, 2], [3, 3, 5]]
    assert (
        x.repeat_interleave(counts[:1], dim=0).tolist()
        == rl.cat([x[:1]] * 2 + [x[1:]] * 2).tolist()
    )
    assert rl.repeat_interleave(counts).tolist() == [0, 0, 2]
    assert rl.repeat_interleave(counts, output_size=3).tolist() == [0, 0, 2]
    assert rl.repeat_interleave(rl.tensor(3.0), 2).tolist() == [3, 3]
    assert x.repeat_interleave(0).shape == (0,)
    cpu = x.detach().cpu()
    for wrong in (-1, rl.tensor([1, -1, 1]), rl.tensor([1, 2]), rl.tensor([[1]])):
        with pytest.raises(RuntimeError):
            cpu.repeat_interleave(wrong, 1)
    with pytest.raises(RuntimeError, match="allocated size does not match"):
        cpu.repeat_interleave(2, 0, output_size=5)
    with pytest.raises(RuntimeError):
        cpu.repeat_interleave(2**62, 0)
    with pytest.raises(TypeError):
        rl.repeat_interleave(cpu, 2.0)


def test_an_int_repeats_without_waiting():
    with rl.cuda.virtual(1):
        x = rl.ones(2, 3, device="cuda:0")
        rl.cuda.set_sync_debug_mode("error")
        try:
            x.repeat_interleave(2, 1)
            rl.tril(x)
            rl.triu_indices(4, 4, device="cuda:0")
            rl.cdist(x, x, p=1)
            x.masked_scatter(x > 0, x)
            x.scatter_reduce(0, x.long(), x, "prod")
        finally:
            rl.cuda.set_sync_debug_mode("default")


def test_isin(device):
    x = rl.tensor([[1, 2], [3, 4]]).to(device)
    assert rl.isin(x, rl.tensor([2, 9, 3]).to(device)).tolist() == [[False, True], [True, False]]
    assert rl.isin(x, 2, invert=True).tolist() == [[True, False], [True, True]]
    assert rl.isin(4, x).item() is True and not rl.isin(4.5, x).item()
    assert rl.isin(x, x[:0]).tolist() == [[False] * 2] * 2
    nan = rl.tensor([float("nan"), 1.0]).to(device)
    assert rl.isin(nan, nan).tolist() == [False, True]
    with pytest.raises(TypeError):
        rl.isin(1, 2)
    with pytest.raises(RuntimeError, match="Unsupported input type"):
        rl.isin(x > 0, x)
