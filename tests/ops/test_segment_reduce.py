"""segment_reduce: rows of different lengths, each reduced."""

import pytest

import rushlight
from tests.conftest import ask

CALLS = [
    f"s(a, {name!r}, {bounds}{initial})"
    for name in ("sum", "mean", "max", "min", "prod", "amax", "amin")
    for bounds in ("lengths=t([1, 2, 0])", "offsets=t([0, 1, 3])", "lengths=t([3])")
    for initial in ("", ", initial=5")
] + [
    "s(m, 'sum', lengths=t([1, 2]))", "s(m, 'max', lengths=t([1, 2]).int())",
    "s(m, 'mean', lengths=t([[1, 1], [1, 1], [2, 0]]), axis=1)",
    "s(m, 'sum', lengths=t([[1, 2], [1, 2], [1, 2]]))", "s(m, 'sum', lengths=t([1, 1]), axis=1)",
    "s(m, 'sum', lengths=t([1, 1]))", "s(m, 'sum', lengths=t([1, 1]), unsafe=True)",
    "s(m, 'sum', lengths=t([4, -1]))", "s(m, 'sum', lengths=t([1., 2.]))", "s(m, 'sum')",
    "s(m, 'sum', indices=t([0, 1]))", "s(m, 'other', lengths=t([3]))",
    "s(m.long(), 'sum', lengths=t([3]))", "s(m.half(), 'sum', lengths=t([2, 1]))",
    "s(m, 'sum', offsets=t([1, 2, 3]))", "s(m, 'sum', offsets=t([0, 3, 2]))",
    "s(a[:0], 'sum', lengths=t([0, 0]))", "s(a[0], 'sum', lengths=t([1]))",
    "s(a, 'sum', lengths=t([1, 2]), axis=-1)", "s(a, 'sum', lengths=t([1, 2]), axis=1)",
    "s(z, 'prod', lengths=t([1, 2]))",
]  # fmt: skip


def tried(torch, call, device="cpu"):
    names = {
        "s": torch.segment_reduce,
        "t": lambda values: torch.tensor(values, device=device),
        "a": torch.tensor([1.0, 2.0, 2.0], device=device, requires_grad=True),
        "m": torch.arange(6.0, device=device).view(3, 2).requires_grad_(),
        "z": torch.tensor([1.0, 0.0, 3.0], device=device, requires_grad=True),
    }
    try:
        result = eval(call, names)
        leaf = names[call[2]]
        gradient = torch.autograd.grad(result.sum(), leaf)[0]
    except (RuntimeError, IndexError) as error:
        return type(error).__name__
    return str(result.dtype), result.tolist(), gradient.tolist()


@pytest.mark.parametrize("call", CALLS)
def test_as_torch(call, device):
    ours, theirs = tried(rushlight, call, device), ask(lambda torch: tried(torch, call))
    assert repr(ours).replace("rushlight", "torch") == repr(theirs).replace("rushlight", "torch")


@pytest.mark.parametrize("bounds", [[0, 4], [0, 2**62], [-1, 2], [2**63 - 1, 2**63 - 1], []])
def test_bounds_outside_of_the_data(bounds, device):
    data = rushlight.ones(3, device=device)
    at = rushlight.tensor(bounds, dtype=rushlight.int64, device=device)
    with pytest.raises(RuntimeError, match="segment_reduce"):
        rushlight.segment_reduce(data, "sum", offsets=at, unsafe=True)


def test_lengths_of_fewer_rows(device):  # torch reads on behind them
    lengths = rushlight.tensor([[1, 1]], device=device)
    with pytest.raises(RuntimeError, match="the same sizes"):
        rushlight.segment_reduce(
            rushlight.ones(3, 2, device=device), "sum", lengths=lengths, axis=1
        )


def test_lengths_whose_sum_overflows(device):
    lengths = rushlight.tensor([2**63 - 1, 2**63 - 1], device=device)
    with pytest.raises(RuntimeError):
        rushlight.segment_reduce(rushlight.ones(3, device=device), "sum", lengths=lengths)
