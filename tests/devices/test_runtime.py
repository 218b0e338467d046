"""What the provider of GPUs owes to the rest of the process: another library's current device,
other streams and pinned memory, machines without memory pools, forked children. On the emulated
provider, which answers for those machines and for that library.
"""

import pathlib
import re
import shutil
import subprocess

import pytest

import rushlight as torch
from tests.devices.test_provider import fork_after, run
from tests.devices.test_waiting import PRELUDE, lazily

emulated = pytest.mark.emulated


@emulated
def test_another_library_changes_the_current_device():
    lazily("""
        x = torch.arange(1000.0, device="cuda:1")
        library.emulated_set_device(0)  # of this thread, as PyTorch or CuPy does
        y = x * 2
        library.emulated_set_device(0)
        w = (x.reshape(10, 100) @ x.reshape(100, 10)).sum()
        library.emulated_set_device(0)
        z = torch.cat([y, torch.ones(5, device="cuda:1")])
        library.emulated_set_device(0)
        assert y.sum().item() == 999000 and z.sum().item() == 999005
        assert w.item() == (x.cpu().reshape(10, 100) @ x.cpu().reshape(100, 10)).sum().item()
    """)


@emulated
def test_calls_for_another_device_leave_the_current_one():
    lazily("""
        torch.ones(1, device="cuda:0")
        for call in (
            lambda: torch.cuda.synchronize(1),
            lambda: torch.cuda.Stream("cuda:1").synchronize(),
            lambda: torch.cuda.memory_stats(1),
        ):
            library.emulated_set_device(0)
            call()
            assert library.emulated_device() == 0
    """)


@emulated
def test_memory_that_another_stream_still_uses():
    lazily("""
        home, side = torch.cuda.current_stream(), torch.cuda.Stream()
        x = torch.arange(1000.0, device="cuda")
        side.wait_stream(home)
        with torch.cuda.stream(side):
            y = x * 2
        x.record_stream(side)
        with waits(0):
            del x
        home.synchronize()
        assert not side.query()  # the stream where the memory was taken does not wait
        side.synchronize()
        assert y.sum().item() == 999000

        with torch.cuda.stream(side):
            x = torch.arange(1000.0, device="cuda")
        home.wait_stream(side)
        y = x[::2] * 2
        x[3:5].record_stream(home)  # a view: the memory behind it
        x.record_stream(home)
        del x
        side.synchronize()
        assert y.sum().item() == 499000
    """)


@emulated
def test_memory_that_another_stream_of_another_device_uses():
    lazily("""
        side = torch.cuda.Stream("cuda:1")
        x = torch.arange(1000.0, device="cuda:0")
        side.wait_stream(torch.cuda.current_stream("cuda:0"))
        with torch.cuda.stream(side):
            y = x.to("cuda:1") * 2
        x.record_stream(side)
        del x
        torch.cuda.synchronize(0)
        side.synchronize()
        assert y.sum().item() == 999000
    """)


@pytest.mark.parametrize("mode", ["lazy", "no pools", "no cache"])
@emulated
def test_recorded_streams_without_the_drivers_pool(mode):
    environment = {
        "lazy": {"RUSHLIGHT_NO_CACHE": ""},
        "no pools": {"RUSHLIGHT_EMULATED_POOLS": "0", "RUSHLIGHT_NO_CACHE": ""},
        "no cache": {"RUSHLIGHT_NO_CACHE": "1"},
    }[mode]
    program = (
        PRELUDE
        + """
side = torch.cuda.Stream()
for _ in range(5):
    x = torch.arange(1000.0, device="cuda")
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        y = x * 2
    x.record_stream(side)
    del x
    z = torch.zeros(1000, device="cuda")
    torch.cuda.current_stream().synchronize()
    side.synchronize()
    assert y.sum().item() == 999000 and z.sum().item() == 0
"""
    )
    run(program, RUSHLIGHT_EMULATED_LAZY="1", **environment)


def test_record_stream_on_virtual_gpus():
    with torch.cuda.virtual(2):
        x = torch.ones(3, device="cuda:0")
        side = torch.cuda.Stream()
        assert x.record_stream(side) is None and x.record_stream(s=side) is None
        x.record_stream(torch.cuda.Stream("cuda:1"))
        torch.empty(0, device="cuda").record_stream(side)
        with pytest.raises(RuntimeError, match="unknown parameter type"):
            x.record_stream(5)
        with pytest.raises(TypeError, match=r"record_stream\(\) missing 1 required positional"):
            x.record_stream()
        with pytest.raises(
            NotImplementedError,
            match="Could not run 'aten::record_stream' with arguments from the 'CPU' backend",
        ):
            torch.ones(2).record_stream(side)
        with pytest.raises(NotImplementedError, match="attempted to run this operator with Meta"):
            torch.empty(2, device="meta").record_stream(side)


def test_streams_come_from_a_pool():
    def distinct(priority, device):
        return {torch.cuda.Stream(device, priority).cuda_stream for _ in range(100)}

    with torch.cuda.virtual(2):
        low, high = distinct(0, 0), distinct(-1, 0)
        assert len(low) == len(high) == 32 and not low & high and 0 not in low | high
        assert len({torch.cuda.Stream("cuda:1") for _ in range(100)}) == 32


@emulated
def test_streams_of_the_driver_come_from_a_pool():
    run("""
        import rushlight as torch
        for device in ("cuda:0", "cuda:1"):
            low, high = ({torch.cuda.Stream(device, priority).cuda_stream for _ in range(100)}
                         for priority in (0, -1))
            assert len(low) == len(high) == 32 and not low & high and 0 not in low | high
        assert torch.cuda.Stream(priority=-1000) is not None and torch.cuda.Stream(priority=99)
    """)


@emulated
def test_rows_of_pinned_memory_leave_no_event_each():
    lazily("""
        data = torch.arange(2000.0).reshape(1000, 2).pin_memory()
        torch.ones(1, device="cuda")
        before = library.emulated_events()
        rows = [row.to("cuda", non_blocking=True) for row in data]
        assert library.emulated_events() - before < 10, library.emulated_events() - before
        assert sum(row.sum().item() for row in rows) == 1999000
    """)


@emulated
def test_pinned_memory_is_kept_for_the_next_batch():
    lazily("""
        torch.ones(1, device="cuda")
        with waits(0):  # and nothing that may make the device wait
            there = []
            for i in range(20):
                batch = torch.full((1000,), float(i)).pin_memory()
                there.append(batch.to("cuda", non_blocking=True))
                del batch
        for i, t in enumerate(there):
            assert t.sum().item() == 1000 * i
        torch.cuda.synchronize()
        before = library.emulated_pinnings()
        for i in range(20):
            batch = torch.full((1000,), float(i)).pin_memory()
            there[i] = batch.to("cuda", non_blocking=True)
            del batch
            torch.cuda.synchronize()
        assert library.emulated_pinnings() == before
        for i, t in enumerate(there):
            assert t.sum().item() == 1000 * i
    """)


@emulated
@pytest.mark.parametrize("size", [3, 100_000, 1_000_000])
def test_pageable_memory_that_the_device_reads_itself(size):
    """GH200 and GB200: a copy from pageable memory may still be reading when the call returns."""
    run(
        PRELUDE
        + f"""
x = torch.ones({size})
there = x.to("cuda")
x.zero_()
assert there.sum().item() == {size}
""",
        RUSHLIGHT_EMULATED_LAZY="1",
        RUSHLIGHT_EMULATED_PAGEABLE="1",
    )


@emulated
def test_a_note_is_read_when_it_is_whole():
    """A thread that waits for another device meets a note of a bad index that is being written."""
    run(
        PRELUDE
        + """
import threading, time
data, bad = torch.zeros(100000, device="cuda:0"), torch.full((50000,), 123456, device="cuda:0")
torch.ones(1, device="cuda:1")
side = torch.cuda.Stream("cuda:1")
torch.cuda.synchronize()
raised = []
def wait(f, *args):
    try:
        f(*args)
    except IndexError as error:
        raised.append(str(error))
thread = threading.Thread(target=lambda: data[bad])
thread.start()
while thread.is_alive():  # the wait that meets the whole note raises it, whichever it is
    wait(side.synchronize)
    time.sleep(0.02)
thread.join()
wait(torch.cuda.synchronize, 0)
assert raised  # again, perhaps: threads of the kernel that came after the first error was raised
for text in raised:
    assert "index 123456 is out of bounds" in text and "cuda:0" in text, raised
torch.cuda.synchronize(0)
""",
        RUSHLIGHT_EMULATED_SLOW_NOTES="1",
    )


@emulated
def test_every_wait_raises_what_was_noted():
    lazily("""
        data, bad = torch.zeros(5, device="cuda"), torch.tensor([0, 99], device="cuda")
        def waits_for(f):
            data[bad]
            event = torch.cuda.Event()
            event.record()
            try:
                f(event)
            except IndexError as error:
                assert "index 99 is out of bounds" in str(error), error
            else:
                raise SystemExit("nothing was raised")
            torch.cuda.synchronize()
        waits_for(lambda event: event.synchronize())
        waits_for(lambda event: torch.cuda.current_stream().synchronize())
        waits_for(lambda event: torch.cuda.synchronize())
        waits_for(lambda event: torch.nonzero(torch.ones(3, device="cuda")))
        waits_for(lambda event: torch.unique(torch.ones(3, device="cuda")))
    """)


@emulated
def test_a_child_forked_after_is_available():
    fork_after("assert torch.cuda.is_available()")


@emulated
@pytest.mark.parametrize("no_cache", ["", "1"])
def test_a_forked_child_frees_what_it_inherited(no_cache):
    """The driver may not be called there, and locks that other threads held stay locked."""
    run(
        """
        import os
        import rushlight as torch
        x = torch.ones(1000, device="cuda:1")
        with torch.cuda.stream(torch.cuda.Stream()):
            y = torch.ones(1000, device="cuda")
        y.record_stream(torch.cuda.current_stream())
        pinned, stream, event = torch.ones(10).pin_memory(), torch.cuda.Stream(), torch.cuda.Event()
        there = pinned.to("cuda", non_blocking=True)
        event.record()
        child = os.fork()
        if child == 0:
            del x, y, pinned, there, stream, event
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        assert x.sum().item() == 1000 and there.sum().item() == 10
    """,
        RUSHLIGHT_NO_CACHE=no_cache,
    )


@emulated
def test_a_machine_without_memory_pools():
    text = run(
        """
        import rushlight as torch
        x = torch.arange(1000.0, device="cuda")
        taken = torch.cuda.memory_allocated()
        for _ in range(10):
            y = (x * 2).sum()
            assert y.item() == 999000
            with torch.cuda.stream(torch.cuda.Stream()):
                z = torch.ones(300000, device="cuda") * 3
                torch.cuda.current_stream().synchronize()
            assert z.sum().item() == 900000
        del y, z
        assert torch.cuda.memory_allocated() == taken <= torch.cuda.memory_reserved()
        kept = torch.cuda.memory_reserved()
        torch.cuda.empty_cache()
        assert taken <= torch.cuda.memory_reserved() < kept
        total = torch.cuda.get_device_properties(0).total_memory
        parts = [torch.empty(total // 8, dtype=torch.uint8, device="cuda") for _ in range(6)]
        del parts  # kept in pieces, which are given up for a larger one
        torch.empty(total // 2, dtype=torch.uint8, device="cuda")
        try:
            torch.empty(total, dtype=torch.uint8, device="cuda")
        except torch.cuda.OutOfMemoryError:
            pass
        else:
            raise SystemExit("not refused")
        from rushlight.__main__ import main; import sys; sys.argv[1:] = ["info"]; main()
    """,
        RUSHLIGHT_EMULATED_POOLS="0",
        RUSHLIGHT_NO_CACHE="",
        RUSHLIGHT_EMULATED_MEMORY=str(64 << 20),
    )
    assert "cudaMalloc" in text


def test_a_forked_child_frees_memory_of_virtual_gpus():
    """Also where another thread of the parent was in the middle of an allocation."""
    run("""
        import os, threading
        import rushlight as torch
        with torch.cuda.virtual(1):
            done = threading.Event()
            def work():
                while not done.is_set():
                    torch.empty(1 << 16, device="cuda")
            threads = [threading.Thread(target=work) for _ in range(2)]
            for t in threads:
                t.start()
            for _ in range(50):
                x = [torch.ones(1 << 16, device="cuda") for _ in range(3)]
                child = os.fork()
                if child == 0:
                    del x
                    os._exit(0)
                assert os.waitpid(child, 0)[1] == 0
            done.set()
            for t in threads:
                t.join()
    """)


@pytest.mark.skipif(not shutil.which("nvcc"), reason="needs nvcc")
def test_steps_of_optimizers_are_rounded_as_on_the_cpu(tmp_path):
    root = pathlib.Path(__file__).resolve().parents[2]
    options = re.search(
        r"kernels/cuda/optim.cu PROPERTIES COMPILE_OPTIONS ([^)]*)\)",
        (root / "CMakeLists.txt").read_text(),
    )
    subprocess.run(
        ["nvcc", "-std=c++20", "-arch=sm_90", "--expt-relaxed-constexpr", "--extended-lambda", "-I",
         root, *(options[1].split() if options else []), "-ptx", root / "kernels/cuda/optim.cu",
         "-o", tmp_path / "optim.ptx"],
        check=True,
    )  # fmt: skip
    text = (tmp_path / "optim.ptx").read_text()
    assert "mul.rn.f32" in text and "fma.rn" not in text  # one rounding where the CPU has two


@emulated
def test_scratch_memory_is_asked_for_twice_and_kept_in_the_books():
    lazily("""
        x = torch.randint(1000, (5000,), device="cuda")
        x.sort()
        torch.cuda.synchronize()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        library.emulated_refuse(ctypes.c_size_t(5000 * 8), 1)  # then there is memory again
        values = x.sort().values
        assert values.tolist() == sorted(x.tolist())
        result = 2 * 5000 * 8
        assert torch.cuda.max_memory_allocated() - before > result + 5000 * 8
        library.emulated_refuse(ctypes.c_size_t(5000 * 8 + 1), 1000)
        for limit in (False, True):
            if limit:
                library.emulated_refuse(0, 0)
                total = torch.cuda.get_device_properties(0).total_memory
                room = torch.cuda.memory_allocated() + result + 10000
                torch.cuda.set_per_process_memory_fraction(room / total)
            try:
                x.sort() if limit else torch.cat([x, x]).sort()
            except torch.cuda.OutOfMemoryError as error:
                assert str(error).startswith("CUDA out of memory. Tried to allocate"), error
            else:
                raise SystemExit("not refused")
    """)
