"""Constraints that are made of others, and those that depend on a distribution's parameters."""

from rushlight import _C
from rushlight.distributions._constraint_base import Constraint


class _Dependent(Constraint):
    """A constraint that depends on the parameters of a distribution, and is not known before them.

    Args:
        is_discrete: whether its values are discrete, if that is known.
        event_dim: the number of dimensions checked together, if that is known.

    >>> torch.distributions.constraints.dependent(event_dim=1).event_dim
    1
    """

    def __init__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        self._is_discrete, self._event_dim = is_discrete, event_dim

    @property
    def is_discrete(self):
        """Whether its values are discrete."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self):
        """The number of dimensions that are checked together."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        if is_discrete is NotImplemented:
            is_discrete = self._is_discrete
        if event_dim is NotImplemented:
            event_dim = self._event_dim
        return _Dependent(is_discrete=is_discrete, event_dim=event_dim)

    def check(self, x):
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """Decorates a method of a distribution that makes a constraint of its parameters.

    Args:
        fn: the method; None for a decorator.
        is_discrete: whether its values are discrete, if that is known.
        event_dim: the number of dimensions checked together, if that is known.

    >>> class Below(torch.distributions.Distribution):
    ...     @torch.distributions.constraints.dependent_property(is_discrete=False, event_dim=0)
    ...     def support(self):
    ...         return torch.distributions.constraints.less_than(self.high)
    >>> Below.support.event_dim
    0
    """

    def __init__(self, fn=None, *, is_discrete=NotImplemented, event_dim=NotImplemented):
        super().__init__(fn)
        self._is_discrete, self._event_dim = is_discrete, event_dim

    def __call__(self, fn):
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint):
    """Whether a constraint depends on the parameters of a distribution.

    Args:
        constraint: a constraint.

    >>> C = torch.distributions.constraints
    >>> C.is_dependent(C.dependent), C.is_dependent(C.real)
    (True, False)
    """
    return isinstance(constraint, _Dependent)


class _Parts(Constraint):
    """What cat and stack share: several constraints, and the dimension they lie along."""

    @property
    def is_discrete(self):
        """Whether one of them is discrete."""
        return any(c.is_discrete for c in self.cseq)


class _Cat(_Parts):
    """Constraints on parts of a dimension, one after another.

    Args:
        cseq: the constraints.
        dim: the dimension.
        lengths: how long each part is; 1 by default.

    Shape: check(value) has the shape of value.

    >>> C = torch.distributions.constraints
    >>> C.cat([C.positive, C.real], lengths=[1, 2]).check(torch.tensor([-1.0, -1.0, 2.0]))
    tensor([False,  True,  True])
    """

    def __init__(self, cseq, dim=0, lengths=None):
        self.cseq, self.dim = list(cseq), dim
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError("one length for each constraint")

    @property
    def event_dim(self):
        """The largest of theirs."""
        return max(c.event_dim for c in self.cseq)

    def check(self, value):
        parts = value.split(self.lengths, self.dim)
        checked = [c.check(part) for c, part in zip(self.cseq, parts, strict=True)]
        return _C.cat(checked, self.dim)


class _Stack(_Parts):
    """Constraints on the slices of a dimension.

    Args:
        cseq: the constraints.
        dim: the dimension.

    Shape: check(value) has the shape of value.

    >>> C = torch.distributions.constraints
    >>> C.stack([C.positive, C.real]).check(torch.tensor([-1.0, -1.0]))
    tensor([False,  True])
    """

    def __init__(self, cseq, dim=0):
        self.cseq, self.dim = list(cseq), dim

    @property
    def event_dim(self):
        """The largest of theirs, and 1 more if the dimension is among the checked ones."""
        dim = max(c.event_dim for c in self.cseq)
        return dim + 1 if self.dim + dim < 0 else dim

    def check(self, value):
        slices = value.unbind(self.dim)
        checked = [c.check(each) for c, each in zip(self.cseq, slices, strict=True)]
        return _C.stack(checked, self.dim)


class MixtureSameFamilyConstraint(Constraint):
    """What holds for the components of a mixture, of values without the dimension of components.

    Args:
        base_constraint: the constraint of the components.

    Shape: as of base_constraint, for each component.

    >>> C = torch.distributions.constraints
    >>> C.MixtureSameFamilyConstraint(C.positive).check(torch.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    def __init__(self, base_constraint):
        self.base_constraint = base_constraint

    def __repr__(self):
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"

    @property
    def is_discrete(self):
        """As the components' constraint."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self):
        """As the components' constraint."""
        return self.base_constraint.event_dim

    def check(self, value):
        base = self.base_constraint
        checked = base.check(value.unsqueeze(-1 - base.event_dim))
        return checked.squeeze(-1) if checked.dim() > value.dim() - base.event_dim else checked
