# `import torch`, torchvision and functorch resolve to rushlight, in this process and its workers.
# The finder is first in sys.meta_path and answers for every name below "torch" itself, so
# nothing can fall through to an installed torch. Submodules are the same objects under both names;
# only the modules that carry a version are copies, as their __version__ is torch's.
import importlib.machinery
import sys
from types import FunctionType, ModuleType

from .._C import _find_names_by, _finder_of_names
from .._table import SHORT_VERSION, absent
from ..torch_version import TorchVersion

ROOTS = {
    "torch": "rushlight",
    "torchvision": "rushlight.vision",
    "functorch": "rushlight._runner.functorch",  # of the same package as torch
}
VERSIONS = {
    "torch": TorchVersion(f"2.13.0+rushlight{SHORT_VERSION}"),
    "torch.torch_version": TorchVersion(f"2.13.0+rushlight{SHORT_VERSION}"),
    "torch.version": f"2.13.0+rushlight{SHORT_VERSION}",
    "torchvision": f"0.28.0+rushlight{SHORT_VERSION}",
    "torchvision.version": f"0.28.0+rushlight{SHORT_VERSION}",
    "functorch": f"2.13.0+rushlight{SHORT_VERSION}",
}
# Parts of rushlight that torch does not have under the same name.
PRIVATE = (
    "torch.vision", "torch._runner", "torch._importable", "torch._demo", "torch._version",
    "torch.__main__", "torch.pytest",
)  # fmt: skip
# The modules whose functions pickles of tensors name.
REBUILDING = (
    "rushlight._utils",
    "rushlight._tensor",
    "rushlight.storage",
    "rushlight.serialization",
)


def real_name(alias: str) -> str:
    root, dot, rest = alias.partition(".")
    return ROOTS[root] + dot + rest


def alias_name(real: str) -> str:
    if real == "rushlight.vision" or real.startswith("rushlight.vision."):
        return "torchvision" + real[len("rushlight.vision") :]
    if real == "rushlight._runner.functorch" or real.startswith("rushlight._runner.functorch."):
        return "functorch" + real[len("rushlight._runner.functorch") :]
    return "torch" + real[len("rushlight") :]


def import_module(name: str) -> ModuleType:
    __import__(name)
    return sys.modules[name]


class AliasFinder:
    """Finds modules of torch's names; installed by `as_torch`."""

    def find_spec(self, name, path=None, target=None):
        # importlib.util.find_spec() tests for a module: None. An import gets our error text.
        asked_only = sys._getframe(2).f_code.co_name == "find_spec"
        root = name.partition(".")[0]
        if root in ROOTS:
            spec = self._find_alias(name)
            other = real_name(name)
        elif root == "rushlight" or name == "multiprocessing.spawn":
            spec = self._find_and_prepare(name, path, target)
            other = alias_name(name)
        else:
            return None
        if spec is None and not asked_only:
            alias = name if root in ROOTS else other
            # Not with `name` as its name: `from torch import x` drops such an error and says less.
            raise ModuleNotFoundError(absent(alias), name=other)
        return spec

    def find_distributions(self, context=None):
        """The metadata of packages, which importlib.metadata takes from every finder: libraries
        look up torch's version there before they import it."""
        from .metadata import AliasDistribution

        name = getattr(context, "name", None)
        packages = ("torch", "torchvision")
        roots = [root for root in packages if name is None or name.lower() == root]
        return [AliasDistribution(root, VERSIONS[root]) for root in roots]

    def _find_alias(self, name):
        real = real_name(name)
        if name.startswith(PRIVATE):
            return None
        try:
            module = import_module(real)
        except ModuleNotFoundError as error:
            if not any(error.name and f"{n}.".startswith(f"{error.name}.") for n in (name, real)):
                raise  # something that our module needs is not installed
            return None
        spec = importlib.machinery.ModuleSpec(name, AliasLoader(module), origin=module.__file__)
        spec.submodule_search_locations = [] if hasattr(module, "__path__") else None
        return spec

    def _find_and_prepare(self, name, path, target):
        others = (f for f in sys.meta_path if f is not self and hasattr(f, "find_spec"))
        spec = next((s for f in others if (s := f.find_spec(name, path, target))), None)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module
            prepare = speak_as_torch if name.startswith("rushlight") else carry_to_workers

            def exec_module(module):
                execute(module)
                prepare(module)

            spec.loader.exec_module = exec_module
        return spec


class AliasLoader:
    """Gives a module that is there already a second name."""

    def __init__(self, module):
        self.module = module

    def create_module(self, spec):
        if spec.name in VERSIONS:
            return versioned_copy(spec.name, self.module)
        self.spec = self.module.__spec__  # the import system is about to write its own here
        return self.module

    def exec_module(self, module):
        if module is self.module:
            module.__spec__ = self.spec
        if hasattr(module, "__path__"):
            name_shadowed(module.__name__, module)


def name_shadowed(name: str, package: ModuleType) -> None:
    """Gives torch's names at once to modules of a package that has something else under theirs,
    such as multiprocessing.spawn: their import would put the module in its place.
    """
    prefix = name + "."
    for full, module in list(sys.modules.items()):
        child = full.removeprefix(prefix)
        shadowed = full.startswith(prefix) and "." not in child
        if shadowed and getattr(package, child, module) is not module:
            sys.modules[alias_name(full)] = module


def versioned_copy(name: str, module: ModuleType) -> ModuleType:
    """A module with the names of `module` and torch's version.

    A plain module with a plain dict: attribute access stays as quick as it is in Python. Names that
    `module` makes later, or anew at each access, are found behind it.
    """
    copy = ModuleType(name, module.__doc__)
    own = vars(copy)
    kept = ("__name__", "__spec__", "__loader__", "__package__", "__path__", "__version__")
    own.update(
        (k, v) for k, v in vars(module).items() if k not in kept and f"{name}.{k}" not in VERSIONS
    )
    own["__version__"] = VERSIONS[name]

    def find_name(attribute):
        if f"{name}.{attribute}" in VERSIONS:
            return import_module(f"{name}.{attribute}")
        try:
            value = getattr(module, attribute)
        except AttributeError as error:
            if attribute.startswith("__") or "has no attribute" not in str(error):
                raise  # it has more to say than that the name is missing
            text = absent(f"{name}.{attribute}")
            raise AttributeError(text, name=attribute, obj=copy) from None
        if attribute in vars(module):
            own[attribute] = value
        return value

    own["__dir__"] = lambda: sorted({*dir(module), "__version__"})
    own.pop("__getattr__", None)
    _find_names_by(copy, find_name)
    return copy


def say_what_is_absent(module: ModuleType) -> None:
    """Makes a missing attribute of a module say "torch.x.y is not in rushlight"."""
    fallback = _finder_of_names(module) or vars(module).pop("__getattr__", None)
    name = alias_name(module.__name__)
    if fallback is not None and hasattr(fallback, "says_absent"):
        return

    def find_name(attribute):
        if fallback is not None:
            try:
                return fallback(attribute)
            except AttributeError as error:
                if attribute.startswith("__") or "has no attribute" not in str(error):
                    raise  # it has more to say than that the name is missing
        text = absent(f"{name}.{attribute}")
        if attribute.startswith("__"):
            text = f"module {name!r} has no attribute {attribute!r}"
        raise AttributeError(text, name=attribute, obj=module)

    find_name.says_absent = True  # type: ignore[attr-defined]
    if type(module) is ModuleType:
        _find_names_by(module, find_name)
    else:
        vars(module)["__getattr__"] = find_name


def speak_as_torch(module: ModuleType) -> None:
    """What a module of ours says in a program that imports it as torch: of missing names, and in
    print(type(x)). The program's own pickles name our classes so, and what rebuilds tensors."""
    say_what_is_absent(module)
    rebuilding = module.__name__ in REBUILDING
    for value in list(vars(module).values()):
        home = vars(value).get("__module__") if isinstance(value, type) else None
        if rebuilding and isinstance(value, FunctionType):
            home = value.__module__
        if isinstance(home, str) and f"{home}.".startswith("rushlight."):
            alias = alias_name(home)
            try:
                value.__module__ = alias
            except TypeError:
                continue  # a type that cannot be changed
            if not isinstance(value, type):
                continue
            # Where typing.get_type_hints() looks for the names in a class's annotations.
            its_own = home == module.__name__ and "__annotations__" in vars(value)
            if its_own and alias not in VERSIONS and not alias.startswith(PRIVATE):
                sys.modules.setdefault(alias, module)


class WorkerStart:
    """Pickled first into what a spawned worker is sent: unpickling it makes the alias there."""

    def __reduce__(self):
        home = __file__.rsplit("rushlight", 2)[0].rstrip("/")
        code = (
            f"import sys; sys.path.append({home!r})\n"
            "from rushlight._runner.alias import as_torch; as_torch()"
        )
        return exec, (code, {})


def carry_to_workers(spawn: ModuleType) -> None:
    """Has multiprocessing's spawn and forkserver workers begin with the alias."""
    plain = spawn.get_preparation_data
    if hasattr(plain, "carries_alias"):
        return

    def get_preparation_data(name):
        return {"rushlight": WorkerStart(), **plain(name)}

    get_preparation_data.carries_alias = True  # type: ignore[attr-defined]
    spawn.get_preparation_data = get_preparation_data  # type: ignore[attr-defined]


def as_torch() -> ModuleType:
    """Makes `import torch` and `import torchvision` mean rushlight in this process.

    Worker processes (fork, forkserver, spawn) inherit it; other programs that this one starts do
    under `rushlight run --children`. Calling it twice is harmless. Nothing is installed, and an
    installed torch is not touched.

    Returns: the module that `import torch` gives.

    Raises: RuntimeError, if the real torch or torchvision has been imported before.

    >>> import rushlight
    >>> torch = rushlight.as_torch()
    >>> torch.nn is rushlight.nn
    True
    """
    if not any(isinstance(finder, AliasFinder) for finder in sys.meta_path):
        for name in sys.modules:
            if name.partition(".")[0] in ROOTS:
                raise RuntimeError(
                    f"{name} has been imported in this process before rushlight could take its "
                    "name; call rushlight.as_torch() first, or start with `rushlight run`"
                )
        sys.meta_path.insert(0, AliasFinder())
        for name, module in list(sys.modules.items()):
            if name.startswith("rushlight."):
                speak_as_torch(module)
        if "multiprocessing.spawn" in sys.modules:
            carry_to_workers(sys.modules["multiprocessing.spawn"])
    return import_module("torch")
