"""biject_to and transform_to: transforms from real numbers to the values of a constraint."""

import numbers

from rushlight.distributions import constraints, transforms


class ConstraintRegistry:
    """Factories of transforms by types of constraints.

    >>> from rushlight.distributions import constraints, transform_to
    >>> transform_to(constraints.positive)(torch.tensor(0.0))
    tensor(1.)
    """

    def __init__(self):
        self._registry = {}

    def register(self, constraint, factory=None):
        """Makes factory(constraint) the transform for a type of `constraint`; without `factory` a
        decorator.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        self._registry[kind] = factory
        return factory

    def __call__(self, constraint):
        if type(constraint) in self._registry:
            return self._registry[type(constraint)](constraint)
        raise NotImplementedError(
            f"Cannot transform {type(constraint).__name__} constraints\nregister a factory for them"
        )


biject_to, transform_to = ConstraintRegistry(), ConstraintRegistry()


def _register(factory, *examples):
    for example in examples:
        biject_to.register(example, factory)
        transform_to.register(example, factory)


def _between(constraint):
    low, high = constraint.lower_bound, constraint.upper_bound
    if isinstance(low, numbers.Number) and (low, high) == (0, 1):  # not of bounds that are tensors
        return transforms.SigmoidTransform()
    scale = transforms.AffineTransform(low, high - low)
    return transforms.ComposeTransform([transforms.SigmoidTransform(), scale])


def _inside(registry):
    def factory(constraint):
        base = registry(constraint.base_constraint)
        return transforms.IndependentTransform(base, constraint.reinterpreted_batch_ndims)

    return factory


_register(lambda constraint: transforms.identity_transform, constraints.real)
_register(
    lambda constraint: transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    ),
    constraints.positive, constraints.nonnegative,
)  # fmt: skip
_register(
    lambda constraint: transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    ),
    constraints.less_than,
)


def _joined(registry):
    def cat(constraint):
        parts = [registry(c) for c in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    def stack(constraint):
        return transforms.StackTransform([registry(c) for c in constraint.cseq], constraint.dim)

    registry.register(constraints.cat, cat)
    registry.register(constraints.stack, stack)


_register(_between, constraints.interval, constraints.half_open_interval)
transform_to.register(
    constraints.lower_cholesky, lambda constraint: transforms.LowerCholeskyTransform()
)
_register(lambda constraint: transforms.CorrCholeskyTransform(), constraints.corr_cholesky)
for _matrix in (constraints.positive_definite, constraints.positive_semidefinite):
    transform_to.register(_matrix, lambda constraint: transforms.PositiveDefiniteTransform())
for _registry in (biject_to, transform_to):
    _joined(_registry)
    _registry.register(constraints.real_vector, _inside(_registry))
biject_to.register(constraints.simplex, lambda constraint: transforms.StickBreakingTransform())
transform_to.register(constraints.simplex, lambda constraint: transforms.SoftmaxTransform())
