"""What reads by indices and has a sparse gradient: nn.Embedding(sparse=True), and
gather(sparse_grad=True).
"""

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


class Gather(Function):
    """gather(); the gradient of the input has an entry for each index."""

    @staticmethod
    def forward(ctx, input, dim, index):
        """The elements, as without sparse_grad=True."""
        ctx.save_for_backward(index)
        ctx.size, ctx.dim = input.shape, dim
        return _C.gather(input, dim, index)

    @staticmethod
    def backward(ctx, g):
        """A sparse gradient."""
        (index,) = ctx.saved_tensors
        rank = len(ctx.size)
        if rank == 0 or index.dim() == 0:
            at = index.to(_C.int64).reshape(1, -1)[:rank]
            return coordinates(at, g.reshape(-1), ctx.size, g.numel() < 2), None, None
        at = list(_C.meshgrid(*(_C.arange(n, device=g.device) for n in index.shape), indexing="ij"))
        at[ctx.dim % rank] = index.to(_C.int64)
        places = _C.stack([numbers.reshape(-1) for numbers in at])
        return coordinates(places, g.reshape(-1), ctx.size, g.numel() < 2), None, None
