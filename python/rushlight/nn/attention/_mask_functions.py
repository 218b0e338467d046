"""flex_attention's functions of single elements: putting masks together, and calling one for all
elements at once."""

import functools
import inspect
import operator

from rushlight.func import vmap


def _together(operation, start, mask_mods):
    if not all(callable(mask) for mask in mask_mods):
        raise RuntimeError(f"All inputs should be callable mask_mods: {mask_mods}")

    def mask(b, h, q_idx, kv_idx):
        found = (each(b, h, q_idx, kv_idx) for each in mask_mods)
        return functools.reduce(operation, found, b.new_full((), start).bool())

    return mask


def and_masks(*mask_mods):
    """A mask that holds where all of these hold.

    Args:
        mask_mods: functions of a batch, a head, a query's index and a key's, with a bool tensor.
    """
    return _together(operator.and_, 1, mask_mods)


def or_masks(*mask_mods):
    """A mask that holds where any of these holds.

    Args:
        mask_mods: functions of a batch, a head, a query's index and a key's, with a bool tensor.
    """
    return _together(operator.or_, 0, mask_mods)


def noop_mask(batch, head, token_q, token_kv):
    """A mask that holds everywhere.

    Args:
        batch: a tensor of indices; so are the others.
        head: of the head.
        token_q: of the query.
        token_kv: of the key.
    """
    return batch.new_full((), 1).bool()


def is_of_scores(mod):
    """Whether a function takes a score first; else it is one of four indices, a mask.

    Args:
        mod: counted are its positional parameters without a default.

    Raises:
        AssertionError: if it takes another number of arguments.
    """
    code = getattr(mod, "__code__", None)
    if code is not None:
        count = code.co_argcount - len(mod.__defaults__ or ())
    else:
        parameters = inspect.signature(mod).parameters.values()
        count = sum(each.default is inspect.Parameter.empty for each in parameters)
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    return count == 5


def of_all_elements(mod, prefix=()):
    """A function of single indices as one of the indices of all batches, heads, queries, keys.

    Args:
        mod: the function.
        prefix: (0,) if it takes a score first, of [batches, heads, queries, keys].
    """
    for place in (3, 2, 1, 0):
        dims = tuple(0 if i == place else None for i in range(4))
        mod = vmap(mod, in_dims=prefix + dims)
    return mod


def sliced_mask(batch, head, token_q, token_kv):
    """The mask function of a part of a BlockMask: an error, as indices are the part's own.

    Args:
        batch: is not read; nor are the others.
        head: of the head.
        token_q: of the query.
        token_kv: of the key.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError(
        "Cannot use mask_mod from a sliced BlockMask. Its indices are those of the part.\n"
        "part.mask_mod = f, where f adds the part's offsets and calls the whole one's mask_mod"
    )
