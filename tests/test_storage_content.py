"""Storages of a buffer's bytes, the settings of torch.serialization, the names in a checkpoint."""

import io
import mmap
import pickle
import zipfile

import numpy
import pytest

import rushlight
from tests.conftest import ask

BUFFERS = [
    "U(b, 'native', dtype=T.float32)", "U(b, dtype=T.uint8)", "U(b, dtype=T.int8)",
    "U(b, dtype=T.int32)", "U(b, 'big', dtype=T.int32)", "U(b, 'little', dtype=T.int32, offset=4)",
    "U(b, 'little', dtype=T.int32, offset=3)", "U(b, 'little', dtype=T.int32, offset=9)",
    "U(b, 'little', dtype=T.int32, count=1)", "U(b, 'little', dtype=T.int32, count=3)",
    "U(b, 'little', 1, 4, dtype=T.int32)", "U(b[:7], 'little', dtype=T.int32)",
    "U(b'', 'little', dtype=T.int32)", "U(b, 'little', dtype=T.int32, count=-5)",
    "U(b, 'little', dtype=T.int32, offset=-4)", "U(bytes([0, 1, 2, 1]), 'little', dtype=T.bool)",
    "U(b, 'middle', dtype=T.int32)", "U('text', 'little', dtype=T.int32)",
    "U(numpy.arange(2.0), 'big', dtype=T.float64)", "U(bytearray(b), 'big', dtype=T.float16)",
    "U(b, 'big', dtype=T.complex64)", "U(3, 'big', dtype=T.int16)",
    "V(b, dtype=T.float32, byte_order='little')", "V(b, dtype=T.int16, byte_order='big')",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
@pytest.mark.parametrize("call", BUFFERS)
def test_of_a_buffer(call):
    def found(torch):
        names = {
            "T": torch, "b": b"abcd1234", "numpy": numpy, "U": torch.UntypedStorage.from_buffer,
            "V": torch.TypedStorage.from_buffer,
        }  # fmt: skip
        try:
            return eval(call, names).tolist()
        except (RuntimeError, ValueError, TypeError) as error:
            return type(error).__name__

    assert found(rushlight) == ask(found)


def test_a_buffer_is_copied():
    memory = bytearray(b"abcd")
    storage = rushlight.UntypedStorage.from_buffer(memory, dtype=rushlight.uint8)
    memory[0] = 0
    assert storage.tolist() == [97, 98, 99, 100]


def test_generators_of_graphs():
    for torch in (rushlight,):
        generator = torch.Generator()
        with pytest.raises(NotImplementedError, match="graphsafe_get_state is not supported"):
            generator.graphsafe_get_state()
        with pytest.raises(NotImplementedError, match="graphsafe_set_state is not supported"):
            generator.graphsafe_set_state(torch.Generator())


def test_settings():
    def found(torch):
        s = torch.serialization
        out = [s.get_default_load_endianness(), s.get_crc32_options(), s.get_default_mmap_options()]
        s.set_default_load_endianness(s.LoadEndianness.LITTLE)
        out.append(s.get_default_load_endianness().name)
        s.set_default_load_endianness(None)
        s.set_crc32_options(False)
        out.append(s.get_crc32_options())
        s.set_crc32_options(True)
        with s.set_default_mmap_options(mmap.MAP_PRIVATE):
            out.append(s.get_default_mmap_options())
        for call in (
            lambda: s.set_default_load_endianness("big"),
            lambda: s.set_default_mmap_options(7),
            lambda: s.check_module_version_greater_or_equal(pickle, (1, 2)),
            lambda: s.check_module_version_greater_or_equal(zipfile.zlib, (1, 0)),
            lambda: s.check_module_version_greater_or_equal(zipfile.zlib, (99, 0)),
        ):
            try:
                out.append(call())
            except Exception as error:
                out.append(type(error).__name__)
        return [*out, issubclass(s.SourceChangeWarning, Warning)]

    assert found(rushlight) == ask(found)


def test_settings_that_change_nothing_are_refused():
    s = rushlight.serialization
    with pytest.raises(NotImplementedError, match="byte order"):
        s.set_default_load_endianness(s.LoadEndianness.BIG)
    with pytest.raises(NotImplementedError, match="do not reach the file"):
        s.set_default_mmap_options(mmap.MAP_SHARED)


def test_files_without_data():
    def found(torch):
        file, out = io.BytesIO(), []
        with torch.serialization.skip_data(materialize_fake_tensors=True):
            torch.save({"a": torch.ones(3), "b": torch.arange(4)}, file)
            try:
                torch.save(1, io.BytesIO(), _use_new_zipfile_serialization=False)
            except RuntimeError as error:
                out.append(str(error))
        sizes = {i.filename[8:]: i.file_size for i in zipfile.ZipFile(file).infolist()}
        back = torch.load(io.BytesIO(file.getvalue()))
        file = io.BytesIO()
        torch.save(torch.ones(1), file)
        again = torch.load(io.BytesIO(file.getvalue())).tolist()
        return [
            *out,
            sizes["data/0"],
            sizes["data/1"],
            {k: v.tolist() for k, v in back.items()},
            again,
        ]

    assert found(rushlight) == ask(found)


class Mine:
    pass


@pytest.mark.parametrize("protocol", [2, 4])
def test_names_in_a_checkpoint(protocol, tmp_path):
    def found(torch):
        file = io.BytesIO()
        layer = torch.nn.Linear(1, 1).state_dict()
        torch.save([layer, Mine(), zipfile.ZipInfo], file, pickle_protocol=protocol)
        path = tmp_path / torch.__name__
        path.write_bytes(file.getvalue())
        names = torch.serialization.get_unsafe_globals_in_checkpoint
        inside = sorted(names(io.BytesIO(file.getvalue())))
        assert sorted(names(path)) == inside
        with torch.serialization.safe_globals([Mine]):
            return [inside, sorted(names(str(path)))]

    ours = found(rushlight)
    assert [name.split(".")[-1] for name in ours[0]] == ["Mine", "ZipInfo"]
    if protocol == 2:
        assert ours == ask(found)


@pytest.mark.parametrize("content", [b"", b"text", b"PK\3\4", b"PK\3\4" + bytes(100)])
def test_what_is_no_checkpoint(content):
    with pytest.raises((ValueError, RuntimeError)):
        rushlight.serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(content))


@pytest.mark.parametrize(
    "pickled",
    [b"", b".", b"\x80\x02", b"\x93.", b"(i", b"X\xff\xff\xff\xff", b"N\x93.", b"cos\nsystem\n."],
)
def test_damaged_names(pickled):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a/data.pkl", pickled)
        archive.writestr("a/version", b"3")
    file.seek(0)
    try:
        names = rushlight.serialization.get_unsafe_globals_in_checkpoint(file)
    except (ValueError, RuntimeError):
        return
    assert names in ([], ["os.system"])
