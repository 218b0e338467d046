"""Quantiles, resize_, and what arguments may be: NumPy's names and scalars, out= of creation."""

import pytest

import rushlight as torch
from tests.compare import same_as_torch


def test_quantiles(on_device):
    x = torch.tensor([[3.0, 1.0, 2.0], [6.0, 4.0, float("nan")]])
    assert torch.quantile(x[0], 0.25).item() == 1.5
    assert torch.quantile(x, 0.5, dim=1)[0] == 2 and torch.quantile(x, 0.5, dim=1)[1].isnan()
    assert torch.nanquantile(x, 0.5, dim=1, keepdim=True).tolist() == [[2], [5]]
    both = torch.quantile(x[0], torch.tensor([0.0, 1.0]))
    assert both.tolist() == [1, 3]
    for way, expected in (("lower", 1), ("higher", 2), ("midpoint", 1.5), ("nearest", 1)):
        assert torch.quantile(x[0], 0.2, interpolation=way).item() == expected
    with pytest.raises(RuntimeError, match=r"range \[0, 1\]"):
        torch.quantile(x, 1.5)


def test_resize_keeps_what_fits(on_device):
    x = torch.arange(6)
    pointer = x.data_ptr()
    assert x.resize_(2, 2).tolist() == [[0, 1], [2, 3]] and x.data_ptr() == pointer
    assert x.resize_(8).tolist()[:6] == [0, 1, 2, 3, 4, 5]
    with pytest.raises(RuntimeError, match="cannot resize variables that require grad"):
        torch.ones(2, requires_grad=True).resize_(3)
    with pytest.raises(RuntimeError):
        x.resize_(-1)


def test_names_of_numpy(on_device):
    x = torch.arange(6.0).reshape(2, 3)
    assert torch.equal(x.sum(axis=0, keepdims=True), x.sum(dim=0, keepdim=True))
    assert torch.equal(torch.cat([x, x], axis=1), torch.cat([x, x], dim=1))
    assert torch.equal(torch.add(x1=x, x2=x), x + x)
    with pytest.raises(TypeError, match="multiple values for argument 'axis'"):
        x.sum(0, axis=0)


def test_creation_follows_out(on_device):
    out = torch.empty(0, dtype=torch.float64)
    assert torch.arange(3, out=out) is out and out.tolist() == [0, 1, 2]
    assert torch.linspace(0, 1, 3, out=out).tolist() == [0, 0.5, 1] and out.dtype == torch.float64
    assert torch.zeros(3, out=out).tolist() == [0, 0, 0]
    with pytest.raises(RuntimeError, match="does not match dtype of out parameter"):
        torch.ones(2, dtype=torch.int64, out=out)
    assert torch.arange(3.9, dtype=torch.int64).tolist() == [0, 1, 2]
    with pytest.raises(RuntimeError, match="0-dimensional start and end"):
        torch.linspace(torch.zeros(2), 1, 3)


def test_numpy_scalars_keep_their_dtype(on_device):
    numpy = pytest.importorskip("numpy")
    assert torch.tensor([numpy.float64(1), 2]).dtype == torch.float64
    assert torch.tensor([numpy.float32(1)]).dtype == torch.float32
    assert torch.tensor([numpy.uint8(1), 2.5]).dtype == torch.float32
    assert torch.tensor([torch.tensor(1.0, dtype=torch.float64)]).dtype == torch.float64


def outcome(package, call):
    """What a call returns, or the type and the first line of its error."""
    x, y = package.arange(3.0), package.arange(2.0)
    try:
        return eval(call, {"x": x, "y": y, "t": package})
    except (TypeError, RuntimeError) as error:
        return type(error).__name__ + ": " + str(error).splitlines()[0]


NUMBERS_OF_TENSORS = [
    f"t.{name}({arguments})"
    for name in (
        "meshgrid", "cartesian_prod", "block_diag", "broadcast_tensors", "atleast_1d",
        "atleast_2d", "atleast_3d",
    )
    for arguments in ("", "x", "x, y", "*[x] * 3", "1", "x, 1", "[x], y")
] + [
    "t.meshgrid([x, y])", "t.meshgrid((x,))", "t.meshgrid([x, 1])", "t.meshgrid(x, indexing=3)",
    "t.meshgrid(x, y, indexing='xy')", "t.meshgrid(x, y, indexing='yx')", "t.atleast_2d([x, y])",
    "t.atleast_1d((x,))", "t.atleast_3d([])", "t.cat([x, None])", "t.stack((1, x))",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore:torch.meshgrid")
@pytest.mark.parametrize("call", NUMBERS_OF_TENSORS)
def test_any_number_of_tensors(reference, call, on_device):
    ours, theirs = outcome(torch, call), outcome(reference, call)
    if not isinstance(theirs, str):
        assert isinstance(ours, tuple) == isinstance(theirs, tuple | list)
        same_as_torch(ours, theirs)
    elif "atleast" in call:  # two signatures: the error lists both
        assert ours.partition(":")[0] == theirs.partition(":")[0]
    else:
        assert ours == theirs


def test_what_torch_refuses_by_type(reference):
    def refused(t, call):
        try:
            eval(call, {"T": t})
        except Exception as error:
            return type(error).__name__
        return "taken"

    for call in (
        "T.rsub(T.ones(2), 1, out=T.empty(2))",
        "T.linalg.pinv(T.eye(2), hermitian=1)",
        "T.linalg.matrix_rank(T.eye(2), hermitian=1)",
        "T.ones(3).sort(0, True, stable=True)",
        "T.sort(T.ones(3), -1, stable=False)",
        "T.ones(3).sort(stable=True, dim=0)",
    ):
        assert refused(torch, call) == refused(reference, call), call
