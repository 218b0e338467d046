"""Reducer: the gradients of DistributedDataParallel, averaged over ranks while backward runs.

Gradients are copied into buckets as they are accumulated; a full bucket is sent at once, in the
order of the buckets, which is the same on all ranks. The end of the backward pass waits for all and
writes the averages back. After the first time the buckets are made anew, in the order in which the
gradients came on rank 0.
"""

from __future__ import annotations

import warnings
import weakref

import rushlight
from rushlight import _C
from rushlight.distributed import _reducer_words as words
from rushlight.distributed._buckets import FIRST, Bucket, GradBucket, in_buckets
from rushlight.distributed._collectives import all_reduce, broadcast
from rushlight.futures import Future, _in_hook


class Reducer:
    """What a backward between prepare() and its end has to do."""

    def __init__(self, named, group, limit, as_views, finds_unused, static):
        self.parameters = [p for _, p in named]
        self.names = {id(p): name for name, p in named}
        self.group, self.as_views = group, as_views
        self.finds_unused, self.static = finds_unused, static
        self.hook, self.state, self.divisor = None, None, group.size()
        # As long as the order of the gradients is not known, one bucket; what may be unused has
        # no order to be learnt.
        self.limits = [FIRST, 25 << 20] if limit is None else [limit]
        self.order = {} if static or not finds_unused else None  # ids, as gradients came
        self._make_buckets(self.parameters[::-1], self.limits if self.order is None else [None])
        self.reductions = 0
        self.active = self.finished = False  # between prepare() and the end; after the end
        self.waits_for = set()  # ids of the parameters whose gradient is to come
        self.unused = set()  # of this forward, or of a static graph
        self.used = set()  # here, since the last reduction
        self.learnt = None  # of a static graph: how often each gradient comes
        self.used_anywhere = None  # of a static graph: ids
        self.counts = {}
        self.passed = False  # whether a pass that is not recorded came through the outputs
        own = weakref.ref(self)

        def accumulated(parameter):
            reducer = own()
            if reducer is not None:
                reducer.ready(parameter)

        self.handles = [p.register_post_accumulate_grad_hook(accumulated) for p in self.parameters]

    def remove_hooks(self):
        for each in self.handles:
            each.remove()

    def _make_buckets(self, parameters, limits):
        self.buckets = [Bucket(ps) for ps in in_buckets(parameters, limits)]
        self.slots = {
            id(p): (bucket, i) for bucket in self.buckets for i, p in enumerate(bucket.parameters)
        }
        if not self.as_views:
            return
        for bucket in self.buckets:
            for parameter, view in zip(bucket.parameters, bucket.views, strict=True):
                if parameter.grad is not None:
                    parameter.grad = view.copy_(parameter.grad)

    def rebuild_once(self):
        """All ranks together, in the forward after the first reduction."""
        if self.order is None or not self.reductions:
            return
        at = {id(p): i for i, p in enumerate(self.parameters)}
        came = [at[i] for i in self.order]
        came += [i for i in reversed(range(len(at))) if id(self.parameters[i]) not in self.order]
        self.order = None
        if self.group.size() > 1:
            indices = rushlight.tensor(came, device=self.parameters[0].device)
            broadcast(indices, group=self.group, group_src=0)
            came = indices.tolist()
        with rushlight.no_grad():
            self._make_buckets([self.parameters[i] for i in came], self.limits)

    def check_finished(self):
        """The last backward must have given every parameter its gradient, or none."""
        if self.passed and len(self.waits_for) == len(self.slots):
            warnings.warn(words.ONLY_GRAD, stacklevel=4)
        self.passed = False
        if self.waits_for and len(self.waits_for) < len(self.slots):
            names = [self.names[id(p)] for p in self.parameters if id(p) in self.waits_for]
            raise RuntimeError(words.unfinished(names, self.group.rank(), self.learnt is not None))

    def prepare(self, outputs):
        """After a forward whose backward is to be reduced."""
        self.check_finished()
        for bucket in self.buckets:
            bucket.missing, bucket.pending = len(bucket.parameters), None
        self.next, self.waits_for = 0, set(self.slots)
        self.active, self.finished = True, False
        self._watch(outputs)
        if self.order is not None and not self.reductions:
            self.order.clear()
        if self.static:
            self.counts = dict(self.learnt or {})
        elif self.finds_unused:
            self.unused = set(self.slots) - _reached(outputs)
            if not self.unused and not self.reductions:
                warnings.warn(words.NONE_UNUSED, stacklevel=3)

    def _watch(self, outputs):
        first = next((t for t in outputs if t.grad_fn is not None), None)
        if first is None:
            return
        own = weakref.ref(self)

        def passing(_):
            reducer = own()
            if reducer is not None and not _C.is_grad_enabled():
                reducer.passed = True

        first.register_hook(passing)

    def stop(self):
        """After a forward whose backward is not to be reduced."""
        self.active = self.finished = False

    def ready(self, parameter):
        """The hook: a gradient has been accumulated."""
        key = id(parameter)
        self.used.add(key)
        if not self.active:
            if self.finished:
                if self.static and key in self.unused:
                    raise RuntimeError(words.grown(self.names[key]))
                self.finished = False
                warnings.warn(words.second_backward(self.names[key]), stacklevel=2)
            return
        if self.static and self.learnt is None:
            self._learn(key)
            return
        if len(self.waits_for) == len(self.slots) and self.unused:
            for each in [p for p in self.parameters if id(p) in self.unused]:
                self._take(each)
        if self.static:
            if key in self.unused:
                raise RuntimeError(words.grown(self.names[key]))
            self.counts[key] -= 1
            if self.counts[key] > 0:
                return
        if key not in self.waits_for:
            raise RuntimeError(words.ready_twice(self.names[key]))
        if self.order is not None:
            self.order[key] = None
        self._take(parameter)
        self._send_full_buckets()

    def _learn(self, key):
        """The first backward of a static graph: everything is sent at its end."""
        if not self.counts:
            _C._queue_callback(self._finish_first)
        self.counts[key] = self.counts.get(key, 0) + 1
        if self.order is not None:  # by the last time that it came
            self.order.pop(key, None)
            self.order[key] = None

    def _finish_first(self):
        self.learnt, self.unused = dict(self.counts), set(self.slots) - set(self.counts)
        for each in self.parameters:
            self._take(each)
        self._send_full_buckets(learning=True)

    def _take(self, parameter):
        bucket, i = self.slots[id(parameter)]
        self.waits_for.discard(id(parameter))
        bucket.missing -= 1
        view, gradient = bucket.views[i], parameter.grad
        with rushlight.no_grad():
            if gradient is None:
                view.zero_()
                return
            if gradient.dtype != view.dtype or gradient.device != view.device:
                raise RuntimeError(words.moved(self.names[id(parameter)], gradient, view))
            divisor = 1 if self.hook is not None else self.divisor
            if divisor != 1:
                rushlight.mul(gradient.detach(), 1.0 / divisor, out=view)
            elif gradient.data_ptr() != view.data_ptr():
                view.copy_(gradient)

    def _send_full_buckets(self, learning=False):
        while self.next < len(self.buckets) and not self.buckets[self.next].missing:
            self._send(self.next, self.buckets[self.next])
            self.next += 1
        if self.next < len(self.buckets):
            return
        self.active, self.finished = False, True
        if learning:
            self._finish()
        else:
            _C._queue_callback(self._finish)

    def _send(self, index, bucket):
        if self.hook is None:
            bucket.pending = all_reduce(bucket.buffer, group=self.group, async_op=True)
            return
        self._call_hook(index, bucket)

    def _call_hook(self, index, bucket):
        seen = GradBucket(index, bucket, index == len(self.buckets) - 1)
        _in_hook.on = True
        try:
            bucket.pending = self.hook(self.state, seen)
        finally:
            _in_hook.on = False
        if not isinstance(bucket.pending, Future):
            raise RuntimeError(words.no_future(bucket.pending))

    def _reduced(self, bucket):
        """The views of what a bucket has become."""
        if self.hook is None:
            bucket.pending.wait()
            return bucket.views
        _in_hook.on = True  # its callbacks come in the order of the buckets, as on all ranks
        try:
            value = bucket.pending.wait()
        finally:
            _in_hook.on = False
        if not isinstance(value, _C.Tensor) or value.numel() != bucket.buffer.numel():
            raise RuntimeError(words.no_tensor(value, bucket.buffer))
        if value.data_ptr() == bucket.buffer.data_ptr():
            return bucket.views
        if self.as_views:
            bucket.buffer.copy_(value.view(-1))
            return bucket.views
        return bucket.views_of(value.contiguous())

    def _finish(self):
        """The end of the backward pass."""
        used = self._used_anywhere()
        self.reductions += 1
        with rushlight.no_grad():
            for bucket in self.buckets:
                views = self._reduced(bucket)
                bucket.pending = None
                for parameter, view in zip(bucket.parameters, views, strict=True):
                    if used is not None and id(parameter) not in used:
                        continue
                    if self.as_views:
                        parameter.grad = view
                        continue
                    if parameter.grad is None:
                        parameter.grad = rushlight.empty_like(parameter)
                    parameter.grad.copy_(view)

    def shadow(self):
        """Takes part in a backward of the other ranks, with zeros; gradients stay as they are."""
        self.used = set()
        buckets = [Bucket(bucket.parameters) for bucket in self.buckets]
        for index, bucket in enumerate(buckets):
            self._send(index, bucket)
        self._used_anywhere()
        self.reductions += 1
        with rushlight.no_grad():
            for bucket in buckets:
                self._reduced(bucket)

    def _used_anywhere(self):
        """The ids of the parameters that some rank has used since the last time; None for all."""
        if not self.static and not self.finds_unused:
            return None
        if self.used_anywhere is not None:
            return self.used_anywhere
        own, self.used = self.used, set()
        device = self.parameters[0].device
        flags = rushlight.tensor([float(id(p) in own) for p in self.parameters], device=device)
        all_reduce(flags, group=self.group)
        found = {id(p) for p, used in zip(self.parameters, flags.tolist(), strict=True) if used}
        if self.static:
            self.used_anywhere = found
        return found


def _reached(outputs):
    """The ids of the leaves that outputs depend on."""
    reached = {id(t) for t in outputs}
    todo = [t.grad_fn for t in outputs if t.grad_fn is not None]
    seen = {}  # by id, with the node: an id is of one node while it lives
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen[id(node)] = node
        if (leaf := getattr(node, "variable", None)) is not None:
            reached.add(id(leaf))
        todo += [following for following, _ in node.next_functions if following is not None]
    return reached


def tensors_in(value):
    """The tensors in nested tuples, lists, dicts and data classes."""
    if isinstance(value, _C.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [t for each in value for t in tensors_in(each)]
    fields = getattr(type(value), "__dataclass_fields__", ())
    return [t for name in fields for t in tensors_in(getattr(value, name, None))]
