"""Convolutions and windows under vmap(): the batch goes into dimension 0 of the images, or, where
each element has weights of its own, into groups of channels.
"""

from rushlight._func.dispatch import rule


def folded(level, func, input, spatial, args, kwargs):
    """The call with the batch in dimension 0 of the images, taken out of each result."""
    value, rank = level.value(input), input.dim()
    if rank == spatial + 1:
        return level.wrap(func(value, *args, **kwargs))
    if rank != spatial + 2 or not level.holds(input):
        return NotImplemented
    images = value.shape[:2]
    found = func(value.flatten(0, 1), *args, **kwargs)
    return level.wrap(_mapped(found, lambda x: x.unflatten(0, images)))


def _mapped(found, function):
    if isinstance(found, tuple):
        parts = [function(x) for x in found]
        return tuple(parts) if type(found) is tuple else type(found)(parts)
    return function(found)


_WINDOWS = {
    n: " ".join(
        f"{kind}{n}d {kind}{n}d_with_indices" for kind in (
            "max_pool", "avg_pool", "adaptive_avg_pool", "adaptive_max_pool", "lp_pool")
    )
    for n in (1, 2, 3)
}  # fmt: skip


def _windows(spatial):
    def windows(level, func, input, *args, **kwargs):
        """Windows of images."""
        if level.found(args) or level.found(kwargs.values()):
            return NotImplemented
        return folded(level, func, input, spatial, args, kwargs)

    return windows


for _n, _names in _WINDOWS.items():
    rule(_names)(_windows(_n))


def _unpool(spatial):
    def unpool(level, func, input, indices, kernel_size, stride=None, padding=0,
               output_size=None):  # fmt: skip
        """The inverse of max_pool, with the indices of each element."""
        rank = input.dim()
        if rank not in (spatial + 1, spatial + 2) or indices.dim() != rank:
            return NotImplemented
        if output_size is not None:
            output_size = tuple(output_size)[-spatial:]
        values = [level.spread(input), level.spread(indices)]
        options = (kernel_size, stride, padding, output_size)
        if rank == spatial + 1:
            return level.batched(func(*values, *options))
        found = func(*(x.flatten(0, 1) for x in values), *options)
        return level.batched(found.unflatten(0, values[0].shape[:2]))

    return unpool


for _n in (1, 2, 3):
    rule(f"max_unpool{_n}d")(_unpool(_n))
rule("F.unfold F.fold channel_shuffle")(_windows(2))


@rule("_resample")
def resample(level, func, input, size, *args, **kwargs):
    """Images of another size."""
    return folded(level, func, input, input.dim() - 2, (size, *args), kwargs)


@rule("grid_sample")
def grid_sample(level, func, input, grid, *args, **kwargs):
    """Images at points, of each its own."""
    if input.dim() != grid.dim():
        return NotImplemented
    value, at = level.spread(input), level.spread(grid)
    found = func(value.flatten(0, 1), at.flatten(0, 1), *args, **kwargs)
    return level.batched(found.unflatten(0, value.shape[:2]))


@rule("local_response_norm")
def local_response_norm(level, func, input, *args, **kwargs):
    """Over neighbouring channels."""
    return folded(level, func, input, input.dim() - 2, (*args,), kwargs)


@rule("conv1d conv2d conv3d")
def conv(level, func, input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """Images by filters."""
    options = (stride, padding, dilation)
    return _conv(level, func, input, weight, bias, options, groups, transposed=False)


@rule("conv_transpose1d conv_transpose2d conv_transpose3d")
def conv_transpose(level, func, input, weight, bias=None, stride=1, padding=0, output_padding=0,
                   groups=1, dilation=1):  # fmt: skip
    """The transposed convolution."""
    options = (stride, padding, output_padding, dilation)
    return _conv(level, func, input, weight, bias, options, groups, transposed=True)


def _conv(level, func, input, weight, bias, options, groups, transposed):
    def call(x, w, b, groups):
        if transposed:
            return func(x, w, b, *options[:3], groups, options[3])
        return func(x, w, b, *options, groups)

    spatial = weight.dim() - 2
    if input.dim() not in (spatial + 1, spatial + 2):
        return NotImplemented
    if level.holds(bias):
        if level.holds(input) or level.holds(weight):
            found = _conv(level, func, input, weight, None, options, groups, transposed)
        else:
            found = call(input, weight, None, groups)
        added = bias._value.reshape(level.size, *[1] * (input.dim() - spatial - 1), -1,
                                    *[1] * spatial)  # fmt: skip
        return level.batched(level.value(found) + added)
    if not level.holds(weight):
        return folded(level, lambda x: call(x, weight, bias, groups), input, spatial, (), {})
    single = input.dim() == spatial + 1
    size, filters = level.size, weight._value.flatten(0, 1)
    if not level.holds(input) and groups == 1 and not transposed:  # more filters, the same images
        found = call(input.unsqueeze(0) if single else input, filters, None, 1)
    else:
        images = level.spread(input)
        images = images.unsqueeze(0) if single else images.movedim(0, 1)  # image, batch, channel
        found = call(images.flatten(1, 2), filters, None, size * groups)
    found = found.unflatten(1, (size, -1)).movedim(1, 0)
    found = found.squeeze(1) if single else found
    if bias is not None:
        found = found + bias.reshape(-1, *[1] * spatial)
    return level.batched(found)
