"""What a process says while it waits for others to start."""

from __future__ import annotations

import sys

NOTICE = 60.0  # seconds between two lines


def slices(timeout):
    """(seconds that have been waited, how long the next wait is), at least one, to the time-out."""
    waited = 0.0
    while True:
        more = min(NOTICE, timeout - waited)
        yield waited, more
        waited += more
        if waited >= timeout:
            return


def say(words):
    """A line on stderr."""
    print(f"torch.distributed: {words}", file=sys.stderr, flush=True)
