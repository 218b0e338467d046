"""Methods of Tensor by the functions of the modules that hold them; loaded on their first call."""

from rushlight import _C

Tensor = _C.Tensor

# module: functions that are methods too
_FUNCTIONS = {
    "_matrices": "cholesky cholesky_inverse cholesky_solve cross det dist inner inverse logdet lu "
    "lu_solve matrix_exp matrix_power orgqr pinverse qr renorm slogdet svd triangular_solve vdot",
    "_statistics": "corrcoef cov histogram nanquantile quantile",
    "_placing": "as_strided_scatter diagflat diagonal_scatter dsplit hsplit index_reduce isin "
    "put scatter_reduce select_scatter slice_scatter unsafe_chunk unsafe_split vsplit",
    "_elementwise": "angle conj conj_physical conj_physical_ float_power frexp gcd igamma igammac "
    "isreal lcm ldexp mvlgamma nextafter resolve_conj resolve_neg sinc",
    "_copies": "adjoint narrow_copy nonzero_static",
    "special": "i0",
}
# those with an in-place form of their name and an underscore
_IN_PLACE = (
    "gcd i0 igamma igammac index_reduce lcm ldexp mvlgamma nextafter put renorm scatter_reduce sinc"
).split()


def _of(module, name):
    def method(self, *args, **kwargs):
        import importlib

        return getattr(importlib.import_module("rushlight." + module), name)(self, *args, **kwargs)

    method.__name__, method.__qualname__ = name, f"Tensor.{name}"
    method.__doc__ = f"See torch.{name}()."
    setattr(Tensor, name, method)


def _in_place(module, name):
    def method(self, *args, **kwargs):
        import importlib

        function = getattr(importlib.import_module("rushlight." + module), name)
        return _written(name + "_", self, function(self, *args, **kwargs))

    method.__name__, method.__qualname__ = name + "_", f"Tensor.{name}_"
    method.__doc__ = f"{name}() in place."
    setattr(Tensor, name + "_", method)


def _written(name, self, result):
    if result.shape != self.shape:
        raise RuntimeError(
            f"output with shape {list(self.shape)} doesn't match the broadcast shape "
            f"{list(result.shape)}\n{name}() writes to its own tensor"
        )
    if not _C.can_cast(result.dtype, self.dtype):
        from rushlight._results import dtype_name

        raise RuntimeError(
            f"result type {dtype_name(result.dtype)} can't be cast to the desired output type "
            f"{dtype_name(self.dtype)}\n{name}() writes to its own tensor"
        )
    return self.copy_(result)


for _module, _names in _FUNCTIONS.items():
    for _name in _names.split():
        _of(_module, _name)
        if _name in _IN_PLACE:
            _in_place(_module, _name)


def _method(function):
    setattr(Tensor, function.__name__, function)
    return function


@_method
def resize_as_(self, the_template, *, memory_format=None):
    """resize_() to the shape of another tensor; with torch.preserve_format also to its strides.

    >>> torch.tensor([1, 2, 3]).resize_as_(torch.zeros(2))
    tensor([1, 2])
    """
    if not isinstance(the_template, _C.Tensor):
        raise TypeError(
            "resize_as_(): argument 'the_template' (position 1) must be Tensor, not "
            + type(the_template).__name__
        )
    if memory_format is not _C.preserve_format:
        format_of = {} if memory_format is None else {"memory_format": memory_format}
        return self.resize_(the_template.shape, **format_of)
    if the_template.is_contiguous(memory_format=_C.channels_last):
        return self.resize_(the_template.shape, memory_format=_C.channels_last)
    return self.resize_(the_template.shape)


@_method
def resize(self, *sizes):
    """An old name of reshape() for as many elements; use that.

    >>> torch.arange(4).resize(2, 2)
    tensor([[0, 1],
            [2, 3]])
    """
    import warnings

    warnings.warn("non-inplace resize is deprecated", UserWarning, stacklevel=2)
    return self.reshape(*sizes)


@_method
def resize_as(self, tensor):
    """An old name of reshape_as() for as many elements; use that.

    >>> torch.arange(4).resize_as(torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    import warnings

    warnings.warn("non-inplace resize_as is deprecated", UserWarning, stacklevel=2)
    return self.reshape(tensor.shape)


@_method
def set_(self, source=None, storage_offset=0, size=None, stride=None):
    """Makes the tensor show the memory of another tensor, or of a storage.

    Args:
        source: a tensor or a storage of the same dtype on the same device; an empty tensor if it
            is left out.
        storage_offset: of the first element.
        size: the shape; of a storage, all of it unless given.
        stride: the steps; row-major unless given.

    Raises:
        RuntimeError: if dtype or device differ, self requires grad, or the geometry reaches beyond
            a storage that cannot grow.

    >>> x, y = torch.zeros(2), torch.arange(6.0)
    >>> x.set_(y.untyped_storage(), 1, (2, 2), (2, 1))
    tensor([[1., 2.],
            [3., 4.]])
    """
    from rushlight.storage import source_of

    if self.requires_grad and _C.is_grad_enabled():
        if self.is_leaf:
            raise RuntimeError(
                "a leaf Variable that requires grad is being used in an in-place operation."
                "\nset_(): write under `with torch.no_grad():`"
            )
        raise RuntimeError("set_() has no gradient; use it on a detach()ed tensor")
    self.data = source_of(self, source, storage_offset, size, stride)
    return self


@_method
def new_empty_strided(self, size, stride, dtype=None, device=None, requires_grad=False):
    """An unset tensor of self's dtype and device with the given strides.

    >>> torch.zeros(1).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    return _C.empty_strided(
        size,
        stride,
        dtype=dtype or self.dtype,
        device=device or self.device,
        requires_grad=requires_grad,
    )


@_method
def float_power_(self, exponent):
    """float_power() in place: of float64."""
    if self.dtype != _C.float64:
        from rushlight._results import dtype_name

        raise RuntimeError(
            f"the base given to float_power_ has dtype {dtype_name(self.dtype)} but the "
            "operation's result requires dtype Double"
        )
    return _written("float_power_", self, self.float_power(exponent))


@_method
def polygamma_(self, n):
    """polygamma() in place."""
    return _written("polygamma_", self, self.polygamma(n))


@_method
def sum_to_size(self, *size):
    """The sum over what broadcasting from `size` to self's shape would spread.

    >>> torch.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    if len(size) == 1 and isinstance(size[0], (tuple, list)):
        size = size[0]
    if not size:
        return self.sum()
    lead = self.dim() - len(size)
    fits = lead >= 0 and all(
        n in (1, own) for n, own in zip(size, self.shape[max(lead, 0) :], strict=False)
    )
    if not fits:
        raise RuntimeError(
            f"size {{{list(size)}}} is not expandable to size {{{list(self.shape)}}}."
        )
    dims = list(range(lead))
    dims += [lead + d for d, n in enumerate(size) if n == 1 and self.shape[lead + d] != 1]
    result = self.sum(dims, True) if dims else self
    return result.reshape(tuple(size))


@_method
def new(self, *args, device=None):
    """The old constructor: an unset tensor of the given sizes, or one of the given data; of self's
    dtype and device.

    >>> torch.tensor([0.5]).new([1, 2])
    tensor([1., 2.])
    """
    from rushlight._legacy import construct

    device = self.device if device is None else _C.device(device)
    return construct(args, self.dtype, device, self.type())


@_method
def fill_diagonal_(self, fill_value, wrap=False):
    """Writes a number where all indices are equal.

    Args:
        fill_value: the number.
        wrap: of a tall matrix: begin again, a row below the last one written.

    >>> torch.zeros(2, 3).fill_diagonal_(5)
    tensor([[5., 0., 0.],
            [0., 5., 0.]])
    """
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and len(set(self.shape)) > 1:
        raise RuntimeError(
            f"all dimensions of input must be of equal length\nself: {list(self.shape)}"
        )
    step, width = sum(self.stride()), self.shape[-1]
    starts = range(0, self.shape[0] if wrap and self.dim() == 2 else 1, width + 1)
    for row in starts:
        count = min(self.shape[0] - row, width)
        self[row:].as_strided((count,), (step,)).fill_(fill_value)
    return self


def _rewritten(name, self, values):
    if self.requires_grad:
        raise RuntimeError(
            f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() "
            "instead."
        )
    if self.device.type != "cpu":
        raise TypeError(f"{name} is only implemented on CPU tensors")
    return self.copy_(_C.tensor(values(), dtype=self.dtype).reshape(self.shape))


@_method
def apply_(self, callable):
    """Replaces each element by what a Python function makes of it; slow.

    >>> torch.tensor([1.0, 2.0]).apply_(lambda v: v * v)
    tensor([1., 4.])
    """
    return _rewritten("apply_", self, lambda: [callable(v) for v in self.flatten().tolist()])


@_method
def map_(self, other, callable):
    """Replaces each element by what a Python function makes of it and of another tensor's; slow.

    >>> torch.tensor([1.0, 2.0]).map_(torch.tensor([3.0, 4.0]), lambda a, b: a * b)
    tensor([3., 8.])
    """
    if not isinstance(other, Tensor) or other.type() != self.type():
        kind = other.type() if isinstance(other, Tensor) else type(other).__name__
        raise TypeError(f"map_: expected {self.type()} for 'other' (got {kind})")
    theirs = other.expand(self.shape)

    def values():
        pairs = zip(self.flatten().tolist(), theirs.flatten().tolist(), strict=True)
        return [callable(a, b) for a, b in pairs]

    return _rewritten("map_", self, values)
