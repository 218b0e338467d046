"""Checkpoints that mean harm, as bytes: (name, content) pairs for tests/test_hostile_files.py.

Note: all but the harmless ones must end in an error, within a second and with little
more memory than the file's length.
"""

import io
import pickle
import struct
import zipfile
import zlib


def archive(pickled, records=(), method=zipfile.ZIP_STORED):
    """An archive around a pickle, with records (name, content) beside it."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as writer:
        writer.writestr("archive/data.pkl", pickled)
        writer.writestr("archive/byteorder", b"little")
        for name, content in records:
            writer.writestr(f"archive/{name}", content)
        writer.writestr("archive/version", b"3\n")
    return file.getvalue()


def text(value):
    """The instruction that pushes a string."""
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def number(value):
    """The instruction that pushes an int."""
    return pickle.dumps(value, 2)[2:-1]


def values(*items):
    """The instructions that push a tuple."""
    return b"(" + b"".join(items) + b"t"


def storage(count=4, key="0", location="cpu", kind=b"ctorch\nFloatStorage\n"):
    """The instructions that push a storage."""
    return values(text("storage"), kind, text(key), text(location), number(count)) + b"Q"


def tensor(size=(4,), stride=(1,), offset=0, grad=b"\x89", source=None, name="_rebuild_tensor_v2"):
    """The instructions that push a tensor."""
    arguments = (
        source or storage(),
        number(offset),
        values(*map(number, size)),
        values(*map(number, stride)),
        grad,
        b"N",
    )
    return f"ctorch._utils\n{name}\n".encode() + values(*arguments) + b"R"


DATA = [("data/0", bytes(16))]
# A tuple of two, each the tuple of two before it, sixty times: 2**60 leaves in 240 bytes.
DOUBLED = b")" + b"2\x86" * 60
MANY = 300_000


def pickles():
    """Hostile pickles inside a sound archive with one storage of sixteen bytes."""
    yield from _imports()
    yield from _tensors()
    yield from _machine()


def _imports():
    for module, name in [
        ("os", "system"), ("posix", "system"), ("builtins", "eval"), ("builtins", "exec"),
        ("builtins", "getattr"), ("builtins", "__import__"), ("subprocess", "Popen"),
        ("torch.serialization", "os.system"), ("torch", "serialization.os.system"),
        ("torch._utils", "_rebuild_tensor_v2.__globals__"), ("torch", "load"),
        ("torch.hub", "load"), ("rushlight", "load"), ("rushlight._C", "Tensor"),
        ("collections", "OrderedDict.__init__"), ("", ""), ("torch.nn.modules.linear", "Linear"),
        ("__builtin__", "eval"), ("operator", "attrgetter"), ("pickle", "loads"),
    ]:  # fmt: skip
        call = values(text("echo harm >&2")) + b"R."
        yield f"global {module}.{name}", f"c{module}\n{name}\n".encode() + call
        yield (
            f"stack global {module}.{name}",
            b"\x80\x04" + text(module) + text(name) + b"\x93" + call,
        )
    yield "inst", b"(S'echo harm'\nios\nsystem\n."
    yield "extension code", b"\x82\x01."
    yield "obj", b"(cos\nsystem\n" + text("echo harm") + b"o."
    for what in (b"ctorch\nfloat32\n", text("abc"), b"N", b"]", DOUBLED, b"ctorch\nTensor\n",
                 b"ctorch\nFloatStorage\n", b"ctorch.storage\nUntypedStorage\n",
                 b"ctorch.nn.parameter\nParameter\n"):  # fmt: skip
        yield f"call of {what[:20]!r}", what + values(number(10**13)) + b"R."
        yield f"new object of {what[:20]!r}", what + values(number(10**13)) + b"\x81."
        yield f"state for {what[:20]!r}", what + b"}" + text("a") + b"K\x01sb."
    yield "call without a tuple", b"ccollections\nOrderedDict\n]R."
    kinds = (b"cbuiltins\nset\n", b"ctorch\nfloat32\n", b"N", DOUBLED)
    for kind in kinds:
        rebuilt = b"ctorch._tensor\n_rebuild_from_type_v2\n" + values(
            b"ctorch._utils\n_rebuild_tensor_v2\n",
            kind,
            values(storage(), b"K\x00", values(b"K\x04"), values(b"K\x01"), b"\x89", b"N"),
            b"}",
        )
        yield f"tensor turned into {kind[:20]!r}", rebuilt + b"R."


def _tensors():
    big = 2**62
    yield "size beyond storage", tensor((5,)) + b"."
    yield "stride beyond storage", tensor((2,), (4,)) + b"."
    yield "offset beyond storage", tensor((4,), offset=1) + b"."
    yield "negative offset", tensor((1,), offset=-1) + b"."
    yield "negative size", tensor((-1,)) + b"."
    yield "negative stride", tensor((2,), (-1,), 3) + b"."
    yield "huge size", tensor((big,)) + b"."
    yield "sizes that overflow", tensor((big, 4), (0, 1)) + b"."
    yield "strides that overflow", tensor((3, 3), (big, big)) + b"."
    yield "overflow to nothing", tensor((2**32, 2**32), (1, 1)) + b"."
    yield "huge offset", tensor((1,), offset=2**63 - 1) + b"."
    yield "size beyond 64 bits", tensor((2**64,)) + b"."
    yield "rank 1000", tensor((1,) * 1000, (1,) * 1000) + b"."
    yield "ranks that differ", tensor((2, 2), (1,)) + b"."
    yield "doubled size", tensor().replace(values(b"K\x04"), DOUBLED, 1) + b"."
    yield "text as grad", tensor(grad=text("yes")) + b"."
    yield "doubled grad", tensor(grad=DOUBLED) + b"."
    whole = storage(kind=b"ctorch\nIntStorage\n")
    yield "ints with grad", tensor(grad=b"\x88", source=whole) + b"."
    yield "no storage", tensor(source=b"N") + b"."
    yield "doubled storage", tensor(source=DOUBLED) + b"."
    yield "storage too long", tensor(source=storage(5)) + b"."
    yield "storage of 2**60", tensor(source=storage(2**60)) + b"."
    yield "storage of 2**63", tensor(source=storage(2**63)) + b"."
    yield "negative storage", tensor(source=storage(-4)) + b"."
    yield "absent record", tensor(source=storage(key="7")) + b"."
    yield "record outside", tensor(source=storage(key="../data.pkl")) + b"."
    yield "device unknown", tensor(source=storage(location="harm:0")) + b"."
    yield "device a path", tensor(source=storage(location="cuda:" + "9" * 5000)) + b"."
    kind = b"ctorch._utils\n_rebuild_tensor\n"
    yield "storage of another kind", tensor(source=storage(kind=kind)) + b"."
    yield "id not a tuple", text("storage") + b"Q."
    yield "id doubled", DOUBLED + b"Q."
    yield "id too short", values(text("storage")) + b"Q."
    yield "id of a module", values(text("module"), b"N", b"N", b"N", b"N") + b"Q."
    parameter = b"ctorch._utils\n_rebuild_parameter\n"
    yield "parameter of text", parameter + values(text("w"), b"\x88", b"N") + b"R."
    meta = b"ctorch._utils\n_rebuild_meta_tensor_no_storage\n"
    arguments = values(b"ctorch\nfloat32\n", values(number(big)), values(b"K\x04"), b"\x89")
    yield "meta that overflows", meta + arguments + b"R."
    for name in (
        "_rebuild_tensor",
        "_rebuild_tensor_v3",
        "_rebuild_qtensor",
        "_import_dotted_name",
    ):
        yield f"wrong arguments for {name}", tensor(name=name) + b"."


def _machine():
    yield "empty", b""
    yield "no stop", b"N"
    yield "stack underflow", b"."
    yield "mark underflow", b"t."
    yield "tuple underflow", b"N\x87."
    yield "append to nothing", b"Na."
    yield "append to a tuple", b")Na."
    yield "items of a list", b"](NNu."
    yield "odd items", b"}(Nu."
    yield "memo missing", b"h\x05."
    yield "memo missing, far", b"j\xff\xff\xff\xff."
    yield "unknown instruction", b"\xff."
    yield "protocol 255", b"\x80\xffN."
    yield "text longer than the file", b"X\xff\xff\xff\x7f."
    yield "text of 2**62 bytes", b"\x8d" + struct.pack("<Q", 2**62) + b"."
    yield "bytes of 2**62", b"\x8e" + struct.pack("<Q", 2**62) + b"."
    yield "bytearray of 2**62", b"\x96" + struct.pack("<Q", 2**62) + b"."
    yield "frame of 2**62", b"\x95" + struct.pack("<Q", 2**62) + b"X."
    yield "long of 2**31", b"\x8b\xff\xff\xff\x7f."
    yield "negative long", b"\x8b\xff\xff\xff\xff."
    yield "a long of 100 kB", b"\x8b" + struct.pack("<i", 100_000) + bytes(100_000) + b"."
    yield "text not UTF-8", b"X\x02\x00\x00\x00\xff\xfe."
    yield "bytearray(10**12)", b"cbuiltins\nbytearray\n" + values(number(10**12)) + b"R."
    yield "set(10**12)", b"cbuiltins\nset\n" + values(number(10**12)) + b"R."
    yield "Size(10**12)", b"ctorch\nSize\n" + values(number(10**12)) + b"R."
    yield "Size of doubled", b"ctorch\nSize\n" + values(DOUBLED) + b"R."
    yield "device of doubled", b"ctorch\ndevice\n" + values(DOUBLED) + b"R."
    yield "encode to zip", b"c_codecs\nencode\n" + values(text("a"), text("zip")) + b"R."
    yield "encode to punycode", b"c_codecs\nencode\n" + values(text("a"), text("idna")) + b"R."
    yield "Counter of text", b"ccollections\nCounter\n" + values(text("abc")) + b"R."
    yield "OrderedDict of doubled", b"ccollections\nOrderedDict\n" + values(DOUBLED) + b"R."
    yield "unhashable key", b"}]Ns."
    yield "doubled key", b"}" + DOUBLED + b"Ns."
    yield "doubled member", b"cbuiltins\nset\n" + values(b"](" + DOUBLED + b"e") + b"R."
    yield "doubled frozenset", b"(" + DOUBLED + b"\x91."
    yield "doubled item", b"\x8f(" + DOUBLED + b"\x90."
    yield "deep tuple as key", b"})" + b"\x85" * MANY + b"Ns."
    yield "deep marks", b"(" * MANY + b"t" * MANY + b"."
    yield "attributes of an OrderedDict", b"ccollections\nOrderedDict\n)R]b."
    yield "a million lists", b"]" * 1_000_000 + b"."


def harmless_pickles():
    """Odd, but data: these load."""
    yield "doubled and returned", DOUBLED + b"."
    yield "deep lists", b"]" * 100_000 + b"a" * 99_999 + b"."
    yield "a million duplicates", b"]" + b"2" * 1_000_000 + b"."
    yield "list in itself", b"]q\x00h\x00a."
    memo = b"".join(b"r" + struct.pack("<I", i * 40_000) for i in range(50_000))
    yield "many memo entries", b"]" + memo + b"."


def archives():
    """Archives that lie about themselves."""
    sound = archive(tensor() + b".", DATA)
    for cut in range(0, len(sound) - 1, 37):
        yield f"cut at {cut}", sound[:cut]
    yield "compressed bomb", archive(b"N.", [("data/0", bytes(50_000_000))], zipfile.ZIP_DEFLATED)
    yield "compressed pickle", archive(b"]" * 30_000_000, (), zipfile.ZIP_DEFLATED)
    yield "name twice", _raw([("archive/data.pkl", b"N."), ("archive/data.pkl", b"N.")])
    yield "name outside", _raw([("archive/data.pkl", b"N."), ("../../harm", b"N.")])
    yield "absolute name", _raw([("archive/data.pkl", b"N."), ("/etc/harm", b"N.")])
    yield "no pickle", _raw([("archive/version", b"3\n")])
    yield "no record", _raw([])
    many = [(f"archive/data/{i}", 4 << 20) for i in range(1000)]
    yield "records that overlap", _raw([("archive/data.pkl", b"N.")], bytes(4 << 20), many)
    yield "record of 2**31", _raw([("archive/data.pkl", b"N.")], b"", [("archive/data/0", 2**31)])
    yield "method 99", sound.replace(b"PK\1\2\x14\3\x14\0\0\0\0\0", b"PK\1\2\x14\3\x14\0\0\0\x63\0")
    end = sound.rfind(b"PK\5\6")
    yield (
        "65535 entries",
        sound[:end] + struct.pack("<4s4H", b"PK\5\6", 0, 0, 65535, 65535) + sound[end + 12 :],
    )
    yield "directory outside", sound[: end + 16] + b"\xf0\xff\xff\xff" + sound[end + 20 :]
    yield "directory of 4 GB", sound[: end + 12] + b"\xf0\xff\xff\xff" + sound[end + 16 :]
    far = struct.pack("<4sQ2H2I4Q", b"PK\6\6", 44, 0, 45, 0, 0, 2**60, 2**60, 2**62, 2**62)
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
    yield "zip64 beyond all", sound[:end] + far + locator + sound[end:]
    locator = struct.pack("<4sIQI", b"PK\6\7", 0, 2**63, 1)
    yield "zip64 locator outside", sound[:end] + far + locator + sound[end:]


def _raw(records, shared=b"", sharing=()):
    """A stored archive written by hand; the entries `sharing` all point at the bytes `shared`."""
    file, directory = io.BytesIO(), b""
    count = len(records) + len(sharing)

    def entry(name, size, crc, start):
        head = (0x14, 0x14, 0, 0, 0, 0, crc, size, size, len(name), 0, 0, 0, 0, 0, start)
        return struct.pack("<4s6H3I5H2I", b"PK\1\2", *head) + name

    for name, content in records:
        name, crc, start = name.encode(), zlib.crc32(content), file.tell()
        head = (0x14, 0, 0, 0, 0, crc, len(content), len(content), len(name), 0)
        file.write(struct.pack("<4s5H3I2H", b"PK\3\4", *head) + name + content)
        directory += entry(name, len(content), crc, start)
    start = file.tell()
    file.write(
        struct.pack("<4s5H3I2H", b"PK\3\4", 0x14, 0, 0, 0, 0, 0, 0, 0, 14, 0) + b"archive/data/0"
    )
    file.write(shared)
    for name, size in sharing:
        directory += entry(name.encode(), size, 0, start)
    at = file.tell()
    tail = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, count, count, len(directory), at, 0)
    return file.getvalue() + directory + tail


def old_files():
    """The format before 1.6, damaged."""
    head = b"".join(
        pickle.dumps(part, 2)
        for part in (
            0x1950A86A20F9469CFC6C,
            1001,
            {"protocol_version": 1001, "little_endian": True},
        )
    )
    identity = values(
        text("storage"), b"ctorch\nFloatStorage\n", text("0"), text("cpu"), number(2**40), b"N"
    )
    yield "old: storage of 2**42 bytes", head + tensor(source=identity + b"Q") + b"." + b"]."
    identity = identity.replace(number(2**40), number(4))
    body = tensor(source=identity + b"Q") + b"."
    keys = pickle.dumps(["0"], 2)
    yield "old: no storage list", head + body
    yield "old: other keys", head + body + pickle.dumps(["1"], 2) + bytes(30)
    yield "old: another size", head + body + keys + struct.pack("<q", 2**50) + bytes(30)
    yield "old: cut", head + body + keys + struct.pack("<q", 4) + bytes(3)
    yield "old: import", head + b"cos\nsystem\n" + values(text("echo harm")) + b"R."
    yield "old: other magic", pickle.dumps(17, 2) + head
    yield "old: text", b"this is no checkpoint\n" * 50
    yield "old: protocol 0", pickle.dumps({"a": [1, 2]}, 0)
    yield "old: plain pickle", pickle.dumps({"a": [1, 2]}, 2)
