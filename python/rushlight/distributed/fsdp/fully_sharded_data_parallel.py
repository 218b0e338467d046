"""FullyShardedDataParallel: the older wrapper, by means of fully_shard().

Its parameters are DTensors of the original shapes, whatever use_orig_params says: there is no flat
parameter.
"""

from __future__ import annotations

import contextlib

import rushlight
from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributed import distributed_c10d as c10d
from rushlight.distributed._model_checks import take_from
from rushlight.distributed.checkpoint import state_dict as states
from rushlight.distributed.device_mesh import DeviceMesh, init_device_mesh
from rushlight.distributed.fsdp import api, wrap
from rushlight.distributed.fsdp._fully_shard import default_mesh, fully_shard
from rushlight.distributed.fsdp._policies import CPUOffloadPolicy, MixedPrecisionPolicy
from rushlight.distributed.fsdp.api import *  # noqa: F403
from rushlight.distributed.tensor import DTensor
from rushlight.nn.modules.module import Module
from rushlight.nn.utils.clip_grad import clip_grad_norm_

__all__ = ["FullyShardedDataParallel", *api.__all__]

Strategy, Kind = api.ShardingStrategy, api.StateDictType
_INNER = "_fsdp_wrapped_module."


class FullyShardedDataParallel(Module):
    """Divides the parameters of a module among the ranks; fully_shard() is the newer way.

    Args:
        module: what is trained.
        process_group: the ranks; the default group where it is None.
        sharding_strategy: a ShardingStrategy; FULL_SHARD by default.
        cpu_offload: a CPUOffload.
        auto_wrap_policy: which submodules are wrapped by themselves, see fsdp.wrap.
        backward_prefetch: accepted; always as BACKWARD_PRE.
        mixed_precision: a MixedPrecision.
        ignored_modules: modules whose parameters stay as they are.
        param_init_fn: gives the modules of a module on the meta device their values.
        device_id: where the module is moved.
        sync_module_states: take rank 0's parameters and buffers at the start.
        forward_prefetch: accepted; the next module is always gathered ahead.
        limit_all_gathers: accepted.
        use_orig_params: accepted; parameters always have their original shapes.
        ignored_states: parameters, or modules, that stay as they are.
        device_mesh: the ranks, instead of process_group; of two dimensions for HYBRID_SHARD.

    Shape: whatever `module` takes and returns.

    >>> model = FullyShardedDataParallel(net, auto_wrap_policy=policy)  # doctest: +SKIP
    """

    def __init__(
        self, module, process_group=None, sharding_strategy=None, cpu_offload=None,
        auto_wrap_policy=None, backward_prefetch=api.BackwardPrefetch.BACKWARD_PRE,
        mixed_precision=None, ignored_modules=None, param_init_fn=None, device_id=None,
        sync_module_states=False, forward_prefetch=False, limit_all_gathers=True,
        use_orig_params=False, ignored_states=None, device_mesh=None,
    ):  # fmt: skip
        super().__init__()
        strategy = sharding_strategy or Strategy.FULL_SHARD
        device = None if device_id is None else rushlight.device(device_id)
        mesh = _mesh(module, process_group, strategy, device_mesh, device)
        ignored = _ignored(ignored_modules, ignored_states)
        _start(module, mesh, device, param_init_fn)
        if sync_module_states:
            synced = [*module.parameters(), *module.buffers()]
            for i in range(mesh.ndim):
                take_from(0, synced, mesh.get_group(i))
        options = {
            "process_group": process_group, "sharding_strategy": strategy, "device_id": device_id,
            "cpu_offload": cpu_offload, "mixed_precision": mixed_precision, "device_mesh": mesh,
            "ignored_states": ignored,
        }  # fmt: skip
        if auto_wrap_policy is not None:
            ids = {id(p) for p in ignored}
            wrap.wrap_children(
                module, auto_wrap_policy,
                lambda inner, **own: FullyShardedDataParallel(inner, **{**options, **own}), ids,
            )  # fmt: skip
        mp = mixed_precision or api.MixedPrecision()
        kind = type(module)
        fully_shard(
            module, mesh=mesh, ignored_params=set(ignored),
            reshard_after_forward=False if strategy in _WHOLE else None,
            mp_policy=MixedPrecisionPolicy(mp.param_dtype, mp.reduce_dtype),
            offload_policy=CPUOffloadPolicy() if cpu_offload and cpu_offload.offload_params
            else None,
        )  # fmt: skip
        module.__class__ = kind  # what it adds is here
        if mp.buffer_dtype is not None:
            for each in module.modules():
                for name, buffer in each._buffers.items():
                    if buffer is not None and buffer.is_floating_point():
                        each._buffers[name] = buffer.to(mp.buffer_dtype)
        self._fsdp_wrapped_module = module
        self._settings = api.StateDictSettings(
            Kind.FULL_STATE_DICT, api.FullStateDictConfig(), api.FullOptimStateDictConfig(False)
        )
        self.register_state_dict_pre_hook(lambda *_: module._fsdp_state.reshard())
        self._load_state_dict_pre_hooks[0] = self._before_loading
        self.sharding_strategy, self.process_group = strategy, mesh.get_group(mesh.ndim - 1)

    @property
    def module(self):
        """The wrapped module."""
        return self._fsdp_wrapped_module

    def __getattr__(self, name):
        if "_modules" in self.__dict__ and "_fsdp_wrapped_module" in self._modules:
            return getattr(self._fsdp_wrapped_module, name)
        return super().__getattr__(name)

    def forward(self, *args, **kwargs):
        return self._fsdp_wrapped_module(*args, **kwargs)

    @staticmethod
    def fsdp_modules(module, root_only=False):
        """The wrappers in a module, itself included.

        Args:
            module: a module.
            root_only: without those that are within another.
        """
        found = [m for m in module.modules() if isinstance(m, FullyShardedDataParallel)]
        if not root_only:
            return found
        inner = {id(m) for outer in found for m in outer.modules() if m is not outer}
        return [m for m in found if id(m) not in inner]

    @contextlib.contextmanager
    def no_sync(self):
        """Gradients of backwards within add up here alone; the next one outside reduces them all.

        >>> with model.no_sync():  # doctest: +SKIP
        ...     loss(model(x), y).backward()
        """
        inner = [m._fsdp_wrapped_module._fsdp_state for m in self.fsdp_modules(self)]
        before = [(s.syncs, s.reduces_replicas) for s in inner]
        for each in inner:
            each.syncs = each.reduces_replicas = False
        try:
            yield
        finally:
            for each, (syncs, replicas) in zip(inner, before, strict=True):
                each.syncs, each.reduces_replicas = syncs, replicas

    def clip_grad_norm_(self, max_norm, norm_type=2.0):
        """Scales all gradients so that their norm over all ranks is at most max_norm.

        Args:
            max_norm: the largest norm.
            norm_type: the norm's exponent.

        Returns: the norm before.
        """
        norm = clip_grad_norm_(list(self.parameters()), max_norm, norm_type)
        return norm.full_tensor() if isinstance(norm, DTensor) else norm

    @staticmethod
    @contextlib.contextmanager
    def summon_full_params(
        module, recurse=True, writeback=True, rank0_only=False, offload_to_cpu=False,
        with_grads=False,
    ):  # fmt: skip
        """Within it the parameters are whole.

        Args:
            module: a wrapper, or what holds some.
            recurse: of those within too.
            writeback: take over what was written to them; each rank its part.
            rank0_only: accepted; all ranks have them.
            offload_to_cpu: False.
            with_grads: False.

        >>> with FullyShardedDataParallel.summon_full_params(model):  # doctest: +SKIP
        ...     print(model.module.weight)
        """
        if with_grads or offload_to_cpu:
            raise NotImplementedError(
                "summon_full_params(): with_grads and offload_to_cpu are not in rushlight 0.1"
            )
        found = FullyShardedDataParallel.fsdp_modules(module)
        chosen = found if recurse else found[:1]
        inner = [m._fsdp_wrapped_module._fsdp_state.gathered for m in chosen]
        inner = [each for each in inner if each is not None]
        for each in inner:
            each.gather()
        try:
            yield
        finally:
            for each in inner:
                each.release(write_back=writeback)

    @staticmethod
    def set_state_dict_type(
        module, state_dict_type, state_dict_config=None, optim_state_dict_config=None
    ):
        """What state_dict() and optim_state_dict() give from now on.

        Args:
            module: a wrapper, or what holds some.
            state_dict_type: StateDictType.FULL_STATE_DICT or SHARDED_STATE_DICT.
            state_dict_config: a FullStateDictConfig or ShardedStateDictConfig.
            optim_state_dict_config: the same for the optimizer.

        Returns: the StateDictSettings before.
        """
        if state_dict_type is Kind.LOCAL_STATE_DICT:
            raise NotImplementedError(
                "StateDictType.LOCAL_STATE_DICT is not in rushlight 0.1: use SHARDED_STATE_DICT"
            )
        whole = state_dict_type is Kind.FULL_STATE_DICT
        model = state_dict_config or (
            api.FullStateDictConfig() if whole else api.ShardedStateDictConfig()
        )
        optim = optim_state_dict_config or (
            api.FullOptimStateDictConfig(False) if whole else api.ShardedOptimStateDictConfig(False)
        )
        wanted = api.FullStateDictConfig if whole else api.ShardedStateDictConfig
        if not isinstance(model, wanted):
            raise RuntimeError(f"Expected state_dict_config of type {wanted} but got {type(model)}")
        found = FullyShardedDataParallel.fsdp_modules(module)
        before = found[0]._settings if found else None
        for each in found:
            each._settings = api.StateDictSettings(state_dict_type, model, optim)
        return before

    @staticmethod
    def _as_parts(module):
        kind = Kind.SHARDED_STATE_DICT
        return FullyShardedDataParallel.state_dict_type(module, kind)

    @staticmethod
    def get_state_dict_type(module):
        """The StateDictSettings of a module.

        Args:
            module: a wrapper, or what holds some.
        """
        return FullyShardedDataParallel.fsdp_modules(module)[0]._settings

    @staticmethod
    @contextlib.contextmanager
    def state_dict_type(
        module, state_dict_type, state_dict_config=None, optim_state_dict_config=None
    ):
        """set_state_dict_type() for a while.

        Args:
            module: as of set_state_dict_type.
            state_dict_type: as of set_state_dict_type.
            state_dict_config: as of set_state_dict_type.
            optim_state_dict_config: as of set_state_dict_type.

        >>> with FullyShardedDataParallel.state_dict_type(
        ...     model, StateDictType.SHARDED_STATE_DICT):  # doctest: +SKIP
        ...     parts = model.state_dict()
        """
        before = FullyShardedDataParallel.set_state_dict_type(
            module, state_dict_type, state_dict_config, optim_state_dict_config
        )
        try:
            yield
        finally:
            for each in FullyShardedDataParallel.fsdp_modules(module):
                each._settings = before

    def state_dict(self, *args, destination=None, prefix="", keep_vars=False):
        """The state dictionary of the wrapped module, as set_state_dict_type() says.

        Args:
            destination: a dictionary to fill.
            prefix: put before every path.
            keep_vars: give the parameters themselves.
        """
        if args:
            raise TypeError("state_dict(): give destination, prefix and keep_vars by name")
        self._fsdp_wrapped_module._fsdp_state.reshard()
        known = set(destination or ())
        found = self._fsdp_wrapped_module.state_dict(
            destination=destination, prefix=prefix, keep_vars=keep_vars
        )
        whole = self._settings.state_dict_type is Kind.FULL_STATE_DICT
        config = self._settings.state_dict_config
        for name in [name for name in found if name not in known]:
            value = found[name]
            if whole and isinstance(value, DTensor):
                value = value.full_tensor()
            if whole and config.rank0_only and c10d.get_rank():
                del found[name]
            else:
                offload = config.offload_to_cpu and isinstance(value, _C.Tensor)
                found[name] = value.cpu() if offload else value
        return found

    def _before_loading(self, state_dict, prefix, *_):
        """Names are those of the wrapped module's; of whole tensors each rank takes its part."""
        self._fsdp_wrapped_module._fsdp_state.reshard()
        own = {name.replace(_INNER, ""): p for name, p in
               self._fsdp_wrapped_module.named_parameters(remove_duplicate=False)}  # fmt: skip
        whole = states.StateDictOptions(full_state_dict=True)
        for key in [key for key in state_dict if key.startswith(prefix)]:
            name, value = key[len(prefix) :], state_dict.pop(key)
            target = own.get(name)
            if isinstance(target, DTensor) and isinstance(value, _C.Tensor):
                value = states.part_of(value, target, whole)
            state_dict[prefix + _INNER + name] = value

    @staticmethod
    def optim_state_dict(model, optim, optim_state_dict=None, group=None):
        """The state of an optimizer by the names of parameters, as set_state_dict_type() says.

        Args:
            model: a wrapper, or what holds some.
            optim: the optimizer.
            optim_state_dict: None.
            group: accepted, not used.
        """
        if optim_state_dict is not None:
            raise NotImplementedError("optim_state_dict= is not in rushlight 0.1")
        settings = FullyShardedDataParallel.get_state_dict_type(model)
        config = settings.optim_state_dict_config
        whole = settings.state_dict_type is Kind.FULL_STATE_DICT
        options = states.StateDictOptions(
            full_state_dict=whole, cpu_offload=config.offload_to_cpu and not whole
        )
        found = states.get_optimizer_state_dict(model, optim, options=options)
        if whole and config.rank0_only and c10d.get_rank():
            return {}
        return found

    @staticmethod
    def optim_state_dict_to_load(
        model, optim, optim_state_dict, is_named_optimizer=False, load_directly=False, group=None
    ):
        """What optim.load_state_dict() takes, of what optim_state_dict() has returned.

        Args:
            model: a wrapper, or what holds some.
            optim: the optimizer.
            optim_state_dict: the state, on all ranks.
            is_named_optimizer: False.
            load_directly: load it too.
            group: accepted, not used.
        """
        whole = states.StateDictOptions(full_state_dict=True)
        before = optim.state_dict()
        states.set_optimizer_state_dict(model, optim, optim_state_dict, options=whole)
        found = optim.state_dict()
        if not load_directly:
            optim.load_state_dict(before)
        return found


_WHOLE = (Strategy.SHARD_GRAD_OP, Strategy.NO_SHARD, Strategy._HYBRID_SHARD_ZERO2)
_HYBRID = (Strategy.HYBRID_SHARD, Strategy._HYBRID_SHARD_ZERO2)


def _mesh(module, process_group, strategy, device_mesh, device):
    if device_mesh is not None:
        if strategy in _HYBRID and device_mesh.ndim != 2:
            raise ValueError(f"{strategy} needs a device_mesh of two dimensions, not {device_mesh}")
        return device_mesh
    if strategy in _HYBRID:
        raise NotImplementedError(
            f"{strategy} needs device_mesh=init_device_mesh(device, (replicas, shards)) in "
            "rushlight 0.1"
        )
    kind = device.type if device is not None else None
    if process_group is not None:
        mesh = DeviceMesh.from_group(process_group, kind or default_mesh(module).device_type)
    else:
        mesh = default_mesh(module, kind)
    if strategy is Strategy.NO_SHARD:
        if process_group is not None and mesh.size() < c10d.get_world_size():
            raise NotImplementedError("NO_SHARD with a process_group is not in rushlight 0.1")
        mesh = init_device_mesh(mesh.device_type, (mesh.size(), 1))
    return mesh


def _ignored(modules, given):
    found = [p for module in modules or () for p in module.parameters()]
    for each in given or ():
        found += list(each.parameters()) if isinstance(each, Module) else [each]
    return found


def _start(module, mesh, device, param_init_fn):
    """The module on its device, with values if it was on the meta device."""
    target = device if device is not None else rushlight.device(mesh.device_type)
    if target.type == "cuda" and target.index is None:
        target = rushlight.device("cuda", rushlight.cuda.current_device())
    for each in module.modules():
        own = [*each.parameters(recurse=False), *each.buffers(recurse=False)]
        if not any(t.is_meta for t in own):
            continue
        if param_init_fn is not None:
            param_init_fn(each)
        elif hasattr(each, "reset_parameters"):
            each.to_empty(device=target, recurse=False)
            with no_grad():
                each.reset_parameters()
        else:
            raise ValueError(
                f"{type(each).__name__} is on the meta device and has no reset_parameters(): give "
                "param_init_fn"
            )
    if device is not None:
        for p in module.parameters():
            if not isinstance(p, DTensor):
                p.data = p.data.to(target)
