"""Reducer: the gradients of DistributedDataParallel, averaged over ranks while backward runs.

Gradients are copied into buckets as they are accumulated; a full bucket is reduced at once, in the
order of the buckets, which is the same on all ranks. The hook of the last gradient waits for all
and writes the averages back.
"""

from __future__ import annotations

import weakref

import rushlight
from rushlight import _C
from rushlight.distributed._collectives import all_reduce

_FIRST = 1 << 20  # bytes of the bucket that is full first
_UNFINISHED = (
    "Expected to have finished reduction in the prior iteration before starting a new one. This "
    "error indicates that your module has parameters that were not used in producing loss. You can "
    "enable unused parameter detection by passing the keyword argument "
    "`find_unused_parameters=True` to `torch.nn.parallel.DistributedDataParallel`, and by making "
    "sure all `forward` function outputs participate in calculating loss."
)


class _Bucket:
    def __init__(self, parameters):
        first = parameters[0]
        sizes = [p.numel() for p in parameters]
        self.parameters = parameters
        self.buffer = rushlight.zeros(sum(sizes), dtype=first.dtype, device=first.device)
        parts = self.buffer.split(sizes)
        self.views = [v.view(p.shape) for v, p in zip(parts, parameters, strict=True)]
        self.missing, self.work = len(parameters), None


def _in_buckets(parameters, limit):
    """Lists of parameters of one dtype and device, in reverse order of registration."""
    found, open_, bytes_ = [], {}, {}
    for each in reversed(parameters):
        key = each.dtype, each.device
        open_.setdefault(key, []).append(each)
        bytes_[key] = bytes_.get(key, 0) + each.nbytes
        if bytes_[key] >= (limit if found else min(_FIRST, limit)):
            found.append(open_.pop(key))
            bytes_[key] = 0
    return [*found, *open_.values()]


class Reducer:
    """What a backward between prepare() and its last hook has to do."""

    def __init__(self, named, group, limit, as_views):
        self.names = {id(p): name for name, p in named}
        self.group, self.as_views = group, as_views
        self.buckets = [_Bucket(ps) for ps in _in_buckets([p for _, p in named], limit)]
        self.places = {
            id(p): (bucket, i) for bucket in self.buckets for i, p in enumerate(bucket.parameters)
        }
        self.waits_for = set()  # ids of the parameters whose gradient is to come
        self.unused = set()
        self.finds_unused = False
        own = weakref.ref(self)

        def hook(parameter):
            reducer = own()
            if reducer is not None:
                reducer.ready(parameter)

        self.handles = [p.register_post_accumulate_grad_hook(hook) for _, p in named]

    def prepare(self):
        """Before a forward whose backward is to be reduced."""
        if self.waits_for and len(self.waits_for) < len(self.places):
            names = sorted(self.names[i] for i in self.waits_for)
            raise RuntimeError(
                f"{_UNFINISHED}\nparameters without a gradient in the last backward, on rank "
                f"{self.group.rank()}: {', '.join(names)}"
            )
        for bucket in self.buckets:
            for each in bucket.parameters:
                if not each.requires_grad:
                    raise RuntimeError(
                        f"parameter {self.names[id(each)]} required a gradient when it was wrapped "
                        "and does not any more: freeze before DistributedDataParallel(model)"
                    )
            bucket.missing, bucket.work = len(bucket.parameters), None
        self.next, self.waits_for, self.unused = 0, set(self.places), set()
        self.finds_unused = False

    def find_unused(self, outputs):
        """After that forward: parameters that no output depends on are not waited for."""
        self.finds_unused = True
        seen, todo = set(), [t.grad_fn for t in outputs if t.grad_fn is not None]
        reached = {id(t) for t in outputs}
        kept = []  # nodes are known by their ids, while they live
        while todo:
            node = todo.pop()
            if id(node) in seen:
                continue
            seen.add(id(node))
            kept.append(node)
            if (leaf := getattr(node, "variable", None)) is not None:
                reached.add(id(leaf))
            todo += [following for following, _ in node.next_functions if following is not None]
        self.unused = set(self.places) - reached

    def ready(self, parameter):
        """The hook: a gradient has been accumulated."""
        if id(parameter) not in self.waits_for:
            return
        first = len(self.waits_for) == len(self.places)
        self._take(parameter)
        if first:
            for bucket in self.buckets:
                for each in bucket.parameters:
                    if id(each) in self.unused:
                        self._take(each)
        self._start_full_buckets()
        if not self.waits_for:
            self._finish()

    def _take(self, parameter):
        bucket, i = self.places[id(parameter)]
        self.waits_for.discard(id(parameter))
        bucket.missing -= 1
        view, gradient = bucket.views[i], parameter.grad
        if gradient is None or id(parameter) in self.unused:
            view.zero_()
        elif gradient.data_ptr() != view.data_ptr():
            view.copy_(gradient.detach())

    def _start_full_buckets(self):
        while self.next < len(self.buckets) and not self.buckets[self.next].missing:
            bucket = self.buckets[self.next]
            bucket.buffer.div_(self.group.size())
            bucket.work = all_reduce(bucket.buffer, group=self.group, async_op=True)
            self.next += 1

    def _finish(self):
        used = self._used_anywhere()
        for bucket in self.buckets:
            bucket.work.wait()
            for parameter, view in zip(bucket.parameters, bucket.views, strict=True):
                if used is not None and id(parameter) not in used:
                    continue
                if self.as_views:
                    parameter.grad = view
                elif parameter.grad is None:
                    parameter.grad = view.clone()
                else:
                    parameter.grad.detach().copy_(view)

    def _used_anywhere(self):
        """The ids of the parameters that some rank has used; None for all."""
        if not self.finds_unused:
            return None
        ids = list(self.places)
        flags = rushlight.tensor(
            [i not in self.unused for i in ids], dtype=rushlight.int32,
            device=self.buckets[0].buffer.device,
        )  # fmt: skip
        all_reduce(flags, group=self.group)
        return {i for i, used in zip(ids, flags.tolist(), strict=True) if used}


def tensors_in(value):
    """The tensors in nested tuples, lists and dicts."""
    if isinstance(value, _C.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [t for each in value for t in tensors_in(each)]
    return [t for each in getattr(value, "__dict__", {}).values() for t in tensors_in(each)]
