"""flex_attention and its masks in blocks, beside torch's eager form and beside
scaled_dot_product_attention."""

import importlib
import math
import warnings

import pytest

import rushlight
from rushlight.nn.attention import flex_attention as flex
from tests.conftest import ask

MASKS = ("causal", "window", "documents", "sparse", "everything")


def masks(torch):
    documents = torch.arange(40) // 13
    return {
        "causal": lambda b, h, q, k: q >= k,
        "window": lambda b, h, q, k: (q >= k) & (q - k <= 5),
        "documents": lambda b, h, q, k: documents[q] == documents[k],
        "sparse": lambda b, h, q, k: (q > 10) & (k < q - b),
        "everything": lambda b, h, q, k: b.new_ones((), dtype=torch.bool),
    }


def module(torch):
    found = importlib.import_module(f"{torch.__name__}.nn.attention.flex_attention")
    if hasattr(found, "_FLEX_ATTENTION_DISABLE_COMPILE_DEBUG"):
        found._FLEX_ATTENTION_DISABLE_COMPILE_DEBUG = True  # torch runs its eager form
    return found


def both(function):
    return function(rushlight), ask(function)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("size", [8, (16, 8), 128], ids=str)
@pytest.mark.parametrize("separate", [True, False])
def test_blocks_are_torchs(name, size, separate):
    def everything(torch):
        flex = module(torch)
        mask = flex.create_block_mask(
            masks(torch)[name], 2, None, 40, 33, "cpu", size, separate_full_blocks=separate
        )
        parts = [mask, mask[1:, 0], mask[0, 0, -1]]
        answers = [[x.tolist() for x in p.as_tuple()[2:10] if x is not None] for p in parts]
        answers += [mask.sparsity(), mask.numel(), list(mask.shape), mask.to_dense().tolist()]
        answers += [repr(mask), str(mask), mask.to_string(3), mask.to_string(-1, limit=1)]
        return [*answers, len(mask.as_tuple(False)), str(mask.to_dense().dtype)]

    ours, theirs = both(everything)
    assert [x.replace("rushlight", "torch") if isinstance(x, str) else x for x in ours] == theirs


@pytest.mark.parametrize("name", [None, *MASKS])
@pytest.mark.parametrize("scores", [False, True])
def test_values_are_torchs(name, scores):
    def values(torch):
        flex = module(torch)
        torch.manual_seed(0)
        slopes = torch.rand(3)
        q, k, v = torch.randn(2, 3, 40, 8), torch.randn(2, 3, 33, 8), torch.randn(2, 3, 33, 6)
        mask = name and flex.create_block_mask(masks(torch)[name], 2, None, 40, 33, "cpu", 8)
        change = (lambda s, b, h, i, j: s - slopes[h] * (i - j).abs()) if scores else None
        out, lse = flex.flex_attention(q, k, v, change, mask, return_lse=True)
        return out.tolist(), lse.tolist()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        (out, lse), theirs = both(values)
    rushlight.testing.assert_close(rushlight.tensor(out), rushlight.tensor(theirs[0]))
    rushlight.testing.assert_close(rushlight.tensor(lse), rushlight.tensor(theirs[1]))


def test_a_mask_of_other_lengths():
    mask = flex.create_block_mask(lambda b, h, i, j: i >= 0, 1, 1, 6, 5, "cpu", 2)
    cut = mask._adjust(3, 4)
    assert cut.shape == (1, 1, 3, 4) and cut.sparsity() == 100 * (1 - 16 / 12)
    assert cut.to_dense().tolist() == [[[[1, 1], [1, 1]]]]
    assert cut.full_kv_num_blocks.tolist() == [[[2, 2]]] and not cut.kv_num_blocks.any()
    assert cut.full_q_num_blocks.tolist() == [[[2, 2]]]


def test_as_attention_does(device):
    torch = rushlight
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 4, 24, 8, device=device, requires_grad=True) for _ in range(3))
    shown = flex.create_block_mask(lambda b, h, i, j: i >= j, None, None, 24, 24, device, 16)
    out = flex.flex_attention(q, k, v, block_mask=shown)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.testing.assert_close(out, expected)
    grads = torch.autograd.grad(out.square().sum(), (q, k, v))
    torch.testing.assert_close(grads, torch.autograd.grad(expected.square().sum(), (q, k, v)))
    few = k[:, :2], v[:, :2]
    out = flex.flex_attention(q, *few, enable_gqa=True, scale=0.3)
    expected = torch.nn.functional.scaled_dot_product_attention(q, *few, enable_gqa=True, scale=0.3)
    torch.testing.assert_close(out, expected)


def test_gradients_of_what_functions_hold(device):
    torch = rushlight
    torch.manual_seed(0)
    q, k, v = torch.randn(3, 1, 2, 6, 4, device=device, dtype=torch.float64)
    table = torch.randn(2, 11, device=device, dtype=torch.float64, requires_grad=True)

    def attend(table):
        return flex.flex_attention(q, k, v, lambda s, b, h, i, j: s + table[h, i - j + 5])

    assert torch.autograd.gradcheck(attend, table)


def test_queries_that_see_nothing(device):
    torch = rushlight
    q, k, v = (torch.ones(1, 1, 4, 2, device=device, requires_grad=True) for _ in range(3))
    mask = flex.create_block_mask(lambda b, h, i, j: i > j + 1, 1, 1, 4, 4, device, 2)
    wanted = flex.AuxRequest(lse=True, max_scores=True)
    out, (lse, most) = flex.flex_attention(q, k, v, block_mask=mask, return_aux=wanted)
    assert out[0, 0].tolist() == [[0, 0], [0, 0], [1, 1], [1, 1]]
    one = 2 / math.sqrt(2)
    expected = torch.tensor([-math.inf, -math.inf, one, one + math.log(2)], device=device)
    torch.testing.assert_close(lse[0, 0], expected)
    torch.testing.assert_close(most[0, 0], expected.clamp(max=one))
    (out.sum() + lse[..., 2:].sum()).backward()
    assert q.grad[0, 0, :2].tolist() == [[0, 0], [0, 0]] and not q.grad.isnan().any()
    out, aux = flex.flex_attention(q, k, v, return_aux=flex.AuxRequest())
    assert aux == (None, None)


def test_blocks_decide_beside_the_function(device):
    torch = rushlight
    q, k, v = torch.randn(3, 1, 1, 4, 2, device=device)
    counts = torch.tensor([[[1, 1]]], dtype=torch.int32, device=device)
    first = torch.tensor([[[[0, 1], [0, 1]]]], dtype=torch.int32, device=device)
    mask = flex.BlockMask.from_kv_blocks(counts, first, BLOCK_SIZE=2)
    out = flex.flex_attention(q, k, v, block_mask=mask)
    torch.testing.assert_close(out, flex.flex_attention(q, k[:, :, :2], v[:, :, :2]))
    full = flex.BlockMask.from_kv_blocks(
        torch.zeros_like(counts), first, counts, first, 2, lambda b, h, i, j: i < 0
    )
    torch.testing.assert_close(out, flex.flex_attention(q, k, v, block_mask=full))


def test_dtypes(device):
    torch = rushlight
    q, k, v = torch.randn(3, 1, 1, 5, 4, device=device, dtype=torch.bfloat16)
    assert flex.flex_attention(q, k, v).dtype == torch.bfloat16
    seen = []
    flex.flex_attention(q, k, v, lambda s, b, h, i, j: seen.append(s.dtype) or s)
    assert seen == [torch.float32]
    with torch.autocast(q.device.type, torch.bfloat16):
        assert flex.flex_attention(q.float(), k.float(), v.float()).dtype == torch.bfloat16


def test_masks_move(device):
    mask = flex.create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 4, 4, "cpu", 2)
    moved = mask.to(device)
    assert moved.kv_indices.device.type == rushlight.device(device).type
    assert moved.q_indices.tolist() == mask.q_indices.tolist() and moved.mask_mod is mask.mask_mod


WRONG = (
    "flex.flex_attention(q, k, v)",
    "flex.flex_attention(q[0], k[0], v[0])",
    "flex.flex_attention(q[..., :4], k, v)",
    "flex.flex_attention(q[:, :3], k, v, enable_gqa=True)",
    "flex.flex_attention(q, k[:1], v[:1], enable_gqa=True)",
    "flex.flex_attention(q[:, :2, :3], k, v, block_mask=mask)",
    "flex.flex_attention(torch.cat([q, q], 2)[:, :2], k, v, block_mask=mask)",
    "flex.flex_attention(q[:, :2], k, v, block_mask=mask[0])",
    "flex.flex_attention(q[:, :2], k, v, return_lse=True, return_aux=flex.AuxRequest(True))",
    "flex.create_block_mask(lambda s, b, h, i, j: s, 1, 1, 4, 4, 'cpu')",
    "flex.create_block_mask(lambda b, h: b, 1, 1, 4, 4, 'cpu')",
    "flex.create_block_mask(lambda b, h, i, j: i > j, 1, 1, 4, 4, 'cpu', dq_kv_order=3)",
    "flex.BlockMask.from_kv_blocks(torch.ones(1), torch.ones(1))",
    "flex.BlockMask.from_kv_blocks(torch.ones(1, 1), torch.ones(1, 1), torch.ones(1, 1))",
    "flex.BlockMask.from_kv_blocks(one, one[None], dq_kv_order=3)",
)


@pytest.mark.parametrize("call", WRONG)
def test_refused_in_torchs_words(call):
    def words(torch):
        flex = module(torch)
        q, k, v = torch.ones(2, 4, 6, 8), torch.ones(2, 2, 6, 8), torch.ones(2, 2, 6, 8)
        mask = flex.create_block_mask(lambda b, h, i, j: i >= j, 1, 1, 6, 6, "cpu")
        names = {"torch": torch, "flex": flex, "q": q, "k": k, "v": v, "mask": mask}
        names["one"] = torch.ones(1, 1, 1, dtype=torch.int32)
        try:
            eval(call, names)
        except Exception as error:
            return type(error).__name__, str(error).split(" at 0x")[0][:60]

    ours, theirs = both(words)
    assert ours == tuple(theirs)


def test_order_of_writes_is_absent():
    with pytest.raises(NotImplementedError, match="not in rushlight"):
        flex.create_block_mask(
            lambda b, h, i, j: i > j, 1, 1, 4, 4, "cpu", compute_dq_write_order=True
        )
    with pytest.warns(DeprecationWarning, match="_compile"):
        flex.create_block_mask(lambda b, h, i, j: i > j, 1, 1, 4, 4, "cpu", _compile=True)
