"""Tensors of the device meta have shape and dtype, but no data that a call could read."""

import pytest

import rushlight as torch

READS = (
    "m.to('cpu')", "m.cpu()", "m.to(r)", "m.tolist()", "m.detach().cpu()", "m.unique()",
    "m.sum().item()", "bool(m.sum())", "int(m.sum())", "r.copy_(m)", "m.nonzero()",
    "m.masked_select(m > 0)", "m.equal(m)", "T.allclose(m, m)", "T.isfinite(m).all().item()",
    "T.nn.Linear(2, 2, device='meta').to('cpu')", "m.to(T.float64).cpu()",
)  # fmt: skip
STAYS = (
    "m + 1", "m.clone()", "m.to(T.float64)", "m.copy_(r)", "m.fill_(3)", "m.zero_()",
    "r.to('meta')", "T.ones_like(m)", "m[0]", "m @ m.t()", "m.uniform_()", "m.to('meta')",
)  # fmt: skip


def evaluated(torch, call):
    given = {"m": torch.empty(2, 3, device="meta"), "r": torch.ones(2, 3), "T": torch}
    return eval(call, given)


@pytest.mark.parametrize("call", READS)
def test_nothing_is_read(call):
    with pytest.raises(NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        evaluated(torch, call)


@pytest.mark.parametrize("call", STAYS)
def test_shape_and_dtype_are_known(reference, call):
    ours, theirs = evaluated(torch, call), evaluated(reference, call)
    assert ours.is_meta
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype) == str(theirs.dtype)


def test_numpy():
    with pytest.raises(TypeError, match="can't convert meta device type tensor to numpy"):
        torch.empty(2, device="meta").numpy()


def test_gradients_are_meta():
    m = torch.empty(2, 3, device="meta", requires_grad=True)
    m.sum().backward()
    assert m.grad.is_meta
    assert m.grad.shape == (2, 3)
    (g,) = torch.autograd.grad((m * m.exp()).softmax(1).sum(), m)  # whose nodes compute with values
    assert g.is_meta


def test_values_for_a_module_on_meta():
    """Copied into a meta parameter they are lost, which is said; assigned they are there."""
    given = torch.nn.Linear(2, 3).state_dict()
    module = torch.nn.Linear(2, 3, device="meta")
    with pytest.warns(UserWarning, match=r"for (weight|bias): copying .*`assign=True`"):
        module.load_state_dict(given)
    assert module.weight.is_meta
    module.load_state_dict(given, assign=True)
    assert module.weight.equal(given["weight"])
