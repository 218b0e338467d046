"""All parameters as one vector, and back."""

from rushlight import _C

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def parameters_to_vector(parameters):
    """The elements of all parameters, as one vector.

    Args:
        parameters: an iterable of tensors on one device.

    Shape: tensors of n_i elements give (sum of n_i).

    >>> torch.nn.utils.parameters_to_vector([torch.ones(1, 2), torch.zeros(1)])
    tensor([1., 1., 0.])
    """
    parts = list(parameters)
    if len({p.device for p in parts}) > 1:
        raise TypeError(
            "Found two parameters on different devices, this is currently not supported."
        )
    return _C.cat([p.reshape(-1) for p in parts])


def vector_to_parameters(vec, parameters):
    """Sets the data of each parameter to its part of a vector (a view, not a copy).

    Args:
        vec: the elements of all parameters.
        parameters: an iterable of tensors.

    Shape: vec (sum of n_i), where n_i is the number of elements of a parameter.

    >>> w = torch.nn.Parameter(torch.zeros(2, 1))
    >>> torch.nn.utils.vector_to_parameters(torch.tensor([1.0, 2.0]), [w])
    >>> w.tolist()
    [[1.0], [2.0]]
    """
    if not isinstance(vec, _C.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    parts = list(parameters)
    needed = sum(p.numel() for p in parts)
    if needed > vec.numel():
        raise RuntimeError(f"the parameters have {needed} elements, the vector {vec.numel()}")
    start = 0
    for p in parts:
        p.data = vec[start : start + p.numel()].view_as(p).data
        start += p.numel()
