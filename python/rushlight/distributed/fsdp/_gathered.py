"""Gathered: the parameters of one fully_shard() call, as shards and, for a while, whole.

The shards of a rank are parts of one tensor, `shard`, which is what is sent: nothing is packed. The
whole parameters are parts of another, `memory`, whose storage is given back between uses; what
autograd has saved still knows that storage, and finds the values there again in backward. Writes
through `memory.data` do not count as changes of what was saved.
"""

from __future__ import annotations

import math

import rushlight
from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributed._collectives import all_gather_into_tensor
from rushlight.distributed.tensor import DTensor, Replicate, Shard
from rushlight.distributed.tensor.placement_types import part
from rushlight.nn.parameter import Parameter


class Sharded:
    """One parameter: where it belongs, how it is cut, and where it lies in `shard` and `memory`."""

    def __init__(self, parameter, name, owners, dim, mesh):
        self.name, self.owners, self.dim, self.mesh = name, owners, dim, mesh
        self.shape, self.dtype = tuple(parameter.shape), parameter.dtype
        self.requires_grad = parameter.requires_grad
        ranks, rank = mesh.size(-1), mesh.get_local_rank(mesh.ndim - 1)
        self.ranks = ranks
        length = self.shape[dim]
        if dim and length % ranks:
            raise NotImplementedError(
                f"FSDP does not support uneven sharding on dim {dim}: {name} has the shape "
                f"{self.shape}, the mesh {ranks} ranks"
            )
        self.rows = part(length, ranks, 0)[1]  # of each rank, the last ones padded
        _, own = part(length, ranks, rank)
        self.local_shape = (*self.shape[:dim], own, *self.shape[dim + 1 :])
        self.local_numel = math.prod(self.local_shape)
        around = math.prod(self.shape[:dim]) * math.prod(self.shape[dim + 1 :])
        self.count = self.rows * around  # elements of each rank, padded
        self.placements = (*[Replicate()] * (mesh.ndim - 1), Shard(dim))
        self.parameter = None

    def own_part(self, parameter):
        """This rank's part of the whole, a view."""
        start, length = part(
            self.shape[self.dim], self.ranks, self.mesh.get_local_rank(self.mesh.ndim - 1)
        )
        return parameter.detach().narrow(self.dim, start, length)

    def join(self, target, rows):
        """Writes what came from the ranks, [ranks, count], to the whole parameter's memory."""
        if self.dim == 0:
            target.view(self.ranks, self.count).copy_(rows)
            return
        whole = target.view(self.shape).unflatten(self.dim, (self.ranks, self.rows))
        whole.movedim(self.dim, 0).copy_(rows.view(self.ranks, *self.local_shape))

    def split(self, rows, gradient):
        """Writes a whole gradient to what is sent to the ranks, [ranks, count]."""
        if self.dim:
            parts = gradient.unflatten(self.dim, (self.ranks, self.rows)).movedim(self.dim, 0)
            rows.view(self.ranks, *self.local_shape).copy_(parts)
            return
        full = gradient.numel() // self.count if self.count else 0
        flat = gradient.reshape(-1)
        rows[:full].copy_(flat[: full * self.count].view(full, self.count))
        if full < self.ranks:
            rows[full:].zero_()
            rest = flat[full * self.count :]
            rows[full, : rest.numel()].copy_(rest)

    def show(self, value):
        """Makes `value` the module's parameter."""
        for module, name in self.owners:
            module._parameters[name] = value

    def use(self, value):
        """Lets forward find `value` as the attribute, while the parameter stays registered."""
        for module, name in self.owners:
            module.__dict__[name] = value


class Gathered:
    """The parameters of one fully_shard() call."""

    def __init__(self, params, mesh, param_dtype, device, shard_device):
        self.params, self.mesh, self.device = params, mesh, device
        self.group = mesh.get_group(mesh.ndim - 1)
        self.ranks = mesh.size(mesh.ndim - 1)
        self.dtype = params[0].dtype
        self.wanted_dtype, self.param_dtype = param_dtype, param_dtype or self.dtype
        self.total = sum(p.count for p in params)
        self.is_whole = False
        self._work = self._every = None
        self.shard_device = shard_device
        self.memory = None

    def take(self, parameters):
        """Cuts the module's parameters, which become DTensors."""
        for each, parameter in zip(self.params, parameters, strict=True):
            device = "meta" if parameter.device.type == "meta" else self.shard_device
            local = each.own_part(parameter).to(device)
            each.parameter = DTensor._make(
                local, self.mesh, each.placements, each.shape
            )._parameter(parameter.requires_grad)  # fmt: skip
            each.show(each.parameter)
        self.shard = None
        self._join_shards()

    def refresh(self):
        """Takes over parameters that load_state_dict(assign=True) or to_empty() has replaced."""
        changed = self.shard is None
        for each in self.params:
            module, name = each.owners[0]
            registered = module._parameters[name]
            if registered is not each.parameter:
                if not isinstance(registered, DTensor) or tuple(registered.shape) != each.shape:
                    raise RuntimeError(
                        f"parameter {each.name} of a fully sharded module was replaced by "
                        f"{type(registered).__name__} {tuple(registered.shape)}\nassign a DTensor "
                        "of the same placements, see distribute_tensor()"
                    )
                each.parameter = registered
                each.show(registered)
                changed = True
            changed = changed or each.parameter._local_tensor is not each.local
        if changed:
            self._join_shards()

    def _join_shards(self):
        """Lays this rank's parts side by side in one tensor."""
        locals_ = [each.parameter._local_tensor for each in self.params]
        for each, local in zip(self.params, locals_, strict=True):
            each.local = local
        if any(local.device.type == "meta" for local in locals_):
            self.shard = None
            return
        for each in self.params:
            if each.parameter.dtype != self.dtype:  # the module was cast as a whole
                self.dtype = each.parameter.dtype
                self.param_dtype, self.memory = self.wanted_dtype or self.dtype, None
        self.shard = rushlight.zeros(self.total, dtype=self.dtype, device=locals_[0].device)
        at = 0
        for each in self.params:
            own = self.shard[at : at + each.local_numel].view(each.local_shape)
            own.copy_(each.local)
            each.local = each.parameter._local_tensor = own
            at += each.count

    def _make_memory(self):
        """The whole parameters, whose storage is empty until they are gathered."""
        for each in self.params:
            if each.parameter._local_tensor.device.type == "meta":
                raise RuntimeError(
                    f"parameter {each.name} is on the meta device\ncall module.to_empty(device=...)"
                    " and initialize it before the first forward"
                )
        count = self.total * self.ranks
        self.memory = rushlight.empty(count, dtype=self.param_dtype, device=self.device)
        self._bytes = self.memory.nbytes
        self._written = self.memory.data
        at = 0
        for each in self.params:
            size = each.count * self.ranks
            each.target = self._written[at : at + size]
            whole = self.memory[at : at + math.prod(each.shape)].view(each.shape)
            each.whole = Parameter(whole, each.requires_grad)
            at += size
        _C._resize_storage(self.memory, 0)

    def start(self):
        """Begins the all-gather, if the parameters are not whole and it has not begun."""
        if self.is_whole or self._work is not None:
            return
        with no_grad():
            self.refresh()
            if self.memory is None:
                self._make_memory()
            given = self.shard.to(self.param_dtype)
            self._every = rushlight.empty(
                self.ranks, self.total, dtype=self.param_dtype, device=given.device
            )
            self._work = all_gather_into_tensor(self._every, given, self.group, async_op=True)

    def gather(self):
        """Makes the parameters whole and registers them."""
        if self.is_whole:
            return
        self.start()
        with no_grad():
            self._work.wait()
            _C._resize_storage(self.memory, self._bytes)
            at = 0
            for each in self.params:
                each.join(each.target, self._every[:, at : at + each.count])
                at += each.count
        self._work = self._every = None
        self.is_whole = True
        for each in self.params:
            each.whole.requires_grad_(each.parameter.requires_grad)
            each.show(each.whole)

    def release(self, write_back=False):
        """Gives back the memory of the whole parameters and registers the shards."""
        if self._work is not None:  # prefetched, not used
            self._work.wait()
            self._work = self._every = None
        if not self.is_whole:
            return
        self.is_whole = False
        for each in self.params:
            if write_back:
                with no_grad():
                    each.local.copy_(each.own_part(each.whole))
            each.show(each.parameter)
        _C._resize_storage(self.memory, 0)
