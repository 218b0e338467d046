"""State: what happens before and after forward and backward of a fully sharded module.

Inputs and parameters go through _Enter, an autograd function: its backward runs when everything
within the module has run, with the whole gradients. Each also has the `anchor` of the root as an
input, a leaf whose gradient comes when nothing else is left: the end of backward.
"""

from __future__ import annotations

import weakref

import rushlight
from rushlight import _C
from rushlight.autograd import Function
from rushlight.distributed._reducer import tensors_in
from rushlight.distributed.fsdp._reduction import Reduction, add_kept


class _Enter(Function):
    """Inputs and whole parameters as forward uses them."""

    @staticmethod
    def forward(ctx, state, number, anchor, count, *tensors):
        ctx.set_materialize_grads(False)
        ctx.state, ctx.number, ctx.count = state, number, count
        return tuple(t.view_as(t) for t in tensors)

    @staticmethod
    def backward(ctx, *grads):
        inputs, own = grads[: ctx.count], grads[ctx.count :]
        ctx.state.after_backward(own, ctx.number)
        return None, None, rushlight.zeros(()), None, *inputs, *([None] * len(own))


def state_of(module):
    """The State of a module that fully_shard() was called with, or None."""
    return module.__dict__.get("_fsdp_state")


class Root:
    """What the modules below one root share."""

    def __init__(self):
        self.order, self.before = [], []  # states in the order of this forward, and of the last
        self.reduction = None
        self.states = []
        self.anchor = rushlight.zeros((), requires_grad=True)
        own = weakref.ref(self)
        self.anchor.register_post_accumulate_grad_hook(lambda _: own() and own().end_backward())

    def finish_reduction(self):
        if self.reduction is not None:
            reduction, self.reduction = self.reduction, None
            reduction.finish()

    def begin_forward(self):
        self.end_backward()
        self.before, self.order = self.order, []

    def end_forward(self):
        """Drops all-gathers whose results were not used."""
        for each in self.states:
            if each.gathered is not None and not each.gathered.is_whole:
                each.gathered.release()

    def end_backward(self):
        self.anchor.grad = None
        self.finish_reduction()
        for each in self.states:
            if each.active:
                each.active.clear()
                each.leave_backward()
        self.end_forward()


class State:
    """One fully_shard() call."""

    def __init__(self, modules, gathered, policy, reshard_after_forward, replicas):
        self.modules, self.gathered, self.policy = modules, gathered, policy
        self.reshard_after_forward, self.replicas = reshard_after_forward, replicas
        self.root, self.is_root = None, False
        self.syncs, self.reduces_replicas, self.reshards_after_backward = True, True, True
        self.divisor, self.kept = None, []
        self.active = set()  # numbers of the forwards whose backward is under way
        self.forward_prefetch, self.backward_prefetch = None, None
        self.first, self.entered, self.position, self.number = None, set(), 0, 0
        self.used = None  # by id of a whole parameter: what this forward uses for it
        self.unshards_in_backward = True
        for module in modules:
            module.register_forward_pre_hook(self._before, prepend=True, with_kwargs=True)
            module.register_forward_hook(self._after)
            module.register_state_dict_pre_hook(lambda *_: self.reshard())
            module._load_state_dict_pre_hooks[id(self)] = lambda *_: self.reshard()

    def reshard(self):
        if self.gathered is not None:
            self.gathered.release()

    def _find_root(self):
        """The first module that is called is the root of those in it."""
        root, self.is_root = Root(), True
        for module in self.modules:
            for each in module.modules():
                state = state_of(each)
                if state is not None and state not in root.states:
                    if state is not self and state.is_root:
                        raise RuntimeError(
                            "FSDP state has already been lazily initialized for "
                            f"{type(each).__name__}\nFSDP requires running forward through the "
                            "root module first"
                        )
                    state.root = root
                    root.states.append(state)
        if self.reshard_after_forward is None:
            self.reshard_after_forward = False

    def _before(self, module, args, kwargs):
        if self.root is None:
            self._find_root()
        if len(self.modules) > 1:
            if self.entered and module is not self.first:
                return None
            self.first, self.entered = module, {id(m) for m in self.modules}
        if self.is_root and not self.active:
            self.root.begin_forward()
        dtype = self.policy.param_dtype
        if dtype is not None and self.policy.cast_forward_inputs:
            args, kwargs = _mapped((args, kwargs), lambda t: t.to(dtype))
        if self.gathered is None:
            return args, kwargs
        self.gathered.gather()
        if not self.active:
            self._prefetch_forward()
        return self._enter(args, kwargs)

    def _prefetch_forward(self):
        root = self.root
        self.position = len(root.order)
        root.order.append(self)
        following = self.forward_prefetch
        if following is None:
            at = self.position
            known = at + 1 < len(root.before) and root.before[at] is self
            following = [root.before[at + 1]] if known else []
        for state in following:
            if state.gathered is not None:
                state.gathered.start()

    def _enter(self, args, kwargs):
        self.used = None
        if not _C.is_grad_enabled():
            return args, kwargs
        inputs = [t for t in tensors_in((args, kwargs)) if t.requires_grad]
        inputs = list({id(t): t for t in inputs}.values())
        trained = [p.whole for p in self.gathered.params if p.whole.requires_grad]
        if not inputs and not trained:
            return args, kwargs
        self.number += 1
        given = *inputs, *(p.detach() for p in trained)
        found = _Enter.apply(self, self.number, self.root.anchor, len(inputs), *given)
        new = {id(t): f for t, f in zip(inputs, found, strict=False)}
        self.used = dict(zip(map(id, trained), found[len(inputs) :], strict=True))
        self._use(self.used)
        if inputs:
            args, kwargs = _mapped((args, kwargs), lambda t: new.get(id(t), t), floating=False)
        return args, kwargs

    def _use(self, used):
        for each in self.gathered.params:
            if (value := used.get(id(each.whole))) is not None:
                each.use(value)

    def _after(self, module, args, output):
        if len(self.modules) > 1:
            self.entered.discard(id(module))
            if self.entered:
                return None
        if self.gathered is not None:
            self._leave(output)
        if self.is_root and not self.active:
            self.root.end_forward()
        dtype = self.policy.output_dtype
        return None if dtype is None else _mapped(output, lambda t: t.to(dtype))

    def _leave(self, output):
        for each in self.gathered.params:
            each.show(each.whole)
        if self.active:  # computed again by a checkpoint
            self._use(self.used or {})
            return
        watched = (
            [t for t in tensors_in(output) if t.requires_grad] if self.used is not None else []
        )
        position, number, used = self.position, self.number, self.used
        for each in watched:
            each.register_hook(lambda _: self.before_backward(position, number, used))
        self.used = None
        if self.reshard_after_forward is not False or not watched:
            self.gathered.release()

    def before_backward(self, position, number, used):
        """The gradient of an output has come: the parameters are needed again."""
        self.active.add(number)
        if self.unshards_in_backward:
            self.gathered.gather()
        self._use(used)
        following, order = self.backward_prefetch, self.root.order
        if following is None:
            known = 0 < position < len(order) and order[position] is self
            following = [order[position - 1]] if known else []
        for state in following:
            if state.gathered is not None:
                state.gathered.start()

    def after_backward(self, gradients, number):
        """Everything within the module has run: its gradients go to the ranks."""
        trained = [p for p in self.gathered.params if p.whole.requires_grad]
        pairs = [(p, g) for p, g in zip(trained, gradients, strict=True) if g is not None]
        dtype = self.policy.reduce_dtype or self.gathered.param_dtype
        if pairs or self.kept:
            if self.kept or not self.syncs:
                pairs = add_kept(self.kept, pairs, dtype)
            self.kept = [] if self.syncs else pairs
            if self.syncs:
                self.root.finish_reduction()
                over = self.replicas if self.reduces_replicas else None
                self.root.reduction = Reduction(self.gathered, pairs, dtype, self.divisor, over)
        self.active.discard(number)
        if not self.active:
            self.leave_backward()

    def leave_backward(self):
        if self.reshards_after_backward:
            self.gathered.release()
        elif self.gathered.is_whole:
            for each in self.gathered.params:
                each.show(each.whole)


def _mapped(value, function, floating=True):
    """Nested tuples, lists and dicts with `function` of their (floating) tensors."""
    if isinstance(value, _C.Tensor):
        return value if floating and not value.is_floating_point() else function(value)
    if type(value) is dict or (isinstance(value, dict) and type(value).__init__ is dict.__init__):
        return type(value)((k, _mapped(v, function, floating)) for k, v in value.items())
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(v, function, floating) for v in value))
    if isinstance(value, list | tuple):
        return type(value)(_mapped(v, function, floating) for v in value)
    return value
