"""Every public name has a docstring, and every example in one runs and prints what it says.

The public names are those that modules list in __all__ or define, and Tensor's methods; examples
are given `torch` (this library) and nothing else.
"""

import doctest
import importlib
import inspect
import os
import pathlib
import pkgutil
import subprocess
import sys
import types

import pytest

import rushlight
from tests import docstrings

# Internal modules: what they define needs no docstring.
PRIVATE_PARTS = ("_", "__main__")
SKIPPED_MODULES = (
    "rushlight.lib",  # libraries, not modules
    "rushlight.utils.tensorboard",
)  # needs an extra


def modules():
    yield rushlight
    for found in pkgutil.walk_packages(rushlight.__path__, "rushlight."):
        if not any(part.startswith(PRIVATE_PARTS) for part in found.name.split(".")[1:]):
            if not found.name.startswith(SKIPPED_MODULES):
                yield importlib.import_module(found.name)


def is_public(name):
    return not name.startswith("_")


def documented_objects():
    """(name, object) of everything a user may call, each object once, under its shortest name."""
    seen = {}
    for module in modules():
        names = getattr(module, "__all__", None) or [n for n in dir(module) if is_public(n)]
        for name in names:
            value = getattr(module, name)
            home = getattr(value, "__module__", None) or ""
            if home.split(".")[0] != "rushlight" or not callable(value):
                continue
            seen.setdefault(id(value), (f"{module.__name__}.{name}", value))
            if inspect.isclass(value):
                for member, inner in vars(value).items():
                    if is_public(member) and isinstance(
                        inner, types.FunctionType | types.MethodDescriptorType | property
                    ):
                        label = f"{module.__name__}.{name}.{member}"
                        seen.setdefault(id(inner), (label, inner))
    return sorted(seen.values(), key=lambda pair: pair[0])


OBJECTS = documented_objects()
EXAMPLES = [
    (name, value) for name, value in OBJECTS if ">>>" in (getattr(value, "__doc__", None) or "")
]


# They give this library the name torch for the rest of the process.
OWN_PROCESS = ("rushlight.as_torch", "rushlight.load_ipython_extension")


class Checker(doctest.OutputChecker):
    """An example that shows no output is run for its errors alone."""

    def check_output(self, want, got, optionflags):
        return not want or super().check_output(want, got, optionflags)


def run_example(name, value):
    test = doctest.DocTestParser().get_doctest(
        value.__doc__, {"torch": rushlight, "__name__": "__main__"}, name, None, 0
    )
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    output = []
    doctest.DocTestRunner(checker=Checker(), optionflags=flags).run(test, out=output.append)
    assert not output, "".join(output)


@pytest.mark.filterwarnings("ignore::UserWarning")  # as torch has them, of what is deprecated
@pytest.mark.parametrize("name, value", EXAMPLES, ids=[name for name, _ in EXAMPLES])
def test_example(name, value):
    if name not in OWN_PROCESS:
        run_example(name, value)
        return
    program = f"import rushlight, test_docstrings; test_docstrings.run_example({name!r}, {name})"
    folders = [str(pathlib.Path(p).parent) for p in (rushlight.__path__[0], __file__)]
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_every_public_function_has_a_docstring():
    missing = [
        name
        for name, value in OBJECTS
        if name.count(".") == 1 or not isinstance(value, types.FunctionType | property)
        if not (getattr(value, "__doc__", None) or "").strip()
    ]
    assert not missing, f"{len(missing)} without a docstring: {missing}"


@pytest.mark.parametrize("place", docstrings.ROOMS)
def test_parts_of_docstrings(place):
    """Arguments, shapes and an example, as tests/docstrings.py has them."""
    assert not {
        name: left
        for where, name, value in docstrings.objects()
        if where == place and (left := docstrings.lacks(place, name, value))
    }


@pytest.mark.parametrize("place", docstrings.ROOMS)
def test_methods_explain_their_parameters(place):
    left = {
        f"{name}.{member}": lack
        for where, name, value in docstrings.objects()
        if where == place and isinstance(value, type) and not docstrings.is_compiled(value)
        for member, function in docstrings.methods(value)
        if (lack := docstrings.method_lacks(value, member, function))
    }
    assert not left
