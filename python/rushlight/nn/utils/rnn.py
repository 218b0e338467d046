"""Sequences of several lengths in one tensor."""

from rushlight import _C

__all__ = ["pad_sequence", "unpad_sequence"]


def pad_sequence(sequences, batch_first=False, padding_value=0.0, padding_side="right"):
    """Stacks sequences of several lengths, the shorter ones filled up.

    Shape: n tensors (l, *) to (longest, n, *), or (n, longest, *) with `batch_first`.

    >>> torch.nn.utils.rnn.pad_sequence([torch.ones(2), torch.ones(1)], batch_first=True)
    tensor([[1., 1.],
            [1., 0.]])
    """
    if padding_side not in ("left", "right"):
        raise ValueError(
            f"Expected padding_side to be one of left or right, but got {padding_side}."
        )
    if isinstance(sequences, _C.Tensor):
        sequences = sequences.unbind(0)
    sequences = list(sequences)
    if not sequences:
        raise RuntimeError("Expected sequences to be a non-empty list of tensors")
    longest = max(s.size(0) for s in sequences)
    rows = []
    for s in sequences:
        missing = longest - s.size(0)
        if missing:
            edge = (0, missing) if padding_side == "right" else (missing, 0)
            s = _C.constant_pad_nd(s, (0, 0) * (s.dim() - 1) + edge, padding_value)
        rows.append(s)
    return _C.stack(rows, 0 if batch_first else 1)


def unpad_sequence(padded_sequences, lengths, batch_first=False):
    """The sequences that `pad_sequence` has stacked.

    >>> padded = torch.tensor([[1.0, 2.0], [3.0, 0.0]])
    >>> torch.nn.utils.rnn.unpad_sequence(padded, torch.tensor([2, 1]), batch_first=True)
    [tensor([1., 2.]), tensor([3.])]
    """
    if not batch_first:
        padded_sequences = padded_sequences.transpose(0, 1)
    return [row[: int(n)] for row, n in zip(padded_sequences, lengths, strict=False)]


def __getattr__(name):
    raise AttributeError(f"torch.nn.utils.rnn.{name} is not in rushlight 0.1")
