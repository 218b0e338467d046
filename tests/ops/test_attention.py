"""Attention against torch, and against its formula written with ops."""

import math

import pytest

import rushlight
from tests.emulator import EMULATED
from tests.ops.nn_compare import array, close, compare

attend = rushlight.nn.functional.scaled_dot_product_attention


def formula(q, k, v, mask=None, causal=False, scale=None):
    """The whole matrix of weights, for operands of one shape but for lengths."""
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1)) if scale is None else scale)
    if causal:
        ones = rushlight.ones(scores.shape[-2:], dtype=rushlight.bool, device=q.device)
        scores = scores.masked_fill(~ones.tril(), -math.inf)
    if mask is not None and mask.dtype == rushlight.bool:
        scores = scores.masked_fill(~mask, -math.inf)
    elif mask is not None:
        scores = scores + mask
    weights = scores.softmax(-1).nan_to_num(0.0)
    return weights @ v


def tensor(shape, seed, device, dtype=rushlight.float64):
    t = rushlight.tensor(array(shape, seed).reshape(-1).tolist(), dtype=dtype, device=device)
    return t.reshape(shape)


def operands(l, s, device, batch=(2, 3), e=5, v=5, dtype=rushlight.float64):  # noqa: E741
    shapes = [(*batch, l, e), (*batch, s, e), (*batch, s, v)]
    return [tensor(shape, i, device, dtype) for i, shape in enumerate(shapes)]


def check_gradients(call, reference, inputs):
    """Values, gradients and second gradients."""
    found = []
    for f in (call, reference):
        leaves = [t.detach().clone().requires_grad_() for t in inputs]
        out = f(*leaves)
        weight = tensor(out.shape, 9, out.device, out.dtype)
        plain = rushlight.autograd.grad(out, leaves, weight, retain_graph=True)
        grads = rushlight.autograd.grad(out, leaves, weight, create_graph=True)
        along = sum((g * tensor(g.shape, i, g.device)).sum() for i, g in enumerate(grads))
        twice = rushlight.autograd.grad(along, leaves, allow_unused=True)
        found.append([out, *plain, *grads, *(t for t in twice if t is not None)])
    assert len(found[0]) == len(found[1])
    for ours, wanted in zip(*found, strict=True):
        rushlight.testing.assert_close(ours, wanted, rtol=1e-9, atol=1e-10)


# The blocks of the CPU's kernel have 128 queries and 256 keys, a GPU's tiles 32 of both.
LENGTHS = [(1, 1), (3, 7), (33, 40), (130, 5), (7, 300)]


@pytest.mark.parametrize(("l", "s"), LENGTHS)
@pytest.mark.parametrize("causal", [False, True])
def test_formula(device, l, s, causal):  # noqa: E741
    check_gradients(
        lambda q, k, v: attend(q, k, v, is_causal=causal),
        lambda q, k, v: formula(q, k, v, causal=causal),
        operands(l, s, device, batch=(1, 2)),
    )


MASKS = [(4, 6), (1, 6), (4, 1), (3, 4, 6), (2, 1, 4, 6), (2, 3, 4, 6), (2, 1, 1, 6), (1, 1, 1, 1)]


@pytest.mark.parametrize("shape", MASKS)
def test_masks_and_their_gradients(device, shape):
    q, k, v = operands(4, 6, device, v=7)
    check_gradients(attend, formula, [q, k, v, tensor(shape, 4, device)])
    allowed = tensor(shape, 4, device) > 0
    check_gradients(
        lambda q, k, v: attend(q, k, v, allowed), lambda q, k, v: formula(q, k, v, allowed),
        [q, k, v],
    )  # fmt: skip


def test_mask_of_many_blocks(device):
    mask = tensor((2, 1, 1, 300), 3, device)
    check_gradients(attend, formula, [*operands(35, 300, device, batch=(2, 2)), mask])


@pytest.mark.parametrize("kind", ["bool", "float"])
def test_queries_that_may_attend_to_nothing(device, kind):
    q, k, v = (t.requires_grad_() for t in operands(3, 4, device))
    mask = rushlight.zeros(3, 4, dtype=rushlight.bool, device=device)
    mask[1] = True
    if kind == "float":
        mask = rushlight.zeros(3, 4, dtype=q.dtype, device=device).masked_fill(~mask, -math.inf)
    out = attend(q, k, v, mask)
    assert (out[..., 0, :] == 0).all() and (out[..., 1, :] != 0).all()
    first = rushlight.autograd.grad(out.sum(), (q, k, v), retain_graph=True)
    second = rushlight.autograd.grad(out.sum(), (q, k, v), create_graph=True)
    for a, b in zip(first, second, strict=True):
        assert a.isfinite().all()
        rushlight.testing.assert_close(a, b)
    assert (first[0][..., 0, :] == 0).all()


@pytest.mark.parametrize("heads", [(6, 2, 2), (6, 3, 2), (4, 1, 1), (2, 2, 2)])
def test_grouped_queries(device, heads):
    sizes = [(2, n, 4 + (i > 0), 5) for i, n in enumerate(heads)]
    inputs = [tensor(shape, i, device) for i, shape in enumerate(sizes)]

    def repeated(q, k, v):
        k, v = (t.repeat_interleave(q.size(1) // t.size(1), 1) for t in (k, v))
        return formula(q, k, v)

    check_gradients(lambda *t: attend(*t, enable_gqa=True), repeated, inputs)


@pytest.mark.parametrize(
    "batches",
    [((2, 3), (1, 3), (2, 1)), ((), (), ()), ((3,), (3,), (3,)), ((2, 1, 2), (2,), (3, 2))],
)
def test_leading_dimensions_broadcast(reference, device, batches):
    arrays = [array((*b, n, 5), i) for i, (b, n) in enumerate(zip(batches, (4, 6, 6), strict=True))]
    compare(
        reference,
        lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(q, k, v),
        arrays, device, second=False, node=False,
    )  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("causal", [False, True])
def test_dtypes(reference, device, dtype, causal):
    compare(
        reference,
        lambda t, q, k, v: t.nn.functional.scaled_dot_product_attention(
            q, k, v, is_causal=causal, scale=0.3
        ),
        [array((2, 2, n, 8), i) for i, n in enumerate((9, 9, 9))],
        device, dtype, second=False, node=False,
    )  # fmt: skip


@pytest.mark.parametrize(
    "mask,causal,dropout",
    [(None, False, 0.0), (None, True, 0.0), (None, False, 0.5), ("bool", False, 0.0),
     ("float", False, 0.0), ("float", False, 0.3)],
)  # fmt: skip
@pytest.mark.parametrize("length,keys", [(300, 300), (129, 600), (64, 64), (20, 1100)])
@pytest.mark.parametrize("features,of_value,kv_heads", [(40, 40, 4), (70, 33, 2), (64, 64, 1)])
def test_bfloat16_of_several_blocks(
    device, length, keys, features, of_value, kv_heads, mask, causal, dropout
):
    """The processor's own products of bfloat16 may round the weights, not more."""
    T = rushlight
    if EMULATED:  # it has no such products
        length, keys = min(length, 20), min(keys, 40)
    T.manual_seed(1)
    sizes = [(4, length, features), (kv_heads, keys, features), (kv_heads, keys, of_value)]
    given = [T.randn(1, *size, device=device).bfloat16() for size in sizes]
    bias = T.randn(length, keys, device=device)
    masks = {None: None, "float": bias, "bool": bias < 1}
    options = {"attn_mask": masks[mask], "dropout_p": dropout, "is_causal": causal}

    def attend(q, k, v):
        T.manual_seed(2)
        return T.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True, **options)

    results = []
    for kind in (T.bfloat16, T.float32):
        q, k, v = (x.to(kind).requires_grad_() for x in given)
        out = attend(q, k, v)
        seed = T.ones_like(out).cumsum(-1).remainder(3) - 1
        results.append([out, *T.autograd.grad(out, (q, k, v), seed)])
        with T.no_grad():  # need not keep the unrounded result
            assert T.equal(attend(q, k, v), out)
    for ours, expected in zip(*results, strict=True):
        most = expected.abs().max().item()
        T.testing.assert_close(ours.float(), expected, rtol=1e-2, atol=5e-3 * most)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dropout_draws_what_torch_draws(reference, dtype):
    found = []
    for t in (rushlight, reference):
        q, k, v = (
            t.tensor(array((2, 3, n, 5), i).tolist(), dtype=getattr(t, dtype)).requires_grad_()
            for i, n in enumerate((40, 300, 300))
        )
        t.manual_seed(3)
        out = t.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=0.3)
        out.square().sum().backward()
        found.append([out, q.grad, k.grad, v.grad, t.rand(3)])
    for ours, theirs in zip(*found, strict=True):
        close(ours, theirs, "float32")


def test_dropout_is_the_same_in_every_derivative(device):
    q, k, v = (t.requires_grad_() for t in operands(40, 50, device))
    rushlight.manual_seed(5)
    out = attend(q, k, v, dropout_p=0.5)
    first = rushlight.autograd.grad(out.square().sum(), (q, k, v), retain_graph=True)
    second = rushlight.autograd.grad(out.square().sum(), (q, k, v), create_graph=True)
    for a, b in zip(first, second, strict=True):
        rushlight.testing.assert_close(a, b)
    step = 1e-6
    for i, g in enumerate(first):
        sides = []
        for sign in (1, -1):
            moved = [t.detach().clone() for t in (q, k, v)]
            moved[i][1, 2, 3, 4] += sign * step
            rushlight.manual_seed(5)
            sides.append(attend(*moved, dropout_p=0.5).square().sum().item())
        assert g[1, 2, 3, 4].item() == pytest.approx((sides[0] - sides[1]) / 2 / step, rel=1e-5)
    assert (attend(q, k, v, dropout_p=1.0) == 0).all()
    zeros, ones = (f(1, 400, 2, device=device) for f in (rushlight.zeros, rushlight.ones))
    kept = attend(zeros[:, :4], zeros, ones, dropout_p=0.25)
    assert 0.8 < kept.mean().item() < 1.2


@pytest.mark.parametrize("sizes", [(0, 4, 5), (4, 0, 5), (4, 6, 0), (0, 0, 0)])
@pytest.mark.parametrize("batch", [(2, 3), (0, 3), ()])
def test_tensors_without_elements(reference, device, sizes, batch):
    l, s, e = sizes  # noqa: E741
    found = []
    for t, where in ((rushlight, device), (reference, "cpu")):
        q, k, v = (
            t.ones(*batch, n, m, device=where, requires_grad=True)
            for n, m in [(l, e), (s, e), (s, 3)]
        )
        out = t.nn.functional.scaled_dot_product_attention(q, k, v)
        found.append([out, *t.autograd.grad(out.sum(), (q, k, v))])
    for ours, theirs in zip(*found, strict=True):
        assert tuple(ours.shape) == tuple(theirs.shape)
        close(ours, theirs, "float32")


@pytest.mark.parametrize("order", [(0, 1, 2, 3), (0, 2, 1, 3), (0, 1, 3, 2), (1, 0, 2, 3)])
def test_strides(reference, device, order):
    """Results and gradients lie in memory as torch's do."""
    strides = []
    for t, where in ((rushlight, device), (reference, "cpu")):
        q, k, v = (
            t.ones(*[(2, 3, 4, 5)[d] for d in order], device=where).permute(order).requires_grad_()
            for _ in range(3)
        )
        out = t.nn.functional.scaled_dot_product_attention(q, k, v)
        strides.append([out.stride(), *(g.stride() for g in t.autograd.grad(out.sum(), (q, k, v)))])
    assert strides[0][0] == strides[1][0]
    if order[3] == 3:
        assert strides[0] == strides[1]


def test_expanded_operands(device):
    q, k, v = operands(4, 6, device)
    wide = [t[:1, :1, :1].expand(2, 3, t.size(2), 5) for t in (q, k, v)]
    rushlight.testing.assert_close(attend(*wide), formula(*wide))


def test_mask_of_a_view(device):
    q, k, v = operands(4, 6, device)
    mask = tensor((6, 1, 4), 3, device).permute(1, 2, 0).expand(3, 4, 6)
    check_gradients(attend, formula, [q, k, v])
    leaves = [t.detach().clone().requires_grad_() for t in (mask, mask)]
    for leaf, f in zip(leaves, (attend, formula), strict=True):
        f(q, k, v, leaf.transpose(0, 0)).square().sum().backward()
    rushlight.testing.assert_close(leaves[0].grad, leaves[1].grad)


def test_memory_grows_with_the_length(device):
    """1.6 GB would be needed for one matrix of weights."""
    q = rushlight.ones(1, 1, 20000, 1, device=device)
    if device == "cpu":
        assert ((attend(q, q, q, is_causal=True) - 1).abs() < 1e-5).all()


def test_causal_with_a_mask(reference, device):
    mask = rushlight.ones(4, 6, device=device)
    q, k, v = operands(4, 6, device, dtype=rushlight.float32)
    rushlight.testing.assert_close(
        attend(q, k, v, mask, is_causal=True), formula(q, k, v, mask, causal=True)
    )
    with pytest.raises(RuntimeError, match="Explicit attn_mask should not be set"):
        attend(q[0], k[0], v[0], mask, is_causal=True)


WRONG = [
    "f(q, k.double(), v)", "f(q.int(), k.int(), v.int())", "f(q[0, 0, 0], k, v)",
    "f(q, k, v, t.ones(4, 6).double())", "f(q, k, v, t.ones(4, 6).int())",
    "f(q, k, v, t.ones(()))", "f(q, k, v, t.ones(6))", "f(q, k, v, t.ones(7, 1, 1, 4, 6))",
    "f(q[0], k[0], v[0], t.ones(7, 3, 4, 6))", "f(q, t.ones(3, 3, 6, 5), t.ones(3, 3, 6, 5))",
    "f(q, t.ones(2, 2, 6, 5), v)", "f(q, k, v, dropout_p=2.0)",
    "f(q, t.ones(2, 2, 6, 5), t.ones(2, 2, 6, 5), enable_gqa=True)",
    "f(q[0, 0], k[0, 0], v[0, 0], enable_gqa=True)", "f(q, k, v, t.ones(4, 7))",
    "f(q, k[..., :4], v)", "f(q[0], k[0], v[0, :, :5])", "f(None, k, v)", "f(q, k)",
    "f(q, k, v, 'a')",
    "f(q.to('meta'), k, v)",
]  # fmt: skip


@pytest.mark.parametrize("call", WRONG)
def test_wrong_calls_say_what_torch_says(reference, call, on_device):
    said = []
    for t in (reference, rushlight):
        names = {"t": t, "f": t.nn.functional.scaled_dot_product_attention, "q": t.ones(2, 3, 4, 5)}
        names |= {"k": t.ones(2, 3, 6, 5), "v": t.ones(2, 3, 6, 5)}
        with pytest.raises(Exception) as error:
            eval(call, names)
        said.append((error.type, str(error.value).split("\n")[0].replace(on_device, "cpu")))
    assert said[0][0] is said[1][0]
    if call not in {"f(q, k)", "f(q, t.ones(2, 2, 6, 5), v)", "f(q, k[..., :4], v)"}:
        assert said[0][1].strip() == said[1][1].strip()


@pytest.mark.parametrize("heads", [(0, 1, 0), (0, 0, 1), (0, 0, 0), (0, 2, 3)])
def test_no_heads_among_grouped_ones(heads, device):
    """torch's own process ends at some of these: it divides by their number."""
    inputs = [rushlight.ones(2, n, 3, 4, device=device, requires_grad=True) for n in heads]
    out = attend(*inputs, enable_gqa=True)
    out.sum().backward()
    assert out.shape == (2, 0, 3, 4)
    assert [x.grad.shape for x in inputs] == [x.shape for x in inputs]
