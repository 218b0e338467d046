"""Nothing is left of a run that ends at any moment; left_behind.py tries more of them by hand."""

import pytest

from tests.distributed import left_behind

pytestmark = pytest.mark.gloo


@pytest.mark.parametrize("how, ending, delay", left_behind.moments(10, 3)[:6])
def test_nothing_is_left(how, ending, delay, tmp_path):
    assert left_behind.one(how, ending, delay, str(tmp_path)) == []
