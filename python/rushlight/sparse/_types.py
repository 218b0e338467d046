"""torch.sparse.FloatTensor and its relatives: classes for isinstance(); a call makes a tensor."""

from rushlight import _C
from rushlight._dtype_names import DTYPES
from rushlight._sparse.tensor import Coordinates


class _SparseType(type):
    def __instancecheck__(cls, value):
        return (
            isinstance(value, Coordinates)
            and value._v.dtype is cls.dtype
            and value._v.device.type == cls.device_type
        )

    def __call__(cls, *args, device=None):
        from rushlight._sparse.construction import sparse_coo_tensor, without_entries

        device = cls.device_type if device is None else device
        if args and (isinstance(args[0], _C.Tensor) or (len(args) > 1 and not _are_sizes(args))):
            indices, values, *size = args
            dtype = values.dtype if isinstance(values, _C.Tensor) else cls.dtype
            return sparse_coo_tensor(
                indices, values, size[0] if size else None, dtype=dtype, device=device
            )
        size = args[0] if len(args) == 1 and not isinstance(args[0], int) else args
        return without_entries(list(size) or [0], cls.dtype, device)

    def __repr__(cls):
        return f"<class '{cls._legacy_name}'>"


def _are_sizes(args):
    return all(isinstance(n, int) for n in args)


def make_type(name, device_type="cpu"):
    """The class torch.sparse.<name>, or torch.cuda.sparse.<name>."""
    prefix = "torch.cuda.sparse." if device_type == "cuda" else "torch.sparse."
    dtype = DTYPES[name.removesuffix("Tensor")]
    members = {
        "dtype": dtype,
        "device_type": device_type,
        "is_cuda": device_type == "cuda",
        "_legacy_name": prefix + name,
        "__doc__": f"Makes a sparse tensor of {dtype} from indices, values and sizes.",
        "__module__": prefix.removesuffix("."),
    }
    return _SparseType(name, (), members)
