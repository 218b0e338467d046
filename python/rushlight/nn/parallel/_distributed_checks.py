"""What DistributedDataParallel refuses of its arguments."""

from __future__ import annotations

import inspect

from rushlight import _C
from rushlight.distributed import _world
from rushlight.distributed._buckets import GradBucket
from rushlight.futures import Future
from rushlight.nn.parameter import UninitializedTensorMixin


def group_of(process_group, device_mesh):
    if device_mesh is not None:
        if process_group is not None:
            raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
        if device_mesh.ndim != 1:
            raise RuntimeError(
                f"Only 1D device mesh is supported, but got {device_mesh}\nof a mesh of several "
                'dimensions, take one: mesh["name"]'
            )
        process_group = device_mesh.get_group(mesh_dim=0)
    group = _world._group_of(process_group)
    if group is None:
        raise ValueError("Invalid process group specified: this process is not in it")
    return group


def check_module(named, every, device_ids, output_device):
    for name, p in every:
        if isinstance(p, UninitializedTensorMixin):
            raise RuntimeError(
                "Modules with uninitialized parameters can't be used with "
                "`DistributedDataParallel`. Run a dummy forward pass to correctly initialize the "
                f"modules\n{name} has no shape yet"
            )
    if not named:
        raise RuntimeError(
            "DistributedDataParallel is not needed when a module doesn't have any parameter that "
            "requires a gradient."
        )
    devices = {p.device for _, p in every}
    if any(d.type == "meta" for d in devices):
        raise RuntimeError(
            "DistributedDataParallel: parameters on the meta device have no data\n"
            "call module.to_empty(device=...) first, and initialize them"
        )
    if not device_ids and output_device is None:
        return
    if len(devices) > 1 or devices == {_C.device("cpu")}:
        raise ValueError(
            "DistributedDataParallel device_ids and output_device arguments only work with "
            "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
            f"{device_ids}, output_device {output_device}, and module parameters {devices}."
        )
    if device_ids and len(device_ids) > 1:
        raise ValueError("device_ids can only be None or contain a single element.")
    if device_ids and index_of(device_ids[0]) != named[0][1].device.index:
        raise ValueError(
            f"device_ids is {list(device_ids)}, and {named[0][0]} is on {named[0][1].device}: call "
            ".to(...) before DistributedDataParallel(model)"
        )


def index_of(device):
    return device if isinstance(device, int) else _C.device(device).index


def syncs_buffers(broadcast_buffers, forward_sync_buffers):
    if broadcast_buffers is not None and forward_sync_buffers is not None:
        if bool(broadcast_buffers) != bool(forward_sync_buffers):
            raise ValueError("broadcast_buffers and forward_sync_buffers say different things")
    given = forward_sync_buffers if broadcast_buffers is None else broadcast_buffers
    return True if given is None else bool(given)


def moved(value, device):
    """The tensors in nested tuples, lists and dicts on a device."""
    if isinstance(value, _C.Tensor):
        return value.to(device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(moved(each, device) for each in value))
    if isinstance(value, list | tuple):
        return type(value)(moved(each, device) for each in value)
    if isinstance(value, dict):
        return type(value)((key, moved(each, device)) for key, each in value.items())
    return value


def check_comm_hook(hook):
    if not callable(hook):
        raise TypeError("Communication hook must be callable.")
    try:
        signature = inspect.signature(hook, eval_str=True)
    except (TypeError, ValueError, NameError):
        return
    given = signature.parameters.get("bucket")
    if given is not None and given.annotation not in (inspect.Parameter.empty, GradBucket):
        raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
    returned = signature.return_annotation
    known = (inspect.Signature.empty, Future, Future[_C.Tensor])
    if returned not in known:
        raise ValueError(
            "Communication hook: return annotation should be torch.futures.Future[torch.Tensor]."
        )


_INSTEAD = {
    "mixed_precision": "run the forward under torch.autocast, or register fp16_compress_hook",
    "bucket_cap_mb_list": "give one size as bucket_cap_mb",
}


def refuse(**options):
    """NotImplementedError for the first option that is not None."""
    for name, value in options.items():
        if value is not None:
            raise NotImplementedError(
                f"DistributedDataParallel({name}={value!r}) is not in rushlight: the gradients of "
                "all parameters are reduced in their own dtype, in buckets of one size\n"
                + _INSTEAD.get(name, "leave it out")
            )
