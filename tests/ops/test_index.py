"""Reading and writing by indices, on every device against the CPU, which is held against torch
elsewhere (tests/core/test_indexing.py, test_scatter.py)."""

import numpy as np
import pytest

import rushlight as rl

DTYPES = ["bool", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"]
SHAPES = [(7, 5), (3, 300), (200, 2)]


def numbers(dtype, *shape, low=-4, high=5):
    """Small whole numbers, which every dtype holds exactly, so that sums are exact too."""
    generator = rl.Generator().manual_seed(len(shape) + shape[0])
    low = 0 if dtype in {"bool", "uint8"} else low
    return rl.randint(low, high, shape, generator=generator).to(getattr(rl, dtype))


def indices(size, *shape):
    generator = rl.Generator().manual_seed(size)
    return rl.randint(0, size, shape, generator=generator)


def check(device, call, *tensors):
    """The same from both, values and dtype, for tensors or tuples of them."""
    expected = call(*[t.clone() for t in tensors])
    result = call(*[t.to(device) for t in tensors])
    if not isinstance(expected, tuple):
        expected, result = (expected,), (result,)
    for ours, right in zip(result, expected, strict=True):
        assert str(ours.device) == device and ours.dtype is right.dtype
        assert ours.cpu().tolist() == right.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_lists_of_indices(device, dtype, shape):
    x, rows = numbers(dtype, *shape), indices(shape[0], 11)
    columns, low = indices(shape[1], 11), indices(shape[0], 2, 3) - shape[0]
    check(device, lambda x, r: x[r], x, rows)
    check(device, lambda x, r: x[r, 1:], x, low)
    check(device, lambda x, c: x[:, c], x, columns)
    check(device, lambda x, r, c: x[r, c], x, rows, columns)
    check(device, lambda x, r, c: x.t()[c, r], x, rows, columns)
    check(device, lambda x: x[x != 0], x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_writing_by_indices(device, dtype, shape):
    x, rows = numbers(dtype, *shape), rl.randperm(shape[0])[:3]
    check(device, lambda x, r: x.index_put_((r,), x[0, 0].clone()), x, rows)
    check(device, lambda x, v, r: x.index_put_((r,), v), x, numbers(dtype, 3, shape[1]), rows)
    many = indices(shape[0], 100)
    for values in (numbers(dtype, 100, shape[1], high=2), numbers(dtype, 1, 1)):
        check(device, lambda x, v, r: x.index_put_((r,), v, accumulate=True), x, values, many)
    columns = indices(shape[1], 100)
    check(device, lambda x, v, r, c: x.index_put_((r, c), v, accumulate=True), x,
          numbers(dtype, 100, high=2), many, columns)  # fmt: skip
    check(device, lambda x, v, c: x.t().index_put_((c,), v, accumulate=True), x,
          numbers(dtype, 100, shape[0], high=2), columns)  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dim", [0, 1])
def test_gather_and_scatter(device, dtype, shape, dim):
    x, index = numbers(dtype, *shape), indices(shape[dim], *shape)
    check(device, lambda x, i: x.gather(dim, i), x, index)
    check(device, lambda x, i: x.t().gather(1 - dim, i.t()), x, index)
    src = numbers(dtype, *shape, high=2)
    check(device, lambda x, i, s: x.scatter_add_(dim, i, s), x, index, src)
    check(device, lambda x, i, s: x.t().scatter_add_(1 - dim, i.t(), s.t()), x, index, src)
    check(device, lambda x, i, s: x.scatter_(dim, i, s), x, index, src)
    if dtype != "bool":
        ones = (src > 0).to(src.dtype)
        for reduce in ("amax", "amin", "prod", "sum", "mean"):
            for own in (True, False):

                def call(x, i, s, reduce=reduce, own=own):
                    return x.scatter_reduce(dim, i, s, reduce, include_self=own)

                check(device, call, x, index, ones)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(0, 3), (1,), (5, 7), (3, 4100)])
def test_nonzero(device, dtype, shape):
    x = numbers(dtype, *shape, low=-1, high=2)
    check(device, lambda x: x.nonzero(), x)
    check(device, lambda x: x.nonzero(as_tuple=True), x)
    check(device, lambda x: x.t().nonzero() if x.dim() == 2 else x.nonzero(), x)


def test_counts_of_nonzero_in_any_layout(device):
    """Counted in the order of memory; the positions stay in the order of the dimensions."""
    x = rl.arange(3 * 4 * 5 * 6, device=device).reshape(3, 4, 5, 6) * 7 % 3
    layouts = (x, x.permute(3, 1, 0, 2), x.mT, x[::2, :, 1:, ::3], x[:, :1].expand(3, 4, 5, 6),
               x[:1, :, :, :1].expand(2, 4, 5, 7), x[0, 0, 0, 1].expand(3, 2), x[1, 1, 1, 1],
               x[:, :, :0])  # fmt: skip
    for t in layouts:
        values = t.cpu().numpy()
        assert t.nonzero().tolist() == np.argwhere(values).tolist()
        same = t.clone()
        assert t.equal(same)
        if t.numel():
            same.reshape(-1)[-1:] += 1
            assert t.equal(same) == bool((values == same.cpu().numpy()).all())


def test_what_is_contiguous_in_torch_is_here(device):
    x = rl.ones(6, 4, device=device)[::2, ::2]
    assert all(index.is_contiguous() for index in x.nonzero(as_tuple=True))
    assert x[0].ravel().is_contiguous()


def test_long_rows_gathered(on_device):
    """Rows of more than a piece that is fetched ahead: index_select and x[i]."""
    x = rl.arange(7 * 5000).reshape(7, 5000)
    i = rl.tensor([6, 0, 0, 3])
    expected = rl.stack([x[6], x[0], x[0], x[3]])
    assert rl.equal(x.index_select(0, i), expected) and rl.equal(x[i], expected)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int32", "int64"])
def test_rows_of_every_length_gathered(device, dtype):
    whole = rl.arange(7 * 80).remainder(113).reshape(7, 80).to(getattr(rl, dtype))
    rows = [6, 0, 3, 3, 5]
    for length in range(1, 80):
        x = whole[:, :length].to(device)
        for source in (x, x.contiguous()):
            taken = source.index_select(0, rl.tensor(rows, device=device))
            assert taken.tolist() == [whole[r, :length].tolist() for r in rows], length


def test_indices_and_rows_in_lines(device):
    """More indices than become offsets at a time, and lines that are short, long or one."""
    x = rl.arange(3 * 50, device=device).reshape(50, 3)
    for shape in ((), (1,), (3000,), (1500, 2), (2, 1500), (1100, 1), (5, 7, 60)):
        at = indices(50, *shape)
        expected = (at.unsqueeze(-1) * 3 + rl.arange(3)).tolist()
        assert x[at.to(device)].tolist() == expected
        assert x[(at - 50).to(device)].tolist() == expected
        if len(shape) > 1:
            turned = at.mT.contiguous().mT.to(device)
            assert x[turned].tolist() == expected


@pytest.mark.parametrize("threads", [1, 3])
def test_rows_written_by_several_threads(device, threads):
    """Several of which are one row: in their order, whichever way both sides lie in memory."""
    before = rl.get_num_threads()
    rl.set_num_threads(threads)
    try:
        x, rows = numbers("float32", 90, 1100), numbers("float32", 400, 1100)
        at = indices(90, 400)
        added, set_to = x.numpy().copy(), x.numpy().copy()
        np.add.at(added, at.numpy(), rows.numpy())
        for i, row in zip(at.tolist(), rows.numpy(), strict=True):
            set_to[i] = row
        for turned in (False, True):
            ours, theirs = (t.mT.contiguous().mT if turned else t for t in (x, rows))
            ours, theirs, where = (t.to(device) for t in (ours, theirs, at))
            assert (ours.index_add(0, where, theirs).cpu().numpy() == added).all()
            if not ours.is_cuda:  # a GPU says not which of several stays
                assert (ours.index_copy(0, where, theirs).numpy() == set_to).all()
    finally:
        rl.set_num_threads(before)
