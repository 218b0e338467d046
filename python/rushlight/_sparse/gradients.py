"""Gradients: of sparse leaves, sums of sparse ones for the backward pass (csrc/autograd/node.h,
SparseGradients), and rows of a table whose gradient is sparse.
"""

from rushlight import _C, no_grad
from rushlight._C import Tensor
from rushlight._sparse.binary import total
from rushlight._sparse.conversion import at_entries, dense_of
from rushlight._sparse.dispatch import RULES, refuse, rule
from rushlight._sparse.entries import places
from rushlight._sparse.tensor import Coordinates, become, coordinates, is_sparse, with_values


def add(a, b):
    """The sum of two gradients of which one, or both, are sparse."""
    if isinstance(a, Coordinates) and isinstance(b, Coordinates):
        return total(a, b)
    return (dense_of(a) if is_sparse(a) else a) + (dense_of(b) if is_sparse(b) else b)


def add_into(a, b):
    """The same, written to a where that is possible."""
    if _C.is_grad_enabled():
        return add(a, b)
    if is_sparse(a) and is_sparse(b):
        return become(a, add(a, b))
    if is_sparse(a):
        return b + dense_of(a)
    if isinstance(b, Coordinates) and b._i.shape[0] == 1:
        return a.index_add_(0, b._i[0], b._v)
    return a.add_(dense_of(b))


def dense(g):
    """A sparse gradient for a node that takes dense ones."""
    if not is_sparse(g):
        raise RuntimeError("a sparse gradient has lost its indices; use sparse=False here")
    return dense_of(g)


def clear(g):
    """zero_grad(set_to_none=False) of a sparse gradient: without entries."""
    return RULES["zero_"](RULES["detach_"](g))


@rule("_zero_grad")
def zero_grad(params, set_to_none=True):
    """Of parameters of which some are sparse."""
    for p in params:
        if not is_sparse(p):
            _C._zero_grad([p], set_to_none)
        elif set_to_none:
            p._v.grad = None
        elif p._v.grad is not None:
            p._v.grad.zero_()


def is_leaf_with_gradient(x):
    """Whether it is a leaf that gets a gradient."""
    return x._v.requires_grad and x._v.is_leaf and x._node is None


def gradient_of(x, g):
    """The sparse gradient of x, from that of its values: one entry for each place."""
    if g is None or is_sparse(g):
        return g
    if not isinstance(x, Coordinates) or x._coalesced:
        return with_values(x, g)
    with no_grad():
        numbers = places(x)
        order = numbers.argsort(stable=True)
        ascending = numbers[order]
        first = _C.ones_like(ascending, dtype=_C.bool)
        first[1:] = ascending[1:] != ascending[:-1]
        kept = order[first]
    return coordinates(x._i[:, kept], g.index_select(0, kept), x._size, True)


def of_values(x, g):
    """What the values of x get of a gradient of x, sparse or dense."""
    if g is None:
        return None
    if tuple(g.shape) != tuple(x._size):
        raise RuntimeError(
            f"Mismatch in shape: grad_output has a shape of {tuple(g.shape)} and output has a "
            f"shape of {tuple(x._size)}."
        )
    if not isinstance(x, Coordinates):
        refuse("backward", (x,), {})
    return at_entries(g, x)


@rule("get.requires_grad")
def requires_grad(x):
    """Whether operations on it are recorded."""
    return x._v.requires_grad


@rule("get.is_leaf")
def is_leaf(x):
    """Whether no recorded operation made it."""
    return not x._v.requires_grad or is_leaf_with_gradient(x)


@rule("get.grad_fn")
def grad_fn(x):
    """What made its values."""
    return x._v.grad_fn


@rule("get.grad get._grad")
def grad(x):
    """The gradient, a sparse tensor."""
    if not is_leaf_with_gradient(x) and not x._v.retains_grad:
        return None
    return gradient_of(x, x._v.grad)


@rule("set.grad set._grad delete.grad delete._grad")
def set_grad(x, value=None):
    """None, or a gradient with the tensor's own entries; a dense tensor takes any."""
    if not is_sparse(x):
        with _C.DisableTorchFunctionSubclass():
            Tensor.grad.__set__(x, value)
        return
    if value is None:
        x._v.grad = None
        return
    if not is_sparse(value) or type(value) is not type(x) or value._size != x._size:
        raise RuntimeError("assigned grad has data of a different type")
    x._v.grad = of_values(x, value).detach()


@rule("get._version")
def version(x):
    """How often the values were written to."""
    return x._v._version


@rule("get._base")
def base(x):
    """None: it is no view."""
    return


@rule("get.output_nr")
def output_nr(x):
    """0."""
    return 0


@rule("get.retains_grad")
def retains_grad(x):
    """Whether retain_grad() was called."""
    return x._v.retains_grad


@rule("retain_grad")
def retain_grad(input):
    """Keeps the gradient of a result."""
    input._v.retain_grad()


@rule("register_hook")
def register_hook(self, hook):
    """Calls hook with the sparse gradient."""

    def called(g):
        found = hook(gradient_of(self, g))
        return None if found is None else of_values(self, found)

    return self._v.register_hook(called)


@rule("register_post_accumulate_grad_hook")
def register_post_accumulate_grad_hook(self, hook):
    """Calls hook with the tensor when its gradient was added to."""
    return self._v.register_post_accumulate_grad_hook(lambda _: hook(self))


def _tuple(x):
    return (x,) if isinstance(x, Tensor) or x is None else tuple(x)


def _roots(outputs, gradients):
    outputs = _tuple(outputs)
    gradients = (None,) * len(outputs) if gradients is None else _tuple(gradients)
    made = []
    for i, x in enumerate(outputs):
        g = gradients[i] if i < len(gradients) else None
        if is_sparse(x):
            if g is None and x._size.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            g = _C.ones_like(x._v) if g is None else of_values(x, g)
            x = x._v
        elif is_sparse(g):
            g = dense_of(g)
        made.append((x, g))
    return [x for x, _ in made], [g for _, g in made]


@rule("autograd.backward")
def backward(tensors, grad_tensors=None, retain_graph=None, create_graph=False, inputs=None):
    """torch.autograd.backward() with sparse roots or gradients."""
    from rushlight import autograd

    roots, gradients = _roots(tensors, grad_tensors)
    if inputs is not None:
        inputs = [x._v if is_sparse(x) else x for x in _tuple(inputs)]
    autograd.backward(roots, gradients, retain_graph, create_graph, inputs=inputs)


@rule("backward")
def backward_of(input, gradient=None, retain_graph=None, create_graph=False, inputs=None):
    """x.backward()."""
    backward(input, gradient, retain_graph, create_graph, inputs)


@rule("autograd.grad")
def gradients(outputs, inputs, grad_outputs=None, **options):
    """torch.autograd.grad() with sparse roots or inputs."""
    from rushlight import autograd

    roots, given = _roots(outputs, grad_outputs)
    wanted = _tuple(inputs)
    found = autograd.grad(roots, [x._v if is_sparse(x) else x for x in wanted], given, **options)
    return tuple(
        gradient_of(x, g) if is_sparse(x) else g for x, g in zip(wanted, found, strict=True)
    )


def gathered(input, dim, index):
    """torch.gather(sparse_grad=True): called by csrc/bindings/rows/index.cpp."""
    from rushlight._sparse.table import Gather

    return Gather.apply(input, dim, index)


def rows_of_table(weight, indices, padding_idx, by_frequency):
    """torch.embedding(sparse=True): called by csrc/ops/embedding.cpp."""
    from rushlight._sparse.table import Embedding

    return Embedding.apply(weight, indices, padding_idx, by_frequency)
