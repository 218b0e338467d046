"""DeviceMesh: the ranks of a world as a grid, with a process group along each line of it.

A mesh made from another by its dimensions' names shares the groups of the first.
"""

from __future__ import annotations

import itertools
import math
import os

import rushlight
from rushlight import _C
from rushlight.distributed import distributed_c10d as c10d

__all__ = ["DeviceMesh", "init_device_mesh"]


def _strides(shape):
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def _one_dim(mesh):
    if mesh.ndim > 1:
        raise RuntimeError(
            f"Found the DeviceMesh have {mesh.ndim} dimensions",
            "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
        )
    return 0


class DeviceMesh:
    """Ranks in a grid of one or more dimensions. All processes of the default group make it.

    Args:
        device_type: "cpu" or "cuda": where the tensors are.
        mesh: the ranks, a nested list or a tensor of integers.
        mesh_dim_names: a name for each dimension, for `mesh["name"]`.
        backend_override: None; the backend is that of the default group.

    Raises:
        RuntimeError: there are more ranks in it than in the world, or names do not fit.

    >>> DeviceMesh("cpu", [[0, 1], [2, 3]], mesh_dim_names=("dp", "tp"))  # doctest: +SKIP
    DeviceMesh((dp=2, tp=2), 'cpu', stride=(2, 1))
    """

    def __init__(self, device_type, mesh, *, mesh_dim_names=None, backend_override=None):
        if backend_override is not None:
            raise NotImplementedError(
                "backend_override is not in rushlight 0.1: all groups of a mesh have the backend "
                "of the default group"
            )
        ranks = rushlight.as_tensor(mesh).detach().to("cpu", _C.int32)
        self._lay_out(device_type, ranks, mesh_dim_names, _strides(tuple(ranks.shape)))
        world = _start_world(device_type, ranks.numel())
        flat = ranks.flatten().tolist()
        if len(set(flat)) < len(flat):
            raise ValueError(f"ranks list must not contain duplicate entries, got {flat}")
        for each in flat:
            if not 0 <= each < world.size():
                raise ValueError(f"rank {each} of the mesh is not in the world of {world.size()}")
        self._groups = [self._groups_along(dim, world) for dim in range(self.ndim)]

    def _lay_out(self, device_type, ranks, names, strides):
        if names is not None and len(names) != ranks.dim():
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length! Found "
                f"len(mesh_dim_names): {len(names)} and len(mesh_shape):{ranks.dim()}."
            )
        self.device_type = device_type
        self.mesh = ranks
        self.mesh_dim_names = None if names is None else tuple(names)
        self.shape = tuple(ranks.shape)
        self.ndim = ranks.dim()
        self._strides = strides
        self._flattened: dict[str, DeviceMesh] = {}

    def _groups_along(self, dim, world):
        """This rank's group; every process makes the groups of all lines, in one order."""
        own = None
        lines = self.mesh.movedim(dim, -1).reshape(-1, self.shape[dim]).tolist()
        for line in lines:
            if line == list(range(world.size())):
                group = world
            else:
                name = self.mesh_dim_names[dim] if self.mesh_dim_names else f"dim {dim}"
                group = c10d.new_group(line, group_desc=f"mesh_{name}", sort_ranks=False)
            if world.rank() in line:
                own = group
        return own

    @classmethod
    def _part(cls, whole, ranks, names, strides, groups):
        self = cls.__new__(cls)
        self._lay_out(whole.device_type, ranks, names, strides)
        self._groups = groups
        return self

    @classmethod
    def from_group(cls, group, device_type, mesh=None, *, mesh_dim_names=None):
        """The mesh of a group that exists.

        Args:
            group: the process group.
            device_type: as of DeviceMesh.
            mesh: accepted; it must be the group's ranks.
            mesh_dim_names: a name for the one dimension.

        >>> DeviceMesh.from_group(torch.distributed.group.WORLD, "cpu")  # doctest: +SKIP
        """
        if isinstance(group, list | tuple):
            raise NotImplementedError(
                "DeviceMesh.from_group() takes one group in rushlight 0.1: make a mesh of several "
                "dimensions by init_device_mesh()"
            )
        members = c10d.get_process_group_ranks(group)
        if mesh is not None and rushlight.as_tensor(mesh).flatten().tolist() != members:
            raise ValueError(f"Invalid mesh {mesh} for ProcessGroup with ranks {members}")
        self = cls.__new__(cls)
        ranks = rushlight.tensor(members, dtype=_C.int32)
        self._lay_out(device_type, ranks, mesh_dim_names, (1,))
        self._groups = [group]
        return self

    def _dim(self, mesh_dim):
        if mesh_dim is None:
            return _one_dim(self)
        if isinstance(mesh_dim, str):
            if mesh_dim not in (self.mesh_dim_names or ()):
                raise KeyError(
                    f"Mesh dimension '{mesh_dim}' does not exist.",
                    f"Available mesh dimensions are: mesh_dim_names={self.mesh_dim_names}",
                )
            return self.mesh_dim_names.index(mesh_dim)
        if not -self.ndim <= mesh_dim < self.ndim:
            raise IndexError(f"mesh_dim {mesh_dim} is out of range: the mesh has {self.ndim}")
        return mesh_dim % self.ndim

    def __getitem__(self, mesh_dim_names):
        """The mesh of some dimensions, through this rank."""
        if self.mesh_dim_names is None:
            raise RuntimeError("Cannot slice a DeviceMesh without mesh_dim_names!")
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        if names == self.mesh_dim_names:
            return self
        if len(names) == 1 and names[0] in self._flattened:
            return self._flattened[names[0]]
        if not all(name in self.mesh_dim_names for name in names):
            raise KeyError(
                f"Invalid mesh_dim_names {names} specified. Valid mesh_dim_names are "
                f"{[*self.mesh_dim_names, *self._flattened]}."
            )
        dims = [self.mesh_dim_names.index(name) for name in names]
        if any(a >= b for a, b in itertools.pairwise(dims)):
            raise KeyError(
                f"Invalid mesh_dim_names {names} specified. Mesh dim indices should be in "
                "ascending order."
            )
        where = self.get_coordinate() or [0] * self.ndim
        ranks = self.mesh[tuple(slice(None) if i in dims else at for i, at in enumerate(where))]
        strides = tuple(self._strides[i] for i in dims)
        return DeviceMesh._part(self, ranks, names, strides, [self._groups[i] for i in dims])

    def _flatten(self, mesh_dim_name=None):
        """The same ranks in one dimension; all processes of the default group call it."""
        name = mesh_dim_name or "_".join(self.mesh_dim_names or map(str, range(self.ndim)))
        if self.ndim == 1:
            return self
        if name not in self._flattened:
            names = (name,)
            self._flattened[name] = DeviceMesh(
                self.device_type, self.mesh.flatten(), mesh_dim_names=names
            )
        return self._flattened[name]

    def get_group(self, mesh_dim=None):
        """The process group of this rank along a dimension.

        Args:
            mesh_dim: an index or name; None where there is one dimension.
        """
        if mesh_dim is None and self.ndim > 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions",
                "Optional kwarg `mesh_dim` needs to be specified when device_mesh.ndim > 1.",
                "If you want to get the list of all the ProcessGroups in the DeviceMesh,"
                "please use `get_all_groups()` instead.",
            )
        return self._groups[self._dim(mesh_dim)]

    def get_all_groups(self):
        """The process groups of this rank, along each dimension."""
        return list(self._groups)

    def size(self, mesh_dim=None) -> int:
        """How many ranks there are, in all or along a dimension.

        Args:
            mesh_dim: an index or name; None for all.
        """
        return self.mesh.numel() if mesh_dim is None else self.shape[self._dim(mesh_dim)]

    def get_rank(self) -> int:
        """The rank of this process in the default group."""
        return c10d.get_rank()

    def get_coordinate(self):
        """Where this process is in the grid, a list; None where it is not in it."""
        found = (self.mesh == self.get_rank()).nonzero()
        return found[0].tolist() if len(found) else None

    def get_local_rank(self, mesh_dim=None) -> int:
        """The index of this process along a dimension.

        Args:
            mesh_dim: an index or name; None where there is one dimension.
        """
        dim = self._dim(mesh_dim)
        where = self.get_coordinate()
        if where is None:
            raise IndexError(f"rank {self.get_rank()} is not in {self}")
        return where[dim]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def _key(self):
        return self.device_type, self.shape, tuple(self.mesh.flatten().tolist()), \
            self.mesh_dim_names  # fmt: skip

    def __eq__(self, other):
        return isinstance(other, DeviceMesh) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __repr__(self):
        names = self.mesh_dim_names
        sizes = [f"{names[i]}={n}" if names else str(n) for i, n in enumerate(self.shape)]
        inner = ", ".join(sizes) + ("," if not names and len(sizes) == 1 else "")
        return f"DeviceMesh(({inner}), '{self.device_type}', stride={self._strides})"


def _start_world(device_type, size):
    """The default group, which is begun here where it is not there yet."""
    if not c10d.is_initialized():
        c10d.init_process_group()
    world = c10d.group.WORLD
    if size > world.size():
        raise RuntimeError(
            f"Mesh should not be bigger than default world size {world.size()}, but found {size} "
            "ranks!"
        )
    if device_type == "cuda" and not rushlight.cuda.is_initialized():
        local = int(os.environ.get("LOCAL_RANK", world.rank()))
        rushlight.cuda.set_device(local % max(1, rushlight.cuda.device_count()))
    return world


def init_device_mesh(device_type, mesh_shape, *, mesh_dim_names=None, backend_override=None):
    """A DeviceMesh of all ranks in their order; begins the default group where there is none.

    Args:
        device_type: "cpu" or "cuda".
        mesh_shape: the sizes of its dimensions.
        mesh_dim_names: a name for each dimension, for `mesh["name"]`.
        backend_override: None; the backend is that of the default group.

    >>> mesh = init_device_mesh("cpu", (2, 4), mesh_dim_names=("dp", "tp"))  # doctest: +SKIP
    >>> mesh["tp"].get_group()  # doctest: +SKIP
    """
    if not isinstance(device_type, str):
        raise TypeError(f"device_type must be a str, not {type(device_type).__name__}")
    shape = (mesh_shape,) if isinstance(mesh_shape, int) else tuple(mesh_shape)
    names = mesh_dim_names
    if names is not None:
        if len(set(names)) != len(names):
            raise RuntimeError(
                "Each mesh_dim_name must be unique. Found repeated mesh_dim_name in "
                f"mesh_dim_names {tuple(names)}"
            )
        if len(names) != len(shape):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length! Found "
                f"len(mesh_dim_names): {len(names)} and len(mesh_shape):{len(shape)}."
            )
    if not device_type.isalpha():
        raise RuntimeError(
            f"Device type with index is not supported but got {device_type}. ",
            "If you maintained a 'torch.device' object, it's recommended to pass in 'device.type'.",
        )
    if not all(isinstance(n, int) and n > 0 for n in shape):
        raise ValueError(f"mesh_shape must be of positive integers, not {shape}")
    _start_world(device_type, math.prod(shape))
    ranks = rushlight.arange(math.prod(shape), dtype=_C.int32).view(shape)
    return DeviceMesh(device_type, ranks, mesh_dim_names=names, backend_override=backend_override)
