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


def test_autocast_elsewhere():
    names = ["mps", "xpu", "hpu", "mtia", "cpu", "cuda"]
    asked = lambda torch: [torch.is_autocast_enabled(n) for n in names]  # noqa: E731
    assert asked(rushlight) == ask(asked)
