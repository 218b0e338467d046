"""torch.multiprocessing: spawn and its failures, tensors through queues, shared memory."""

import gc
import os
import pickle
import subprocess
import sys
import time

import pytest

import rushlight as torch
import rushlight.multiprocessing as mp


def fill(index, shared, queue):
    shared[index] = index + 1
    queue.put((index, torch.full((2,), float(index))))


def raises(index):
    if index == 1:
        raise ValueError("number one")


def leaves(index):
    os._exit(3)


def dies(index):
    os.kill(os.getpid(), 9)


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_shared_memory_and_a_queue(method):
    context = mp.get_context(method)
    queue = context.SimpleQueue()
    shared = torch.zeros(2).share_memory_()
    mp.start_processes(fill, (shared, queue), nprocs=2, start_method=method)
    assert shared.tolist() == [1.0, 2.0]
    got = dict(queue.get() for _ in range(2))
    assert [got[i].tolist() for i in range(2)] == [[0.0, 0.0], [1.0, 1.0]]


def test_failures_are_raised_here():
    with pytest.raises(mp.ProcessRaisedException, match="number one") as caught:
        mp.start_processes(raises, nprocs=2, start_method="fork")
    assert caught.value.error_index == 1 and "ValueError" in caught.value.msg
    assert pickle.loads(pickle.dumps(caught.value)).error_index == 1
    with pytest.raises(mp.ProcessExitedException, match="process 0 terminated with exit code 3"):
        mp.start_processes(leaves, start_method="fork")
    with pytest.raises(mp.ProcessExitedException, match="terminated with signal SIGKILL") as caught:
        mp.start_processes(dies, start_method="fork")
    assert caught.value.signal_name == "SIGKILL"


def test_without_joining():
    context = mp.start_processes(raises, nprocs=1, join=False, start_method="fork")
    assert len(context.pids()) == 1
    while not context.join(timeout=10):
        pass


def test_sharing_keeps_values_and_kind():
    x = torch.arange(6.0).reshape(2, 3).t()
    view = x[1:]
    assert not x.is_shared()
    assert x.share_memory_() is x
    assert x.is_shared() and x.stride() == (1, 3) and x.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert x[0].is_shared() and not view.is_shared()
    layer = torch.nn.Linear(2, 2)
    before = layer.weight.detach().clone()
    assert layer.share_memory() is layer
    assert layer.weight.is_shared() and isinstance(layer.weight, torch.nn.Parameter)
    assert torch.equal(layer.weight, before)
    layer(torch.ones(1, 2)).sum().backward()
    assert layer.weight.grad is not None
    empty = torch.zeros(0).share_memory_()
    assert empty.shape == (0,)


def test_memory_and_descriptors_come_back():
    def descriptors():
        gc.collect()
        return len(os.listdir("/proc/self/fd"))

    torch.ones(3).share_memory_()
    before = descriptors()
    for _ in range(20):
        torch.ones(1000).share_memory_()
    assert descriptors() == before


def test_a_tensor_with_history_is_refused():
    x = torch.ones(1, requires_grad=True) * 2
    with pytest.raises(RuntimeError, match="Cowardly refusing to serialize non-leaf tensor"):
        mp.reducer.ForkingPickler.dumps(x)


def test_a_descriptor_that_is_too_small_is_refused():
    from rushlight.multiprocessing import _shared

    handle = os.memfd_create("small")
    os.ftruncate(handle, 8)
    with pytest.raises(RuntimeError, match="shared memory of 8 bytes cannot hold 800"):
        _shared._memory(800, handle)
    os.close(handle)


def test_spawn_is_a_module_and_a_function():
    from rushlight.multiprocessing.spawn import ProcessRaisedException

    assert mp.ProcessRaisedException is ProcessRaisedException and callable(mp.spawn)


def test_strategies():
    assert mp.get_sharing_strategy() == "file_descriptor"
    mp.set_sharing_strategy("file_system")
    with pytest.raises(AssertionError):
        mp.set_sharing_strategy("telepathy")


ORPHANS = """
import sys, time
import rushlight.multiprocessing as mp

def sleep(index):
    time.sleep(60)

if __name__ == "__main__":
    context = mp.start_processes(sleep, nprocs=2, join=False, start_method=sys.argv[1])
    print(*context.pids(), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_a_killed_parent_leaves_nobody_behind(method, tmp_path):
    path = tmp_path / "orphans.py"
    path.write_text(ORPHANS)
    folder = os.path.dirname(os.path.dirname(torch.__file__))
    env = {**os.environ, "PYTHONPATH": folder, "TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, str(path), method], stdout=subprocess.PIPE, text=True, env=env
    ) as parent:
        pids = [int(pid) for pid in parent.stdout.readline().split()]
        time.sleep(0.5)  # until they have begun
        parent.kill()

    def runs(pid):  # a zombie does not count
        try:
            with open(f"/proc/{pid}/stat") as file:
                return file.read().rpartition(")")[2].split()[0] != "Z"
        except FileNotFoundError:
            return False

    end = time.monotonic() + 20
    while any(map(runs, pids)) and time.monotonic() < end:
        time.sleep(0.05)
    assert len(pids) == 2 and not any(map(runs, pids))
