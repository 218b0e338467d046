"""The notebooks' code on the GPUs that are there, cell by cell, without Jupyter: lines that make
virtual GPUs do nothing. What asks for more GPUs than there are, or for a package that is not
installed, is said.

python -m tests.gpu.notebooks [FILE]
"""

import ast
import json
import os
import pathlib
import re
import sys
import tempfile

import rushlight
from tests.gpu import asks_for_more

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "notebooks"


def cells(path):
    """(code, whether it is there to raise) of each cell; a cell of bash as a call."""
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        lines = "".join(cell["source"]).splitlines()
        if cell["cell_type"] != "code":
            continue
        if lines and lines[0].startswith("%%bash"):
            script = "\n".join(lines[1:])
            yield (
                f"import subprocess\nsubprocess.run(['bash', '-c', {script!r}], check=False);",
                False,
            )
            continue
        lines = [line for line in lines if not line.startswith(("%", "!"))]
        indent = re.match(r"\s*", lines[0]).group() if lines else ""  # taken away, as IPython does
        code = "\n".join(line.removeprefix(indent) for line in lines)
        yield code, "raises-exception" in cell["metadata"].get("tags", [])


def run_cell(code, names):
    """Runs it; a last expression is printed, as a notebook shows it."""
    tree = ast.parse(code)
    last = tree.body[-1] if tree.body and not code.rstrip().endswith(";") else None
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.copy_location(
            ast.parse("_shown = None").body[0], last
        )  # the value takes the place of None
        tree.body[-1].value = last.value
        ast.fix_missing_locations(tree)
    exec(compile(tree, "<cell>", "exec"), names)
    shown = names.pop("_shown", None)
    if shown is not None:
        print(shown)


def run(path):
    """Returns what kept parts of the notebook from running: a list of words."""
    names, missing = {"__name__": "__main__"}, []
    for code, may_raise in cells(path):
        try:
            run_cell(code, names)
        except ImportError as error:
            return [*missing, f"not installed: {error.name}"]
        except Exception as error:
            if asks_for_more(str(error)):
                missing.append("a cell needs more GPUs")
            elif not may_raise and not (missing and isinstance(error, NameError)):
                raise
    return missing


def main():
    rushlight.cuda.virtual = lambda *_, **__: None
    rushlight.as_torch()
    sys.path.insert(0, str(FOLDER))
    here = os.getcwd()
    for path in sorted(FOLDER.glob("*.ipynb")):
        if len(sys.argv) > 1 and sys.argv[1] not in path.name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            missing = run(path)
            os.chdir(here)
        print(f"== {path.name}: {', '.join(dict.fromkeys(missing)) or 'all of it ran'}")


if __name__ == "__main__":
    main()
