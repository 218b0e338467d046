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
