"""A step over DTensors: each rank's call is over its parts, as they lie in memory."""

from rushlight import _C


def is_sharded(p):
    """Whether a parameter or state is a DTensor."""
    return hasattr(p, "_local_tensor")


def begin(optimizer, group, p, state):
    """The state of a parameter that has had no step lies as the parameter."""
    made = {}
    optimizer._begin(group, p._local_tensor, made)
    state.update({name: _as_state(p, value) for name, value in made.items()})


def step(optimizer, group, params, grads):
    """One step of a group of which some parameters are DTensors."""
    states = optimizer._states(group, params)
    parts = [{name: _part(p, name, value) for name, value in state.items()}
             for p, state in zip(params, states, strict=False)]  # fmt: skip
    given = [dict(each) for each in parts]
    shards = [_part(p, "parameter", p) for p in params]
    own_grads = [_part(p, "grad", g) for p, g in zip(params, grads, strict=True)]
    _C._optimizer_step(optimizer.name, shards, own_grads, parts, group)
    for p, state, part, before in zip(params, states, parts, given, strict=False):
        for name, value in part.items():
            if value is not before.get(name):
                state[name] = _as_state(p, value)


def _as_state(p, value):
    whole = isinstance(value, _C.Tensor) and value.dim() and is_sharded(p)
    return p._like(value) if whole else value


def _part(p, name, value):
    if is_sharded(value):
        return value._local_tensor
    if is_sharded(p) and isinstance(value, _C.Tensor) and value.dim():
        raise RuntimeError(
            f"{name} {tuple(value.shape)} of a parameter that is a DTensor is a whole tensor: got "
            "mixed torch.Tensor and DTensor\nload an optimizer's state by "
            "torch.distributed.checkpoint.state_dict.set_optimizer_state_dict()"
        )
    return value
