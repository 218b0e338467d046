"""What everything else is built on: the library, the driver, the device, memory and copies."""

import ctypes

import rushlight as torch
from tests.gpu.rows import many, row, same

RUNTIME = "kernels/cuda/runtime/"


def driver_version():
    """What the driver says, without our library."""
    try:
        driver, version = ctypes.CDLL("libcuda.so.1"), ctypes.c_int()
    except OSError:
        return "no libcuda.so.1"
    driver.cuDriverGetVersion(ctypes.byref(version))
    return f"driver of CUDA {version.value // 1000}.{version.value % 1000 // 10}"


@row("library and driver", "csrc/devices/cuda.cpp")
def _():
    assert torch.cuda.is_available(), f"{torch._C._cuda.why_not()}\n{driver_version()}"
    assert torch._C._cuda.provider() == "cuda", torch._C._cuda.provider()
    missing = torch._C._cuda.why_not_more()
    return f"{torch.cuda.device_count()} devices, {missing or driver_version()}"


@row("device", f"{RUNTIME}devices.cpp")
def _():
    p = torch.cuda.get_device_properties(0)
    assert p.name and p.total_memory > 0 and p.warp_size == 32 and p.multi_processor_count > 0, p
    torch.cuda.synchronize()
    return f"{p.name}, {p.total_memory >> 30} GiB, capability {p.major}.{p.minor}"


@row("memory", f"{RUNTIME}memory.cpp")
def _():
    before = torch.cuda.memory_allocated()
    for bytes_ in (1, 1000, 5 << 20, many(1 << 30)):
        x = torch.empty(bytes_, dtype=torch.uint8, device="cuda")
        assert torch.cuda.memory_allocated() - before >= bytes_ and x.data_ptr() % 256 == 0
        del x
        assert torch.cuda.memory_allocated() == before
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    free, total = torch.cuda.mem_get_info()
    return torch._C._cuda.memory_source(0) or f"{free >> 20} of {total >> 20} MiB free"


@row("copies", f"{RUNTIME}transfer.cpp")
def _():
    for dtype in (torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.bool):
        x = torch.arange(many(1 << 20) + 3).to(dtype)
        assert torch.equal(x.to("cuda").cpu(), x), dtype
    x = torch.arange(60.0).reshape(3, 4, 5)
    assert torch.equal(x.permute(2, 0, 1).to("cuda").cpu(), x.permute(2, 0, 1))
    assert x.to("cuda")[2, 3, 4].item() == 59


@row("pinned memory", f"{RUNTIME}pinned.cpp")
def _():
    expected = torch.arange(many(1 << 20))
    for k in range(20):
        x = (expected + k).pin_memory()
        there = x.to("cuda", non_blocking=True)
        del x
        assert torch.equal(there.cpu(), expected + k)
    x = torch.empty(7, pin_memory=True)
    x.copy_(torch.arange(7.0).to("cuda"), non_blocking=True)
    torch.cuda.synchronize()
    assert x.is_pinned() and x.tolist() == list(range(7))


@row("fill, transpose, cast", "kernels/cuda/copy.cu")
def _():
    same(lambda x: x.t().contiguous(), torch.randn(67, 131))
    same(lambda x: x.permute(2, 0, 1).contiguous(), torch.randn(5, 33, 7))
    same(lambda x: torch.cat([x, x.flip(0)])[1::3], torch.randn(31, 5))
    x = torch.randn(999) * 50
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.int64):
        same(lambda x, dtype=dtype: x.to(dtype), x)
    same(lambda x: [torch.full_like(x, 2.5), torch.zeros_like(x)], x)
    there, expected = torch.zeros(3, 4, 5, device="cuda"), torch.zeros(3, 4, 5)
    x = torch.randn(3, 2, 5)
    there[:, 1::2] = x.to("cuda")
    expected[:, 1::2] = x
    assert torch.equal(there.cpu(), expected)


@row("out of memory, and on", f"{RUNTIME}memory.cpp")
def _():
    total = torch.cuda.get_device_properties(0).total_memory
    try:
        torch.empty(2 * total, dtype=torch.uint8, device="cuda")
    except torch.cuda.OutOfMemoryError as error:
        words = str(error).splitlines()[0]
    else:
        raise AssertionError("twice the device's memory was given")
    assert torch.ones(3, device="cuda").tolist() == [1, 1, 1]
    return words[:60]
