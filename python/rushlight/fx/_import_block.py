"""The import lines of a pickled GraphModule, as torch writes and reads them; they are not executed:
`read` looks up what each line names."""

import re
import types

from rushlight.fx._codegen import IMPORTS, custom_builtins
from rushlight.fx._names import module_named, module_of

_FROM = re.compile(r"from ([\w.]+) import (\w+)(?: as (\w+))?")
_IMPORT = re.compile(r"import ([\w.]+)(?: as (\w+))?")


def write(written):
    """The lines for the globals of a PythonCode."""
    return "\n".join(_line(name, value) for name, value in written.globals.items())


def _line(name, value):
    if name in IMPORTS and value is custom_builtins()[name]:
        return IMPORTS[name]
    if isinstance(value, types.ModuleType):
        return f"import {value.__name__} as {name}"
    own = getattr(value, "__name__", None)
    home = module_of(value).removeprefix("_") if module_of(value) == "_operator" else ""
    home = home or module_of(value)
    if not own or not home or own == "<lambda>" or "<locals>" in getattr(value, "__qualname__", ""):
        raise TypeError(
            f"{value!r} cannot be imported from a module, so the GraphModule that calls it cannot "
            "be pickled\nsave its state_dict(), or define the function at the level of a module"
        )
    return f"from {home} import {own}" + ("" if own == name else f" as {name}")


def read(block):
    """name -> value, of such lines."""
    found = dict(custom_builtins())
    for line in block.split("\n"):
        if match := _FROM.fullmatch(line.strip()):
            module, name, alias = match.groups()
            value = getattr(module_named(module), name, None)
            if value is None:
                value = module_named(f"{module}.{name}")
            found.setdefault(alias or name, value)
        elif match := _IMPORT.fullmatch(line.strip()):
            module, alias = match.groups()
            if alias:
                found.setdefault(alias, module_named(module))
            else:
                root = module.partition(".")[0]
                found.setdefault(root, module_named(root))
                module_named(module)
    return found
