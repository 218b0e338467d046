"""Storages of another size, and set_(): views of what became smaller raise, they never read on."""

import gc
import threading

import numpy
import pytest

import rushlight as torch
from tests.conftest import ask


def test_views_of_a_smaller_storage(device):
    x = torch.arange(6000.0, device=device)
    view, square = x[2:5], x.view(60, 100)
    storage = x.untyped_storage()
    assert storage.resize_(8) is storage and storage.nbytes() == 8
    for look in (
        lambda: x.sum().item(), lambda: view.tolist(), lambda: x + 1, lambda: square.t().clone(),
        lambda: x.cpu() * 1, lambda: square @ square.t(), lambda: x.fill_(1), lambda: view.item(),
        lambda: x.sort(), lambda: torch.cat([x, x]), lambda: x[3].item(), lambda: x.cpu().numpy(),
    ):  # fmt: skip
        with pytest.raises((RuntimeError, ValueError)):
            look()
    assert x[:2].tolist() == [0, 1]
    storage.resize_(24000)
    assert x[:2].tolist() == [0, 1]
    x.fill_(3)
    assert square.sum().item() == 18000


def test_a_storage_of_nothing_and_back(device):
    x = torch.arange(100.0, device=device)
    storage = x.untyped_storage()
    for size in (0, 400, 0, 10, 4000, 400, 0, 400):
        storage.resize_(size)
        assert storage.nbytes() == size == x.untyped_storage().nbytes()
    x.copy_(torch.arange(100.0))
    assert x.sum().item() == 4950
    del x, storage
    gc.collect()


def test_memory_of_a_gpu_goes_back(virtual_gpus):
    x = torch.ones(1 << 20, device="cuda:1")
    before = virtual_gpus.memory_allocated(1)
    x.untyped_storage().resize_(0)
    assert before - virtual_gpus.memory_allocated(1) == 4 << 20
    x.untyped_storage().resize_(4 << 20)
    assert virtual_gpus.memory_allocated(1) == before


def test_who_may_not_be_moved():
    x = torch.zeros(4)
    shown = x.numpy()
    with pytest.raises(RuntimeError, match="not resizable"):
        x.untyped_storage().resize_(100)
    assert not x.untyped_storage().resizable() and shown.sum() == 0
    for t in (torch.from_numpy(numpy.zeros(4)), torch.frombuffer(bytearray(16), dtype=torch.int8)):
        with pytest.raises(RuntimeError, match="not resizable"):
            t.resize_(100)
    x = torch.zeros(4)
    memory = torch._C._storage_memory(x)
    with pytest.raises(RuntimeError, match="in use"):
        x.resize_(100)
    del memory
    assert x.resize_(100).shape == (100,)


def test_a_thread_that_computes():
    x = torch.ones(1 << 22)
    storage = x.untyped_storage()
    stop = threading.Event()

    def compute():
        while not stop.is_set():
            try:
                x.exp()
            except RuntimeError:
                continue

    thread = threading.Thread(target=compute)
    thread.start()
    try:
        for i in range(200):
            try:
                storage.resize_((16 << 20) if i % 2 else 64)
            except RuntimeError as error:
                assert "in use" in str(error)
    finally:
        stop.set()
        thread.join()


def test_resize_keeps_views_together():
    x = torch.arange(6.0)
    view = x.view(2, 3)
    x.resize_(3, 3)
    assert x.data_ptr() == view.data_ptr() and x.flatten()[:6].tolist() == list(range(6))
    assert x._version == 1
    assert x.resize_(1, 2, 2, 2, memory_format=torch.channels_last).stride() == (8, 1, 4, 2)
    assert torch.arange(6.0)[2:].resize_(8).untyped_storage().nbytes() == 40


def test_saved_for_backward():
    x = torch.ones(100, requires_grad=True)
    y = x.exp()
    z = y.sum()
    y.untyped_storage().resize_(0)
    with pytest.raises(RuntimeError):
        z.backward()


def test_set():
    def program(t):
        said = []
        x, y = t.zeros(2), t.arange(6.0)
        said.append(x.set_(y).tolist())
        said.append(x.data_ptr() == y.data_ptr())
        said.append(x.set_(y.untyped_storage(), 1, (2, 2), (2, 1)).tolist())
        said.append(x.set_(y.untyped_storage(), 1, (2, 2)).tolist())
        said.append(x.set_(y, 2, (2,), (1,)).tolist())
        said.append(x.set_(y.untyped_storage()).tolist())
        said.append(tuple(x.set_().shape))
        said.append(x.set_(source=y, storage_offset=1, size=(3,), stride=(2,)).tolist())
        p = t.ones(3, requires_grad=True)
        with t.no_grad():
            said.append((p.set_(y).tolist(), p.requires_grad))
        for wrong in (
            lambda: x.set_(y.untyped_storage(), 100, (2, 2), (2, 1)),
            lambda: x.set_(y.untyped_storage(), 0, (2,), (2, 1)),
            lambda: x.set_(t.arange(3)),
            lambda: x.set_(t.zeros(3, device="meta")),
            lambda: t.ones(3, requires_grad=True).set_(y),
        ):
            try:
                wrong()
            except Exception as error:
                said.append(type(error).__name__)
        for wrong in (5, "a", [1]):
            with pytest.raises(TypeError):
                x.set_(wrong)
        return said

    assert program(torch) == ask(program)
