"""A covariance in any of its three forms: itself, its inverse, or its lower Cholesky factor."""

from rushlight import _C
from rushlight.distributions.utils import lazy_property

FORMS = ("covariance_matrix", "precision_matrix", "scale_tril")


def only_form(refusal, *matrices):
    """(name, matrix) of the one that is given, in the order of FORMS; `refusal` if not just one."""
    given = [(n, m) for n, m in zip(FORMS, matrices, strict=True) if m is not None]
    if len(given) != 1:
        raise refusal(
            "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
        )
    return given[0]


def factor_of(name, matrix):
    """The lower Cholesky factor of the covariance."""
    from rushlight.linalg import cholesky

    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return cholesky(matrix)
    return _precision_to_scale_tril(matrix)


def _precision_to_scale_tril(P):
    """The lower Cholesky factor of the inverse of P."""
    from rushlight.linalg import cholesky, solve_triangular

    # The inverse of a lower factor: factorise with rows and columns backwards.
    flipped = cholesky(P.flip((-2, -1))).flip((-2, -1)).mT
    one = _C.eye(P.shape[-1], dtype=P.dtype, device=P.device)
    return solve_triangular(flipped, one, upper=False)


def _batch_mv(bmat, bvec):
    """The product of each matrix with its vector."""
    return _C.matmul(bmat, bvec.unsqueeze(-1)).squeeze(-1)


def _batch_mahalanobis(bL, bx):
    """x^T M^-1 x for each vector, by the lower Cholesky factor of M, which is broadcast."""
    from rushlight.linalg import solve_triangular

    solved = solve_triangular(bL, bx.unsqueeze(-1), upper=False)
    return solved.square().sum((-2, -1))


class OtherForms:
    """The forms that were not given, from `_unbroadcasted_scale_tril`, at first use."""

    @lazy_property
    def covariance_matrix(self):
        """The covariance of the elements of an event."""
        factor = self._unbroadcasted_scale_tril
        return self._per_batch(_C.matmul(factor, factor.mT))

    @lazy_property
    def precision_matrix(self):
        """The inverse of the covariance."""
        from rushlight._linalg.top_level_factors import cholesky_inverse

        return self._per_batch(cholesky_inverse(self._unbroadcasted_scale_tril))

    @lazy_property
    def scale_tril(self):
        """The lower Cholesky factor of the covariance."""
        return self._per_batch(self._unbroadcasted_scale_tril)

    def _per_batch(self, matrix):
        return matrix.expand((*self._batch_shape, *matrix.shape[-2:]))
