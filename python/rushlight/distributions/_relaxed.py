"""What the relaxed laws share: their parameters are those of the law that is mapped."""

from rushlight.distributions.transformed_distribution import TransformedDistribution


class RelaxedDistribution(TransformedDistribution):
    """A map of draws that tend to 0 and 1, with their temperature and probabilities."""

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
