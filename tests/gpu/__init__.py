"""What only a GPU can show: tests/gpu/run.sh."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Asynchronous launches and pooled memory, as users have it; the emulator's streams do not wait.
SHIPPED = {
    "RUSHLIGHT_LAUNCH_BLOCKING": "",
    "RUSHLIGHT_NO_CACHE": "",
    "RUSHLIGHT_EMULATED_LAZY": "1",
}


def asks_for_more(words):
    """Whether an error says that a program wants a GPU that is not there."""
    return any(w in words for w in ("invalid device ordinal", "Invalid device id", "are visible"))
