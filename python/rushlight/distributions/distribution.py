"""Distribution: shapes, checks of parameters and values, and what subclasses have in common."""

import math
import warnings
from typing import Any

from rushlight import _C
from rushlight._grad_mode import no_grad
from rushlight.distributions import constraints
from rushlight.functional import broadcast_tensors


def broadcast_all(*values):
    """Scalars and tensors broadcast to one shape; scalars take the tensors' dtype and device.

    Args:
        *values: floats and tensors.

    Shape: all results have the common shape.

    >>> torch.distributions.utils.broadcast_all(1.0, torch.zeros(2))
    (tensor([1., 1.]), tensor([0., 0.]))
    """
    if all(isinstance(v, _C.Tensor) for v in values):
        return broadcast_tensors(*values)
    for value in values:
        if not isinstance(value, _C.Tensor | int | float):
            raise ValueError(
                "Input arguments must all be instances of Number, torch.Tensor or objects "
                f"implementing __torch_function__.\none is {type(value).__name__}"
            )
    first = next((v for v in values if isinstance(v, _C.Tensor)), None)
    like = {"dtype": _C.get_default_dtype()}
    if first is not None:
        like = {"dtype": first.dtype, "device": first.device}
    return broadcast_tensors(
        *(v if isinstance(v, _C.Tensor) else _C.tensor(v, **like) for v in values)
    )


class Distribution:
    """Base class of probability distributions, one for each element of `batch_shape`.

    Subclasses define `arg_constraints`, `support`, rsample() or sample(), log_prob() and the rest.

    Args:
        batch_shape: the shape over which parameters differ.
        event_shape: the shape of one draw.
        validate_args: check parameters and values; the default of the class if None.

    Shape: sample(sample_shape) has sample_shape + batch_shape + event_shape, log_prob() of such
        values sample_shape + batch_shape.

    >>> torch.distributions.Distribution((2,), (3,), validate_args=False).batch_shape
    torch.Size([2])
    """

    has_rsample = False
    has_enumerate_support = False
    _validate_args = True

    @staticmethod
    def set_default_validate_args(value):
        """Sets whether parameters and values are checked by default: `value`, a bool."""
        if value not in (True, False):
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape=(), event_shape=(), validate_args=None):
        # torch takes whatever it is given, and programs give tensors
        self._batch_shape, self._event_shape = (
            shape if isinstance(shape, _C.Tensor) else _C.Size(shape)
            for shape in (batch_shape, event_shape)
        )
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            for name, constraint in self._constraints().items():
                if name in self.__dict__ and not constraints.is_dependent(constraint):
                    self._check_parameter(name, constraint)
        super().__init__()  # of another base class

    def _constraints(self):
        try:
            return self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`: its parameters are not checked. "
                "`arg_constraints = {}` or validate_args=False says that this is meant",
                stacklevel=3,
            )
            return {}

    def _check_parameter(self, name, constraint):
        value = getattr(self, name)
        good = constraint.check(value)
        if not constraints.all_true(good):
            raise ValueError(
                f"Expected parameter {name} ({type(value).__name__} of shape "
                f"{tuple(value.shape)}) of distribution {self!r} to satisfy the constraint "
                f"{constraint!r}, but found invalid values:\n{value}"
            )

    def _check_value(self, value):
        if self._validate_args:
            self._validate_sample(value)

    def _validate_sample(self, value):
        """Raises ValueError where `value` cannot be a draw; subclasses call it in log_prob()."""
        if not isinstance(value, _C.Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        events = len(self._event_shape)
        if value.dim() < events or tuple(value.shape[value.dim() - events :]) != self._event_shape:
            raise ValueError(
                "The right-most size of value must match event_shape: "
                f"{value.shape} vs {self._event_shape}."
            )
        wanted = self._batch_shape + self._event_shape
        for a, b in zip(reversed(value.shape), reversed(wanted), strict=False):
            if a != 1 and b != 1 and a != b:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape: "
                    f"{value.shape} vs {wanted}."
                )
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support`: samples are not checked. "
                "validate_args=False says that this is meant",
                stacklevel=2,
            )
            return
        if support is None:
            raise AssertionError("support is unexpectedly None")
        if not constraints.all_true(support.check(value)):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) "
                f"to be within the support ({support!r}) of the distribution {self!r}, but found "
                f"invalid values:\n{value}"
            )

    @property
    def batch_shape(self):
        """The shape over which parameters differ."""
        return self._batch_shape

    @property
    def event_shape(self):
        """The shape of one draw."""
        return self._event_shape

    @property
    def arg_constraints(self) -> dict[str, "constraints.Constraint"]:
        """name of a parameter -> what its values have to satisfy."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """What draws satisfy, a Constraint."""
        raise NotImplementedError

    @property
    def mean(self):
        """The mean."""
        raise NotImplementedError

    @property
    def variance(self):
        """The variance."""
        raise NotImplementedError

    @property
    def mode(self):
        """The most probable value."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def stddev(self):
        """The standard deviation."""
        return self.variance.sqrt()

    def expand(self, batch_shape, _instance=None):
        """The same distribution with its parameters broadcast to `batch_shape`."""
        made, parameters = self._another(_instance), self._own_class().arg_constraints
        if isinstance(parameters, property):
            parameters = parameters.fget(self)
        for name in self.__dict__:
            if name in made.__dict__:
                continue  # a subclass has set it
            value = getattr(self, name)
            if name in parameters:
                trailing = value.shape[len(self._batch_shape) :]
                value = value.expand(tuple(batch_shape) + tuple(trailing))
            made.__dict__[name] = value
        made._batch_shape = _C.Size(batch_shape)
        return made

    def _own_class(self):
        """The class of this library that a program's class is derived from."""
        here = Distribution.__module__.rpartition(".")[0]  # rushlight's, or torch's by the alias
        return next(cls for cls in type(self).__mro__ if cls.__module__.startswith(f"{here}."))

    def _another(self, _instance):
        """What expand() fills, for a class without a method of its own."""
        own = self._own_class()
        if own.__init__ is Distribution.__init__:
            raise NotImplementedError
        return self._get_checked_instance(own, _instance)

    def _remade(self, cls, _instance, *parameters):
        """What expand() fills, made of other parameters."""
        made = self._get_checked_instance(cls, _instance)
        cls.__init__(made, *parameters, validate_args=False)
        made._validate_args = self._validate_args
        return made

    def _get_checked_instance(self, cls, _instance=None):
        """What expand() of `cls` fills: a new object, unless a subclass gives its own."""
        if _instance is not None:
            return _instance
        if type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__ "
                "method must also define a custom .expand() method."
            )
        return type(self).__new__(type(self))

    def _extended_shape(self, sample_shape=()):
        return _C.Size(tuple(sample_shape) + tuple(self._batch_shape) + tuple(self._event_shape))

    def sample(self, sample_shape=()):
        """Draws of shape `sample_shape` + batch_shape + event_shape, without gradient."""
        with no_grad():
            return self.rsample(sample_shape)

    def sample_n(self, n):
        """sample((n,)), with a warning."""
        warnings.warn(
            "`sample_n(n)` will be deprecated. Use `sample((n,))` instead.",
            FutureWarning,
            stacklevel=2,
        )
        return self.sample((n,))

    def rsample(self, sample_shape=()):
        """Draws of shape `sample_shape` + batch_shape + event_shape, through which gradients flow
        to the parameters.
        """
        raise NotImplementedError

    def log_prob(self, value):
        """The logarithm of the density or probability at `value`."""
        raise NotImplementedError

    def cdf(self, value):
        """The probability that a draw is at most `value`."""
        raise NotImplementedError

    def icdf(self, value):
        """The inverse of cdf(): the quantile at probability `value`."""
        raise NotImplementedError

    def entropy(self):
        """The entropy, in nats."""
        raise NotImplementedError

    def enumerate_support(self, expand=True):
        """All values, for discrete families of finite support; with `expand` over the batch."""
        raise NotImplementedError

    def perplexity(self):
        """exp(entropy)."""
        return self.entropy().exp()

    def __repr__(self):
        given = [name for name in self.arg_constraints if name in self.__dict__]
        parts = []
        for name in given:
            value = getattr(self, name)
            parts.append(f"{name}: {value if value.numel() == 1 else value.size()}")
        return f"{type(self).__name__}({', '.join(parts)})"


def probabilities(logits, binary=False):
    """Probabilities from their logits."""
    return logits.sigmoid() if binary else logits.softmax(-1)


def logits_of(probs, binary=False):
    """Logits from probabilities, which are kept off 0 and 1."""
    from rushlight import finfo

    eps = finfo(probs.dtype).eps
    clamped = probs.clamp(eps, 1 - eps)
    return clamped.log() - (-clamped).log1p() if binary else clamped.log()


LOG_SQRT_2PI = math.log(math.sqrt(2 * math.pi))
