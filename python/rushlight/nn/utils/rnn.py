"""Sequences of several lengths in one tensor: padded, or packed without the padding.

A packed sequence holds the rows of step 0 of all sequences, then those of step 1 of the ones that
are long enough, and so on; the sequences are sorted by length, the longest first.
"""

from collections.abc import Iterable
from typing import NamedTuple

from rushlight import _C, _table

__all__ = [
    "PackedSequence", "invert_permutation", "pack_padded_sequence", "pack_sequence",
    "pad_packed_sequence", "pad_sequence", "unpack_sequence", "unpad_sequence",
]  # fmt: skip


class _Packed(NamedTuple):
    data: _C.Tensor
    batch_sizes: _C.Tensor
    sorted_indices: _C.Tensor | None
    unsorted_indices: _C.Tensor | None


class PackedSequence(_Packed):
    """Sequences of several lengths without padding; every recurrent layer takes one.

    Args:
        data: the rows, step by step.
        batch_sizes: how many sequences have a row at each step, int64 on the CPU.
        sorted_indices: the index in the given batch of each sorted sequence, or None.
        unsorted_indices: the inverse permutation, or None.

    Attributes:
        data: the rows, step by step.
        batch_sizes: how many sequences have a row at each step, int64 on the CPU.
        sorted_indices: where in the given batch each of the sorted sequences was, or None.
        unsorted_indices: the inverse of `sorted_indices`, or None.

    Shape: data (sum of lengths, *), batch_sizes (longest length), the indices (n).

    >>> torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]).data
    tensor([1, 4, 2, 3])
    """

    def __new__(cls, data, batch_sizes=None, sorted_indices=None, unsorted_indices=None):
        if batch_sizes is None:
            if not isinstance(data, list | tuple) or len(data) != 2:
                raise AssertionError("Expected data to be a list or tuple of length 2")
            data, batch_sizes = data
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        if batch_sizes.device.type != "cpu":
            raise ValueError(
                "batch_sizes should always be on CPU. Instances of PackedSequence should never be "
                "created manually. They should be instantiated by functions like pack_sequence "
                f"and pack_padded_sequence in nn.utils.rnn; got one on {batch_sizes.device}"
            )
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args, **kwargs):
        """Moves or casts the data as Tensor.to; the indices go to its device."""
        data = self.data.to(*args, **kwargs)
        if data is self.data:
            return self
        moved = [
            None if i is None else i.to(data.device)
            for i in (self.sorted_indices, self.unsorted_indices)
        ]
        return type(self)(data, self.batch_sizes, *moved)

    def cuda(self, *args, **kwargs):
        """Moves it to a GPU."""
        return self.to(*args, device="cuda", **kwargs) if not args else self.to(*args, **kwargs)

    def cpu(self, *args, **kwargs):
        """Moves it to the CPU."""
        return self.to(*args, device="cpu", **kwargs)

    def double(self):
        """Casts the data to float64."""
        return self.to(dtype=_C.float64)

    def float(self):
        """Casts the data to float32."""
        return self.to(dtype=_C.float32)

    def half(self):
        """Casts the data to float16."""
        return self.to(dtype=_C.float16)

    def long(self):
        """Casts the data to int64."""
        return self.to(dtype=_C.int64)

    def int(self):
        """Casts the data to int32."""
        return self.to(dtype=_C.int32)

    def short(self):
        """Casts the data to int16."""
        return self.to(dtype=_C.int16)

    def char(self):
        """Casts the data to int8."""
        return self.to(dtype=_C.int8)

    def byte(self):
        """Casts the data to uint8."""
        return self.to(dtype=_C.uint8)

    @property
    def is_cuda(self):
        """Whether the data is on a GPU."""
        return self.data.is_cuda

    def is_pinned(self):
        """Whether the data is in pinned memory."""
        return self.data.is_pinned()

    def pin_memory(self):
        """A copy in pinned memory."""
        pinned = [None if t is None else t.pin_memory() for t in (self.data, *self[2:])]
        return type(self)(pinned[0], self.batch_sizes, *pinned[1:])


def invert_permutation(permutation):
    """The inverse of a permutation.

    Args:
        permutation: an int64 vector, or None, which stays None.

    Shape: (n) gives (n).

    >>> torch.nn.utils.rnn.invert_permutation(torch.tensor([2, 0, 1]))
    tensor([1, 2, 0])
    """
    if permutation is None:
        return None
    positions = _C.arange(permutation.numel(), device=permutation.device)
    return _C.empty_like(permutation).scatter_(0, permutation, positions)


def _check_lengths(input, lengths, batch):
    if lengths.dim() != 1 or lengths.device.type != "cpu" or lengths.dtype != _C.int64:
        raise RuntimeError(
            f"'lengths' argument should be a 1D CPU int64 tensor, but got {lengths.dim()}D "
            f"{lengths.device} {str(lengths.dtype).removeprefix('torch.')} tensor"
        )
    if lengths.numel() != batch:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {lengths.numel()} "
            f"(batch_size={batch})"
        )
    if lengths.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")


def pack_padded_sequence(input, lengths, batch_first=False, enforce_sorted=True):
    """Packs a padded batch: its padding is dropped.

    Args:
        input: the batch, (t, n, *).
        lengths: of each sequence, a list or an int64 tensor on the CPU.
        batch_first: the input is (n, t, *).
        enforce_sorted: the lengths must not increase; without, the batch is sorted first.

    Shape: input (t, n, *), or (n, t, *) with batch_first, gives data (sum of lengths, *).

    Raises: RuntimeError for lengths that are not sorted, not positive or longer than the input.

    >>> x = torch.tensor([[1, 2, 3], [4, 0, 0]])
    >>> torch.nn.utils.rnn.pack_padded_sequence(x, [3, 1], batch_first=True)
    PackedSequence(data=tensor([1, 4, 2, 3]), batch_sizes=tensor([2, 1, 1]), sorted_indices=None,
        unsorted_indices=None)
    """
    lengths = _C.as_tensor(lengths, dtype=_C.int64, device="cpu")
    sorted_indices = None
    if not enforce_sorted:
        lengths, sorted_indices = _C.sort(lengths, descending=True)
        sorted_indices = sorted_indices.to(input.device)
        input = input.index_select(0 if batch_first else 1, sorted_indices)
    if input.numel() == 0:
        raise RuntimeError("Cannot pack empty tensors.")
    steps_first = input.transpose(0, 1) if batch_first else input
    steps, batch = steps_first.shape[:2]
    _check_lengths(input, lengths, batch)
    if int(lengths[-1]) <= 0:
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' "
            "that is <= 0"
        )
    if bool((lengths[1:] > lengths[:-1]).any()):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. "
            "You can pass `enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to "
            "sidestep this requirement if you do not need ONNX exportability."
        )
    longest = int(lengths[0])
    if longest > steps:
        raise RuntimeError(
            f"start (0) + length ({longest}) exceeds dimension size ({steps}): the longest of "
            "'lengths' goes beyond the input's steps"
        )
    present = _C.arange(longest, device=lengths.device).unsqueeze(1) < lengths
    rows = present.flatten().nonzero().squeeze(1).to(input.device)
    flat = steps_first[:longest].reshape(longest * batch, *steps_first.shape[2:])
    return PackedSequence(flat.index_select(0, rows), present.sum(1), sorted_indices, None)


def _present(batch_sizes):
    """(steps, sequences), True where a sequence has a row; and the sequences' lengths."""
    present = _C.arange(int(batch_sizes[0]), device=batch_sizes.device) < batch_sizes.unsqueeze(1)
    return present, present.sum(0)


def pad_packed_sequence(sequence, batch_first=False, padding_value=0.0, total_length=None):
    """The padded batch of a packed sequence, and the lengths.

    Args:
        sequence: a PackedSequence.
        batch_first: the batch is (n, t, *) instead of (t, n, *).
        padding_value: of the elements beyond a sequence's end.
        total_length: t, if more than the longest sequence.

    Shape: (t, n, *), or (n, t, *) with batch_first, and the lengths (n).

    >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
    >>> torch.nn.utils.rnn.pad_packed_sequence(packed, batch_first=True)
    (tensor([[1, 2, 3],
            [4, 0, 0]]), tensor([3, 1]))
    """
    data, batch_sizes = sequence.data, sequence.batch_sizes
    steps = batch_sizes.size(0)
    if total_length is not None:
        if total_length < steps:
            raise ValueError(
                "Expected total_length to be at least the length of the longest sequence in "
                f"input, but got total_length={total_length} and max sequence length being {steps}"
            )
        steps = total_length
    present, lengths = _present(batch_sizes)
    batch = present.size(1)
    rows = present.flatten().nonzero().squeeze(1).to(data.device)
    shape = (steps * batch, *data.shape[1:])
    padded = _C.full(shape, padding_value, dtype=data.dtype, device=data.device)
    padded = padded.index_copy(0, rows, data).reshape(steps, batch, *data.shape[1:])
    if batch_first:
        padded = padded.transpose(0, 1)
    unsorted = sequence.unsorted_indices
    if unsorted is not None:
        padded = padded.index_select(0 if batch_first else 1, unsorted)
        lengths = lengths[unsorted.cpu()]
    return padded, lengths


def pack_sequence(sequences, enforce_sorted=True):
    """Packs sequences of several lengths.

    Args:
        sequences: a list of tensors (l, *).
        enforce_sorted: the lengths must not increase; without, the batch is sorted first.

    Shape: tensors (l_i, *) give data (sum of l_i, *).

    >>> torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])]).batch_sizes
    tensor([2, 1, 1])
    """
    lengths = [s.size(0) for s in sequences]
    return pack_padded_sequence(pad_sequence(sequences), lengths, enforce_sorted=enforce_sorted)


def unpack_sequence(packed_sequences):
    """The sequences of a PackedSequence, as a list: the inverse of pack_sequence().

    Args:
        packed_sequences: a PackedSequence.

    Shape: a list of n tensors (l_i, *).

    >>> packed = torch.nn.utils.rnn.pack_sequence([torch.tensor([1, 2, 3]), torch.tensor([4])])
    >>> torch.nn.utils.rnn.unpack_sequence(packed)
    [tensor([1, 2, 3]), tensor([4])]
    """
    padded, lengths = pad_packed_sequence(packed_sequences, batch_first=True)
    return unpad_sequence(padded, lengths, batch_first=True)


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stacks sequences of several lengths, the shorter ones padded.

    Args:
        sequences: a list of tensors (l, *).
        batch_first: the result is (n, t, *) instead of (t, n, *).
        padding_value: of the elements beyond a sequence's end.
        padding_side: "right" or "left".

    Shape: n tensors (l, *) to (longest, n, *), or (n, longest, *) with `batch_first`.

    >>> torch.nn.utils.rnn.pad_sequence([torch.ones(2), torch.ones(1)], batch_first=True)
    tensor([[1., 1.],
            [1., 0.]])
    """
    if padding_side not in ("left", "right"):
        raise RuntimeError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if isinstance(sequences, _C.Tensor):
        sequences = sequences.unbind(0)
    if not isinstance(sequences, Iterable):
        raise RuntimeError(
            "pad_sequence: Expected iterable for input sequences, but got arg of type: "
            f"{type(sequences)}"
        )
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("received an empty list of sequences")
    longest = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        missing = longest - s.size(0)
        if missing:
            edge = (0, missing) if padding_side == "right" else (missing, 0)
            s = _C.constant_pad_nd(s, (0, 0) * (s.dim() - 1) + edge, float(padding_value))
        rows.append(s)
    return _C.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences of a padded batch, as a list: the inverse of pad_sequence().

    Args:
        padded_sequences: the batch, (t, n, *).
        lengths: of each sequence.
        batch_first: the batch is (n, t, *).

    Shape: a list of n tensors (lengths[i], *).

    >>> padded = torch.tensor([[1.0, 2.0], [3.0, 0.0]])
    >>> torch.nn.utils.rnn.unpad_sequence(padded, torch.tensor([2, 1]), batch_first=True)
    [tensor([1., 2.]), tensor([3.])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[: int(n)].clone() for row, n in zip(padded_sequences, lengths, strict=False)]


def __getattr__(name):
    raise AttributeError(_table.absent(f"torch.nn.utils.rnn.{name}"), name=name)
