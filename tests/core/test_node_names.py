"""The names of nodes, where rushlight composes what torch has as one operation."""

import pytest

import rushlight
from tests.conftest import ask

CALLS = (
    "T.rot90(x)", "T.rot90(x, 2)", "T.rot90(x, 4)", "T.block_diag(x, x)", "T.block_diag(x)",
    "T.cdist(x, x)", "T.cdist(x, x, 1.0)",
    "T.nn.functional.affine_grid(x[None, :2], (1, 1, 2, 2), False)",
    "T.addr(x, x[0], x[1])", "T.cholesky_solve(x, x)", "T.cholesky_inverse(x)", "x % 2", "x % x",
    "T.remainder(x, 2.5)", "T.fmod(x, 2)", "T.fmod(x, x)", "T.lerp(x, x, x)", "T.lerp(x, x, 0.5)",
    "T.broadcast_tensors(x, x[0])[1]", "x.detach().clone().copy_(x)",
)  # fmt: skip


def names(torch):
    x = torch.eye(3) + 0.25
    x.requires_grad_()
    found = [eval(call, {"T": torch, "x": x}).grad_fn for call in CALLS]
    return [[node.name(), type(node).__name__] for node in found]


def same_tensors(torch):
    x, y = torch.ones(2, 3, requires_grad=True), torch.ones(3)
    both = torch.broadcast_tensors(x, y)
    return both[0] is x, both[0].is_leaf, both[1] is y, list(both[1].shape)


@pytest.mark.parametrize("case", [names, same_tensors])
def test_names(case, reference):
    assert case(rushlight) == ask(case)
