"""What libraries call by torch's private names: indices of matrices, sizes, softmax's gradients."""

import pytest

import rushlight
from tests.conftest import ask

CALLS = [
    "T._convert_indices_from_coo_to_csr(rows, 5)",
    "T._convert_indices_from_coo_to_csr(rows, size=4, out_int32=True)",
    "T._convert_indices_from_coo_to_csr(rows.int(), 5)",
    "T._convert_indices_from_coo_to_csr(rows[:0], 3)",
    "T._convert_indices_from_coo_to_csr(rows[0], 3)",
    "T._convert_indices_from_csr_to_coo(starts, rows[1:])",
    "T._convert_indices_from_csr_to_coo(starts, rows[1:], transpose=True)",
    "T._convert_indices_from_csr_to_coo(starts.int(), rows[1:].int(), out_int32=True)",
    "T._convert_indices_from_csr_to_coo(starts[:1], rows[:0])",
    "T._softmax_backward_data(x, x.softmax(1), 1, T.float32)",
    "T._softmax_backward_data(x.half(), x.half().softmax(-1), dim=-1, input_dtype=T.float16)",
    "T._log_softmax_backward_data(x, x.log_softmax(0), 0, input_dtype=T.float32)",
]


def given(t, device="cpu"):
    rows, starts = ([0, 0, 2, 2, 3], [0, 2, 2, 4])
    given = {"rows": t.tensor(rows), "starts": t.tensor(starts), "x": t.arange(6.0).view(2, 3)}
    return {"T": t, **{name: x.to(device) for name, x in given.items()}}


@pytest.mark.parametrize("call", CALLS)
def test_values_and_dtypes(call, device):
    def found(t, device="cpu"):
        result = eval(call, given(t, device))
        assert result.device == given(t, device)["x"].device
        return result.double().tolist(), str(result.dtype)

    (values, dtype), (expected, expected_dtype) = found(rushlight, device), ask(found)
    assert rushlight.allclose(rushlight.tensor(values), rushlight.tensor(expected), 1e-3, 1e-4)
    assert dtype == expected_dtype


def test_gradients_of_softmaxs_gradients(device):
    x = rushlight.randn(2, 3, dtype=rushlight.float64).to(device).requires_grad_()
    for name in ("softmax", "log_softmax"):
        y, g = getattr(x, name)(1), rushlight.ones(2, 3).double().to(device).cumsum(1)
        (expected,) = rushlight.autograd.grad(y, x, g)
        backward = getattr(rushlight, f"_{name}_backward_data")
        assert rushlight.allclose(backward(g, y, 1, x.dtype), expected)
        y = y.detach().requires_grad_()
        assert rushlight.autograd.gradcheck(lambda y, f=backward, g=g: f(g, y, 1, x.dtype), (y,))


def test_sizes_as_a_tensor(device):
    for sizes in ((2, 3), (), (0,)):
        found = rushlight._shape_as_tensor(rushlight.empty(sizes, device=device))
        assert found.tolist() == list(sizes) and found.dtype == rushlight.int64
        assert found.device.type == "cpu"


def test_refused_in_torchs_words(on_device):
    def words(t):
        with pytest.raises(RuntimeError) as error:
            t._convert_indices_from_coo_to_csr(t.zeros(2, 2, dtype=t.int64), 3)
        return str(error.value).splitlines()[0]

    assert words(rushlight) == ask(words)
    with pytest.raises(NotImplementedError, match="batches of matrices are not in rushlight"):
        rows = rushlight.zeros(2, 2, dtype=rushlight.int64)
        rushlight._convert_indices_from_csr_to_coo(rows, rows)


@pytest.mark.parametrize("kind", "Byte Char Double Float Half Int Long Short".split())
def test_casts_by_older_names(device, kind):
    def cast(t, device="cpu"):
        x = t.tensor([1.75, 2.0, 0.0], device=device, requires_grad=True)
        found = [getattr(t, f"_cast_{kind}")(given) for given in (x, x.detach() > 0)]
        same = getattr(t, f"_cast_{kind}")(found[0]) is found[0]
        return [(str(f.dtype), f.tolist()) for f in found], same, str(found[0].grad_fn)[:16]

    assert cast(rushlight, device) == ask(cast)
