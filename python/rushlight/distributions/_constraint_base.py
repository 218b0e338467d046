"""Constraint: the base of what parameters and values of distributions may be."""


class Constraint:
    """A set of values; `event_dim` trailing dimensions are checked together.

    Shape: check(value) has the shape of value without the last event_dim dimensions.

    >>> torch.distributions.constraints.positive.check(torch.tensor([1.0, -1.0]))
    tensor([ True, False])
    """

    event_dim = 0
    is_discrete = False

    def __repr__(self):
        given = ", ".join(f"{k}={v}" for k, v in vars(self).items() if k[0] != "_")
        return f"{type(self).__name__.lstrip('_')}({given})"

    def check(self, value):
        """Where `value` is in the set, as bools."""
        raise NotImplementedError
