"""Names of torch's that are importable without their function, as rows.py and modules.py list them.

Libraries import many names and call few. What a row gives, by its kind:
    class      for isinstance() and annotations; its instances would be what is not there
    exception  for `except` and `warnings.filterwarnings`; nothing here raises it
    identity   a decorator that returns the function as it is: what it means without a compiler
    false      a predicate whose true answer is False
    nothing    a call that has nothing to act on here, such as forgetting compiled code
    raises     a function
    dtype      a name to compare with; in parentheses its bytes
    layout     a name to compare with
Instances of a class and calls of a function raise NotImplementedError with what, why, and what to
do instead. Modules of such names are made by their first import, each name by its first use.
"""

import builtins
import importlib
import importlib.abc
import importlib.machinery

from rushlight._table import SHORT_VERSION, absent

from . import rows
from .modules import MODULES
from .reasons import REASONS

PREFIX = "rushlight."
KINDS = ("class", "exception", "identity", "false", "nothing", "raises", "dtype", "layout")
made: dict[tuple[str, str], object] = {}


def entries(module: str):
    """name -> (kind, reason) of the rows of a module, a path below torch; "" is torch itself."""
    return {
        name: (kind, reason)
        for kind, reason, names in rows.NAMES.get(module, ())
        for name in names.split()
    }


def text(path: str, reason: str) -> str:
    why, instead = REASONS[reason]
    path = f"torch.{path}".replace("torch.vision.", "torchvision.", 1)
    return f"{path} is not in rushlight {SHORT_VERSION}: {why}\n{instead}"


def refusal(path: str, reason: str):
    def refuse(*args, **kwargs):
        raise NotImplementedError(text(path, reason))

    return refuse


def identity(function=None, *_args, **_options):
    """Returns the function, or a decorator that does if it is given options alone."""
    return function if callable(function) else lambda function: function


def make(module: str, name: str, kind: str, reason: str):
    """The placeholder of a name: a class or function that raises when it is called."""
    path = f"{module}.{name.partition('(')[0]}".lstrip(".")
    name, _, base = name.rstrip(")").partition("(")
    if kind == "dtype":
        from .dtypes import NamedDtype

        return NamedDtype(name, int(base), refusal(path, reason))
    if kind == "layout":
        from .dtypes import NamedLayout

        return NamedLayout(name, refusal(path, reason))
    home = {"__module__": (PREFIX + module).rstrip("."), "__doc__": text(path, reason)}
    if kind == "exception":
        return type(name, (getattr(builtins, base),), home)
    if kind == "class":
        refuse = refusal(path, reason)
        return type(
            name,
            (),
            {**home, "__new__": refuse, "__class_getitem__": classmethod(lambda cls, item: cls)},
        )
    function = {
        "identity": lambda: lambda *args, **kwargs: identity(*args, **kwargs),
        "false": lambda: lambda *args, **kwargs: False,
        "nothing": lambda: lambda *args, **kwargs: None,
        "raises": lambda: refusal(path, reason),
    }[kind]()
    function.__name__ = function.__qualname__ = name
    vars(function).update(home)
    function.__module__, function.__doc__ = home["__module__"], home["__doc__"]
    return function


def find(module: str, name: str):
    """The value of a name that the module does not have; AttributeError if no row has it.

    Args:
        module: the name of the module, which begins with rushlight.
        name: of the attribute.
    """
    path = module.partition(".")[2]
    for full, (kind, reason) in entries(path).items():
        if full.partition("(")[0] == name:
            if (module, name) not in made:
                made[module, name] = make(path, full, kind, reason)
            return made[module, name]
    below = f"{path}.{name}".lstrip(".")
    if below in MODULES:
        return importlib.import_module(PREFIX + below)
    says = f"module {module!r} has no attribute {name!r}"
    if not name.startswith("_"):
        says = absent(f"torch.{below}")
    raise AttributeError(says, name=name)


class Loader(importlib.abc.Loader):
    """Makes a module that holds such names alone."""

    def create_module(self, _spec):
        return None

    def exec_module(self, module):
        path = module.__name__.removeprefix(PREFIX)
        vars(module).update(rows.VALUES.get(path, {}))
        module.__doc__ = text(path, MODULES[path])
        module.__file__ = __file__
        module.__getattr__ = lambda name: find(module.__name__, name)
        here = {full.partition("(")[0] for full in entries(path)}
        module.__dir__ = lambda: sorted(here.union(vars(module)))
        module.__all__ = sorted(name for name in here if not name.startswith("_"))


def find_spec(name: str):
    """The spec of a module of modules.py; None for others."""
    if name.removeprefix(PREFIX) not in MODULES:
        return None
    return importlib.machinery.ModuleSpec(name, Loader(), is_package=True)
