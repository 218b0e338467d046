"""Arguments in the orders that torch still takes with a warning: a factor before its operands."""

import subprocess
import sys
import warnings

import pytest

import rushlight

CALLS = """
torch.add(a, 2, b)
torch.sub(a, 0.5, b)
torch.add(a, 2, b, out=torch.empty(2, 2))
a.add(3, b)
a.clone().add_(3, b)
a.clone().sub_(3, b)
torch.addcmul(a, 2, b, b)
torch.addcdiv(a, 2, b, b)
a.addcmul(0.5, b, b)
a.clone().addcdiv_(0.5, b, b)
torch.addmm(2, a, b, b)
torch.addmm(2, a, 3, b, b)
a.addmm(2, b, b)
a.addmm(2, 3, b, b)
a.clone().addmm_(2, 3, b, b)
torch.addmv(2, a[0], 3, b, b[0])
torch.addr(2, a, 3, b[0], b[1])
torch.baddbmm(2, a[None], 3, b[None], b[None])
torch.addbmm(2, a, 3, b[None], b[None])
""".strip().split("\n")

REFUSED = """
torch.add(a, b, 2)
torch.add(a, "2", b)
torch.add(a, 2, b, 3)
torch.add(a, 2, b, alpha=3)
torch.mul(a, 2, b)
torch.addmm(a, 2, b, b)
torch.addmm(2, a, b, b, 3)
a.addmm(2, b, b, b, b)
""".strip().split("\n")


def value(library, call):
    a, b = library.tensor([[1.0, 2.0], [3.0, 4.0]]), library.tensor([[5.0, 6.0], [7.0, 8.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return eval(call, {"torch": library, "a": a, "b": b})


@pytest.mark.parametrize("call", CALLS)
def test_old_order(reference, call, on_device):
    assert value(rushlight, call).tolist() == value(reference, call).tolist()


@pytest.mark.parametrize("call", REFUSED)
def test_what_is_no_old_order(call, on_device):
    with pytest.raises(TypeError):
        value(rushlight, call)


def test_it_warns_once():
    program = """
import warnings, rushlight
x, v = rushlight.ones(2), rushlight.ones(2)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    x.addcmul_(2, v, v)
    assert "This overload of addcmul_ is deprecated" in str(told.pop().message)
    assert x.addcmul_(2, v, v).tolist() == [5, 5] and not told
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
