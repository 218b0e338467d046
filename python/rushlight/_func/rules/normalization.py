"""Normalizations under vmap(); weights and statistics may be each element's own."""

from rushlight import _C
from rushlight._func.batched import padded
from rushlight._func.dispatch import rule

_STATISTICS = (
    "Batch norm got a batched tensor as input while the running_mean or running_var, which will be "
    "updated in place, were not batched.\nIf you are using a module and do not need eval mode, "
    "please set `track_running_stats` to be False.If you are using a prebuilt module and do not "
    "need eval mode, please see the functorch website for resources on how to patch your module to "
    "work with vmap"
)


def _scaled(level, found, weight, bias, shape):
    # found * weight + bias, where both have the shape, with or without the batch before it.
    for x, op in ((weight, _C.mul), (bias, _C.add)):
        if x is not None:
            batch = (level.size,) if level.holds(x) else ()
            x = level.value(x).reshape(*batch, *shape)
            found = op(found, padded(x, found.dim()) if batch else x)
    return found


@rule("layer_norm rms_norm")
def layer_norm(level, func, input, normalized_shape, weight=None, *rest, **options):
    """Over the last dimensions."""
    layer = func.__name__ == "layer_norm"
    bias = options.pop("bias", rest[0] if rest else None) if layer else None
    rest = rest[1:] if layer else rest
    value = level.spread(input)
    shape = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
    if tuple(input.shape[input.dim() - len(shape) :]) != shape:
        return NotImplemented  # for the error that names the shapes
    own = level.holds(weight) or level.holds(bias)
    given = (None,) * (1 + layer) if own else (weight, bias)[: 1 + layer]
    found = func(value, shape, *given, *rest, **options)
    return level.batched(_scaled(level, found, weight, bias, shape) if own else found)


@rule("group_norm F.group_norm")
def group_norm(level, func, input, num_groups, weight=None, bias=None, *rest, **options):
    """Over groups of channels."""
    if input.dim() < 2:
        return NotImplemented
    value = level.spread(input)
    own = level.holds(weight) or level.holds(bias)
    given = (None, None) if own else (weight, bias)
    found = func(value.flatten(0, 1), num_groups, *given, *rest, **options)
    found = found.unflatten(0, value.shape[:2])
    shape = (-1, *[1] * (input.dim() - 2))
    return level.batched(_scaled(level, found, weight, bias, shape) if own else found)


@rule("F.batch_norm")
def batch_norm(level, func, input, running_mean, running_var, weight=None, bias=None,
               training=False, momentum=0.1, eps=1e-5):  # fmt: skip
    """Over images and positions of a channel: the batch's elements are more channels."""
    if input.dim() < 2:
        return NotImplemented
    given = (running_mean, running_var)
    if training and any(x is not None and not level.holds(x) for x in given):
        raise RuntimeError(_STATISTICS)
    value = level.spread(input).movedim(0, 1)
    statistics = [None if x is None else level.spread(x).reshape(-1) for x in given]
    found = func(value.flatten(1, 2), *statistics, None, None, training, momentum, eps)
    found = found.unflatten(1, value.shape[1:3]).movedim(1, 0)
    if training:
        for x, written in zip(given, statistics, strict=True):
            if x is not None and x._value.data_ptr() != written.data_ptr():
                x._value.copy_(written.reshape(x._value.shape))
    shape = (-1, *[1] * (input.dim() - 2))
    return level.batched(_scaled(level, found, weight, bias, shape))


@rule("batch_norm")
def torch_batch_norm(level, func, input, weight, bias, running_mean, running_var, training,
                     momentum, eps, _cudnn_enabled):  # fmt: skip
    """The same with torch's order of parameters."""
    from rushlight.nn.functional import batch_norm as of_functional

    return batch_norm(level, of_functional, input, running_mean, running_var, weight, bias,
                      training, momentum, eps)  # fmt: skip


@rule("F.instance_norm")
def instance_norm(level, func, input, running_mean=None, running_var=None, weight=None, bias=None,
                  use_input_stats=True, momentum=0.1, eps=1e-5):  # fmt: skip
    """Over the positions of an image's channel."""
    if running_mean is not None or running_var is not None or input.dim() < 3:
        return NotImplemented
    value = level.spread(input)
    found = func(value.flatten(0, 1), use_input_stats=use_input_stats, momentum=momentum, eps=eps)
    found = found.unflatten(0, value.shape[:2])
    return level.batched(_scaled(level, found, weight, bias, (-1, *[1] * (input.dim() - 2))))
