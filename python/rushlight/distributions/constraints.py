"""What parameters and values of distributions may be."""

from rushlight import _C


class Constraint:
    """A set of values; `event_dim` trailing dimensions are checked together."""

    event_dim = 0
    is_discrete = False

    def __repr__(self):
        given = ", ".join(f"{k}={v}" for k, v in vars(self).items())
        return f"{type(self).__name__.lstrip('_')}({given})"

    def check(self, value):
        """Which values lie in the set, as bools."""
        raise NotImplementedError


class _Real(Constraint):
    """Everything but NaN."""

    def check(self, value):
        return value == value  # not NaN


class _GreaterThan(Constraint):
    """Above a bound."""

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return value > self.lower_bound


class _GreaterThanEq(Constraint):
    """From a bound on."""

    def __init__(self, lower_bound):
        self.lower_bound = lower_bound

    def check(self, value):
        return value >= self.lower_bound


class _LessThan(Constraint):
    """Below a bound."""

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, value):
        return value < self.upper_bound


class _Interval(Constraint):
    """From a bound to another, both included."""

    def __init__(self, lower_bound, upper_bound):
        self.lower_bound, self.upper_bound = lower_bound, upper_bound

    def check(self, value):
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _IntegerInterval(_Interval):
    """Whole numbers from a bound to another, both included."""

    is_discrete = True

    def check(self, value):
        return (value % 1 == 0) & super().check(value)


class _IntegerGreaterThan(Constraint):
    """Whole numbers from a bound on."""

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
    """Numbers from 0 on that add up to 1."""

    event_dim = 1

    def check(self, value):
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _OneHot(Constraint):
    """A single 1 among zeros."""

    is_discrete = True
    event_dim = 1

    def check(self, value):
        return ((value == 0) | (value == 1)).all(-1) & (value.sum(-1) == 1)


class _RealVector(_Real):
    """Vectors without NaN."""

    event_dim = 1

    def check(self, value):
        return (value == value).all(-1)

    def __repr__(self):
        return "IndependentConstraint(Real(), 1)"


class _Counts(Constraint):
    """Whole numbers that add up to a total."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound):
        self.upper_bound = upper_bound

    def check(self, value):
        return (value >= 0).all(-1) & (value.sum(-1) == self.upper_bound)


real, real_vector = _Real(), _RealVector()
positive, nonnegative = _GreaterThan(0.0), _GreaterThanEq(0.0)
unit_interval, interval = _Interval(0.0, 1.0), _Interval
integer_interval, boolean = _IntegerInterval, _Boolean()
nonnegative_integer = _IntegerGreaterThan(0)
simplex, one_hot, multinomial = _Simplex(), _OneHot(), _Counts
greater_than, greater_than_eq, less_than = _GreaterThan, _GreaterThanEq, _LessThan


def all_true(condition: "_C.Tensor") -> bool:
    """Whether a constraint holds everywhere."""
    return bool(condition.all())
