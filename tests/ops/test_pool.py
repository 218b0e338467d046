"""Pooling against torch: windows, indices, ties and NaN, gradients of gradients."""

import re

import pytest

import rushlight
from tests.conftest import ask
from tests.ops.nn_compare import array, close, compare

OPTIONS = [(2,), (3, 2), (3, 1, 1), ((3, 2), (2, 1), (1, 0)), (2, 2, 0, 2), (3, 2, 1, 1, True)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_max_pool2d(reference, device, options, dtype):
    compare(
        reference,
        lambda t, x: t.nn.functional.max_pool2d(x, *options),
        [array((2, 3, 8, 7), 1)],
        device,
        dtype=dtype,
    )


def test_max_pool_indices(reference, device):
    x = array((2, 3, 8, 7), 1).round()
    mine = rushlight.tensor(x.tolist(), device=device)
    ours = rushlight.nn.functional.max_pool2d_with_indices(mine, 3, 2)
    theirs = reference.nn.functional.max_pool2d(
        reference.tensor(x.tolist()), 3, 2, return_indices=True
    )
    for a, b in zip(ours, theirs, strict=True):
        close(a, b, "float32")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_wins(reference, device, dtype):
    x = [[[1.0, float("nan"), 2.0, 3.0], [4.0, 5.0, float("nan"), 1.0]]]
    mine = rushlight.tensor(x, dtype=getattr(rushlight, dtype), device=device)
    ours = rushlight._C.max_pool2d(mine, 2)
    theirs = reference.max_pool2d(reference.tensor(x, dtype=getattr(reference, dtype)), 2)
    assert str(ours.tolist()) == str(theirs.tolist())


AVERAGES = [(2,), (3, 2, 1), (3, 2, 1, True), (3, 2, 1, True, False), (2, 1, 0, False, True, 3)]


@pytest.mark.parametrize("options", AVERAGES, ids=str)
def test_avg_pool2d(reference, device, options):
    compare(
        reference,
        lambda t, x: t.nn.functional.avg_pool2d(x, *options),
        [array((2, 3, 8, 7), 1)],
        device,
    )


@pytest.mark.parametrize("width", [2, 3, 13, 14, 15, 16, 17, 30])
@pytest.mark.parametrize("options", AVERAGES[:4], ids=str)
def test_avg_pool2d_of_narrow_and_wide_images(reference, device, options, width):
    """A few results in a row are computed one by one, more of them along the row."""
    compare(
        reference,
        lambda t, x: t.nn.functional.avg_pool2d(x, *options),
        [array((3, 2, 5, width), 1)],
        device,
    )


@pytest.mark.parametrize("size", [1, 3, (2, 5), 9])
def test_adaptive(reference, device, size):
    full = size if isinstance(size, tuple) else (size, size)
    compare(
        reference,
        lambda t, x: t.nn.functional.adaptive_avg_pool2d(x, full),
        [array((2, 3, 8, 7), 1)],
        device,
    )
    compare(
        reference,
        lambda t, x: t.nn.functional.adaptive_max_pool2d(x, full),
        [array((2, 3, 8, 7), 1)],
        device,
    )


@pytest.mark.parametrize("rank", [2, 3])
def test_a_plane_has_its_mean_to_the_last_bit(device, rank):
    x = rushlight.tensor(array((2, 64, *(30,) * rank), 1), dtype=rushlight.float32, device=device)
    dims = tuple(range(-rank, 0))
    pooled = getattr(rushlight.nn.functional, f"adaptive_avg_pool{rank}d")(x, 1)
    assert rushlight.equal(pooled, x.mean(dims, keepdim=True))


def test_one_dimension(reference, device):
    x = [array((2, 3, 9), 1)]
    for name in ("max_pool1d", "avg_pool1d"):
        compare(
            reference,
            lambda t, x, name=name: getattr(t.nn.functional, name)(x, 3, 2, 1),
            x,
            device,
            node=False,
        )


@pytest.mark.parametrize(
    "call",
    [
        "avg_pool1d(x[0], 3, 2, 1)",
        "avg_pool2d(x, 3, 2, 1, ceil_mode=True, count_include_pad=False)",
        "avg_pool2d(x, 2, divisor_override=-1)",
        "avg_pool3d(x.unsqueeze(2), (1, 3, 2), padding=(0, 1, 1))",
        "max_pool2d(x, 3, 2, 1)",
        "max_pool3d(x.unsqueeze(2), (1, 2, 2), return_indices=True)[1]",
        "conv2d(x, x[:, :, :3, :3], x[:, 0, 0, 0], stride=2, padding=1)",
        "conv_transpose2d(x, x[:2, :, :2, :3], stride=2, padding=1)",
    ],
)
def test_integers(reference, call, device):
    """On the CPU, as torch: sums wrap around, means are truncated. A GPU refuses them."""
    values = [(7919 * i) % 2003 - 1000 for i in range(2 * 2 * 7 * 5)]
    results = []
    for library in (rushlight, reference):
        x = library.tensor(values).reshape(2, 2, 7, 5) * (1 << 40)
        results.append(eval("F." + call, {"F": library.nn.functional, "x": x}).tolist())
    assert results[0] == results[1]
    if device != "cpu":
        with pytest.raises(NotImplementedError, match="not implemented for 'Long'"):
            names = {"F": rushlight.nn.functional}
            eval("F." + call, names | {"x": rushlight.ones(2, 2, 7, 5, device=device).long()})


VOLUMES = {
    "max_pool3d(x, 2)": True,
    "max_pool3d(x, (2, 3, 1), (1, 2, 2), (1, 1, 0), ceil_mode=True)": True,
    "max_pool3d(x, 2, 1, 1, 2)": True,
    "avg_pool3d(x, (3, 2, 2), 2, (1, 0, 1), True, False)": True,
    "avg_pool3d(x, 2, divisor_override=-3)": True,
    "adaptive_avg_pool3d(x, (2, None, 3))": True,
    "adaptive_avg_pool3d(x, 1)": False,
    "adaptive_max_pool3d(x, (2, 3, 2))": True,
    "lp_pool3d(x.abs() + 0.5, 2, 2)": True,
    "fractional_max_pool3d(x, 2, (2, 3, 3), _random_samples=u)": True,
    "max_unpool3d(*max_pool3d(x, 2, return_indices=True), 2, output_size=(5, 6, 7))": True,
    "interpolate(x, (3, 4, 9), mode='area')": True,
}


@pytest.mark.parametrize("call", VOLUMES)
def test_three_dimensions(reference, device, call):
    """Values, gradients, second gradients; contiguous, so that a view of the result works."""

    def run(t, x):
        names = {n: getattr(t.nn.functional, n) for n in re.findall(r"\w+pool\w+", call)}
        u = t.arange(2 * 3 * 3, dtype=x.dtype, device=x.device).reshape(2, 3, 3) / 18
        names["interpolate"] = t.nn.functional.interpolate
        out = eval(call, names, {"x": x, "u": u})
        assert out.is_contiguous()
        return out

    compare(
        reference,
        run,
        [array((2, 3, 5, 6, 7), 1)],
        device,
        node=None if VOLUMES[call] else "MeanBackward1",
    )


@pytest.mark.parametrize("rank", [2, 3])
def test_channels_last(reference, rank, on_device):
    """Results keep the format of their input where torch's do."""
    calls = ["max_pool{}d(x, 2, return_indices=True)", "avg_pool{}d(x, 2)"]
    calls += ["adaptive_avg_pool{}d(x, 2)", "adaptive_max_pool{}d(x, 2, return_indices=True)"]
    for call in calls:
        strides = []
        for library in (rushlight, reference):
            form = library.channels_last if rank == 2 else library.channels_last_3d
            x = library.arange(2 * 3 * 4**rank).reshape(2, 3, *[4] * rank).float()
            out = eval(
                "F." + call.format(rank),
                {"F": library.nn.functional, "x": x.to(memory_format=form)},
            )
            out = out if isinstance(out, tuple) else (out,)
            strides.append([(o.stride(), o.flatten().tolist()) for o in out])
        assert strides[0] == strides[1], call


def test_a_network_of_three_dimensions(device):
    x = rushlight.ones(2, 1, 6, 6, 6, device=device)
    y = rushlight.nn.MaxPool3d(2)(rushlight.nn.Conv3d(1, 2, 3).to(device)(x))
    assert y.view(2, -1).shape == (2, 16)


@pytest.mark.parametrize("sample", [-5.0, 0.0, 0.999, 1.0, 5.0, 1e30, float("nan")])
def test_fractional_windows_lie_inside(device, sample):
    x = rushlight.arange(36.0, device=device).reshape(1, 6, 6)
    u = rushlight.full((1, 1, 2), sample, device=device)
    F = rushlight.nn.functional
    out, index = F.fractional_max_pool2d(x, 2, 3, return_indices=True, _random_samples=u)
    assert rushlight.equal(x.flatten()[index.flatten()], out.flatten())


def test_padding_far_beyond_the_input(device):
    """Windows of 2^40 elements, nearly all padding, are not walked through."""
    x = rushlight.tensor([[1.0, 3.0, 2.0]], device=device)
    k = 2**40
    assert rushlight.max_pool1d(x, k, 1, k // 2 - 1).tolist() == [[3.0, 3.0]]


@pytest.mark.parametrize("stride", [0, -1, (2, 2, 0)])
def test_unpooling_of_volumes_refuses_such_strides(device, stride):
    x = rushlight.ones(1, 2, 2, 2, device=device)
    with pytest.raises(RuntimeError, match="strides should be greater than zero, but got stride"):
        rushlight.nn.functional.max_unpool3d(x, rushlight.zeros_like(x).long(), 2, stride)


def test_unpooling_refuses_indices_outside(device):
    if device == "cpu":
        with pytest.raises(RuntimeError, match="invalid max index: 99"):
            at = rushlight.tensor([[[0, 99], [1, 2]]])
            rushlight.nn.functional.max_unpool2d(rushlight.ones(1, 2, 2), at, 2)


@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("kind", ["avg", "max"])
def test_adaptive_pooling_of_nothing(device, kind, rank):
    """Where torch refuses a dimension without elements: not every one of no channels."""

    def said(library, where="cpu"):
        pool = getattr(library.nn.functional, f"adaptive_{kind}_pool{rank}d")
        answers = []
        for sizes in ((0, 2, *[5] * rank), (1, 0, *[5] * rank), (0, *[5] * rank)):
            try:
                answers.append(list(pool(library.ones(sizes, device=where), 2).shape))
            except RuntimeError as error:
                answers.append(str(error).split(" but ")[0])
        return answers

    assert said(rushlight, device) == ask(said)


@pytest.mark.parametrize("kind", ["avg", "max"])
@pytest.mark.parametrize("rank, size", [(1, 0), (2, (0, 2)), (3, (2, 1, 0))])
def test_no_gradient_of_adaptive_pooling_without_results(reference, device, kind, rank, size):
    def refused(t, device="cpu"):
        x = t.ones(1, 2, *range(3, 3 + rank), device=device, requires_grad=True)
        pooled = getattr(t.nn.functional, f"adaptive_{kind}_pool{rank}d")(x, size)
        try:
            pooled.sum().backward()
        except RuntimeError as error:
            return str(error).split(", but")[0]
        return None

    assert refused(rushlight, device) == refused(reference) is not None
