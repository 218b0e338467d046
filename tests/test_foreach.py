"""torch._foreach_*: each equals the operation on every tensor of the list, as torch's does."""

import pytest

import rushlight as torch
from rushlight import _foreach

NAMES = sorted(_foreach.NAMES)


def lists():
    return [torch.tensor([0.25, 0.5]), torch.tensor([[0.75]])]


@pytest.mark.parametrize("name", [f"_foreach_{n}" for n in _foreach.UNARY])
def test_unary(name):
    plain = name.removeprefix("_foreach_")
    result = getattr(torch, name)(lists())
    assert isinstance(result, tuple)
    for got, tensor in zip(result, lists(), strict=True):
        torch.testing.assert_close(got, getattr(tensor, plain)())
    if name + "_" in _foreach.NAMES:
        changed = lists()
        assert getattr(torch, name + "_")(changed) is changed
        torch.testing.assert_close(changed, list(result))


@pytest.mark.parametrize("name", _foreach.BINARY)
def test_binary(name):
    other = [t + 0.125 for t in lists()]
    more = (0.5,) if name == "lerp" else ()
    result = getattr(torch, f"_foreach_{name}")(lists(), other, *more)
    for got, a, b in zip(result, lists(), other, strict=True):
        torch.testing.assert_close(got, getattr(torch, name)(a, b, *more))
    changed = lists()
    getattr(torch, f"_foreach_{name}_")(changed, other, *more)
    torch.testing.assert_close(changed, list(result))


def values(tensors):
    return [t.tolist() for t in tensors]


def test_numbers_lists_and_options():
    x = [torch.ones(2), torch.full((1,), 3.0)]
    assert values(torch._foreach_add(x, 1)) == [[2, 2], [4]]
    assert values(torch._foreach_add(x, [1.0, 2.0])) == [[2, 2], [5]]
    assert values(torch._foreach_add(x, x, alpha=2)) == [[3, 3], [9]]
    assert values(torch._foreach_mul(x, torch.tensor(2.0))) == [[2, 2], [6]]
    assert values(torch._foreach_maximum(x, 2.0)) == [[2, 2], [3]]
    assert values(torch._foreach_minimum(x, [0.5, 2.0])) == [[0.5, 0.5], [2]]
    assert values(torch._foreach_addcmul(x, x, x)) == [[2, 2], [12]]
    assert values(torch._foreach_addcmul(x, x, x, value=3)) == [[4, 4], [30]]
    assert values(torch._foreach_addcdiv(x, x, x, [2.0, 3.0])) == [[3, 3], [6]]
    assert values(torch._foreach_addcdiv(x, x, x, torch.tensor([2.0, 3.0]))) == [[3, 3], [6]]
    assert values(torch._foreach_lerp(x, torch._foreach_add(x, 2), [0.5, 1.0])) == [[2, 2], [5]]
    assert values(torch._foreach_norm(x, 1)) == [2, 3]
    assert torch._foreach_norm(x, ord=2, dtype=torch.float64)[0].dtype is torch.float64
    assert values(torch._foreach_max(x)) == [1, 3]
    assert values(torch._foreach_pow(2.0, x)) == [[2, 2], [8]]
    assert values(torch._foreach_mm([torch.ones(1, 2)], [torch.ones(2, 1)])) == [[[2]]]
    assert torch._foreach_zero_(x) is x and values(x) == [[0, 0], [0]]
    assert values(torch._foreach_copy_(x, [torch.ones(2), torch.ones(1)])) == [[1, 1], [1]]


def test_refusals():
    with pytest.raises(RuntimeError, match="must have the same number of tensors, got 2 and 1"):
        torch._foreach_add(lists(), lists()[:1])
    with pytest.raises(RuntimeError, match="same number of elements as scalar list"):
        torch._foreach_add(lists(), [1.0])
    with pytest.raises(RuntimeError, match="Tensor list must have at least one tensor"):
        torch._foreach_add([], 1)
    with pytest.raises(TypeError, match="must be tuple of Tensors"):
        torch._foreach_add(torch.ones(2), 1)
    with pytest.raises(AttributeError):
        torch._foreach_nothing
    assert all(getattr(torch, name).__name__ == name for name in NAMES)
