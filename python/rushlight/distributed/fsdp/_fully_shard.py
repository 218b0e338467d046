"""fully_shard and what it adds to a module."""

from __future__ import annotations

import functools

import rushlight
from rushlight.distributed import distributed_c10d as c10d
from rushlight.distributed.device_mesh import DeviceMesh, init_device_mesh
from rushlight.distributed.fsdp._gathered import Gathered, Sharded
from rushlight.distributed.fsdp._policies import (
    CPUOffloadPolicy,
    MixedPrecisionPolicy,
    OffloadPolicy,
)
from rushlight.distributed.fsdp._state import State, state_of
from rushlight.distributed.tensor import DTensor, Shard
from rushlight.nn.modules.module import Module


def default_mesh(module, device=None):
    """All ranks, on the device of the module's parameters."""
    device = device or next((p.device.type for p in module.parameters()), "cpu")
    if not c10d.is_initialized():
        c10d.init_process_group()
    if device != "cuda" and c10d.get_backend() == "nccl":
        device = "cuda"
    return init_device_mesh("cpu" if device == "meta" else device, (c10d.get_world_size(),))


def fully_shard(
    module, *, mesh=None, reshard_after_forward=None, shard_placement_fn=None, mp_policy=None,
    offload_policy=None, ignored_params=None, dp_mesh_dims=None,
):  # fmt: skip
    """Divides the parameters of a module among the ranks of a mesh.

    Between steps each rank has its part of each parameter, of its gradient and of the optimizer's
    state. They are gathered before forward and again before backward; gradients are averaged, and
    each rank keeps its part. Call it on submodules first, then on the root: each call takes the
    parameters that no call below has.

    Args:
        module: a module, or several that are gathered together.
        mesh: the ranks; of two dimensions, the first holds replicas. All ranks by default.
        reshard_after_forward: give the memory back between forward and backward; by default True,
            for the root False.
        shard_placement_fn: a function from parameter to Shard(dim), or None for Shard(0).
        mp_policy: a MixedPrecisionPolicy.
        offload_policy: CPUOffloadPolicy() keeps the parts on the CPU.
        ignored_params: parameters that stay as they are.
        dp_mesh_dims: None.

    Returns:
        The module, which is an FSDPModule from now on.

    Raises:
        ValueError: the module has no forward, or was given before.

    >>> for layer in model.layers:  # doctest: +SKIP
    ...     fully_shard(layer)
    >>> fully_shard(model)  # doctest: +SKIP
    """
    modules = list(module) if isinstance(module, list | tuple) else [module]
    policy, offload = mp_policy or MixedPrecisionPolicy(), offload_policy or OffloadPolicy()
    _check(modules, reshard_after_forward, dp_mesh_dims)
    mesh = mesh or default_mesh(modules[0])
    if not isinstance(mesh, DeviceMesh) or mesh.ndim not in (1, 2):
        raise ValueError(f"fully_shard expects a 1D or 2D DeviceMesh but got {mesh}")
    device = rushlight.device(mesh.device_type)
    if device.type == "cuda":
        device = rushlight.device("cuda", rushlight.cuda.current_device())
    ignored = {id(p) for p in ignored_params or ()}
    owners = _owners(modules, ignored)
    gathered = None
    if owners:
        sharded = [
            Sharded(p, name, at, _dim(p, name, shard_placement_fn), mesh) for p, name, at in owners
        ]
        dtypes = {each.dtype for each in sharded}
        if len(dtypes) > 1:
            raise AssertionError(
                f"FSDP expects uniform original parameter dtype but got {dtypes}\n"
                "call fully_shard() on the submodules of one dtype each, first"
            )
        on_cpu = isinstance(offload, CPUOffloadPolicy)
        shard_device = rushlight.device("cpu") if on_cpu else device
        gathered = Gathered(sharded, mesh, policy.param_dtype, device, shard_device)
        gathered.take([p for p, _, _ in owners])
    _move_buffers(modules, device)
    replicas = mesh.get_group(0) if mesh.ndim == 2 else None
    reshard = None if reshard_after_forward is None else bool(reshard_after_forward)
    state = State(modules, gathered, policy, reshard, replicas)
    for each in modules:
        each.__dict__["_fsdp_state"] = state
        kind = type(each)
        each.__class__ = _classes(kind)
    return module


def _check(modules, reshard_after_forward, dp_mesh_dims):
    if dp_mesh_dims is not None:
        raise NotImplementedError("fully_shard(): dp_mesh_dims is not in rushlight 0.1")
    if reshard_after_forward not in (None, True, False):
        raise NotImplementedError(
            "fully_shard(): reshard_after_forward as a number, which keeps a part of each "
            "parameter, is not in rushlight 0.1: use True or False"
        )
    for each in modules:
        if not isinstance(each, Module):
            raise ValueError(f"fully_shard expects a module, not {type(each).__name__}")
        if type(each).forward is Module.forward:
            raise ValueError(
                "fully_shard does not support containers that do not implement forward: "
                f"{type(each).__name__}"
            )
        if state_of(each) is not None:
            raise ValueError(f"fully_shard has already been applied to this {type(each).__name__}")


@functools.cache
def _classes(kind):
    """The class of a module of `kind` that is an FSDPModule too."""
    return type(f"FSDP{kind.__name__}", (FSDPModule, kind), {"__module__": kind.__module__})


def _owners(modules, ignored):
    """(parameter, its name, [(module, attribute)]) of those that no call below has taken."""
    found, names, top = {}, {}, {id(m) for m in modules}
    todo = [(each, "") for each in reversed(modules)]
    while todo:
        module, prefix = todo.pop()
        if state_of(module) is not None and id(module) not in top:
            continue
        for name, parameter in module._parameters.items():
            if parameter is None or id(parameter) in ignored or isinstance(parameter, DTensor):
                continue
            owners = found.setdefault(id(parameter), (parameter, []))[1]
            if (module, name) not in owners:
                owners.append((module, name))
            names.setdefault(id(parameter), prefix + name)
        children = [(m, f"{prefix}{name}.") for name, m in module._modules.items() if m is not None]
        todo += reversed(children)
    return [(parameter, names[key], at) for key, (parameter, at) in found.items()]


def _dim(parameter, name, choose):
    placement = choose(parameter) if choose is not None else None
    if placement is not None and not isinstance(placement, Shard):
        raise ValueError(f"shard_placement_fn must return Shard or None, not {placement!r}")
    if parameter.dim() == 0:
        raise ValueError(
            f"fully_shard doesn't support scalar parameters. Change {name} to a 1D tensor with "
            "numel equal to 1."
        )
    return 0 if placement is None else placement.dim % parameter.dim()


def _move_buffers(modules, device):
    for module in modules:
        for each in module.modules():
            for name, buffer in each._buffers.items():
                if buffer is not None and buffer.device.type not in ("meta", device.type):
                    each._buffers[name] = buffer.to(device)


class UnshardHandle:
    """What FSDPModule.unshard() returns; wait() ends when the parameters are whole."""

    def __init__(self, gathered):
        self._gathered = gathered

    def wait(self) -> None:
        """Waits for the all-gather."""
        if self._gathered is not None:
            self._gathered.gather()


class FSDPModule:
    """What fully_shard() adds to a module.

    >>> isinstance(fully_shard(model), FSDPModule)  # doctest: +SKIP
    True
    """

    _fsdp_state: State

    def __deepcopy__(self, memo):
        raise AssertionError(
            "FSDP does not support deepcopy. Please use state dict for serialization."
        )

    def _states(self, recurse):
        modules = self.modules() if recurse else [self]
        found = [state_of(m) for m in modules]
        return list(dict.fromkeys(s for s in found if s is not None))

    def reshard(self) -> None:
        """Gives the memory of the whole parameters back."""
        self._fsdp_state.reshard()

    def unshard(self, async_op=False):
        """Gathers the parameters of this module.

        Args:
            async_op: return an UnshardHandle at once.
        """
        handle = UnshardHandle(self._fsdp_state.gathered)
        if not async_op:
            handle.wait()
            return None
        if self._fsdp_state.gathered is not None:
            self._fsdp_state.gathered.start()
        return handle

    def set_requires_gradient_sync(self, requires_gradient_sync, *, recurse=True) -> None:
        """Whether backward reduces gradients; without, they add up whole on each rank.

        Args:
            requires_gradient_sync: a bool.
            recurse: for the submodules too.
        """
        for state in self._states(recurse):
            state.syncs = state.reduces_replicas = requires_gradient_sync

    def set_requires_all_reduce(self, requires_all_reduce, *, recurse=True) -> None:
        """Whether gradients are reduced over the replicas of a mesh of two dimensions.

        Args:
            requires_all_reduce: a bool.
            recurse: for the submodules too.
        """
        for state in self._states(recurse):
            state.reduces_replicas = requires_all_reduce

    def set_reshard_after_forward(self, reshard_after_forward, *, recurse=True) -> None:
        """Whether memory is given back between forward and backward.

        Args:
            reshard_after_forward: a bool.
            recurse: for the submodules too.
        """
        for state in self._states(recurse):
            state.reshard_after_forward = reshard_after_forward

    def set_reshard_after_backward(self, reshard_after_backward, *, recurse=True) -> None:
        """Whether memory is given back after backward; without, the next forward gathers nothing.

        Args:
            reshard_after_backward: a bool.
            recurse: for the submodules too.
        """
        for state in self._states(recurse):
            state.reshards_after_backward = reshard_after_backward

    def set_is_last_backward(self, is_last_backward) -> None:
        """Accepted: gradients are there at the end of every backward.

        Args:
            is_last_backward: a bool.
        """

    def set_unshard_in_backward(self, unshard_in_backward) -> None:
        """Whether backward needs this module's parameters.

        Args:
            unshard_in_backward: a bool.
        """
        self._fsdp_state.unshards_in_backward = unshard_in_backward

    def set_modules_to_forward_prefetch(self, modules) -> None:
        """Which modules are gathered while this one's forward computes.

        Args:
            modules: FSDPModules; by default the one that followed in the last forward.
        """
        self._fsdp_state.forward_prefetch = _all_states(modules)

    def set_modules_to_backward_prefetch(self, modules) -> None:
        """Which modules are gathered while this one's backward computes.

        Args:
            modules: FSDPModules; by default the one before it in forward.
        """
        self._fsdp_state.backward_prefetch = _all_states(modules)

    def set_gradient_divide_factor(self, factor) -> None:
        """What the sum of the gradients is divided by, instead of the number of ranks.

        Args:
            factor: a scalar.
        """
        self._fsdp_state.divisor = float(factor)


def _all_states(modules):
    for each in modules:
        if not isinstance(each, FSDPModule):
            raise ValueError(f"expects FSDPModules: {type(each).__name__} is none")
    return [state_of(m) for m in modules]


def register_fsdp_forward_method(module, method_name) -> None:
    """Lets a method other than forward use the whole parameters.

    Args:
        module: an FSDPModule; others are left as they are.
        method_name: the method.
    """
    if not isinstance(module, FSDPModule):
        return
    if not hasattr(module, method_name):
        raise ValueError(f"{type(module)} does not have a method {method_name}")
    original, state = getattr(module, method_name), module._fsdp_state

    @functools.wraps(original)
    def wrapped(*args, **kwargs):
        found = state._before(module, args, kwargs)
        args, kwargs = found if found is not None else (args, kwargs)
        output = original(*args, **kwargs)
        changed = state._after(module, args, output)
        return output if changed is None else changed

    setattr(module, method_name, wrapped)
