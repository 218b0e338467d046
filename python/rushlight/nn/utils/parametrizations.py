"""Parametrizations of weights: by norm and direction, and with spectral norm 1."""

from rushlight import _C
from rushlight._modes import no_grad
from rushlight.nn import functional as F
from rushlight.nn.modules.module import Module
from rushlight.nn.utils import _factors, parametrize

__all__ = ["spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return _factors.scaled(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return _factors.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """A weight as g * v / |v|, g and v being learned (Salimans and Kingma, 2016).

    Args:
        module: the module; it is returned.
        name: its parameter.
        dim: the dimension along which each slice has a norm of its own; None for one norm.

    >>> layer = torch.nn.utils.parametrizations.weight_norm(torch.nn.Linear(20, 40))
    >>> layer.parametrizations.weight.original0.shape
    torch.Size([40, 1])
    """
    parametrize.register_parametrization(module, name, _WeightNorm(dim), unsafe=True)

    def take_old_names(state_dict, prefix, *rest):
        old = [f"{prefix}{name}_{part}" for part in "gv"]
        if all(key in state_dict for key in old):
            for i, key in enumerate(old):
                state_dict[f"{prefix}parametrizations.{name}.original{i}"] = state_dict.pop(key)

    module._register_load_state_dict_pre_hook(take_old_names)
    return module


class _SpectralNorm(Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        ndim = weight.dim()
        if not -ndim <= dim < ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] "
                f"but got {dim})"
            )
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.dim = dim % ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = _factors.as_matrix(weight.detach(), self.dim)
            u, v = _factors.first_vectors(matrix, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            self._iterate(matrix, 15)

    def _iterate(self, matrix, times):
        with no_grad():
            for _ in range(times):
                _factors.improve_left(matrix, self._u, self._v, self.eps)
                _factors.improve_right(matrix, self._u, self._v, self.eps)

    def forward(self, weight):
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = _factors.as_matrix(weight, self.dim)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        # Copies: the next forward changes the buffers, and backward needs these.
        u, v = self._u.clone(), self._v.clone()
        return weight / u.dot(matrix.mv(v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """A weight divided by its largest singular value (Miyato et al., 2018).

    That value is estimated by power iterations, some more at each use in training mode.

    Args:
        module: the module; it is returned.
        name: its parameter.
        n_power_iterations: how many at each use.
        eps: keeps norms from 0.
        dim: the dimension of the outputs; 0, and 1 for transposed convolutions, by default.

    Raises:
        ValueError: for no such parameter.

    >>> layer = torch.nn.utils.parametrizations.spectral_norm(torch.nn.Linear(20, 40))
    >>> layer.weight.shape
    torch.Size([40, 20])
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = _factors.output_dim(module)
    norm = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, norm)
