"""The notebooks hold the documents' code unedited, with outputs; CI executes them in a kernel."""

import json
import pathlib

import pytest

from rushlight._demo import TOUR, find_notebooks

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PROGRAMS = sorted((ROOT / "tests/documents/programs").glob("*.py"))
# What the programs need to stand alone, or add so that a test can see more.
OWN = (
    "# Code of document",
    "# %%",
    "import os",
    "import numpy",
    "class FooNet",
    'if __name__ == "',
)


def code_cells(path):
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.stem)
def test_every_line_of_the_documents_is_there(program):
    (notebook,) = (p for p in NOTEBOOKS if p.name.startswith(program.stem[:3]))
    there = {line for cell in code_cells(notebook) for line in lines_of("".join(cell["source"]))}
    lines = lines_of(program.read_text(encoding="utf-8"))
    if program.stem == "002_parallel":  # its network is not in the document
        lines = lines[lines.index("# 设置 2 个可见 GPU") :]
    if program.stem == "003_forms":  # prints what the document states in words
        lines = [line for line in lines if not line.startswith(("print", "tensor = torch.randn"))]
    assert not [line for line in lines if line not in there and not line.startswith(OWN)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_notebook(path):
    cells = code_cells(path)
    first = "".join(cells[0]["source"])
    assert first.startswith("%load_ext rushlight") and "rushlight.cuda.virtual(" in first
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        failed = any(output["output_type"] == "error" for output in cell["outputs"])
        assert failed == ("raises-exception" in cell["metadata"].get("tags", []))


def test_the_demo_knows_them():
    folder = pathlib.Path(find_notebooks())
    assert [p.stem for p in NOTEBOOKS[:-1]] == [name for name, _ in TOUR]
    assert all((folder / f"{name}.ipynb").is_file() for name, _ in TOUR)
