"""torch.nn.attention.flex_attention's functions of masks, which only put functions together."""

import functools
import operator


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
