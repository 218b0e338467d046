"""torch.FloatStorage and its relatives, and torch.has_mps and its."""

import pytest

import rushlight
from tests.conftest import ask

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")
NAMES = (
    "Byte Char Short Int Long Half BFloat16 Float Double Bool ComplexFloat ComplexDouble".split()
)


@pytest.mark.parametrize("name", NAMES)
def test_storages_of_one_dtype(name):
    def asked(torch):
        kind = getattr(torch, name + "Storage")
        made = kind([1, 0, 1])
        same = torch.zeros(2, dtype=kind.dtype)
        return (
            kind.__name__, str(kind.dtype), kind(3).size(), len(kind()), made.tolist(),
            type(made).__name__, issubclass(kind, torch.TypedStorage), torch.is_storage(made),
            isinstance(made, kind), isinstance(same.storage(), kind),
            isinstance(torch.zeros(2, dtype=torch.uint16).storage(), kind), isinstance(3, kind),
            same.set_(made).tolist(), kind(wrap_storage=torch.UntypedStorage(16)).size(),
            kind.from_buffer(b"\1" + b"\0" * 15, byte_order="little").size(),
        )  # fmt: skip

    assert [str(v).replace("rushlight.", "torch.") for v in asked(rushlight)] == [
        str(v) for v in ask(asked)
    ]


@pytest.mark.parametrize("call", ["(1, 2)", "(dtype=T.float32)", "('a')", "(-1)"])
def test_wrong_calls(call):
    def error(torch):
        try:
            eval(f"T.FloatStorage{call}", {"T": torch})
        except (TypeError, ValueError, RuntimeError) as error:
            return type(error).__name__
        return "nothing"

    assert error(rushlight) == ask(error) != "nothing"


def test_what_the_library_was_built_with():
    for name in ("has_mps", "has_cuda", "has_cudnn", "has_mkldnn"):
        with pytest.warns(UserWarning, match=f"'{name}' is deprecated, please use 'torch.backends"):
            assert type(getattr(rushlight.__config__, name)) is bool
    with pytest.warns(UserWarning, match="deprecated"):
        assert rushlight.__config__.has_cuda == rushlight.backends.cuda.is_built()
    with pytest.raises(AttributeError, match="has_nothing"):
        rushlight.__config__.has_nothing


@pytest.mark.parametrize("kind", ["u", "f", "h"])
@pytest.mark.parametrize("name", "double float half long int short byte bool bfloat16".split())
def test_casts(kind, name):
    def asked(torch):
        s = storages(torch)[kind]
        made = getattr(s, name)()
        return type(made).__name__, str(made.dtype).partition(".")[2], made.tolist()[-4:]

    assert asked(rushlight) == ask(asked)


def storages(torch):
    x = torch.arange(4.0)
    return {"u": x.untyped_storage(), "f": x.storage(), "h": torch.HalfStorage([1, 2])}


CALLS = [
    "u.type()", "f.type()", "h.type()", "f.filename", "u.get_device()", "f.is_sparse",
    "f.is_pinned()", "u.new().nbytes()", "f.copy_(f) is f", "f.copy_(h)", "f.double() is f",
    "f.copy_(T.FloatStorage([4, 3, 2, 1])).tolist()", "f.float().data_ptr() == f.data_ptr()",
    "u.byteswap(3)", "f.to('cpu')", "f.type(3)", "f.complex_float().dtype == T.complex64",
    "T.FloatStorage.from_file('nowhere', False, 4)", "f.float8_e5m2().dtype == T.float8_e5m2",
    "T.ones(2, device='meta').storage()", "T.ones(2, device='meta').untyped_storage()",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_calls(call):
    def answer(torch):
        try:
            return str(eval(call, {"T": torch, **storages(torch)})).replace("rushlight", "torch")
        except Exception as error:
            return ["not taken" if call == "f.type(3)" else type(error).__name__]

    assert answer(rushlight) == ask(answer)


@pytest.mark.parametrize("dtype", "uint8 bfloat16 float32 int64 complex64 complex128".split())
def test_byteswap(dtype):
    def swapped(torch):
        storage = torch.arange(16, dtype=torch.uint8).untyped_storage()
        return storage.byteswap(getattr(torch, dtype)), storage.tolist()

    assert swapped(rushlight) == ask(swapped)


def test_elements_of_a_file(tmp_path):
    path = str(tmp_path / "floats")
    first = rushlight.FloatStorage.from_file(path, True, 10)
    x = rushlight.FloatTensor(first).fill_(2.5)
    again = rushlight.FloatStorage.from_file(path, True, 10)
    assert again.filename == path and again.tolist() == [2.5] * 10
    rushlight.FloatTensor(again)[3] = 7
    assert x[3].item() == 7
    bools = rushlight.storage.TypedStorage.from_file(path, size=4, dtype=rushlight.bool)
    assert bools.tolist() == [False, False, True, True]


def test_a_type_of_another_dtype():
    storage = rushlight.HalfStorage([1, 2])
    assert storage.type("torch.FloatStorage").tolist() == [1, 2]
    assert storage.type(rushlight.IntStorage).dtype is rushlight.int32
    assert storage.type("HalfStorage") is storage
    with pytest.raises(TypeError, match="bytes have no type"):
        storage.untyped().type("torch.FloatStorage")


def test_a_tensor_of_a_storage_shows_its_memory():
    x = rushlight.arange(3.0)
    for made in (rushlight.FloatTensor(x.storage()), x.new(x.untyped_storage())):
        made[1] = 5
        assert x.tolist() == [0, 5, 2] and made.data_ptr() == x.data_ptr()
        x[1] = 1
    with pytest.raises(RuntimeError, match="Expected a Storage of type"):
        x.new(rushlight.IntStorage([1]))
