"""Runs in a process of its own: `python -m tests.hostile.batch SHARD SHARDS`. It writes the name of
each call before the call, so that its parent knows which call ended it, and `ok N` at the end.

A call that takes more than LIMIT seconds ends the process through faulthandler.
"""

import faulthandler
import os
import resource
import sys
import warnings
from pathlib import Path

LIMIT = float(os.environ.get("RUSHLIGHT_HOSTILE_LIMIT", "10"))


def main(shard, shards, only=None):
    if "asan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (6 << 30, 6 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from tests.hostile import calls

    # A file of names to leave out, to look for further ones.
    known = os.environ.get("RUSHLIGHT_HOSTILE_SKIP")
    skipped = set(Path(known).read_text().splitlines()) if known else set()

    warnings.simplefilter("ignore")
    count = broken = 0
    log = open(os.environ["RUSHLIGHT_HOSTILE_LOG"], "w")  # noqa: SIM115 - until the process ends
    for number, (name, call) in enumerate(calls.all_calls()):
        if number % shards != shard or (only and only not in name) or name in skipped:
            continue
        log.seek(0)
        log.truncate()
        log.write(name)
        log.flush()
        faulthandler.dump_traceback_later(LIMIT, exit=True)
        try:
            call()
        except BaseException as error:  # what a call raises is its own affair; it must be sound
            if isinstance(error, SystemError):
                print("SYSTEMERROR", name, error, flush=True)
                broken += 1
            str(error), repr(error)
            error.__traceback__ = None
        faulthandler.cancel_dump_traceback_later()
        count += 1
    print("ok", count)
    return broken


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:]) and 1)
