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
def test_running_statistics(reference, dtype, on_device):
    kept = []
    for t in (rushlight, reference):
        x = t.tensor(array((6, 4, 5), 1).tolist(), dtype=getattr(t, dtype))
        mean, var = t.zeros(4, dtype=x.dtype), t.ones(4, dtype=x.dtype)
        t.batch_norm(x, None, None, mean, var, True, 0.25, 1e-5, False)
        kept.append((mean, var))
    for ours, theirs in zip(*kept, strict=True):
        close(ours, theirs, dtype)


@pytest.mark.parametrize("shape", [(1, 5000), (3, 2050), (7, 12), (20, 17)], ids=str)
def test_without_weights(reference, device, shape):
    """Long rows, and groups of several channels, are then normalised as they lie."""
    rows = array(shape, 1)
    compare(reference, lambda t, x: t.layer_norm(x, x.shape[1:]), [rows], device)
    images = rows.reshape(1, -1)[:, :84].reshape(2, 6, 7)
    compare(reference, lambda t, x: t.group_norm(x, 3), [images], device)
    compare(reference, lambda t, x: t.nn.functional.instance_norm(x), [images], device)


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
def test_wrong_calls_say_what_torch_says(reference, call, on_device):
    with pytest.raises(Exception) as theirs:
        call(reference)
    with pytest.raises(theirs.type) as ours:
        call(rushlight)
    assert str(ours.value).split("\n")[0] == str(theirs.value).split("\n")[0]


SHAPES = [((4, 6), (6,)), ((2, 3, 5), (3, 5)), ((7,), (7,))]


@pytest.mark.parametrize(("shape", "normalized"), SHAPES)
@pytest.mark.parametrize("affine", [False, True])
def test_rms_norm(reference, device, shape, normalized, affine):
    arrays = [array(shape, 1) + 0.5, *([array(normalized, 2)] if affine else [])]
    compare(
        reference, lambda t, x, w=None: t.rms_norm(x, normalized, w, 1e-3), arrays, device,
        node=False,
    )  # fmt: skip


@pytest.mark.filterwarnings("ignore:Mismatch dtype between input and weight")  # torch's own
@pytest.mark.parametrize("weight", ["float16", "float32", "float64", "int64"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_rms_norm_of_dtypes(reference, device, dtype, weight):
    found = []
    for t, where in ((rushlight, device), (reference, "cpu")):
        x = t.tensor(array((3, 40), 1).tolist(), dtype=getattr(t, dtype), device=where)
        w = t.tensor(array((40,), 2, 3).tolist(), device=where).to(getattr(t, weight))
        leaves = [x.requires_grad_(), *([w.requires_grad_()] if weight != "int64" else [])]
        out = t.nn.functional.rms_norm(x, (40,), w)
        found.append([out, *t.autograd.grad(out.float().square().sum(), leaves)])
    loosest = next(d for d in ("bfloat16", "float16", "float32") if d in (dtype, weight, "float32"))
    for ours, theirs in zip(*found, strict=True):
        close(ours, theirs, loosest)


@pytest.mark.parametrize("running", [False, True])
@pytest.mark.parametrize("affine", [False, True])
@pytest.mark.parametrize("shape", [(3, 4, 5), (2, 3, 8, 7), (1, 2, 2)])
def test_instance_norm(reference, device, shape, affine, running):
    arrays = [array(shape, 1), *([array((shape[1],), i) for i in (2, 3)] if affine else [])]
    kept = []

    def call(t, x, weight=None, bias=None):
        statistics = [
            t.full((shape[1],), v, dtype=x.dtype, device=x.device) if running else None
            for v in (0.5, 2.0)
        ]
        kept.append(statistics)
        return t.nn.functional.instance_norm(x, *statistics, weight, bias, eps=1e-3)

    compare(reference, call, arrays, device)
    for ours, theirs in zip(*kept, strict=True) if running else ():
        close(ours, theirs)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("shape", [(0, 3, 4), (2, 3, 0), (2, 0, 4), (0, 0, 0)])
@pytest.mark.parametrize("name", ["batch_norm", "instance_norm"])
def test_tensors_without_elements(reference, device, name, shape, training):
    found = []
    for t, where in ((rushlight, device), (reference, "cpu")):
        x = t.ones(*shape, device=where, requires_grad=True)
        w, b, mean, var = (t.full((shape[1],), v, device=where) for v in (1.0, 2.0, 3.0, 4.0))
        leaves = [x, w.requires_grad_(), b.requires_grad_()]
        if shape[1] == 0 or (name == "instance_norm" and shape[0] == 0):
            leaves = [x]  # torch raises an IndexError of its own with parameters
        parameters = leaves[1:] or [None, None]
        out = getattr(t.nn.functional, name)(x, mean, var, *parameters, training)
        grads = t.autograd.grad(out.sum(), leaves)
        found.append([out, mean, var, *grads])
    for ours, theirs in zip(*found, strict=True):
        close(ours, theirs, "float32")


def test_batch_norm_of_a_vector_without_elements(reference, on_device):
    for t in (rushlight, reference):
        x, statistics = t.ones(0, requires_grad=True), t.ones(3)
        out = t.nn.functional.batch_norm(x, statistics, statistics, training=True)
        assert out.shape == (0,) and out.requires_grad


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 9, 12])
@pytest.mark.parametrize("shape", [(2, 5, 3), (2, 4, 2, 3), (1, 3, 2, 1, 2)])
def test_local_response_norm(reference, device, shape, size):
    compare(
        reference, lambda t, x: t.nn.functional.local_response_norm(x, size, 0.5, 0.75, 2.0),
        [array(shape, 1)], device,
    )  # fmt: skip
