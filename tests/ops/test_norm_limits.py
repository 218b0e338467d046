"""Norms of matrices without elements, condition of singular ones, dtypes that norms refuse."""

import pytest

import rushlight
from tests.conftest import ask

CALLS = [
    *[f"L.cond(T.zeros(2, 2), {p})" for p in ("1", "-1", "INF", "-INF", "'fro'", "None", "'nuc'")],
    *[f"L.cond(m, {p})" for p in ("1", "-1", "INF", "'fro'")],
    "L.cond(T.tensor([[1.0, 2.0], [3.0, 4.0]]), 'nuc')",
    "L.cond(T.tensor([[NAN, 0], [0, 1]]), 1)",
    "L.cond(T.ones(2, 3), 1)",
    *[
        f"L.matrix_norm(T.ones({shape}), {ord}, keepdim={keepdim})"
        for shape in ("0, 2", "2, 0", "3, 0, 2", "0, 0", "0, 2, 2")
        for ord in ("2", "-2", "1", "-1", "INF", "-INF", "'nuc'", "'fro'")
        for keepdim in (False, True)
    ],
    "L.norm(T.ones(0, 2), 2)",
    *[
        f"L.{norm}(T.ones(2, 2, dtype=T.{given}), {ord}, dtype=T.{dtype})"
        for norm, ord in (
            ("vector_norm", "2"), ("norm", "None"), ("matrix_norm", "1"), ("matrix_norm", "2"),
            ("matrix_norm", "'fro'"), ("matrix_norm", "'nuc'"),
        )
        for given, dtype in (
            ("float32", "int64"), ("float64", "float32"), ("float32", "float64"),
            ("float32", "complex64"), ("complex64", "float32"), ("complex64", "complex128"),
            ("complex128", "complex64"),
        )
    ],
    "T.norm(T.ones(2), dtype=T.int32)",
    "T.norm(T.ones(2).double(), dtype=T.float32)",
    "T.norm(T.ones(2).half(), dtype=T.bfloat16)",
    "T.norm(T.ones(2).half(), dtype=T.float32)",
    "T.cholesky_inverse(T.tensor([[1.0, 0.0], [2.0, 0.0]]))",
    "T.cholesky_inverse(T.stack([T.eye(2), T.zeros(2, 2), T.eye(2)]))",
    "T.cholesky_inverse(T.ones(0, 2, 2))",
    "T.cholesky_inverse(T.ones(3, 0, 0))",
    "T.cholesky_inverse(T.stack([T.eye(2), 2 * T.eye(2)]))",
]  # fmt: skip


@pytest.mark.parametrize("call", CALLS)
def test_limits(call, device):
    def found(t):
        m = t.tensor([[[1.0, 0.0], [0.0, 1.0]], [[1.0, 2.0], [2.0, 4.0]]])
        names = {"T": t, "L": t.linalg, "m": m, "INF": float("inf"), "NAN": float("nan")}
        t.set_default_device(device if t is rushlight else "cpu")
        try:
            y = eval(call, names)
        except (RuntimeError, IndexError) as error:
            return type(error).__name__, str(error).splitlines()[0]
        finally:
            t.set_default_device(None)
        return str(y.dtype).split(".")[1], list(y.shape), y.flatten().tolist()

    ours, theirs = found(rushlight), ask(found)
    if len(theirs) == 2:
        assert ours[0] == theirs[0]
        assert ours[1] == theirs[1] or theirs[0] == "IndexError"  # it names another dimension
    else:
        assert ours[:2] == theirs[:2]
        assert ours[2] == pytest.approx(theirs[2], rel=1e-5, nan_ok=True)
