"""Which ranks are missing, or in another call, when a call fails or waits.

Each rank writes its current call to the store and reads those of the others, but only once a call
has waited for two seconds, or failed.
"""

from __future__ import annotations

import time

from rushlight import _C

FIRST_LOOK = 2.0  # seconds of waiting
_LAST_LOOKS = 1.0  # seconds that the others have to write what they are in, after a failure


def publish(group, call):
    """Tells the others what we are in."""
    group._store.set(call.own_key, f"{call.number}|{call.published()}")


def _state(group, key):
    if not group._store.check([key]):
        return None
    number, _, words = group._store.get(key).decode(errors="replace").partition("|")
    return (int(number), words) if number.isdigit() else None


def compare(group, call):
    """(a disagreement that no waiting can mend, or "", what is known of each other rank)."""
    wrong, known = "", {}
    for rank, key in call.other_keys:
        name = f"rank {group._ranks[rank]}"
        gone = group._store.check(
            [f"gone/{rank}"]
        )  # first: it may publish, fail and leave meanwhile
        state = _state(group, key)
        if state and state[0] == call.number:
            if not call.fits(rank, state[1]):
                known[rank] = f"{name} is in {state[1]}"
                wrong = wrong or known[rank]
            else:
                known[rank] = ""
        elif gone:
            known[rank] = f"{name} has exited or left the group"
        elif state and state[0] < call.number:
            known[rank] = f"{name} is behind, in {state[1]}"
        elif state:
            known[rank] = f"{name} has gone on to {state[1]}"
    return wrong, known


def look(group, call):
    """While we wait: the words of a disagreement, or nothing."""
    try:
        publish(group, call)
        return compare(group, call)[0]
    except _C._distributed.DistError:
        return ""  # without a store, the engine's own time-out has to do


def explain(group, call):
    """After a failure: (a disagreement or "", what the other ranks are in)."""
    until = time.monotonic() + _LAST_LOOKS
    try:
        publish(group, call)
        while True:
            wrong, known = compare(group, call)
            others = [rank for rank, _ in call.other_keys]
            if all(rank in known for rank in others) or time.monotonic() > until:
                break
            time.sleep(0.05)
    except _C._distributed.DistError as error:
        return "", f"the store is gone: {str(error).splitlines()[0]}"
    missing = [group._ranks[rank] for rank in others if rank not in known]
    words = [text for text in known.values() if text]
    if missing:
        names = f"rank {missing[0]} has" if len(missing) == 1 else f"ranks {missing} have"
        words.append(f"{names} not come to it")
    return wrong, "; ".join(words)
