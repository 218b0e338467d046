"""Arguments as tuples, a value for each dimension, and names of a state dict without a prefix."""

from collections.abc import Iterable

__all__ = ["consume_prefix_in_state_dict_if_present", "factory_kwargs"]


def per_dimension(value, rank):
    """A tuple of `rank` values, from one value or from that many."""
    return tuple(value) if isinstance(value, Iterable) else (value,) * rank


def _ntuple(n, name="parse"):
    def parse(x):
        return per_dimension(x, n)

    parse.__name__ = name
    return parse


_single, _pair = _ntuple(1, "_single"), _ntuple(2, "_pair")
_triple, _quadruple = _ntuple(3, "_triple"), _ntuple(4, "_quadruple")


def consume_prefix_in_state_dict_if_present(state_dict, prefix):
    """Takes a prefix such as "module." off the names, in place.

    Args:
        state_dict: what Module.state_dict() gave.
        prefix: what names may begin with.

    >>> state = {"module.bias": torch.zeros(1)}
    >>> remove = torch.nn.modules.utils.consume_prefix_in_state_dict_if_present
    >>> remove(state, "module.")
    >>> list(state)
    ['bias']
    """
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key.removeprefix(prefix)] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    for key in list(metadata or ()):
        if key and (key == prefix.rstrip(".") or key.startswith(prefix)):
            metadata[key.removeprefix(prefix) if key.startswith(prefix) else ""] = metadata.pop(key)


def factory_kwargs(kwargs):
    """The keywords of a layer that torch.empty() and its relatives take, checked.

    Args:
        kwargs: a dictionary with device, dtype and memory_format, or with factory_kwargs, a
            dictionary of them, where the layer has such a name of its own; or None.

    Raises:
        TypeError: for another keyword, or one that is given twice.

    >>> torch.nn.factory_kwargs({"dtype": torch.float64})
    {'dtype': torch.float64}
    """
    if kwargs is None:
        return {}
    names = {"device", "dtype", "memory_format"}
    if unknown := kwargs.keys() - names - {"factory_kwargs"}:
        raise TypeError(f"unexpected kwargs {unknown}\nfactory_kwargs(): takes {sorted(names)}")
    chosen = dict(kwargs.get("factory_kwargs", {}))
    for name in sorted(names & kwargs.keys()):
        if name in chosen:
            raise TypeError(f"{name} specified twice, in **kwargs and in factory_kwargs")
        chosen[name] = kwargs[name]
    return chosen
