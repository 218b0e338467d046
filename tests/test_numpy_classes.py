"""Arrays of classes that are derived from numpy.ndarray: memmaps, matrices, masked arrays."""

import numpy
import pytest

import rushlight
from tests.conftest import ask


class Mine(numpy.ndarray):
    pass


class Lying(numpy.ndarray):
    """An array that says it may be written to."""

    @property
    def flags(self):
        return numpy.zeros(1).flags


CALLS = [
    "T.from_numpy(m)", "T.tensor(m)", "T.as_tensor(m)", "T.from_numpy(m[1:3].astype('int64'))",
    "T.stack([T.from_numpy(m[i : i + 2].astype('int64')) for i in (0, 1)])",
    "T.from_numpy(numpy.matrix([[1, 2]]))", "T.tensor(numpy.matrix([[1, 2]]))",
    "T.as_tensor(numpy.matrix([[1, 2]]))", "T.ones(2)[numpy.matrix([0, 1])]",
    "T.from_numpy(numpy.ma.array([1.0, 2.0], mask=[0, 1]))",
    "T.tensor(numpy.ma.array([1.0, 2.0], mask=[0, 1]))",
    "T.from_numpy(numpy.zeros(2).view(Mine))", "T.tensor(numpy.zeros(2).view(Mine))",
    "T.from_numpy(numpy.array([1], dtype='datetime64[s]'))", "T.tensor(numpy.datetime64(1, 's'))",
    "T.tensor(numpy.array([1], dtype='timedelta64[s]'))", "T.from_numpy(numpy.array(['a']))",
    "T.from_numpy([1])", "T.from_numpy(3)",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore")  # of a read-only memmap
@pytest.mark.parametrize("mode", ["r", "r+", "c"])
@pytest.mark.parametrize("call", CALLS)
def test_as_torch(call, mode, tmp_path):
    path = tmp_path / "numbers"
    numpy.arange(6, dtype="uint8").tofile(path)

    def found(torch):
        m = numpy.memmap(path, dtype="uint8", mode=mode)
        try:
            made = eval(call, {"T": torch, "numpy": numpy, "m": m, "Mine": Mine})
        except TypeError as error:
            return str(error).splitlines()[0][:50]
        return str(made.dtype), made.tolist()

    assert found(rushlight) == ask(found)


def test_a_memmap_is_shared(tmp_path):
    m = numpy.memmap(tmp_path / "numbers", dtype="float32", mode="w+", shape=(3,))
    rushlight.from_numpy(m).add_(2)
    assert m.tolist() == [2, 2, 2]


@pytest.mark.filterwarnings("ignore:The given NumPy array is not writable")
@pytest.mark.parametrize("make", [rushlight.from_numpy, rushlight.as_tensor])
def test_what_says_that_it_is_writable_and_is_not(make, tmp_path):
    path = tmp_path / "numbers"
    numpy.arange(6.0).tofile(path)
    array = numpy.memmap(path, mode="r", dtype="float64").view(Lying)
    made = make(array)
    made.add_(1)  # a write to memory that is mapped read-only would end the process
    assert made.tolist() == [1, 2, 3, 4, 5, 6] and array[0] == 0
