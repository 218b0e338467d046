"""Programs of one line, run by rushlight and by torch: values, dtypes, what is printed, the type of
an error and its first words, and the first words of warnings must be the same.

Each line of tests/snippets/*.txt is one; its last expression is the value.
"""

import ast
import contextlib
import io
import math
import pathlib
import re
import warnings

import numpy
import pytest

import rushlight
from tests.conftest import ask

FILES = sorted((pathlib.Path(__file__).parent / "snippets").glob("*.txt"))
LINES = [
    pytest.param(line, id=f"{file.stem}-{number}")
    for file in FILES
    for number, line in enumerate(file.read_text().splitlines(), 1)
    if line and not line.startswith("#")
]
NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")
MADE_AT = re.compile(r" at 0x\w+")


def shown(value, torch):
    if isinstance(value, torch.Tensor):
        return f"{value!r} {tuple(value.shape)} {value.dtype}"
    if isinstance(value, tuple | list):
        return f"{type(value).__name__}({', '.join(shown(v, torch) for v in value)})"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{k}: {shown(v, torch)}' for k, v in value.items())}}}"
    return MADE_AT.sub("", repr(value)).replace("rushlight.", "torch.")


def run(line, torch):
    """What the line gives: text, output, warnings."""
    names = {
        "torch": torch, "nn": torch.nn, "F": torch.nn.functional, "T": torch.tensor,
        "np": numpy, "math": math,
    }  # fmt: skip
    torch.manual_seed(0)
    output = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(output):
        warnings.simplefilter("always")
        try:
            tree = ast.parse(line)
            last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
            exec(compile(tree, "snippet", "exec"), names)
            text = ""
            if last is not None:
                code = compile(ast.Expression(last.value), "snippet", "eval")
                text = shown(eval(code, names), torch)
        except Exception as error:
            # What follows in torch may be a list of its kernels, which grows with what is imported.
            text = f"!{type(error).__name__}: {error}".split("\n")[0][:200]
    told = [str(w.message).split("\n")[0] for w in caught if w.category is UserWarning]
    told = [] if "once" in line else told  # torch says some things once in a process
    return text, output.getvalue(), told


def is_same(ours, theirs):
    if ours.startswith("!") and theirs.startswith("!"):
        (our_type, _, our_words), (their_type, _, their_words) = (
            text.split("\n")[0].partition(": ") for text in (ours, theirs)
        )
        start = min(len(our_words), len(their_words), 60)
        return our_type == their_type and our_words[:start] == their_words[:start]
    ours, theirs = (re.sub(r"\s+", " ", text) for text in (ours, theirs))
    if NUMBER.sub("#", ours) != NUMBER.sub("#", theirs):
        return False
    pairs = zip(NUMBER.findall(ours), NUMBER.findall(theirs), strict=True)
    return all(float(a) == pytest.approx(float(b), rel=1e-3, abs=1e-6) for a, b in pairs)


@pytest.mark.parametrize("line", LINES)
def test_same_as_torch(line):
    ours, our_output, our_warnings = run(line, rushlight)
    theirs, output, told = ask(lambda torch: run(line, torch))
    assert is_same(ours, theirs), f"ours:  {ours}\ntorch: {theirs}"
    assert our_output == output
    assert [w[:50] for w in our_warnings] == [w[:50] for w in told]
