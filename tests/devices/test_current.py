"""The current device, streams and events, random numbers, and operands that do not mix."""

import threading

import pytest

import rushlight as torch

cuda = torch.cuda
pytestmark = pytest.mark.usefixtures("virtual_gpus")


def test_current_device():
    assert cuda.current_device() == 0
    cuda.set_device(2)
    assert cuda.current_device() == 2 and str(torch.ones(1, device="cuda").device) == "cuda:2"
    cuda.set_device("cuda:1")
    cuda.set_device(torch.device("cuda", 3))
    cuda.set_device(-1)
    assert cuda.current_device() == 3 and str(torch.ones(1).cuda().device) == "cuda:3"


def test_device_contexts():
    x = torch.ones(2, device="cuda:3")
    with cuda.device(1):
        assert str(torch.device("cuda")) == "cuda"
        assert str(torch.tensor([1.0], device=torch.device("cuda")).device) == "cuda:1"
        assert str(torch.ones(1).cuda(2).device) == "cuda:2"
        assert str((x + 1).device) == "cuda:3"
        with cuda.device_of(x):
            assert cuda.current_device() == 3
        with cuda.device_of(torch.ones(1)), cuda.device(None), cuda.device(-1):
            assert cuda.current_device() == 1
        with torch.accelerator.device_index(2):
            assert cuda.current_device() == 2
    assert cuda.current_device() == 0


def test_each_thread_has_its_own_current_device():
    cuda.set_device(1)
    seen = []
    thread = threading.Thread(target=lambda: seen.append(cuda.current_device()))
    thread.start()
    thread.join()
    assert seen == [0] and cuda.current_device() == 1


def test_devices_that_are_not_there():
    with pytest.raises(RuntimeError, match="CUDA error: invalid device ordinal") as caught:
        torch.ones(1, device="cuda:9")
    assert type(caught.value).__name__ == "AcceleratorError"
    assert "cuda:9 was asked for, and there are 4 visible: cuda:0 to cuda:3" in str(caught.value)
    for ask in (cuda.get_device_name, cuda.get_device_properties, cuda.get_device_capability):
        with pytest.raises(AssertionError, match="Invalid device id"):
            ask(9)
    for ask in (cuda.set_device, cuda.synchronize, cuda.memory_stats, cuda.Stream):
        with pytest.raises(RuntimeError, match="invalid device ordinal"):
            torch.ones(1, device="cuda")
            ask(9)
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        cuda.set_device("cpu")


def test_operands_do_not_mix():
    x, y, z = torch.ones(2), torch.ones(2, device="cuda:0"), torch.ones(2, device="cuda:1")
    words = "Expected all tensors to be on the same device, but found at least two devices, "
    with pytest.raises(RuntimeError, match=words + "cuda:0 and cpu!"):
        y + x
    with pytest.raises(RuntimeError, match=words + "cuda:0 and cuda:1!"):
        y * z
    assert (y + torch.tensor(2.0)).tolist() == [3, 3]  # a number on the CPU
    with pytest.raises(TypeError, match="can't convert cuda:0 device type tensor to numpy"):
        y.numpy()


def test_copies_between_devices():
    x = torch.arange(6.0).reshape(2, 3)
    for there in ("cuda:0", "cuda:3", "cpu"):
        for back in ("cuda:3", "cuda:1", "cpu"):
            a = x.t().to(there, non_blocking=True)
            b = a.to(back, torch.float64)
            assert str(b.device) == back and torch.equal(b.cpu(), x.t().double())
    y = torch.zeros(2, 3, device="cuda:2")
    y.copy_(x.to("cuda:1"))
    assert torch.equal(y.cpu(), x)
    z = x.cuda()
    assert z.cuda() is z and z.to("cuda") is z and z.cuda(1) is not z
    assert repr(z.device) == "device(type='cuda', index=0)"
    assert cuda.can_device_access_peer(0, 1) and not cuda.can_device_access_peer(0, 0)


def test_streams():
    s = cuda.Stream()
    assert cuda.current_stream() == cuda.default_stream() != s
    assert repr(cuda.current_stream()) == "<torch.cuda.Stream device=cuda:0 cuda_stream=0x0>"
    with cuda.stream(s):
        assert cuda.current_stream() == s
        x = torch.ones(3, device="cuda") + 1
    assert cuda.current_stream() != s and s.query()
    other = cuda.Stream(device=2, priority=-1)
    other.wait_stream(s)
    with other:
        assert cuda.current_device() == 2 and cuda.current_stream(2) == other
    with cuda.stream(None):
        pass
    s.synchronize()
    cuda.synchronize("cuda:1")
    assert x.tolist() == [2, 2, 2] and cuda.current_device() == 0
    assert len({s, other, cuda.Stream()}) == 3


def test_events():
    start, end = cuda.Event(enable_timing=True), cuda.Event(enable_timing=True)
    assert start.query()
    with pytest.raises(RuntimeError, match="must be recorded"):
        start.elapsed_time(end)
    start.record()
    torch.ones(1000, 1000, device="cuda") + 1
    end.record()
    end.synchronize()
    assert 0 < start.elapsed_time(end) < 10_000
    plain = cuda.Event()
    plain.record(cuda.Stream())
    plain.wait()
    with pytest.raises(RuntimeError, match="enable_timing=True"):
        start.elapsed_time(plain)
    with cuda.virtual(1):
        torch.ones(1, device="cuda")
        with pytest.raises(RuntimeError, match="gone"):
            start.elapsed_time(end)


def test_small_answers():
    assert cuda.is_bf16_supported() and not cuda.is_bf16_supported(including_emulation=False)
    assert not cuda.is_tf32_supported()
    assert "sm_90" in cuda.get_arch_list()
    assert cuda.nvtx.range_pop() == -1  # no range is open; the next one has depth 0 again
    assert cuda.nvtx.range_push("a") == 0 and cuda.nvtx.range_pop() == 0
    with cuda.nvtx.range("b"):
        cuda.nvtx.mark("c")
    cuda.ipc_collect()
    cudnn = torch.backends.cudnn
    assert cudnn.enabled and cudnn.is_available() and cudnn.version() > 90000
    with cudnn.flags(enabled=False, deterministic=True):
        assert not cudnn.enabled and cudnn.deterministic
    assert cudnn.enabled and not cudnn.deterministic
    torch.backends.cuda.matmul.allow_tf32 = True
    assert torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = False
    with pytest.raises(AttributeError, match="Unknown attribute"):
        torch.backends.cuda.matmul.allow_tf33 = True


def test_legacy_types():
    x = cuda.FloatTensor(2, 3)
    assert x.is_cuda and x.shape == (2, 3) and x.dtype == torch.float32
    y = cuda.LongTensor([1, 2])
    assert y.tolist() == [1, 2] and y.dtype == torch.int64 and str(y.device) == "cuda:0"
    assert isinstance(x, cuda.FloatTensor) and not isinstance(y, cuda.FloatTensor)
    assert not isinstance(torch.ones(1), cuda.FloatTensor)
