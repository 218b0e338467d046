"""A covariance in any of its three forms: itself, its inverse, or its lower Cholesky factor."""

from rushlight import _C

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
    from rushlight.linalg import cholesky, solve_triangular

    if name == "scale_tril":
        return matrix
    if name == "covariance_matrix":
        return cholesky(matrix)
    # The inverse of a lower factor: factorise with rows and columns backwards.
    flipped = cholesky(matrix.flip((-2, -1))).flip((-2, -1)).mT
    one = _C.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    return solve_triangular(flipped, one, upper=False)


class OtherForms:
    """The forms that were not given, from `_unbroadcasted_scale_tril`, at first use."""

    def __getattr__(self, name):
        if name not in FORMS:
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        factor = self.__dict__["_unbroadcasted_scale_tril"]
        full = (*self._batch_shape, *factor.shape[-2:])
        if name == "scale_tril":
            return factor.expand(full)
        if name == "covariance_matrix":
            return _C.matmul(factor, factor.mT).expand(full)
        from rushlight._linalg.top_level_factors import cholesky_inverse

        return cholesky_inverse(factor).expand(full)
