"""The programs of programs.py: each line that they print, on both devices, as torch prints it."""

import contextlib
import io
import re
import warnings

import pytest

import rushlight
from tests.conftest import ask
from tests.sparse import programs

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[+-]?\d+)?")


def printed(program, torch, device="cpu"):
    """What a program prints."""
    output = io.StringIO()
    with warnings.catch_warnings(), contextlib.redirect_stdout(output):
        warnings.simplefilter("ignore")
        program(torch, device)
    return output.getvalue()


@pytest.mark.parametrize("program", programs.PROGRAMS, ids=lambda p: p.__name__)
def test_same_lines(program, device):
    ours = printed(program, rushlight, device).splitlines()
    theirs = ask(lambda torch: printed(program, torch)).splitlines()
    if device != "cpu":  # the type of a tensor on a GPU has another name
        ours, theirs = (
            [line.replace(" torch.sparse.FloatTensor", " ") for line in lines]
            for lines in (ours, theirs)
        )
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert NUMBER.sub("#", a) == NUMBER.sub("#", b)
        for x, y in zip(NUMBER.findall(a), NUMBER.findall(b), strict=True):
            assert float(x) == pytest.approx(float(y), rel=1e-4, abs=1e-5), (a, b)
