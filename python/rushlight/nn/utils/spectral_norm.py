"""Spectral normalisation by a hook: the older form, with `<name>_orig`, `<name>_u`, `<name>_v`."""

from rushlight._grad_mode import no_grad
from rushlight.nn.parameter import Parameter
from rushlight.nn.utils import _weight_hooks, _weight_norms

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The hook that computes a weight before every call of its module.

    Args:
        name: the parameter.
        n_power_iterations: how many at each call in training mode.
        dim: the dimension of the outputs.
        eps: keeps norms from 0.
    """

    _version = 1

    def __init__(self, name="weight", n_power_iterations=1, dim=0, eps=1e-12):
        if n_power_iterations <= 0:
            raise ValueError(
                "Expected n_power_iterations to be positive, but got "
                f"n_power_iterations={n_power_iterations}"
            )
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def compute_weight(self, module, do_power_iteration):
        """The weight divided by the estimate of its largest singular value."""
        weight, u, v = (getattr(module, self.name + part) for part in ("_orig", "_u", "_v"))
        matrix = _weight_norms.as_matrix(weight, self.dim)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    _weight_norms.improve_right(matrix, u, v, self.eps)
                    _weight_norms.improve_left(matrix, u, v, self.eps)
                # Copies: the next forward changes the buffers, and backward needs these.
                u, v = u.clone(), v.clone()
        return weight / u.dot(matrix.mv(v))

    @staticmethod
    def apply(module, name, n_power_iterations, dim, eps):
        """Registers the hooks and returns the one that computes the weight."""
        _weight_hooks.refuse_second(module, SpectralNorm, name, "spectral_norm")
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        _weight_hooks.refuse_uninitialized(weight, SpectralNorm, "spectral")
        u, v = _weight_norms.first_vectors(_weight_norms.as_matrix(weight.detach(), dim), eps)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.detach())  # until the first call
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        module._register_state_dict_hook(_NoteVersion(hook))
        module._register_load_state_dict_pre_hook(_TakeOldState(hook))
        return hook

    def remove(self, module):
        """Makes the weight a parameter again."""
        with no_grad():
            weight = self.compute_weight(module, False)
        for part in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + part)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))


class _NoteVersion:
    """Marks in a state dict's metadata that it has `<name>_v`."""

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, module, state_dict, prefix, local_metadata):
        versions = local_metadata.setdefault("spectral_norm", {})
        versions[self.hook.name + ".version"] = self.hook._version


class _TakeOldState:
    """Files from before `<name>_v` have the weight instead: v is what makes that weight."""

    def __init__(self, hook):
        self.hook = hook

    def __call__(self, state_dict, prefix, local_metadata, strict, missing, *rest):
        hook = self.hook
        key = prefix + hook.name
        version = local_metadata.get("spectral_norm", {}).get(hook.name + ".version")
        whole = all(key + part in state_dict for part in ("_orig", "_u", "_v"))
        if version is not None or (whole and key not in state_dict):
            return
        absent = [key + part for part in ("_orig", "", "_u") if key + part not in state_dict]
        if absent:
            if strict:
                missing.extend(absent)
            return
        with no_grad():
            original, u = state_dict[key + "_orig"], state_dict[key + "_u"]
            sigma = (original / state_dict.pop(key)).mean()
            matrix = _weight_norms.as_matrix(original, hook.dim)
            v = (matrix.t() @ matrix).pinverse() @ (matrix.t() @ u)
            state_dict[key + "_v"] = v * (sigma / u.dot(matrix.mv(v)))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    """A weight divided by its largest singular value, set before each call (Miyato et al., 2018).

    Args:
        module: the module; it is returned.
        name: its parameter, which becomes `<name>_orig`.
        n_power_iterations: how many at each call in training mode.
        eps: keeps norms from 0.
        dim: the dimension of the outputs; 0, and 1 for transposed convolutions, by default.

    Shape: `<name>` has the shape of `<name>_orig`; buffers `<name>_u` and `<name>_v` are vectors as
        long as its sides, all dimensions but dim being one.

    Raises:
        RuntimeError: if it is there already.
        ValueError: for a parameter without a value yet.

    >>> torch.nn.utils.spectral_norm(torch.nn.Linear(20, 40)).weight_u.shape
    torch.Size([40])
    """
    dim = _weight_norms.output_dim(module) if dim is None else dim
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module, name="weight"):
    """Makes a weight a parameter again; returns the module.

    Args:
        module: the module.
        name: its parameter.

    Shape: the weight keeps its shape.

    Raises:
        ValueError: if spectral_norm is not on it.

    >>> layer = torch.nn.utils.spectral_norm(torch.nn.Linear(2, 3))
    >>> torch.nn.utils.remove_spectral_norm(layer)
    Linear(in_features=2, out_features=3, bias=True)
    """
    _weight_hooks.remove(module, SpectralNorm, name, "spectral_norm")
    for hooks in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        for key, kept in list(hooks.items()):
            if isinstance(kept, _NoteVersion | _TakeOldState) and kept.hook.name == name:
                del hooks[key]
    return module
