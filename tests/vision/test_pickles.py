"""The reader of CIFAR's pickles: what it reads equals pickle's result; all else is refused."""

import contextlib
import pickle
import pickletools
import struct
import time
import zlib

import numpy
import pytest

from rushlight.vision.datasets._pickles import PickleError, read_pickle


def batch(count=7, seed=0):
    random = numpy.random.default_rng(seed)
    return {
        "batch_label": "training batch 1 of 5",
        "labels": random.integers(0, 10, count).tolist(),
        "data": random.integers(0, 256, (count, 3072), dtype=numpy.uint8),
        "filenames": [f"a_{i}.png" for i in range(count)],
        "numbers": [0, -1, 2**40, 1.5, True, False, None, 300, 70000],
    }


def read(tmp_path, data):
    path = tmp_path / "batch"
    path.write_bytes(data)
    return read_pickle(path)[0]


def same(mine, theirs):
    assert mine.keys() == theirs.keys()
    for key, value in theirs.items():
        if isinstance(value, numpy.ndarray):
            assert mine[key].dtype == value.dtype
            assert (mine[key] == value).all()
        else:
            assert mine[key] == value


@pytest.mark.parametrize("protocol", range(6))
def test_reads_what_python_writes(tmp_path, protocol):
    original = batch()
    same(read(tmp_path, pickle.dumps(original, protocol)), original)


def python2_batch(count=3):
    """The bytes of the published files' kind: Python 2, protocol 2, old NumPy."""
    pixels = bytes(i % 256 for i in range(count * 3072))
    out = b"\x80\x02}q\x01(U\x0bbatch_labelq\x02U\x15training batch 1 of 5q\x03"
    out += b"U\x06labelsq\x04]q\x05("
    out += b"".join(b"K" + bytes([i]) for i in range(count)) + b"e"
    out += b"U\x04dataq\x06cnumpy.core.multiarray\n_reconstruct\nq\x07cnumpy\nndarray\nq\x08"
    out += b"K\x00\x85U\x01b\x87Rq\x09(K\x01" + b"K" + bytes([count]) + b"M\x00\x0c\x86"
    out += b"cnumpy\ndtype\nq\x0aU\x02u1K\x00K\x01\x87Rq\x0b(K\x03U\x01|NNNJ\xff\xff\xff\xff"
    out += b"J\xff\xff\xff\xffK\x00tb\x89T" + struct.pack("<i", len(pixels)) + pixels + b"tb"
    return out + b"U\x09filenamesq\x0c]q\x0d(" + b"U\x05a.pngq\x0eh\x0eh\x0ee" + b"u."


def test_reads_what_python_2_wrote(tmp_path):
    data = python2_batch()
    same(read(tmp_path, data), pickle.loads(data, encoding="latin1"))


class Evil:
    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("function", [print, eval, __import__, getattr, numpy.array, zlib.compress])
def test_runs_nothing(tmp_path, protocol, function, capsys):
    data = pickle.dumps({"data": Evil(function, "1")}, protocol)
    with pytest.raises(PickleError, match=r"nothing of it was used|none of those"):
        read(tmp_path, data)
    assert capsys.readouterr().out == ""


HEAD = b"\x80\x02}("
ARRAY = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
DTYPE = b"cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"(",
        b"(.",
        b"N.",
        b"]q\x00a.",
        HEAD,
        HEAD + b"u",
        b"\x80\x02}U\x01aK\x01K\x02u.",
        b"h\x05.",
        b"T\xff\xff\xff\xff.",
        b"X\xff\xff\xff\x7fabc.",
        b"\x8e" + b"\xff" * 8 + b"abc.",
        b"\x8a\xff" + b"1" * 300 + b".",
        b"I" + b"9" * 5000 + b"\n.",
        b"S'a' + 'b'\n.",
        b"S'" + b"a" * 20000 + b"'\n.",
        b"cos\nsystem\nU\x02ls\x85R.",
        b"c__builtin__\neval\nU\x011\x85R.",
        b"U\x02os\x8c\x06system\x93.",
        b"\x8c\x02os\x8c\x06system\x93\x8c\x02ls\x85R.",
        b"ios\nsystem\n.",
        b"(cos\nsystem\nU\x02lso.",
        b"Pabc\n.",
        b"\x80\x02}Q.",
        b"\x82\x01.",
        b"}K\x01K\x02s.",
        b"}]]s.",
        b"}U\x01acnumpy\nndarray\ns.",
        b"}U\x01a" + ARRAY + b"s.",
        b"}U\x01acnumpy\nndarray\n)Rs.",
        b"}U\x01a" + ARRAY + b"(K\x01K\xff\x85" + DTYPE + b"\x89U\x02abtbs.",
        b"}U\x01a" + ARRAY + b"(K\x01J\xff\xff\xff\xff\x85" + DTYPE + b"\x89U\x02abtbs.",
        b"}U\x01a" + ARRAY + b"(K\x01K\x02\x85" + DTYPE + b"\x88U\x02abtbs.",
        b"}U\x01a" + ARRAY + b"(K\x01K\x02\x85cnumpy\ndtype\nU\x01OK\x00K\x01\x87R\x89U\x02abtbs.",
        b"}U\x01acnumpy\ndtype\nU\x01OK\x00K\x01\x87Rs.",
        b"}U\x01ac_codecs\nencode\nX\x01\x00\x00\x00aU\x05rot13\x86Rs.",
        b"}U\x01ac__builtin__\nbytes\nJ\xff\xff\xff\x7f\x85Rs.",
        pickle.dumps([1, 2]),
        pickle.dumps({"a": numpy.zeros(3, dtype=object)}),
        pickle.dumps({"a": numpy.zeros(3)}),
        pickle.dumps({1: 2}),
        pickle.dumps({("a",): 2}),
        pickle.dumps({"a": {1, 2}}),
        pickle.dumps({"a": 1 + 2j}),
    ],
    ids=range(45),
)
def test_refuses(tmp_path, data):
    with pytest.raises(PickleError):
        read(tmp_path, data)


def test_every_cut_and_every_changed_byte(tmp_path):
    """No damage gives another error, nor takes long."""
    data = python2_batch(1)
    interesting = [i for i in range(len(data)) if not 230 < i < len(data) - 50]
    for i in interesting[::2]:
        with pytest.raises(PickleError):
            read(tmp_path, data[:i])
        for value in (data[i] ^ 1, data[i] ^ 0x80, ord("(R"[i % 4 // 2])):
            changed = data[:i] + bytes([value]) + data[i + 1 :]
            with contextlib.suppress(PickleError):
                read(tmp_path, changed)


def test_a_small_file_cannot_unfold(tmp_path):
    """The same megabyte encoded again and again, by two bytes each."""
    text = b"X" + struct.pack("<I", 1 << 20) + b"a" * (1 << 20) + b"q\x01"
    call = b"h\x02h\x01U\x06latin1\x86Rq\x03"
    data = b"]" + text + b"c_codecs\nencode\nq\x02(" + call * 1000 + b"e."
    begin = time.monotonic()
    with pytest.raises(PickleError, match="unfolds"):
        read(tmp_path, data)
    nested = b"]" * 200_000 + b"a" * 199_999 + b"."
    with pytest.raises(PickleError, match="not a dict"):
        read(tmp_path, nested)
    assert time.monotonic() - begin < 10


def test_opcodes_are_data_only():
    """The opcodes that make objects of classes, or reach outside, are not in the table."""
    from rushlight.vision.datasets._pickles import _steps

    names = {code.name for code in pickletools.opcodes if code.code.encode("latin1") in _steps}
    assert not names & {
        "INST", "OBJ", "NEWOBJ", "NEWOBJ_EX", "EXT1", "EXT2", "EXT4", "PERSID", "BINPERSID",
        "NEXT_BUFFER", "READONLY_BUFFER",
    }  # fmt: skip
