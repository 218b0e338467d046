"""The call of a module: it is C, and a program sees what a Python method would show it."""

import copy
import pickle

import pytest

import rushlight as torch
from rushlight import nn


def test_arguments():
    class Echo(nn.Module):
        def forward(self, *args, **kwargs):
            return args, kwargs

    echo = Echo()
    assert echo() == ((), {})
    assert echo(1) == ((1,), {})
    assert echo(*range(9)) == (tuple(range(9)), {})
    assert echo(1, *range(4), b=2) == ((1, 0, 1, 2, 3), {"b": 2})
    assert echo() == ((), {})
    assert Echo.__call__(echo, 3) == ((3,), {}) and echo.__call__(3) == ((3,), {})
    assert nn.Module.__call__(echo, 4, c=5) == ((4,), {"c": 5})


def test_forward_of_the_instance_and_call_of_the_class(monkeypatch):
    net = nn.Identity()
    net.forward = lambda x: x + 1
    assert net(1) == 2
    other = nn.Identity()
    monkeypatch.setattr(nn.Identity, "__call__", lambda self, x: "patched", raising=False)
    assert other(1) == "patched"
    monkeypatch.undo()
    assert other(1) == 1

    class Loud(nn.Identity):
        def __call__(self, x):
            return [super().__call__(x)]

    assert Loud()(1) == [1]


def test_hooks_come_and_go():
    net = nn.Identity()
    handle = net.register_forward_hook(lambda module, args, output: output + 1)
    assert net(1) == 2
    handle.remove()
    assert net(1) == 1
    everywhere = nn.modules.register_module_forward_hook(lambda m, args, out: out * 10)
    assert net(1) == 10
    everywhere.remove()
    assert net(1) == 1


def test_errors():
    class Failing(nn.Module):
        def __init__(self, error):
            super().__init__()
            self.error = error

        def forward(self, x):
            raise self.error

    net = nn.Sequential(nn.Identity(), Failing(ValueError("wrong")))
    with pytest.raises(ValueError, match="wrong") as caught:
        net(1)
    assert caught.value.__notes__ == ["in Sequential.1: Failing()"]
    assert caught.traceback[-1].name == "forward"
    stop = Failing(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt) as caught:
        stop(1)
    assert not hasattr(caught.value, "__notes__")
    with pytest.raises(TypeError, match="missing 1 required positional argument"):
        nn.Identity()()
    bare = nn.Linear.__new__(nn.Linear)
    with pytest.raises(AttributeError):
        bare(torch.ones(1))
    with pytest.raises(AttributeError):
        torch._C._ModuleCall()(1)


def test_other_bases():
    class Table(nn.Module, dict):
        def forward(self, key):
            return self[key]

    table = Table()
    table["a"] = 1
    assert table("a") == 1
    assert copy.deepcopy(table)("a") == 1 and pickle.loads(pickle.dumps(nn.Identity()))(2) == 2


def test_endless_nesting():
    net = nn.Identity()
    net.forward = lambda x: net(x)
    with pytest.raises(RecursionError):
        net(1)
