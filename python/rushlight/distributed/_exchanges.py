"""The collectives by which each rank gets a part of every rank's tensor."""

from __future__ import annotations

import zlib

import rushlight
from rushlight.distributed._checks import (
    check_length,
    check_same,
    collective,
    copy_back,
    done,
    end,
    flat,
)
from rushlight.distributed._collectives import _reduce_words, _reduction
from rushlight.distributed._reduce_op import ReduceOp, plan
from rushlight.distributed._work import Call, Exchange, Work, of


@collective("output", "input")
def reduce_scatter_tensor(output, input, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce of which each rank keeps its part.

    Args:
        output: this rank's part.
        input: of as many elements as all parts together.
        op: a ReduceOp.
        group: the default group where it is None.
        async_op: return a Work at once.
    """
    check_same("output", [output], input, shapes=False)
    plan(op, input, group)
    if input.numel() != output.numel() * group.size():
        raise ValueError(
            "input tensor must be the same size as output size times world size\n"
            f"input is {of(input)}, output {of(output)}, world size {group.size()}"
        )
    if group.size() == 1:
        output.detach().copy_(input.detach().view(output.shape))
        return done(group, async_op, [output])
    call = Call(group, "reduce_scatter", _reduce_words(input, op), input.device)
    if scatters := call.engine.scatters:
        parts, reduced, kept = _reduction(group, call, input, op, "reduce_scatter")
    else:
        copied = input.detach().clone(memory_format=rushlight.contiguous_format)
        parts, reduced, kept = _reduction(group, call, copied, op, "all_reduce")

    def finish():
        own = reduced().view(-1)
        if not scatters and output.numel():
            own = own.chunk(group.size())[group.rank()]
        output.detach().copy_(own.view(output.shape))

    return end(group._hold(Work(group, call, parts, finish, [output]), (output, *kept)), async_op)


@collective("output", "input_list")
def reduce_scatter(output, input_list, op=ReduceOp.SUM, group=None, async_op=False):
    """all_reduce of lists, of which each rank keeps its tensor.

    Args:
        output: this rank's tensor.
        input_list: a tensor for each rank.
        op: a ReduceOp.
        group: the default group where it is None.
        async_op: return a Work at once.
    """
    check_length("input_list", input_list, group)
    check_same("input_list", input_list, output)
    joined = rushlight.stack([each.detach().reshape(-1) for each in input_list])
    return reduce_scatter_tensor(output, joined, op, group, async_op)


@collective("output", "input")
def all_to_all_single(
    output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False
):
    """Each rank sends a part of its tensor to each, and gets a part from each.

    Args:
        output: the parts that the ranks sent to this one.
        input: a part for each rank, along the first dimension.
        output_split_sizes: the lengths of the parts; None where all are the same.
        input_split_sizes: see output_split_sizes.
        group: the default group where it is None.
        async_op: return a Work at once.
    """
    check_same("output", [output], input, shapes=False)
    for name, tensor, sizes in (
        ("output", output, output_split_sizes), ("input", input, input_split_sizes),
    ):  # fmt: skip
        length = tensor.size(0) if tensor.dim() else 0
        if not sizes and length % group.size():
            raise ValueError(
                "Tensor's dim 0 does not divide equally across group size\n"
                f"{name} is {of(tensor)}, the group has {group.size()} ranks"
            )
        if sizes and len(sizes) != group.size():
            raise ValueError("Number of tensor splits not equal to group size")
        if sizes and (sum(sizes) != length or min(sizes) < 0):
            raise ValueError(
                f"Split sizes doesn't match total dim 0 size\n{name} is {of(tensor)}, "
                f"its split sizes are {list(sizes)}"
            )
    if output_split_sizes or input_split_sizes:
        given, target = flat(input), flat(output)
        sent = given.split(list(input_split_sizes or [len(given) // group.size()] * group.size()))
        got = target.split(list(output_split_sizes or [len(target) // group.size()] * group.size()))
        rows = f"{of(input[:0])}, with split sizes"
        return end(_messages(group, rows, got, sent, copy_back(output, target), [output]), async_op)
    if output.shape != input.shape:
        raise ValueError(f"output is {of(output)}, input {of(input)}: parts would differ")
    given, target = flat(input), flat(output)
    if group.size() == 1:
        output.detach().copy_(given.view(output.shape))
        return done(group, async_op, [output])
    call = Call(group, "all_to_all", of(input), input.device)
    n = given.nbytes // group.size()
    work = group._start(call, "all_to_all", given, target, n, copy_back(output, target), [output])
    work._result = [output]
    return end(work, async_op)


@collective("output_tensor_list", "input_tensor_list")
def all_to_all(output_tensor_list, input_tensor_list, group=None, async_op=False):
    """Each rank sends one tensor to each rank, and gets one from each.

    Args:
        output_tensor_list: the results, of the shapes of the inputs.
        input_tensor_list: a tensor for each rank.
        group: the default group where it is None.
        async_op: return a Work at once.
    """
    for name, tensors in (("output_", output_tensor_list), ("input_", input_tensor_list)):
        check_length(name + "tensor_list", tensors, group)
        check_same(name + "tensor_list", tensors, input_tensor_list[0], shapes=False)
    sent = [flat(each) for each in input_tensor_list]
    got = [flat(each) for each in output_tensor_list]

    def finish():
        for result, part in zip(output_tensor_list, got, strict=True):
            if copying := copy_back(result, part):
                copying()

    words = f"lists of {of(input_tensor_list[0]).partition('[')[0]}"
    return end(_messages(group, words, got, sent, finish, output_tensor_list), async_op)


def _messages(g, words, got, sent, finish, result):
    """A Work that sends a tensor to each rank and gets one from each, of any lengths."""
    own = g.rank()
    if got[own].numel() != sent[own].numel():
        raise ValueError(
            f"rank {own} would send itself {sent[own].numel()} elements, and get {got[own].numel()}"
        )
    lengths = [[each.numel() for each in tensors] for tensors in (sent, got)]
    call, parts = Exchange(g, "all_to_all", words, got[own].device, *lengths), []
    call.take_number()
    got[own].view(-1).copy_(sent[own].view(-1))
    with call.engine.together():
        for way, tensors in (("send", sent), ("receive", got)):
            for rank, each in enumerate(tensors):
                n = each.nbytes
                ends = (own, rank) if way == "send" else (rank, own)
                if rank == own or n == 0:
                    continue
                tag = zlib.crc32(f"{call} {ends} {n}".encode())  # lengths that differ never meet
                given, target = (each, None) if way == "send" else (None, each)
                parts.append(call.engine.submit(way, given, target, n, tag, peer=rank))
    return g._hold(Work(g, call, parts, finish, result), (got, sent, result))


reduce_scatter_single = reduce_scatter_tensor
