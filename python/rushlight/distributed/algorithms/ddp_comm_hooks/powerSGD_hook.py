"""PowerSGD (Vogels, Karimireddy and Jaggi, 2019): gradients sent as products of thin matrices.

A matrix M becomes P Q^T: P = M Q, summed over the ranks and orthogonalized; Q = M^T P, summed. What
that loses is added to the gradient of the next step.
"""

from __future__ import annotations

import math

import rushlight
from rushlight.distributed import _world
from rushlight.distributed._collectives import all_reduce
from rushlight.distributed.algorithms.ddp_comm_hooks.default_hooks import _average

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]


class PowerSGDState:
    """The settings of PowerSGD, and what it keeps from step to step.

    Args:
        process_group: the default group where it is None.
        matrix_approximation_rank: the number of columns of P and Q.
        start_powerSGD_iter: steps before it, at least 2, send the gradients whole.
        min_compression_rate: matrices that become smaller by less are sent whole.
        use_error_feedback: add to each gradient what the last step has lost.
        warm_start: begin with the Q of the last step, instead of random numbers.
        orthogonalization_epsilon: added to the lengths of columns; 0 for a QR decomposition.
        random_seed: of the first Q, which must be the same on all ranks.
        compression_stats_logging_frequency: accepted, not used.
        batch_tensors_with_same_shape: accepted, not used.

    >>> state = PowerSGDState(None, matrix_approximation_rank=2)  # doctest: +SKIP
    >>> model.register_comm_hook(state, powerSGD_hook)  # doctest: +SKIP
    """

    def __init__(
        self, process_group, matrix_approximation_rank=1, start_powerSGD_iter=1000,
        min_compression_rate=2, use_error_feedback=True, warm_start=True,
        orthogonalization_epsilon=0, random_seed=0, compression_stats_logging_frequency=10000,
        batch_tensors_with_same_shape=False,
    ):  # fmt: skip
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is "
                "enabled, because PowerSGD can only be applied after the first two iterations in "
                "DDP."
            )
        import numpy

        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter = start_powerSGD_iter
        self.min_compression_rate = min_compression_rate
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.rng = numpy.random.RandomState(random_seed)
        self.error_dict, self.p_memory_dict, self.q_memory_dict = {}, {}, {}
        self.iter = 0
        self.total_numel_before_compression = self.total_numel_after_compression = 0
        self.batch_tensors_with_same_shape = batch_tensors_with_same_shape

    def _count(self, bucket):
        if bucket.is_last():
            self.iter += 1

    def compression_stats(self):
        """(how many times fewer elements were sent, elements before, elements sent)."""
        before, after = self.total_numel_before_compression, self.total_numel_after_compression
        return (before / after if after else 0), before, after

    def _first_q(self, shapes, like):
        """Random numbers, the same on all ranks; the generator of the program does not move."""
        with rushlight.random.fork_rng(devices=[]):
            rushlight.manual_seed(int(self.rng.randint(1_000_000_000)))
            return [rushlight.randn(shape, device="cpu", dtype=like.dtype).to(like.device)
                    for shape in shapes]  # fmt: skip

    def _orthogonal(self, matrix):
        epsilon = self.orthogonalization_epsilon
        if epsilon == 0:
            return rushlight.linalg.qr(matrix)[0]
        columns = []
        for column in matrix.unbind(1):
            for each in columns:
                column = column - each * (each * column).sum()
            columns.append(column / (column.norm() + epsilon))
        return rushlight.stack(columns, 1)


def _compressible(matrix, state):
    n, m = matrix.shape
    rank = min(n, m, state.matrix_approximation_rank)
    return (n + m) * rank * state.min_compression_rate < n * m


def _start(group, tensors):
    """A future of the sums over the ranks of some tensors, sent as one."""
    joined = rushlight.cat([t.reshape(-1) for t in tensors])
    future = all_reduce(joined, group=group, async_op=True).get_future()

    def split(done):
        parts = done.value()[0].split([t.numel() for t in tensors])
        return [part.view(t.shape) for part, t in zip(parts, tensors, strict=True)]

    return future.then(split)


def _compress(state, bucket, flat, matrices, whole):
    """A future of `flat`, whose views `matrices` are approximated, and `whole` averaged."""
    group = state.process_group if state.process_group is not None else _world._default()
    index, size = bucket.index(), group.size()
    shapes = [(m.size(1), min(*m.shape, state.matrix_approximation_rank)) for m in matrices]
    own = flat.clone() if state.use_error_feedback else None
    qs = state.q_memory_dict.get(index) if state.warm_start else None
    if qs is None or [tuple(q.shape) for q in qs] != shapes:
        qs = state._first_q(shapes, flat)
    qs = [state._orthogonal(q) for q in qs]
    ps = [m @ q for m, q in zip(matrices, qs, strict=True)]
    state.total_numel_before_compression += flat.numel()
    sent = sum(t.numel() for t in [*ps, *qs, *whole])
    state.total_numel_after_compression += sent
    first = _start(group, [*ps, *whole])

    def second(done):
        sums = done.value()
        for tensor, total in zip(whole, sums[len(matrices) :], strict=True):
            tensor.copy_(total / size)
        ps = [state._orthogonal(p) for p in sums[: len(matrices)]]
        qs = [m.t() @ p for m, p in zip(matrices, ps, strict=True)]
        if qs:
            qs = [q / size for q in _start(group, qs).wait()]
        for matrix, p, q in zip(matrices, ps, qs, strict=True):
            matrix.copy_(p @ q.t())
        if own is not None:
            state.error_dict[index] = own - flat
        if state.warm_start:
            state.q_memory_dict[index] = qs
        return flat

    return first.then(second)


def powerSGD_hook(state, bucket):
    """Sends the gradient of each matrix as two thin ones, those of vectors whole.

    Args:
        state: a PowerSGDState.
        bucket: a GradBucket.

    >>> model.register_comm_hook(PowerSGDState(None), powerSGD_hook)  # doctest: +SKIP
    """
    flat = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state._count(bucket)
        return _average(state.process_group, flat)
    _add_error(state, bucket.index(), flat)
    matrices, whole = [], []
    for gradient in bucket.gradients():
        matrix = gradient.view(gradient.size(0), -1) if gradient.dim() > 1 else gradient
        fits = gradient.dim() > 1 and _compressible(matrix, state)
        (matrices if fits else whole).append(matrix)
    future = _compress(state, bucket, flat, matrices, whole)
    state._count(bucket)
    return future


def batched_powerSGD_hook(state, bucket):
    """Sends all gradients of a bucket as one square matrix, approximated by two thin ones.

    Args:
        state: a PowerSGDState.
        bucket: a GradBucket.

    >>> model.register_comm_hook(PowerSGDState(None), batched_powerSGD_hook)  # doctest: +SKIP
    """
    buffer = bucket.buffer()
    if state.iter < state.start_powerSGD_iter:
        state._count(bucket)
        return _average(state.process_group, buffer)
    side = math.ceil(math.sqrt(buffer.numel()))
    square = rushlight.zeros(side * side, dtype=buffer.dtype, device=buffer.device)
    square[: buffer.numel()] = buffer
    _add_error(state, bucket.index(), square)
    future = _compress(state, bucket, square, [square.view(side, side)], [])
    state._count(bucket)
    return future.then(lambda done: buffer.copy_(done.value()[: buffer.numel()]))


def _add_error(state, index, flat):
    if not state.use_error_feedback:
        return
    error = state.error_dict.get(index)
    if error is not None and error.shape == flat.shape:
        flat.add_(error)
