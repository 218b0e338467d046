"""Strides of results that torch does not lay out in rows; tests/oracle compares all others."""

import random

import pytest

import rushlight
from tests.compare import same_as_torch
from tests.conftest import load_reference

torch = load_reference()

CALLS = {
    "nonzero": "T.nonzero(x)",
    "nonzero of a 3-d tensor": "T.nonzero(y)",
    "nonzero as a tuple": "T.nonzero(x, as_tuple=True)[1]",
    "argwhere": "T.argwhere(y)",
    "unique along a dimension": "T.unique(y, dim=1)",
    "unique_consecutive along a dimension": "T.unique_consecutive(y, dim=2)",
    "cat of channels_last": "T.cat([c, c], 1)",
    "cat of channels_last and empty": "T.cat([T.ones(0, device=d), c], 2)",
    "cat of both formats": "T.cat([c, c.contiguous()], 1)",
    "cat of channels_last_3d": "T.cat([e, e, e], 0)",
    "unpooling of channels_last": "F.max_unpool2d(*F.max_pool2d(c, 2, return_indices=True), 2)",
    "cholesky": "T.linalg.cholesky(s)",
    "cholesky, upper": "T.linalg.cholesky(s, upper=True)",
    "R of qr": "T.linalg.qr(x)[1]",
    "R of qr, wide": "T.linalg.qr(x.mT)[1]",
    "R of qr, complete": "T.linalg.qr(y, mode='complete')[1]",
    "R of qr alone": "T.linalg.qr(y, mode='r')[1]",
    "triangular_solve's copy": "T.triangular_solve(T.ones(3, 1, device=d), s)[1]",
    "select_scatter with gaps": "T.select_scatter(g, T.zeros(3, device=d), 0, 1)",
    "slice_scatter of a transpose": "T.slice_scatter(x.t(), T.zeros(3, 1, device=d), 1, 0, 1)",
    "diagonal_scatter of an expansion": "T.diagonal_scatter(x[:1].expand(3, 3), x[0])",
    "float() of what has gaps": "g.float(memory_format=T.contiguous_format)",
    "to() of what has gaps": "g.to(T.float32, memory_format=T.contiguous_format)",
    "double() of what has gaps": "g.double(memory_format=T.contiguous_format)",
    "to() from channels_last": "c.to(T.float32, memory_format=T.contiguous_format)",
    "to() channels_last": "c.to(T.float32, memory_format=T.channels_last)",
    "pad": "F.pad(c, (1, 2, 0, 1), value=3.0)",
    "pad that cuts": "F.pad(c, (-1, 2, 0, 1, 1, 1))",
    "pad of channels_last_3d": "F.pad(e, (1, 1))",
    "pad of channels_last_3d, reflecting": "F.pad(e, (1, 1, 0, 1, 1, 0), mode='reflect')",
    "pad of channels_last_3d, replicating": "F.pad(e, (2, 1, 0, 0, 1, 2), mode='replicate')",
    "pad, reflecting": "F.pad(c, (1, 1, 2, 0), mode='reflect')",
    "pad, replicating": "F.pad(c, (1, 1, -1, 0), mode='replicate')",
    "stack": "T.stack([c, c])",
    "stack along 1": "T.stack([c, c, c], 1)",
    "stack along 2": "T.stack([c, c], 2)",
    "stack along the last": "T.stack([c, c], -1)",
    "stack of both formats": "T.stack([c, c.contiguous()], 1)",
    "stack of channels_last_3d": "T.stack([e, e], 1)",
    "indexed by a list": "c[[1, 0, 1]]",
    "indexed by a matrix": "c[T.tensor([[1, 0], [0, 0]], device=d)]",
    "indexed by a mask": "c[T.tensor([True, True], device=d)]",
    "indexed along 1": "c[:, [2, 0]]",
    "indexed along 2": "c[:, :, [3, 0, 1]]",
    "indexed along the last": "c[..., [2]]",
    "indexed twice": "c[:, [0, 1], [3, 2]]",
    "indexed twice, apart": "c[[0, 1], :, [3, 2]]",
    "a transpose indexed": "y.transpose(0, 2)[[1, 3]]",
    "what has gaps indexed": "g[:, [2, 0]]",
    "indexed by a transpose": "x[T.tensor([[0, 1, 3], [2, 2, 1]], device=d).t()]",
    "index_select": "c.index_select(0, T.tensor([1, 0], device=d))",
    "sort": "c.sort(0).values",
    "argsort along 1": "c.argsort(1, descending=True)",
    "sort of a transpose": "x.t().sort(0).indices",
    "sort of what has gaps": "g.sort(1).values",
    "msort": "T.msort(c)",
    "rms_norm": "F.rms_norm(c, (4,))",
    "layer_norm": "F.layer_norm(c, (4,))",
    "complex": "T.view_as_real(T.complex(c, c))",
    "add to an empty out": "T.add(c, 1, out=T.empty(0, device=d))",
    "sin to an empty out": "T.sin(x.t(), out=T.empty(0, device=d))",
    "a bias to an empty out": "T.add(x, x[0], out=T.empty(0, device=d))",
    "clamp to an empty out": "T.clamp(c, 0, 1, out=T.empty(0, device=d))",
    "comparison to an empty out": "T.gt(c, 1, out=T.empty(0, dtype=T.bool, device=d))",
    "cat to an empty out": "T.cat([c, c], 1, out=T.empty(0, device=d))",
    "cholesky to an empty out": "T.linalg.cholesky(s, out=T.empty(0, device=d))",
    "msort to an empty out": "T.msort(x.t(), out=T.empty(0, device=d))",
    "to an out of that size": "T.add(c, 1, out=T.empty(2, 3, 4, 4, device=d))",
    "an array": "T.tensor(c.cpu().numpy())",
    "an array with a new axis": "T.tensor(x.cpu().numpy().T[None])[0]",
    "an array that is reversed": "T.tensor(x.cpu().numpy().T[::-1].copy())",
}
OPERANDS = """
x = T.tensor([[1.0, 2, 0], [4, 0, 6], [7, 8, 9], [1, 0, 3]], device=d)
y = T.arange(24.0, device=d).reshape(2, 3, 4)
c = T.arange(2.0 * 3 * 4 * 4, device=d).reshape(2, 3, 4, 4).to(memory_format=T.channels_last)
e = T.ones(2, 3, 2, 2, 2, device=d).to(memory_format=T.channels_last_3d)
s = T.eye(3, device=d) * 2
g = T.arange(24.0, device=d).reshape(4, 6)[:, ::2]
"""


def answer(library, call, device):
    names = {"T": library, "F": library.nn.functional, "d": device}
    exec(OPERANDS, names)
    return eval(call, names)


@pytest.mark.filterwarnings("ignore")  # torch's, of deprecated functions
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_strides_are_those_of_torch(call, device):
    ours, theirs = answer(rushlight, call, device), answer(torch, call, "cpu")
    same_as_torch(ours, theirs, rtol=1e-5)
    assert ours.stride() == theirs.stride()


def test_a_copy_of_any_layout_has_torch_s_strides(device):
    """Random sizes and strides: expanded, overlapping, with gaps, and dense in any order."""
    chance = random.Random(0)
    for _ in range(400):
        rank = chance.randint(1, 5)
        sizes = [chance.choice([1, 2, 3, 4]) for _ in range(rank)]
        strides = [chance.choice([0, 1, 2, 3, 4, 6, 8, 12, 24]) for _ in range(rank)]
        ours, theirs = (
            library.arange(500.0, device=where).as_strided(sizes, strides)
            for library, where in ((rushlight, device), (torch, "cpu"))
        )
        if ours.is_contiguous():  # there we give a dimension of size 1 the stride of a row's
            continue
        for call in ("empty_like(x)", "clone(x)", "Tensor.double(x)"):
            got, expected = (
                eval(f"library.{call}", {"library": library, "x": x})
                for library, x in ((rushlight, ours), (torch, theirs))
            )
            assert got.stride() == expected.stride(), (call, sizes, strides)
        assert ours.clone().tolist() == theirs.tolist()
