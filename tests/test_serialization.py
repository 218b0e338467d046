"""save and load: both ways between PyTorch's files and ours, devices, names, and whole files."""

import collections
import copy
import io
import os
import pathlib
import pickle
import random
import stat
import subprocess
import sys
import zipfile
import zlib

import pytest

import rushlight
from tests.conftest import ask

DTYPES = "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 bool".split()


def build(torch):
    """A checkpoint with everything in it, made with either library."""
    base = torch.arange(24.0).reshape(4, 6)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
    with torch.no_grad():
        for i, parameter in enumerate(net.parameters()):
            parameter.copy_(torch.arange(parameter.numel()).reshape(parameter.shape) / 8 + i)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.arange(15.0).reshape(5, 3)).sum().backward()
    optimizer.step()
    with torch.no_grad():  # coarse numbers: this is about files, not about the last bit of a sum
        moments = [m for state in optimizer.state.values() for m in state.values()]
        for tensor in (*net.state_dict().values(), *moments):
            if tensor.is_floating_point():
                tensor.copy_((tensor * 16).round() / 16)
    return {
        "base": base,
        "view": base[1:, ::2],
        "transposed": base.t(),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "state_dict": net.state_dict(),
        "optimizer": optimizer.state_dict(),
        "ordered": collections.OrderedDict(a=1, b=2.5),
        "size": torch.Size([2, 3]),
        "device": torch.device("cuda", 1),
        "dtype": torch.bfloat16,
        "numbers": [*range(3000), 1.5, 2**70, -3, True, None],
        "text": "h\xe9",
        "bytes": b"abc",
        "bytearray": bytearray(b"xyz"),
        "set": {1, 2, (3, 4)},
        "complex": 1 + 2j,
        "nested": {"a": [(), [{}], {"b": (1, "2", None)}]},
        "dtypes": [torch.tensor([1, 0, 1]).to(getattr(torch, name)) for name in DTYPES],
        "empty": torch.empty(0, 3),
        "expanded": torch.ones(1, 3).expand(4, 3),
        "scalar": torch.tensor(3.5),
        "counter": collections.Counter("abca"),
        "gradient": torch.ones(2, requires_grad=True),
    }


def described(value):
    """What must be the same of ours and torch's, as plain values."""
    kind = type(value).__name__
    if hasattr(value, "requires_grad"):
        layout = tuple(value.shape), tuple(value.stride())
        return kind, str(value.dtype), *layout, value.requires_grad, value.tolist()
    if isinstance(value, dict):
        return kind, [(key, described(item)) for key, item in value.items()]
    if isinstance(value, list | tuple):
        return kind, [described(item) for item in value]
    return kind, sorted(map(repr, value)) if isinstance(value, set) else repr(value)


def assert_same(ours, theirs):
    assert described(ours) == described(theirs)


def saved(obj, library=rushlight, **options):
    file = io.BytesIO()
    library.save(obj, file, **options)
    return file.getvalue()


def loaded(content, library=rushlight, **options):
    return library.load(io.BytesIO(content), **options)


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("zipped", [True, False])
class TestBothWays:
    def test_ours_in_torch(self, zipped, weights_only):
        ours = build(rushlight)
        content = saved(ours, _use_new_zipfile_serialization=zipped)

        def read(torch):
            theirs = loaded(content, torch, weights_only=weights_only)
            addresses = {theirs[name].untyped_storage().data_ptr() for name in ("base", "view")}
            return described(theirs), len(addresses)

        assert ask(read) == (described(ours), 1)

    def test_theirs_here(self, zipped, weights_only):
        def write(torch):
            theirs = build(torch)
            content = saved(theirs, torch, _use_new_zipfile_serialization=zipped)
            return content, described(theirs)

        content, theirs = ask(write)
        assert described(loaded(content, weights_only=weights_only)) == theirs

    @pytest.mark.parametrize("protocol", [2, 3, 4, 5])
    def test_ours_here(self, zipped, weights_only, protocol):
        ours = build(rushlight)
        content = saved(ours, pickle_protocol=protocol, _use_new_zipfile_serialization=zipped)
        back = loaded(content, weights_only=weights_only)
        assert_same(back, ours)
        back["view"][0, 0] = -1
        assert back["base"][1, 0] == back["transposed"][0, 1] == -1


def test_same_bytes_as_torch():
    """The archive is PyTorch's byte for byte but for the random serialization id."""
    ours, theirs = saved(build(rushlight)), ask(lambda torch: saved(build(torch), torch))
    assert len(ours) == len(theirs)
    with zipfile.ZipFile(io.BytesIO(ours)) as mine, zipfile.ZipFile(io.BytesIO(theirs)) as other:
        assert mine.testzip() is None
        assert mine.namelist() == other.namelist()
        for name in mine.namelist():
            if not name.endswith("serialization_id"):
                assert mine.read(name) == other.read(name), name
        for a, b in zip(mine.infolist(), other.infolist(), strict=True):
            assert (a.header_offset, a.flag_bits) == (b.header_offset, b.flag_bits)


def test_paths(tmp_path):
    ours = build(rushlight)
    for path in (tmp_path / "a.b.pt", os.fspath(tmp_path / "\xe9"), tmp_path / ".pt"):
        rushlight.save(ours, path)
        assert_same(rushlight.load(path, mmap=True), ours)
        if pathlib.Path(path).name != ".pt":
            assert ask(lambda torch, path=path: described(torch.load(path))) == described(ours)
    assert {p.name for p in tmp_path.iterdir()} == {"a.b.pt", "\xe9", ".pt"}
    assert zipfile.ZipFile(tmp_path / "a.b.pt").namelist()[0] == "a.b/data.pkl"


def test_checksum_is_zlibs():
    data = bytes(random.Random(0).randbytes(5000))
    for length in (*range(200), 255, 256, 300, 512, 1000, 4999):
        for start in (0, 1, 7):
            piece = data[start : start + length]
            assert rushlight._C._crc32(piece) == zlib.crc32(piece)
            assert rushlight._C._crc32(piece, 0x12345678) == zlib.crc32(piece, 0x12345678)


def test_other_position():
    """A file object is read from where it stands."""
    content = b"before" + saved([rushlight.ones(3)])
    file = io.BytesIO(content)
    file.seek(6)
    assert rushlight.load(file)[0].tolist() == [1, 1, 1]


def test_mixed_byte_order():
    names = ("int16", "int32", "float64")
    tensors = [rushlight.arange(5).to(getattr(rushlight, name)) for name in names]
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(saved(tensors))) as old, zipfile.ZipFile(file, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            if name.endswith("byteorder"):
                data = b"big"
            elif "/data/" in name:
                width = tensors[int(name[-1])].element_size()
                data = b"".join(data[i : i + width][::-1] for i in range(0, len(data), width))
            new.writestr(name, data)
    assert [t.tolist() for t in loaded(file.getvalue())] == [[0, 1, 2, 3, 4]] * 3


class TestModules:
    def test_ours_in_torch(self):
        ours = rushlight.nn.Sequential(rushlight.nn.Linear(3, 2), rushlight.nn.ReLU())
        content, inputs = saved(ours), [[1.0, -2.0, 0.5]]

        def run(torch):
            theirs = loaded(content, torch, weights_only=False)
            assert type(theirs) is torch.nn.Sequential
            return theirs(torch.tensor(inputs)).flatten().tolist()

        result = ours(rushlight.tensor(inputs)).flatten().tolist()
        assert result == pytest.approx(ask(run), abs=1e-6)

    def test_theirs_here(self):
        inputs = [[[[float(i * j % 7) for j in range(4)] for i in range(4)]]]

        def run(torch):
            torch.manual_seed(0)
            nn = torch.nn
            theirs = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten()).eval()
            return saved(theirs, torch), theirs(torch.tensor(inputs)).flatten().tolist()

        content, expected = ask(run)
        ours = loaded(content, weights_only=False)
        assert type(ours) is rushlight.nn.Sequential
        assert ours(rushlight.tensor(inputs)).flatten().tolist() == pytest.approx(
            expected, abs=1e-5
        )

    def test_refused_by_default(self):
        content = saved(rushlight.nn.Linear(2, 2))
        with pytest.raises(pickle.UnpicklingError, match="Weights only load failed") as caught:
            loaded(content)
        cure = "add_safe_globals([torch.nn.modules.linear.Linear])"
        assert cure in str(caught.value)

    def test_allowed(self):
        ours = rushlight.nn.Linear(2, 2)
        with rushlight.serialization.safe_globals([rushlight.nn.Linear]):
            assert rushlight.serialization.get_safe_globals() == [rushlight.nn.Linear]
            back = loaded(saved(ours))
        assert rushlight.serialization.get_safe_globals() == []
        assert_same(back.weight, ours.weight)

    def test_allowed_inside_allowed(self):
        serialization = rushlight.serialization
        try:
            with serialization.safe_globals([rushlight.nn.ReLU]):
                serialization.add_safe_globals([rushlight.nn.Tanh, (len, "other.name")])
            assert serialization.get_safe_globals() == [rushlight.nn.Tanh, (len, "other.name")]
        finally:
            serialization.clear_safe_globals()
        with pytest.raises(ValueError, match="Expected tuple of length 2"):
            serialization.add_safe_globals([(len,)])

    def test_absent_class(self):
        def made(torch):
            linear = torch.nn.modules.linear
            linear.Absent = type("Absent", (linear.Linear,), {"__module__": linear.__name__})
            try:
                return saved(linear.Absent(1, 1), torch)
            finally:
                del linear.Absent

        with pytest.raises(AttributeError, match="Absent"):
            loaded(ask(made), weights_only=False)


class TestLocations:
    def file(self):
        with rushlight.cuda.virtual(4):
            return saved([rushlight.ones(2, device="cuda:3"), rushlight.zeros(1)])

    def test_without_a_gpu(self):
        content = self.file()
        words = "Attempting to deserialize object on a CUDA device but torch.cuda.is_available"
        with pytest.raises(RuntimeError, match=words):
            loaded(content)
        for place in (
            "cpu",
            rushlight.device("cpu"),
            {"cuda:3": "cpu"},
            lambda storage, _: storage,
        ):
            assert [str(t.device) for t in loaded(content, map_location=place)] == ["cpu", "cpu"]

    def test_fewer_gpus(self):
        content = self.file()
        with rushlight.cuda.virtual(2):
            words = r"on CUDA device 3 but torch.cuda.device_count\(\) is 2"
            with pytest.raises(RuntimeError, match=words):
                loaded(content)
            first, second = loaded(content, map_location={"cuda:3": "cuda:1"})
            assert (str(first.device), str(second.device)) == ("cuda:1", "cpu")
            first, second = loaded(content, map_location=lambda storage, _: storage.cuda(1))
            assert (str(first.device), str(second.device)) == ("cuda:1", "cuda:1")
            first, second = loaded(content, map_location="cuda")
            assert (str(first.device), str(second.device)) == ("cuda:0", "cuda:0")
            assert first.cpu().tolist() == [1, 1]

    def test_same_gpu(self):
        with rushlight.cuda.virtual(4):
            first, second = loaded(self.file())
            assert (str(first.device), str(second.device)) == ("cuda:3", "cpu")

    def test_meta(self):
        first, _ = loaded(self.file(), map_location="meta")
        assert first.is_meta and tuple(first.shape) == (2,)

    def test_tags(self):
        content = saved([rushlight.ones(2)])
        seen = []

        def place(storage, tag):
            seen.append((type(storage).__name__, tag))

        assert loaded(content, map_location=place)[0].tolist() == [1, 1]
        assert seen == [("UntypedStorage", "cpu")]
        with pytest.raises(RuntimeError, match="don't know how to restore data location"):
            loaded(content, map_location="nowhere")
        with pytest.raises(TypeError, match="map_location"):
            loaded(content, map_location=0)


class TestArguments:
    def test_errors(self, tmp_path):
        with pytest.raises(RuntimeError, match=r"Parent directory .* does not exist"):
            rushlight.save(1, tmp_path / "absent" / "file.pt")
        with pytest.raises(AttributeError, match="expected 'f' to be string, path"):
            rushlight.save("file.pt", {})
        with pytest.raises(RuntimeError, match="explicit pickle_module"):
            loaded(saved(1), pickle_module=pickle, weights_only=True)
        with pytest.raises(FileNotFoundError):
            rushlight.load(tmp_path / "absent.pt")
        with pytest.raises(EOFError):
            loaded(b"")
        with pytest.raises(ValueError, match="mmap"):
            loaded(saved(1), mmap=True)
        with pytest.raises(IsADirectoryError):
            rushlight.save(1, tmp_path)

    def test_environment(self, monkeypatch):
        content = saved(rushlight.nn.ReLU())
        monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
        with pytest.warns(UserWarning, match="forcing weights_only=False"):
            assert isinstance(loaded(content), rushlight.nn.ReLU)
        monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
        monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "yes")
        with pytest.raises(pickle.UnpicklingError):
            loaded(content, weights_only=False)

    def test_two_dtypes(self):
        tensor = rushlight.ones(4)
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            saved([tensor, tensor.view(rushlight.int32)])

    def test_pickle_module(self):
        content = saved([rushlight.ones(2)], pickle_module=pickle)
        assert loaded(content, pickle_module=pickle, weights_only=False)[0].tolist() == [1, 1]

    def test_not_seekable(self):
        read, write = os.pipe()
        os.close(write)
        with (
            open(read, "rb") as file,
            pytest.raises(OSError, match=r"only torch\.load from a file"),
        ):
            rushlight.load(file)


class TestReplacing:
    def test_permissions_and_links(self, tmp_path):
        path, link = tmp_path / "file.pt", tmp_path / "link.pt"
        rushlight.save([1], path)
        path.chmod(0o640)
        link.symlink_to(path)
        rushlight.save([2], link)
        assert link.is_symlink() and rushlight.load(path) == [2]
        assert stat.S_IMODE(path.stat().st_mode) == 0o640

    def test_failure_leaves_the_old(self, tmp_path):
        path = tmp_path / "file.pt"
        rushlight.save([1], path)
        with pytest.raises(Exception, match="pickle"):
            rushlight.save([rushlight.ones(2), lambda: 0], path)
        assert rushlight.load(path) == [1]
        assert [p.name for p in tmp_path.iterdir()] == ["file.pt"]

    def test_left_overs_go(self, tmp_path):
        path = tmp_path / "file.pt"
        (tmp_path / ".file.pt.rushlight-saving-1-aa").write_bytes(b"killed")
        rushlight.save([1], path)
        assert [p.name for p in tmp_path.iterdir()] == ["file.pt"]

    def test_kill_at_any_call(self, tmp_path):
        """Forks, and kills the child at its n-th system call that touches the file, for every n."""
        program = KILL_PROGRAM.format(path=os.fspath(tmp_path / "file.pt"))
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stderr
        killed, old, new = map(int, done.stdout.split())
        assert killed >= 10 and old >= 10 and new >= 1, done.stdout


KILL_PROGRAM = """
import os, signal, rushlight as torch
path = {path!r}
killed = old = new = 0
for n in range(1000):
    torch.save([torch.full((100_000,), 1.0)] * 4, path)
    pid = os.fork()
    if pid == 0:
        left = n
        def deadly(name):
            real = getattr(os, name)
            def call(*arguments):
                global left
                left -= 1
                if left < 0:
                    if name == "write":  # half of it gets through
                        real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                    os.kill(os.getpid(), signal.SIGKILL)
                return real(*arguments)
            setattr(os, name, call)
        for name in ("write", "fsync", "replace", "ftruncate", "posix_fallocate", "fstat", "close"):
            deadly(name)
        torch.save([torch.full((100_000,), 2.0) for _ in range(4)], path)
        os._exit(0)
    _, status = os.waitpid(pid, 0)
    values = set().union(*(set(tensor.tolist()) for tensor in torch.load(path)))
    assert values in ({{1.0}}, {{2.0}})
    killed, old, new = killed + (status != 0), old + (values == {{1.0}}), new + (values == {{2.0}})
    if status == 0:
        break
print(killed, old, new)
assert len(os.listdir(os.path.dirname(path))) == 1
"""


class TestPickleAndCopy:
    def test_pickle(self, device):
        tensor = rushlight.arange(6.0, device=device).reshape(2, 3).t()
        for protocol in range(6):
            back = pickle.loads(pickle.dumps(tensor, protocol))
            assert back.device == tensor.device and back.stride() == tensor.stride()
            assert back.tolist() == tensor.tolist()

    def test_pickle_of_small_things(self):
        for thing in (rushlight.float32, rushlight.device("cuda:1"), rushlight.Size([1, 2])):
            for back in (pickle.loads(pickle.dumps(thing)), copy.deepcopy(thing), copy.copy(thing)):
                assert back == thing and type(back) is type(thing)
        assert pickle.loads(pickle.dumps(rushlight.bfloat16)) is rushlight.bfloat16

    def test_deepcopy(self, device):
        base = rushlight.arange(6.0, device=device)
        copied, view = copy.deepcopy([base, base[2:]])
        view[0] = 9
        assert copied.tolist() == [0, 1, 9, 3, 4, 5]
        assert base.tolist() == [0, 1, 2, 3, 4, 5]

    def test_deepcopy_of_gradients(self):
        leaf = rushlight.ones(2, requires_grad=True)
        (leaf * 3).sum().backward()
        copied = copy.deepcopy(leaf)
        assert copied.requires_grad and copied.grad.tolist() == [3, 3]
        assert copied.grad is not leaf.grad
        with pytest.raises(RuntimeError, match="Only Tensors created explicitly by the user"):
            copy.deepcopy(leaf * 2)

    def test_attributes_and_classes(self):
        tensor = rushlight.ones(2)
        tensor.note = "kept"
        assert loaded(saved(tensor)).note == "kept"
        assert copy.deepcopy(tensor).note == "kept"
        parameter = rushlight.nn.Parameter(rushlight.ones(2))
        for back in (loaded(saved(parameter)), copy.deepcopy(parameter)):
            assert type(back) is rushlight.nn.Parameter and back.requires_grad

    def test_storage(self):
        tensor = rushlight.tensor([1, 2], dtype=rushlight.int16)
        storage = tensor.untyped_storage()
        assert (storage.nbytes(), storage.size(), storage.tolist()) == (4, 4, [1, 0, 2, 0])
        assert str(storage.device) == "cpu" and storage.data_ptr() == tensor.data_ptr()
        assert loaded(saved(storage)).tolist() == [1, 0, 2, 0]
        assert pickle.loads(pickle.dumps(storage)).tolist() == [1, 0, 2, 0]
