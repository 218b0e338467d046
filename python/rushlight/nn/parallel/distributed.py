"""DistributedDataParallel: a replica of a module in each process, whose gradients are averaged."""

from __future__ import annotations

import contextlib
import zlib

import rushlight
from rushlight import _C
from rushlight.nn.modules.module import Module


class DistributedDataParallel(Module):
    """Averages the gradients of `module` over the processes of a group while backward runs.

    Every process makes its own, with the same module and a share of each batch of its own. All
    begin with the parameters and buffers of rank 0.

    Args:
        module: what each process trains.
        device_ids: None, or a list with the GPU of the module, to which inputs are then moved.
        output_device: accepted, not used.
        dim: accepted, not used.
        broadcast_buffers: take rank 0's buffers before each forward.
        init_sync: take rank 0's parameters and buffers at the start.
        process_group: the default group where it is None.
        bucket_cap_mb: size of the pieces that gradients are reduced in; 25 by default.
        find_unused_parameters: a forward need not use all parameters.
        check_reduction: accepted, not used.
        gradient_as_bucket_view: `.grad` is the memory that is reduced, which saves a copy.
        static_graph: as find_unused_parameters, for a graph that stays the same.

    Shape: whatever `module` takes and returns.

    Raises:
        RuntimeError: the module has no parameter that requires a gradient; the ranks have other
            parameters; a parameter got no gradient, at the next forward, which names it.

    >>> model = torch.nn.parallel.DistributedDataParallel(net)  # doctest: +SKIP
    """

    def __init__(
        self, module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True,
        init_sync=True, process_group=None, bucket_cap_mb=None, find_unused_parameters=False,
        check_reduction=False, gradient_as_bucket_view=False, static_graph=False,
    ):  # fmt: skip
        super().__init__()
        from rushlight.distributed import _world
        from rushlight.distributed._reducer import Reducer

        group = _world._group_of(process_group)
        if group is None:
            raise ValueError("Invalid process group specified: this process is not in it")
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        if not named:
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameters "
                "that require a gradient."
            )
        devices = {p.device for p in module.parameters()}
        if device_ids and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        if device_ids and (len(devices) > 1 or {d.type for d in devices} == {"cpu"}):
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                "single-device/multiple-device GPU modules or CPU modules, but got device_ids "
                f"{device_ids}, output_device {output_device}, and module parameters {devices}."
            )
        self.module, self.process_group = module, group
        self.device_ids = [_C.device(each).index for each in device_ids] if device_ids else None
        self.broadcast_buffers, self.dim = broadcast_buffers, dim
        self.find_unused_parameters = find_unused_parameters or static_graph
        self.static_graph, self.gradient_as_bucket_view = static_graph, gradient_as_bucket_view
        self.require_backward_grad_sync = True
        if init_sync and group.size() > 1:
            _check_alike(module, group)
            _take_from_rank_0([*module.parameters(), *module.buffers()], group)
        limit = int((25 if bucket_cap_mb is None else bucket_cap_mb) * (1 << 20))
        self._reducer = Reducer(named, group, max(1, limit), gradient_as_bucket_view)

    def forward(self, *inputs, **kwargs):
        syncs = _C.is_grad_enabled() and self.require_backward_grad_sync
        if syncs:
            self._reducer.prepare()
            if self.broadcast_buffers:
                _take_from_rank_0(list(self.module.buffers()), self.process_group)
        if self.device_ids:
            inputs, kwargs = _moved((inputs, kwargs), _C.device("cuda", self.device_ids[0]))
        output = self.module(*inputs, **kwargs)
        if syncs and self.find_unused_parameters:
            from rushlight.distributed._reducer import tensors_in

            self._reducer.find_unused(tensors_in(output))
        return output

    @contextlib.contextmanager
    def no_sync(self):
        """Gradients of forwards within add up here alone; the next one outside sends them all.

        >>> with model.no_sync():  # doctest: +SKIP
        ...     loss(model(x), y).backward()
        """
        before = self.require_backward_grad_sync
        self.require_backward_grad_sync = False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before


def _moved(value, device):
    """The tensors in nested tuples, lists and dicts on a device."""
    if isinstance(value, _C.Tensor):
        return value.to(device)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_moved(each, device) for each in value))
    if isinstance(value, list | tuple):
        return type(value)(_moved(each, device) for each in value)
    if isinstance(value, dict):
        return type(value)((key, _moved(each, device)) for key, each in value.items())
    return value


def _take_from_rank_0(tensors, group):
    """One broadcast for each dtype and device."""
    if group.size() == 1:
        return
    from rushlight.distributed import broadcast

    kinds = {}
    for each in tensors:
        kinds.setdefault((each.dtype, each.device), []).append(each.detach())
    for same in kinds.values():
        joined = rushlight.cat([each.reshape(-1) for each in same])
        broadcast(joined, group=group, group_src=0)
        if group.rank():
            parts = joined.split([each.numel() for each in same])
            for each, part in zip(same, parts, strict=True):
                each.copy_(part.view(each.shape))


def _check_alike(module, group):
    """All ranks have the same parameters, or the first that differs is named."""
    from rushlight.distributed import all_gather_into_tensor, all_gather_object
    from rushlight.distributed._work import of

    own = [f"{name}: {of(p)}" for name, p in module.named_parameters()]
    device = next(module.parameters()).device
    number = rushlight.tensor([zlib.crc32("\n".join(own).encode())], device=device)
    numbers = rushlight.empty(group.size(), dtype=rushlight.int64, device=device)
    all_gather_into_tensor(numbers, number, group)
    if len(set(numbers.tolist())) == 1:
        return
    every = [None] * group.size()
    all_gather_object(every, own, group)
    for rank, theirs in enumerate(every):
        if theirs == every[0]:
            continue
        pairs = [(a, b) for a, b in zip(every[0], theirs, strict=False) if a != b]
        if pairs:
            words = f"rank 0 has {pairs[0][0]}, rank {rank} has {pairs[0][1]}"
        else:
            words = f"rank 0 has {len(every[0])} parameters, rank {rank} has {len(theirs)}"
        raise RuntimeError(
            "DistributedDataParallel expects the same model in all processes, and their parameters "
            f"differ\n{words}"
        )
