"""Calls in place: new values are written to the old ones' memory, new entries replace the parts."""

from rushlight import _C, no_grad
from rushlight._C import Tensor
from rushlight._sparse.conversion import dense_of
from rushlight._sparse.dispatch import RULES, refuse, rule
from rushlight._sparse.entries import empty_like
from rushlight._sparse.tensor import Compressed, become, is_sparse


def check_leaf(x):
    """Raises torch's error where a leaf with a gradient would be written to."""
    if x._v.requires_grad and x._v.is_leaf and x._node is None and _C.is_grad_enabled():
        raise RuntimeError(
            "a leaf Variable that requires grad is being used in an in-place operation."
            "\nwrite under `with torch.no_grad():`"
        )


def _check_dtype(x, made):
    if not _C.can_cast(made._v.dtype, x._v.dtype):
        raise RuntimeError(
            f"result type {made._v.dtype} can't be cast to the desired output type {x._v.dtype}"
        )


def _written(x, made, shared=True):
    """The end of a call in place on a sparse tensor; products and sums are new values, in torch
    too.
    """
    check_leaf(x)
    _check_dtype(x, made)
    dtype, leaf = x._v.dtype, x._v.requires_grad and x._v.is_leaf and x._node is None
    if made._v.dtype is not dtype:
        made._v = made._v.to(dtype)
    same = made._v.shape == x._v.shape and (isinstance(x, Compressed) or made._i is x._i)
    if leaf:  # without a history: the tensor stays a leaf
        made._v, made._node = made._v.detach(), None
    if same and not made._v.requires_grad and (leaf or (shared and not x._v.requires_grad)):
        with no_grad():  # whoever shares the values, as x.data does, sees it
            x._v.copy_(made._v)
        made._v = x._v
    elif leaf:
        made._v.requires_grad_()
    return become(x, made)


def _in_place(name, operators=""):
    function = RULES[name]

    def call(input, *args, **kwargs):
        if not is_sparse(input):
            return _dense(name, input, args, kwargs)
        return _written(input, function(input, *args, **kwargs), name not in ("mul", "add", "sub"))

    rule(f"{name}_ {operators}")(call)


def _of_values(name):
    def call(input, *args, **kwargs):
        if not isinstance(input, Compressed) and not input._coalesced:
            raise RuntimeError(f"{name}_ requires coalesced input\nuse x.coalesce()")
        return _written(input, RULES[name](input, *args, **kwargs))

    rule(f"{name}_")(call)


def _dense(name, x, args, kwargs):
    """Of a dense tensor, with a sparse operand."""
    if name not in ("add", "sub"):
        raise RuntimeError(
            f"{name}_(): a dense tensor is not written to by a sparse operand\n"
            f"x = x.{name}(other), or other.to_dense()"
        )
    other = args[0] if args else kwargs["other"]
    alpha = kwargs.get("alpha", 1)
    getattr(Tensor, f"{name}_")(x, dense_of(other), alpha=alpha)
    return x


def register():
    """Gives the rules that have one their form in place."""
    from rushlight._sparse.unary import KEEP_ZERO

    for name, operators in (
        ("add", "iadd"), ("sub", "isub"), ("mul", "imul"), ("div", "itruediv idiv"),
        ("floor_divide", "ifloordiv"), ("neg", ""), ("pow", "ipow"), ("t", ""),
        ("transpose", ""), ("swapaxes", ""),
    ):  # fmt: skip
        _in_place(name, operators)
    for name in KEEP_ZERO:
        _of_values(name)
    for kind in ("subtract", "multiply", "divide", "true_divide"):
        RULES[f"{kind}_"] = RULES[f"{ {'subtract': 'sub', 'multiply': 'mul'}.get(kind, 'div') }_"]


@rule("zero_")
def zero_(input):
    """Without entries."""
    if isinstance(input, Compressed):
        check_leaf(input)
        input._v.zero_()
        return input
    made = empty_like(input._size, input._i.shape[0], input._v)
    return _written(input, made)


@rule("copy_")
def copy_(input, src, non_blocking=False):
    """The entries of another sparse tensor; a dense tensor takes none."""
    if not is_sparse(input) or not is_sparse(src):
        raise RuntimeError(
            "copy_() between dense and sparse Tensors is not implemented! Found self type = "
            f"{input.type()} and src type = {src.type()}"
        )
    if type(input) is not type(src) or input._size != src._size:
        refuse("copy_", (input, src), {})
    return _written(input, RULES["clone"](RULES["to"](src, input._v.device, input._v.dtype)))


@rule("detach_")
def detach_(input):
    """Without history from now on."""
    input._v, input._node = input._v.detach(), None
    return input


@rule("requires_grad_")
def requires_grad_(input, requires_grad=True):
    """Whether operations on it are recorded."""
    if requires_grad and not input._v.requires_grad:
        input._v, input._node = input._v.detach().requires_grad_(), None
    elif not requires_grad:
        input._v.requires_grad_(False)
    return input


@rule("set.requires_grad")
def set_requires_grad(x, value):
    """The same as an attribute."""
    if value is not True and value is not False:
        raise RuntimeError("requires_grad must be a bool")
    requires_grad_(x, value)


@rule("set.data")
def set_data(x, other):
    """Other entries from now on."""
    if not is_sparse(x) or type(x) is not type(other):
        raise RuntimeError(
            "Attempted to call `variable.set_data(tensor)`, but `variable` and `tensor` have "
            "incompatible tensor type."
        )
    with no_grad():
        leaf = x._v.requires_grad
        made = RULES["detach"](other)
        become(x, made)
        x._node = None
        if leaf:
            x._v.requires_grad_()


def _resized(x, size, sparse_dim, dense_dim):
    if sparse_dim + dense_dim != len(size):
        raise RuntimeError(
            f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {len(size)}, "
            f"sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
        )
    if x._v.shape[0]:
        shrunk = any(a < b for a, b in zip(size, x._size, strict=False))
        if sparse_dim != x._i.shape[0] or len(size) != len(x._size) or shrunk:
            raise RuntimeError(
                "resizing a sparse tensor with entries may only make its dimensions larger: from "
                f"{list(x._size)} to {list(size)}\nuse sparse_resize_and_clear_()"
            )
    return empty_like(size, sparse_dim, x._v)


@rule("sparse_resize_")
def sparse_resize_(self, size, sparse_dim, dense_dim):
    """Larger, with the same entries."""
    empty = _resized(self, list(size), sparse_dim, dense_dim)
    check_leaf(self)
    if self._v.shape[0]:
        if list(size)[sparse_dim:] != list(self._size)[sparse_dim:]:
            refuse("sparse_resize_", (self,), {})
        empty._i, empty._v, empty._coalesced = self._i, self._v, self._coalesced
    return become(self, empty)


@rule("sparse_resize_and_clear_")
def sparse_resize_and_clear_(self, size, sparse_dim, dense_dim):
    """Of that size, without entries."""
    check_leaf(self)
    if sparse_dim + dense_dim != len(size):
        return _resized(self, list(size), sparse_dim, dense_dim)
    return become(self, empty_like(list(size), sparse_dim, self._v))


@rule("resize_as_sparse_")
def resize_as_sparse_(input, the_template):
    """Of another sparse tensor's size."""
    return sparse_resize_(
        input, the_template._size, the_template._i.shape[0], the_template._v.dim() - 1
    )
