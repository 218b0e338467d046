"""Collectives through which gradients flow: backward is the collective the other way round.

Every rank must call backward, in the same order, as backward communicates too.
"""

from __future__ import annotations

import rushlight
from rushlight import distributed as dist
from rushlight.autograd import Function
from rushlight.distributed import ReduceOp


class _AllReduce(Function):
    @staticmethod
    def forward(ctx, op, group, tensor):
        ctx.op, ctx.group = op, group
        result = tensor.clone(memory_format=rushlight.contiguous_format)
        dist.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx, gradient):
        return None, None, _AllReduce.apply(ctx.op, ctx.group, gradient)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx, src, group, tensor):
        ctx.src, ctx.group = src, group
        result = tensor.clone(memory_format=rushlight.contiguous_format)
        dist.broadcast(result, src, group)
        return result

    @staticmethod
    def backward(ctx, gradient):
        total = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, gradient)
        return None, None, total if dist.get_rank() == ctx.src else rushlight.zeros_like(total)


class _Reduce(Function):
    @staticmethod
    def forward(ctx, dst, op, group, tensor):
        ctx.dst, ctx.group = dst, group
        result = tensor.clone(memory_format=rushlight.contiguous_format)
        dist.reduce(result, dst, op, group)
        return result

    @staticmethod
    def backward(ctx, gradient):
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, gradient)


class _Gather(Function):
    @staticmethod
    def forward(ctx, dst, group, tensor):
        ctx.dst, ctx.group = dst, group
        rows = [rushlight.zeros_like(tensor) for _ in range(dist.get_world_size(group))]
        dist.gather(tensor, rows if dist.get_rank() == dst else None, dst, group)
        return tuple(rows)

    @staticmethod
    def backward(ctx, *gradients):
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *gradients)


class _Scatter(Function):
    @staticmethod
    def forward(ctx, src, group, *tensors):
        ctx.src, ctx.group, ctx.count = src, group, len(tensors)
        result = rushlight.zeros_like(tensors[0])
        dist.scatter(result, list(tensors) if dist.get_rank() == src else None, src, group)
        return result

    @staticmethod
    def backward(ctx, gradient):
        return None, None, *_Gather.apply(ctx.src, ctx.group, gradient)


class _AllGather(Function):
    @staticmethod
    def forward(ctx, group, tensor):
        ctx.group = group
        rows = [rushlight.empty_like(tensor) for _ in range(dist.get_world_size(group))]
        dist.all_gather(rows, tensor, group)
        return tuple(rows)

    @staticmethod
    def backward(ctx, *gradients):
        own = rushlight.empty_like(gradients[0])
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, own, *gradients)


class _AllGatherInto(Function):
    @staticmethod
    def forward(ctx, output, input, group):
        ctx.group, ctx.shape = group, input.shape
        dist.all_gather_into_tensor(output, input.contiguous(), group)
        return output

    @staticmethod
    def backward(ctx, gradient):
        own = gradient.new_empty(ctx.shape)
        dist.reduce_scatter_tensor(own, gradient.contiguous(), group=ctx.group)
        return None, own, None


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx, op, group, output, *tensors):
        ctx.group = group
        dist.reduce_scatter(output, list(tensors), op, group)
        return output

    @staticmethod
    def backward(ctx, gradient):
        return None, None, None, *_AllGather.apply(ctx.group, gradient)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx, group, results, *tensors):
        ctx.group, ctx.shapes = group, [each.shape for each in tensors]
        dist.all_to_all(results, list(tensors), group)
        return tuple(results)

    @staticmethod
    def backward(ctx, *gradients):
        own = [gradients[0].new_empty(shape) for shape in ctx.shapes]
        return None, None, *_AllToAll.apply(ctx.group, own, *gradients)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(ctx, group, output, output_split_sizes, input_split_sizes, input):
        ctx.group, ctx.shape = group, input.shape
        ctx.sizes = input_split_sizes, output_split_sizes
        dist.all_to_all_single(output, input, output_split_sizes, input_split_sizes, group)
        return output

    @staticmethod
    def backward(ctx, gradient):
        own = gradient.new_empty(ctx.shape)
        gradient = gradient.contiguous()
        return None, None, None, None, _AllToAllSingle.apply(ctx.group, own, *ctx.sizes, gradient)


def all_reduce(tensor, op=ReduceOp.SUM, group=None):
    """The sum, or another reduction, of all ranks' tensors; its gradient is summed in the same way.

    Args:
        tensor: of the same shape and dtype on all ranks.
        op: a ReduceOp.
        group: the default group where it is None.

    Returns:
        A new tensor.

    >>> torch.distributed.nn.functional.all_reduce(x).sum().backward()  # doctest: +SKIP
    """
    return _AllReduce.apply(op, group, tensor)


def broadcast(tensor, src, group=None):
    """The tensor of one rank, on all; that rank gets the sum of their gradients.

    Args:
        tensor: of the same shape and dtype on all ranks.
        src: the rank in the default group that gives it.
        group: the default group where it is None.

    Returns:
        A new tensor.

    >>> torch.distributed.nn.functional.broadcast(x, 0)  # doctest: +SKIP
    """
    return _Broadcast.apply(src, group, tensor)


def reduce(tensor, dst, op=ReduceOp.SUM, group=None):
    """all_reduce whose result only one rank gets, and whose gradient that rank gives to all.

    Args:
        tensor: of the same shape and dtype on all ranks.
        dst: the rank in the default group that gets it.
        op: a ReduceOp.
        group: the default group where it is None.

    Returns:
        A new tensor.

    >>> torch.distributed.nn.functional.reduce(x, 0)  # doctest: +SKIP
    """
    return _Reduce.apply(dst, op, group, tensor)


def gather(tensor, dst=0, group=None):
    """The tensors of all ranks on one, each with the gradient that goes back to its rank.

    Args:
        tensor: of the same shape and dtype on all ranks.
        dst: the rank in the default group that gets them.
        group: the default group where it is None.

    Returns:
        A tuple with a tensor for each rank; zeros elsewhere than on dst.

    >>> torch.distributed.nn.functional.gather(x)  # doctest: +SKIP
    """
    return _Gather.apply(dst, group, tensor)


def scatter(tensors, src=0, group=None):
    """One of a list of tensors of one rank for each rank; that rank gets their gradients.

    Args:
        tensors: on all ranks, a tensor for each rank; those of `src` count.
        src: the rank in the default group that gives them.
        group: the default group where it is None.

    Returns:
        A new tensor.

    >>> torch.distributed.nn.functional.scatter([a, b])  # doctest: +SKIP
    """
    return _Scatter.apply(src, group, *tensors)


def all_gather(tensor, group=None):
    """The tensors of all ranks; each rank gets the sum of all ranks' gradients of its own.

    Args:
        tensor: of the same shape and dtype on all ranks.
        group: the default group where it is None.

    Returns:
        A tuple with a tensor for each rank.

    >>> torch.cat(torch.distributed.nn.functional.all_gather(x))  # doctest: +SKIP
    """
    return _AllGather.apply(group, tensor)


def _all_gather_base(output_tensor, input_tensor, group=None):
    """all_gather_into_tensor through which gradients flow."""
    return _AllGatherInto.apply(output_tensor, input_tensor, group)


def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None):
    """The reduction of all ranks' lists, of which each rank gets its tensor.

    Args:
        output: where it is written.
        input_list: a tensor for each rank.
        op: a ReduceOp.
        group: the default group where it is None.

    Returns:
        output.

    >>> torch.distributed.nn.functional.reduce_scatter(out, [a, b])  # doctest: +SKIP
    """
    return _ReduceScatter.apply(op, group, output, *input_list)


def all_to_all(output_tensor_list, input_tensor_list, group=None):
    """Each rank sends one tensor to each rank, and gets one from each; gradients go back.

    Args:
        output_tensor_list: where they are written.
        input_tensor_list: a tensor for each rank.
        group: the default group where it is None.

    Returns:
        A tuple of the results.

    >>> torch.distributed.nn.functional.all_to_all([a, b], [x, y])  # doctest: +SKIP
    """
    return _AllToAll.apply(group, output_tensor_list, *input_tensor_list)


def all_to_all_single(output, input, output_split_sizes=None, input_split_sizes=None, group=None):
    """Each rank sends a part of its tensor to each, and gets a part from each; gradients go back.

    Args:
        output: where the parts are written.
        input: a part for each rank, along the first dimension.
        output_split_sizes: the lengths of the parts; None where all are the same.
        input_split_sizes: see output_split_sizes.
        group: the default group where it is None.

    Returns:
        output.

    >>> torch.distributed.nn.functional.all_to_all_single(out, x)  # doctest: +SKIP
    """
    return _AllToAllSingle.apply(group, output, output_split_sizes, input_split_sizes, input)
