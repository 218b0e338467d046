"""Feature maps of several sizes, each with the features of the smaller ones added."""

from collections import OrderedDict

from rushlight import nn
from rushlight.nn import functional as F

from .misc import Conv2dNormActivation


class ExtraFPNBlock(nn.Module):
    """What adds maps after the last one: forward(results, maps, names) -> (results, names)."""

    def forward(self, results, x, names):
        raise NotImplementedError("ExtraFPNBlock.forward(): a subclass defines it")


class LastLevelMaxPool(ExtraFPNBlock):
    """Every second element of the last map as one more, "pool"."""

    def forward(self, x, y, names):
        return [*x, F.max_pool2d(x[-1], 1, 2, 0)], [*names, "pool"]


class LastLevelP6P7(ExtraFPNBlock):
    """Two maps more, "p6" and "p7", by convolutions of stride 2.

    Args:
        in_channels: of the map that "p6" is made of.
        out_channels: of both.
    """

    def __init__(self, in_channels, out_channels):
        super().__init__()
        self.p6 = nn.Conv2d(in_channels, out_channels, 3, 2, 1)
        self.p7 = nn.Conv2d(out_channels, out_channels, 3, 2, 1)
        for module in (self.p6, self.p7):
            nn.init.kaiming_uniform_(module.weight, a=1)
            nn.init.constant_(module.bias, 0)
        self.use_P5 = in_channels == out_channels

    def forward(self, p, c, names):
        p6 = self.p6(p[-1] if self.use_P5 else c[-1])
        return [*p, p6, self.p7(F.relu(p6))], [*names, "p6", "p7"]


class FeaturePyramidNetwork(nn.Module):
    """Maps of several sizes brought to one number of channels, each with the next smaller one,
    enlarged, added.

    Args:
        in_channels_list: the channels of each map, largest map first.
        out_channels: of every result.
        extra_blocks: an ExtraFPNBlock that adds maps after the last one.
        norm_layer: makes a normalisation after each convolution.

    Source: Lin et al., Feature Pyramid Networks, 2016.

    >>> import rushlight as torch
    >>> from rushlight.vision.ops import FeaturePyramidNetwork
    >>> maps = {"a": torch.zeros(1, 4, 8, 8), "b": torch.zeros(1, 8, 4, 4)}
    >>> {name: tuple(map.shape) for name, map in FeaturePyramidNetwork([4, 8], 5)(maps).items()}
    {'a': (1, 5, 8, 8), 'b': (1, 5, 4, 4)}
    """

    def __init__(self, in_channels_list, out_channels, extra_blocks=None, norm_layer=None):
        super().__init__()
        self.inner_blocks, self.layer_blocks = nn.ModuleList(), nn.ModuleList()
        for channels in in_channels_list:
            if channels == 0:
                raise ValueError("in_channels=0 is currently not supported")
            options = {"norm_layer": norm_layer, "activation_layer": None}
            self.inner_blocks.append(
                Conv2dNormActivation(channels, out_channels, 1, padding=0, **options)
            )
            self.layer_blocks.append(Conv2dNormActivation(out_channels, out_channels, 3, **options))
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_uniform_(module.weight, a=1)
                if module.bias is not None:
                    nn.init.constant_(module.bias, 0)
        if extra_blocks is not None and not isinstance(extra_blocks, ExtraFPNBlock):
            raise TypeError(
                f"extra_blocks should be of type ExtraFPNBlock not {type(extra_blocks)}"
            )
        self.extra_blocks = extra_blocks

    def _load_from_state_dict(self, state_dict, prefix, *rest):
        for block in ("inner_blocks", "layer_blocks"):
            for i in range(len(self.inner_blocks)):
                for name in ("weight", "bias"):  # of older files
                    old = f"{prefix}{block}.{i}.{name}"
                    if old in state_dict:
                        state_dict[f"{prefix}{block}.{i}.0.{name}"] = state_dict.pop(old)
        super()._load_from_state_dict(state_dict, prefix, *rest)

    def forward(self, x):
        names, maps = list(x), list(x.values())
        last = self.inner_blocks[-1](maps[-1])
        results = [self.layer_blocks[-1](last)]
        for i in reversed(range(len(maps) - 1)):
            own = self.inner_blocks[i](maps[i])
            last = own + F.interpolate(last, size=own.shape[-2:], mode="nearest")
            results.insert(0, self.layer_blocks[i](last))
        if self.extra_blocks is not None:
            results, names = self.extra_blocks(results, maps, names)
        return OrderedDict(zip(names, results, strict=True))
