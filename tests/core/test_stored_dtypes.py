"""Dtypes that are only stored: complex numbers, numbers of 8 bits, wide unsigned integers. They are
made, cast, copied, viewed, printed, saved, exchanged; all else refuses all but complex ones."""

import hashlib
import io
import math
import operator
import pickle
import warnings

import pytest

import rushlight
from rushlight import _C
from tests.conftest import ask
from tests.ops.unsigned import OF_UNSIGNED

FLOATS = "float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu".split()
UNSIGNED = "uint16 uint32 uint64".split()
COMPLEX = "complex32 complex64 complex128".split()
CASTABLE = [*FLOATS, *UNSIGNED, *COMPLEX]
STORED = [*CASTABLE, "float4_e2m1fn_x2"]
COMPUTED = "float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 bool".split()
pytestmark = pytest.mark.filterwarnings("ignore:ComplexHalf support", "ignore:Casting complex")


def digest(torch, tensor):
    """Of the bytes of a tensor, in order."""
    data = tensor.contiguous().cpu().flatten().view(torch.uint8)
    return hashlib.sha256(bytes(data.tolist())).hexdigest()


def outcome(call, package):
    """What a call gives, as text, or the type and the first line of its error."""
    try:
        return repr(call(package))
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def of_all_bytes(torch, name, device="cpu"):
    return torch.arange(256, dtype=torch.uint8, device=device).view(getattr(torch, name))


@pytest.mark.parametrize("name", FLOATS)
def test_every_number_of_eight_bits(name, device):
    """Widened, and back: what every byte means."""

    def values(torch, device="cpu"):
        x = of_all_bytes(torch, name, device)
        wide = x.to(torch.float32)
        back = wide.to(x.dtype)
        return wide.tolist(), back.view(torch.uint8).tolist(), x.to(torch.bool).tolist()

    mine, theirs = values(rushlight, device), ask(values)
    for ours, expected in zip(mine, theirs, strict=True):
        assert list(map(str, ours)) == list(map(str, expected))


def hard_floats(torch):
    """All numbers of bfloat16, and the neighbours of every float8 and of every middle of two."""
    bits = torch.arange(65536, dtype=torch.int32) * 65536
    near = torch.cat([bits, bits + 1, bits - 1, bits + 32768, bits + 32767, bits + 32769])
    return near.view(torch.float32)


@pytest.mark.parametrize("to", FLOATS)
def test_rounding_and_saturation(to, device):
    def cast(torch, device="cpu"):
        x = hard_floats(torch).to(device)
        made = x.to(getattr(torch, to)).view(torch.uint8).cpu()
        nan = torch.isnan(x.cpu())  # the sign of a NaN is not defined
        return digest(torch, made[~nan])

    assert cast(rushlight, device) == ask(cast)


@pytest.mark.parametrize("name", CASTABLE)
@pytest.mark.parametrize("other", COMPUTED)
def test_casts_both_ways(name, other, device):
    def cast(torch, device="cpu"):
        source = torch.tensor([0, 1, 2, 3, 5, 100, 127], device=device).to(getattr(torch, other))
        there = source.to(getattr(torch, name))
        return digest(torch, there), there.to(getattr(torch, other)).tolist(), there.tolist()

    assert cast(rushlight, device) == ask(cast)


@pytest.mark.parametrize("name", UNSIGNED)
def test_casts_to_unsigned_integers(name, device):
    def cast(torch, device="cpu"):
        dtype = getattr(torch, name)
        numbers = torch.tensor([-1, -(2**31), 2**40 + 3, 2**63 - 1, 65535, 65536], device=device)
        floats = torch.tensor([1.9, 70000.5, 2.0**33, 1e19, 1.8e19, 0.0], device=device)
        wide = torch.tensor([2**16 - 1, 2**32 - 1, 2**64 - 1], dtype=torch.uint64, device=device)
        return (
            numbers.to(dtype).tolist(),
            floats.to(dtype).tolist(),
            floats.double().to(dtype).tolist(),
            wide.to(dtype).tolist(),
            wide.to(dtype).to(torch.float32).tolist(),
            wide.to(dtype).to(torch.int64).tolist(),
        )

    assert cast(rushlight, device) == ask(cast)


@pytest.mark.parametrize("a", CASTABLE)
@pytest.mark.parametrize("b", CASTABLE)
def test_casts_among_themselves(a, b):
    def cast(torch):
        x = torch.tensor([0.0, 1.0, 2.0, 4.0, 64.0]).to(getattr(torch, a))
        return x.to(getattr(torch, b)).tolist()

    assert cast(rushlight) == ask(cast)


@pytest.mark.parametrize("name", STORED)
def test_a_dtype(name):
    def described(torch):
        d = getattr(torch, name)
        words = repr(d), d.itemsize, d.is_complex, d.is_floating_point, d.is_signed
        x = torch.empty(2, dtype=d)
        kind = torch.is_complex(x), torch.is_floating_point(x), x.is_signed(), x.type()
        return words, kind, x.element_size(), x.nbytes, repr(d.to_real())

    assert described(rushlight) == ask(described)
    dtype = getattr(rushlight, name)
    assert pickle.loads(pickle.dumps(dtype)) is dtype


def test_other_names():
    names = "cfloat cdouble chalf".split()
    assert [repr(getattr(rushlight, n)) for n in names] == ask(
        lambda torch: [repr(getattr(torch, n)) for n in names]
    )


LIMITS = [(f"finfo({n})", n) for n in [*FLOATS, *COMPLEX]] + [(f"iinfo({n})", n) for n in UNSIGNED]


@pytest.mark.parametrize(("text", "name"), LIMITS)
def test_limits(text, name):
    def limits(torch):
        info = getattr(torch, text[:5])(getattr(torch, name))
        names = ["bits", "min", "max", "dtype"]
        names += ["eps", "tiny", "smallest_normal", "resolution"] if text[0] == "f" else []
        return repr(info), [getattr(info, n) for n in names]

    assert limits(rushlight) == ask(limits)


def test_promotion():
    names = [*COMPUTED, *STORED]

    def table(torch):
        found = {}
        for a in names:
            for b in names:
                x, y = getattr(torch, a), getattr(torch, b)
                text = outcome(lambda t, x=x, y=y: t.promote_types(x, y), torch)
                # two of torch's internal assertions are refusals here
                found[f"{a} {b}"] = text.split(":")[0] if "ASSERT" in text else text
                found[f"can {a} {b}"] = torch.can_cast(x, y)
        return found

    mine, theirs = table(rushlight), ask(table)
    for key, value in theirs.items():
        ours = mine[key] if value != "RuntimeError" else mine[key].split(":")[0]
        assert ours == value, key


MAKING = [
    "t.zeros(2, dtype=d)",
    "t.ones(2, 2, dtype=d)",
    "t.full((2,), 3, dtype=d)",
    "t.tensor([1, 2], dtype=d)",
    "t.tensor([[1.5, 2]], dtype=d)",
    "t.tensor(2, dtype=d).item()",
    "t.tensor([], dtype=d)",
    "t.eye(2, dtype=d)",
    "t.zeros(2, 0, dtype=d)",
    "t.zeros((), dtype=d)",
    "t.ones(3, dtype=d).new_full((2,), 2)",
    "t.ones_like(t.zeros(2), dtype=d)",
    "t.zeros(3, dtype=d).fill_(2)",
    "t.ones(3, dtype=d).zero_()",
    "t.ones(3, dtype=d).copy_(t.tensor([1, 2, 4]))",
    "t.ones(2, dtype=d).new_tensor([2, 4])",
    "t.as_tensor([1, 2], dtype=d)",
    "t.scalar_tensor(2, dtype=d)",
    "t.frombuffer(bytearray(range(1, 33)), dtype=d)",
    "t.tensor([1, 2, 4]).to(d)[1:]",
    "t.tensor([1, 2, 4]).to(d)[1].item()",
    "t.tensor([[1, 2], [4, 8]]).to(d).t().contiguous().tolist()",
    "t.tensor([[1, 2], [4, 8]]).to(d).flip(0)",
    "t.tensor([[1, 2], [4, 8]]).to(d).repeat(1, 2)",
    "t.tensor([[1, 2], [4, 8]]).to(d).roll(1, 0)",
    "t.cat([t.ones(2, dtype=d), t.zeros(1, dtype=d)])",
    "t.stack([t.ones(2, dtype=d), t.zeros(2, dtype=d)])",
    "t.tensor([[1, 2], [4, 8]]).to(d)[t.tensor([1, 0])]",
    "t.tensor([[1, 2], [4, 8]]).to(d)[t.tensor([[True, False], [False, True]])]",
    "[x := t.tensor([1, 2, 4]).to(d), x.__setitem__([2, 0], 1), x.tolist()][2]",
    "[x := t.tensor([1, 2, 4]).to(d), x.__setitem__(1, 1), x][2]",
    "t.ones(2, dtype=d).clone()",
    "t.ones(4, dtype=d).split(2)",
    "t.ones(2, dtype=d, requires_grad=True)",
    "t.empty(2, dtype=d, device='meta')",
    "t.zeros(2, dtype=d, device='meta').to(t.float32)",
    "bool(t.ones(1, dtype=d)), bool(t.zeros(1, dtype=d))",
    "int(t.tensor(3, dtype=d))",
    "float(t.tensor(2, dtype=d))",
    "complex(t.tensor(2, dtype=d))",
    "t.equal(t.ones(2, dtype=d), t.ones(2, dtype=d))",
    "t.equal(t.ones(2, dtype=d), t.zeros(2, dtype=d))",
    "t.ones(2, dtype=d).numpy()",
    "t.tensor(5, dtype=d).view(t.uint8)",
    "t.result_type(t.ones(2, dtype=d), 1)",
    "t.result_type(t.ones(2, dtype=d), 1.5)",
    "t.ones(2).to('cpu', d)",
]


@pytest.mark.parametrize("name", CASTABLE)
@pytest.mark.parametrize("text", MAKING)
def test_made_and_seen(text, name):
    code = compile(text, "call", "eval")

    def run(torch):
        return outcome(lambda t: eval(code, {"t": t, "d": getattr(t, name)}), torch)

    mine, theirs = run(rushlight), ask(run)
    refused = "not implemented for"
    assert mine == theirs or refused in theirs  # torch does not put those of some dtypes


@pytest.mark.parametrize("name", CASTABLE)
def test_on_a_device(name, device):
    d = getattr(rushlight, name)
    x = rushlight.tensor([[1, 2, 4], [8, 16, 32]], device=device).to(d)
    assert x.device.type == device[:4].rstrip(":") or x.is_cuda
    for y in (x.t(), x[:, 1:], x.t().contiguous(), x.cpu().to(device), x.flip(1), x.clone()):
        assert y.cpu().tolist() == y.tolist()
    assert x.t().contiguous().tolist() == [list(c) for c in zip(*x.tolist(), strict=True)]
    assert rushlight.cat([x, x]).tolist() == x.tolist() * 2
    assert rushlight.zeros(3, dtype=d, device=device).fill_(2).tolist() == [2, 2, 2]
    refused = (lambda: x + x, lambda: x.relu()) if name not in COMPLEX[1:] else (x.floor,)
    for call in refused:
        with pytest.raises(
            NotImplementedError, match=f"not implemented for '.*'\n.*{name}.* cast|parts"
        ):
            call()


def test_modules_and_the_default():
    for name in (*FLOATS, "complex32"):
        linear = rushlight.nn.Linear(1, 1).to(getattr(rushlight, name))
        assert linear.weight.dtype is getattr(rushlight, name) and linear.weight.requires_grad
        with pytest.raises(NotImplementedError, match=f"not implemented for.*\n.*{name}"):
            linear(rushlight.ones(1, 1, dtype=linear.weight.dtype))
    for name in STORED:
        with pytest.raises(TypeError, match=r"find storage object|only floating-point types"):
            rushlight.set_default_dtype(getattr(rushlight, name))
    assert rushlight.get_default_dtype() is rushlight.float32


def test_compared(device):
    for name in [*FLOATS[:4], *UNSIGNED]:
        x = rushlight.tensor([1, 2, 4], device=device).to(getattr(rushlight, name))
        assert (x == x.clone()).all() and not (x != x).any() | (x == 2.5).any()
        for found in (x == 2, rushlight.eq(x, 2), ~x.ne(2)):
            assert found.tolist() == [False, True, False]
        with pytest.raises(RuntimeError, match="Promotion for"):
            x == rushlight.ones(3, dtype=rushlight.int32, device=device)
    with pytest.raises(NotImplementedError, match=r"lt.*not implemented for 'ComplexFloat'"):
        rushlight.ones(2, dtype=rushlight.complex64) < 1


def test_numbers_beyond_int64():
    big = 2**64 - 1
    x = rushlight.tensor([1, big], dtype=rushlight.uint64)
    assert x.tolist() == [1, big] and int(x[1]) == big and x[1].item() == big
    assert range(10)[: x[0]] == range(1)
    with pytest.raises(OverflowError):
        rushlight.full((2,), x[1])
    for call in ("t.tensor([-1], dtype=t.uint64)", "t.tensor([2**64], dtype=t.uint64)",
                 "t.tensor([70000], dtype=t.uint16)", "t.tensor([-1], dtype=t.uint16)",
                 "t.zeros(2, dtype=t.uint16).fill_(-1)", "t.tensor(1j)", "t.tensor([1, 2.5, 1j])",
                 "t.tensor([1j], dtype=t.float32)", "t.tensor([1j], dtype=t.float8_e5m2)",
                 "t.tensor([1j, 2], dtype=t.complex128)"):  # fmt: skip

        def run(torch, call=call):
            return outcome(lambda t: eval(call, {"t": t}), torch)

        assert run(rushlight) == ask(run), call


PRINTED = [
    [1.5 + 2j, -3e10j],
    [1 + 2j, -3j],
    [[1e-5 + 2j, -3j], [complex(math.nan, 0), complex(0, math.inf)]],
    [complex(i / 7, -i) for i in range(40)],
    [[complex(i, j * 1e6) for i in range(30)] for j in range(40)],
    1.25 - 0.5j,
    [0j, -0.0j],
]


@pytest.mark.parametrize("at", range(len(PRINTED)))
def test_printed_complex_numbers(at):
    def shown(torch):
        return [repr(torch.tensor(PRINTED[at], dtype=getattr(torch, n))) for n in COMPLEX[1:]]

    assert shown(rushlight) == ask(shown)


def test_parts_of_complex_numbers():
    x = rushlight.tensor([[1 + 2j, 3 - 4j]])
    pairs = rushlight.view_as_real(x)
    assert pairs.tolist() == [[[1, 2], [3, -4]]] and pairs.dtype == rushlight.float32
    pairs[0, 0, 1] = 9
    assert x.tolist() == [[1 + 9j, 3 - 4j]] and x.imag.tolist() == [[9, -4]]
    x.real.fill_(7)
    assert rushlight.view_as_complex(pairs).tolist() == [[7 + 9j, 7 - 4j]]
    assert x.t().real.stride() == (2, 4) and x.is_complex() and not pairs.is_complex()

    def refused(torch):
        y = torch.ones(4, 2)
        calls = [
            lambda t: t.view_as_real(y),
            lambda t: t.view_as_complex(t.ones(3)),
            lambda t: t.view_as_complex(t.tensor(1.0)),
            lambda t: t.view_as_complex(y.t()[:2, :2]),
            lambda t: t.view_as_complex(t.ones(9)[1:9].view(4, 2)),
            lambda t: t.view_as_complex(t.ones(9).as_strided((2, 2), (3, 1))),
            lambda t: y.imag,
            lambda t: y.real is y,
        ]
        return [outcome(call, torch) for call in calls]

    assert refused(rushlight) == ask(refused)


def test_numpy_both_ways():
    numpy = pytest.importorskip("numpy")
    for name in [*UNSIGNED, *COMPLEX[1:]]:
        array = numpy.array([[1, 2], [3, 4]], dtype=name)
        x = rushlight.from_numpy(array)
        assert x.dtype is getattr(rushlight, name) and x.tolist() == array.tolist()
        x[0, 0] = 7
        assert array[0, 0] == 7 and x.numpy().dtype == array.dtype
        assert rushlight.tensor(array).tolist() == array.tolist()
        assert rushlight.tensor([array[0, 0]]).dtype is x.dtype
        assert (numpy.asarray(x) == array).all()
        assert rushlight.from_dlpack(x).tolist() == x.tolist()
        assert numpy.from_dlpack(x).tolist() == x.tolist()
    for name in ("complex32", *FLOATS):
        with pytest.raises(TypeError, match="Got unsupported ScalarType"):
            rushlight.ones(2, dtype=getattr(rushlight, name)).numpy()


def saved(torch, legacy=False):
    """A file with a tensor of every dtype."""
    made = {n: torch.tensor([1, 2, 4]).to(getattr(torch, n)) for n in CASTABLE}
    made["view"] = torch.arange(12).view(3, 4).to(torch.uint16)[1:, ::2]
    made["bits"] = torch.arange(4, dtype=torch.uint8).view(torch.float4_e2m1fn_x2)
    file = io.BytesIO()
    torch.save(made, file, _use_new_zipfile_serialization=not legacy)
    return file.getvalue()


def check_saved(torch, data):
    made = torch.load(io.BytesIO(data))
    for name in CASTABLE:
        assert made[name].dtype is getattr(torch, name) and made[name].tolist() == [1, 2, 4]
    assert made["view"].tolist() == [[4, 6], [8, 10]] and made["view"].stride() == (4, 2)
    assert made["bits"].view(torch.uint8).tolist() == [0, 1, 2, 3]
    return True


@pytest.mark.parametrize("legacy", [False, True])
def test_files_both_ways(legacy):
    data = saved(rushlight, legacy)
    assert check_saved(rushlight, data)
    assert check_saved(rushlight, ask(lambda torch: saved(torch, legacy)))


def test_torch_loads_our_file(peer):
    """PyTorch cannot read such dtypes from an old file, be it its own."""
    assert check_saved(peer, saved(rushlight))


def test_pickled_and_copied():
    import copy

    for name in CASTABLE:
        x = rushlight.tensor([1, 2, 4]).to(getattr(rushlight, name))
        for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
            assert y.dtype is x.dtype and y.tolist() == x.tolist()


# ---- all that computes


def index(t, x):
    return t.zeros(2, 2, dtype=t.int64, device=x.device)


def number(t, x):
    return t.ones(2, 2, device=x.device)


def mask(t, x):
    return t.ones(2, 2, dtype=t.bool, device=x.device)


FORMS = {
    "x": lambda t, x: (x,),
    "x, x": lambda t, x: (x, x),
    "x, x, x": lambda t, x: (x, x, x),
    "x, 0": lambda t, x: (x, 0),
    "x, 1.5": lambda t, x: (x, 1.5),
    "x, 0, i": lambda t, x: (x, 0, index(t, x)),
    "x, 0, i, x": lambda t, x: (x, 0, index(t, x), x),
    "n, x": lambda t, x: (number(t, x), x),
    "n, x, n": lambda t, x: (number(t, x), x, number(t, x)),
    "n, x, x, x": lambda t, x: (number(t, x), x, x, x),
    "i, x": lambda t, x: (index(t, x), x),
    "n, 0, x": lambda t, x: (number(t, x), 0, x),
    "[x, x]": lambda t, x: ([x, x],),
    "x, mask, x": lambda t, x: (x, mask(t, x), x),
    "mask, x, x": lambda t, x: (mask(t, x), x, x),
    "x, [2, 2]": lambda t, x: (x, [2, 2]),
}
# Rows of Python that move, look at, cast or compare what they are given, and nothing else.
HARMLESS = set(
    "__contains__ __dir__ __dlpack__ __dlpack_device__ __reduce_ex__ __repr__ __reversed__ "
    "adjoint alias_copy chain_matmul cosine_similarity dense_dim dequantize diagonal dim_order "
    "eq eq_ fill_diagonal_ hinge_embedding_loss is_inference is_shared is_storage matrix_rank "
    "module_load ne ne_ new not_equal not_equal_ pinv pinverse resize resize_as resize_as_ "
    "set_ share_memory_ sparse_coo_tensor to_sparse_csc to_sparse_csr sparse_dim storage "
    "sum_to_size sym_not to_dense type typename untyped_storage _is_view _shape_as_tensor "
    "_typed_storage".split()
) | {f"_cast_{name}" for name in "Byte Char Double Float Half Int Long Short".split()}
# Pointwise operations that have formulas of complex numbers: other rows say it, and those of Python
# are made of them. Compared with torch in ops/test_complex*.py.
OF_COMPLEX = set(
    "abs absolute add angle divide mul multiply neg negative reciprocal rsub sgn square sub "
    "subtract acos acosh addcdiv addcmul arccos arccosh arcsin arcsinh arctan arctanh asin "
    "asinh atan atanh cos cosh exp exp2 expm1 isfinite isinf isnan ldexp lerp log log10 log1p "
    "log2 logaddexp logical_and logical_not logical_or logical_xor rsqrt sigmoid silu sin sinc "
    "sinh softsign sqrt tan tanh".split()
)
# They change the process, or wait.
LEFT_OUT = {"_set_default_dtype", "_set_default_device"}


def home(torch, visible):
    return torch if visible == "torch" else operator.attrgetter(visible)(torch)


def entries():
    """(where, name, whether it takes such dtypes, whether complex ones) of all in the table."""
    for row in _C._rows():
        for where in row["visible"]:
            for name in (row["name"], *row["aliases"]):
                bare = name.removeprefix(where + "_") if where in ("special", "linalg") else name
                if name not in LEFT_OUT:
                    yield where, bare, row["stored"], row["complex"] or bool(row["module"])
        for where in row["in_place"]:
            of_complex = row["complex"] or bool(row["module"])
            yield where, row["name"] + "_", row["stored"], of_complex


@pytest.mark.parametrize("name", STORED)
def test_a_row_takes_it_or_refuses_it(name, device):
    """No call reads the bytes of such a tensor as other numbers, or beyond them: what a row gives
    that is not among those that take such dtypes is what torch gives."""
    given, count = {}, 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for where, function, takes, takes_complex in entries():
            takes |= takes_complex and name in COMPLEX
            call = getattr(home(rushlight, where), function, None)
            if call is None:  # of the Python layer alone
                call = getattr(_C, function, None)
            for form, arguments in FORMS.items() if call else ():
                x = rushlight.zeros(2, 2, dtype=getattr(rushlight, name), device=device)
                count += 1
                try:
                    result = call(*arguments(rushlight, x))
                except Exception:
                    continue
                if not takes:
                    given[f"{where}.{function}({form})"] = type(result)
    assert count > 10000
    names = {key.partition("(")[0].rpartition(".")[2].removesuffix("_") for key in given}
    of = OF_COMPLEX if name in COMPLEX else OF_UNSIGNED if name in UNSIGNED else set()
    allowed = {each.removesuffix("_") for each in HARMLESS | of}
    assert names <= allowed, sorted(names - allowed)
