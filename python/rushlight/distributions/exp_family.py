"""ExponentialFamily: the entropy of a family from its log-normaliser."""

from rushlight._grad_mode import enable_grad
from rushlight.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base class of families with density exp(<natural parameters, t(x)> - F + k(x)).

    A subclass defines `_natural_params`, a tuple of tensors, `_log_normalizer(*natural_params)`,
    which is F, and `_mean_carrier_measure`, the mean of k.

    Args: as of Distribution.

    Shape: as of Distribution.

    >>> class Coin(torch.distributions.ExponentialFamily):
    ...     _mean_carrier_measure, _natural_params = 0, (torch.zeros(1),)
    ...
    ...     def _log_normalizer(self, x):
    ...         return torch.log1p(torch.exp(x))
    >>> Coin((1,), validate_args=False).entropy().detach()
    tensor([0.6931])
    """

    @property
    def _natural_params(self):
        raise NotImplementedError

    def _log_normalizer(self, *natural_params):
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self):
        raise NotImplementedError

    def entropy(self):
        """F - <natural parameters, gradient of F> - the mean of k."""
        from rushlight.autograd import grad

        parameters = [p.detach().requires_grad_() for p in self._natural_params]
        with enable_grad():
            log_normalizer = self._log_normalizer(*parameters)
            gradients = grad(log_normalizer.sum(), parameters, create_graph=True)
        result = log_normalizer - self._mean_carrier_measure
        for parameter, gradient in zip(parameters, gradients, strict=True):
            product = (parameter * gradient).reshape((*self._batch_shape, -1))
            result = result - product.sum(-1).reshape(result.shape)
        return result
