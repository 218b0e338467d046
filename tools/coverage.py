"""Writes docs/coverage.md: which of torch's public names are here; --check compares instead.

torch's names and the names of their arguments are in tools/torch_names.txt, which `--record` writes
where torch is installed. Ours are those of the table of operations (`_C._rows()`) and of
inspect.signature; why a name is absent is said in tests/oracle/absent.py.
"""

import ast
import importlib
import inspect
import pathlib
import re
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT)]
NAMES = ROOT / "tools/torch_names.txt"
PAGE = ROOT / "docs/coverage.md"
PLACES = (
    "torch torch.Tensor torch.nn torch.nn.functional torch.linalg torch.special torch.optim "
    "torch.utils.data torch.autograd torch.cuda torch.distributed torch.distributions"
).split()
PREFIXES = {"torch.linalg": "linalg_", "torch.special": "special_"}  # of torch's own schemas
TABLE = {
    "torch": "torch",
    "torch.Tensor": "Tensor",
    "torch.nn.functional": "nn.functional",
    "torch.special": "special",
}
# Arguments that do not count: of layouts, of named dimensions, and of a deprecated spelling of
# `reduction`; what begins with an underscore does not either.
NOT_COUNTED = set("self layout names size_average reduce args kwargs".split())
# What torch's stubs and schemas name, and calls of its functions refuse.
MISTAKEN = {
    ("torch", "set_num_interop_threads"): {"num"},
    ("torch.Tensor", "new_tensor"): {"pin_memory"},
    ("torch.Tensor", "random_"): {"from_"},
    ("torch.Tensor", "requires_grad_"): {"mode"},
    ("torch.Tensor", "uniform_"): {"from_"},
    ("torch.linalg", "matrix_exp"): {"out"},
}
# What torch.__all__ lists of torch._C: these are the API, the others are TorchScript's types.
CLASSES_OF_C = set(
    "Generator Size Tensor device dtype layout memory_format finfo iinfo Stream Event "
    "OutOfMemoryError AcceleratorError Node qscheme".split()
)
HEAD = """# Coverage

Which of the public names of torch {version} are here. Made by `python tools/coverage.py` from the
table of operations, the signatures of our classes and
[the list of torch's names](../tools/torch_names.txt). A name is *present* with every argument that
torch's has; *partial* if some of them are missing: they are named, and giving one raises TypeError;
*absent* with the reason, from [tests/oracle/absent.py](../tests/oracle/absent.py), or "not yet".
"""
IMPORTABLE = """
Libraries import these names, and call few of them. They are counted as absent above. A class is for
`isinstance()` and annotations; a call raises NotImplementedError that says why, and what to do
instead: the text of each row. Modules have the names that are listed, and no others."""
KINDS = {
    "class": "classes",
    "dtype": "dtypes, to compare with",
    "exception": "exceptions that nothing raises",
    "false": "functions that return False, which is true",
    "identity": "decorators that return the function itself",
    "layout": "layouts, to compare with",
    "nothing": "functions that have nothing to do",
    "raises": "functions that raise",
    "same": "dtypes, other names",
}


def find(base, path):
    """The value of a path such as torch.nn.functional, in torch or in rushlight."""
    first, *rest = path.split(".")
    assert first == "torch"
    value = importlib.import_module(base)
    for name in rest:
        try:
            value = getattr(value, name)
        except AttributeError:
            value = importlib.import_module(f"{value.__name__}.{name}")
    return value


def parameters_of(value):
    """The parameters of a function or class of Python; None where it does not say."""
    try:
        parameters = list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        return None
    return None if any(p.kind == p.VAR_KEYWORD for p in parameters) else parameters


def of_python(value):
    """The names of its arguments; None where it does not say."""
    parameters = parameters_of(value)
    return None if parameters is None else [p.name for p in parameters]


def public_names(torch, place):
    module = find("torch", place)
    listed = getattr(module, "__all__", None) if place != "torch.nn.functional" else None
    for name in sorted(set(listed or dir(module))):
        if name.startswith("_") or not hasattr(module, name):
            continue
        value = getattr(module, name)
        home = getattr(value, "__module__", None) or ""
        if not callable(value) and place not in ("torch", "torch.Tensor"):
            continue
        if inspect.ismodule(value) or (home and not home.startswith("torch")):
            continue
        if place == "torch" and name in vars(torch._C):
            if inspect.isclass(value) and name not in CLASSES_OF_C:
                continue
        elsewhere = home.startswith(("torch._jit", "torch.overrides", "torch._torch_docs"))
        if place == "torch.nn.functional" and (elsewhere or inspect.isclass(value)):
            continue
        yield name, value


def stub_functions(path):
    """(class or "", the `def` of an overload, its named parameters) of a .pyi file."""
    for node in ast.parse(path.read_text()).body:
        owner = node.name if isinstance(node, ast.ClassDef) else ""
        for each in node.body if owner else [node]:
            if isinstance(each, ast.FunctionDef):
                parts = each.args
                yield owner, each, [*parts.posonlyargs, *parts.args, *parts.kwonlyargs]


def of_stubs(torch):
    """(file, class, name) -> arguments of all overloads, from torch's .pyi files."""
    found: dict[tuple[str, str, str], dict[str, None]] = {}
    for file in ("_VariableFunctions", "_nn", "__init__"):
        path = pathlib.Path(torch.__file__).parent / f"_C/{file}.pyi"
        for owner, function, every in stub_functions(path):
            kinds = " ".join(ast.unparse(p.annotation) for p in every if p.annotation)
            if "ellipsis" in kinds or re.search(r"\bnames\b", " ".join(p.arg for p in every)):
                continue  # an overload for named dimensions
            found.setdefault((file, owner, function.name), {}).update(
                dict.fromkeys(p.arg for p in every)
            )
    return found


def arguments(torch, stubs, place, name, value):
    """The names of the arguments of torch's function, those of all its overloads."""
    if inspect.isclass(value) or inspect.isfunction(value):
        return of_python(value) or []
    if prefix := PREFIXES.get(place):
        found: dict[str, None] = {}
        for schema in torch._C._jit_get_schemas_for_operator(f"aten::{prefix}{name}"):
            names = ["out" if p.is_out else p.name for p in schema.arguments]
            found.update(dict.fromkeys("input" if n == "self" else n for n in names))
        return list(found)
    keys = {
        "torch": [("_VariableFunctions", "", name), ("__init__", "", name)],
        "torch.Tensor": [("__init__", "TensorBase", name)],
        "torch.nn.functional": [("_nn", "", name), ("_VariableFunctions", "", name)],
    }
    return list(next((stubs[k] for k in keys.get(place, ()) if k in stubs), ()))


def record():
    import torch

    warnings.simplefilter("ignore")
    stubs = of_stubs(torch)
    text = f"# torch {torch.__version__.split('+')[0]}, written by tools/coverage.py --record\n"
    for place in PLACES:
        text += f"\n[{place}]\n"
        for name, value in public_names(torch, place):
            names = [n for n in arguments(torch, stubs, place, name, value) if n not in NOT_COUNTED]
            mistaken = MISTAKEN.get((place, name), ())
            names = [n for n in names if not n.startswith("_") and n not in mistaken]
            text += " ".join([name, *dict.fromkeys(names)]) + "\n"
    NAMES.write_text(text)


def recorded():
    """place -> name -> the names of its arguments."""
    places: dict[str, dict[str, list[str]]] = {}
    version, *lines = NAMES.read_text().splitlines()
    for line in filter(None, lines):
        if line.startswith("["):
            names = places[line[1:-1]] = {}
        else:
            name, *rest = line.split()
            names[name] = rest
    return version.split()[2].rstrip(","), places


def of_rows():
    """(place, name) -> our arguments, of operations."""
    from rushlight import _C

    found: dict[tuple[str, str], set[str]] = {}
    for row in _C._rows():
        names = set()
        for text in row["signatures"]:
            inside = text[text.index("(") + 1 :]
            names |= set(re.findall(r"(?:^|, )\*?([A-Za-z_]\w*)", inside))
        for place in row["visible"]:
            found.setdefault((place, row["name"]), set()).update(names)
        for place in row["in_place"]:
            found.setdefault((place, row["name"] + "_"), set()).update(names)
    return found


def missing(rows, place, name, value, theirs):
    """The arguments of torch's that ours has not."""
    keys = name, getattr(value, "__name__", name)
    ours = next((rows[k] for n in keys if (k := (TABLE.get(place), n)) in rows), set())
    found = of_python(value) if callable(value) else None
    if found is None and not ours:
        return []
    ours = ours.union(found or ())
    return [n for n in theirs if n not in ours]


def absence(place, name):
    from tests.oracle.absent import reason

    path = f"{place}.{name}".removeprefix("torch.")
    for title in (path, name, f"torch.{path}"):
        if (why := reason(title)) is not None:
            return why
    return "not yet"


def importable():
    """path -> (kind, reason) of the names that are importable without their function."""
    from rushlight._importable import entries, rows

    return {
        f"torch.{module}.{full.partition('(')[0]}".replace("..", "."): row
        for module in rows.NAMES
        for full, row in entries(module).items()
    }


def importable_section():
    from rushlight._importable import rows
    from rushlight._importable.modules import MODULES
    from rushlight._importable.reasons import REASONS

    found: dict[tuple[str, str], list[str]] = {}
    for path, (kind, reason) in sorted(importable().items()):
        found.setdefault((reason, kind), []).append(path.removeprefix("torch."))
    alone = [m for m in MODULES if m not in rows.NAMES]
    text = f"\n## Importable, not there\n{IMPORTABLE}\n"
    for reason, (why, instead) in REASONS.items():
        text += f"\n**{why[0].upper()}{why[1:]}**; {instead}.\n\n| | |\n|---|---|\n"
        for (each, kind), names in found.items():
            if each == reason:
                text += f"| {KINDS[kind]} | {code(names)} |\n"
        if empty := [m for m in alone if MODULES[m] == reason]:
            text += f"| modules | {code(empty)} |\n"
    return text


def section(rows, place, names):
    home = find("rushlight", place)
    present, partial, absent, alone = [], [], {}, importable()
    for name, theirs in names.items():
        try:
            if f"{place}.{name}" in alone:
                raise AttributeError
            value = getattr(home, name)
        except (AttributeError, RuntimeError):
            absent.setdefault(absence(place, name), []).append(name)
            continue
        if lacking := missing(rows, place, name, value, theirs):
            partial.append((name, lacking))
        else:
            present.append(name)
    counts = len(present), len(partial), sum(map(len, absent.values()))
    text = f"\n## {place}\n{counts[0]} present, {counts[1]} partial, {counts[2]} absent.\n"
    text += f"\n**Present**: {wrapped(present)}\n"
    if partial:
        text += "\n| partial | without |\n|---|---|\n"
        text += "".join(f"| `{n}` | {', '.join(f'`{a}`' for a in gone)} |\n" for n, gone in partial)
    if absent:
        text += "\n| absent | |\n|---|---|\n"
        text += "".join(f"| {why} | {code(absent[why])} |\n" for why in sorted(absent))
    return counts, text


def code(names):
    return ", ".join(f"`{name}`" for name in names)


def wrapped(names):
    return code(names) or "none"


def page():
    version, places = recorded()
    rows = of_rows()
    text, total, lines = "", [0, 0, 0], ""
    for place, names in places.items():
        counts, part = section(rows, place, names)
        total = [a + b for a, b in zip(total, counts, strict=True)]
        lines += f"| `{place}` | {' | '.join(map(str, counts))} |\n"
        text += part
    summary = "\n| | present | partial | absent |\n|---|---|---|---|\n" + lines
    summary += f"| together | {' | '.join(map(str, total))} |\n"
    return HEAD.format(version=version) + summary + text + importable_section()


def main():
    if "--record" in sys.argv:
        record()
        return
    made = page()
    if "--check" not in sys.argv:
        PAGE.write_text(made)
    elif PAGE.read_text() != made:
        sys.exit("docs/coverage.md is not what the table says: run python tools/coverage.py")


if __name__ == "__main__":
    main()
