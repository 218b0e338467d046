"""The first program of each README prints what the README says."""

import pathlib
import re
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("name", ["README.md", "README.zh.md"])
def test_first_program(name):
    text = (ROOT / name).read_text()
    code, printed = re.search(r"```python\n(.*?)```.*?```\n(.*?)```", text, re.S).groups()
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == printed, done.stderr
