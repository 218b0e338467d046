"""torch.masked against torch: values, dtypes and gradients; masks of other shapes, lanes of which
nothing is left; what is refused."""

import pytest

import rushlight
from tests.conftest import ask

SHAPES = ["None", "T.tensor([True, False, True])", "T.tensor([[False], [True]])",
          "T.tensor([[False, False, False], [True, False, True]])"]  # fmt: skip
OVER = [("dim=None", ""), ("dim=1", ", keepdim=True"), ("dim=(0, -1)", "")]
CALLS = [
    *(f"M.{name}(x, {dim}, mask=m{more})" for name in "sum prod amax amin mean norm var std".split()
      for dim, more in OVER),
    *(f"M.{name}(x, 1, mask=m)" for name in ("cumsum", "cumprod", "softmax", "log_softmax",
      "softmin", "argmax", "argmin", "median", "logsumexp")),
    "M.argmax(x, mask=m)", "M.norm(x, float('-inf'), 1, mask=m)", "M.norm(x, 1.0, mask=m)",
    "M.normalize(x, 2.0, 1, mask=m)", "M.sum(x, (), mask=m)", "M.prod(x, [], mask=m)",
    "M.sum(x, dtype=T.float64, mask=m)",
    "M.var(x, 1, False, mask=m)", "M.std(x, correction=2, mask=m)",
    "M.logaddexp(x, x * 2, input_mask=m)", "M.logaddexp(x, x + 1, other_mask=m)",
    "M.mean(x, dtype=T.float64, mask=m)",
]  # fmt: skip
REFUSED = [
    "M.sum(x, 2)", "M.sum(x, (0, 0))", "M.sum(x, mask=T.ones(1, 2, 3))", "M.softmax(x, 5)",
    "M.var(x, 1, True, correction=1)", "M.masked_tensor(x, x > 0)", "M.cumsum(x)",
]  # fmt: skip


def answer(t, call, mask, dtype):
    x = t.tensor([[1.5, -2.0, 0.5], [3.0, 2.5, -1.0]]).to(getattr(t, dtype))
    floating = x.is_floating_point()
    if floating:
        x.requires_grad_()
    try:
        y = eval(call, {"T": t, "M": t.masked, "x": x, "m": eval(mask, {"T": t})})
    except (RuntimeError, ValueError, IndexError, TypeError, AssertionError) as error:
        return type(error).__name__
    found = [str(y.dtype).split(".")[-1], tuple(y.shape), y.detach().double().tolist()]
    if floating and y.requires_grad and "logaddexp" not in call:
        weights = t.arange(1.0, 1.0 + y.numel(), dtype=y.dtype).reshape(y.shape)
        kept = t.where(y.isfinite(), y * weights, 0).sum()
        found.append(t.autograd.grad(kept, x)[0].double().tolist())
    return found


def same(ours, theirs):
    if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    if isinstance(ours, float) and isinstance(theirs, float):
        return ours == pytest.approx(theirs, rel=1e-5, abs=1e-6, nan_ok=True)
    return ours == theirs


@pytest.mark.parametrize("dtype", ["float32", "int64"])
@pytest.mark.parametrize("mask", SHAPES)
@pytest.mark.parametrize("call", CALLS)
def test_like_torch(call, mask, dtype):
    if "inf" in call and dtype == "int64":
        return  # no int64 is infinite: torch raises where it fills
    theirs = ask(lambda t: answer(t, call, mask, dtype))
    assert same(answer(rushlight, call, mask, dtype), theirs)


@pytest.mark.parametrize("call", REFUSED[:-2] + REFUSED[-1:])
def test_refused_like_torch(call):
    assert answer(rushlight, call, "None", "float32") == ask(
        lambda t: answer(t, call, "None", "float32")
    )


def test_masked_tensors_are_not_there():
    with pytest.raises(NotImplementedError, match="dense"):
        rushlight.masked.masked_tensor(rushlight.ones(1), rushlight.ones(1) > 0)
    assert not rushlight.masked.is_masked_tensor(rushlight.ones(1))
