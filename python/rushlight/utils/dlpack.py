"""DLPack: tensors on the memory of other libraries' arrays and the reverse, without a copy.

    >>> import numpy
    >>> x = torch.arange(3)
    >>> numpy.from_dlpack(x)
    array([0, 1, 2])

Note: GPUs may be virtual, and no other library can read the memory of those, so only memory of the
CPU is lent.
"""

import enum

from rushlight import _C

__all__ = ["DLDeviceType", "from_dlpack", "to_dlpack"]


class DLDeviceType(enum.IntEnum):
    """The kinds of devices, with DLPack's integers."""

    kDLCPU = 1
    kDLCUDA = 2
    kDLCUDAHost = 3
    kDLOpenCL = 4
    kDLVulkan = 7
    kDLMetal = 8
    kDLVPI = 9
    kDLROCM = 10
    kDLROCMHost = 11
    kDLExtDev = 12
    kDLCUDAManaged = 13
    kDLOneAPI = 14
    kDLWebGPU = 15
    kDLHexagon = 16
    kDLMAIA = 17


_OF_CPU = (DLDeviceType.kDLCPU, DLDeviceType.kDLCUDAHost)


def _device_of(tensor):
    kind = tensor.device.type
    if kind == "cuda":
        return DLDeviceType.kDLCUDA, tensor.device.index
    if kind != "cpu":
        raise ValueError(f"Unknown device type {kind} for Dlpack")
    return (DLDeviceType.kDLCUDAHost if tensor.is_pinned() else DLDeviceType.kDLCPU), 0


def _lend(tensor, stream, max_version, dl_device, copy):
    """Tensor.__dlpack__()."""
    if tensor.requires_grad:
        raise BufferError("Can't export tensors that require gradient, use tensor.detach()")
    if stream is not None and type(stream) is not int:
        raise TypeError("stream must be ``int`` or ``none``")
    if tensor.device.type == "cpu" and stream not in (None, -1):
        raise AssertionError("stream should be None on cpu.")
    if tensor.device.type == "meta":
        raise BufferError("Cannot pack tensors on meta")
    if tensor.dtype.itemsize == 1 and tensor.dtype.is_floating_point:
        raise BufferError(
            f"Can't export tensors of {tensor.dtype}: its name in DLPack is too new to be read\n"
            "lend tensor.view(torch.uint8) instead"
        )
    wanted = _device_of(tensor) if dl_device is None else (int(dl_device[0]), int(dl_device[1]))
    if wanted[0] not in _OF_CPU:
        raise BufferError(
            "Can't export memory of GPUs: it is not lent to other libraries\n"
            f"the tensor is on {tensor.device}, the capsule would be on device {tuple(wanted)}; "
            "lend tensor.cpu() instead"
        )
    moves = tensor.device.type != "cpu"
    if moves and copy is False:
        raise ValueError(
            f"cannot move (tensor on {tensor.device}) to DLPack device {wanted} without copying. "
            "Set copy=None or copy=True."
        )
    copied = moves or bool(copy)
    if copied:
        tensor = tensor.cpu() if moves else tensor.clone()
    return _C._to_dlpack(tensor, max_version is not None and max_version[0] >= 1, copied)


def to_dlpack(tensor):
    """A capsule on the memory of `tensor`, which from_dlpack() of some library takes once.

    Args:
        tensor: a tensor on the CPU.

    Shape: any.

    Raises:
        BufferError: for a tensor that is sparse or on a GPU.

    >>> torch.utils.dlpack.from_dlpack(torch.utils.dlpack.to_dlpack(torch.ones(2)))
    tensor([1., 1.])
    """
    if not isinstance(tensor, _C.Tensor):
        raise TypeError(f"to_dlpack(): argument must be Tensor, not {type(tensor).__name__}")
    return _lend(tensor.detach(), None, None, None, None)


def from_dlpack(ext_tensor, *, device=None, copy=None):
    """A tensor on the memory of another library's array: a write to one is seen in the other.

    Args:
        ext_tensor: an object with `__dlpack__`, such as a NumPy array, or a capsule, which can be
            used once.
        device: device of the tensor; that of the array if None.
        copy: True copies, False forbids it, None copies where it must: to move to another device,
            and from read-only memory, with a warning.

    Shape: that of the array.

    Raises:
        RuntimeError: for a capsule that was used before, a dtype that tensors lack, data on a
            GPU, or an array whose sizes, strides or memory cannot be right.

    >>> import numpy
    >>> torch.from_dlpack(numpy.arange(3))
    tensor([0, 1, 2])
    """
    if not hasattr(ext_tensor, "__dlpack__"):
        if device is not None or copy is not None:
            raise AssertionError(
                "device and copy kwargs not supported when ext_tensor is already a DLPack capsule."
            )
        return _C._from_dlpack(ext_tensor, True)
    device = None if device is None else _C.device(device)
    _C._check_stack()  # what follows is the producer's
    kind, index = ext_tensor.__dlpack_device__()
    stays = device is None or (device.type == "cpu" and kind in _OF_CPU)
    if not stays and copy is False:
        raise ValueError(
            f"cannot move DLPack tensor from device {(int(kind), index)} to {device} "
            "without copying. Set copy=None or copy=True."
        )
    options = {"max_version": (1, 0)}
    if copy is not None:
        options["copy"] = copy
    capsule, understood = _export(ext_tensor, options)
    tensor = _C._from_dlpack(capsule, copy is not False)
    if copy and "copy" not in understood and stays:
        tensor = tensor.clone()
    return tensor if stays else tensor.to(device)


def _export(producer, options):
    """The producer's capsule, and the options that it accepted: old producers have fewer."""
    for without in ("max_version", "copy"):
        try:
            return producer.__dlpack__(**options), options
        except TypeError:
            options = {name: value for name, value in options.items() if name != without}
    return producer.__dlpack__(**options), options
