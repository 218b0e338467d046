"""Names that the top level finds when they are asked for, at no cost to those that it has."""

import dis
import math
import subprocess
import sys
import types

import pytest

import rushlight as T
from rushlight import _C


def test_names_of_the_module_are_read_the_quick_way():
    assert "__getattr__" not in vars(T)  # with it CPython would not specialise the access

    def use():
        return T.relu

    for _ in range(100):
        use()
    names = {i.opname for i in dis.get_instructions(use, adaptive=True)}
    assert "LOAD_ATTR_MODULE" in names


def test_found_on_first_use():
    text = """
import rushlight as T
assert "distributions" not in vars(T) and "FloatTensor" not in vars(T)
assert T.distributions.Normal and T.FloatTensor and "FloatTensor" in vars(T)
from rushlight import fft, LongTensor
assert T.torch is T and not hasattr(T, "no_such_name") and getattr(T, "no_such_name", 3) == 3
"""
    subprocess.run([sys.executable, "-c", text], check=True)


def test_absent():
    with pytest.raises(
        AttributeError, match=r"torch\.import_ir_module is not in rushlight"
    ) as error:
        T.import_ir_module
    assert error.value.name == "import_ir_module"
    with pytest.raises(ImportError, match="import_ir_module"):
        exec("from rushlight import import_ir_module")


def test_other_modules_say_what_they_said():
    with pytest.raises(AttributeError, match="module 'math' has no attribute 'nope'"):
        math.nope
    plain = types.ModuleType("plain")
    plain.__getattr__ = lambda name: name * 2
    assert plain.abc == "abcabc"


def test_a_function_for_a_module():
    module = types.ModuleType("found")
    _C._find_names_by(module, lambda name: {"a": 1}[name])
    assert module.a == 1 and "a" not in vars(module)
    with pytest.raises(KeyError):
        module.b
    second = lambda name: name  # noqa: E731
    _C._find_names_by(module, second)
    assert module.b == "b" and _C._finder_of_names(module) is second
    module.b = 5
    assert module.b == 5
    assert _C._finder_of_names(math) is None
    with pytest.raises(TypeError, match="expected a module"):
        _C._find_names_by(3, second)
