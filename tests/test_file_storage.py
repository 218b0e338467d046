"""UntypedStorage.from_file() and torch.from_file(): a file as memory; is_autocast_enabled() of
devices elsewhere."""

import os
import signal
import subprocess
import sys

import pytest

import rushlight
from tests.conftest import ask


def test_a_file_is_mapped(tmp_path):
    def mapped(torch):
        path = tmp_path / torch.__name__
        path.write_bytes(bytes(range(64)))
        storage = torch.UntypedStorage.from_file(str(path), False, 8)
        x = torch.empty(0, dtype=torch.uint8).set_(storage, 0, (8,)).fill_(7)
        found = [storage.tolist(), list(path.read_bytes()[:9]), storage.filename]
        y = torch.from_file(str(path), True, 4, dtype=torch.int16)
        found += [y.tolist(), x.tolist()]
        y[1:3] = -1
        z = torch.from_file(str(path), shared=True, size=40, dtype=torch.int16)  # which grows
        found += [list(path.read_bytes()), z.tolist(), z.untyped_storage().nbytes()]
        w = torch.from_file(str(path), size=2, requires_grad=True)
        found += [w.dtype == torch.get_default_dtype(), w.requires_grad, w.shape]
        new = str(path) + "new"
        found += [torch.from_file(new, True, 2).tolist(), torch.from_file(new).tolist()]
        found += [torch.UntypedStorage.from_file(new + "?").nbytes(), torch.from_file(new).shape]
        found += [torch.from_file(new, False, 1, dtype=torch.complex64).tolist()]
        return [str(each).replace(torch.__name__, "torch") for each in found]

    assert mapped(rushlight) == ask(mapped)


def test_what_cannot_be_mapped(tmp_path):
    path, none = tmp_path / "file", str(tmp_path / "nothing" / "file")
    path.write_bytes(bytes(16))

    def refused(torch):
        said = []
        for call in (
            lambda: torch.UntypedStorage.from_file(none, False, 1),
            lambda: torch.UntypedStorage.from_file(none, True, 1),
            lambda: torch.UntypedStorage.from_file(str(path), False, 17),
            lambda: torch.UntypedStorage.from_file(str(path), False, -1),
            lambda: torch.UntypedStorage.from_file(str(path.parent), True, 1),
            lambda: torch.UntypedStorage.from_file(path, False, 1),
            lambda: torch.from_file(str(path), size=5),
            lambda: torch.from_file(str(path), size=1, pin_memory=True),
            lambda: torch.from_file(str(path), size=1, dtype=torch.int32, requires_grad=True),
        ):
            with pytest.raises((RuntimeError, TypeError)) as error:
                call()
            words = str(error.value).splitlines()[0].replace(str(tmp_path), "")
            said.append((error.type.__name__, words.split(": ")[0]))
        return said

    assert refused(rushlight) == ask(refused)
    with pytest.raises(RuntimeError, match="a number of bytes is needed"):
        rushlight.UntypedStorage.from_file(str(path), False, 2**62)
    with pytest.raises(RuntimeError, match="unable to resize file"):
        rushlight.UntypedStorage.from_file(str(path), True, 2**61)
    disk = os.statvfs(path)  # more than it has is not taken in part
    with pytest.raises(RuntimeError, match="No space left on device"):
        rushlight.UntypedStorage.from_file(str(path), True, disk.f_frsize * (disk.f_bavail + 1))
    assert path.stat().st_size == 16 and path.stat().st_blocks <= 8
    with pytest.raises(RuntimeError, match="no regular file"):
        rushlight.UntypedStorage.from_file("/dev/zero", False, 4)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(RuntimeError, match="no regular file"):
        rushlight.from_file(str(tmp_path / "pipe"), size=4)
    with pytest.raises(NotImplementedError, match="mapped on the CPU"):
        rushlight.from_file(str(path), size=1, device="meta")


@pytest.mark.parametrize("shared", [False, True])
def test_a_file_that_becomes_shorter(tmp_path, shared):
    path = tmp_path / "file"
    path.write_bytes(bytes([1]) * 20000)
    x = rushlight.from_file(str(path), shared, 20000, dtype=rushlight.uint8)
    os.truncate(path, 5000)
    assert x[:5000].sum() == 5000 and x[8192:].sum() == 0
    x.fill_(3)
    assert x.sum() == 60000 and path.stat().st_size == 5000


def test_a_file_that_becomes_shorter_under_several_threads(tmp_path):
    program = f"""import os, rushlight
rushlight.set_num_threads(4)
path = {str(tmp_path / "file")!r}
for _ in range(20):
    open(path, "wb").write(bytes([1]) * 2**22)
    x = rushlight.from_file(path, size=2**22, dtype=rushlight.uint8)
    assert x.sum() == 2**22
    os.truncate(path, 4096)
    assert x[4096:].sum() == 0 and (x + 1).sum() == 2**22 + 4096
print("reached")"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == 0 and ended.stdout == "reached\n", ended


def test_another_mistake_still_ends_the_process(tmp_path):
    """The handler is for mapped files alone."""
    program = f"""import mmap, os, rushlight
path = {str(tmp_path / "file")!r}
open(path, "wb").write(bytes(9000))
x = rushlight.from_file(path, size=9000, dtype=rushlight.uint8)
with open(path, "r+b") as file:
    other = mmap.mmap(file.fileno(), 0)
os.truncate(path, 0)
print(x.sum().item(), flush=True)
other[8999]
print("not reached")"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ended.returncode == -signal.SIGBUS and ended.stdout == "0\n"


KINDS = ["uint8", "int16", "int32", "float32", None]


@pytest.mark.parametrize("call", ["asarray", "as_tensor", "tensor"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_storage_is_its_memory(call, kind):
    def read(torch):
        storage = torch.arange(11, dtype=torch.uint8).untyped_storage()
        read = getattr(torch, call)(storage, dtype=kind and getattr(torch, kind))
        return str(read.dtype), read.view(torch.uint8).tolist()

    assert read(rushlight) == ask(read)


def test_asarray_shares_a_storage():
    storage = rushlight.zeros(1 << 22, dtype=rushlight.uint8).untyped_storage()
    shared = rushlight.asarray(storage, dtype=rushlight.int32)  # at once, not byte by byte
    shared.fill_(1)
    assert storage[:8].tolist() == [1, 0, 0, 0, 1, 0, 0, 0]
    assert shared.data_ptr() == storage.data_ptr() and shared.shape == (1 << 20,)
    assert rushlight.asarray(storage, dtype=rushlight.uint8, copy=False).shape == (1 << 22,)
    typed = rushlight.TypedStorage(wrap_storage=storage, dtype=rushlight.float32)
    assert rushlight.asarray(typed).dtype == rushlight.float32
    with pytest.raises(RuntimeError, match="Expected a Storage of type"):
        rushlight.asarray(typed, dtype=rushlight.int32)


def test_autocast_elsewhere():
    names = ["mps", "xpu", "hpu", "mtia", "cpu", "cuda"]
    asked = lambda torch: [torch.is_autocast_enabled(n) for n in names]  # noqa: E731
    assert asked(rushlight) == ask(asked)


def test_a_mapped_file_is_shared(tmp_path):
    path = str(tmp_path / "file")

    def shared(torch):
        torch.save(torch.ones(3), path)
        tensors = [
            torch.from_file(path, False, 4),
            torch.from_file(path, True, 4),
            torch.load(path, mmap=True),
            torch.ones(2),
            torch.ones(0),
            torch.ones(2).share_memory_(),
        ]
        tensors += [tensors[0][1:], tensors[0].clone()]
        found = [(t.is_shared(), t.untyped_storage().is_shared()) for t in tensors]
        return [*found, torch.UntypedStorage.from_file(path, False, 4).is_shared()]

    assert shared(rushlight) == [tuple(x) if isinstance(x, list) else x for x in ask(shared)]


def test_sharing_a_mapped_file(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(8))
    both = rushlight.from_file(str(path), True, 8, dtype=rushlight.uint8)
    assert both.share_memory_() is both
    both[0] = 7
    assert path.read_bytes()[0] == 7
    read = rushlight.from_file(str(path), False, 8, dtype=rushlight.uint8).share_memory_()
    read[1] = 5
    assert path.read_bytes() == bytes([7] + [0] * 7) and read[:2].tolist() == [7, 5]
    with rushlight.cuda.virtual(1):
        x = rushlight.ones(2, device="cuda")
        assert x.is_shared() and x.share_memory_() is x


HOSTILE = [
    lambda t: t.storage.TypedStorage(-1),
    lambda t: t.storage.TypedStorage(2**62, dtype=t.float64),
    lambda t: t.storage.TypedStorage("ab"),
    lambda t: t.storage.TypedStorage(1.5),
    lambda t: t.storage.TypedStorage(1, 2),
    lambda t: t.storage.TypedStorage([1, "a"]),
    lambda t: t.storage.TypedStorage(3, wrap_storage=t.ones(2).untyped_storage(), dtype=t.float32),
    lambda t: t.storage.TypedStorage(wrap_storage=t.ones(2), dtype=t.float32),
    lambda t: t.storage.TypedStorage(wrap_storage=t.ones(2).untyped_storage()),
]


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")  # torch says so
def test_a_typed_storage_is_made(reference):
    found = []
    for t in (rushlight, reference):
        made = t.storage.TypedStorage([1, 2, 3], dtype=t.float32, device="cpu")
        other = t.storage.TypedStorage(range(3), dtype=t.int64)
        empty = t.storage.TypedStorage(wrap_storage=t.ones(0).untyped_storage(), dtype=t.float32)
        sizes = [t.storage.TypedStorage(4, dtype=t.int16).nbytes(), empty.size()]
        plain = t.storage.TypedStorage()
        found.append([made.tolist(), str(made.device), other.tolist(), sizes, plain.size()])
        found[-1].append([str(plain.dtype), made.fill_(7).tolist()])
    assert found[0] == found[1]


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_typed_storage_cannot_be_made(number):
    with pytest.raises((TypeError, ValueError, RuntimeError)):
        HOSTILE[number](rushlight)
