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
