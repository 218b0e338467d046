"""Parametrizations of weights: by norm and direction, orthogonal, and with spectral norm 1."""

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.nn import functional as F
from rushlight.nn.modules.module import Module
from rushlight.nn.utils import _weight_norms, parametrize

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


class _WeightNorm(Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g, weight_v):
        return _weight_norms._weight_norm(weight_v, weight_g, self.dim)

    def right_inverse(self, weight):
        return _weight_norms.norm_except_dim(weight, 2, self.dim), weight


def weight_norm(module, name="weight", dim=0):
    """A weight as g * v / |v|, g and v being learned (Salimans and Kingma, 2016).

    Args:
        module: the module; it is returned.
        name: its parameter.
        dim: the dimension along which each slice has a norm of its own; None for one norm.

    Shape: the weight and its direction keep their shape; the norms have size 1 but in dim.

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


def _with_orthogonal_columns(matrix):
    """Its factor Q, where the diagonal of R is positive."""
    from rushlight.linalg import qr

    q, r = qr(matrix)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _has_orthogonal_columns(matrix):
    from rushlight import finfo

    one = _C.eye(matrix.size(-1), dtype=matrix.dtype, device=matrix.device)
    error = (matrix.mH @ matrix - one).abs()
    return bool((error <= 10 * matrix.size(-2) * finfo(matrix.dtype).eps).all())


class _Orthogonal(Module):
    """base @ the matrix that a map makes of the learned one; wide matrices are transposed."""

    def __init__(self, weight, orthogonal_map, use_trivialization=True):
        super().__init__()
        if weight.is_complex() and orthogonal_map == "householder":
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape, self.orthogonal_map = weight.shape, orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def forward(self, X):
        wide = X.size(-2) < X.size(-1)
        q = self._mapped(X.mT if wide else X)
        if hasattr(self, "base"):
            q = self.base @ q
        return q.mT if wide else q

    def _mapped(self, x):
        n, k = x.size(-2), x.size(-1)
        if self.orthogonal_map == "householder":
            from rushlight.linalg import householder_product

            vectors = x.tril(-1)
            tau = 2.0 / (1.0 + (vectors * vectors).sum(-2))
            signs = x.diagonal(dim1=-2, dim2=-1).int()
            return householder_product(vectors, tau) * signs.unsqueeze(-2)
        x = x.tril()
        if n != k:
            x = _C.cat([x, x.new_zeros((*x.shape[:-1], n - k))], -1)
        skew = x - x.mH
        if self.orthogonal_map == "matrix_exp":
            from rushlight.linalg import matrix_exp

            q = matrix_exp(skew)
        else:
            from rushlight.linalg import solve

            one = _C.eye(n, dtype=skew.dtype, device=skew.device)
            q = solve(one - 0.5 * skew, one + 0.5 * skew)
        return q[..., :k]

    def right_inverse(self, Q):
        with no_grad():
            return self._start_at(Q)

    def _start_at(self, matrix):
        if matrix.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of "
                f"shape {matrix.shape}."
            )
        if not hasattr(self, "base") and self.orthogonal_map == "householder":
            return _as_reflections(matrix)
        if not hasattr(self, "base"):
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley "
                "parametrizations when use_trivialization=False."
            )
        tall = matrix.mT if matrix.size(-2) < matrix.size(-1) else matrix
        n, k = tall.size(-2), tall.size(-1)
        if n == k:
            exact = _has_orthogonal_columns(tall)
            self.base = tall.clone() if exact else _with_orthogonal_columns(tall)
        else:
            rest = _C.randn((*tall.shape[:-2], n, n - k), dtype=tall.dtype, device=tall.device)
            self.base = _with_orthogonal_columns(_C.cat([tall, rest], -1))
        start = _C.zeros_like(matrix)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def _as_reflections(matrix):
    """The reflections whose product has the columns of `matrix` made orthogonal.

    On the diagonal are the signs of R's, so that those of matrix = QR with a positive one come out.
    """
    wide = matrix.size(-2) < matrix.size(-1)
    vectors, tau = _C.geqrf(matrix.mT if wide else matrix)
    signs = vectors.diagonal(dim1=-2, dim2=-1)
    signs.sign_()
    signs[tau == 0] *= -1  # geqrf() leaves out such a reflection
    return vectors.mT if wide else vectors


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    """A weight with orthogonal columns, or rows where it is wide.

    Args:
        module: the module; it is returned.
        name: its parameter.
        orthogonal_map: "matrix_exp" (square matrices by default), "cayley" or "householder".
        use_trivialization: learn the change from the weight at the start, so that any weight can
            be assigned.

    Shape: the weight keeps its shape (*, m, n).

    Raises:
        ValueError: for no such parameter, one of less than 2 dimensions, or another map.

    >>> layer = torch.nn.utils.parametrizations.orthogonal(torch.nn.Linear(20, 40))
    >>> torch.dist(layer.weight.T @ layer.weight, torch.eye(20)) < 1e-4
    tensor(True)
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, _C.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.dim() < 2:
        raise ValueError(
            f"Expected a matrix or batch of matrices. Got a tensor of {weight.dim()} dimensions."
        )
    if orthogonal_map is None:
        square = weight.size(-2) == weight.size(-1)
        orthogonal_map = "matrix_exp" if square else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". '
            f"Got: {orthogonal_map}"
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    return parametrize.register_parametrization(module, name, made, unsafe=True)


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
            matrix = _weight_norms.as_matrix(weight.detach(), self.dim)
            u, v = _weight_norms.first_vectors(matrix, eps)
            self.register_buffer("_u", u)
            self.register_buffer("_v", v)
            self._iterate(matrix, 15)

    def _iterate(self, matrix, times):
        with no_grad():
            for _ in range(times):
                _weight_norms.improve_left(matrix, self._u, self._v, self.eps)
                _weight_norms.improve_right(matrix, self._u, self._v, self.eps)

    def forward(self, weight):
        if weight.dim() == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = _weight_norms.as_matrix(weight, self.dim)
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

    Shape: the weight keeps its shape.

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
        dim = _weight_norms.output_dim(module)
    norm = _SpectralNorm(weight, n_power_iterations, dim, eps)
    return parametrize.register_parametrization(module, name, norm)
