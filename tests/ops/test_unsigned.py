"""uint16, uint32 and uint64 where torch computes with them, and what it refuses."""

import pytest

import rushlight
from tests.conftest import ask

DTYPES = ["uint16", "uint32", "uint64"]
CALLS = [
    "x * x", "x * 3", "x * y", "x / y", "x / 2", "x & y", "x | y", "x ^ y", "x & 6", "x * True",
    "T.bitwise_and(x, y)", "T.where(x == y, x, y)", "x + 1.5", "x - f", "x * f", "f / x", "x * d",
    "x.sqrt()", "x.exp()", "x.sin()", "x.reciprocal()", "T.special.i0(y)", "T.special.erf(y)",
    "T.lgamma(y)", "x.sigmoid()", "T.log(x)", "T.isnan(x)", "T.isinf(x)", "T.isfinite(x)",
    "x.floor()", "T.ceil(x)", "x.trunc()", "x < 1.5", "x[0] * y", "y * x[2]",
    "x.sum()", "x.sum(0)", "y.prod()", "x.cumsum(0)", "x.any()", "T.all(x)", "(x * 0).any(0, True)",
    "T.sum(x, 0, dtype=T.float32)", "x.mul_(y)", "x.bitwise_and_(y)", "T.atan2(y, f)",
    "x.sort()[0]", "x.sort(descending=True)[1]", "T.sort(m, stable=True, dim=1)[0]",
    "T.argsort(m, 0)", "T.argsort(x, stable=True, descending=True)", "T.msort(m)", "T.unique(m)",
    "T.unique(x, return_inverse=True, return_counts=True)[1]", "T.unique(m, dim=0)",
    "T.unique_consecutive(m)", "T.isclose(x, y)", "T.isclose(x, x, 0, 0)", "T.isin(x, 7)",
    "T.nn.functional.pad(x, (1, 2))", "T.nn.functional.pad(m, (1, 0, -1, 1), value=7)",
    "T.nn.functional.pad(m[None], (1, 1), mode='circular')", "T.constant_pad_nd(x, (1, 1), 9)",
    "T.zeros(5, dtype=x.dtype).random_(10)", "x.random_(3, 2**15)", "T.randint_like(x, 3, 10)",
    "T.randint(9, (5,), dtype=x.dtype)",
    "T.floor(x, out=x.clone())", "x.round()", "x.round_()", "T.nan_to_num(x, 1)", "x.nan_to_num_()",
    "x.eq_(y)", "x == -1", "x == 65536 + 7", "m.index_select(1, T.tensor([1, 0], device=x.device))",
    "x.cumprod(0)", "x.nansum()", "x.logsumexp(0)", "T.count_nonzero(m, 0)", "x.clamp(min=2.5)",
    "T.any(x, out=T.empty((), dtype=T.bool, device=x.device))", "T.diag(x)", "T.diag_embed(x)",
    "T.block_diag(m, m)", "T.cartesian_prod(x, y)", "T.meshgrid(x, y, indexing='ij')[1]",
    "x.repeat_interleave(2)", "T.kron(x, y)", "T.outer(x, y)", "T.einsum('i,i->i', x, y)",
    "T.einsum('i,j->ij', x, y)", "x.signbit()", "x.isposinf()", "x.isneginf()", "T.ldexp(x, y)",
    "T.softmax(y, 0, dtype=T.float32)", "T.log_softmax(y, 0, dtype=T.float64)",
    "T.nn.functional.embedding(T.tensor([0, 1], device=x.device), m)",
    "T.mul(x, y, out=x.clone())", "T.mul(x, 2, out=f.clone())", "T.sqrt(x, out=f.clone())",
    "T.mul(x, y, out=T.empty(0, dtype=T.int64, device=x.device))",
    "T.bitwise_and(x, y, out=x.clone())", "T.sort(x, out=(y.clone(), x.long()))[0]",
    "T.select_scatter(m, y[:2], 0, 0)", "T.slice_scatter(x, y[:2], 0, 0, 2)",
    "T.diagonal_scatter(m, y[:2])", "T.as_strided_scatter(x, y[:2], (2,), (1,))",
    "T.polygamma(1, y)", "T.positive(x)", "T.logit(y)", "T.cov(m[:1])", "T.corrcoef(y)",
    "T.atleast_2d(x)", "T.special.multigammaln(y, 1)", "T.float_power(x, 2)", "T.pow(x, 0.5)",
]  # fmt: skip
REFUSED = [
    "x + x", "x - 1", "x // y", "x % y", "~x", "x << 1", "x < y", "x + x.int()", "x + x.byte()",
    "x.relu()", "x * x.long()", "T.gcd(x, y)", "x.square()", "-x", "abs(x)", "T.heaviside(x, y)",
    "T.nn.functional.softsign(x)", "x.relu_()", "x.div_(2)", "x.exp_()", "x.random_()",
    "x.bernoulli_()",
    "T.mul(f, f, out=x)", "x.random_(-3, 5)", "T.randint(0, 2**17, (3,), dtype=x.dtype)"
    " if x.element_size() == 2 else x.random_(5, 5)", "x @ y",
    "T.allclose(x, y.long())", "T.softmax(x, 0)", "x.pow(2)", "x.clamp(1, 2)",
]  # fmt: skip


def answer(t, call, dtype, device="cpu"):
    top = 2 ** int(dtype[4:]) - 1
    kind = getattr(t, dtype)
    names = {
        "T": t, "x": t.tensor([1, top // 3 - 5, top], dtype=kind, device=device),
        "y": t.tensor([7, 2, 3], dtype=kind, device=device),
        "m": t.tensor([[1, 4], [top, 2]], dtype=kind, device=device),
        "f": t.tensor([0.5, 2.0, -1.0], device=device),
        "d": t.tensor([0.5, 2.0, -1.0], dtype=t.float64, device=device),
    }  # fmt: skip
    t.manual_seed(0)
    try:
        result = eval(call, names)
    except Exception as error:
        return type(error).__name__
    return str(result.dtype).split(".")[1], list(result.shape), result.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", CALLS)
def test_computed(call, dtype, device):
    def found(t, device="cpu"):
        return answer(t, call, dtype, device)

    ours, theirs = found(rushlight, device), ask(found)
    assert ours[:2] == theirs[:2]
    if "rand" in call and device != "cpu":  # a GPU's generator is another
        return
    if "float" not in theirs[0]:
        assert ours == theirs
        return
    a, b = (rushlight.tensor(each[2], dtype=rushlight.float64) for each in (ours, theirs))
    assert rushlight.allclose(a, b, 1e-6, 1e-6, equal_nan=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("call", REFUSED)
def test_refused(call, dtype, device):
    def found(t, device="cpu"):
        return answer(t, call, dtype, device)

    ours, theirs = found(rushlight, device), ask(found)
    assert isinstance(ours, str)
    if isinstance(theirs, str):
        assert ours == theirs
