"""UntypedStorage.from_file(): a file as memory; is_autocast_enabled() of devices elsewhere."""

import pytest

import rushlight
from tests.conftest import ask


def test_a_file_is_read(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(range(16)))
    storage = rushlight.UntypedStorage.from_file(str(path), False, 8)
    path.write_bytes(b"")  # what was mapped would be gone, and the process with it
    assert storage.tolist() == list(range(8))
    x = rushlight.empty(0, dtype=rushlight.uint8).set_(storage, 0, (8,))
    x.fill_(7)
    assert storage.tolist() == [7] * 8
    assert path.read_bytes() == b""


def test_a_shared_file_is_refused(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(bytes(8))
    with pytest.raises(NotImplementedError, match="a mapped file that becomes shorter"):
        rushlight.UntypedStorage.from_file(str(path), True, 8)
    assert path.read_bytes() == bytes(8)


@pytest.mark.parametrize("nbytes", [17, -1, True, 2**62])
def test_what_cannot_be_read(tmp_path, nbytes):
    path = tmp_path / "file"
    path.write_bytes(bytes(16))
    with pytest.raises(RuntimeError):
        rushlight.UntypedStorage.from_file(str(path), False, nbytes)
    with pytest.raises(RuntimeError, match="unable to open file"):
        rushlight.UntypedStorage.from_file(str(tmp_path / "nothing"), False, 1)


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
