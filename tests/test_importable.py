"""Names that are importable without their function: each row behaves as its kind says, hides
nothing that is there, and is a name of torch's."""

import importlib
import inspect
import pickle
import re
import subprocess
import sys
import warnings

import pytest

import rushlight as torch
from rushlight._importable import KINDS, entries, rows
from rushlight._importable.dtypes import NamedDtype, NamedLayout
from rushlight._importable.modules import MODULES
from rushlight._importable.reasons import REASONS
from tests.conftest import ask

PAIRS = [
    (module, name.partition("(")[0], kind, reason)
    for module in rows.NAMES
    for name, (kind, reason) in entries(module).items()
]


def home(module):
    if module == "Tensor":
        return torch.Tensor
    return importlib.import_module(f"rushlight.{module}".rstrip("."))


@pytest.mark.parametrize(("module", "name", "kind", "reason"), PAIRS)
def test_a_row_is_of_its_kind(module, name, kind, reason):
    value = getattr(home(module), name)
    why, instead = REASONS[reason]
    if kind == "dtype":
        assert isinstance(value, torch.dtype) and type(value) is NamedDtype
        return
    if kind == "layout":
        assert isinstance(value, torch.layout) and type(value) is NamedLayout
        assert pickle.loads(pickle.dumps(value)) is value and value != torch.strided
        with pytest.raises(NotImplementedError, match=re.escape(why)):
            torch.zeros(2, layout=value)
        return
    assert why in value.__doc__ and instead in value.__doc__, "hides something that is there"
    if kind == "false":
        assert value() is False
    elif kind == "nothing":
        assert value(1) is None
    elif kind == "identity":
        assert value(abs) is abs and value(recursive=True)(abs) is abs
    elif kind == "exception":
        assert issubclass(value, Exception)
    else:
        assert (kind == "class") == isinstance(value, type)
        assert kind == "raises" or not isinstance(1, value)
        with pytest.raises(NotImplementedError) as error:
            value(1)
        assert str(error.value).splitlines() == [
            f"torch.{module}.{name} is not in rushlight 0.1: {why}".replace("..", "."),
            instead,
        ]


def test_the_table_is_whole():
    assert {kind for _, _, kind, _ in PAIRS} <= set(KINDS)
    pairs = [(module, name) for module, name, _, _ in PAIRS]
    assert not {pair for pair in pairs if pairs.count(pair) > 1}
    used = {reason for *_, reason in PAIRS} | set(MODULES.values())
    assert used | {"files"} == set(REASONS)  # that one is of torchvision.datasets


@pytest.mark.parametrize("module", MODULES)
def test_a_module_is_made_by_the_first_import(module):
    made = home(module)
    assert made.__spec__.loader.__module__ == "rushlight._importable", "there is a file"
    assert REASONS[MODULES[module]][0] in made.__doc__
    with pytest.raises(AttributeError, match=re.escape(f"torch.{module}.nonsense is not in")):
        made.nonsense
    assert {name for m, name, *_ in PAIRS if m == module} <= set(dir(made))


def test_nothing_of_it_is_imported_before_it_is_asked_for():
    code = (
        "import sys, rushlight as t; t.nn.Linear(2, 2)(t.ones(1, 2)).sum().backward(); t.optim.SGD;"
        "print([m for m in sys.modules if 'importable' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_torch_has_these_names():
    def missing(package):
        warnings.simplefilter("ignore")  # of modules that torch will remove
        gone = []
        for module, name, *_ in PAIRS:
            path = f"{package.__name__}.{module}".rstrip(".")
            try:
                found = importlib.import_module(path)
            except ImportError:  # torch._C._functions is an attribute alone
                found = getattr(package._C, module.removeprefix("_C."), None)
                found = package.Tensor if module == "Tensor" else found
            if found is None:
                gone.append(module)
            elif not hasattr(found, name):
                gone.append(f"{module}.{name}")
        return sorted(set(gone))

    with warnings.catch_warnings():
        assert ask(missing) == []


DTYPES = [name for _, name, kind, _ in PAIRS if kind == "dtype"]


@pytest.mark.parametrize("name", DTYPES)
def test_a_dtype_that_is_a_name(name):
    dtype = getattr(torch, name)
    assert dtype != torch.float32 and {dtype: 1}[dtype] == 1
    assert pickle.loads(pickle.dumps(dtype)) is dtype

    def described(package):
        d = getattr(package, name)
        try:
            signed = d.is_signed
        except RuntimeError as error:  # of quantized ones
            signed = str(error).splitlines()[0]
        return repr(d), d.itemsize, d.is_complex, d.is_floating_point, signed

    assert described(torch) == ask(described)


@pytest.mark.parametrize(
    "call",
    [
        lambda d: torch.zeros(2, dtype=d),
        lambda d: torch.tensor(1, dtype=d),
        lambda d: torch.ones(1).to(d),
        lambda d: torch.ones(1).to("cpu", d),
        lambda d: torch.ones(1).view(d),
        lambda d: torch.ones(1).type(d),
        lambda d: torch.ones(2).sum(dtype=d),
    ],
)
def test_there_are_no_tensors_of_it(call):
    with pytest.raises(NotImplementedError, match=r"torch.qint8 is not in .*\n.*are here"):
        call(torch.qint8)


def test_the_signature_of_a_module():
    class Calls(torch.nn.Module):
        def __call__(self, a):
            return a

    assert str(inspect.signature(torch.nn.Linear(2, 2))) == "(*args, **kwargs)"
    assert str(inspect.signature(Calls())) == "(a)"
    assert list(inspect.signature(torch.nn.ReLU).parameters) == ["inplace"]
