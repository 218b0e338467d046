"""torch.utils._contextlib: contexts of other libraries that are decorators, too."""

import importlib

import pytest

import rushlight
from tests.conftest import ask


def seen(torch):
    home = importlib.import_module(f"{torch.__name__}.utils._contextlib")
    events = []

    class Mode(home._DecoratorContextManager):
        def __init__(self, name="a"):
            self.name = name

        def __enter__(self):
            events.append("in " + self.name)

        def __exit__(self, *error):
            events.append("out")

        def clone(self):
            return type(self)(self.name)

    class Plain(home._NoParamDecoratorContextManager):
        __enter__, __exit__ = Mode().__enter__, lambda self, *error: events.append("end")

    @Mode("b")
    def f(x):
        events.append(x)
        return x

    @Plain
    def g():
        events.append("g")

    @Mode("c")
    def numbers():
        yield 1
        events.append("between")
        yield 2

    f(1), g(), list(numbers())
    with Mode():
        pass
    with Plain():
        events.append("inside")
    return events


def test_contexts_as_decorators():
    assert seen(rushlight) == ask(seen)


def test_what_a_subclass_must_define():
    from rushlight.utils import _contextlib

    with pytest.raises(NotImplementedError), _contextlib._DecoratorContextManager():
        pass
