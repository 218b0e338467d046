"""Full backward hooks: two identity nodes in the graph, one over a module's tensor inputs, one
over its tensor outputs. The gradients that pass them are what the hooks see. The hooks of
register_backward_hook() are of the result's own node (watch_node).
"""

import warnings

from rushlight import _C
from rushlight.autograd import Function


class BackwardHookFunction(Function):
    """The identity on several tensors; `seen` is given all their gradients and may replace them.

    Where there is none it is given zeros, or with `zeros=False` None.
    """

    @staticmethod
    def forward(ctx, seen, zeros, *tensors):
        ctx.seen = seen
        ctx.set_materialize_grads(zeros)
        ctx.mark_non_differentiable(*(t for t in tensors if not t.requires_grad))
        return tensors

    @staticmethod
    def backward(ctx, *grads):
        return (None, None, *ctx.seen(grads))


def _as_tuple(value, kind, count):
    value = value if isinstance(value, tuple) else (value,)
    if len(value) != count:
        side = "grad_input" if kind == "hook" else "grad_output"
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {side}, got {len(value)}, but "
            f"expected {count}"
        )
    return value


class BackwardHook:
    """The hooks of one call of one module."""

    def __init__(self, module, hooks, pre_hooks):
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.input_indices = None
        self.no_input_wants = True
        self.n_inputs = -1
        self.grad_outputs = None

    def _spread(self, grads, indices, count):
        out = [None] * count
        for index, grad in zip(indices, grads, strict=False):
            out[index] = grad
        return tuple(out)

    def watch_inputs(self, args):
        """Puts the first identity over those positional arguments that are tensors."""
        self.n_inputs = len(args)
        indices = [i for i, a in enumerate(args) if isinstance(a, _C.Tensor)]
        wants = _C.is_grad_enabled() and any(args[i].requires_grad for i in indices)
        self.no_input_wants = not wants
        if not wants or not self.hooks:
            return args
        self.input_indices = indices
        new = BackwardHookFunction.apply(self._on_inputs, True, *(args[i] for i in indices))
        args = list(args)
        for index, tensor in zip(indices, new, strict=False):
            args[index] = tensor
        return tuple(args)

    def watch_outputs(self, result):
        """Puts the second identity over the result, a tensor or a tuple or list with tensors."""
        single = isinstance(result, _C.Tensor)
        items = [result] if single else list(result) if isinstance(result, (tuple, list)) else None
        if items is None:
            warnings.warn(
                "For backward hooks to be called, module output should be a Tensor or a tuple of "
                f"Tensors but received {type(result)}",
                stacklevel=4,
            )
            return result
        indices = [i for i, a in enumerate(items) if isinstance(a, _C.Tensor)]
        if not (_C.is_grad_enabled() and any(items[i].requires_grad for i in indices)):
            return result
        self.output_indices, self.n_outputs = indices, len(items)
        new = BackwardHookFunction.apply(self._on_outputs, False, *(items[i] for i in indices))
        for index, tensor in zip(indices, new, strict=False):
            items[index] = tensor
        if single:
            return items[0]
        named = isinstance(result, tuple) and hasattr(result, "_fields")
        return type(result)(*items) if named else type(result)(items)

    def _on_outputs(self, grads):
        grads = self._spread(grads, self.output_indices, self.n_outputs)
        for hook in self.pre_hooks:
            changed = hook(self.module, grads)
            if changed is not None:
                grads = _as_tuple(changed, "pre hook", len(grads))
        self.grad_outputs = grads
        if self.no_input_wants:
            warnings.warn(
                "Full backward hook is firing when gradients are computed with respect to module "
                "outputs since no inputs require gradients. The hook is given None for each.",
                stacklevel=2,
            )
            nothing = (None,) * self.n_inputs
            for hook in self.hooks:
                changed = hook(self.module, nothing, grads)
                if changed is not None and not (
                    isinstance(changed, tuple) and all(c is None for c in changed)
                ):
                    raise RuntimeError(
                        "Backward hook for Modules where no input requires gradient should "
                        "always return None or None for all gradients."
                    )
        if self.input_indices is None:
            self.grad_outputs = None
        return tuple(grads[i] for i in self.output_indices)

    def _on_inputs(self, grads):
        if self.grad_outputs is None:
            return grads  # it came to the input on another way than through the output
        spread = self._spread(grads, self.input_indices, self.n_inputs)
        for hook in self.hooks:
            changed = hook(self.module, spread, self.grad_outputs)
            if changed is not None:
                spread = _as_tuple(changed, "hook", len(spread))
        self.grad_outputs = None
        return tuple(spread[i] for i in self.input_indices)


def _first_tensor(value):
    while not isinstance(value, _C.Tensor):
        if isinstance(value, dict):
            value = next(v for v in value.values() if isinstance(v, _C.Tensor))
        else:
            value = value[0]
    return value


def watch_node(module, hooks, args, result):
    """Registers the hooks with the node that made the result, and warns where its gradients are
    not those of the module's inputs and outputs."""
    node = _first_tensor(result).grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(lambda grads, outputs, hook=hook: hook(module, grads, outputs))
    problem = _difference_from_full(node, args, result)
    if problem:
        warnings.warn(
            f"Using {problem} Please use register_full_backward_hook to get the documented "
            "behavior.",
            FutureWarning,
            stacklevel=5,
        )


def _difference_from_full(node, args, result):
    results = result if isinstance(result, tuple) else (result,)
    removed = "is deprecated and will be removed in future versions. This hook will be missing some"
    if not all(isinstance(r, _C.Tensor) for r in results):
        return (
            "non-full backward hooks on a Module that does not return a single Tensor or a tuple "
            f"of Tensors {removed} of the grad_output."
        )
    if not all(isinstance(a, _C.Tensor) for a in args):
        return (
            "non-full backward hooks on a Module that does not take as input a single Tensor or "
            f"a tuple of Tensors {removed} of the grad_input."
        )
    if len({r.grad_fn for r in results} - {None}) > 1:
        return (
            "a non-full backward hook when outputs are generated by different autograd Nodes "
            f"{removed} grad_output."
        )
    if {a.grad_fn for a in args} - {None} != {n for n, _ in node.next_functions}:
        return (
            "a non-full backward hook when the forward contains multiple autograd Nodes "
            f"{removed} grad_input."
        )
    return None
