"""Arguments as tuples, a value for each dimension, and names of a state dict without a prefix."""

from collections.abc import Iterable

__all__ = ["consume_prefix_in_state_dict_if_present", "factory_kwargs"]


_MOST_LAYERS = 1 << 20


def check_layer_count(count):
    """Refuses a stack that would take its memory, and hours, before the machine has no more."""
    if isinstance(count, int) and count > _MOST_LAYERS:
        raise RuntimeError(
            f"can't allocate memory: a stack of num_layers={count} layers\n"
            f"{_MOST_LAYERS} are the most"
        )


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


def _reverse_repeat_tuple(t, n):
    """Each element n times, the last one first: what nn.functional.pad takes."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size, defaults):
    """Output sizes of which some are None: those stay as the input's, `defaults`, are."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    pairs = zip(out_size, defaults[-len(out_size) :], strict=False)
    return [default if value is None else value for value, default in pairs]


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
