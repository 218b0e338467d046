"""Writes in place that autograd refuses, or that end a gradient: parts of split() and unbind(), and
comparisons."""

import pytest

import rushlight
from tests.conftest import ask

REFUSED = [
    "y.unbind()[0].mul_(2)", "y.split(2)[0].add_(1)", "y.chunk(2)[1].zero_()",
    "y.split([1, 3])[0].fill_(1)", "y.chunk(2)[0][0].mul_(2)", "y.chunk(2)[0].view(2, 1).mul_(2)",
    "y.unbind()[1].copy_(w[0])", "y.chunk(2)[0].normal_()", "y.chunk(2)[0].unsqueeze_(0)",
    "T.relu_(y.chunk(2)[0])", "y.chunk(2)[0].masked_fill_(w[:2] > 0, 1)",
    "y.chunk(2)[0].index_fill_(0, T.tensor([0]), 1)", "[row for row in y][0].mul_(2)",
    "x.unbind()[0].mul_(w[0])", "x.chunk(2)[0].mul_(w[:2])", "y.chunk(2)[0].__setitem__(0, 5)",
]  # fmt: skip
TAKEN = [
    "x.unbind()[0].mul_(2)", "x.chunk(2)[0].mul_(2)", "y.chunk(2)[0].detach().mul_(2)",
    "y.unsafe_chunk(2)[0].mul_(2)", "y.tensor_split(2)[0].mul_(2)", "y.hsplit(2)[0].mul_(2)",
    "y[:2].mul_(2)", "y.narrow(0, 0, 2).mul_(2)", "y.chunk(2)[0].data.mul_(2)",
    "y.chunk(2)[0].clone().mul_(2)",
]  # fmt: skip
COMPARED = [
    f"{a}.{name}_({b})"
    for name in ("eq", "ne", "lt", "le", "gt", "ge")
    for a, b in (("y", "1"), ("y", "w"), ("x", "w"), ("y", "w[1:2]"), ("w", "1"), ("y[1:]", "1"))
] + ["y.logical_not_()", "y.logical_and_(w)"]


def tried(torch, call):
    torch.manual_seed(0)
    w = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    x, y = torch.ones(4), w * 2
    try:
        result = eval(call, {"T": torch, "x": x, "y": y, "w": w})
    except RuntimeError as error:
        return str(error).splitlines()[0].split(" You should replace")[0]
    total = x.sum() + y.sum()
    gradient = torch.autograd.grad(total, w)[0].tolist() if total.requires_grad else None
    name = result.grad_fn.name() if result.grad_fn else None
    if name in ("MulBackward0", "EqBackward0", "EqBackward1"):
        name = name[:3]
    return result.tolist(), result.requires_grad, x.tolist(), y.tolist(), gradient


@pytest.mark.parametrize("call", REFUSED + TAKEN + COMPARED)
def test_as_torch(call):
    theirs = ask(lambda torch: tried(torch, call))
    assert isinstance(theirs, str) or call not in REFUSED
    assert tried(rushlight, call) == theirs


def test_a_part_of_what_was_written_to():
    w = rushlight.ones(4, requires_grad=True)
    y = w * 2
    part = y.chunk(2)[0]
    y.mul_(2)
    with pytest.raises(RuntimeError, match="Output 0 of Split is a view and its base or another "):
        part + 1
    assert part.tolist() == [4, 4]


def test_names_of_nodes():
    w = rushlight.ones(4, requires_grad=True)
    assert (w * 2).eq_(1).grad_fn.name() == "EqBackward0"
    assert (w * 2).ge_(w).grad_fn.name() == "GeBackward1"
