"""torch.quasirandom against torch: points, scrambled points, and the calls that move on."""

import pytest

import rushlight as torch
from tests.conftest import ask

pytest.importorskip("scipy")


def walk(torch, dimension, scramble, seed):
    engine = torch.quasirandom.SobolEngine(dimension, scramble, seed)
    found = [engine.draw(5), engine.draw(), engine.fast_forward(3).draw(4, dtype=torch.float64)]
    found += [engine.quasi.clone(), engine.shift, engine.sobolstate, engine.reset().draw_base2(3)]
    found += [engine.fast_forward(2).quasi.clone(), engine.draw(1)]
    return [x.tolist() for x in found], engine.num_generated, repr(engine)


@pytest.mark.parametrize(
    "case", [(1, False, None), (5, False, None), (7, True, 3), (40, True, 0)], ids=str
)
def test_points_are_torchs(case):
    assert walk(torch, *case) == ask(lambda torch: walk(torch, *case))


@pytest.mark.parametrize("dimension", [0, 21202])
def test_a_dimension_out_of_range(dimension):
    with pytest.raises(ValueError, match="Supported range of dimensionality"):
        torch.quasirandom.SobolEngine(dimension)


def test_out_and_balance():
    engine, out = torch.quasirandom.SobolEngine(2), torch.empty(0)
    assert engine.draw(3, out=out) is out and out.shape == (3, 2)
    with pytest.raises(ValueError, match="balance properties"):
        engine.draw_base2(2)
    with pytest.raises(ValueError, match="has 2\\*\\*30 points"):
        engine.draw(2**40)
