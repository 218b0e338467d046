"""Communication hooks: the average of the gradients, also in half precision."""

from __future__ import annotations

import rushlight
from rushlight.distributed import _world
from rushlight.distributed._collectives import all_reduce

__all__ = [
    "allreduce_hook", "bf16_compress_hook", "bf16_compress_wrapper", "fp16_compress_hook",
    "fp16_compress_wrapper",
]  # fmt: skip


def _average(process_group, tensor):
    """A future of the average over the ranks, which takes the place of the tensor's values."""
    group = process_group if process_group is not None else _world._default()
    tensor.div_(group.size())
    future = all_reduce(tensor, group=group, async_op=True).get_future()
    return future.then(lambda done: done.value()[0])


def allreduce_hook(process_group, bucket):
    """The average of the gradients over the ranks: what happens without a hook.

    Args:
        process_group: the default group where it is None.
        bucket: a GradBucket.

    >>> model.register_comm_hook(None, allreduce_hook)  # doctest: +SKIP
    """
    return _average(process_group, bucket.buffer())


def _compressed(process_group, bucket, dtype):
    buffer = bucket.buffer()
    future = _average(process_group, buffer.to(dtype))
    return future.then(lambda done: buffer.copy_(done.value()))


def fp16_compress_hook(process_group, bucket):
    """The average of the gradients, which are sent in float16.

    Args:
        process_group: the default group where it is None.
        bucket: a GradBucket.

    >>> model.register_comm_hook(None, fp16_compress_hook)  # doctest: +SKIP
    """
    return _compressed(process_group, bucket, rushlight.float16)


def bf16_compress_hook(process_group, bucket):
    """The average of the gradients, rounded to bfloat16.

    Args:
        process_group: the default group where it is None.
        bucket: a GradBucket.

    >>> model.register_comm_hook(None, bf16_compress_hook)  # doctest: +SKIP
    """
    return _compressed(process_group, bucket, rushlight.bfloat16)


def _wrapper(hook, dtype):
    def compressed(state, bucket):
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype))
        return hook(state, bucket).then(lambda done: buffer.copy_(done.value()))

    return compressed


def fp16_compress_wrapper(hook):
    """A hook that gives `hook` its bucket in float16.

    Args:
        hook: a communication hook.

    >>> model.register_comm_hook(None, fp16_compress_wrapper(allreduce_hook))  # doctest: +SKIP
    """
    return _wrapper(hook, rushlight.float16)


def bf16_compress_wrapper(hook):
    """A hook that gives `hook` its bucket in bfloat16.

    Args:
        hook: a communication hook.

    >>> model.register_comm_hook(None, bf16_compress_wrapper(allreduce_hook))  # doctest: +SKIP
    """
    return _wrapper(hook, rushlight.bfloat16)
