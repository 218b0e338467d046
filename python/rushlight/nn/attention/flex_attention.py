"""Attention whose scores a function changes and whose mask is a function, by all scores at once:
torch's eager form, on every device and with gradients."""

import math
import warnings
from typing import NamedTuple

import rushlight as torch
from rushlight import Tensor

from ._block_mask import DEFAULT_SIZE as _DEFAULT_SPARSE_BLOCK_SIZE
from ._block_mask import WHOLE, BlockMask, dense_of, lists_of
from ._mask_functions import (
    and_masks,
    is_of_scores,
    noop_mask,
    of_all_elements,
    or_masks,
    sliced_mask,
)

__all__ = [
    "AuxOutput",
    "AuxRequest",
    "BlockMask",
    "and_masks",
    "create_block_mask",
    "create_mask",
    "flex_attention",
    "noop_mask",
    "or_masks",
]


class AuxRequest(NamedTuple):
    """What flex_attention() returns besides the result.

    Args:
        lse: the logarithm of each query's sum of exponentials.
        max_scores: the largest score of each query.

    >>> from rushlight.nn.attention.flex_attention import AuxRequest
    >>> AuxRequest(lse=True)
    AuxRequest(lse=True, max_scores=False)
    """

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What an AuxRequest asked for, None for the rest.

    Args:
        lse: float32 or float64 [batches, heads, queries].
        max_scores: as lse.

    >>> from rushlight.nn.attention.flex_attention import AuxOutput
    >>> AuxOutput()
    AuxOutput(lse=None, max_scores=None)
    """

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def _device_or_default(device):
    return torch.accelerator.current_accelerator() or "cpu" if device is None else device


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device=None):
    """The values of a function of masks for all indices; of a function of scores, where it does
    not make 0 to -inf.

    Args:
        mod_fn: a function of (batch, head, query's index, key's index), or of a score and these.
        B: the number of batches; None is 1.
        H: the number of heads; None is 1.
        Q_LEN: the number of queries.
        KV_LEN: the number of keys.
        device: by default the current GPU, or the CPU where there is none.

    Returns: bool [B, H, Q_LEN, KV_LEN].

    Raises:
        AssertionError: if mod_fn takes neither four nor five arguments.

    >>> from rushlight.nn.attention.flex_attention import create_mask
    >>> create_mask(lambda b, h, q, k: q >= k, None, None, 2, 3, "cpu")
    tensor([[[[ True, False, False],
              [ True,  True, False]]]])
    """
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    device = _device_or_default(device)
    indices = [torch.arange(size, device=device) for size in sizes]
    if not is_of_scores(mod_fn):
        return of_all_elements(mod_fn)(*indices)
    scores = of_all_elements(mod_fn, (0,))(torch.zeros(sizes, device=device), *indices)
    return ~torch.isneginf(scores)


def create_block_mask(
    mask_mod,
    B,
    H,
    Q_LEN,
    KV_LEN,
    device=None,
    BLOCK_SIZE=_DEFAULT_SPARSE_BLOCK_SIZE,
    _compile=False,
    separate_full_blocks=True,
    compute_dq_write_order=False,
    dq_kv_order=True,
):
    """The BlockMask of a function of masks.

    Args:
        mask_mod: a function of (batch, head, query's index, key's index) that gives a bool tensor.
        B: the number of batches; None is 1.
        H: the number of heads; None is 1.
        Q_LEN: the number of queries.
        KV_LEN: the number of keys.
        device: by default the current GPU, or the CPU where there is none.
        BLOCK_SIZE: an int, or (queries, keys) of a block.
        _compile: has no effect, with torch's warning.
        separate_full_blocks: whether blocks that are seen whole have lists of their own.
        compute_dq_write_order: is not there: an order of writes of torch's kernels of GPUs.
        dq_kv_order: is only checked.

    Raises:
        AssertionError: if mask_mod does not take four arguments.

    >>> from rushlight.nn.attention.flex_attention import create_block_mask
    >>> mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 6, 6, "cpu", BLOCK_SIZE=2)
    >>> mask.kv_num_blocks, mask.full_kv_num_blocks
    (tensor([[[1, 1, 1]]], dtype=torch.int32), tensor([[[0, 1, 2]]], dtype=torch.int32))
    """
    if is_of_scores(mask_mod):
        raise AssertionError(f"create-block_mask requires a mask_mod function! Got {mask_mod}")
    if _compile:
        warnings.warn(
            "_compile flag on create_block_mask has no effect", DeprecationWarning, stacklevel=2
        )
    if not isinstance(dq_kv_order, bool):
        raise ValueError("dq_kv_order must be a bool when using create_block_mask")
    if compute_dq_write_order:
        raise NotImplementedError("the order of a kernel's writes is not in rushlight")
    height, width = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    mask = torch.nn.functional.pad(mask, (0, -KV_LEN % width, 0, -Q_LEN % height))
    blocks = mask.unflatten(-1, (-1, width)).unflatten(-3, (-1, height))
    seen = blocks.sum(dim=(-3, -1))  # of [batches, heads, rows, height, columns, width]
    full = seen == height * width
    partial = (seen > 0) & ~full if separate_full_blocks else seen > 0
    return BlockMask.from_kv_blocks(
        *lists_of(partial),
        *(lists_of(full) if separate_full_blocks else (None, None)),
        BLOCK_SIZE=(height, width),
        mask_mod=mask_mod,
        seq_lengths=(Q_LEN, KV_LEN),
    )


def _check(query, key, value, block_mask, enable_gqa):
    if not query.device == key.device == value.device:
        raise ValueError(
            "Expected query, key, and value to have the same device type, but got "
            f"query.device: {query.device}, key.device: {key.device}, and value.device: "
            f"{value.device} instead."
        )
    if query.size(-1) != key.size(-1):
        raise ValueError(
            "Expect query and key/value to have the same embedding dimension "
            f"but got E={query.size(-1)} and E={key.size(-1)}."
        )
    if not query.dim() == key.dim() == value.dim() == 4:
        raise NotImplementedError("NYI: query, key, and value must be 4D tensors")
    heads, kv_heads = query.size(1), key.size(1)
    if not enable_gqa and heads != kv_heads:
        raise ValueError(
            "Expect query and key/value to have the same number of heads "
            f"but got Hq={heads} and Hkv={kv_heads}. Try setting enable_gqa=True for GQA."
        )
    if heads % kv_heads:
        raise ValueError(
            "Expect number of query heads to be a multiple of kv heads for GQA "
            f"but got Hq={heads} and Hkv={kv_heads}."
        )
    batches, kv_batches = query.size(0), key.size(0)
    if batches != kv_batches and block_mask is None:
        raise ValueError(
            "Expect query and key/value to have the same batch size, or non-none block_mask, "
            f"but got block_mask=None, Bq={batches}, and Bkv={kv_batches}."
        )
    if batches != kv_batches and block_mask.kv_num_blocks.size(0) != batches:
        raise ValueError(
            "Expect query and key/value to have the same batch size, or block_mask and query to "
            f"have the same batch size, but got Bq={batches}, Bkv={kv_batches}, "
            f"B_block_mask={block_mask.kv_num_blocks.size(0)}."
        )
    if batches != kv_batches and not (batches > 1 and kv_batches == 1):
        raise RuntimeError(f"Bq and Bkv must broadcast. Got Bq={batches} and Bkv={kv_batches}")


def _check_mask(query, key, block_mask):
    if block_mask.mask_mod is sliced_mask:
        raise RuntimeError("Cannot use mask_mod from a sliced BlockMask")
    lengths = (query.size(-2), key.size(-2))
    if block_mask.BLOCK_SIZE != (WHOLE, WHOLE) and block_mask.shape[-2:] != lengths:
        got = (
            f"block_mask was created for block_mask.shape={block_mask.shape} but got "
            f"q_len={lengths[0]} and kv_len={lengths[1]}. As the block mask was created for a "
        )
        if lengths[0] > block_mask.shape[-2] or lengths[1] > block_mask.shape[-1]:
            raise ValueError(
                f"{got}smaller length than you're using it for, you likely need to create a new "
                "block mask."
            )
        raise ValueError(
            f"{got}larger length than you're using it for, you can either 1. create a new block "
            "mask with the correct length, or 2. 'adjust' the existing block mask to the correct "
            "length by calling block_mask._adjust(q_len, kv_len)."
        )
    if query.device != block_mask.kv_num_blocks.device:
        raise RuntimeError(
            "Expect q/k/v and block_mask to be on the same device "
            f"but got {query.device} and {block_mask.kv_num_blocks.device}."
        )


def _blocks_as_elements(counts, indices, block_mask, lengths):
    blocks = dense_of(counts, indices, indices.shape[-1]).bool()
    height, width = block_mask.BLOCK_SIZE
    rows = blocks.repeat_interleave(height, dim=-2)[..., : lengths[0], :]
    return rows.repeat_interleave(width, dim=-1)[..., : lengths[1]]


def _seen(block_mask, indices, lengths):
    """Which elements a mask lets be seen: mask_mod's in the partial blocks, all in the full."""
    seen = of_all_elements(block_mask.mask_mod)(*indices)
    if block_mask.BLOCK_SIZE == (WHOLE, WHOLE):
        return seen
    pairs = [(block_mask.kv_num_blocks, block_mask.kv_indices)]
    if block_mask.full_kv_indices is not None:
        pairs.append((block_mask.full_kv_num_blocks, block_mask.full_kv_indices))
    partial, *full = (_blocks_as_elements(*pair, block_mask, lengths) for pair in pairs)
    seen = seen & partial
    return seen | full[0] if full else seen


def flex_attention(
    query,
    key,
    value,
    score_mod=None,
    block_mask=None,
    scale=None,
    enable_gqa=False,
    return_lse=False,
    kernel_options=None,
    *,
    return_aux=None,
):
    """softmax(score_mod(query @ key.mT * scale)) @ value, over the elements that block_mask shows.

    Queries that see nothing give 0. All scores are in memory at once, in float32 at least. Unlike
    in torch there are gradients and the largest scores on the CPU too.

    Args:
        query: see Shape.
        key: see Shape.
        value: see Shape.
        score_mod: a function of a score, a batch, a head, a query's index and a key's, each a
            tensor of one element.
        block_mask: a BlockMask.
        scale: by default 1 / sqrt(E).
        enable_gqa: whether several heads of queries may share a head of keys.
        return_lse: whether the logarithms of the sums of exponentials are returned too.
        kernel_options: a dict; has no effect.
        return_aux: an AuxRequest.

    Shape: query (N, Hq, L, E), key (N, H, S, E), value (N, H, S, Ev), the result (N, Hq, L, Ev).

    Returns: the result; (result, lse) with return_lse; (result, AuxOutput) with return_aux.

    Raises:
        ValueError: if sizes do not fit, or block_mask is for other lengths.
        RuntimeError: if block_mask is a part of one, or on another device.

    >>> from rushlight.nn.attention.flex_attention import flex_attention
    >>> q, k, v = torch.randn(3, 1, 1, 4, 2)
    >>> nearer = lambda score, b, h, q_idx, kv_idx: score - (q_idx - kv_idx).abs()
    >>> flex_attention(q, k, v, score_mod=nearer).shape
    torch.Size([1, 1, 4, 2])
    """
    _check(query, key, value, block_mask, enable_gqa)
    if block_mask is not None:
        _check_mask(query, key, block_mask)
    if return_lse and return_aux is not None:
        raise ValueError(
            "Cannot specify both return_lse and return_aux. "
            "return_lse is deprecated, please use return_aux=AuxRequest(lse=True) instead."
        )
    kind = query.device.type
    if torch.is_autocast_enabled(kind):
        query, key, value = (x.to(torch.get_autocast_dtype(kind)) for x in (query, key, value))
    with torch.autocast(kind, enabled=False):
        result, lse, most = _attention(query, key, value, score_mod, block_mask, scale)
    if return_aux is not None:
        wanted = AuxOutput(
            lse() if return_aux.lse else None, most() if return_aux.max_scores else None
        )
        return result, wanted
    return (result, lse()) if return_lse else result


def _attention(query, key, value, score_mod, block_mask, scale):
    """(result, function that gives lse, function that gives the largest scores)"""
    shared = query.size(1) // key.size(1)
    key, value = (
        x.repeat_interleave(shared, dim=1).expand(query.size(0), -1, -1, -1) for x in (key, value)
    )
    working = torch.float64 if query.dtype == torch.float64 else torch.float32
    scores = query.to(working) @ key.to(working).mT
    scores = scores * (1 / math.sqrt(query.size(-1)) if scale is None else scale)
    indices = [torch.arange(size, device=query.device) for size in scores.shape]
    if score_mod is not None:
        scores = of_all_elements(score_mod, (0,))(scores, *indices)
    if block_mask is not None:
        seen = _seen(block_mask, indices, scores.shape[-2:])
        scores = scores.masked_fill(~seen, -math.inf)
    # A row of -inf alone would give NaN here and in its gradient.
    empty = (scores == -math.inf).all(-1, keepdim=True)
    finite = scores.masked_fill(empty, 0)
    shares = finite.softmax(-1).masked_fill(empty, 0)
    return (
        shares.to(query.dtype) @ value.to(query.dtype),
        lambda: finite.logsumexp(-1).masked_fill(empty[..., 0], -math.inf),
        lambda: scores.amax(-1),
    )
