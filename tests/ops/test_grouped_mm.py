"""Products of groups, as layers of experts call them: values, gradients, layouts, words."""

import pytest

import rushlight
from tests.conftest import ask

# the shapes of both factors, and where the groups end
FORMS = {
    "rows": ((8, 16), (3, 16, 8), [3, 3, 8]),
    "columns": ((3, 4, 16), (16, 8), [1, 5, 8]),
    "inner": ((4, 16), (16, 8), [4, 12, 16]),
    "batch": ((2, 4, 16), (2, 16, 8), None),
    "rows of nothing": ((0, 16), (2, 16, 8), [0, 0]),
    "columns that are padded": ((2, 4, 16), (2, 16, 7), None),
}


def filled(t, shape, seed, dtype, device, columns):
    t.manual_seed(seed)
    x = t.randint(-4, 5, shape).to(dtype)
    x = x.mT.contiguous().mT if columns else x
    return x.to(device).requires_grad_()


def grouped(t, form, dtype, columns, device="cpu"):
    left, right, ends = FORMS[form]
    a = filled(t, left, 0, getattr(t, dtype), device, False)
    b = filled(t, right, 1, getattr(t, dtype), device, columns)
    offs = None if ends is None else t.tensor(ends, dtype=t.int32, device=device)
    out = t.nn.functional.grouped_mm(a, b, offs=offs)
    weight = (t.arange(out.numel(), device=device) % 5 - 2).view(out.shape).to(out.dtype)
    grads = t.autograd.grad(out, (a, b), weight)
    return [
        (list(x.shape), x.stride(), str(x.dtype), x.double().tolist()) for x in (out, *grads)
    ], type(out.grad_fn).__name__


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
@pytest.mark.parametrize("form", FORMS)
def test_values_and_gradients(form, dtype, device):
    columns = form == "columns that are padded" or (dtype == "float32" and form != "inner")
    if form == "columns that are padded":  # torch's gradient refuses its own layout

        def padded(t, device="cpu"):
            a = filled(t, (2, 4, 16), 0, t.float32, device, False).detach()
            b = filled(t, (2, 16, 7), 1, t.float32, device, True).detach()
            out = t.nn.functional.grouped_mm(a, b)
            return out.tolist(), out.stride()

        assert padded(rushlight, device) == ask(padded)
        return

    def found(t, device="cpu"):
        return grouped(t, form, dtype, columns, device)

    assert found(rushlight, device) == ask(found)


def test_gradients_of_gradients(device):
    a = rushlight.randn(4, 4, device=device, requires_grad=True)
    b = rushlight.randn(2, 4, 4, device=device, requires_grad=True)
    offs = rushlight.tensor([1, 4], dtype=rushlight.int32, device=device)

    def size(out):
        g = rushlight.autograd.grad(out.sin().sum(), (a, b), create_graph=True)
        total = sum((x * x).sum() for x in g)
        return rushlight.autograd.grad(total, (a, b))

    parts = rushlight.cat([a[:1] @ b[0], a[1:] @ b[1]])
    for ours, wanted in zip(size(rushlight._grouped_mm(a, b, offs)), size(parts), strict=True):
        assert rushlight.allclose(ours, wanted, 1e-3, 1e-4)


def test_after_the_last_group_there_are_zeros(device):
    a, b = rushlight.ones(4, 4, device=device), rushlight.ones(1, 4, 4, device=device)
    offs = rushlight.tensor([3], dtype=rushlight.int32, device=device)
    a.requires_grad_()
    out = rushlight.nn.functional.grouped_mm(a, b, offs=offs)
    assert out[:, 0].tolist() == [4, 4, 4, 0]
    out.backward(rushlight.ones(4, 4, device=device))
    assert a.grad[:, 0].tolist() == [4, 4, 4, 0]


def test_ends_must_not_decrease(device):
    a, b = rushlight.ones(4, 4, device=device), rushlight.ones(2, 4, 4, device=device)
    for ends in ([3, 2], [-1, 2], [2, 5]):
        offs = rushlight.tensor(ends, dtype=rushlight.int32, device=device)
        with pytest.raises(RuntimeError, match=f"must not decrease.*{min(ends[1], 5)}|comes after"):
            rushlight._grouped_mm(a, b, offs)


def test_shapes_without_numbers(device):
    a = rushlight.empty(4, 16, device="meta", requires_grad=True)
    b = rushlight.empty(2, 16, 8, device="meta")
    offs = rushlight.empty(2, dtype=rushlight.int32, device="meta")
    out = rushlight.nn.functional.grouped_mm(a, b, offs=offs)
    assert out.shape == (4, 8)
    out.sum().backward()
    assert a.grad.shape == a.shape
    with pytest.raises(RuntimeError, match="same device"):
        rushlight.nn.functional.grouped_mm(a, b, offs=offs.new_ones(2, device=device))


WRONG = {
    "no ends": "F(x, w)",
    "ends of int64": "F(x, w, offs=T.tensor([3, 8]))",
    "ends in a matrix": "F(x, w, offs=ends[None])",
    "ends of another number of groups": "F(x, w[:1], offs=ends)",
    "ends of batches": "F(w, w.mT, offs=ends)",
    "batches of two sizes": "F(w[:1], w.mT)",
    "inner sizes": "F(x, w[:, :8], offs=ends)",
    "a vector": "F(x[0], w, offs=ends)",
    "double": "F(x.double(), w.double(), offs=ends)",
    "integers": "F(x.int(), w.int(), offs=ends)",
    "two dtypes": "F(x, w.half(), offs=ends)",
    "bias": "F(x, w, offs=ends, bias=x)",
    "another dtype for the result": "F(x, w, offs=ends, out_dtype=T.float64)",
    "strides": "F(x[:, :15], w[:, :15, :7].contiguous(), offs=ends)",
    "gaps": "F(x[:, ::2], w[:, ::2], offs=ends)",
}


@pytest.mark.parametrize("call", WRONG)
def test_refused_in_torchs_words(call):
    def words(t):
        given = {
            "T": t, "F": t.nn.functional.grouped_mm, "x": t.ones(8, 16), "w": t.ones(2, 16, 8),
            "ends": t.tensor([3, 8], dtype=t.int32),
        }  # fmt: skip
        try:
            eval(WRONG[call], given)
        except Exception as error:
            return type(error).__name__, str(error).splitlines()[0]
        return None

    assert words(rushlight) == ask(words)
