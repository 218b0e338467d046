"""`nn` tests run on both libraries: `pair` builds the same thing twice from the same seed."""

import pytest

import rushlight


@pytest.fixture
def pair(reference):
    """pair(build): build(rushlight), build(torch), each after manual_seed(0)."""

    def build_both(build, seed=0):
        built = []
        for library in (rushlight, reference):
            library.manual_seed(seed)
            built.append(build(library))
        return tuple(built)

    return build_both
