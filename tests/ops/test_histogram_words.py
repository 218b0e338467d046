"""What histograms refuse, and sums of complex numbers in other dtypes, as torch."""

import pytest

import rushlight
from tests.conftest import ask

REFUSED = [
    "T.histogram(x, T.ones(3).double())",
    "T.histogram(x, 3, weight=x.double())",
    "T.histogram(x, 3, weight=T.ones(3))",
    "T.histogram(x, T.ones(2, 2))",
    "T.histogram(x, T.ones(0))",
    "T.histogram(x, T.ones(1))",
    "T.histogramdd(x, bins=[T.ones(2), T.ones(1)])",
    "T.histogram(x, -1)",
    "T.histogram(x, 4, range=(2, 1))",
    "T.histogram(x, 4, range=(2.5, INF))",
    "T.histogram(x, 4, range=(1,))",
    "T.histogramdd(x, bins=[2, 2], weight=T.ones(2).double())",
    "T.histogramdd(x, bins=[2, 2], weight=T.ones(3))",
    "T.histogramdd(x, bins=[2, 2], range=[0.0, 1.0])",
    "T.histogramdd(x, bins=[2, 2, 2])",
    "T.histogramdd(x[0], bins=[2])",
    "T.histogramdd(x, bins=[T.ones(2), T.ones(2).double()])",
]


@pytest.mark.parametrize("call", REFUSED)
def test_refused_in_torchs_words(call, on_device):
    def words(t):
        with pytest.raises(RuntimeError) as error:
            eval(call, {"T": t, "x": t.ones(2, 2), "INF": float("inf")})
        return type(error.value).__name__, str(error.value).splitlines()[0]

    assert words(rushlight) == ask(words)


@pytest.mark.filterwarnings("ignore:Casting complex values to real")
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float64"])
@pytest.mark.parametrize("given", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ["sum", "prod"])
def test_complex_numbers_reduced_in_real_dtypes(name, given, dtype, device):
    def found(t):
        z = t.tensor([[1 + 2j, 2.0, 3 - 1j], [1.0, 0.5j, 2.0]], dtype=getattr(t, given))
        z = z.to(device if t is rushlight else "cpu")
        call, d = getattr(t, name), getattr(t, dtype)
        results = [call(z, dtype=d), call(z, 0, dtype=d), call(z, 1, keepdim=True, dtype=d)]
        return [(str(r.dtype).split(".")[1], r.tolist()) for r in results]

    assert found(rushlight) == ask(found)
