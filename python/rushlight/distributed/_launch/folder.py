"""A temporary folder that goes with the launcher, even if that is killed."""

import contextlib
import os
import shutil
import signal
import tempfile


@contextlib.contextmanager
def folder_of_this_process():
    """A new folder; a forked child in a session of its own removes it when we are gone."""
    path = tempfile.mkdtemp(prefix="rushlight-launch-")
    gone, here = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
            for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            null = os.open(os.devnull, os.O_RDWR)
            for descriptor in range(3):  # a reader of our output must not wait for the child
                os.dup2(null, descriptor)
            os.close(here)
            os.read(gone, 1)
            shutil.rmtree(path, ignore_errors=True)
        finally:
            os._exit(0)
    os.close(gone)
    try:
        yield path
    finally:
        os.close(here)
        os.waitpid(child, 0)
