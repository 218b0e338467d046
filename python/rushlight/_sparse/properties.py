"""What can be asked of a sparse tensor."""

from rushlight import _C, Tensor
from rushlight._arguments import wrapped
from rushlight._sparse import layouts
from rushlight._sparse.dispatch import refuse, rule
from rushlight._sparse.entries import coalesced
from rushlight._sparse.tensor import Compressed, Coordinates, with_values

_OF_BODY = "dtype device ndim itemsize is_cuda is_cpu is_meta is_quantized is_mps is_xpu is_mtia"
_OF_BODY += " is_xla is_ipu is_maia is_vulkan is_mkldnn is_nested name shape"
_METHODS = "is_complex is_floating_point is_signed element_size get_device is_inference"


def _register():
    def getter(name):
        def get(x):
            with _C.DisableTorchFunctionSubclass():
                return getattr(Tensor, name).__get__(x)

        return get

    def method(name):
        def call(*args, **kwargs):
            with _C.DisableTorchFunctionSubclass():
                return getattr(Tensor, name)(*args, **kwargs)

        return call

    for name in _OF_BODY.split():
        rule(f"get.{name}")(getter(name))
    for name in _METHODS.split():
        rule(name)(method(name))


_register()


@rule("get.layout")
def layout(x):
    """torch.sparse_coo and so on."""
    return getattr(layouts, x.layout_name)


@rule("get.is_sparse")
def is_sparse(x):
    """Whether it is in coordinate form."""
    return isinstance(x, Coordinates)


@rule("get.is_sparse_csr")
def is_sparse_csr(x):
    """Whether it is compressed by rows."""
    return x.layout_name == "sparse_csr"


@rule("get.nbytes")
def nbytes(x):
    """Not defined."""
    raise RuntimeError(
        "nbytes is not defined for sparse tensors.  If you want the size of the constituent "
        "tensors, add the nbytes of the indices and values.  If you want the size of the  "
        "equivalent dense tensor, multiply numel() by element_size()"
    )


@rule("is_same_size")
def is_same_size(input, other):
    """Whether both have the same sizes and layout."""
    return tuple(input.shape) == tuple(other.shape)


@rule("size")
def size(input, dim=None):
    """The sizes, or one of them."""
    return input._size if dim is None else input._size[wrapped(dim, len(input._size))]


@rule("dim ndimension")
def dim(input):
    """How many dimensions."""
    return len(input._size)


@rule("numel nelement")
def numel(input):
    """How many elements the dense tensor has."""
    return input._size.numel()


@rule("stride")
def stride(input, dim=None):
    """Zeros, in coordinate form."""
    if isinstance(input, Compressed):
        raise RuntimeError("Sparse CSR tensors do not have strides")
    return (0,) * len(input._size) if dim is None else 0


@rule("storage_offset")
def storage_offset(input):
    """Nothing is stored before it."""
    return 0


@rule("is_contiguous")
def is_contiguous(input, memory_format=None):
    """As torch says."""
    return False


@rule("is_pinned")
def is_pinned(input, device=None):
    """Never."""
    return False


@rule("sparse_dim")
def sparse_dim(self):
    """How many dimensions have indices."""
    return self._i.shape[0] if isinstance(self, Coordinates) else 2


@rule("dense_dim")
def dense_dim(self):
    """How many dimensions each value has."""
    return self._v.dim() - 1


@rule("_nnz")
def _nnz(self):
    """How many entries."""
    return self._v.shape[0]


@rule("_dimI")
def _dim_of_indices(self):
    return sparse_dim(self)


@rule("_dimV")
def _dim_of_values(self):
    return dense_dim(self)


def _only(x, name, kind, words):
    if not isinstance(x, kind):
        shown = {"sparse_coo": "Sparse", "sparse_csr": "SparseCsr", "sparse_csc": "SparseCsc"}
        raise RuntimeError(f"{name} expected {words} tensor layout but got {shown[x.layout_name]}")


@rule("is_coalesced")
def is_coalesced(self):
    """Whether the entries ascend and none comes twice."""
    _only(self, "is_coalesced", Coordinates, "sparse coordinate")
    return self._coalesced


@rule("_coalesced_")
def _coalesced_(self, coalesced):
    """Says so, without a look."""
    _only(self, "_coalesced_", Coordinates, "sparse coordinate")
    self._coalesced = bool(coalesced)
    return self


@rule("coalesce")
def coalesce(self):
    """One entry for each place, in order."""
    _only(self, "coalesce", Coordinates, "sparse coordinate")
    return coalesced(self)


def _need_coalesced(x, what):
    _only(x, what, Coordinates, "sparse coordinate")
    if not x._coalesced:
        raise RuntimeError(
            f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first"
        )


@rule("indices")
def indices(self):
    """The indices of a coalesced tensor."""
    _need_coalesced(self, "indices")
    return self._i.detach()


@rule("values")
def values(self):
    """The values of a coalesced tensor, or of a compressed one."""
    if isinstance(self, Coordinates):
        _need_coalesced(self, "values")
    return self._v.view_as(self._v) if self._v.requires_grad and self._v.is_leaf else self._v


@rule("_indices")
def _indices(self):
    """The indices as they are."""
    if not isinstance(self, Coordinates):
        refuse("_indices", (self,), {})
    return self._i


@rule("_values")
def _values(self):
    """The values as they are, without history."""
    if not isinstance(self, Coordinates):
        refuse("_values", (self,), {})
    return self._v.detach()


def _compressed(name, layout, part, words):
    def get(self):
        if self.layout_name != layout:
            _only(self, name, (), words)
        return vars(self)[part]

    return rule(name)(get)


_compressed("crow_indices", "sparse_csr", "_c", "sparse row compressed")
_compressed("col_indices", "sparse_csr", "_p", "sparse row compressed")
_compressed("ccol_indices", "sparse_csc", "_c", "sparse column compressed")
_compressed("row_indices", "sparse_csc", "_p", "sparse column compressed")


@rule("type")
def type_of(input, dtype=None, non_blocking=False):
    """The legacy name, or a cast."""
    from rushlight._dtype_names import DTYPES, NAMES

    if dtype is None:
        if not isinstance(input, Coordinates):
            raise RuntimeError("Unimplemented backend SparseCsrCPU")
        prefix = "torch.cuda.sparse." if input._v.is_cuda else "torch.sparse."
        return f"{prefix}{NAMES[input._v.dtype]}Tensor"
    name = getattr(dtype, "_legacy_name", dtype)
    if isinstance(name, str):
        kind = name.rpartition(".")[2].removesuffix("Tensor")
        if ".sparse." not in name or kind not in DTYPES:
            raise ValueError(f"invalid type: '{name}'")
        dtype = DTYPES[kind]
    return with_values(input, input._v.to(dtype), "ToCopyBackward0")


@rule("get.data")
def data(x):
    """The same without history."""
    return with_values(x, x._v.detach())


@rule("is_same")
def is_same(input, other):
    """Whether it is the same object."""
    return input is other


@rule("data_ptr const_data_ptr tolist")
def data_ptr(input, *args):
    """Not there."""
    raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


@rule("numpy array __array__")
def numpy(input, *args, **kwargs):
    """Not there."""
    shown = {"sparse_coo": "Sparse", "sparse_csr": "SparseCsr", "sparse_csc": "SparseCsc"}
    raise TypeError(
        f"can't convert {shown[input.layout_name]} layout tensor to numpy. Use Tensor.to_dense() "
        "first."
    )


@rule("dlpack")
def dlpack(input, *args, **kwargs):
    """Not there."""
    raise BufferError(
        "Can't export tensors with layout other than torch.strided\nlend x.to_dense() instead"
    )


@rule("storage untyped_storage _typed_storage is_shared share_memory_ set_ is_set_to")
def storage(input, *args, **kwargs):
    """Not there."""
    raise NotImplementedError("Cannot access storage of SparseTensorImpl\nuse x.values()")
