"""utils.checkpoint: the gradients of a plain run, random numbers included, in both ways."""

import warnings

import pytest

import rushlight as torch
from rushlight.utils.checkpoint import checkpoint, checkpoint_sequential


def model():
    torch.manual_seed(0)
    return torch.nn.Sequential(
        torch.nn.Linear(4, 5), torch.nn.Dropout(0.5), torch.nn.Tanh(), torch.nn.Linear(5, 2)
    )


def run(call, reentrant):
    net = model()
    x = torch.ones(3, 4, requires_grad=True)
    torch.manual_seed(1)
    out = call(net, x, reentrant)
    after = torch.rand(1).item()
    out.square().sum().backward()
    return out.detach(), after, x.grad, [p.grad for p in net.parameters()]


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize(
    "call",
    [
        lambda net, x, r: checkpoint(net, x, use_reentrant=r),
        lambda net, x, r: checkpoint_sequential(net, 2, x, use_reentrant=r),
    ],
)
def test_same_as_a_plain_run(call, reentrant):
    plain = run(lambda net, x, _: net(x), reentrant)
    torch.testing.assert_close(run(call, reentrant), plain, rtol=0, atol=0)


def test_parameters_alone_get_gradients_without_reentry():
    net = model().eval()
    checkpoint(net, torch.ones(1, 4), use_reentrant=False).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        out = checkpoint(net, torch.ones(1, 4), use_reentrant=True)
    assert not out.requires_grad


def test_several_outputs_and_other_arguments():
    x = torch.ones(2, requires_grad=True)

    def f(x, scale, flag, *, shift):
        return x * scale, "word" if flag else None, x + shift

    a, word, b = checkpoint(f, x, 3.0, True, use_reentrant=False, shift=2.0)
    assert word == "word"
    (a.sum() + b.sum()).backward()
    assert x.grad.tolist() == [4.0, 4.0]


def test_runs_twice_and_no_more():
    calls = []
    x = torch.ones(1, requires_grad=True)

    def f(x):
        calls.append(torch.is_grad_enabled())
        return x.exp()

    checkpoint(f, x, use_reentrant=False).backward()
    assert calls == [False, True]


def test_words():
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(torch.exp, torch.ones(1, requires_grad=True))
    with pytest.raises(ValueError, match="Unexpected keyword arguments: shift"):
        checkpoint(torch.exp, torch.ones(1), use_reentrant=True, shift=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpoint(torch.exp, torch.ones(1), use_reentrant=False)
