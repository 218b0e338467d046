""".grad of a tensor that is no leaf, set by hand or kept: it belongs to the tensor."""

import warnings

import pytest

import rushlight
from tests.conftest import ask


def listed(t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return t.grad if t.grad is None else t.grad.tolist()


def set_by_hand(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad = torch.tensor([5.0, 6.0])
    seen = [listed(y)]
    y.mul_(3)
    seen.append(listed(y))
    y[0] = 7
    seen.append(listed(y))
    y.sum().backward()  # adds nothing: nobody asked for it
    return [*seen, listed(y), listed(x)]


def kept_and_set(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.grad = torch.tensor([5.0, 6.0])
    y.mul_(3)
    (y * y).sum().backward()
    return [listed(y), listed(x)]


def set_then_kept(torch):
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.grad = torch.tensor([5.0, 6.0])
    y.retain_grad()
    y.mul_(3)
    (y * y).sum().backward()
    return [listed(y), y.retains_grad]


def of_a_leaf(torch):
    """A leaf that needs no gradient becomes a result."""
    y = torch.ones(2)
    y.grad = torch.tensor([5.0, 6.0])
    x = torch.ones(2, requires_grad=True)
    y.mul_(x)
    seen = [listed(y), y.is_leaf]
    y.sum().backward()
    return [*seen, listed(y), listed(x)]


def of_a_view(torch):
    x = torch.ones(4, requires_grad=True)
    y = x * 2
    v = y[:2]
    v.grad = torch.tensor([5.0, 6.0])
    y.mul_(3)
    seen = [listed(v), v.grad_fn.name()]
    v.mul_(2)
    return [*seen, listed(v)]


def detached(torch):
    y = torch.ones(2, requires_grad=True) * 2
    y.grad = torch.tensor([5.0, 6.0])
    y.detach_()
    x = torch.ones(2, requires_grad=True)
    (x * 2).sum().backward()
    x.detach_()
    return [listed(y), y.is_leaf, listed(x), x.requires_grad]


def taken_away(torch):
    y = torch.ones(2, requires_grad=True) * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    y.grad = None
    y.sum().backward()
    return listed(y)


CASES = [set_by_hand, kept_and_set, set_then_kept, of_a_leaf, of_a_view, detached, taken_away]


@pytest.mark.parametrize("case", CASES)
def test_grad(case, reference):
    assert case(rushlight) == ask(case)
