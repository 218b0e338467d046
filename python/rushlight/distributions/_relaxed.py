"""What the relaxed distributions share: their parameters are those of the base distribution."""

from rushlight.distributions.transformed_distribution import TransformedDistribution


class RelaxedDistribution(TransformedDistribution):
    """A transformed distribution with the temperature and the probabilities of its base."""

    @property
    def temperature(self):
        """The temperature."""
        return self.base_dist.temperature

    @property
    def logits(self):
        """The logarithm of odds, or of the probability of each class."""
        return self.base_dist.logits

    @property
    def probs(self):
        """The probability of 1, or of each class."""
        return self.base_dist.probs
