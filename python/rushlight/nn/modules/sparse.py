"""Embedding and EmbeddingBag."""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.nn import functional as F
from rushlight.nn import init
from rushlight.nn.modules.module import Module
from rushlight.nn.parameter import Parameter

__all__ = ["Embedding", "EmbeddingBag"]


class _Table(Module):
    """The weight and the arguments that both have."""

    def _make_weight(self, num_embeddings, embedding_dim, _weight, _freeze, device, dtype):
        if _weight is None:
            shape = (num_embeddings, embedding_dim)
            self.weight = Parameter(
                _C.empty(shape, device=device, dtype=dtype), requires_grad=not _freeze
            )
            self.reset_parameters()
            return
        if list(_weight.shape) != [num_embeddings, embedding_dim]:
            raise AssertionError("Shape of weight does not match num_embeddings and embedding_dim")
        self.weight = Parameter(_weight, requires_grad=not _freeze)

    _word = "Padding_idx"  # as torch begins the sentence for this class

    def _resolve_padding(self, num_embeddings, padding_idx):
        if padding_idx is None:
            return None
        if padding_idx > 0 and padding_idx >= num_embeddings:
            raise AssertionError(f"{self._word} must be within num_embeddings")
        if padding_idx < 0:
            if padding_idx < -num_embeddings:
                raise AssertionError(f"{self._word} must be within num_embeddings")
            return num_embeddings + padding_idx
        return padding_idx

    def reset_parameters(self):
        """Draws the table from N(0, 1); the padding row is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            with no_grad():
                self.weight[self.padding_idx].fill_(0)


class Embedding(_Table):
    """A table of vectors, looked up by integer indices.

    Args:
        num_embeddings: rows of the table.
        embedding_dim: length of each row.
        padding_idx: a row that is 0 at first and gets no gradient.
        max_norm: rows in use are scaled down, in place, to at most this norm.
        norm_type: exponent of that norm.
        scale_grad_by_freq: divide a row's gradient by how often it was used.
        sparse: whether the gradient of weight is a sparse tensor.
        device, dtype: of the parameters.

    Shape: (*) integers to (*, embedding_dim); weight (num_embeddings, embedding_dim).

    >>> torch.nn.Embedding(10, 3)(torch.tensor([[1, 2, 4, 5]])).shape
    torch.Size([1, 4, 3])
    """

    num_embeddings: int
    embedding_dim: int
    padding_idx: int | None
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    weight: _C.Tensor
    freeze: bool
    sparse: bool

    def __init__(
        self, num_embeddings, embedding_dim, padding_idx=None, max_norm=None, norm_type=2.0,
        scale_grad_by_freq=False, sparse=False, _weight=None, _freeze=False, device=None,
        dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = self._resolve_padding(num_embeddings, padding_idx)
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self._make_weight(num_embeddings, embedding_dim, _weight, _freeze, device, dtype)
        self.sparse = sparse

    def forward(self, input):
        return F.embedding(
            input, self.weight, self.padding_idx, self.max_norm, self.norm_type,
            self.scale_grad_by_freq, self.sparse,
        )  # fmt: skip

    def extra_repr(self):
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq is not False:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        if self.sparse is not False:
            parts.append("sparse=True")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls, embeddings, freeze=True, padding_idx=None, max_norm=None, norm_type=2.0,
        scale_grad_by_freq=False, sparse=False,
    ):  # fmt: skip
        """An Embedding whose table is a given matrix.

        Args:
            embeddings: the table, (num_embeddings, embedding_dim).
            freeze: whether it is kept from training.
            padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse: as of Embedding.

        >>> table = torch.nn.Embedding.from_pretrained(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
        >>> table(torch.tensor(1))
        tensor([3., 4.])
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, cols = embeddings.shape
        return cls(
            rows, cols, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse,
            _weight=embeddings, _freeze=freeze,
        )  # fmt: skip


class EmbeddingBag(_Table):
    """Sums, means or maxima of bags of rows of a table, without the rows in between.

    Args:
        num_embeddings: rows of the table.
        embedding_dim: length of each row.
        max_norm: rows in use are scaled down, in place, to at most this norm.
        norm_type: exponent of that norm.
        scale_grad_by_freq: divide a row's gradient by how often it was used.
        mode: "sum", "mean" or "max".
        sparse: whether the gradient of weight is a sparse tensor.
        include_last_offset: offsets have one more element, where the last bag ends.
        padding_idx: a row that counts in no bag and gets no gradient.
        device, dtype: of the parameters.

    Shape: input (bags, n), or (total) with offsets (bags), to (bags, embedding_dim);
    per_sample_weights, with "sum" only, as input.

    >>> torch.nn.EmbeddingBag(10, 3)(torch.tensor([1, 2, 4]), torch.tensor([0, 2])).shape
    torch.Size([2, 3])
    """

    num_embeddings: int
    embedding_dim: int
    max_norm: float | None
    norm_type: float
    scale_grad_by_freq: bool
    weight: _C.Tensor
    mode: str
    sparse: bool
    include_last_offset: bool
    padding_idx: int | None

    _word = "padding_idx"

    def __init__(
        self, num_embeddings, embedding_dim, max_norm=None, norm_type=2.0,
        scale_grad_by_freq=False, mode="mean", sparse=False, _weight=None,
        include_last_offset=False, padding_idx=None, device=None, dtype=None,
    ):  # fmt: skip
        super().__init__()
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.padding_idx = self._resolve_padding(num_embeddings, padding_idx)
        self._make_weight(num_embeddings, embedding_dim, _weight, False, device, dtype)
        self.mode = mode
        self.sparse = sparse
        self.include_last_offset = include_last_offset

    def forward(self, input, offsets=None, per_sample_weights=None):
        return F.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, self.scale_grad_by_freq,
            self.mode, self.sparse, per_sample_weights, self.include_last_offset,
            self.padding_idx,
        )  # fmt: skip

    def extra_repr(self):
        parts = [f"{self.num_embeddings}, {self.embedding_dim}"]
        if self.max_norm is not None:
            parts.append(f"max_norm={self.max_norm}")
        if self.norm_type != 2:
            parts.append(f"norm_type={self.norm_type}")
        if self.scale_grad_by_freq is not False:
            parts.append(f"scale_grad_by_freq={self.scale_grad_by_freq}")
        parts.append(f"mode={self.mode!r}")
        if self.padding_idx is not None:
            parts.append(f"padding_idx={self.padding_idx}")
        return ", ".join(parts)

    @classmethod
    def from_pretrained(
        cls, embeddings, freeze=True, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
        mode="mean", sparse=False, include_last_offset=False, padding_idx=None,
    ):  # fmt: skip
        """An EmbeddingBag whose table is a given matrix.

        Args:
            embeddings: the table, (num_embeddings, embedding_dim).
            freeze: whether it is kept from training.
            max_norm, norm_type, scale_grad_by_freq, mode, sparse, include_last_offset, padding_idx:
                as of EmbeddingBag.
        """
        if embeddings.dim() != 2:
            raise AssertionError("Embeddings parameter is expected to be 2-dimensional")
        rows, cols = embeddings.shape
        bag = cls(
            rows, cols, max_norm, norm_type, scale_grad_by_freq, mode, sparse, embeddings,
            include_last_offset, padding_idx,
        )  # fmt: skip
        bag.weight.requires_grad = not freeze
        return bag
