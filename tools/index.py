"""Writes python/rushlight/_index.py, which module defines which operation; --check compares.

It imports every module and reads the table. At run time the index finds the module of a name, so
that nothing is imported before it is used.
"""

import importlib
import pathlib
import pkgutil
import sys

import rushlight
from rushlight import _C

FILE = pathlib.Path(__file__).parent.parent / "python/rushlight/_index.py"
HEAD = '''"""Written by tools/index.py from the table of operations; do not edit.

For each place where operations are visible: module -> the names that it defines.
"""

'''
PLACES = {
    "TORCH": "torch",
    "TENSOR": "Tensor",
    "FUNCTIONAL": "nn.functional",
    "SPECIAL": "special",
    "LINALG": "linalg",
}


def import_all():
    for module in pkgutil.walk_packages(rushlight.__path__, "rushlight."):
        spec = module.module_finder.find_spec(module.name)
        is_program = module.name.rsplit(".", 1)[-1] in {"__main__", "_smi_program"}
        if spec.origin.endswith(".py") and not is_program:
            importlib.import_module(module.name)


def text():
    import_all()
    parts = []
    for constant, place in PLACES.items():
        found: dict[str, set[str]] = {}
        for row in _C._rows():
            names = [row["name"]] * (place in row["visible"])
            names += [row["name"] + "_"] * (place in row["in_place"])
            if row["module"] and names:
                found.setdefault(row["module"], set()).update(names)
        lines = [f'    "{m}": "{" ".join(sorted(found[m]))}",\n' for m in sorted(found)]
        parts.append(f"{constant} = {{\n{''.join(lines)}}}\n")
    return HEAD + "\n".join(parts)


def main():
    made = text()
    if "--check" not in sys.argv:
        FILE.write_text(made)
    elif FILE.read_text() != made:
        sys.exit("_index.py is not what the table says: run python tools/index.py")


if __name__ == "__main__":
    main()
