"""DTensor: a tensor of which each rank of a mesh holds a part.

Its own body is a meta tensor of the whole shape, so that shape, dtype and requires_grad are right
and nothing can be computed with it by mistake: an operation that is not a method here raises
(`_refuse`, which csrc/bindings/tensor/subclass.cpp calls). The data are in `_local_tensor`.
"""

from __future__ import annotations

from rushlight import _C
from rushlight.distributed._collectives import broadcast
from rushlight.distributed.tensor._norm import all_equal, total_norm, total_sum
from rushlight.distributed.tensor._pointwise import add_methods
from rushlight.distributed.tensor._redistribute import cut, normalized, redistributed, where, whole
from rushlight.distributed.tensor.placement_types import Replicate
from rushlight.nn.parameter import Parameter

Tensor = _C.Tensor


class DTensor(Tensor):
    """A tensor of which each rank of a DeviceMesh holds a part.

    DTensor.from_local() and distribute_tensor() make one, and fully_shard() those of a module. It
    has the methods that work element by element; gradients do not flow through it.

    Args:
        *args, **kwargs: none; see from_local.

    Shape: that of the whole tensor; to_local() has this rank's part.

    Raises:
        NotImplementedError: an operation that it does not have: compute with .to_local() or
            .full_tensor().

    >>> x = torch.distributed.tensor.distribute_tensor(w, mesh, [Shard(0)])  # doctest: +SKIP
    >>> x.to_local().shape  # doctest: +SKIP
    """

    def __new__(cls, *args, **kwargs):
        raise TypeError("DTensor(): use DTensor.from_local() or distribute_tensor()")

    @classmethod
    def _make(cls, local, mesh, placements, shape, requires_grad=False):
        body = _C.empty(tuple(shape), dtype=local.dtype, device="meta")
        self = Tensor.__new__(cls, body)
        self._local_tensor = local.detach()
        self._mesh, self._placements = mesh, placements
        if requires_grad:
            self.requires_grad_(True)
        return self

    def _like(self, local):
        return DTensor._make(local, self._mesh, self._placements, self.shape)

    @staticmethod
    def _refuse():
        raise NotImplementedError(
            "DTensor in rushlight 0.1 has no such operation: it has the methods that work element "
            "by element, as optimizers need them\ncompute with .to_local(), this rank's part, or "
            ".full_tensor(), which gathers it"
        )

    @staticmethod
    def from_local(
        local_tensor, device_mesh=None, placements=None, *, run_check=False, shape=None, stride=None
    ):
        """The DTensor whose part on this rank is given.

        Args:
            local_tensor: this rank's part.
            device_mesh: the ranks.
            placements: one for each dimension of the mesh; Replicate() by default.
            run_check: accepted; the parts are not compared.
            shape: of the whole; without it, each rank has a part of this size.
            stride: accepted; the whole is contiguous.
        """
        if device_mesh is None:
            raise ValueError("DTensor.from_local(): device_mesh is needed in rushlight 0.1")
        found = normalized(placements, device_mesh, local_tensor.dim())
        size = list(local_tensor.shape if shape is None else shape)
        if shape is None:
            for i, each in enumerate(found):
                if each.is_shard():
                    size[each.dim] *= device_mesh.size(i)
        expected = where(size, device_mesh, found)[1]
        if list(local_tensor.shape) != expected:
            raise ValueError(
                f"DTensor.from_local(): of {size} this rank's part is {expected} under {found}, "
                f"and local_tensor is {list(local_tensor.shape)}"
            )
        return DTensor._make(local_tensor, device_mesh, found, size, local_tensor.requires_grad)

    @property
    def device_mesh(self):
        """The DeviceMesh whose ranks hold the parts."""
        return self._mesh

    @property
    def placements(self):
        """A placement for each dimension of the mesh."""
        return self._placements

    @property
    def device(self):
        """Where this rank's part is."""
        return self._local_tensor.device

    is_cuda = property(lambda self: self._local_tensor.is_cuda, doc="Whether the parts are there.")
    is_cpu = property(lambda self: self._local_tensor.is_cpu, doc="Whether the parts are there.")
    is_meta = property(lambda self: self._local_tensor.is_meta, doc="Whether there are no data.")

    def get_device(self):
        """The index of the GPU with this rank's part; -1 on the CPU."""
        return self._local_tensor.get_device()

    @property
    def data(self):
        """The same parts without history."""
        return self.detach()

    @data.setter
    def data(self, value):
        if not isinstance(value, DTensor):
            raise TypeError(f"data of a DTensor is a DTensor, not {type(value).__name__}")
        Tensor.data.__set__(self, _C.empty(value.shape, dtype=value.dtype, device="meta"))
        self._local_tensor = value._local_tensor
        self._mesh, self._placements = value._mesh, value._placements

    def to_local(self, *, grad_placements=None):
        """This rank's part, which shares memory with it; no gradient flows back.

        Args:
            grad_placements: of a gradient, which does not flow.
        """
        return self._local_tensor

    def full_tensor(self, *, grad_placements=None):
        """The whole tensor, gathered: all ranks of the mesh call it.

        Args:
            grad_placements: of a gradient, which does not flow.
        """
        return whole(self._local_tensor, self.shape, self._mesh, self._placements)

    def redistribute(
        self, device_mesh=None, placements=None, *, async_op=False,
        forward_dtype=None, backward_dtype=None,
    ):  # fmt: skip
        """The same tensor under other placements: all ranks of the mesh call it.

        Args:
            device_mesh: None or the same mesh.
            placements: one for each dimension of the mesh.
            async_op: accepted; it returns when all is done.
            forward_dtype, backward_dtype: None; casts on the way are not there.
        """
        if forward_dtype is not None or backward_dtype is not None:
            raise NotImplementedError(
                "DTensor.redistribute(): forward_dtype and backward_dtype are not in rushlight; "
                "cast the tensor with .to(dtype) before"
            )
        if device_mesh not in (None, self._mesh):
            raise NotImplementedError("Cross device mesh comm not supported yet!")
        if placements is None:
            raise RuntimeError("placements is needed for redistribute!")
        after = normalized(placements, self._mesh, self.dim())
        local = redistributed(self._local_tensor, self.shape, self._mesh, self._placements, after)
        return DTensor._make(local, self._mesh, after, self.shape)

    def detach(self):
        """The same parts, without requires_grad."""
        return self._like(self._local_tensor)

    def detach_(self):
        """Itself: no operation on it is recorded."""
        return self

    def new_zeros(self, size, *, dtype=None, device=None, requires_grad=False):
        """Zeros that lie as this tensor.

        Args:
            size: the shape of the whole.
            dtype: that of this tensor by default.
            device: that of this tensor by default.
            requires_grad: whether gradients are collected.
        """
        found = normalized(self._placements, self._mesh, len(size))
        part = where(size, self._mesh, found)[1]
        local = self._local_tensor.new_zeros(part, dtype=dtype, device=device)
        return DTensor._make(local, self._mesh, found, size, requires_grad)

    def _parameter(self, requires_grad):
        """What Parameter(dtensor) is: a DTensor that is a Parameter too."""
        return DTensorParameter._make(
            self._local_tensor, self._mesh, self._placements, self.shape, requires_grad
        )

    def _of_part(self, function):
        """The DTensor whose parts `function` makes of these."""
        return self._like(function(self._local_tensor))

    def register_post_accumulate_grad_hook(self, hook):
        """Calls `hook(self)` when fully_shard() has written `.grad`.

        Args:
            hook: the function.
        """
        from collections import OrderedDict

        from rushlight.nn.modules._hooks import RemovableHandle

        hooks = self.__dict__.setdefault("_gradient_hooks", OrderedDict())
        handle = RemovableHandle(hooks)
        hooks[handle.id] = hook
        return handle

    def __deepcopy__(self, memo):
        if id(self) not in memo:
            local = self._local_tensor.clone()
            memo[id(self)] = type(self)._make(
                local, self._mesh, self._placements, self.shape, self.requires_grad
            )
        return memo[id(self)]

    def __reduce_ex__(self, protocol):
        raise NotImplementedError(
            "a DTensor cannot be pickled in rushlight 0.1: each rank has only a part of it\nsave "
            "it by torch.distributed.checkpoint.save(), or .full_tensor() by torch.save()"
        )

    def __repr__(self, *, tensor_contents=None):
        return (
            f"DTensor(local_tensor={self._local_tensor}, device_mesh={self._mesh}, "
            f"placements={self._placements})"
        )

    def __format__(self, spec):
        return format(self.item(), spec) if spec else repr(self)

    def item(self):
        """The number of a tensor of one element that all ranks have."""
        if not all(p.is_replicate() for p in self._placements):
            self._refuse()
        return self._local_tensor.item()

    def tolist(self):
        """The numbers of a tensor that all ranks have."""
        if not all(p.is_replicate() for p in self._placements):
            self._refuse()
        return self._local_tensor.tolist()

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())

    def __bool__(self):
        return bool(self.item())

    def _replicated(self, number):
        """What all ranks of the mesh have alike, as a DTensor."""
        placements = (Replicate(),) * self._mesh.ndim
        return DTensor._make(number, self._mesh, placements, number.shape)

    def norm(self, p=2.0, *args, **kwargs):
        """The norm of all elements; all ranks call it.

        Args:
            p: the exponent.
        """
        if args or kwargs:
            self._refuse()
        return self._replicated(total_norm([self], [], float(p)))

    def sum(self, *args, **kwargs):
        """The sum of all elements; all ranks call it."""
        found = None if args or kwargs else total_sum(self)
        return self._refuse() if found is None else self._replicated(found)

    def mean(self, *args, **kwargs):
        """The mean of all elements; all ranks call it."""
        return self.sum(*args, **kwargs) / self.numel()

    def equal(self, other):
        """Whether all elements are those of another DTensor; all ranks call it, and agree.

        Args:
            other: the DTensor.
        """
        if not isinstance(self, DTensor):
            self, other = other, self
        return all_equal(self, other)

    def requires_grad_(self, requires_grad=True):
        """Sets requires_grad.

        Args:
            requires_grad: whether gradients are collected.
        """
        self.requires_grad = requires_grad
        return self

    def _refused(self, *args, **kwargs):
        self._refuse()

    numpy = _refused


add_methods(DTensor)


class DTensorParameter(DTensor, Parameter):
    """A DTensor that a module trains.

    Args:
        *args, **kwargs: none; Parameter(dtensor) makes one.
    """

    def __repr__(self, *, tensor_contents=None):
        return "Parameter containing:\n" + DTensor.__repr__(self)


DTensorParameter.__name__ = DTensorParameter.__qualname__ = "DTensor"


def distribute_tensor(tensor, device_mesh=None, placements=None, *, src_data_rank=0):
    """The DTensor of a tensor that all ranks of a mesh have; all of them call it.

    Args:
        tensor: the whole.
        device_mesh: the ranks.
        placements: one for each dimension of the mesh; Replicate() by default.
        src_data_rank: whose values are taken, by its rank along each dimension of the mesh; None
            for each rank's own.

    >>> distribute_tensor(torch.ones(6), mesh, [Shard(0)])  # doctest: +SKIP
    """
    if device_mesh is None:
        raise ValueError("distribute_tensor(): device_mesh is needed in rushlight 0.1")
    if not isinstance(tensor, Tensor):
        raise TypeError(f"distribute_tensor(): tensor must be a Tensor, not {type(tensor)}")
    if isinstance(tensor, DTensor):
        return tensor.redistribute(device_mesh, placements)
    if not tensor.is_leaf:
        raise RuntimeError(
            "`distribute_tensor` should be used to distribute leaf tensors! but found non-leaf "
            "tensor!"
        )
    found = normalized(placements, device_mesh, tensor.dim())
    if any(p.is_partial() for p in found):
        raise RuntimeError("distribute_tensor(): a tensor cannot be distributed as Partial")
    data = tensor.detach()
    if src_data_rank is not None and data.device.type != "meta":
        data = data.to(device_mesh.device_type).contiguous().clone()
        for i in range(device_mesh.ndim):
            broadcast(data, group=device_mesh.get_group(i), group_src=src_data_rank)
    local = cut(data, device_mesh, found)
    return DTensor._make(local, device_mesh, found, tensor.shape, tensor.requires_grad)
