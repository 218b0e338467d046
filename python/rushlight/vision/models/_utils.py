"""A network as the results of some of its layers."""

from collections import OrderedDict

from ... import nn


class IntermediateLayerGetter(nn.ModuleDict):
    """The children of a network up to the last that is named, called one after another.

    Args:
        model: calls its children in their order, each once.
        return_layers: a child's name -> the name of its result.

    Returns: an OrderedDict of results.

    >>> from rushlight.vision.models import _utils, resnet18
    >>> stages = _utils.IntermediateLayerGetter(resnet18(), {"layer1": "a", "layer3": "b"})
    >>> {name: tuple(x.shape) for name, x in stages(torch.zeros(1, 3, 64, 64)).items()}
    {'a': (1, 64, 16, 16), 'b': (1, 256, 4, 4)}
    """

    def __init__(self, model, return_layers):
        children = dict(model.named_children())
        if not set(return_layers) <= set(children):
            raise ValueError("return_layers are not present in model")
        names = {str(k): str(v) for k, v in return_layers.items()}
        last = max(list(children).index(name) for name in names)
        super().__init__(OrderedDict(list(children.items())[: last + 1]))
        self.return_layers = names

    def forward(self, x):
        """The named results."""
        found = OrderedDict()
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                found[self.return_layers[name]] = x
        return found
