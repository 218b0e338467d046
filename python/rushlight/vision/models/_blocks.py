"""How networks begin."""

from ... import cat, nn
from ...nn import init


def start_convolutions(model, mode="fan_out", linear_std=None):
    """Normal weights by the fan of each convolution, normalisations of 1 and 0."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            init.kaiming_normal_(module.weight, mode=mode, nonlinearity="relu")
            if module.bias is not None:
                init.zeros_(module.bias)
        elif isinstance(module, nn.BatchNorm2d | nn.GroupNorm):
            init.ones_(module.weight)
            init.zeros_(module.bias)
        elif isinstance(module, nn.Linear) and linear_std is not None:
            init.normal_(module.weight, 0, linear_std)
            init.zeros_(module.bias)


def rescaled(x):
    """Images normalised as for other networks, as Inception's weights learned them."""
    pairs = ((0.229, 0.485), (0.224, 0.456), (0.225, 0.406))
    channels = [
        x[:, i : i + 1] * (std / 0.5) + (mean - 0.5) / 0.5 for i, (std, mean) in enumerate(pairs)
    ]
    return cat(channels, 1)
