"""The transformer of Vaswani et al., 2017: layers, stacks of them, and both stacks together."""

import copy
import math
import warnings

from rushlight import _C
from rushlight.nn import functional as F
from rushlight.nn import init
from rushlight.nn._functional.multi_head import _canonical_mask, _none_or_dtype
from rushlight.nn.modules.activation import GELU, MultiheadAttention, ReLU
from rushlight.nn.modules.container import ModuleList
from rushlight.nn.modules.dropout import Dropout
from rushlight.nn.modules.linear import Linear
from rushlight.nn.modules.module import Module
from rushlight.nn.modules.normalization import LayerNorm
from rushlight.nn.modules.utils import check_layer_count

__all__ = [
    "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip


def _generate_square_subsequent_mask(sz, device=None, dtype=None):
    return _C.full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)


def _detect_is_causal_mask(mask, is_causal=None, size=None):
    """The hint if there is one, else whether the mask is the causal one."""
    if is_causal is not None or mask is None:
        return is_causal is True
    size = mask.size(-2) if size is None else size
    if tuple(mask.shape) != (size, size):
        return False
    return bool((mask == _generate_square_subsequent_mask(size, mask.device, mask.dtype)).all())


def _get_seq_len(src, batch_first):
    return src.size(1 if src.dim() == 3 and batch_first else 0)


def _get_activation_fn(activation):
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise RuntimeError(f"activation should be relu/gelu, not {activation}")
    return getattr(F, activation)


class _Layer(Module):
    """What both kinds of layer share: attention blocks, the feed-forward block, and a norm and a
    dropout for each of them.
    """

    def _build(
        self, attentions, d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
        batch_first, norm_first, bias, device, dtype,
    ):  # fmt: skip
        factory = {"device": device, "dtype": dtype}
        for name in attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout, bias, batch_first=batch_first, **factory
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **factory)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **factory)
        self.norm_first = norm_first
        blocks = range(1, len(attentions) + 2)
        for i in blocks:
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias, **factory))
        for i in blocks:
            setattr(self, f"dropout{i}", Dropout(dropout))
        self.activation = _get_activation_fn(activation)

    @staticmethod
    def _attend(attention, x, memory, attn_mask, key_padding_mask, is_causal):
        return attention(
            x, memory, memory, attn_mask=attn_mask, key_padding_mask=key_padding_mask,
            need_weights=False, is_causal=is_causal,
        )[0]  # fmt: skip

    def _feed_forward(self, x):
        return self.linear2(self.dropout(self.activation(self.linear1(x))))

    def __setstate__(self, state):
        super().__setstate__(state)
        self.__dict__.setdefault("activation", F.relu)


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each added to its input and normalised.

    Args:
        d_model: features of the input and the output.
        nhead: heads of the attention, which divide d_model.
        dim_feedforward: features inside the feed-forward network.
        dropout: probability that an element is zeroed in training.
        activation: "relu", "gelu" or a function.
        layer_norm_eps: added to the variance of the norms.
        batch_first: tensors are (n, l, e) instead of (l, n, e).
        norm_first: normalise the input of each block instead of the sum after it.
        bias: whether the linear layers and norms have a bias.
        device, dtype: of the parameters.

    Shape: (l, n, d_model) or (l, d_model) to the same.

    >>> torch.nn.TransformerEncoderLayer(8, 2, 16)(torch.ones(3, 2, 8)).shape
    torch.Size([3, 2, 8])
    """

    def __init__(
        self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu,
        layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        self._build(
            ("self_attn",), d_model, nhead, dim_feedforward, dropout, activation,
            layer_norm_eps, batch_first, norm_first, bias, device, dtype,
        )  # fmt: skip
        relu = self.activation is F.relu or isinstance(self.activation, ReLU)
        gelu = self.activation is F.gelu or isinstance(self.activation, GELU)
        self.activation_relu_or_gelu = 1 if relu else 2 if gelu else 0

    def forward(self, src, src_mask=None, src_key_padding_mask=None, is_causal=False):
        """The encoded sequence.

        Args:
            src: the sequence.
            src_mask: (l, l) or (n * nhead, l, l), True where attention is not allowed, or floats
                that are added to the logits.
            src_key_padding_mask: (n, l), True where a position is padding.
            is_causal: a hint that src_mask is the causal mask.
        """
        padding = _canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(src_mask), "src_mask",
            src.dtype,
        )  # fmt: skip
        mask = _canonical_mask(src_mask, "src_mask", None, "", src.dtype, False)

        x = src
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), mask, padding, is_causal)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, mask, padding, is_causal))
        return self.norm2(x + self._ff_block(x))

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        return self.dropout1(
            self._attend(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal)
        )

    def _ff_block(self, x):
        return self.dropout2(self._feed_forward(x))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to the encoder's output, and a feed-forward network, each added to
    its input and normalised.

    Args: as of TransformerEncoderLayer.

    Shape: tgt (t, n, d_model), memory (s, n, d_model), both with or without n; output as tgt.

    >>> layer = torch.nn.TransformerDecoderLayer(8, 2, 16)
    >>> layer(torch.ones(3, 2, 8), torch.ones(5, 2, 8)).shape
    torch.Size([3, 2, 8])
    """

    def __init__(
        self, d_model, nhead, dim_feedforward=2048, dropout=0.1, activation=F.relu,
        layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        self._build(
            ("self_attn", "multihead_attn"), d_model, nhead, dim_feedforward, dropout, activation,
            layer_norm_eps, batch_first, norm_first, bias, device, dtype,
        )  # fmt: skip

    def forward(
        self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
        memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False,
    ):  # fmt: skip
        """The decoded sequence.

        Args:
            tgt: the sequence.
            memory: the encoder's output.
            tgt_mask, memory_mask: (t, t) and (t, s), True where attention is not allowed, or floats
                that are added to the logits.
            tgt_key_padding_mask, memory_key_padding_mask: (n, t) and (n, s), True where a position
                is padding.
            tgt_is_causal, memory_is_causal: hints that the masks are causal.
        """

        def attend(x):
            return self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal)

        def look_up(x):
            return self._mha_block(
                x, memory, memory_mask, memory_key_padding_mask, memory_is_causal
            )

        blocks = ((attend, self.norm1), (look_up, self.norm2), (self._ff_block, self.norm3))
        x = tgt
        for block, norm in blocks:
            x = x + block(norm(x)) if self.norm_first else norm(x + block(x))
        return x

    def _sa_block(self, x, attn_mask, key_padding_mask, is_causal=False):
        return self.dropout1(
            self._attend(self.self_attn, x, x, attn_mask, key_padding_mask, is_causal)
        )

    def _mha_block(self, x, mem, attn_mask, key_padding_mask, is_causal=False):
        return self.dropout2(
            self._attend(self.multihead_attn, x, mem, attn_mask, key_padding_mask, is_causal)
        )

    def _ff_block(self, x):
        return self.dropout3(self._feed_forward(x))


def _get_clones(module, N):
    check_layer_count(N)
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


class TransformerEncoder(Module):
    """A stack of copies of an encoder layer.

    Args:
        encoder_layer: the layer that is copied.
        num_layers: number of copies.
        norm: a module applied after the last, or None.
        enable_nested_tensor: in evaluation, without gradients and with padding at the ends of the
            sequences, the padded positions of the output are zeros.
        mask_check: ignored, as the padding is always looked at.

    Shape: src (l, n, d_model) or (l, d_model) to the same.

    >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    >>> torch.nn.TransformerEncoder(layer, 2)(torch.ones(3, 2, 8)).shape
    torch.Size([3, 2, 8])
    """

    def __init__(
        self, encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True
    ):
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        reason = _why_not_nested(encoder_layer) if enable_nested_tensor else None
        if reason:
            warnings.warn(
                "enable_nested_tensor is True, but self.use_nested_tensor is False because "
                f"encoder_layer{reason}",
                stacklevel=2,
            )
            self.use_nested_tensor = False

    def forward(self, src, mask=None, src_key_padding_mask=None, is_causal=None):
        """The sequence after all layers.

        Args:
            src: the sequence.
            mask: src_mask of each layer.
            src_key_padding_mask: (n, l), True where a position is padding.
            is_causal: whether mask is the causal mask; looked up if None.
        """
        padding = _canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", _none_or_dtype(mask), "mask", src.dtype
        )
        mask = _canonical_mask(mask, "mask", None, "", src.dtype, False)
        drops_padding = self._drops_padding(src, mask, padding)
        length = _get_seq_len(src, self.layers[0].self_attn.batch_first)
        causal = _detect_is_causal_mask(mask, is_causal, length)
        out = src
        for layer in self.layers:
            out = layer(out, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        if drops_padding:
            out = out.masked_fill((padding != 0).unsqueeze(-1), 0.0)
        return out if self.norm is None else self.norm(out)

    def _drops_padding(self, src, mask, padding):
        """Whether torch takes its path through nested tensors, which drops the padding."""
        if not getattr(self, "use_nested_tensor", False) or padding is None or mask is not None:
            return False
        if self.layers[0].training or src.dim() != 3:
            return False
        tensors = [src, *self.layers[0].parameters()]
        if _C.is_grad_enabled() and any(t.requires_grad for t in tensors):
            return False
        padded = padding != 0
        return bool((padded[:, 1:] >= padded[:, :-1]).all())


def _why_not_nested(layer):
    """The first of torch's conditions for its fast path that a layer does not meet, or None."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        ".norm_first was True": layer.norm_first,
        ".self_attn.batch_first was not True(use batch_first for better inference performance)": (
            not attention.batch_first
        ),
        ".self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        ".self_attn was passed bias=False": attention.in_proj_bias is None,
        ".activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        ".norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        ".self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


class TransformerDecoder(Module):
    """A stack of copies of a decoder layer.

    Args:
        decoder_layer: the layer that is copied.
        num_layers: number of copies.
        norm: a module applied after the last, or None.

    Shape: tgt (t, n, d_model), memory (s, n, d_model), both with or without n; output as tgt.

    >>> layer = torch.nn.TransformerDecoderLayer(8, 2, 16)
    >>> torch.nn.TransformerDecoder(layer, 2)(torch.ones(3, 2, 8), torch.ones(5, 2, 8)).shape
    torch.Size([3, 2, 8])
    """

    def __init__(self, decoder_layer, num_layers, norm=None):
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self, tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None,
        memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False,
    ):  # fmt: skip
        """The sequence after all layers.

        Args:
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask: as of
                the layer's forward.
            tgt_is_causal: whether tgt_mask is the causal mask; looked up if None.
            memory_is_causal: a hint that memory_mask is the causal mask.
        """
        length = _get_seq_len(tgt, self.layers[0].self_attn.batch_first)
        causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, length)
        out = tgt
        for layer in self.layers:
            out = layer(
                out, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                causal, memory_is_causal,
            )  # fmt: skip
        return out if self.norm is None else self.norm(out)


class Transformer(Module):
    """An encoder, and a decoder that attends to its output (Vaswani et al., 2017).

    Args:
        d_model: features of the sequences.
        nhead: heads of the attention, which divide d_model.
        num_encoder_layers, num_decoder_layers: layers of each stack.
        dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias: as of
            TransformerEncoderLayer.
        custom_encoder, custom_decoder: modules that replace the stacks.
        device, dtype: of the parameters.

    Shape: src (s, n, d_model), tgt (t, n, d_model), both with or without n; output as tgt.

    >>> model = torch.nn.Transformer(8, 2, 1, 1, 16)
    >>> model(torch.ones(5, 2, 8), torch.ones(3, 2, 8)).shape
    torch.Size([3, 2, 8])
    """

    def __init__(
        self, d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6,
        dim_feedforward=2048, dropout=0.1, activation=F.relu, custom_encoder=None,
        custom_decoder=None, layer_norm_eps=1e-5, batch_first=False, norm_first=False, bias=True,
        device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        factory = {"device": device, "dtype": dtype}
        args = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias,
        )  # fmt: skip

        def norm():
            return LayerNorm(d_model, layer_norm_eps, bias=bias, **factory)

        if custom_encoder is None:
            layer = TransformerEncoderLayer(*args, **factory)
            custom_encoder = TransformerEncoder(layer, num_encoder_layers, norm())
        self.encoder = custom_encoder
        if custom_decoder is None:
            layer = TransformerDecoderLayer(*args, **factory)
            custom_decoder = TransformerDecoder(layer, num_decoder_layers, norm())
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self):
        for p in self.parameters():
            if p.dim() > 1:
                init.xavier_uniform_(p)

    def forward(
        self, src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None,
        tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None,
        tgt_is_causal=None, memory_is_causal=False,
    ):  # fmt: skip
        """The decoded sequence, from `src`, which is encoded, and `tgt`.

        Args:
            src, tgt: the sequences of the encoder and of the decoder.
            src_mask, tgt_mask: (s, s) and (t, t), True where attention is not allowed, or floats
                that are added to the logits.
            memory_mask: (t, s), the same for the attention to the encoder's output.
            src_key_padding_mask, tgt_key_padding_mask, memory_key_padding_mask: (n, s), (n, t) and
                (n, s), True where a position is padding.
            src_is_causal, tgt_is_causal: whether the masks are causal; looked up if None.
            memory_is_causal: a hint that memory_mask is the causal mask.

        Returns: (t, n, d_model).
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError(
                "the batch number of src and tgt must be equal, got "
                f"{src.size(batch)} and {tgt.size(batch)}"
            )
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError(
                "the feature number of src and tgt must be equal to d_model, got "
                f"{src.size(-1)}, {tgt.size(-1)} and {self.d_model}"
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
            tgt_is_causal, memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz, device=None, dtype=None):
        """The causal mask of a sequence: -inf above the diagonal, 0 elsewhere.

        Args:
            sz: length of the sequence.
            device, dtype: of the mask.

        Shape: (sz, sz).

        >>> torch.nn.Transformer.generate_square_subsequent_mask(2)
        tensor([[0., -inf],
                [0., 0.]])
        """
        return _generate_square_subsequent_mask(sz, device, dtype)
