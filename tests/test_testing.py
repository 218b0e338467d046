"""torch.testing: the verdicts, messages and random numbers of torch."""

import numpy as np
import pytest

import rushlight
from tests.conftest import ask

CALLS = [
    "close(T([1., 2.]), T([1., 3.]))",
    "close(T([1., 2.]), T([1., 2.0000001]))",
    "close(T([1, 2]), T([1, 3]))",
    "close(T([1, 2]), T([1, 3]), rtol=0, atol=0.5)",
    "close(T([1., 2.]), T([1., 2., 3.]))",
    "close(T([1., 2.]), T([1., 2.], dtype=torch.float64))",
    "close(T([1., 2.]), T([1., 2.], dtype=torch.float64), check_dtype=False)",
    "close(T([1., 2.]), T([1., 3.], dtype=torch.float64), check_dtype=False)",
    "close(1.0, 2.0)",
    "close(1, 2)",
    "close(1, 1.0)",
    "close(True, False)",
    "close(1.0, 2.0, rtol=0, atol=0)",
    "close([1.0, 2.0], [1.0, 3.0])",
    "close([1.0], [1.0, 3.0])",
    "close({'a': T([1.])}, {'b': T([2.])})",
    "close({'a': [T([1.]), {'c': 3}]}, {'a': [T([1.]), {'c': 4}]})",
    "close(None, None)",
    "close(None, T([1.]))",
    "close('a', 'a')",
    "close([1, 'a'], [1, 'a'])",
    "close(object(), object())",
    "close(T([float('nan')]), T([float('nan')]))",
    "close(T([float('nan')]), T([float('nan')]), equal_nan=True)",
    "close(T([float('inf')]), T([float('inf')]))",
    "close(T([1., float('inf')]), T([1., 2.]))",
    "close(T([float('nan'), 1.]), T([1., 1.]))",
    "close(T(1.), T(2.))",
    "close(np.ones(2), np.ones(2) * 2)",
    "close(np.array([1, 2]), np.array([1, 3]))",
    "close(np.float64(1.0), 2.0)",
    "close(T([1.]), T([2.]), rtol=0.1)",
    "close(T([1.]), T([2.]), rtol=0.1, atol=0.1)",
    "close(T([1.]), T([2.]), msg='hello')",
    "close(T([1.]), T([2.]), msg=lambda m: 'pre ' + m)",
    "close(T([1.]).half(), T([2.]).half())",
    "close(T([1.]).bfloat16(), T([2.]).bfloat16())",
    "close(T([1.]).double(), T([2.]).double())",
    "close(torch.zeros(2, 3), torch.ones(2, 3))",
    "close(torch.zeros(2, 3), torch.zeros(3, 2).t(), check_stride=True)",
    "close(T([True, False]), T([True, True]))",
    "close(torch.zeros(0), torch.zeros(0))",
    "close(torch.zeros(2), torch.zeros(2, device='meta'))",
    "close(torch.zeros(2), torch.zeros(2, device='meta'), check_device=False)",
    "close(torch.nn.Parameter(T([1.])), T([1.]))",
    "close(T([255], dtype=torch.uint8), T([0], dtype=torch.uint8))",
    "close(T([0., 0.]), T([0., 0.1]))",
    "close(T([1 + 2j, 3]), T([1 + 2j, 3 + 4j]))",
    "close(T([1 + 2j, 3]), T([1 + 2.0000001j, 3]))",
    "close(T([1j]), T([1j + 1e-6], dtype=torch.complex128), check_dtype=False)",
    "close(T(1j), T(2j))",
    "close(1j, 2j)",
    "close(1j, 1j + 1e-9)",
    "close([1j], [1 + 1j])",
]


def outcome(torch, call):
    names = {"torch": torch, "T": torch.tensor, "np": np, "close": torch.testing.assert_close}
    try:
        return eval(call, names)
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("call", CALLS)
def test_assert_close_says_what_torch_says(reference, call):
    assert outcome(rushlight, call) == outcome(reference, call)


def test_assert_close_names_the_worst_element():
    with pytest.raises(AssertionError, match=r"2\.0 at index \(1, 0\) \(up to 1e-05 allowed\)"):
        rushlight.testing.assert_close(
            rushlight.tensor([[1.0], [5.0]]), rushlight.tensor([[2.0], [3.0]])
        )


def test_assert_close_across_virtual_gpus(virtual_gpus):
    a, b = rushlight.ones(2, device="cuda:1"), rushlight.ones(2)
    with pytest.raises(AssertionError, match="cuda:1 != cpu"):
        rushlight.testing.assert_close(a, b)
    rushlight.testing.assert_close(a, b, check_device=False)


@pytest.mark.parametrize(
    "arguments",
    [
        {"dtype": "float32"},
        {"dtype": "float16", "low": 2, "high": 3},
        {"dtype": "bool"},
        {"dtype": "uint8"},
        {"dtype": "int64", "low": -3, "high": 2, "exclude_zero": True},
        {"dtype": "int16", "low": -(10**9), "high": 10**9},
        {"dtype": "float32", "noncontiguous": True, "requires_grad": True},
        {"dtype": "complex64"},
        {"dtype": "complex128", "low": 2, "high": 3, "requires_grad": True},
        {"dtype": "uint16", "noncontiguous": True},
        {"dtype": "uint64", "low": 3, "high": 2**40},
        {"dtype": "float8_e5m2", "low": -1e30, "high": 1e30},
    ],
)
def test_make_tensor_gives_torchs_numbers(reference, arguments):
    made = []
    for torch in (reference, rushlight):
        torch.manual_seed(5)
        given = {**arguments, "dtype": getattr(torch, arguments["dtype"]), "device": "cpu"}
        made.append(torch.testing.make_tensor((3, 4), **given))
    theirs, ours = made
    assert ours.tolist() == theirs.tolist() and ours.stride() == theirs.stride()
    assert str(ours.dtype) == str(theirs.dtype) and ours.requires_grad == theirs.requires_grad


def test_make_tensor_of_halves_in_pairs():
    """Both parts are drawn as float16, as torch draws them (and it warns of the dtype)."""
    made = []
    for dtype in (rushlight.complex32, rushlight.float16):
        rushlight.manual_seed(5)
        shape = (3, 4) if dtype.is_complex else (3, 4, 2)
        made.append(rushlight.testing.make_tensor(shape, dtype=dtype, device="cpu"))
    assert rushlight.view_as_real(made[0]).equal(made[1])
    drawn = {"dtype": rushlight.complex32, "device": "cpu", "exclude_zero": True}
    zeros = rushlight.testing.make_tensor(3, low=0, high=1e-9, **drawn)
    assert rushlight.view_as_real(zeros)[:, 0].gt(0).all()


def test_make_tensor_of_one_number_warns():
    for dtype in (rushlight.float32, rushlight.complex64):
        with pytest.warns(FutureWarning, match="`low==high` to `torch.testing.make_tensor`"):
            made = rushlight.testing.make_tensor(3, dtype=dtype, device="cpu", low=2, high=2)
        assert made.tolist() == [complex(2, 2) if dtype.is_complex else 2.0] * 3


def test_make_tensor_of_nearly_all_numbers():
    made = rushlight.testing.make_tensor(
        100, dtype=rushlight.float64, device="cpu", low=-1.7e308, high=1.7e308
    )
    assert made.isfinite().all() and made.min() < -1e308 and made.max() > 1e308


@pytest.mark.parametrize(
    "arguments, kind, words",
    [
        ({"dtype": "int8", "requires_grad": True}, ValueError, "not supported for boolean and int"),
        ({"dtype": "int8", "low": 4, "high": 4}, ValueError, "less than `high`, but got 4 >= 4"),
        ({"dtype": "int8", "low": 300, "high": 400}, ValueError, r"only supports \[-128, 128\)"),
        ({"dtype": "float32", "low": float("nan")}, ValueError, "cannot be NaN"),
    ],
)
def test_make_tensor_refuses(arguments, kind, words):
    with pytest.raises(kind, match=words):
        given = {**arguments, "dtype": getattr(rushlight, arguments["dtype"]), "device": "cpu"}
        rushlight.testing.make_tensor(2, **given)


@pytest.mark.parametrize("name", "float16 bfloat16 float32 float64".split())
def test_finfo(reference, name):
    ours, theirs = (t.finfo(getattr(t, name)) for t in (rushlight, reference))
    assert repr(ours) == repr(theirs)
    for limit in "bits eps max min tiny smallest_normal resolution dtype".split():
        assert getattr(ours, limit) == getattr(theirs, limit)
    assert ours == rushlight.finfo(getattr(rushlight, name)) and ours != rushlight.finfo(
        rushlight.float16 if name != "float16" else rushlight.float32
    )


@pytest.mark.parametrize("name", "uint8 int8 int16 int32 int64".split())
def test_iinfo(reference, name):
    ours, theirs = (t.iinfo(getattr(t, name)) for t in (rushlight, reference))
    assert repr(ours) == repr(theirs)
    assert (ours.bits, ours.max, ours.min, ours.dtype) == (
        theirs.bits, theirs.max, theirs.min, theirs.dtype,
    )  # fmt: skip


@pytest.mark.parametrize("call", ["finfo(float)", "finfo(complex)", "iinfo(int)"])
def test_limits_of_python_numbers(call):
    assert repr(eval(f"rushlight.{call}")) == ask(lambda torch: repr(eval(f"torch.{call}")))


CASTS = """
torch.nn.Linear(2, 1).to(float).weight.dtype
torch.nn.Linear(2, 1).to("cpu", float).bias.dtype
torch.nn.Linear(2, 1).to(dtype=float).bias.dtype
torch.nn.Linear(2, 1).to(int)
torch.nn.Linear(2, 1).to(str)
torch.tensor([True, False]).type(torch.Tensor).dtype
torch.tensor([True, False]).type(torch.Tensor).tolist()
torch._C._nn._parse_to(float, True)
""".strip().splitlines()


@pytest.mark.parametrize("call", CASTS)
def test_casts_to_python_numbers(call):
    def said(torch):
        found = outcome(torch, call)
        return found[0].__name__ if isinstance(found, tuple) and len(found) == 2 else str(found)

    assert said(rushlight) == ask(said)


@pytest.mark.parametrize(
    "call", ["torch.finfo(torch.int8)", "torch.iinfo(torch.float32)", "torch.iinfo(torch.bool)",
             "torch.finfo(3)", "hash(torch.finfo(torch.float32))",
             "torch.finfo(int)", "torch.iinfo(float)", "torch.iinfo(bool)", "torch.finfo([])"],
)  # fmt: skip
def test_limits_of_the_wrong_dtype(call):
    (our_kind, our_text), (kind, text) = (
        outcome(rushlight, call),
        ask(lambda torch: outcome(torch, call)),
    )
    assert our_kind == kind and our_text.split("'")[0] == text.split("'")[0]
