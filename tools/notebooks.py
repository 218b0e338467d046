"""Executes the notebooks in a real Jupyter kernel and keeps what they print in the files.

    python tools/notebooks.py [FILE ...]      all of notebooks/, when none is named

A cell tagged "raises-exception" may raise; any other error ends the run and leaves its file alone.
"""

import pathlib
import re
import sys
import time

import nbformat
from nbclient import NotebookClient

FOLDER = pathlib.Path(__file__).parent.parent / "notebooks"
COLOURS = re.compile(r"\x1b\[[\d;]*m")
# Paths of the machine that ran them: where rushlight is installed, where a cell was compiled.
PLACES = (
    (re.compile(r"\S*/(?=rushlight/)"), ""),
    (re.compile(r"\S*/ipykernel_\d+/\d+\.py"), "cell"),
)


def plain(text):
    text = COLOURS.sub("", text)
    for place, shown in PLACES:
        text = place.sub(shown, text)
    return text


def execute(path):
    notebook = nbformat.read(path, as_version=4)
    folder = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=600, resources=folder, coalesce_streams=True).execute()
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            if output.output_type == "error":
                output.traceback = [plain(line) for line in output.traceback]
            elif output.output_type == "stream":
                output.text = plain(output.text)
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for path in map(pathlib.Path, sys.argv[1:] or sorted(FOLDER.glob("*.ipynb"))):
        start = time.monotonic()
        execute(path)
        print(f"{path.name:<28} {time.monotonic() - start:5.1f} s", flush=True)
