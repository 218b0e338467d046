"""Parameters of distributions: of one shape, and as probabilities or logits."""

from rushlight.distributions.distribution import broadcast_all
from rushlight.distributions.distribution import logits_of as _logits_of
from rushlight.distributions.distribution import probabilities as _probabilities

__all__ = ["broadcast_all", "logits_to_probs", "probs_to_logits"]


def logits_to_probs(logits, is_binary=False):
    """Probabilities from logits: softmax over the last dimension, or sigmoid.

    Args:
        logits: unnormalised log-probabilities, or log-odds.
        is_binary: whether they are log-odds.

    >>> torch.distributions.utils.logits_to_probs(torch.zeros(2))
    tensor([0.5000, 0.5000])
    """
    return _probabilities(logits, is_binary)


def probs_to_logits(probs, is_binary=False):
    """Logits from probabilities, which are kept off 0 and 1.

    Args:
        probs: probabilities.
        is_binary: whether they are of one class of two.

    >>> torch.distributions.utils.probs_to_logits(torch.tensor([0.5]), is_binary=True)
    tensor([0.])
    """
    return _logits_of(probs, is_binary)
