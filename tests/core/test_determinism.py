"""The switches of deterministic algorithms, as torch keeps them."""

import pytest

import rushlight
from tests.conftest import load_reference

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
