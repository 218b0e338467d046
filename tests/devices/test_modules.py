"""torch.cpu, torch.xpu and torch.get_device_module(), against torch."""

import pytest

import rushlight as torch

CALLS = (
    "T.cpu.is_available()", "T.cpu.is_initialized()", "T.cpu.device_count()",
    "T.cpu.current_device()", "T.cpu.synchronize()", "T.cpu.set_device('cpu')",
    "T.xpu.is_available()", "T.xpu.device_count()", "T.xpu.is_initialized()",
    "T.cpu.Event().query()", "T.cpu.Event().record()", "T.cpu.Stream(2).wait_stream(None)",
    "T.cpu.stream(None).__enter__()", "T.get_device_module('cpu').current_device()",
    "T.get_device_module('xyz')", "T.get_device_module('meta')", "T.get_device_module(3)",
)  # fmt: skip


def answer(torch, call):
    try:
        return eval(call, {"T": torch})
    except RuntimeError as error:
        return str(error).split(":")[0][:40]


@pytest.mark.parametrize("call", CALLS)
def test_like_torch(reference, call):
    assert answer(torch, call) == answer(reference, call)


def test_modules_of_devices(virtual_gpus):
    assert torch.get_device_module(torch.device("cuda:1")) is torch.cuda
    assert torch.get_device_module() is torch.cuda
    assert torch.get_device_module(torch.zeros(1).device) is torch.cpu
    with torch.cpu.stream(torch.cpu.current_stream()):
        pass


@pytest.mark.filterwarnings("ignore:torch.set_default_tensor_type")
def test_the_default_tensor_type_may_be_of_a_gpu():
    with pytest.raises(TypeError, match="not available"), torch.cuda.virtual(0):
        torch.set_default_tensor_type(torch.cuda.HalfTensor)
    with torch.cuda.virtual(1):
        try:
            torch.set_default_tensor_type(torch.cuda.HalfTensor)
            x = torch.tensor([1.5])
            assert x.dtype is torch.float16 and x.is_cuda and torch.zeros(2).is_cuda
            torch.set_default_tensor_type("torch.cuda.DoubleTensor")
            assert torch.ones(1).dtype is torch.float64
        finally:
            torch.set_default_tensor_type(torch.FloatTensor)
    assert torch.ones(1).device.type == "cpu" and torch.ones(1).dtype is torch.float32
