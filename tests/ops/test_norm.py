"""Normalisations against torch, running statistics included."""

import pytest

import rushlight
from tests.ops.nn_compare import array, close, compare


@pytest.mark.parametrize("shape", [(6, 4), (3, 4, 5), (2, 3, 8, 7), (5, 70)])
@pytest.mark.parametrize("affine", [False, True])
def test_batch_norm_in_training(reference, device, shape, affine):
    extra = [array((shape[1],), 2), array((shape[1],), 3)] if affine else []

    def call(t, x, weight=None, bias=None):
        return t.batch_norm(x, weight, bias, None, None, True, 0.1, 1e-3, False)

    compare(reference, call, [array(shape, 1), *extra], device)


@pytest.mark.parametrize("shape", [(6, 4), (3, 4, 5)])
def test_running_statistics_on_devices(reference, device, shape):
    data, found = array(shape, 1).tolist(), []
    for t, place in ((rushlight, device), (reference, "cpu")):
        mean, var = (t.full((4,), v, device=place) for v in (0.5, 2.0))
        t.batch_norm(t.tensor(data, device=place), None, None, mean, var, True, 0.1, 1e-3, False)
        found.append(mean.tolist() + var.tolist())
    assert found[0] == pytest.approx(found[1], rel=1e-5)


def test_batch_norm_in_evaluation(reference, device):
    mean, var = array((4,), 5), abs(array((4,), 6)) + 0.1

    def call(t, x, weight, bias):
        m, v = (t.tensor(a.tolist(), dtype=t.float64, device=x.device) for a in (mean, var))
        return t.batch_norm(x, weight, bias, m, v, False, 0.1, 1e-3, False)

    compare(reference, call, [array((3, 4, 5), 1), array((4,), 2), array((4,), 3)], device)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_running_statistics(reference, dtype):
    kept = []
    for t in (rushlight, reference):
        x = t.tensor(array((6, 4, 5), 1).tolist(), dtype=getattr(t, dtype))
        mean, var = t.zeros(4, dtype=x.dtype), t.ones(4, dtype=x.dtype)
        t.batch_norm(x, None, None, mean, var, True, 0.25, 1e-5, False)
        kept.append((mean, var))
    for ours, theirs in zip(*kept, strict=True):
        close(ours, theirs, dtype)


@pytest.mark.parametrize(("shape", "normalized"), [((4, 6), (6,)), ((2, 3, 5), (3, 5))])
def test_layer_norm(reference, device, shape, normalized):
    arrays = [array(shape, 1), array(normalized, 2), array(normalized, 3)]
    compare(reference, lambda t, x, w, b: t.layer_norm(x, normalized, w, b, 1e-3), arrays, device)


@pytest.mark.parametrize("groups", [1, 2, 6])
def test_group_norm(reference, device, groups):
    arrays = [array((2, 6, 5), 1), array((6,), 2), array((6,), 3)]
    compare(reference, lambda t, x, w, b: t.group_norm(x, groups, w, b, 1e-3), arrays, device)


WRONG = [
    lambda t: t.batch_norm(t.zeros(2, 3), None, None, None, None, False, 0.1, 1e-5, False),
    lambda t: t.batch_norm(
        t.zeros(2, 3), None, None, t.zeros(4), t.zeros(4), False, 0.1, 1e-5, False
    ),
    lambda t: t.layer_norm(t.zeros(2, 3), (4,)),
    lambda t: t.group_norm(t.zeros(2, 3), 2),
]


@pytest.mark.parametrize("call", WRONG, ids=range(len(WRONG)))
def test_wrong_calls_say_what_torch_says(reference, call):
    with pytest.raises(Exception) as theirs:
        call(reference)
    with pytest.raises(theirs.type) as ours:
        call(rushlight)
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]
