"""What parameters and values of distributions may be."""

from rushlight import _C
from rushlight.distributions._composed_constraints import (
    MixtureSameFamilyConstraint,
    _Cat,
    _Dependent,
    _DependentProperty,
    _Stack,
    is_dependent,
)
from rushlight.distributions._constraint_base import Constraint

__all__ = [
    "Constraint", "MixtureSameFamilyConstraint", "boolean", "cat", "corr_cholesky", "dependent",
    "dependent_property", "greater_than", "greater_than_eq", "half_open_interval", "independent",
    "integer_interval", "interval", "is_dependent", "less_than", "lower_cholesky",
    "lower_triangular", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_definite", "positive_integer", "positive_semidefinite", "real", "real_vector",
    "simplex", "square", "stack", "symmetric", "unit_interval",
]  # fmt: skip


class _Real(Constraint):
    """Everything but NaN."""

    def check(self, value):
        return value == value  # not NaN


class _GreaterThan(Constraint):
    """Above a bound.

    Args:
        lower_bound: the bound.

    Shape: check(value) has the shape of value, with which the bounds broadcast.

    >>> torch.distributions.constraints.greater_than(0).check(torch.tensor([0.0, 1.0]))
    tensor([False,  True])
    """

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return value > self.lower_bound


class _GreaterThanEq(Constraint):
    """From a bound on.

    Args:
        lower_bound: the bound.

    Shape: check(value) has the shape of value, with which the bounds broadcast.

    >>> torch.distributions.constraints.greater_than_eq(0).check(torch.tensor([0.0, 1.0]))
    tensor([True, True])
    """

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return value >= self.lower_bound


class _LessThan(Constraint):
    """Below a bound.

    Args:
        upper_bound: the bound.

    Shape: check(value) has the shape of value, with which the bounds broadcast.

    >>> torch.distributions.constraints.less_than(1).check(torch.tensor([0.0, 1.0]))
    tensor([ True, False])
    """

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, value):
        return value < self.upper_bound


class _Interval(Constraint):
    """From a bound to another, both included.

    Args:
        lower_bound, upper_bound: the bounds.

    Shape: check(value) has the shape of value, with which the bounds broadcast.

    >>> torch.distributions.constraints.interval(0, 1).check(torch.tensor([1.0, 2.0]))
    tensor([ True, False])
    """

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value):
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerInterval(_Interval):
    """Integers from a bound to another, both included.

    Args:
        lower_bound, upper_bound: the bounds.

    Shape: check(value) has the shape of value, with which the bounds broadcast.

    >>> torch.distributions.constraints.integer_interval(0, 2).check(torch.tensor([1.0, 1.5]))
    tensor([ True, False])
    """

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & super().check(value)


class _IntegerGreaterThan(Constraint):
    """Integers from a bound on."""

    is_discrete = True

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return (value % 1 == 0) & (value >= self.lower_bound)


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value):
        return (value == 0) | (value == 1)


class _Simplex(Constraint):
    """Nonnegative values that sum to 1."""

    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _OneHot(Constraint):
    """A single 1 among zeros."""

    is_discrete = True
    event_dim = 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _HalfOpenInterval(_Interval):
    """From a bound, included, to another.

    Args:
        lower_bound, upper_bound: the bounds.

    Shape: check(value) has the shape of value, with which the bounds broadcast.

    >>> torch.distributions.constraints.half_open_interval(0, 1).check(torch.tensor([0.0, 1.0]))
    tensor([ True, False])
    """

    def check(self, value):
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _Square(Constraint):
    """Square matrices."""

    event_dim = 2

    def check(self, value):
        fits = value.shape[-1] == value.shape[-2]
        return _C.full(value.shape[:-2], fits, dtype=_C.bool, device=value.device)


class _Symmetric(_Square):
    """Matrices that equal their transposes."""

    def check(self, value):
        square = super().check(value)
        if not square.all():
            return square
        return ((value - value.mT).abs() <= 1e-6 + 1e-5 * value.mT.abs()).all(-1).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices whose eigenvalues are positive."""

    def check(self, value):
        from rushlight.linalg import cholesky_ex

        symmetric = super().check(value)
        return cholesky_ex(value).info.eq(0) if symmetric.all() else symmetric


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices whose eigenvalues are not negative."""

    def check(self, value):
        from rushlight.linalg import eigvalsh

        symmetric = super().check(value)
        return eigvalsh(value).ge(0).all(-1) if symmetric.all() else symmetric


class _LowerTriangular(Constraint):
    """Lower triangles."""

    event_dim = 2

    def check(self, value):
        return (value.tril() == value).all(-1).all(-1)


class _LowerCholesky(Constraint):
    """Lower triangles whose diagonals are positive."""

    event_dim = 2

    def check(self, value):
        triangle = (value.tril() == value).all(-1).all(-1)
        return triangle & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Lower Cholesky factors of correlation matrices: rows of length 1."""

    def check(self, value):
        from rushlight import finfo

        close = finfo(value.dtype).eps * value.size(-1) * 10
        rows = ((value.square().sum(-1) - 1).abs() <= close).all(-1)
        return super().check(value) & rows


class _IndependentConstraint(Constraint):
    """Another constraint, of which the last dimensions are checked together.

    Args:
        base_constraint: the constraint of the elements.
        reinterpreted_batch_ndims: the number of last dimensions that are one event.

    Shape: check(value) has the shape of value without reinterpreted_batch_ndims dimensions.

    >>> C = torch.distributions.constraints
    >>> C.independent(C.positive, 1).check(torch.tensor([1.0, -1.0]))
    tensor(False)
    """

    def __init__(self, base_constraint, reinterpreted_batch_ndims):
        if not isinstance(base_constraint, Constraint):
            raise AssertionError(f"Expected Constraint, got {type(base_constraint)}")
        if not isinstance(reinterpreted_batch_ndims, int) or reinterpreted_batch_ndims < 0:
            raise AssertionError(
                f"reinterpreted_batch_ndims must be an int of 0 or more, got "
                f"{reinterpreted_batch_ndims!r}"
            )
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self):
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value):
        result = self.base_constraint.check(value)
        kept = result.dim() - self.reinterpreted_batch_ndims
        if kept < 0:
            wanted = self.base_constraint.event_dim + self.reinterpreted_batch_ndims
            raise ValueError(f"Expected value.dim() >= {wanted} but got {value.dim()}")
        return result.reshape((*result.shape[:kept], -1)).all(-1)

    def __repr__(self):
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


independent = _IndependentConstraint


def _over_last(base_constraint, count):
    """The constraint of events with `count` more dimensions: itself if there are none."""
    return independent(base_constraint, count) if count else base_constraint


class _Multinomial(Constraint):
    """Nonnegative integers that sum to a total, or to less.

    Args:
        upper_bound: the total.

    Shape: check(value) of value (*, K) is (*).

    >>> torch.distributions.constraints.multinomial(3).check(torch.tensor([1.0, 2.0]))
    tensor(True)
    """

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def __repr__(self):
        return "Multinomial()"

    def check(self, value):
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


real = _Real()
real_vector = independent(real, 1)
positive, nonnegative = _GreaterThan(0.0), _GreaterThanEq(0.0)
unit_interval, interval = _Interval(0.0, 1.0), _Interval
half_open_interval = _HalfOpenInterval
integer_interval, boolean = _IntegerInterval, _Boolean()
nonnegative_integer, positive_integer = _IntegerGreaterThan(0), _IntegerGreaterThan(1)
square, symmetric, positive_definite = _Square(), _Symmetric(), _PositiveDefinite()
positive_semidefinite, lower_triangular = _PositiveSemidefinite(), _LowerTriangular()
lower_cholesky, corr_cholesky = _LowerCholesky(), _CorrCholesky()
simplex, one_hot, multinomial = _Simplex(), _OneHot(), _Multinomial
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan


def all_true(condition: "_C.Tensor") -> bool:
    """Whether a constraint holds everywhere.

    Args:
        condition: a tensor of bools.

    >>> torch.distributions.constraints.all_true(torch.tensor([True, False]))
    False
    """
    return bool(condition.all())


dependent, dependent_property = _Dependent(), _DependentProperty
cat, stack = _Cat, _Stack
