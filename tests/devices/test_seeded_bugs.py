"""The bugs that tests.emulator.bugs puts into the kernels, without building any."""

import pytest

from tests.emulator.bugs import BUGS, OUTSIDE, ROOT, file_of


@pytest.mark.parametrize("bug", BUGS + OUTSIDE, ids=lambda bug: bug[0])
def test_the_text_that_it_spoils_is_there(bug):
    _, stem, right, wrong, tests = bug
    assert right in file_of(stem, ROOT).read_text()
    assert wrong != right
    assert all((ROOT / "tests" / name).exists() for name in tests.split())
