"""torch's device types that hold no tensor here are names: made, compared, printed and pickled."""

import copy
import pickle

import pytest

import rushlight as torch
from tests.conftest import ask

OTHERS = (
    "ipu xpu mkldnn opengl opencl ideep hip ve fpga maia xla lazy vulkan mps hpu mtia privateuseone"
).split()
NOTHING_THERE = (
    "T.zeros(2, device=d)", "T.empty(2, device=d)", "T.randn(2, device=d)", "T.zeros(2).to(d)",
    "T.tensor([1.0], device=d)", "T.nn.Linear(2, 2).to(d)", "T.nn.Linear(2, 2, device=d)",
    "T.arange(3, device=d)", "T.zeros_like(T.zeros(2), device=d)", "T.Generator(d)",
    "T.zeros(2).new_zeros(3, device=d)", "T.zeros(2).to(T.device(d, 1))",
)  # fmt: skip


def told(torch, name):
    device = torch.device(name)
    numbered = torch.device(name, 1)
    return (
        repr(device), str(numbered), device.type, device.index, numbered.index,
        device == torch.device(name), device == numbered, numbered == torch.device(f"{name}:1"),
        pickle.loads(pickle.dumps(numbered)) == numbered, copy.deepcopy(device) == device,
        len({device, torch.device(name), numbered}), device == torch.device("cpu"),
    )  # fmt: skip


@pytest.mark.parametrize("name", [name for name in OTHERS if name != "mkldnn"])  # torch warns
def test_as_a_name(name):
    assert told(torch, name) == tuple(ask(lambda torch: told(torch, name)))


@pytest.mark.parametrize("call", NOTHING_THERE)
def test_no_tensor_is_made_there(call):
    for name in OTHERS:
        with pytest.raises((NotImplementedError, AssertionError, RuntimeError)) as caught:
            eval(call, {"T": torch, "d": name})
        if name in ("xpu", "mtia") and "Generator" not in call:
            assert caught.type is AssertionError
            assert "Torch not compiled with" in str(caught.value)


def test_as_the_default_device():
    try:
        torch.set_default_device("mps")
        with pytest.raises(NotImplementedError, match="tensors are on cpu, cuda or meta here"):
            torch.zeros(2)
    finally:
        torch.set_default_device(None)
    assert torch.zeros(2).device.type == "cpu"


def test_a_tensor_is_never_there():
    assert torch.zeros(2).device != torch.device("mps")
    with pytest.raises(RuntimeError, match="Expected one of cpu, cuda"):
        torch.device("mars")


@pytest.mark.parametrize(
    "call",
    [
        "T.device()", "T.device('cuda', 1)", "T.device(type='cuda', index=2)",
        "T.device('cuda:1', 1)", "T.device(index=1, type='cpu')", "T.device(T.device('cuda', 3))",
        "T.device(1.5)", "T.device('cpu', index='a')", "T.device('cuda', -1)", "T.device('no')",
        "T.device('cpu', 0, 1)", "T.device(kind='cpu')", "T.device('cpu') < T.device('cuda')",
        "T.device('cpu') == 'cpu'", "T.device('cpu') != 3", "type('D', (T.device,), {})",
        "setattr(T.device('cpu'), 'index', 1)", "T.device('cuda', 127).index",
    ],
)  # fmt: skip
def test_calls(call):
    """The same value, or the same type of error, whatever way the arguments are given."""

    def value(torch):
        try:
            return repr(eval(call, {"T": torch}))
        except Exception as error:
            return type(error).__name__

    assert value(torch) == ask(value)


def test_one_object_for_a_device():
    x = torch.zeros(2)
    assert x.device is x.device is torch.device("cpu") is copy.copy(x.device)
    assert torch.device("cuda:3") is torch.device(3) is torch.device("cuda", index=3)
    assert torch.device("cuda") is not torch.device("cuda:0")
