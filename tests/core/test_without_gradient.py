"""Where no gradient flows: derivatives of constants are zeros; arrays of tensors under no_grad."""

import numpy
import pytest

import rushlight as torch

derivative = torch.autograd.functional


@pytest.mark.parametrize("create_graph", [False, True])
def test_of_constants(create_graph, device):
    x = torch.randn(3, device=device)
    constants = {
        "new": lambda x: torch.ones(2, device=device).sum(),
        "detached": lambda x: x.detach().sum(),
        "another leaf": lambda x: torch.ones((), device=device, requires_grad=True) * 2,
        "linear": lambda x: x.sum(),
    }
    for name, function in constants.items():
        found = derivative.hessian(function, x, create_graph=create_graph)
        assert found.shape == (3, 3) and not found.any(), name
        if name != "linear":
            found = derivative.jacobian(function, x, create_graph=create_graph)
            assert found.shape == (3,) and not found.any(), name
    ((a, b), (c, d)) = derivative.hessian(lambda x, y: (x * x).sum(), (x, x[:2]))
    assert (a / 2).tolist() == torch.eye(3).tolist()
    assert [tuple(t.shape) for t in (b, c, d)] == [(3, 2), (2, 3), (2, 2)]
    assert not b.any() and not c.any() and not d.any()


def test_strict_refuses_them():
    with pytest.raises(RuntimeError, match=r"independent|does not require"):
        derivative.jacobian(lambda x: torch.ones(2), torch.ones(3), strict=True)


def test_arrays_without_gradients():
    x = torch.ones(3, requires_grad=True)
    for off in (torch.no_grad, torch.inference_mode):
        with off():
            assert x.numpy().tolist() == numpy.asarray(x).tolist() == [1.0, 1.0, 1.0]
            assert numpy.array(x * 2).tolist() == [2.0, 2.0, 2.0]
    for read in (torch.Tensor.numpy, numpy.asarray):
        with pytest.raises(
            RuntimeError, match=r"Can't call numpy\(\) on Tensor that requires grad"
        ):
            read(x)
    assert x.numpy(force=True).tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "call, name",
    [
        ("x // 2", "floor_divide"),
        ("5 // x", "floor_divide"),
        ("torch.floor_divide(v, x)", "floor_divide"),
        ("(x * 1).floor_divide_(v)", "floor_divide_"),
        ("x * 2 + x // v", "floor_divide"),
        ("torch.heaviside(x, v)", "heaviside"),
        ("torch.heaviside(v, x)", "heaviside"),
        ("(x * 1).heaviside_(v)", "heaviside_"),
    ],
)
def test_of_what_has_none(call, name, device):
    """The result has a history, so that backward() can say what is missing."""
    x = torch.tensor([5.0, -3.0], device=device, requires_grad=True)
    v = torch.tensor([1.0, 2.0], device=device)
    y = eval(call, {"torch": torch, "x": x, "v": v})
    assert y.requires_grad
    if "x * 2 +" not in call:
        assert y.grad_fn.name() == "torch::autograd::NotImplemented"
    with pytest.raises(RuntimeError, match=f"^derivative for aten::{name} is not implemented\n"):
        y.sum().backward()
    assert x.grad is None
    with torch.no_grad():
        assert eval(call, {"torch": torch, "x": x, "v": v}).tolist() == y.tolist()


def test_a_remainder_still_has_second_ones(device):
    x = torch.tensor([5.5, -3.25], device=device, requires_grad=True)
    y = torch.tensor([2.0, 2.0], device=device, requires_grad=True)
    first = torch.autograd.grad(torch.remainder(x, y).sum(), (x, y), create_graph=True)
    assert [g.tolist() for g in first] == [[1.0, 1.0], [-2.0, 2.0]]
    torch.autograd.grad((first[0] + first[1] * x).sum(), x)
