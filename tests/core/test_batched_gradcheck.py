"""gradcheck of batches of gradients, and of forward over backward."""

import pytest

import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck
from rushlight.autograd.gradcheck import GradcheckError

vmap = torch.vmap

FUNCTIONS = {
    "product": lambda x, w: torch.tanh(x @ w),
    "pair": lambda x, w: (x.sum(0), w.prod()),
    "view": lambda x, w: torch.cumsum(x, 0)[1:].t(),
    "complex": lambda x, w: torch.view_as_complex(x) * torch.view_as_complex(x).conj(),
}


@pytest.fixture
def inputs():
    made = torch.randn(3, 2, dtype=torch.float64), torch.randn(2, 4, dtype=torch.float64)
    return tuple(x.requires_grad_() for x in made)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_right_gradients_pass(name, inputs):
    function = FUNCTIONS[name]
    assert gradcheck(
        function, inputs, check_batched_grad=True, check_forward_ad=True,
        check_batched_forward_grad=True,
    )  # fmt: skip
    assert gradgradcheck(function, inputs, check_batched_grad=True, check_fwd_over_rev=True)
    assert gradgradcheck(function, inputs, check_rev_over_rev=False, check_fwd_over_rev=True)


def wrong(product):
    return lambda seeds: tuple(2 * part for part in vmap(product)(seeds))


def refusing(product):
    raise RuntimeError("no rule")


@pytest.mark.parametrize("mapped, words", [(wrong, "by vmap"), (refusing, "got: no rule")])
def test_a_wrong_batch_is_found(inputs, monkeypatch, mapped, words):
    monkeypatch.setattr(torch, "vmap", mapped)
    forwards = {"check_forward_ad": True, "check_batched_forward_grad": True}
    for flags in ({"check_batched_grad": True}, forwards):
        with pytest.raises(GradcheckError, match=words):
            gradcheck(torch.sin, inputs[0], **flags)
        assert not gradcheck(torch.sin, inputs[0], **flags, raise_exception=False)
    assert gradcheck(torch.sin, inputs[0], check_forward_ad=True)
