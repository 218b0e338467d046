"""State dictionaries of models and optimizers by the names of parameters, sharded or whole.

The names are the model's, without what wrappers add ("module."). An optimizer's state is by these
names too, so that it fits another number of ranks and another order.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import rushlight
from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributed import distributed_c10d as c10d
from rushlight.distributed.tensor import DTensor
from rushlight.distributed.tensor._redistribute import cut
from rushlight.nn.parallel import DataParallel, DistributedDataParallel

__all__ = [
    "StateDictOptions",
    "get_model_state_dict",
    "get_optimizer_state_dict",
    "get_state_dict",
    "set_model_state_dict",
    "set_optimizer_state_dict",
    "set_state_dict",
]


@dataclass
class StateDictOptions:
    """How state dictionaries are made and taken.

    Args:
        full_state_dict: tensors are whole, not DTensors.
        cpu_offload: they are on the CPU; with full_state_dict, only rank 0 has them.
        ignore_frozen_params: leave out parameters that need no gradient.
        keep_submodule_prefixes: True.
        strict: refuse missing and unexpected keys.
        broadcast_from_rank0: only rank 0 has the values; with full_state_dict.
        flatten_optimizer_state_dict: the optimizer's state is one dictionary without others in it.
        dsd_fqn_modifiers: accepted, not used.

    >>> torch.distributed.checkpoint.state_dict.StateDictOptions(full_state_dict=True).strict
    True
    """

    full_state_dict: bool = False
    cpu_offload: bool = False
    ignore_frozen_params: bool = False
    keep_submodule_prefixes: bool = True
    strict: bool = True
    broadcast_from_rank0: bool = False
    flatten_optimizer_state_dict: bool = False
    dsd_fqn_modifiers: str = "_fqn_modifiers"


def _options(options):
    options = options or StateDictOptions()
    if options.broadcast_from_rank0 and not options.full_state_dict:
        raise ValueError("full_state_dict must be True when broadcast_from_rank0 is True.")
    if not options.keep_submodule_prefixes:
        raise NotImplementedError("keep_submodule_prefixes=False is not in rushlight 0.1")
    return options


def _no_submodules(submodules):
    if submodules is not None:
        raise NotImplementedError("submodules= is not in rushlight 0.1: give the submodule itself")


def _inner(model):
    while isinstance(model, DistributedDataParallel | DataParallel):
        model = model.module
    return model


def _name_of(path):
    return path.replace("_fsdp_wrapped_module.", "")


def _as_parts(model):
    """Within it, state_dict() of a FullyShardedDataParallel gives DTensors."""
    kinds = (type(m) for m in model.modules())
    wrapper = next((kind for kind in kinds if hasattr(kind, "summon_full_params")), None)
    return contextlib.nullcontext() if wrapper is None else wrapper._as_parts(model)


def _given(value, options):
    """A tensor as the options want it; None where this rank gets nothing."""
    if isinstance(value, dict):
        return {k: v for k, each in value.items() if (v := _given(each, options)) is not None}
    if not isinstance(value, _C.Tensor):
        return value
    if options.full_state_dict:
        value = value.full_tensor() if isinstance(value, DTensor) else value
        if options.cpu_offload:
            return value.cpu() if not c10d.is_initialized() or c10d.get_rank() == 0 else None
    return value.cpu() if options.cpu_offload else value


def get_model_state_dict(model, *, submodules=None, options=None):
    """The state dictionary of a model; all ranks call it.

    Args:
        model: a module, whether or not fully_shard() or DistributedDataParallel has it.
        submodules: None.
        options: a StateDictOptions.

    >>> list(torch.distributed.checkpoint.state_dict.get_model_state_dict(torch.nn.Linear(2, 1)))
    ['weight', 'bias']
    """
    _no_submodules(submodules)
    options, model = _options(options), _inner(model)
    frozen = {_name_of(name) for name, p in model.named_parameters(remove_duplicate=False)
              if not p.requires_grad}  # fmt: skip
    found = {}
    with _as_parts(model):
        own = model.state_dict()
    for name, value in own.items():
        if options.ignore_frozen_params and name in frozen:
            continue
        found[name] = _given(value, options)
    if options.full_state_dict and options.cpu_offload and c10d.is_initialized():
        return found if c10d.get_rank() == 0 else {}
    return found


def set_model_state_dict(model, model_state_dict, *, options=None):
    """Loads a state dictionary into a model; all ranks call it.

    Args:
        model: as of get_model_state_dict.
        model_state_dict: names and DTensors, or with full_state_dict whole tensors.
        options: a StateDictOptions.

    Returns: a named tuple (missing_keys, unexpected_keys).
    """
    options, model = _options(options), _inner(model)
    with _as_parts(model):
        own = model.state_dict()
    given = _from_rank_0(model_state_dict, own, options) if options.broadcast_from_rank0 \
        else dict(model_state_dict)  # fmt: skip
    for name, value in given.items():
        target = own.get(name)
        if isinstance(target, DTensor) and isinstance(value, _C.Tensor):
            given[name] = part_of(value, target, options)
    assign = any(isinstance(v, _C.Tensor) and v.is_meta for v in own.values())
    return model.load_state_dict(given, strict=options.strict, assign=assign)


def part_of(value, target, options):
    """This rank's part of a whole tensor."""
    if isinstance(value, DTensor):
        return value
    if not options.full_state_dict:
        return value  # load_state_dict says what is wrong
    if value.shape != target.shape:
        raise RuntimeError(
            f"size mismatch: a whole tensor of shape {tuple(value.shape)} for a DTensor of shape "
            f"{tuple(target.shape)}"
        )
    device = target.device_mesh.device_type if target.is_meta else target.device
    local = cut(value.detach(), target.device_mesh, target.placements)
    return target._like(local.to(device))


def _from_rank_0(given, own, options):
    """Rank 0's values, one tensor after the other: no rank holds all of them but rank 0."""
    heads = [None]
    if c10d.get_rank() == 0:
        heads = [{
            name: (tuple(v.shape), str(v.dtype).rpartition(".")[2])
            if isinstance(v, _C.Tensor) else (None, v)
            for name, v in given.items()
        }]  # fmt: skip
    c10d.broadcast_object_list(heads, 0)
    found = {}
    for name, (shape, kind) in heads[0].items():
        if shape is None:
            found[name] = kind
            continue
        value = _sent(given.get(name), shape, kind)
        target = own.get(name)
        found[name] = part_of(value, target, options) if isinstance(target, DTensor) else value
    return found


def _sent(value, shape, dtype):
    """Rank 0's tensor on all ranks, where their backend sends it; on the CPU in the end."""
    nccl = c10d.get_backend() == "nccl"
    device = rushlight.device("cuda", rushlight.cuda.current_device()) if nccl else "cpu"
    if c10d.get_rank() == 0:
        sent = value.detach().to(device).contiguous().clone()
    else:
        sent = rushlight.empty(shape, dtype=getattr(rushlight, dtype), device=device)
    c10d.broadcast(sent, 0)
    return sent.cpu()


def _as_list(optimizers):
    return [optimizers] if isinstance(optimizers, rushlight.optim.Optimizer) else list(optimizers)


def _names(model):
    return {id(p): _name_of(name) for name, p in _inner(model).named_parameters()}


def _init_optim_state(optimizer):
    """The state of an optimizer that has had no step, so that there is something to load into."""
    for group in optimizer.param_groups:
        for p in group["params"]:
            if not p.requires_grad or optimizer.state.get(p):
                continue
            state = optimizer.state[p]
            if isinstance(optimizer, rushlight.optim.SGD):
                if group["momentum"]:
                    zeros = p.new_zeros(p.shape)
                    state["momentum_buffer"] = zeros.detach()
            elif hasattr(optimizer, "_begin_state"):
                optimizer._begin_state(group, p, state)


def get_optimizer_state_dict(model, optimizers, *, submodules=None, options=None):
    """The state of one or several optimizers by the names of the model's parameters.

    Args:
        model: whose parameters they train.
        optimizers: one or several.
        submodules: None.
        options: a StateDictOptions.
    """
    _no_submodules(submodules)
    options, names = _options(options), _names(model)
    state, groups = {}, []
    for optimizer in _as_list(optimizers):
        _init_optim_state(optimizer)
        for group in optimizer.param_groups:
            trained = [p for p in group["params"] if p.requires_grad]
            for p in trained:
                state[_name(names, p)] = {
                    key: _given(value, options) for key, value in optimizer.state.get(p, {}).items()
                }
            rest = {k: v for k, v in group.items() if k != "params"}
            groups.append({**rest, "params": [_name(names, p) for p in trained]})
    if options.full_state_dict and options.cpu_offload and c10d.is_initialized() \
            and c10d.get_rank():  # fmt: skip
        return {}
    if not options.flatten_optimizer_state_dict:
        return {"state": state, "param_groups": groups}
    flat = {f"state.{name}.{k}": v for name, each in state.items() for k, v in each.items()}
    for group in groups:
        rest = {k: v for k, v in group.items() if k != "params"}
        flat.update({f"param_groups.{name}.{k}": v for name in group["params"]
                     for k, v in rest.items()})  # fmt: skip
    return flat


def _name(names, p):
    try:
        return names[id(p)]
    except KeyError:
        raise KeyError(
            f"a parameter of the optimizer, of shape {tuple(p.shape)}, is not among the model's: "
            "make the optimizer after fully_shard(model)"
        ) from None


def set_optimizer_state_dict(model, optimizers, optim_state_dict, *, options=None):
    """Loads what get_optimizer_state_dict() returned; all ranks call it.

    Args:
        model: whose parameters they train.
        optimizers: one or several.
        optim_state_dict: the state, with full_state_dict of whole tensors.
        options: a StateDictOptions.
    """
    options, names = _options(options), _names(model)
    given = optim_state_dict
    if options.broadcast_from_rank0:
        heads = [_without_tensors(given) if c10d.get_rank() == 0 else None]
        c10d.broadcast_object_list(heads, 0)
    with no_grad():
        for optimizer in _as_list(optimizers):
            _init_optim_state(optimizer)
            own = {_name(names, p): p for g in optimizer.param_groups for p in g["params"]}
            if options.broadcast_from_rank0:
                _check_names(heads[0], own, options)
                _take_from_rank_0(optimizer, own, given, heads[0], options)
                _take_groups(optimizer, names, heads[0])
                continue
            given = _nested(given, own)
            _check_names(given, own, options)
            for name, p in own.items():
                for key, value in given["state"].get(name, {}).items():
                    optimizer.state[p][key] = _state(value, p, options)
            _take_groups(optimizer, names, given)


def _nested(given, own):
    """The flattened form as the other."""
    if "state" in given or "param_groups" in given:
        return given
    state, groups = {}, {}
    for path, value in given.items():
        kind, _, rest = path.partition(".")
        name = max((n for n in own if rest.startswith(n + ".")), key=len, default=None)
        if name is not None:
            into = state if kind == "state" else groups
            into.setdefault(name, {})[rest[len(name) + 1 :]] = value
    return {"state": state, "param_groups": [{**g, "params": [n]} for n, g in groups.items()]}


def _check_names(given, own, options):
    missing = [name for name, p in own.items() if p.requires_grad and name not in given["state"]]
    if missing and options.strict and given["state"]:
        raise RuntimeError(f"Missing optimizer state for parameters: {', '.join(missing)}")


def _without_tensors(given):
    def head(value):
        if not isinstance(value, _C.Tensor):
            return None, value
        return tuple(value.shape), str(value.dtype).rpartition(".")[2]

    state = {name: {k: head(v) for k, v in each.items()} for name, each in given["state"].items()}
    return {"state": state, "param_groups": given["param_groups"]}


def _take_from_rank_0(optimizer, own, given, heads, options):
    for name, entries in heads["state"].items():
        for key, (shape, kind) in entries.items():
            value = kind
            if shape is not None:
                value = _sent(given["state"][name][key] if given else None, shape, kind)
            if name in own:
                optimizer.state[own[name]][key] = _state(value, own[name], options)


def _state(value, p, options):
    if not isinstance(value, _C.Tensor):
        return value
    if isinstance(p, DTensor) and value.dim() and not isinstance(value, DTensor):
        if not options.full_state_dict:
            raise RuntimeError(
                "the state of a DTensor is a whole tensor: use StateDictOptions("
                "full_state_dict=True)"
            )
        return part_of(value, p, options)
    return value.detach().clone().to(p.device if value.dim() else value.device)


def _take_groups(optimizer, names, given):
    for group in optimizer.param_groups:
        mine = [_name(names, p) for p in group["params"]]
        for theirs in given["param_groups"]:
            if any(name in theirs["params"] for name in mine):
                group.update(
                    {k: v for k, v in theirs.items() if k not in ("params", "param_names")}
                )
                break


def get_state_dict(model, optimizers, *, submodules=None, options=None):
    """(get_model_state_dict, get_optimizer_state_dict) of a model and its optimizers.

    Args:
        model: a module.
        optimizers: one or several.
        submodules: None.
        options: a StateDictOptions.
    """
    found = get_model_state_dict(model, submodules=submodules, options=options)
    return found, get_optimizer_state_dict(
        model, optimizers, submodules=submodules, options=options
    )


def set_state_dict(model, optimizers, *, model_state_dict, optim_state_dict, options=None):
    """set_model_state_dict and set_optimizer_state_dict.

    Args:
        model: a module.
        optimizers: one or several.
        model_state_dict: of the model.
        optim_state_dict: of the optimizers.
        options: a StateDictOptions.

    Returns: a named tuple (missing_keys, unexpected_keys) of the model.
    """
    if optim_state_dict:
        set_optimizer_state_dict(model, optimizers, optim_state_dict, options=options)
    return set_model_state_dict(model, model_state_dict, options=options)
