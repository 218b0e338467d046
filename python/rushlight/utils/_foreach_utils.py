"""How optimizers group tensors for operations on lists of them."""

from rushlight._C import Tensor
from rushlight.nn import Parameter

__all__: list[str] = []


def _group_tensors_by_device_and_dtype(tensorlistlist, with_indices=False):
    """Groups the positions of equally long lists by device and dtype of the first list's tensors.

    Args:
        tensorlistlist: the lists; others than the first may have None at a position.
        with_indices: also give the positions of each group.

    Returns: (device, dtype) -> (the lists of the group, its positions or none).
    """
    first, *_ = tensorlistlist
    if any(len(part) not in (0, len(first)) for part in tensorlistlist):
        lengths = [len(part) for part in tensorlistlist]
        raise RuntimeError(f"Tensor list lengths must match, got {lengths}")
    groups: dict = {}
    for at, t in enumerate(first):
        groups.setdefault((t.device, t.dtype), []).append(at)
    return {
        key: ([[part[i] for i in at] if part else [] for part in tensorlistlist],
              at if with_indices else [])
        for key, at in groups.items()
    }  # fmt: skip


def _get_foreach_kernels_supported_devices():
    return ["cuda"]


def _get_fused_kernels_supported_devices():
    return ["cuda", "cpu"]


def _device_has_foreach_support(device):
    return device.type in [*_get_foreach_kernels_supported_devices(), "cpu"]


def _has_foreach_support(tensors, device):
    return _device_has_foreach_support(device) and all(
        t is None or type(t) in (Tensor, Parameter) for t in tensors
    )
