"""CatTransform and StackTransform: several transforms, each of a part of a dimension."""

from rushlight import _C
from rushlight.distributions import constraints
from rushlight.distributions._transform_base import Transform, sum_last


class _Joined(Transform):
    """What both share: the transforms, and whether all are bijective."""

    def __init__(self, tseq, dim, cache_size):
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        if cache_size:
            tseq = [t.with_cache(cache_size) for t in tseq]
        super().__init__(cache_size)
        self.transforms, self.dim = list(tseq), dim

    @property
    def bijective(self):
        """Whether all are."""
        return all(t.bijective for t in self.transforms)

    def _check(self, x):
        if not -x.dim() <= self.dim < x.dim():
            raise AssertionError(f"dim {self.dim} out of range for tensor with {x.dim()} dims")

    def _call(self, x):
        pairs = zip(self.transforms, self._parts(x), strict=True)
        return self._join([transform(part) for transform, part in pairs], self.dim)

    def _inverse(self, y):
        pairs = zip(self.transforms, self._parts(y), strict=True)
        return self._join([transform.inv(part) for transform, part in pairs], self.dim)


class CatTransform(_Joined):
    """Transforms parts of a dimension, one after another.

    Args:
        tseq: the transforms.
        dim: the dimension.
        lengths: how long each part is; 1 by default.
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: y has the shape of x, of size sum(lengths) along dim.

    >>> T = torch.distributions
    >>> T.CatTransform([T.ExpTransform(), T.AffineTransform(1, 2)])(torch.zeros(2))
    tensor([1., 1.])
    """

    _join = staticmethod(_C.cat)

    def __init__(self, tseq, dim=0, lengths=None, cache_size=0):
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError("one length for each transform")

    @property
    def event_dim(self):
        """The largest of theirs."""
        return max(t.domain.event_dim for t in self.transforms)

    @property
    def length(self):
        """The length of the dimension."""
        return sum(self.lengths)

    def with_cache(self, cache_size=1):
        """The same transforms with another `cache_size`."""
        if self._cache_size == cache_size:
            return self
        return CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _parts(self, x):
        self._check(x)
        if x.size(self.dim) != self.length:
            raise AssertionError(f"size {x.size(self.dim)} of dim {self.dim} != {self.length}")
        return x.split(self.lengths, self.dim)

    def log_abs_det_jacobian(self, x, y):
        """ln |dy / dx|, joined along the dimension, or summed over it if it is of the event."""
        found = []
        for transform, a, b in zip(self.transforms, self._parts(x), self._parts(y), strict=True):
            each = transform.log_abs_det_jacobian(a, b)
            found.append(sum_last(each, self.event_dim - transform.domain.event_dim))
        dim = self.dim if self.dim < 0 else self.dim - x.dim()
        dim += self.event_dim
        return _C.cat(found, dim) if dim < 0 else sum(found)

    @property
    def domain(self):
        """Theirs, joined."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @property
    def codomain(self):
        """Theirs, joined."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Joined):
    """Transforms the slices of a dimension.

    Args:
        tseq: the transforms.
        dim: the dimension.
        cache_size: 1 to keep the last x and y, so that the inverse is exact.

    Shape: y has the shape of x, of as many slices along dim as there are transforms.

    >>> T = torch.distributions
    >>> T.StackTransform([T.ExpTransform(), T.AffineTransform(1, 2)])(torch.zeros(2))
    tensor([1., 1.])
    """

    _join = staticmethod(_C.stack)

    def __init__(self, tseq, dim=0, cache_size=0):
        super().__init__(tseq, dim, cache_size)

    def with_cache(self, cache_size=1):
        """The same transforms with another `cache_size`."""
        if self._cache_size == cache_size:
            return self
        return StackTransform(self.transforms, self.dim, cache_size)

    def _parts(self, x):
        self._check(x)
        if x.size(self.dim) != len(self.transforms):
            raise AssertionError(f"size {x.size(self.dim)} of dim {self.dim} is another")
        return x.unbind(self.dim)

    def log_abs_det_jacobian(self, x, y):
        """ln |dy / dx|, stacked along the dimension."""
        parts = zip(self.transforms, self._parts(x), self._parts(y), strict=True)
        return _C.stack([t.log_abs_det_jacobian(a, b) for t, a, b in parts], self.dim)

    @property
    def domain(self):
        """Theirs, stacked."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @property
    def codomain(self):
        """Theirs, stacked."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
