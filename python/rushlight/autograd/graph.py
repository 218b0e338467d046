"""Recorded graphs: hooks on what operations save, edges, and hooks on several gradients at once."""

import contextlib
import threading
from collections.abc import Iterable
from typing import NamedTuple

from rushlight import _C
from rushlight._C import Node

__all__ = [
    "GradientEdge", "Node", "allow_mutation_on_saved_tensors", "disable_saved_tensors_hooks",
    "get_gradient_edge", "increment_version", "register_multi_grad_hook", "save_on_cpu",
    "saved_tensors_hooks",
]  # fmt: skip


class saved_tensors_hooks:
    """While it is on, each tensor that an operation saves for its gradient goes through two hooks.

    Args:
        pack_hook: is given the tensor when it is saved, and returns anything.
        unpack_hook: is given that when backward needs the tensor, and returns a tensor of the same
            shape on the same device. It is cast to the saved dtype.

    Of several that are on, the innermost counts, and only for this thread. A pack hook must not
    write to its tensor.

    Raises:
        TypeError: if a hook cannot be called, or unpack_hook returns no tensor.
        RuntimeError: from the operation, if pack_hook wrote to the tensor; from backward, if the
            tensor that unpack_hook returned is of another shape or device.

    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t.tolist(), torch.tensor)
    >>> with hooks:
    ...     y = x.square().sum()
    >>> y.backward()
    >>> x.grad
    tensor([2., 4.])
    """

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        _C._push_saved_tensors_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *error):
        _C._pop_saved_tensors_hooks()


class save_on_cpu(saved_tensors_hooks):
    """While it is on, what operations save waits on the CPU until backward needs it.

    Args:
        pin_memory: use page-locked memory, from which copies to a GPU need not wait.
        device_type: tensors on other devices are packed without page-locked memory.

    >>> x = torch.ones(3, requires_grad=True)
    >>> with torch.autograd.graph.save_on_cpu():
    ...     y = x.exp().sum()
    >>> y.backward()
    """

    def __init__(self, pin_memory=False, device_type="cuda"):
        def pack(tensor):
            if not pin_memory or tensor.device.type != device_type:
                return tensor.device, tensor.detach().cpu()
            packed = _C.empty(tensor.size(), dtype=tensor.dtype, pin_memory=True)
            packed.copy_(tensor, non_blocking=True)
            return tensor.device, packed

        def unpack(packed):
            device, tensor = packed
            return tensor.to(device, non_blocking=bool(pin_memory))

        super().__init__(pack, unpack)


@contextlib.contextmanager
def disable_saved_tensors_hooks(error_message):
    """While it is on, turning on hooks of saved tensors fails in this thread.

    Args:
        error_message: the text of that RuntimeError.

    Raises:
        RuntimeError: with this text, also where hooks are on already.

    >>> hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t)
    >>> with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    ...     with hooks: pass
    Traceback (most recent call last):
    RuntimeError: not here
    """
    if not isinstance(error_message, str):
        raise TypeError(
            "disable_saved_tensors_hooks(): argument 'error_message' must be str, not "
            f"{type(error_message).__name__}"
        )
    before = _C._disable_saved_tensors_hooks(error_message)
    try:
        yield
    finally:
        _C._disable_saved_tensors_hooks(before)


class _Edge(NamedTuple):
    node: Node
    output_nr: int
    ownership_token: object = None


class GradientEdge(_Edge):
    """Where a gradient arrives: a node of the graph, and which of its outputs.

    backward() and grad() take edges where they take tensors: those of get_gradient_edge() anywhere,
    hand-made ones only as `inputs`.

    Args:
        node: the node.
        output_nr: the index of the output.
        ownership_token: keeps the node alive.

    >>> x = torch.ones(2, requires_grad=True)
    >>> torch.autograd.graph.GradientEdge((x * 2).grad_fn, 0).output_nr
    0
    """

    def _as_tensor(self):
        node, output, _ = self
        if not isinstance(node, Node) or isinstance(output, bool) or not isinstance(output, int):
            raise TypeError(
                "GradientEdge must hold a node and the number of one of its outputs, but holds "
                f"{type(node).__name__} and {type(output).__name__}"
            )
        if output < 0:
            raise IndexError(f"GradientEdge: output_nr must not be negative, got {output}")
        like = self.__dict__.get("_like")
        return _C._edge_tensor(node, output, _C.zeros(0) if like is None else like)


def get_gradient_edge(tensor):
    """The edge that the gradient of `tensor` arrives at.

    Args:
        tensor: a tensor that requires gradients.

    Raises:
        RuntimeError: if the tensor requires no gradient.

    >>> x = torch.ones(2, requires_grad=True)
    >>> edge = torch.autograd.graph.get_gradient_edge(x * 2)
    >>> edge.node.name(), edge.output_nr
    ('MulBackward0', 0)
    """
    if not isinstance(tensor, _C.Tensor):
        raise TypeError(
            f"get_gradient_edge(): argument 'tensor' must be Tensor, not {type(tensor).__name__}"
        )
    edge = GradientEdge(*_C._gradient_edge(tensor))
    small = _C.empty((), dtype=tensor.dtype, device=tensor.device)
    edge._like = small.expand(tensor.shape)  # its shape, dtype and device, not its memory
    return edge


def increment_version(tensor):
    """Marks tensors as modified in place, by something that autograd does not record.

    Args:
        tensor: a tensor or several.

    >>> x = torch.ones(2)
    >>> torch.autograd.graph.increment_version(x)
    >>> x._version
    1
    """
    tensors = (tensor,) if isinstance(tensor, _C.Tensor) else tensor
    if not isinstance(tensors, Iterable):
        raise RuntimeError("increment_version expect a Iterable[Tensor] as input")
    tensors = tuple(tensors)
    if not all(isinstance(t, _C.Tensor) for t in tensors):
        raise RuntimeError("increment_version expects each element of the iterable to be a tensor")
    for t in tensors:
        _C._increment_version(t)


class _Handle:
    """Removes all hooks of one registration."""

    def __init__(self, handles):
        self._handles = handles

    def remove(self):
        for handle in self._handles:
            handle.remove()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def register_multi_grad_hook(tensors, fn, *, mode="all"):
    """Calls `fn` in each backward pass when gradients of several tensors are there.

    Args:
        tensors: the tensors, all of which require gradients.
        fn: with mode 'all', is given a list of the gradients, None for what the pass does not
            reach; with 'any', the first gradient that arrives. What it returns is ignored.
        mode: 'all' or 'any'.

    Returns a handle with a method `remove()`.

    Raises:
        ValueError: for another mode.

    >>> a, b = (torch.ones(1, requires_grad=True) for _ in range(2))
    >>> handle = torch.autograd.graph.register_multi_grad_hook((a, b), print)
    >>> (2 * a + 3 * b).backward()
    [tensor([2.]), tensor([3.])]
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    tensors = tuple(tensors)
    if not callable(fn):
        raise TypeError(f"register_multi_grad_hook(): fn must be callable, not {type(fn).__name__}")
    nodes = [get_gradient_edge(t).node for t in tensors]
    lock = threading.Lock()
    passes = {}  # of a backward pass: how many gradients are still to come, and those that came

    def arrived(index, grad):
        run = _C._current_backward()
        with lock:
            if run not in passes:
                passes[run] = [sum(map(_C._backward_reaches, nodes)), [None] * len(nodes)]
            state = passes[run]
            state[0] -= 1
            state[1][index] = grad
            if state[0] > 0:
                return
            del passes[run]
        fn(state[1])

    seen = set()

    def first(grad):
        run = _C._current_backward()
        with lock:
            if run in seen:
                return
            seen.clear()
            seen.add(run)
        fn(grad)

    def hook_of(index):
        return first if mode == "any" else lambda grad: arrived(index, grad)

    return _Handle([t.register_hook(hook_of(index)) for index, t in enumerate(tensors)])


class _SavedCopies:
    """What allow_mutation_on_saved_tensors() gives."""

    def __init__(self):
        self._copies = []

    def clear(self):
        """Lets go of the copies: a later backward() fails."""
        for copy in self._copies:
            copy.clear()
        self._copies.clear()


@contextlib.contextmanager
def allow_mutation_on_saved_tensors():
    """While it is on, tensors that operations saved may be written to before backward.

    Each saved tensor is copied at once; torch copies those only that are written to. The results
    are the same. Run backward() inside.

    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     x = torch.ones(2, requires_grad=True)
    ...     y = x * 3
    ...     z = y.square().sum()
    ...     _ = y.mul_(5)
    ...     z.backward()
    >>> x.grad
    tensor([18., 18.])
    """
    context = _SavedCopies()

    def pack(tensor):
        copy = [tensor.clone()]
        context._copies.append(copy)
        return copy

    def unpack(copy):
        if not copy:
            raise RuntimeError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context"
                "in which the graph was originally recorded."
            )
        return copy[0]

    try:
        with saved_tensors_hooks(pack, unpack):
            yield context
    finally:
        context.clear()
