"""Transform, inverses and compositions."""

import math

from rushlight import _C
from rushlight.distributions import constraints


def sum_last(value, dims):
    """The sum over the last `dims` dimensions."""
    return value.sum(tuple(range(-dims, 0))) if dims else value


class Transform:
    """Base class of invertible differentiable maps from `domain` to `codomain`; subclasses define
    _call() and _inverse().

    Args:
        cache_size: 1 to remember the last value, so that its inverse is exact.

    Shape: x of event shape `domain.event_dim` dimensions gives y of `codomain.event_dim`;
        log_abs_det_jacobian() has the dimensions before them.

    Raises:
        ValueError: for another cache size.

    >>> from rushlight.distributions.transforms import ExpTransform
    >>> ExpTransform().inv(torch.tensor(1.0))
    tensor(0.)
    """

    bijective = False
    domain: constraints.Constraint = constraints.real
    codomain: constraints.Constraint = constraints.real

    def __init__(self, cache_size=0):
        if cache_size not in (0, 1):
            raise ValueError("cache_size must be 0 or 1")
        self._cache_size = cache_size
        self._last = None, None

    def __getstate__(self):
        return {**self.__dict__, "_last": (None, None)}

    @property
    def inv(self):
        """The inverse."""
        return _InverseTransform(self)

    @property
    def sign(self):
        """1 where it rises, -1 where it falls."""
        raise NotImplementedError

    def with_cache(self, cache_size=1):
        """The same transform with another `cache_size`."""
        if self._cache_size == cache_size:
            return self
        made = type(self).__new__(type(self))
        made.__dict__.update(self.__dict__, _cache_size=cache_size, _last=(None, None))
        return made

    def __eq__(self, other):
        return self is other

    __hash__ = object.__hash__

    def __call__(self, x):
        if self._cache_size and x is self._last[0]:
            return self._last[1]
        y = self._call(x)
        if self._cache_size:
            self._last = x, y
        return y

    def _inv_call(self, y):
        if self._cache_size and y is self._last[1]:
            return self._last[0]
        x = self._inverse(y)
        if self._cache_size:
            self._last = x, y
        return x

    def _call(self, x):
        raise NotImplementedError

    def _inverse(self, y):
        raise NotImplementedError

    def log_abs_det_jacobian(self, x, y):
        """ln |dy / dx| at x, where y is its image."""
        raise NotImplementedError

    def forward_shape(self, shape):
        """The shape that one of `shape` gets."""
        return shape

    def inverse_shape(self, shape):
        """The shape from which `shape` comes."""
        return shape

    def __repr__(self):
        return type(self).__name__ + "()"


class _InverseTransform(Transform):
    bijective = property(lambda self: self._of.bijective)
    domain = property(lambda self: self._of.codomain)
    codomain = property(lambda self: self._of.domain)
    sign = property(lambda self: self._of.sign)

    def __init__(self, of):
        super().__init__(of._cache_size)
        self._of = of

    @property
    def inv(self):
        return self._of

    def with_cache(self, cache_size=1):
        return self._of.with_cache(cache_size).inv

    def __eq__(self, other):
        return isinstance(other, _InverseTransform) and self._of == other._of

    __hash__ = object.__hash__

    def __call__(self, x):
        return self._of._inv_call(x)

    def _inv_call(self, y):
        return self._of(y)

    def log_abs_det_jacobian(self, x, y):
        return -self._of.log_abs_det_jacobian(y, x)

    def forward_shape(self, shape):
        return self._of.inverse_shape(shape)

    def inverse_shape(self, shape):
        return self._of.forward_shape(shape)

    def __repr__(self):
        return f"_InverseTransform({self._of!r})"


class ComposeTransform(Transform):
    """One transform after another.

    Args:
        parts: the transforms, the first one first.
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: that of the last transform's y.

    >>> from rushlight.distributions.transforms import AffineTransform, ComposeTransform
    >>> ComposeTransform([AffineTransform(1.0, 2.0), AffineTransform(0.0, 3.0)])(torch.tensor(1.0))
    tensor(9.)
    """

    def __init__(self, parts, cache_size=0):
        super().__init__(cache_size)
        self.parts = [part.with_cache(cache_size) for part in parts] if cache_size else list(parts)

    @property
    def inv(self):
        """The inverses, the last one first."""
        return ComposeTransform([part.inv for part in reversed(self.parts)], self._cache_size)

    def _dims(self):
        """The event dimensions before each part, and after the last."""
        ahead = max([0, *(p.codomain.event_dim for p in self.parts[-1:])])
        for part in reversed(self.parts):
            ahead += part.domain.event_dim - part.codomain.event_dim
            ahead = max(ahead, part.domain.event_dim)
        dims = [ahead]
        for part in self.parts:
            dims.append(dims[-1] + part.codomain.event_dim - part.domain.event_dim)
        return dims

    @property
    def domain(self):
        """That of the first."""
        if not self.parts:
            return constraints.real
        own = self.parts[0].domain
        return constraints._over_last(own, self._dims()[0] - own.event_dim)

    @property
    def codomain(self):
        """That of the last."""
        if not self.parts:
            return constraints.real
        own = self.parts[-1].codomain
        return constraints._over_last(own, self._dims()[-1] - own.event_dim)

    @property
    def bijective(self):
        """Whether all are."""
        return all(part.bijective for part in self.parts)

    @property
    def sign(self):
        """The product of the signs."""
        return math.prod((part.sign for part in self.parts), start=1)

    def __eq__(self, other):
        return isinstance(other, ComposeTransform) and self.parts == other.parts

    __hash__ = object.__hash__

    def __call__(self, x):
        for part in self.parts:
            x = part(x)
        return x

    def _inv_call(self, y):
        for part in reversed(self.parts):
            y = part._inv_call(y)
        return y

    def log_abs_det_jacobian(self, x, y):
        """The sum of the parts'."""
        total, dims = 0, self._dims()
        for part, ahead in zip(self.parts, dims, strict=False):
            after = part(x)
            step = part.log_abs_det_jacobian(x, after)
            total = total + sum_last(step, ahead - part.domain.event_dim)
            x = after
        return total if self.parts else _C.zeros_like(x)

    def forward_shape(self, shape):
        """Through all."""
        for part in self.parts:
            shape = part.forward_shape(shape)
        return shape

    def inverse_shape(self, shape):
        """Back through all."""
        for part in reversed(self.parts):
            shape = part.inverse_shape(shape)
        return shape

    def __repr__(self):
        inner = ",\n    ".join(repr(part) for part in self.parts)
        return f"ComposeTransform(\n    {inner}\n)"


identity_transform = ComposeTransform([])


class Simple(Transform):
    """Element by element and without parameters: all of a class are equal."""

    bijective = True
    sign = 1

    def __eq__(self, other):
        return type(other) is type(self)

    __hash__ = object.__hash__
