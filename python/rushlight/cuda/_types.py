# The legacy constructors torch.cuda.FloatTensor and its relatives: sizes or data, on the current
# device.
from .. import _C


def make_type(name: str, dtype):
    """The class torch.cuda.<name>: calling it makes a tensor, isinstance asks for dtype and GPU."""

    class Meta(type):
        def __instancecheck__(cls, value):
            return isinstance(value, _C.Tensor) and value.is_cuda and value.dtype == dtype

        def __call__(cls, *args, device="cuda"):
            device = _C.device(device)
            if device.type != "cuda":
                raise RuntimeError(
                    "legacy constructor expects device type: cuda but device type: "
                    f"{device.type} was passed"
                )
            if len(args) == 1 and not isinstance(args[0], (int, _C.Size)):
                return _C.tensor(args[0], dtype=dtype, device=device)
            size = args[0] if len(args) == 1 and isinstance(args[0], _C.Size) else args
            return _C.empty(size, dtype=dtype, device=device)

        def __repr__(cls):
            return f"<class 'torch.cuda.{name}'>"

    doc = f"Makes a tensor of {str(dtype).removeprefix('torch.')} on the current GPU."
    return Meta(name, (), {"dtype": dtype, "is_cuda": True, "__doc__": doc, "__module__": __name__})
