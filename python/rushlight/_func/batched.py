"""Tensors with a dimension that vmap() added: `Batched`, what a function under vmap() sees, and
`Level`, one vmap() that runs.

A Batched has the shape of one element. Its `_value` has the batch as dimension 0 and may itself be
a Batched of a vmap() around this one. A Level is a TorchFunctionMode: all calls inside go to it,
and to rules (_func/rules) that compute with the values; without vmap() nothing looks for it.
"""

from rushlight import _C, Tensor
from rushlight._arguments import wrapped
from rushlight._func.trees import mapped
from rushlight.overrides import TorchFunctionMode, _get_current_function_mode_stack

_BODY = _C.empty(0, device="meta")
_ESCAPED = (
    "Either your tensor may have escaped from inside a function being vmapped and this is a user "
    "error (see https://pytorch.org/functorch/stable/ux_limitations.html), or the function called "
    "an operation of rushlight that has no rule for it"
)


def levels():
    """The vmap()s that run, from the outermost to the innermost."""
    stack = _get_current_function_mode_stack()
    return [mode for mode in stack if isinstance(mode, Level) and mode.batches]


def spread_over_levels(x):
    """The tensor as one of each element's own, at each level that runs."""
    return _spread_over(x, levels()) if _C._is_torch_function_mode_enabled() else x


def _spread_over(x, outer):
    # The innermost level is the outermost Batched.
    if not outer:
        return x
    *outer, level = outer
    if level.holds(x):
        return level.batched(_spread_over(x._value, outer))
    x = _spread_over(x, outer)
    return level.batched(x.expand(level.size, *x.shape))


class Batched(Tensor):
    """One element of a batch, to the function that vmap() calls."""

    __torch_function__ = _C._disabled_torch_function_impl

    @staticmethod
    def _refuse():
        raise RuntimeError(_ESCAPED)

    @property
    def shape(self):
        """The sizes of one element."""
        return type(_BODY.shape)(tuple(self._value.shape)[1:])

    @property
    def ndim(self):
        """How many dimensions one element has."""
        return self._value.ndim - 1

    def dim(self):
        """How many dimensions one element has."""
        return self._value.ndim - 1

    ndimension = dim

    def size(self, dim=None):
        """The sizes of one element, or that of one dimension."""
        if dim is None:
            return self.shape
        return self._value.shape[wrapped(dim, self.ndim) + 1]

    def stride(self, dim=None):
        """The strides of one element, or that of one dimension."""
        strides = self._value.stride()[1:]
        return strides if dim is None else strides[wrapped(dim, self.ndim)]

    def numel(self):
        """How many elements one element of the batch has."""
        return self.shape.numel()

    nelement = numel

    def __len__(self):
        if not self.ndim:
            raise TypeError("len() of a 0-d tensor")
        return self._value.shape[1]

    def __iter__(self):
        if not self.ndim:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __repr__(self, *, tensor_contents=None):
        lines = repr(self._value).replace("\n", "\n    ")
        number = self._level.number
        return f"BatchedTensor(lvl={number}, bdim=0, value=\n    {lines}\n)"

    def __format__(self, words):
        return repr(self)

    __hash__ = Tensor.__hash__


def _forwarded(name):
    return property(lambda self: getattr(self._value, name), doc=f"`{name}` of the whole batch.")


def _called(name):
    def method(self, *args, **kwargs):
        return getattr(self._value, name)(*args, **kwargs)

    return method


PROPERTIES = tuple(
    """
    device dtype grad_fn is_cpu is_cuda is_leaf is_meta is_quantized is_sparse itemsize layout
    requires_grad
    """.split()
)
METHODS = tuple(
    """
    element_size get_device is_complex is_contiguous is_floating_point is_inference is_signed
    """.split()
)
for _name in PROPERTIES:
    setattr(Batched, _name, _forwarded(_name))
for _name in METHODS:
    setattr(Batched, _name, _called(_name))


def padded(value, rank):
    """A batch with dimensions of size 1 after its first, up to the rank."""
    for _ in range(rank - value.ndim):
        value = value.unsqueeze(1)
    return value


class Level(TorchFunctionMode):
    """One vmap() while it runs: the size of its batch and what it says of random numbers. How it
    computes a call is in _func/dispatch.py.
    """

    batches = True

    def __init__(self, size, randomness):
        super().__init__()
        self.size, self.randomness = size, randomness
        self.number = len(levels()) + 1

    def holds(self, x):
        """Whether it is a Batched of this level."""
        return type(x) is Batched and x._level is self

    def found(self, values):
        """Whether a Batched of this level is among the values, or in their tuples and lists."""
        for x in values:
            kind = type(x)
            if kind is Batched:
                if x._level is self:
                    return True
            elif (kind is tuple or kind is list or kind is dict or kind is slice) and self.found(
                x.values() if kind is dict else (x.start, x.stop) if kind is slice else x
            ):
                return True
        return False

    def value(self, x):
        """The whole batch of a Batched; anything else as it is."""
        return x._value if type(x) is Batched and x._level is self else x

    def spread(self, x):
        """The whole batch; of another tensor, a view that repeats it."""
        return self.value(x) if self.holds(x) else x.expand(self.size, *x.shape)

    def aligned(self, x, rank):
        """The whole batch with dimensions of size 1 after the batch's, up to that rank of one
        element: then it broadcasts with others. Anything else as it is.
        """
        return padded(x._value, rank + 1) if self.holds(x) else x

    def batched(self, value):
        """The Batched of a tensor whose dimension 0 is the batch."""
        made = _C._make_subclass(Batched, _BODY)
        made._value, made._level = value, self
        return made

    def wrap(self, result):
        """A result with a Batched instead of each tensor; tuples keep their class."""
        return mapped(lambda x: self.batched(x) if isinstance(x, Tensor) else x, result)
