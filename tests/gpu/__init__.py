"""What only a GPU can show: tests/gpu/run.sh."""


def asks_for_more(words):
    """Whether an error says that a program wants a GPU that is not there."""
    return any(w in words for w in ("invalid device ordinal", "Invalid device id", "are visible"))
