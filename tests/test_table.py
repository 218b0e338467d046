"""The table of operations: everything that is public is one of its rows, and what is made from it
(stub, index, page of coverage, signatures, named results) is current and true.
"""

import ast
import copy
import importlib
import inspect
import operator
import pathlib
import pickle
import pydoc
import re
import subprocess
import sys
from importlib.util import find_spec

import pytest

import rushlight as torch
from rushlight import _C
from rushlight._absent_methods import ABSENT, REMOVED
from tests.conftest import ask

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON_FILES = sorted((ROOT / "python").rglob("*.py"))
sys.path[:0] = [str(ROOT / "tools")]
importlib.import_module("index").import_all()  # the rows of modules written in Python
HOMES = {
    "torch": torch,
    "Tensor": torch.Tensor,
    "nn.functional": importlib.import_module("rushlight.nn.functional"),
}


def run(*command):
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("tool", ["index", "stubs", "coverage"])
def test_what_is_made_from_the_table_is_current(tool):
    """python/rushlight/_index.py, _C.pyi and docs/coverage.md."""
    run(f"tools/{tool}.py", "--check")


# What is public here and not in torch.
OURS = {
        "absolute_": "the in-place form of an alias, as all have one",
        "as_torch": "makes `import torch` mean this package",
        "get_printoptions": "torch has it in torch._tensor_str",
        "load_ipython_extension": "the protocol of %load_ext",
        "printoptions": "torch has it in torch._tensor_str",
        "pytest": "the plugin: python -m pytest -p rushlight.pytest",
        "unload_ipython_extension": "the protocol of %load_ext",
        "vision": "torchvision",
}  # fmt: skip


def test_nothing_of_ours_leaks():
    def not_in(package, names, path=""):
        module = operator.attrgetter(path)(package) if path else package
        # a submodule is an attribute only after its import
        return [
            n for n in names if not hasattr(module, n) and not find_spec(f"{module.__name__}.{n}")
        ]

    def public(module):
        return sorted(n for n in dir(module) if not n.startswith("_"))

    # not dir() of torch, which grows as its modules are imported
    extra = ask(lambda package: not_in(package, public(torch)))
    assert set(extra) <= set(OURS), "public here and not in torch: say why, or hide it"
    for name in ("op", "find", "names", "check_tensors", "deliver", "annotations"):
        assert not hasattr(torch, name)
    for name in ("nn.functional", "special", "linalg"):
        names = public(operator.attrgetter(name)(torch))
        assert ask(lambda package, n=names, path=name: not_in(package, n, path)) == []


# Functions of torch and Tensor that are no operations on tensors, and so no rows.
NOT_OPERATIONS = {
    "files and other programs": "from_dlpack load save to_dlpack as_torch "
    "load_ipython_extension unload_ipython_extension",
    "functions of functions": "compile vmap",
    "a question about any object, which may not override it": "is_tensor",
    "settings and what they are": "can_cast get_default_dtype get_num_threads get_rng_state "
    "initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled is_grad_enabled "
    "is_inference_mode_enabled manual_seed promote_types seed set_num_threads set_rng_state",
}


def rows():
    """The names that the table makes, whether as a name of its own, in place, or a copy."""
    names = set()
    for row in _C._rows():
        names |= {row["name"], row["name"] + "_", row["name"] + "_copy", *row["aliases"]}
    return names


@pytest.mark.parametrize("place", HOMES)
def test_every_operation_is_a_row(place):
    known = rows()
    not_operations = set(" ".join(NOT_OPERATIONS.values()).split()) if place == "torch" else set()
    not_operations |= {*ABSENT.split(), *REMOVED.split()} if place == "Tensor" else set()
    left = set()
    for name in dir(HOMES[place]):
        value = getattr(HOMES[place], name)
        if name.startswith("_") or isinstance(value, type) or not callable(value):
            continue
        if value.__name__ not in known:  # an alias has the name of what it is another name for
            left.add(name)
    assert left <= not_operations, f"not in the table of operations: {left - not_operations}"


def test_a_name_is_one_row():
    made = [(place, row["name"]) for row in _C._rows() for place in row["visible"]]
    made += [(place, row["name"] + "_") for row in _C._rows() for place in row["in_place"]]
    made += [("torch", row["name"] + "_copy") for row in _C._rows() if row["copy"]]
    assert not {each for each in made if made.count(each) > 1}
    # A function that serves two rows has a signature for each.
    for row in _C._rows():
        for text in row["signatures"] if not row["module"] else []:
            assert text.partition("(")[0] == row["name"], text


def test_nothing_else_publishes():
    """Methods of Tensor come from the table alone, and no module sets names of another."""
    allowed = {
        ("_table.py", "sys.modules[function.__module__]"),  # name_, beside name
        ("cudnn.py", "sys.modules[__name__]"),  # the module's own settings
    }
    for path in PYTHON_FILES:
        tree = ast.parse(path.read_text())
        imported = {
            (alias.asname or alias.name).split(".")[0]
            for node in tree.body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "setattr":
                target = ast.unparse(node.args[0])
                if (path.name, target) in allowed:
                    continue
                assert "modules[" not in target, f"{path.name}:{node.lineno}"
                assert target not in {*imported, "Tensor", "_C.Tensor", "torch.Tensor"}, (
                    f"{path.name}:{node.lineno} sets a name of {target}"
                )
            elif isinstance(node, ast.Assign):
                for target in map(ast.unparse, node.targets):
                    assert not re.match(r"(_C\.|torch\.)?Tensor\.", target), (
                        f"{path.name}:{node.lineno} sets {target}"
                    )


# Overloads have no one signature: Python has no words for it.
def signature_cases():
    for row in _C._rows():
        alone = len(row["signatures"]) == 1
        for place, suffix in [
            *((p, "") for p in row["visible"]),
            *((p, "_") for p in row["in_place"]),
        ]:
            if place in HOMES and row["name"] + suffix in dir(HOMES[place]):
                yield place, row["name"] + suffix, alone


def test_signatures_and_help():
    """inspect.signature() shows the arguments of every row, help() more than a line."""
    for place, name, alone in signature_cases():
        value = getattr(HOMES[place], name)
        assert value.__name__.removesuffix("_") == name.removesuffix("_"), (place, name)
        text = pydoc.render_doc(value, renderer=pydoc.plaintext)
        assert name in text, (place, name)
        if not alone or name in ("uniform_", "random_"):  # an argument named `from`, a keyword
            continue
        parameters = inspect.signature(value).parameters.values()
        assert all(p.kind is not p.VAR_KEYWORD for p in parameters), (place, name)


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (torch.split, "(tensor, split_size_or_sections, dim=0)"),
        (torch.Tensor.split, "(self, /, split_size, dim=0)"),
        (torch.norm, "(input, p='fro', dim=None, keepdim=False, dtype=None, out=None)"),
        (torch.atleast_2d, "(*tensors)"),
        (torch.Tensor.to, None),
        (torch.Tensor.view, None),
    ],
)
def test_signatures_of_overloads(function, text):
    """Overloads with the same parameters share a signature; the others have none, as torch's."""
    if text is None:
        with pytest.raises(ValueError, match="no signature"):
            inspect.signature(function)
    else:
        assert str(inspect.signature(function)) == text


def test_stubs_have_real_types():
    """No operation is `*args: Any`."""
    text = (ROOT / "python/rushlight/_C.pyi").read_text()
    text = re.sub(r"^class (?!Tensor\b).*\n(?:    .*\n)+", "", text, flags=re.M)
    names = rows()
    left = re.findall(r"def (\w+)\((?:self, )?\*args: Any, \*\*kwargs: Any\) -> Any", text)
    assert not [n for n in left if n in names and not n.startswith("_")]


NAMED = {
    "max": lambda t, x: t.max(x, 1),
    "sort": lambda t, x: t.sort(x),
    "topk": lambda t, x: t.topk(x, 2),
    "aminmax": lambda t, x: t.aminmax(x),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_results(name):
    """Tuples with names: of the same type after pickle and copy, with torch's names and repr."""
    result = NAMED[name](torch, torch.tensor([[1.0, 5.0], [7.0, 2.0]]))
    assert isinstance(result, tuple) and len(result) == type(result).n_fields
    for again in (pickle.loads(pickle.dumps(result)), copy.copy(result), copy.deepcopy(result)):
        assert type(again) is type(result)
        assert all(torch.equal(a, b) for a, b in zip(again, result, strict=True))
    first, *_ = result
    assert first is result[0]


@pytest.mark.parametrize("name", NAMED)
def test_named_results_are_as_torchs(name):

    def described(t):
        result = NAMED[name](t, t.tensor([[1.0, 5.0], [7.0, 2.0]], dtype=t.float64))
        names = {n for n in dir(type(result)) if not n.startswith("_")}
        fields = re.findall(r"^(\w+)=", repr(result), re.M)
        return type(result).__name__, names, fields, repr(result).split("(")[0]

    assert described(torch) == ask(described)


@pytest.mark.parametrize("call", ["x.elu_('a')", "x.float_power_()", "x.index_fill_(0, 'a', 1)"])
def test_errors_name_the_in_place_form(call):
    name = call.split("(")[0].removeprefix("x.")
    if name == "elu_":
        call = "torch.nn.functional.elu_(x, 'a')"
    with pytest.raises(TypeError, match=f"^{name}\\(\\)"):
        eval(call, {"x": torch.zeros(3), "torch": torch})
