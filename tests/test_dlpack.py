"""DLPack both ways: shared memory, lifetimes, and producers that lie."""

import ctypes
import gc
import struct
import weakref

import numpy as np
import pytest

import rushlight
from rushlight.utils.dlpack import DLDeviceType, from_dlpack, to_dlpack
from tests.conftest import ask

DTYPES = "bool uint8 int8 int16 int32 int64 float16 float32 float64".split()


@pytest.mark.parametrize("name", DTYPES)
def test_numpy_reads_ours(name):
    x = rushlight.tensor([[1, 0, 2], [0, 3, 4]]).to(getattr(rushlight, name))
    for view in (x, x.t(), x[:, 1:], x[1], x[0, 0], x[:, :0]):
        array = np.from_dlpack(view)
        assert array.dtype == name and array.shape == view.shape
        assert array.tolist() == view.tolist()


@pytest.mark.parametrize("name", DTYPES)
def test_ours_from_numpy(name):
    array = np.arange(12).reshape(3, 4).astype(name)
    for view in (array, array.T, array[1:, ::2], array[2], array[0, 0:1], array[:0]):
        tensor = rushlight.from_dlpack(view)
        assert str(tensor.dtype) == f"torch.{name}"
        assert tensor.tolist() == view.tolist() and tensor.shape == view.shape


def test_memory_is_shared_both_ways():
    x = rushlight.zeros(3)
    array = np.from_dlpack(x)
    x[1] = 5
    assert array.tolist() == [0, 5, 0]
    array = np.zeros(3)
    x = rushlight.from_dlpack(array)
    x += 1
    assert array.tolist() == [1, 1, 1] and x.data_ptr() == array.ctypes.data


def test_torch_both_ways(peer):
    for name in [*DTYPES, "bfloat16"]:
        theirs = peer.tensor([[1, 0, 2], [3, 4, 5]]).to(getattr(peer, name)).t()
        ours = rushlight.from_dlpack(theirs)
        assert ours.tolist() == theirs.tolist() and ours.stride() == theirs.stride()
        back = peer.from_dlpack(ours)
        assert back.data_ptr() == theirs.data_ptr() and back.dtype == theirs.dtype
        ours[0, 0] = 0
        assert theirs[0, 0].item() == 0


def test_capsules_as_torch_makes_them():
    def check(torch):
        x = torch.ones(1, 3)
        assert x.__dlpack_device__() == (DLDeviceType.kDLCPU, 0)
        assert 'object "dltensor" at' in repr(torch.utils.dlpack.to_dlpack(x))
        assert 'object "dltensor" at' in repr(x.__dlpack__())
        assert 'object "dltensor_versioned" at' in repr(x.__dlpack__(max_version=(1, 0)))
        copy = torch.from_dlpack(x.__dlpack__(max_version=(1, 2), copy=True))
        assert copy.data_ptr() != x.data_ptr() and copy.tolist() == x.tolist()

    check(rushlight)
    ask(check)


def test_a_capsule_is_taken_once():
    capsule = to_dlpack(rushlight.ones(2))
    assert from_dlpack(capsule).tolist() == [1, 1]
    assert "used_dltensor" in repr(capsule)
    with pytest.raises(RuntimeError, match="received an invalid capsule"):
        from_dlpack(capsule)


class Producer:
    """A NumPy array under another type, so that its life can be watched."""

    def __init__(self, array):
        self.array = array

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)


def test_lifetimes():
    array = np.arange(3.0)
    alive = weakref.ref(array)
    tensor = rushlight.from_dlpack(array)
    view = tensor[1:]
    del array, tensor
    gc.collect()
    assert alive() is not None and view.tolist() == [1, 2]
    del view
    gc.collect()
    assert alive() is None

    array = np.arange(3.0)
    alive = weakref.ref(array)
    capsule = array.__dlpack__()
    del array
    assert alive() is not None
    del capsule
    assert alive() is None

    x = rushlight.from_numpy(np.arange(3.0))
    alive = weakref.ref(x)
    array = np.from_dlpack(x)
    del x
    gc.collect()
    assert alive() is None and array.tolist() == [0, 1, 2]


def test_unused_capsules_of_ours_free_their_memory():
    owner = np.zeros(1000)
    alive = weakref.ref(owner)
    x = rushlight.from_numpy(owner)
    for version in (None, (1, 0)):
        capsule = x.__dlpack__(max_version=version)
        del capsule
    del owner, x
    gc.collect()
    assert alive() is None


def test_read_only_memory_is_copied():
    array = np.arange(3)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="read-only"):
        tensor = rushlight.from_dlpack(array)
    tensor += 1
    assert array.tolist() == [0, 1, 2] and tensor.tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match="copy=False forbids"):
        rushlight.from_dlpack(array, copy=False)


def test_what_cannot_be_lent():
    def check(torch):
        with pytest.raises(BufferError, match="Can't export tensors that require gradient"):
            torch.ones(1, requires_grad=True).__dlpack__()
        with pytest.raises(BufferError, match="Cannot pack tensors on meta"):
            torch.ones(1, device="meta").__dlpack__()
        with pytest.raises(ValueError, match="Unknown device type meta for Dlpack"):
            torch.ones(1, device="meta").__dlpack_device__()
        with pytest.raises(AssertionError, match=r"stream should be None on cpu\."):
            torch.ones(1).__dlpack__(stream=1)
        with pytest.raises(TypeError, match="stream must be"):
            torch.ones(1).__dlpack__(stream="a")

    check(rushlight)
    ask(check)
    with pytest.raises(RuntimeError, match="dtype"):  # NumPy's own words
        np.from_dlpack(rushlight.ones(1, dtype=rushlight.bfloat16))


def test_virtual_gpus(virtual_gpus):
    x = rushlight.ones(2, device="cuda:1")
    assert x.__dlpack_device__() == (DLDeviceType.kDLCUDA, 1)
    for lend in (x.__dlpack__, lambda: np.from_dlpack(x), lambda: to_dlpack(x)):
        with pytest.raises((BufferError, RuntimeError), match=r"(?i)gpu|device"):
            lend()
    with pytest.raises(BufferError, match=r"the tensor is on cuda:1.*lend tensor.cpu\(\) instead"):
        rushlight.from_dlpack(x)
    assert np.from_dlpack(x, device="cpu").tolist() == [1, 1]
    with pytest.raises(ValueError, match="without copying"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    there = rushlight.from_dlpack(np.ones(2), device="cuda:2")
    assert str(there.device) == "cuda:2"
    with pytest.raises(ValueError, match="without copying"):
        rushlight.from_dlpack(np.ones(2), device="cuda:2", copy=False)


class OldProducer(Producer):
    """As before there were versions: __dlpack__ knows only the stream."""

    def __dlpack__(self, stream=None):
        return self.array.__dlpack__(stream=stream)


def test_old_producers():
    array = np.arange(3)
    assert rushlight.from_dlpack(OldProducer(array)).data_ptr() == array.ctypes.data
    copy = rushlight.from_dlpack(OldProducer(array), copy=True)
    assert copy.data_ptr() != array.ctypes.data


class Wrong(Producer):
    def __init__(self, device, capsule):
        self.device, self.capsule = device, capsule

    def __dlpack_device__(self):
        return self.device

    def __dlpack__(self, **options):
        if isinstance(self.capsule, Exception):
            raise self.capsule
        return self.capsule


@pytest.mark.parametrize(
    "device, capsule, kind",
    [
        ((1, 0), 5, RuntimeError),
        ((1, 0), None, RuntimeError),
        ((1, 0), KeyError("mine"), KeyError),
        ((1, 0), TypeError("mine"), TypeError),
        (5, None, TypeError),
        ((1,), None, ValueError),
        ("ab", None, RuntimeError),
    ],
)
def test_producers_that_return_nonsense(device, capsule, kind):
    with pytest.raises(kind):
        rushlight.from_dlpack(Wrong(device, capsule))


@pytest.mark.parametrize("value", [3, None, "dltensor", object(), rushlight.ones])
def test_what_is_no_producer(value):
    with pytest.raises(RuntimeError, match="received an invalid capsule"):
        rushlight.from_dlpack(value)


# ---- capsules made by hand: every field may lie

new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype = ctypes.py_object
new_capsule.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Made:
    """A capsule whose struct lies in memory that this object keeps."""

    def __init__(self, *, data=True, device=(1, 0), rank=None, dtype=(2, 32, 1), shape=(2, 3),
                 strides=None, offset=0, versioned=False, version=(1, 0), flags=0):  # fmt: skip
        self.elements = (ctypes.c_char * 4096)()
        self.shape = (ctypes.c_int64 * max(len(shape or ()), 1))(*(shape or ()))
        self.strides = (ctypes.c_int64 * max(len(strides or ()), 1))(*(strides or ()))
        address = ctypes.addressof(self.elements)
        array = struct.pack(
            "<QiiiBBHQQQ",
            address if data is True else data,
            *device,
            len(shape) if rank is None else rank,
            *dtype,
            ctypes.addressof(self.shape) if shape is not None else 0,
            ctypes.addressof(self.strides) if strides is not None else 0,
            offset,
        )
        if versioned:
            head = struct.pack("<IIQQQ", *version, 0, 0, flags)
            self.struct = ctypes.create_string_buffer(head + array)
            name = b"dltensor_versioned"
        else:
            self.struct = ctypes.create_string_buffer(array + bytes(16))
            name = b"dltensor"
        self.name = ctypes.create_string_buffer(name)
        self.capsule = new_capsule(
            ctypes.addressof(self.struct), ctypes.cast(self.name, ctypes.c_char_p), None
        )


@pytest.mark.parametrize("versioned", [False, True])
def test_a_right_one(versioned):
    made = Made(versioned=versioned, offset=8, strides=(1, 2))
    ctypes.memmove(ctypes.addressof(made.elements) + 8, struct.pack("6f", *range(6)), 24)
    x = from_dlpack(made.capsule)
    assert x.tolist() == [[0, 2, 4], [1, 3, 5]] and x.stride() == (1, 2)
    nothing = Made(versioned=versioned, data=0, shape=(0, 3))
    assert from_dlpack(nothing.capsule).shape == (0, 3)
    single = Made(versioned=versioned, shape=())
    assert from_dlpack(single.capsule).shape == ()


LIES = {
    "rank below zero": {"rank": -1},
    "lowest rank": {"rank": -(2**31)},
    "too many dimensions": {"shape": (1,) * 9},
    "greatest rank": {"rank": 2**31 - 1},
    "no sizes": {"shape": None, "rank": 2},
    "negative size": {"shape": (2, -3)},
    "sizes that overflow": {"shape": (2**40, 2**40)},
    "bytes that overflow": {"shape": (2**62, 1)},
    "all of memory": {"shape": (2**60,)},
    "no memory": {"data": 0},
    "negative stride": {"strides": (3, -1)},
    "strides that overflow": {"strides": (2**62, 2**62)},
    "lanes": {"dtype": (2, 32, 4)},
    "no lanes": {"dtype": (2, 32, 0)},
    "unknown code": {"dtype": (77, 32, 1)},
    "complex": {"dtype": (5, 96, 1)},
    "opaque": {"dtype": (3, 64, 1)},
    "bits": {"dtype": (2, 12, 1)},
    "no bits": {"dtype": (0, 0, 1)},
    "uint24": {"dtype": (1, 24, 1)},
    "bool of 4 bits": {"dtype": (6, 4, 1)},
    "a real GPU": {"device": (2, 0)},
    "an unknown device": {"device": (99, 0)},
    "a negative device": {"device": (-1, 0)},
    "an odd offset": {"offset": 2},
    "an offset beyond memory": {"offset": 2**64 - 4},
}


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize("lie", LIES)
def test_lies_are_refused_and_the_capsule_stays(lie, versioned):
    made = Made(versioned=versioned, **LIES[lie])
    for _ in range(2):  # a refused capsule still owns its memory
        with pytest.raises((RuntimeError, ValueError)) as caught:
            from_dlpack(made.capsule)
        assert "invalid capsule" not in str(caught.value)
    assert "used_" not in repr(made.capsule)


@pytest.mark.parametrize("version", [(0, 8), (2, 0), (2**32 - 1, 0)])
def test_other_versions_are_refused(version):
    made = Made(versioned=True, version=version)
    with pytest.raises(RuntimeError, match="Unsupported DLPack version"):
        from_dlpack(made.capsule)


def test_packed_elements_are_refused():
    made = Made(versioned=True, flags=4)
    with pytest.raises(RuntimeError, match="less than a byte"):
        from_dlpack(made.capsule)


def test_strides_of_single_elements_do_not_matter():
    made = Made(shape=(1, 3), strides=(-(2**63), 1))
    x = from_dlpack(made.capsule)
    assert x.shape == (1, 3) and x.stride() == (3, 1)


class Lender:
    """Another library's array: what it lends is a tensor's, by the options of its time."""

    def __init__(self, tensor, old=False):
        self.tensor, self.old = tensor, old

    def __dlpack_device__(self):
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options):
        if self.old and options:
            raise TypeError("no options")
        return self.tensor.__dlpack__(**options)


@pytest.mark.parametrize("old", [False, True])
def test_tensors_of_what_lends(old):
    def found(torch):
        x = torch.arange(4.0)
        lender = Lender(x, old)
        made = [torch.as_tensor(lender), torch.as_tensor(lender, dtype=torch.int64)]
        made += [torch.tensor(lender), torch.asarray(lender)]
        return [(y.tolist(), str(y.dtype), y.data_ptr() == x.data_ptr()) for y in made]

    assert found(rushlight) == [tuple(row) for row in ask(found)]


def test_a_mock_lends_nothing():
    from unittest import mock

    with pytest.raises((RuntimeError, TypeError, ValueError)):
        rushlight.as_tensor(mock.Mock())


@pytest.mark.filterwarnings("ignore:Sparse CSR tensor support is in beta")
@pytest.mark.parametrize(
    "what",
    [
        "T.eye(2).to_sparse()", "T.eye(2).to_sparse_csr()", "T.ones(2, requires_grad=True)",
        "T.empty(2, device='meta')", "T.ones(2)",
    ],
)  # fmt: skip
def test_refused_as_the_protocol_says(what):
    def found(torch):
        x = eval(what, {"T": torch})
        out = []
        for call in (lambda: x.__dlpack__(), lambda: x.__dlpack__(stream="a")):
            try:
                out.append(type(call()).__name__)
            except Exception as error:
                out.append(type(error).__name__)
        return out

    assert found(rushlight) == ask(found)
    if "sparse" in what:
        with pytest.raises(BufferError, match=r"layout other than torch\.strided"):
            np.from_dlpack(eval(what, {"T": rushlight}))


def test_types_of_a_byte_are_refused_by_name():
    with pytest.raises(BufferError, match=r"float8_e5m2: .*\n.*view\(torch.uint8\)"):
        rushlight.empty(2, dtype=rushlight.float8_e5m2).__dlpack__()


def test_a_capsule_of_what_requires_grad():
    x = rushlight.ones(2, requires_grad=True)
    back = from_dlpack(to_dlpack(x))
    assert back.data_ptr() == x.data_ptr() and not back.requires_grad
