"""The switches of deterministic algorithms, as torch keeps them."""

import pytest

import rushlight
from tests.conftest import ask, load_reference

torch = load_reference()

CALLS = [
    ("use_deterministic_algorithms", (True,), {}),
    ("use_deterministic_algorithms", (True,), {"warn_only": True}),
    ("use_deterministic_algorithms", (False,), {"warn_only": True}),
    ("use_deterministic_algorithms", (1,), {}),
    ("use_deterministic_algorithms", (), {}),
    ("set_deterministic_debug_mode", ("error",), {}),
    ("set_deterministic_debug_mode", ("warn",), {}),
    ("set_deterministic_debug_mode", (2,), {}),
    ("set_deterministic_debug_mode", ("loud",), {}),
    ("set_deterministic_debug_mode", (7,), {}),
    ("set_deterministic_debug_mode", (1.5,), {}),
    ("set_deterministic_debug_mode", ("default",), {}),
]


@pytest.fixture(autouse=True)
def as_before():
    yield
    for library in (torch, rushlight):
        library.use_deterministic_algorithms(False)


def state(library):
    return (
        library.are_deterministic_algorithms_enabled(),
        library.is_deterministic_algorithms_warn_only_enabled(),
        library.get_deterministic_debug_mode(),
    )


@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS)
def test_as_torch(name, args, kwargs):
    kinds = []
    for library in (torch, rushlight):
        library.set_deterministic_debug_mode(1)
        try:
            getattr(library, name)(*args, **kwargs)
            kinds.append(None)
        except Exception as error:
            kinds.append(type(error))
    assert kinds[0] == kinds[1]
    assert state(rushlight) == state(torch)
    asked = rushlight._C._get_switch("deterministic_algorithms")
    assert asked == rushlight.are_deterministic_algorithms_enabled()


NEW = [
    "T.empty(2)", "T.empty_like(T.ones(2))", "T.empty_strided((2,), (2,))",
    "T.ones(1).new_empty(2)", "T.empty(2, device='meta')",
    "T.empty_permuted((1, 2), (1, 0))", "T.ones(1).new_empty_strided((2,), (1,))", "T.Tensor(2)",
    "T.FloatTensor(2)", "T.ones(2).new(3)", "T.empty(3, out=T.ones(3))",
    "T.nn.Linear(1, 1).bias.isnan()", "T.empty(1, 2, 1, 1, memory_format=T.channels_last)",
    *(f"T.empty(2, dtype=T.{name})" for name in (
        "bool uint8 int8 int16 int32 int64 float16 float64 complex64 uint16 uint32 uint64 "
        "bfloat16 float8_e5m2 float8_e4m3fn").split()),
]  # fmt: skip


@pytest.mark.parametrize("fill", [True, False])
def test_new_memory_is_filled(fill):
    def found(torch):
        torch.utils.deterministic.fill_uninitialized_memory = fill
        torch.use_deterministic_algorithms(True)
        try:
            made = [eval(call, {"T": torch}) for call in NEW]
        finally:
            torch.use_deterministic_algorithms(False)
            torch.utils.deterministic.fill_uninitialized_memory = True
        if not fill:
            return len(made)
        return [
            [str(x.detach().float()) if x.dtype.itemsize == 1 and x.is_floating_point() else
             str(x.detach().tolist() if x.device.type == "cpu" else x.shape)]
            for x in made
        ]  # fmt: skip

    assert found(rushlight) == ask(found)
    assert rushlight.zeros(3).tolist() == [0] * 3
