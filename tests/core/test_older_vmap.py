"""torch._vmap_internals and what of autograd.functional libraries call beside it: jacobians by one
backward pass."""

import re
import warnings

import pytest

import rushlight
from tests.conftest import ask

CALLS = """
V._vmap(lambda v: G(y, x, v, retain_graph=True)[0])(torch.eye(3))
V._vmap(lambda v: G(y, (x, z), v, retain_graph=True, allow_unused=True), 0, 0, True)(torch.eye(3))
V._vmap(lambda v: (v, v * 2), out_dims=(0, 1))(m)
V._vmap(lambda v: (v, v * 2), in_dims=1)(m)
V._vmap(lambda v, w: v @ w, (0, None))(m, x.detach())
V._vmap(torch.sum)(m)
V._vmap(lambda v: [v])(m)
V._vmap(lambda v: (v, None))(m)
V._vmap(lambda v: v, out_dims=None)(m)
V._vmap(lambda v, w: v)(m, x[:2])
V.vmap(torch.sin)(m)
A._tuple_postprocess(((x,), (z,)), (True, False))
A._tuple_postprocess(((x, z),), (False, True))
A._tuple_postprocess((x, z), True)
A._tuple_postprocess((x, z), False)
A._grad_postprocess((x * 2, z * 2), False)
A._grad_postprocess(((x * 2, z * 2),), True)[0]
A._grad_preprocess((x, m), True, True)
A._grad_preprocess((x, m), False, True)
A._as_tuple([x, z])
A._as_tuple(x, "inputs", "vjp")[1]
A._as_tuple((x, 1), "inputs", "vjp")[1]
A._as_tuple([x], "inputs", "vjp")[1]
basis((x,), (3,))
basis((x, m, z.double()), (3, 6, 2))
""".strip().splitlines()


def answer(torch, call):
    from importlib import import_module

    x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    z = torch.tensor([1.0, 3.0], requires_grad=True)
    known = {"torch": torch, "V": import_module(f"{torch.__name__}._vmap_internals"), "z": z}
    known |= {"x": x, "y": x.sin() * x[0], "m": torch.arange(6.0).reshape(2, 3)}
    known |= {"G": torch.autograd.grad}
    known |= {"A": torch.autograd.functional}
    known |= {"basis": torch.autograd.functional._construct_standard_basis_for}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            found = eval(call, known)
        except (ValueError, TypeError) as error:
            return re.sub("'(torch|rushlight)[.]", "'", str(error))
    parts = found if isinstance(found, tuple) else (found,)
    values = [
        part if part is None else (f"{part.dtype} {part.requires_grad}", part.tolist())
        for part in parts
    ]
    return [*values, *(f"{w.category.__name__}: {w.message}" for w in caught)]


@pytest.mark.parametrize("call", CALLS)
def test_like_torch(call):
    theirs = ask(lambda torch: answer(torch, call))
    mine = answer(rushlight, call)
    if isinstance(theirs, str):
        assert mine == theirs
        return
    assert len(mine) == len(theirs)
    for one, other in zip(mine, theirs, strict=True):
        if isinstance(other, tuple):
            assert one[0] == other[0]
            assert rushlight.allclose(rushlight.tensor(one[1]), rushlight.tensor(other[1]))
        else:
            assert one == other
