"""The memory order of convolutions' weights."""

from rushlight.nn.modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def _convert(module, memory_format, kinds):
    for submodule in module.modules():
        if isinstance(submodule, kinds):
            submodule.weight.data = submodule.weight.detach().clone(memory_format=memory_format)
    return module


def convert_conv2d_weight_memory_format(module, memory_format):
    """Gives the weights of all 2-d convolutions in `module` a memory order; returns the module.

    Args:
        module: a module.
        memory_format: such as torch.channels_last.

    >>> net = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3))
    >>> net = torch.nn.utils.convert_conv2d_weight_memory_format(net, torch.channels_last)
    >>> net[0].weight.stride()
    (27, 1, 9, 3)
    """
    return _convert(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module, memory_format):
    """Gives the weights of all 3-d convolutions in `module` a memory order; returns the module.

    Args:
        module: a module.
        memory_format: such as torch.channels_last_3d.

    >>> net = torch.nn.Conv3d(3, 4, 3)
    >>> net = torch.nn.utils.convert_conv3d_weight_memory_format(net, torch.channels_last_3d)
    >>> net.weight.stride()
    (81, 1, 27, 9, 3)
    """
    return _convert(module, memory_format, (Conv3d, ConvTranspose3d))
