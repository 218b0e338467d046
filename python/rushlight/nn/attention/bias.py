"""Causal masks for scaled_dot_product_attention() that know which corner they start from."""

import enum
import warnings

from rushlight import _C
from rushlight._tensor import Tensor
from rushlight.nn import functional as F

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(enum.IntEnum):
    """The corner in which the mask's diagonal lies, where queries and keys differ in number.

    Args:
        value: the number of a member.

    >>> torch.nn.attention.bias.CausalVariant.UPPER_LEFT.value
    1
    """

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A mask of scaled_dot_product_attention(): query i sees the keys up to i, or, LOWER_RIGHT, up
    to i + seq_len_kv - seq_len_q.

    Args:
        variant: a CausalVariant.
        seq_len_q: the number of queries.
        seq_len_kv: the number of keys.

    Shape: as a mask (seq_len_q, seq_len_kv).

    Raises:
        AssertionError: if variant is no CausalVariant.

    >>> bias = torch.nn.attention.bias
    >>> bias.CausalBias(bias.CausalVariant.LOWER_RIGHT, 1, 2)
    tensor([[True, True]])
    """

    def __new__(cls, variant, seq_len_q, seq_len_kv):
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        return _C.zeros(()).expand(int(variant), seq_len_q, seq_len_kv).as_subclass(cls)

    def __init__(self, variant, seq_len_q, seq_len_kv):
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv
        if variant == CausalVariant.LOWER_RIGHT and seq_len_q > seq_len_kv:
            warnings.warn(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > "
                "seq_len_kv!",
                stacklevel=2,
            )

    def _materialize(self, device=None):
        """The mask as bools."""
        lower_right = self.variant == CausalVariant.LOWER_RIGHT
        offset = self.seq_len_kv - self.seq_len_q if lower_right else 0
        seen = _C.ones(self.seq_len_q, self.seq_len_kv, dtype=_C.bool, device=device)
        return seen.tril(offset)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if func is F.scaled_dot_product_attention:
            return cls._dispatch(*args, **kwargs)
        return super().__torch_function__(func, types, args, kwargs)

    @staticmethod
    def _dispatch(query, key, value, attn_mask, dropout_p=0.0, is_causal=False, **options):
        if is_causal:
            raise ValueError("CausalBias should not be used with causal=True")
        mask = attn_mask._materialize(query.device)
        return F.scaled_dot_product_attention(query, key, value, mask, dropout_p, **options)

    def __repr__(self):
        return repr(self._materialize())


def _made(variant, name, size):
    if len(size) != 2:
        raise AssertionError(f"{name} only supports 2D tensors")
    return CausalBias(variant, *size)


def causal_upper_left(*size):
    """The mask by which query i sees keys 0 to i.

    Args:
        *size: the numbers of queries and keys.

    Shape: (queries, keys).

    >>> torch.nn.attention.bias.causal_upper_left(1, 2)
    tensor([[ True, False]])
    """
    return _made(CausalVariant.UPPER_LEFT, "causal_upper_left", size)


def causal_lower_right(*size):
    """The mask by which the last query sees all keys, as where older keys come from a cache.

    Args:
        *size: the numbers of queries and keys.

    Shape: (queries, keys).

    >>> torch.nn.attention.bias.causal_lower_right(1, 2)
    tensor([[True, True]])
    """
    return _made(CausalVariant.LOWER_RIGHT, "causal_lower_right", size)
