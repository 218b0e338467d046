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
