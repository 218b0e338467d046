"""BlockMask: which blocks of queries and keys attend to each other, as lists for each row."""

import itertools
import math

import rushlight as torch

from ._mask_functions import noop_mask, sliced_mask

DEFAULT_SIZE = 128
WHOLE = 1 << 30  # the size of the one block of a mask that masks nothing

# Pairs of what counts the blocks of a row and what lists them.
_PAIRS = (
    ("kv_num_blocks", "kv_indices"),
    ("full_kv_num_blocks", "full_kv_indices"),
    ("q_num_blocks", "q_indices"),
    ("full_q_num_blocks", "full_q_indices"),
)
_NAMES = tuple(name for pair in _PAIRS for name in pair)
_ORDERS = ("dq_write_order", "dq_write_order_full", "dq_kv_order")


def dense_of(counts, indices, columns):
    """Ones where the lists of blocks have a block, int32 [..., rows, columns]."""
    listed = torch.arange(indices.shape[-1], device=indices.device) < counts[..., None]
    places = torch.where(listed, indices, columns).long()  # what is no block goes beside the last
    dense = indices.new_zeros(*indices.shape[:-1], columns + 1, dtype=torch.int32)
    return dense.scatter(-1, places, 1)[..., :columns].contiguous()


def lists_of(dense):
    """(counts, indices) of the blocks of each row of a mask of blocks; the listed come first."""
    dense = dense.to(torch.int32)
    indices = dense.argsort(dim=-1, descending=True, stable=True)
    return dense.sum(-1).to(torch.int32), indices.to(torch.int32).contiguous()


def _transposed(counts, indices):
    return lists_of(dense_of(counts, indices, indices.shape[-1]).transpose(-2, -1))


def _cut(counts, indices, rows, columns):
    return lists_of(dense_of(counts, indices, indices.shape[-1])[..., :rows, :columns])


class BlockMask:
    """A mask of attention in blocks: for each row of blocks of queries, how many blocks of keys it
    sees and which. `full` ones are seen whole; in the others `mask_mod` decides for each element.

    Made by create_block_mask() or from_kv_blocks().

    Args:
        seq_lengths: (queries, keys).
        kv_num_blocks: int32 [batches, heads, rows], the number of partly seen blocks.
        kv_indices: int32 [batches, heads, rows, columns], which these are; those that are counted
            come first.
        full_kv_num_blocks: as kv_num_blocks, of the blocks that are seen whole; or None.
        full_kv_indices: as kv_indices; or None.
        q_num_blocks: the same lists for each block of keys, or None; so are the next three.
        q_indices: of q_num_blocks.
        full_q_num_blocks: of the blocks that are seen whole.
        full_q_indices: of full_q_num_blocks.
        BLOCK_SIZE: (queries, keys) of a block.
        mask_mod: a function of a batch, a head, a query's index and a key's.
        dq_write_order: is kept, for torch's kernels of GPUs; so are the next three.
        dq_write_order_full: as dq_write_order.
        dq_kv_order: as dq_write_order.
        dq_kv_order_spt: as dq_write_order.

    Raises:
        RuntimeError: if kv_indices has fewer than two dimensions.
        AssertionError: if one of a pair of lists is missing.

    >>> from rushlight.nn.attention.flex_attention import create_block_mask
    >>> mask = create_block_mask(lambda b, h, q, k: q >= k, 1, 1, 8, 8, "cpu", BLOCK_SIZE=2)
    >>> mask
    BlockMask(
        kv_num_blocks=torch.Size([1, 1, 4]),
        kv_indices=torch.Size([1, 1, 4, 4]),
        full_kv_num_blocks=torch.Size([1, 1, 4]),
        full_kv_indices=torch.Size([1, 1, 4, 4]),
        q_num_blocks=torch.Size([1, 1, 4]),
        q_indices=torch.Size([1, 1, 4, 4]),
        full_q_num_blocks=torch.Size([1, 1, 4]),
        full_q_indices=torch.Size([1, 1, 4, 4]),
        BLOCK_SIZE=(2, 2),
        shape=(1, 1, 8, 8),
        sparsity=37.50%,
        mask_mod=<lambda>
    )
    """

    def __init__(
        self,
        seq_lengths,
        kv_num_blocks,
        kv_indices,
        full_kv_num_blocks,
        full_kv_indices,
        q_num_blocks,
        q_indices,
        full_q_num_blocks,
        full_q_indices,
        BLOCK_SIZE=(DEFAULT_SIZE, DEFAULT_SIZE),
        mask_mod=noop_mask,
        *,
        dq_write_order=None,
        dq_write_order_full=None,
        dq_kv_order=None,
        dq_kv_order_spt=None,
    ):
        _check(kv_indices, full_kv_num_blocks, full_kv_indices, "full_kv")
        _check(kv_indices, full_q_num_blocks, full_q_indices, "full_q")
        if dq_write_order_full is not None and dq_write_order is None:
            raise ValueError("dq_write_order_full requires dq_write_order")
        self.seq_lengths = seq_lengths
        self.kv_num_blocks = kv_num_blocks
        self.kv_indices = kv_indices
        self.full_kv_num_blocks = full_kv_num_blocks
        self.full_kv_indices = full_kv_indices
        self.q_num_blocks = q_num_blocks
        self.q_indices = q_indices
        self.full_q_num_blocks = full_q_num_blocks
        self.full_q_indices = full_q_indices
        self.dq_write_order = dq_write_order
        self.dq_write_order_full = dq_write_order_full
        self.dq_kv_order = dq_kv_order
        self.dq_kv_order_spt = dq_kv_order_spt
        self.BLOCK_SIZE = BLOCK_SIZE
        self.mask_mod = mask_mod

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks,
        kv_indices,
        full_kv_num_blocks=None,
        full_kv_indices=None,
        BLOCK_SIZE=DEFAULT_SIZE,
        mask_mod=None,
        seq_lengths=None,
        compute_q_blocks=True,
        *,
        dq_write_order=None,
        dq_write_order_full=None,
        dq_kv_order=None,
    ):
        """A BlockMask of the lists for each row; those for each column are computed.

        Args:
            kv_num_blocks: int32 [batches, heads, rows].
            kv_indices: int32 [batches, heads, rows, columns].
            full_kv_num_blocks: of the blocks that are seen whole.
            full_kv_indices: of the blocks that are seen whole.
            BLOCK_SIZE: an int, or (queries, keys).
            mask_mod: what decides inside the other blocks; by default all is seen.
            seq_lengths: (queries, keys), by default those of whole blocks.
            compute_q_blocks: whether the lists for each column are computed.
            dq_write_order: is kept; so are the next two.
            dq_write_order_full: as dq_write_order.
            dq_kv_order: a bool or a tensor.

        Raises:
            RuntimeError: as the class does.
        """
        _check(kv_indices, full_kv_num_blocks, full_kv_indices, "full_kv")
        if dq_kv_order is not None and not isinstance(dq_kv_order, (bool, torch.Tensor)):
            raise ValueError("dq_kv_order must be a bool, Tensor, or None")
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        if seq_lengths is None:
            seq_lengths = (kv_indices.shape[-2] * size[0], kv_indices.shape[-1] * size[1])
        columns = full_columns = (None, None)
        if compute_q_blocks:
            columns = _transposed(kv_num_blocks, kv_indices)
            if full_kv_indices is not None:
                full_columns = _transposed(full_kv_num_blocks, full_kv_indices)
        return cls(
            seq_lengths,
            kv_num_blocks,
            kv_indices,
            full_kv_num_blocks,
            full_kv_indices,
            *columns,
            *full_columns,
            BLOCK_SIZE=size,
            mask_mod=noop_mask if mask_mod is None else mask_mod,
            dq_write_order=dq_write_order,
            dq_write_order_full=dq_write_order_full,
            dq_kv_order=dq_kv_order if isinstance(dq_kv_order, torch.Tensor) else None,
            dq_kv_order_spt=dq_kv_order if isinstance(dq_kv_order, bool) else None,
        )

    def _with_rows(self, changed, mask_mod, seq_lengths):
        """A mask of other lists for each row, which `changed` gives for a pair of these."""
        rows = [
            changed(getattr(self, counts), getattr(self, indices))
            if getattr(self, counts) is not None
            else (None, None)
            for counts, indices in _PAIRS[:2]
        ]
        return self.from_kv_blocks(
            *rows[0],
            *rows[1],
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=mask_mod,
            seq_lengths=seq_lengths,
            compute_q_blocks=self.q_indices is not None,
        )

    def as_tuple(self, flatten=True):
        """All of it: lengths, lists, the size of a block and the function.

        Args:
            flatten: whether the lengths and the sizes stand one by one instead of in pairs.
        """
        kept = [getattr(self, name) for name in (*_NAMES, *_ORDERS)]
        ends = [self.seq_lengths, self.BLOCK_SIZE]
        first, last = ends if flatten else [(end,) for end in ends]
        return (*first, *kept, self.dq_kv_order_spt, *last, self.mask_mod)

    @property
    def shape(self):
        """(batches, heads, queries, keys)."""
        return (*self.kv_indices.shape[:-2], *self.seq_lengths)

    def __getitem__(self, index):
        index = index if isinstance(index, tuple) else (index,)
        sizes = self.kv_num_blocks.shape[:3]
        places = []
        for each, size in zip((*index, *[slice(None)] * 3)[:3], sizes, strict=True):
            if isinstance(each, int):
                start = each + size if -size <= each < 0 else each
                each = slice(start, start + 1)
            places.append(each)
        where = tuple(places)
        return self._with_rows(
            lambda *pair: [x[where] for x in pair], sliced_mask, self.seq_lengths
        )

    def _adjust(self, new_q_len, new_kv_len):
        """The mask of other lengths: its first blocks."""
        rows = -(-new_q_len // self.BLOCK_SIZE[0])
        columns = -(-new_kv_len // self.BLOCK_SIZE[1])
        return self._with_rows(
            lambda *pair: _cut(*pair, rows, columns), self.mask_mod, (new_q_len, new_kv_len)
        )

    def numel(self):
        """The number of elements of the mask, seen or not."""
        return math.prod(self.shape)

    def sparsity(self):
        """The percentage of elements in blocks that are not seen."""
        blocks = self.kv_num_blocks.sum().item()
        if self.full_kv_num_blocks is not None:
            blocks += self.full_kv_num_blocks.sum().item()
        return 100 * (1 - blocks * math.prod(self.BLOCK_SIZE) / self.numel())

    def to_dense(self):
        """int32 [batches, heads, rows, columns] of blocks: 1 where a block is seen at least partly.

        Returns: a tensor of the blocks, not of the elements.
        """
        dense = dense_of(self.kv_num_blocks, self.kv_indices, self.kv_indices.shape[-1])
        if self.full_kv_indices is None:
            return dense
        columns = self.full_kv_indices.shape[-1]
        return dense | dense_of(self.full_kv_num_blocks, self.full_kv_indices, columns)

    def to_string(self, grid_size=(20, 20), limit=4):
        """A drawing of the blocks of each batch and head: full, shaded where a character stands for
        several of which some are not seen, or empty.

        Args:
            grid_size: the most (rows, columns) of a drawing; -1 draws each block.
            limit: the most drawings.
        """
        dense = self.to_dense()
        *batches, rows, columns = dense.shape
        most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        height, width = (max(1, -(-n // m)) for n, m in zip((rows, columns), most, strict=True))
        drawings = []
        for number, place in enumerate(itertools.product(*map(range, batches))):
            if number == limit:
                drawings += [
                    "...",
                    "To print out more, set BlockMask.to_string(limit=N)",
                    "You can also index (BlockMask[batch, head]) to choose a specific batch or "
                    "head",
                ]
                break
            lines = [f"{place}"]
            for row in range(0, rows, height):
                parts = dense[place][row : row + height].split(width, dim=-1)
                shares = [part.float().mean().item() for part in parts]
                lines.append("".join(("█" if s == 1 else "░" if s else " ") * 2 for s in shares))
            drawings.append("\n".join(lines) + "\n")
        return "\n".join(drawings)

    def to(self, device):
        """The mask with its lists on a device.

        Args:
            device: where they go.
        """
        moved = {name: getattr(self, name) for name in (*_NAMES, *_ORDERS)}
        return BlockMask(
            self.seq_lengths,
            **{name: x if x is None else x.to(device) for name, x in moved.items()},
            BLOCK_SIZE=self.BLOCK_SIZE,
            mask_mod=self.mask_mod,
            dq_kv_order_spt=self.dq_kv_order_spt,
        )

    def __str__(self):
        drawing = self.to_string().strip()
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{drawing}\n)"

    def __repr__(self):
        def size(name):
            value = getattr(self, name)
            return None if value is None else value.shape

        parts = [f"{name}={size(name)}" for name in _NAMES]
        parts += [f"BLOCK_SIZE={self.BLOCK_SIZE}", f"shape={self.shape}"]
        parts += [f"sparsity={self.sparsity():.2f}%"]
        parts += [f"mask_mod={getattr(self.mask_mod, '__name__', self.mask_mod)}"]
        return "BlockMask(\n    " + ",\n    ".join(parts) + "\n)"


def _check(kv_indices, counts, indices, name):
    if kv_indices.dim() < 2:
        raise RuntimeError("BlockMask must have at least 2 dimensions")
    if (counts is None) != (indices is None):
        raise AssertionError(
            f"{name}_num_blocks and {name}_indices must be both provided or omitted"
        )
