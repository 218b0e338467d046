"""`rushlight run FILE.ipynb` and %load_ext rushlight: in a real Jupyter kernel."""

import importlib.util
import json
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("ipykernel") is None, reason="needs rushlight[notebooks]"
)


def run(tmp_path, *cells, options=(), arguments=()):
    """The completed run of a notebook with these cells; one that begins with "!!" may raise."""
    written = [
        {
            "cell_type": "code",
            "source": cell.removeprefix("!!").splitlines(keepends=True),
            "metadata": {"tags": ["raises-exception"] if cell.startswith("!!") else []},
            "outputs": [],
            "execution_count": None,
        }
        for cell in cells
    ]
    text = {"cell_type": "markdown", "metadata": {}, "source": ["# A title"]}
    notebook = {"cells": [text, *written], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path = tmp_path / "lesson.ipynb"
    path.write_text(json.dumps(notebook))
    command = [sys.executable, "-m", "rushlight", "run", str(path), *options, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=180)
    assert json.loads(path.read_text()) == notebook, "the file is left as it was"
    return done


def test_a_notebook_runs(tmp_path):
    done = run(
        tmp_path,
        "import torch, sys, os\nprint(torch.__version__, sys.argv[1:], os.getcwd())",
        "!nvidia-smi -L",
        "x = torch.ones(2, device='cuda')\nx",
        "!!torch.nonsense",
        "print('after', file=sys.stderr)",
        options=["--gpus", "1"],
        arguments=["--lr", "1"],
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"2.13.0+rushlight0.1 ['--lr', '1'] {tmp_path}"
    assert lines[1].startswith("GPU 0: Tesla T4 (virtual)")
    assert lines[2] == "tensor([1., 1.], device='cuda:0')"
    assert "AttributeError: torch.nonsense is not in rushlight 0.1" in done.stderr
    assert done.stderr.rstrip().endswith("after")


def test_an_error_ends_it(tmp_path):
    done = run(tmp_path, "print(1)", "1 / 0", "print(2)")
    assert done.returncode == 1 and done.stdout == "1\n"
    assert "ZeroDivisionError: division by zero" in done.stderr


@pytest.mark.parametrize("text", ["", "[]", '{"cells": 3}', "print(1)"])
def test_what_is_no_notebook(tmp_path, text):
    path = tmp_path / "x.ipynb"
    path.write_text(text)
    command = [sys.executable, "-m", "rushlight", "run", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "is not a notebook" in done.stderr
    command[-1] += "2.ipynb"
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "can't open file" in done.stderr
