"""`nn` tests run on both libraries: `pair` builds the same thing twice from the same seed."""

import pytest

import rushlight
from tests.conftest import ask


@pytest.fixture
def pair():
    """pair(build): build(rushlight), build(torch), each after manual_seed(0)."""

    def build_both(build, seed=0):
        def seeded(library):
            library.manual_seed(seed)
            return build(library)

        return seeded(rushlight), ask(seeded)

    return build_both
