"""Memory of virtual GPUs: figures as torch's caching allocator keeps them, and running out."""

import pickle
import random

import pytest

import rushlight as torch

cuda = torch.cuda
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@pytest.fixture(autouse=True)
def one_gpu():
    with cuda.virtual(2, memory="1GiB"):
        torch.zeros(1, device="cuda")  # in use
        cuda.empty_cache()
        cuda.reset_peak_memory_stats()
        yield


def block(size, device="cuda"):
    return torch.empty(size, dtype=torch.uint8, device=device)


@pytest.mark.parametrize(
    ("size", "allocated", "reserved"),
    [
        (0, 0, 0),
        (1, 512, 2 * MIB),
        (512, 512, 2 * MIB),
        (513, 1024, 2 * MIB),
        (MIB, MIB, 2 * MIB),
        (MIB + 1, MIB + 512, 20 * MIB),
        (10 * MIB - 512, 10 * MIB - 512, 20 * MIB),
        (10 * MIB, 10 * MIB, 10 * MIB),
        (11 * MIB, 12 * MIB, 12 * MIB),  # a rest of 1 MiB is not worth a block
        (11 * MIB - 512, 11 * MIB - 512, 12 * MIB),
        (100 * MIB + 1, 102 * MIB, 102 * MIB),
    ],
)
def test_sizes(size, allocated, reserved):
    x = block(size)
    if size == 100 * MIB + 1:
        allocated = 100 * MIB + 512  # split: the rest is larger than 1 MiB
    assert (cuda.memory_allocated(), cuda.memory_reserved()) == (allocated, reserved)
    assert cuda.mem_get_info() == (GIB - reserved, GIB)
    del x
    assert (cuda.memory_allocated(), cuda.memory_reserved()) == (0, reserved)
    cuda.empty_cache()
    assert cuda.memory_reserved() == 0


def test_blocks_are_used_again_and_merged():
    blocks = [block(MIB) for _ in range(4)]
    assert cuda.memory_reserved() == 4 * MIB
    del blocks[1], blocks[1]
    kept = block(MIB)
    assert cuda.memory_reserved() == 4 * MIB
    del blocks, kept
    stats = cuda.memory_stats()
    assert stats["segment.all.current"] == 2 and stats["inactive_split.all.current"] == 0
    assert stats["allocation.all.allocated"] == stats["allocation.all.freed"] + 0
    cuda.empty_cache()
    assert cuda.memory_stats()["segment.all.current"] == 0


def test_peaks():
    x = block(30 * MIB)
    del x
    y = block(4 * MIB)
    assert cuda.max_memory_allocated() == 30 * MIB and cuda.memory_allocated() == 4 * MIB
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == 4 * MIB and cuda.max_memory_reserved() == 30 * MIB
    assert cuda.memory_stats_as_nested_dict()["requested_bytes"]["all"]["current"] == y.numel()
    cuda.reset_accumulated_memory_stats()
    assert cuda.memory_stats()["allocated_bytes.all.freed"] == 0


def test_devices_are_apart():
    x = block(5 * MIB, "cuda:1")
    assert cuda.memory_allocated() == 0 and cuda.memory_allocated(1) == x.numel()
    with cuda.device(1):
        assert cuda.memory_allocated() == x.numel()


def test_views_cost_nothing_and_copies_cost_once():
    x = torch.ones(1024, device="cuda")
    y = x.view(32, 32)[3:]
    assert cuda.memory_allocated() == 4 * KIB
    host = torch.ones(MIB, dtype=torch.uint8)
    cuda.reset_peak_memory_stats()
    z = host.cuda()
    z.cpu()
    assert cuda.max_memory_allocated() == 4 * KIB + MIB
    del x
    assert cuda.memory_allocated() == 4 * KIB + MIB
    assert y.sum().item() == 29 * 32


def test_running_out():
    x = block(512 * MIB)
    with pytest.raises(cuda.OutOfMemoryError) as caught:
        block(600 * MIB)
    text = str(caught.value)
    assert text.startswith(
        "CUDA out of memory. Tried to allocate 600.00 MiB. GPU 0 has a total capacity of "
        "1024.00 MiB of which 512.00 MiB is free. Including non-PyTorch memory, this process has "
        "512.00 MiB memory in use. Of the allocated memory 512.00 MiB is allocated by PyTorch, "
        "and 0 bytes is reserved by PyTorch but unallocated."
    )
    assert (
        isinstance(caught.value, RuntimeError) and cuda.OutOfMemoryError is torch.OutOfMemoryError
    )
    assert (x[:3].zero_() + 1).tolist() == [1, 1, 1]  # work goes on
    assert cuda.memory_stats()["num_ooms"] == 1
    with pytest.raises(cuda.OutOfMemoryError, match="GPU 1"):
        torch.zeros(1 << 40, device="cuda:1")


def test_cached_memory_is_given_up_first():
    for _ in range(3):
        x = block(600 * MIB)
        del x
        y = block(601 * MIB + 512 * KIB)
        del y
    stats = cuda.memory_stats()
    assert stats["num_ooms"] == 0 and stats["num_alloc_retries"] > 0


def test_running_out_during_training_leaves_no_trace():
    w = torch.ones(1 << 20, device="cuda", requires_grad=True)
    before = cuda.memory_allocated()
    for _ in range(3):
        kept = []
        with pytest.raises(cuda.OutOfMemoryError):
            for _ in range(1000):
                kept.append(w * 2)
        del kept
        assert cuda.memory_allocated() == before
        (w * 2).sum().backward()
        w.grad = None


def test_a_fraction_of_the_memory():
    cuda.set_per_process_memory_fraction(0.25)
    with pytest.raises(cuda.OutOfMemoryError):
        block(300 * MIB)
    block(200 * MIB)
    with pytest.raises(ValueError, match="Allowed range"):
        cuda.set_per_process_memory_fraction(1.5)
    with pytest.raises(TypeError, match="float"):
        cuda.set_per_process_memory_fraction(1)


def test_summary():
    kept = [block(MIB), block(30 * MIB)]
    text = cuda.memory_summary()
    assert "device ID 0" in text and "31744 KiB" in text and len(kept) == 2
    assert {len(line) for line in text.rstrip().splitlines()} == {77}
    assert len(cuda.memory_summary(abbreviated=True).splitlines()) < len(text.splitlines())
    assert "GPU:0" in cuda.list_gpu_processes()


def test_storages_free_their_memory_in_any_order():
    import random

    random.seed(0)
    kept = []
    for _ in range(2000):
        if kept and random.random() < 0.5:
            kept.pop(random.randrange(len(kept)))
        else:
            kept.append(block(random.choice([1, 700, 4000, 90_000, MIB, 3 * MIB])))
    expected = sum((x.numel() + 511) // 512 * 512 for x in kept)
    assert cuda.memory_allocated() >= expected
    del kept
    assert cuda.memory_allocated() == 0
    cuda.empty_cache()
    assert cuda.memory_reserved() == 0


def test_a_snapshot_has_every_block():
    draw, kept = random.Random(0), []
    for step in range(400):
        if draw.random() < 0.55 or not kept:
            kept.append(block(int(2 ** draw.uniform(0, 24)), f"cuda:{step % 2}"))
        else:
            kept.pop(draw.randrange(len(kept)))
        if step % 100 == 50:
            cuda.empty_cache()
        if step % 20:
            continue
        for device in (0, 1):
            stats = cuda.memory_stats(device)
            segments = [s for s in cuda.memory_snapshot() if s["device"] == device]
            assert len(segments) == stats["segment.all.current"]
            for key, name in (("total", "reserved"), ("allocated", "allocated")):
                total = sum(segment[f"{key}_size"] for segment in segments)
                assert total == stats[f"{name}_bytes.all.current"]
            for segment in segments:
                address = segment["address"]
                for each in segment["blocks"]:
                    assert each["address"] == address and each["requested_size"] <= each["size"]
                    address += each["size"]
                assert address == segment["address"] + segment["total_size"]
    assert cuda.memory_snapshot(mempool_id=(0, 1)) == []


def test_a_snapshot_is_written_for_the_viewer(tmp_path):
    x = block(3 * MIB)
    cuda.memory._record_memory_history(enabled=None)
    cuda.memory._dump_snapshot(str(tmp_path / "snapshot"))
    read = pickle.loads((tmp_path / "snapshot").read_bytes())
    assert read == cuda.memory._snapshot() and read["device_traces"] == [[], []]
    [segment] = read["segments"]
    assert segment["segment_type"] == "large" and segment["allocated_size"] == x.numel()
    assert [each["state"] for each in segment["blocks"]] == ["active_allocated", "inactive"]
    with pytest.raises(NotImplementedError, match="allocations are not recorded"):
        cuda.memory._record_memory_history()
