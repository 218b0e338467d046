"""Rows of a table whose gradient is sparse: nn.Embedding(sparse=True)."""

from rushlight import _C
from rushlight._sparse.tensor import coordinates
from rushlight.autograd import Function


class Embedding(Function):
    """The rows; the gradient of the table has an entry for each index, none for the padding."""

    @staticmethod
    def forward(ctx, weight, indices, padding_idx, by_frequency):
        """The rows, as without sparse=True."""
        ctx.save_for_backward(indices)
        ctx.size, ctx.padding_idx, ctx.by_frequency = weight.shape, padding_idx, by_frequency
        return _C.embedding(weight, indices, padding_idx, False, False)

    @staticmethod
    def backward(ctx, g):
        """A sparse gradient."""
        if ctx.by_frequency:
            raise RuntimeError(
                "embedding_backward: scale_grad_by_freq not supported with sparse gradients"
            )
        (indices,) = ctx.saved_tensors
        indices = indices.reshape(-1).to(_C.int64)
        values = g.reshape(-1, ctx.size[1])
        if ctx.padding_idx >= 0:
            kept = indices != ctx.padding_idx
            indices, values = indices[kept], values[kept]
        made = coordinates(indices.unsqueeze(0), values, ctx.size, indices.shape[0] < 2)
        return made, None, None, None
