"""unfold, fold and the shuffles against torch, and what they refuse."""

import pytest

import rushlight
from tests.ops.nn_compare import array, compare

OPTIONS = [(2,), (3, 1, 1), ((2, 3), (2, 1), (1, 2), (2, 3)), (1,), ((5, 6),), (3, 2, 2, 3)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_unfold(reference, device, options, dtype):
    compare(
        reference,
        lambda t, x: t.nn.functional.unfold(x, *options),
        [array((2, 3, 5, 6), 1)],
        device,
        dtype=dtype,
    )


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("batch", [(2,), ()])
def test_fold(reference, device, options, batch):
    shape = reference.nn.functional.unfold(reference.ones(*batch, 3, 5, 6), *options).shape
    compare(
        reference,
        lambda t, x: t.nn.functional.fold(x, (5, 6), *options),
        [array(tuple(shape), 1)],
        device,
    )


SHUFFLES = {
    "pixel_shuffle": ((2, 8, 3, 4), 2),
    "pixel_unshuffle": ((2, 2, 4, 6), 2),
    "channel_shuffle": ((2, 6, 3, 4), 3),
}


@pytest.mark.parametrize("name", SHUFFLES)
@pytest.mark.parametrize("trivial", [False, True])
def test_shuffles(reference, device, name, trivial):
    shape, factor = SHUFFLES[name]
    compare(
        reference,
        lambda t, x: getattr(t.nn.functional, name)(x, 1 if trivial else factor),
        [array(shape, 1)],
        device,
        node=False,
    )
    x = rushlight.ones(shape, device=device)
    y = getattr(rushlight, name)(x, 1)
    y += 1
    assert x.max() == 1  # the result is no view


def test_shuffles_keep_the_format(reference, on_device):
    for name, (shape, factor) in SHUFFLES.items():
        strides = []
        for library in (rushlight, reference):
            x = library.ones(shape).to(memory_format=library.channels_last)
            strides.append(getattr(library, name)(x, factor).stride())
        assert strides[0] == strides[1], name


def test_bool(reference, device):
    for library, where in ((rushlight, device), (reference, "cpu")):
        x = library.eye(3, dtype=library.bool, device=where).reshape(1, 1, 3, 3)
        columns = library.nn.functional.unfold(x, 2)
        assert columns.tolist()[0][0] == [True, False, False, True]
        whole = library.nn.functional.fold(columns, 3, 2)
        assert whole.tolist() == x.tolist()


@pytest.mark.parametrize(
    "call",
    [
        "unfold(x, 5)",
        "unfold(x, 0)",
        "unfold(x, 2, 1, -1)",
        "unfold(x, 2, 1, 0, 0)",
        "unfold(x, (2, 2, 2))",
        "unfold(x, 2, 2**62)",
        "unfold(x, 2, 1, 2**62)",
        "unfold(x, 2**40)",
        "unfold(x, 2**40, 1, 2**40)",
        "fold(x[0], 4, 5)",
        "fold(x[0], -4, 2)",
        "fold(x[0], 2**40, 2)",
        "fold(x[0, :, :, :0], 4, 2)",
        "pixel_shuffle(x, 2**40)",
        "pixel_unshuffle(x, 3)",
        "channel_shuffle(x, 0)",
    ],
)
def test_refuses(device, call):
    x = rushlight.ones(1, 4, 4, 4, device=device)
    with pytest.raises(RuntimeError):
        eval("F." + call, {"F": rushlight.nn.functional, "x": x})


def test_windows_that_do_not_fit_say_so(device):
    x = rushlight.ones(1, 4, 12, device=device)
    words = r"calculated shape of the array of sliding blocks as \(-4, -3\), which is too small"
    with pytest.raises(RuntimeError, match=words):
        rushlight.nn.functional.fold(x, (4, 5), (2, 2), dilation=(8, 8))
