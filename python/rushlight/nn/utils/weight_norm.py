"""Weight normalisation by a hook: the older form, parameters `<name>_g` and `<name>_v`."""

import warnings

from rushlight.nn.parameter import Parameter
from rushlight.nn.utils import _weight_hooks, _weight_norms

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]


class WeightNorm:
    """The hook that computes a weight before every call of its module.

    Args:
        name: the parameter.
        dim: the dimension along which each slice has a norm of its own; -1 for one norm.
    """

    def __init__(self, name, dim):
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module):
        """g * v / |v|."""
        g, v = getattr(module, self.name + "_g"), getattr(module, self.name + "_v")
        return _weight_norms._weight_norm(v, g, self.dim)

    @staticmethod
    def apply(module, name, dim):
        """Registers the hook and returns it."""
        warnings.warn(
            "`torch.nn.utils.weight_norm` is deprecated in favor of "
            "`torch.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
            stacklevel=3,
        )
        _weight_hooks.refuse_second(module, WeightNorm, name, "weight_norm")
        weight = getattr(module, name)
        _weight_hooks.refuse_uninitialized(weight, WeightNorm, "weight")
        hook = WeightNorm(name, dim)
        norms = _weight_norms.norm_except_dim(weight.detach(), 2, hook.dim)
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norms))
        module.register_parameter(name + "_v", Parameter(weight.detach()))
        hook(module, ())
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module):
        """Makes the weight a parameter again."""
        weight = self.compute_weight(module).detach()
        for name in (self.name, self.name + "_g", self.name + "_v"):
            delattr(module, name)
        setattr(module, self.name, Parameter(weight))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module, name="weight", dim=0):
    """A weight as g * v / |v|, set before each call; deprecated, see parametrizations.weight_norm.

    Args:
        module: the module; it is returned.
        name: its parameter, which `<name>_g` and `<name>_v` replace.
        dim: the dimension along which each slice has a norm of its own; None for one norm.

    Shape: `<name>_v` has the shape of the weight, `<name>_g` size 1 but in dim; with dim None it is
        ().

    Raises:
        RuntimeError: if it is there already.
        ValueError: for a parameter without a shape yet.

    >>> import warnings; warnings.simplefilter("ignore")
    >>> torch.nn.utils.weight_norm(torch.nn.Linear(20, 40)).weight_g.shape
    torch.Size([40, 1])
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module, name="weight"):
    """Makes a weight a parameter again; returns the module.

    Args:
        module: the module.
        name: its parameter.

    Shape: the weight keeps its shape.

    Raises:
        ValueError: if weight_norm is not on it.

    >>> import warnings; warnings.simplefilter("ignore")
    >>> layer = torch.nn.utils.weight_norm(torch.nn.Linear(2, 3))
    >>> torch.nn.utils.remove_weight_norm(layer)
    Linear(in_features=2, out_features=3, bias=True)
    """
    _weight_hooks.remove(module, WeightNorm, name, "weight_norm")
    return module
