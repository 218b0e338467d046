"""What libraries call as methods of a ProcessGroup: the functions of this package, which begin.

Ranks are those of the group. Each takes a tensor, or a list that holds one, and returns a Work.
"""

from __future__ import annotations

from rushlight.distributed._reduce_op import ReduceOp


def _one(tensors):
    """The tensor of a list that holds one."""
    if isinstance(tensors, list | tuple):
        if len(tensors) != 1:
            raise ValueError(f"a list of one tensor is needed, not of {len(tensors)}")
        return tensors[0]
    return tensors


def _row(tensors):
    """A tensor for each rank: the list, or the one list of a list."""
    nested = len(tensors) == 1 and isinstance(tensors[0], list | tuple)
    return list(tensors[0]) if nested else list(tensors)


_module: list = []  # distributed_c10d, which says so itself: it imports this file


def _functions():
    return _module[0]


class GroupCalls:
    """The base of ProcessGroup: its collectives."""

    _coalescing = None  # the Works of a _coalescing_manager, inside of it

    def allreduce(self, tensors, op=ReduceOp.SUM):
        """all_reduce."""
        return _functions().all_reduce(_one(tensors), op, self, True)

    def allreduce_coalesced(self, tensors, op=ReduceOp.SUM):
        """all_reduce_coalesced."""
        return _functions().all_reduce_coalesced(tensors, op, self, True)

    def broadcast(self, tensors, root=0):
        """broadcast."""
        return _functions().broadcast(_one(tensors), None, self, True, root)

    def reduce(self, tensors, root=0, op=ReduceOp.SUM):
        """reduce."""
        return _functions().reduce(_one(tensors), None, op, self, True, root)

    def allgather(self, output_tensors, input_tensors):
        """all_gather."""
        return _functions().all_gather(_row(output_tensors), _one(input_tensors), self, True)

    def all_gather_single(self, output, input):
        """all_gather_into_tensor."""
        return _functions().all_gather_into_tensor(output, input, self, True)

    _allgather_base = all_gather_single

    def gather(self, output_tensors, input_tensors, root=0):
        """gather."""
        rows = _row(output_tensors) if output_tensors else None
        return _functions().gather(_one(input_tensors), rows, None, self, True, root)

    def scatter(self, output_tensors, input_tensors, root=0):
        """scatter."""
        rows = _row(input_tensors) if input_tensors else None
        return _functions().scatter(_one(output_tensors), rows, None, self, True, root)

    def reduce_scatter(self, output_tensors, input_tensors, op=ReduceOp.SUM):
        """reduce_scatter."""
        rows = _row(input_tensors)
        return _functions().reduce_scatter(_one(output_tensors), rows, op, self, True)

    def reduce_scatter_single(self, output, input, op=ReduceOp.SUM):
        """reduce_scatter_tensor."""
        return _functions().reduce_scatter_tensor(output, input, op, self, True)

    _reduce_scatter_base = reduce_scatter_single

    def alltoall(self, output_tensors, input_tensors):
        """all_to_all."""
        return _functions().all_to_all(output_tensors, input_tensors, self, True)

    def alltoall_base(self, output, input, output_split_sizes, input_split_sizes):
        """all_to_all_single."""
        return _functions().all_to_all_single(
            output, input, output_split_sizes, input_split_sizes, self, True
        )

    def send(self, tensors, dstRank, tag=0):
        """isend."""
        return _functions().isend(_one(tensors), None, self, tag, dstRank)

    def recv(self, tensors, srcRank, tag=0):
        """irecv."""
        return _functions().irecv(_one(tensors), None, self, tag, srcRank)

    def recv_anysource(self, tensors, tag=0):
        """irecv from whichever rank sends first."""
        return _functions().irecv(_one(tensors), None, self, tag)

    def barrier(self):
        """barrier."""
        return _functions().barrier(self, True)

    def monitored_barrier(self, timeout=None, wait_all_ranks=False):
        """monitored_barrier."""
        return _functions().monitored_barrier(self, timeout, wait_all_ranks)

    def get_group_store(self):
        """The store of the group's keys; None in a group of one."""
        return self._store

    def set_timeout(self, timeout):
        """How long its calls wait from now on.

        Args:
            timeout: a timedelta.
        """
        self._timeout = timeout.total_seconds()

    def shutdown(self):
        """destroy_process_group."""
        return _functions().destroy_process_group(self)

    abort = shutdown
