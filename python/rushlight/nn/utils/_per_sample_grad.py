"""The gradient of each sample of a batch, by one backward pass."""

import functools

from rushlight._C import Tensor
from rushlight.nn.modules.module import Module
from rushlight.nn.utils._expanded_weights import ExpandedWeight
from rushlight.nn.utils.stateless import functional_call
from rushlight.utils import _pytree

__all__ = ["call_for_per_sample_grads"]


def call_for_per_sample_grads(module, *, batch_size=None, loss_reduction="sum", batch_first=True):
    """A function that calls a module so that ``backward()`` leaves the gradient of every sample in
    the attribute ``grad_sample`` of its parameters, and none in ``grad``.

    Args:
        module: of linear layers, convolutions, embeddings, recurrent layers and norms, but for
            batch normalisation.
        batch_size: the number of samples; if None, what the tensors of the call say.
        loss_reduction: "sum" or "mean", as the loss over the batch is made of its samples'.
        batch_first: the samples lie along the first dimension of the tensors of the call, not the
            second.

    Shape: a parameter's grad_sample has a dimension of batch_size before the parameter's own.

    Raises:
        RuntimeError: arguments of other kinds; a parameter that has a grad_sample already.

    >>> from torch.nn.utils._per_sample_grad import call_for_per_sample_grads
    >>> layer = torch.nn.Linear(2, 1)
    >>> call_for_per_sample_grads(layer)(torch.tensor([[1.0, 2], [3, 4]])).sum().backward()
    >>> layer.weight.grad_sample
    tensor([[[1., 2.]],
    <BLANKLINE>
            [[3., 4.]]])
    """
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(
            f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}"
        )
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not (batch_size is None or isinstance(batch_size, int)):
        raise RuntimeError(
            f"Batch size passed must be None or an integer, got {type(batch_size).__name__}"
        )
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    for name, parameter in module.named_parameters():
        if getattr(parameter, "grad_sample", None) is not None:
            raise RuntimeError(
                "Current Expanded Weights accumulates the gradients, which will be incorrect for "
                "multiple calls without clearing gradients. Please clear out the grad_sample "
                f"parameter of {name}: `{name}.grad_sample = None`"
            )

    @functools.wraps(module.forward)
    def call(*args, **kwargs):
        size = batch_size
        if size is None:
            size = _batch_of(
                [*_pytree.tree_leaves(args), *_pytree.tree_leaves(kwargs)], batch_first
            )
        expanded = {
            name: ExpandedWeight(value, size, loss_reduction) if value.requires_grad else value
            for name, value in module.named_parameters()
        }
        return functional_call(module, expanded, args, kwargs)

    return call


def _batch_of(leaves, batch_first):
    sizes = [leaf.shape[not batch_first] for leaf in leaves if isinstance(leaf, Tensor)]
    if not sizes:
        raise RuntimeError("Unable to find a tensor in the passed args and kwargs\npass batch_size")
    if len(set(sizes)) > 1:
        raise RuntimeError(
            "When computing batch size, found at least one input with batch size "
            f"{sizes[0]} and one with batch size {next(s for s in sizes if s != sizes[0])}\n"
            "pass batch_size"
        )
    return sizes[0]
