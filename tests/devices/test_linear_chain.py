"""Chains of Linear and ReLU or GELU in nn.Sequential: on a device with kernels for both, one each
way; results, gradients and graphs as without. tests/emulator/libraries counts what was asked for.
"""

import itertools

import pytest

import rushlight as torch
from rushlight import nn
from tests.conftest import EMULATED
from tests.devices.stand_ins import stand_in

emulated = pytest.mark.skipif(not EMULATED, reason="needs the emulated provider")
GELU = lambda: nn.GELU(approximate="tanh")  # noqa: E731
TOLERANCE = {"float32": 1e-5, "float64": 1e-10, "float16": 2e-2, "bfloat16": 1e-1}


def net_of(*kinds, sizes=(5, 7, 4, 3, 6)):
    """Linear layers, each followed by the activation of that kind, or by nothing."""
    modules = []
    for kind, (before, after) in zip(kinds, itertools.pairwise(sizes), strict=False):
        modules.append(nn.Linear(before, after))
        if kind is not None:
            modules.append(kind())
    return nn.Sequential(*modules)


def answers(net, x, device, dtype):
    """The result and all gradients there."""
    net = net.to(device, dtype)
    net.zero_grad()
    x = x.clone().to(device, dtype).detach().requires_grad_()
    out = net(x)
    weigh = torch.arange(out.numel(), device=device).remainder(5).reshape(out.shape).to(dtype) - 1
    (out * weigh).sum().backward()
    return [t.detach().cpu().double() for t in (out, x.grad, *(p.grad for p in net.parameters()))]


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize(
    "kinds",
    [
        (nn.ReLU, None),
        (GELU, None),
        (nn.ReLU,),
        (GELU,),
        (nn.ReLU, GELU, nn.ReLU, None),
        (None, nn.ReLU, None),
        (nn.ReLU, nn.Tanh, GELU, None),
    ],
    ids=["relu", "gelu", "relu_last", "gelu_last", "deep", "bare", "with_tanh"],
)
def test_values_and_gradients_are_those_of_the_cpu(device, dtype, kinds):
    torch.manual_seed(0)
    net, kind = net_of(*kinds), getattr(torch, dtype)
    for shape in ((9, 5), (2, 3, 5), (1, 5), (5,)):
        x = torch.randn(*shape)
        expected = answers(net, x, "cpu", kind)
        for ours, wanted in zip(answers(net, x, device, kind), expected, strict=True):
            scale = max(1.0, wanted.abs().max().item())
            assert torch.allclose(ours, wanted, rtol=0, atol=TOLERANCE[dtype] * scale)
    with torch.no_grad():
        x = x.to(device, kind)
        one_by_one = x
        for module in net.to(device):
            one_by_one = module(one_by_one)
        assert torch.allclose(net(x), one_by_one, atol=TOLERANCE[dtype])


def test_a_chain_wider_than_one_word_of_what_is_kept(device):
    net = net_of(nn.ReLU, GELU, nn.ReLU, None, sizes=(6, 131, 129, 260, 2))
    x = torch.randn(33, 6)
    for ours, wanted in zip(
        answers(net, x, device, torch.float64), answers(net, x, "cpu", torch.float64), strict=True
    ):
        assert torch.allclose(ours, wanted)


def test_gradients_of_gradients(device):
    torch.manual_seed(1)
    net, x = net_of(GELU, nn.ReLU, None).double(), torch.randn(4, 5).double()
    sides = []
    for where in ("cpu", device):
        net, x = net.to(where), x.detach().to(where).requires_grad_()
        first = torch.autograd.grad(net(x).square().sum(), x, create_graph=True)[0]
        first.square().sum().backward()
        sides.append([x.grad, *(p.grad for p in net.parameters())])
        sides[-1] = [t.cpu().clone() for t in sides[-1] if t is not None]
        net.zero_grad()
    for ours, wanted in zip(*sides, strict=True):
        assert torch.allclose(ours, wanted)


def test_not_a_number_goes_through(device):
    net = net_of(nn.ReLU, None).to(device)
    assert net(torch.full((2, 5), float("nan"), device=device)).isnan().all()


def test_what_backward_needs_is_watched(device):
    net = net_of(nn.ReLU, None).to(device)
    out = net(torch.ones(3, 5, device=device))
    with torch.no_grad():
        net[2].weight.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        out.sum().backward()


def test_wrong_sizes_are_refused_as_without(device):
    net = nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(6, 2)).to(device)
    with pytest.raises(RuntimeError, match="mat1 and mat2 shapes cannot be multiplied"):
        net(torch.ones(3, 5, device=device))
    if device != "cpu":
        with pytest.raises(RuntimeError, match="same device"):
            net.cpu()(torch.ones(3, 5, device=device))
    empty = net_of(nn.ReLU, None).to(device)(torch.ones(0, 5, device=device))
    assert empty.shape == (0, 4)


def test_frozen_layers_and_partial_gradients(device):
    net = net_of(nn.ReLU, nn.ReLU, None)
    net[0].weight.requires_grad_(False)
    net[2].requires_grad_(False)
    x, sides = torch.randn(4, 5), []
    for where in ("cpu", device):
        net.to(where).zero_grad()
        net(x.to(where)).sum().backward()
        assert net[0].weight.grad is None and net[2].bias.grad is None
        sides.append([p.grad.cpu().clone() for p in net.parameters() if p.grad is not None])
    for ours, wanted in zip(*sides, strict=True):
        assert torch.allclose(ours, wanted, atol=1e-6)


class Counts:
    """What the stand-in was asked for since the last look."""

    names = ("products", "biased", "summed", "activated", "sloped")

    def __init__(self):
        self.library = stand_in("cuBLASLt")
        self.before = self.now()

    def now(self):
        return [getattr(self.library, f"emulated_{name}")() for name in self.names]

    def since(self):
        before, self.before = self.before, self.now()
        return [a - b for a, b in zip(self.before, before, strict=True)]


@emulated
@pytest.mark.parametrize("kind", [nn.ReLU, GELU], ids=["relu", "gelu"])
def test_a_layer_is_one_kernel_forward_and_two_backward(kind):
    net, counts = net_of(kind, kind, None).to("cuda:1"), Counts()
    x = torch.randn(4, 5, device="cuda:1", requires_grad=True)
    out = net(x)
    assert counts.since() == [3, 3, 0, 2, 0]
    out.sum().backward()
    assert counts.since() == [6, 0, 3, 0, 2]


@emulated
def test_hooks_other_classes_and_autocast():
    class Mine(nn.Linear):
        pass

    def activated(net, x):
        counts = Counts()
        net(x)
        return counts.since()[Counts.names.index("activated")]

    x = torch.randn(4, 5, device="cuda:1")
    net = net_of(nn.ReLU, nn.ReLU, None).to("cuda:1")
    assert activated(net, x) == 2
    seen = []
    handle = net[1].register_forward_hook(lambda *call: seen.append(call))
    assert activated(net, x) == 1 and len(seen) == 1
    handle.remove()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert activated(net, x) == 2 and net(x).dtype == torch.bfloat16
    net[0].forward = lambda x: nn.functional.linear(x, net[0].weight)
    assert activated(net, x) == 1
    for other in (Mine(5, 7), nn.Linear(5, 7, bias=False)):
        assert activated(nn.Sequential(other, nn.ReLU()).to("cuda:1"), x) == 0
    assert activated(nn.Sequential(nn.Linear(5, 7), nn.GELU()).to("cuda:1"), x) == 0


@emulated
def test_a_library_without_such_kernels():
    library = stand_in("cuBLASLt")
    net, x = net_of(nn.ReLU, GELU, None, sizes=(5, 11, 13, 2)), torch.randn(4, 5)
    library.emulated_refuse(1)
    try:
        there = answers(net, x, "cuda:1", torch.float32)
    finally:
        library.emulated_refuse(0)
    for ours, wanted in zip(there, answers(net, x, "cpu", torch.float32), strict=True):
        assert torch.allclose(ours, wanted, atol=1e-5)
