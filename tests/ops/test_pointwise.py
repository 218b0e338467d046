"""One test of each kind for every op of kernels/pointwise_ops.h, read from the library's own table:
a new struct is checked once it is listed. A row in EXCEPTIONS says where torch is not the measure.

Values, dtypes and refusals against torch; gradients and double gradients by finite differences in
float64, without torch; in place, out=, layouts, promotion and the words of errors.
"""

import itertools
import random
import warnings

import pytest

import rushlight as rl
from rushlight import _C
from tests.compare import name_of, values_of
from tests.ops.pointwise_exempt import is_exempt

OPS = _C._pointwise_ops()
PUBLIC = [op for op in OPS if op["visible"]]
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64",
          "float16", "bfloat16", "float32", "float64"]  # fmt: skip
FLOATING = DTYPES[6:]
# Where torch rounds between the steps of a formula, or refuses in other words than its rule.
EXCEPTIONS = {
    "softsign": {"bool": "torch takes abs() first"},
    "hardtanh": {"uint8": "torch refuses negative limits"},
    "lerp": dict.fromkeys(DTYPES[:6], "torch names another kernel"),
}
# Where torch rounds to 16 bits between the steps: its float32 result, rounded once, is the measure.
ROUNDED_ONCE = ("special_ndtr", "special_i0e")


def by_name(ops):
    return pytest.mark.parametrize("op", ops, ids=lambda op: op["name"])


def of_dtypes(ops, dtypes):
    cases = [(op, d) for op in ops for d in dtypes if d not in EXCEPTIONS.get(op["name"], {})]
    ids = [f"{op['name']}-{dtype}" for op, dtype in cases]
    return pytest.mark.parametrize(("op", "dtype"), cases, ids=ids)


def values(op, dtype, seed=0, shape=(3, 8)):
    """Nested lists, one per input, in the op's domain and away from 0, where many have a kink."""
    rng = random.Random(seed)
    low, high = op["domain"]

    def draw(is_bool):
        if is_bool:
            return rng.random() < 0.5
        if "float" in dtype:
            return next(v for _ in iter(int, 1) if abs(v := rng.uniform(low, high)) > 0.05)
        return rng.choice([1, 2, 3, 5] if dtype == "uint8" else [-5, -3, -1, 1, 2, 4])

    return [
        [[draw(dtype == "bool" or op["bool_inputs"] >> i & 1) for _ in range(shape[1])]
         for _ in range(shape[0])]
        for i in range(op["inputs"])
    ]  # fmt: skip


def make(library, op, data, dtype, **more):
    return [
        library.tensor(v, dtype=library.bool if op["bool_inputs"] >> i & 1
                       else getattr(library, dtype), **more)
        for i, v in enumerate(data)
    ]  # fmt: skip


def theirs(reference, name):
    namespaces = (reference, reference.nn.functional, reference._C._nn, reference._C._special)
    return next(getattr(p, name) for p in namespaces if hasattr(p, name))


def expected_of(reference, op, dtype):
    """torch's function, as the measure for ours."""
    f = theirs(reference, op["name"])
    wider = "float32" if dtype in ("float16", "bfloat16") else "float64"
    rounds = op["name"] in ROUNDED_ONCE and wider == "float32"
    loops = "polynomial" in op["name"] and dtype == "float32"  # torch rounds at each degree
    if not (rounds or loops):
        return f
    up, down = getattr(reference, wider), getattr(reference, dtype)
    return lambda *args: f(*(x.to(up) for x in args)).to(down)


def ours(op):
    if "special" in op["visible"]:
        return getattr(rl.special, op["name"].removeprefix("special_"))
    return getattr(_C if hasattr(_C, op["name"]) else _C._nn, op["name"])


def outcome(f, *args, **kwargs):
    """(result, None), or (None, (type, first line)) of what it raised."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return f(*args, **kwargs), None
    except Exception as error:
        first = str(error).splitlines()[0].replace("_cuda", "_cpu")  # names of kernels
        return None, (type(error).__name__, first)


def twin(theirs):
    """torch's result as a tensor of ours."""
    dtype = getattr(rl, name_of(theirs.dtype))
    values = rl.tensor(values_of(theirs).tolist(), dtype=dtype, device="cpu")
    return values.reshape(tuple(theirs.shape))


def check_same(ours, expected):
    rl.testing.assert_close(ours.cpu(), expected, equal_nan=True)


def layouts(x):
    """The same kind of data, lying in memory in the ways that kernels treat apart."""
    yield x
    yield x.t()
    yield x.narrow(0, 0, 1).expand(5, 8)
    yield x.reshape(-1).narrow(0, 5, 19)
    yield x.as_strided((3, 4), (8, 2))
    yield x.narrow(0, 0, 0)
    yield x.select(0, 0).select(0, 0)


@of_dtypes(PUBLIC, DTYPES)
def test_values(op, dtype, device, reference):
    data = values(op, dtype)
    f, g = expected_of(reference, op, dtype), ours(op)
    x, y = make(reference, op, data, dtype), make(rl, op, data, dtype, device=device)
    expected, refusal = outcome(f, *x)
    wanted = [None] * 7 if refusal else layouts(twin(expected))
    for want, operands in zip(wanted, zip(*map(layouts, y), strict=True), strict=True):
        result, our_refusal = outcome(g, *operands)
        assert our_refusal == refusal
        if not refusal:
            check_same(result, want)


@of_dtypes([op for op in PUBLIC if op["takes"] not in ("integers", "shifts")], FLOATING)
def test_special_values(op, dtype, device, reference):
    if op["takes"] == "wide" and "16" in dtype:
        return  # refused, as test_values sees
    inf, nan = float("inf"), float("nan")
    points = [0.0, -0.0, inf, -inf, nan, 1, -1, 2, -2, 0.5, -0.5, 100, -100, 1e4, -1e4, 20.5, 88.8]
    points = points if op["inputs"] < 3 else [0.0, -0.0, inf, -inf, nan, 1, -2, 88.8]
    data = [list(v) for v in zip(*itertools.product(points, repeat=op["inputs"]), strict=True)]
    expected = expected_of(reference, op, dtype)(*make(reference, op, data, dtype))
    result = ours(op)(*make(rl, op, data, dtype, device=device))
    points = zip(*data, strict=True)
    exempt = [is_exempt(op["name"], dtype, *point) for point in
              zip(points, result.tolist(), expected.tolist(), strict=True)]  # fmt: skip
    wanted = [i for i, skipped in enumerate(exempt) if not skipped]
    assert len(wanted) > len(exempt) / 2
    check_same(result[wanted], twin(expected)[wanted])


@pytest.mark.parametrize("number", [2, -3, 2.5, True])
@by_name([op for op in PUBLIC if op["inputs"] == 2 and not op["tensors_only"]])
def test_numbers(op, number, on_device, reference):
    for dtype in DTYPES:
        if dtype == "bool" and op["name"] in ("clamp_min", "clamp_max"):
            continue  # torch has two kernels, of which one takes bool
        x = values(op, dtype)[0]
        given = reference.tensor(x, dtype=getattr(reference, dtype))
        expected, refusal = outcome(theirs(reference, op["name"]), given, number)
        result, our_refusal = outcome(ours(op), rl.tensor(x, dtype=getattr(rl, dtype)), number)
        assert our_refusal == refusal
        if not refusal:
            check_same(result, twin(expected))


# ---- gradients, without torch


def flat(t):
    return [v for row in t.tolist() for v in row]


def difference(f, data, which, h=1e-5):
    """df/d(data[which]) of an elementwise f, by central differences."""
    ends = []
    for step in (h, -h):
        moved = list(data)
        moved[which] = [[v + step for v in row] for row in data[which]]
        ends.append(flat(f(moved)))
    return [(a - b) / (2 * h) for a, b in zip(*ends, strict=True)]


def close(a, b, tolerance):
    return all(abs(x - y) <= tolerance * (1 + abs(y)) for x, y in zip(a, b, strict=True))


def with_gradient(op):
    first = 1 if op["no_gradient"] else 0
    return [i for i in range(first, op["inputs"]) if not op["bool_inputs"] >> i & 1]


PARAMETERS = {"n": 1.0, "p": 3.0, "is_bfloat16": 1.0, "eps": 0.05, "scale": 10.0, "divide": 0.0}


def parameters_of(op):
    names = [p.split("=") for p in op["signature"].split("(")[1][:-1].split(", ") if "=" in p]
    yield [float(default) for _, default in names]
    if names and op["name"] != "round_decimals":
        yield [PARAMETERS.get(name, 0.7 * float(default) + 0.1) for name, default in names]


@by_name([op for op in OPS if op["differentiable"]])
def test_gradients(op, device):
    smooth = op["name"] == "div" or not op["node"].startswith(
        ("Div", "Remainder", "Fmod", "Nextafter")
    )
    for parameters in parameters_of(op):
        data = values(op, "float64", seed=1)
        weights = rl.tensor(
            [[0.5 + 0.1 * i for i in range(8)]] * 3, dtype=rl.float64, device=device
        )

        def f(given, op=op, parameters=parameters, weights=weights):
            return _C._pointwise(op["name"], make(rl, op, given, "float64", device=device),
                                 parameters) * weights  # fmt: skip

        def gradients(given, create_graph=False, op=op, parameters=parameters, weights=weights):
            leaves = make(rl, op, given, "float64", device=device)
            wanted = [leaves[i] for i in with_gradient(op)]
            for t in wanted:
                t.requires_grad_()
            result = _C._pointwise(op["name"], leaves, parameters)
            assert result.grad_fn.name() == op["node"]
            return wanted, rl.autograd.grad(result, wanted, weights, create_graph=create_graph)

        inputs = with_gradient(op)
        _, kernel = gradients(data)
        leaves, graph = gradients(data, create_graph=True)
        for k, i in enumerate(inputs):
            assert close(flat(kernel[k]), flat(graph[k]), 1e-12), "the kernel is not the formula"
            if not smooth:
                continue
            assert close(flat(kernel[k]), difference(f, data, i), 2e-6), f"gradient {i}"
            for leaf, j in zip(leaves, inputs, strict=True):
                numeric = difference(lambda v, k=k: gradients(v)[1][k], data, j)
                second = None
                if graph[k].requires_grad:
                    second = rl.autograd.grad(
                        graph[k], [leaf], rl.ones_like(graph[k]), retain_graph=True,
                        allow_unused=True,
                    )[0]  # fmt: skip
                second = flat(second) if second is not None else [0.0] * 24
                assert close(second, numeric, 2e-5), f"second derivative {i}, {j}"


@by_name([op for op in OPS if op["differentiable"] and op["inputs"] > 1])
def test_gradient_of_broadcast_and_strided(op, on_device):
    parameters = next(parameters_of(op))
    data = values(op, "float64", seed=2)
    row = make(rl, op, data, "float64")
    whole = make(rl, op, data, "float64")
    row[-1] = row[-1].select(0, 1).clone()
    whole[-1] = row[-1].expand(3, 8).clone()
    floating = with_gradient(op)
    results = []
    for leaves in (row, whole, [t.t().contiguous().t() for t in whole]):
        for i in floating:
            leaves[i].requires_grad_()
        result = _C._pointwise(op["name"], leaves, parameters)
        wanted = [leaves[i] for i in floating]
        results.append(rl.autograd.grad(result, wanted, rl.ones_like(result)))
    for k, i in enumerate(floating):
        expected = results[1][k]
        assert close(flat(expected), flat(results[2][k]), 1e-12)
        if i == op["inputs"] - 1:
            columns = [sum(column) for column in zip(*expected.tolist(), strict=True)]
            assert close(results[0][k].tolist(), columns, 1e-12)
        else:
            assert close(flat(results[0][k]), flat(expected), 1e-12)


def test_gradients_stay_finite_far_out(on_device):
    for name in "sigmoid softplus silu elu tanh gelu mish logsigmoid celu".split():
        x = rl.tensor([0.0, -200.0, 200.0], requires_grad=True)
        one = rl.ones(3)
        (g,) = rl.autograd.grad(getattr(rl.nn.functional, name)(x), [x], one, create_graph=True)
        (second,) = rl.autograd.grad(g, [x], one)
        assert all(abs(v) < 10 for v in g.tolist() + second.tolist()), name


# ---- in place, out=


@by_name([op for op in PUBLIC if "method" in op["in_place"]])
def test_in_place(op, device):
    dtype = "int64" if op["takes"] in ("integers", "shifts") else "float64"
    data = values(op, dtype)
    x = make(rl, op, data, dtype, device=device)
    expected = ours(op)(*x)
    z = x[0].clone()
    pointer, version = z.data_ptr(), z._version
    assert getattr(z, op["name"] + "_")(*x[1:]) is z
    assert z.data_ptr() == pointer and z._version == version + 1
    assert z.tolist() == expected.to(z.dtype).tolist()
    if not op["differentiable"]:
        return
    leaf = make(rl, op, data, dtype, device=device)[0].requires_grad_()
    if op["no_gradient"]:
        result = ours(op)(leaf, *x[1:])
        with pytest.raises(NotImplementedError, match=f"derivative for '{op['no_gradient']}'"):
            rl.autograd.grad(result, [leaf], rl.ones_like(result))
        return
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        getattr(leaf, op["name"] + "_")(*x[1:])
    result = ours(op)(leaf, *x[1:])
    (plain,) = rl.autograd.grad(result, [leaf], rl.ones_like(result))
    z = leaf * 1
    getattr(z, op["name"] + "_")(*x[1:])
    assert z.grad_fn.name() == op["node"]
    (g,) = rl.autograd.grad(z, [leaf], rl.ones_like(z))
    assert close(flat(g), flat(plain), 1e-12)


@by_name([op for op in PUBLIC if op["visible"] != {"functional"} and op["name"] != "rsub"])
def test_out(op, device):
    dtype = "int64" if op["takes"] in ("integers", "shifts") else "float32"
    x = make(rl, op, values(op, dtype), dtype, device=device)
    f = ours(op)
    expected = f(*x)
    for out in (rl.empty(3, 8, dtype=expected.dtype, device=device),
                rl.empty(8, 3, dtype=expected.dtype, device=device).t(),
                rl.empty(0, dtype=expected.dtype, device=device)):  # fmt: skip
        assert f(*x, out=out) is out
        assert close(map(float, flat(out)), map(float, flat(expected)), 1e-6)
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        f(*x, out=rl.empty(5, dtype=expected.dtype, device=device))
    if op["exact"] and expected.dtype is rl.float32:
        with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
            f(*x, out=rl.empty(3, 8, dtype=rl.float64, device=device))
    elif expected.dtype is rl.float32:
        wide = f(*x, out=rl.empty(3, 8, dtype=rl.float64, device=device))
        assert wide.dtype is rl.float64
        with pytest.raises(RuntimeError, match="result type Float can't be cast"):
            f(*x, out=rl.empty(3, 8, dtype=rl.int64, device=device))


# ---- promotion


@pytest.mark.parametrize("name", ["add", "div", "pow", "maximum", "eq", "where", "xlogy"])
def test_promotion_of_every_pair(name, on_device, reference):
    def pair(library, a, b, shapes):
        x = library.ones(shapes[0], dtype=getattr(library, a))
        y = library.ones(shapes[1], dtype=getattr(library, b))
        lead = [library.tensor([True])] if name == "where" else []
        return getattr(library, name)(*lead, x, y)

    for a, b in itertools.product(DTYPES, DTYPES):
        for shapes in (((2,), (2,)), ((2,), ()), ((), (2,)), ((), ())):
            expected, refusal = outcome(pair, reference, a, b, shapes)
            result, ours = outcome(pair, rl, a, b, shapes)
            assert (ours and ours[0]) == (refusal and refusal[0]), (a, b, shapes)
            if not refusal:
                assert str(result.dtype) == str(expected.dtype), (a, b, shapes)


@pytest.mark.parametrize("expression", [
    "x + 1", "x + 1.5", "1 - x", "1.5 - x", "x * True", "x / 2", "2 / x", "x // 2", "7 // x",
    "x % 3", "-7 % x", "x ** 2", "x ** 3", "x ** 2.5", "2 ** x", "2.5 ** x", "x ** -1", "x ** 0.5",
    "x < 2", "2 <= x", "x == 1.0", "x != True", "x & 3", "6 | x", "x ^ 5", "x << 1", "x >> 1", "-x",
    "+x", "~x", "abs(x)", "x > -1", "x + 300", "x * -1",
])  # fmt: skip
def test_operators(expression, on_device, reference):
    for dtype in DTYPES:
        data = [True, False, True] if dtype == "bool" else [1, 2, 3]
        expected, refusal = outcome(
            eval, expression, {"x": reference.tensor(data, dtype=getattr(reference, dtype))}
        )
        result, ours = outcome(eval, expression, {"x": rl.tensor(data, dtype=getattr(rl, dtype))})
        assert ours == refusal, dtype
        if not refusal:
            check_same(result, twin(expected))


def test_default_dtype_decides_for_integers(on_device):
    rl.set_default_dtype(rl.float64)
    try:
        assert (rl.tensor([1, 2]) / 2).dtype is rl.float64
        assert rl.exp(rl.tensor([1])).dtype is rl.float64
        assert (rl.tensor([1]) + 0.5).dtype is rl.float64
    finally:
        rl.set_default_dtype(rl.float32)


def test_integers_wrap_and_zero_divisors_raise(on_device):
    x = rl.tensor([127, -128], dtype=rl.int8)
    assert (x + 1).tolist() == [-128, -127] and (-x).tolist() == [-127, -128]
    low = rl.tensor([-(2**63)])
    assert (low // -1).tolist() == [-(2**63)] and (low % -1).tolist() == [0]
    assert (low - 1).tolist() == [2**63 - 1]
    assert (rl.tensor([2**62 + 1]) * 1).tolist() == [2**62 + 1]
    for divide in (lambda a, b: a // b, lambda a, b: a % b, rl.fmod,
                   lambda a, b: rl.div(a, b, rounding_mode="trunc")):  # fmt: skip
        out = rl.tensor([5, 5])
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divide(rl.tensor([4, 4]), rl.tensor([2, 0]))
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            divide(rl.tensor([4, 4]), 0)
        assert out.tolist() == [5, 5]
    assert rl.isinf(rl.tensor([1.0]) // 0).item()


# ---- refusals


def test_words(on_device):
    x, square = rl.ones(3, 5), rl.ones(3, 3)
    leaf = rl.ones(3, requires_grad=True)
    R, T = RuntimeError, TypeError
    table = [
        (R, lambda: x + rl.ones(4), "The size of tensor a (5) must match the size of tensor b (4)"),
        (R, lambda: x.add_(rl.ones(2, 3, 5)), "doesn't match the broadcast shape [2, 3, 5]"),
        (R, lambda: rl.exp(leaf, out=rl.ones(3)), "don't support automatic differentiation"),
        (R, lambda: rl.ones(3, dtype=rl.int64).sigmoid_(), "result type Float can't be cast"),
        (R, lambda: rl.add(square, square.t(), out=square), "refer to a single memory location"),
        (
            R,
            lambda: x.narrow(0, 0, 1).expand(3, 5).add_(1),
            "more than one element of the written-to tensor",
        ),
        (R, lambda: rl.where(x, x, x), "where expected condition to be a boolean tensor"),
        (R, lambda: rl.add(rl.tensor([1]), 1, alpha=0.5), "must not be a floating point number"),
        (R, lambda: rl.tensor([2]) ** -1, "Integers to negative integer powers are not allowed"),
        (R, lambda: rl.clamp(x), "At least one of 'min' or 'max' must not be None"),
        (R, lambda: rl.div(x, 2, rounding_mode="up"), "div expected rounding_mode to be one of"),
        (R, lambda: x.masked_fill(x, 0), "masked_fill_ only supports boolean masks"),
        (T, lambda: rl.sigmoid(3), "argument 'input' (position 1) must be Tensor, not int"),
        (T, lambda: rl.add(x, "1"), "argument 'other' (position 2) must be Tensor, not str"),
        (T, lambda: x.add("1"), "argument 'other' (position 1) must be Tensor, not str"),
        (T, lambda: rl.exp(x, x, x), "takes 1 positional argument but 3 were given"),
        (T, lambda: rl.exp(x, dim=1), "got an unexpected keyword argument 'dim'"),
        (T, lambda: x + "1", "unsupported operand type(s) for +: 'Tensor' and 'str'"),
        (T, lambda: x < "1", "'<' not supported between instances of 'Tensor' and 'str'"),
        (T, lambda: ~x, "only implemented on integer and Boolean-type tensors"),
    ]
    for kind, call, words in table:
        with pytest.raises(kind) as caught:
            call()
        assert words in str(caught.value)
    assert (x == None) is False and (x != "a") is True  # noqa: E711


def test_what_backward_saved_may_not_change(on_device):
    leaf = rl.ones(3, requires_grad=True)
    y = leaf.sigmoid()
    y.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.backward(rl.ones(3))
    # only what a wanted gradient reads is saved: the weight may move
    constant, w = rl.ones(3), rl.ones(3, requires_grad=True)
    result = w * constant
    with rl.no_grad():
        w.add_(1)
    result.backward(constant)
    assert w.grad.tolist() == [1, 1, 1]
    result = leaf.exp()
    result.backward(constant)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        result.backward(constant)


def test_layout_of_results(on_device):
    """As torch: a result lies in memory as its inputs do."""
    x = rl.ones(2, 3, 4).permute(2, 0, 1)
    assert (x + x).stride() == x.stride() == rl.exp(x).stride()
    assert (x + rl.ones(4, 2, 3)).shape == (4, 2, 3)
    assert (rl.ones(3, 1) + rl.ones(4)).stride() == (4, 1)
    y = rl.arange(10.0)
    y.as_strided((5,), (2,)).add_(y.as_strided((5,), (2,), 1))  # interleaved: no element is shared
    assert y.tolist() == [1, 1, 5, 3, 9, 5, 13, 7, 17, 9]


# On a GPU four neighbours of dense floats go through one thread, whatever mixture of types: the
# same as on the CPU, with and without a tail, and where a storage begins in between.
@pytest.mark.parametrize("n", [1, 4, 7, 1030])
@pytest.mark.parametrize("out", ["float32", "float16", "bfloat16"])
def test_dense_floats_of_mixed_types(device, n, out):
    values = (rl.arange(n + 8) * 37 % 211 - 100) / 8
    for left in (rl.float32, rl.float16, rl.bfloat16):
        for right in (rl.float32, rl.float16, rl.bfloat16):
            for start in (0, 1, 4):
                a = values.to(left)[start : start + n]
                b = values.flip(0).to(right)[:n]
                wanted = rl.empty(n, dtype=getattr(rl, out))
                rl.mul(a, b, out=wanted)
                found = rl.full((n + 4,), 9, dtype=getattr(rl, out), device=device)
                on_device = values.to(left).to(device)[start : start + n]
                rl.mul(on_device, b.to(device), out=found[:n])
                assert found.tolist() == [*wanted.tolist(), 9, 9, 9, 9]
                assert (on_device * 3 > b.to(device)).tolist() == (a * 3 > b).tolist()
