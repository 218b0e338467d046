# Puts an `nvidia-smi` first on the PATH while virtual GPUs are on: a private folder with the
# command and a page of figures that the core keeps up to date. Made once per process, removed when
# the process ends; a forked child leaves its parent's alone.
import os
import sys
from contextlib import suppress

from .. import _C
from .._version import __version__

_home: "str | None" = None
_owner = 0


def start() -> None:
    """Makes the folder, and puts it on the PATH if there are virtual GPUs."""
    global _home, _owner
    if _home is None or _owner != os.getpid():
        name = f"rushlight-{os.getpid()}-{os.urandom(4).hex()}"
        home = os.path.join(os.environ.get("TMPDIR") or "/tmp", name)
        try:
            os.mkdir(home, 0o700)
            _write(home)
        except (OSError, RuntimeError):
            return  # no folder to write to: then there is no nvidia-smi
        import atexit

        _leave(_home)
        _home, _owner = home, os.getpid()
        atexit.register(_remove)
    follow()


def start_from_environment() -> None:
    """`start`, where the environment sets virtual GPUs, except in worker processes: on their
    PATH is the `nvidia-smi` of the program that they work for."""
    workers = sys.modules.get("multiprocessing.process")
    if workers is None or workers.parent_process() is None:
        with suppress(ValueError):  # what the environment says is wrong: the first CUDA call tells
            start()


def _write(home: str) -> None:
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_smi_program.py")
    page = os.path.join(home, "page")
    version = ".".join(__version__.split(".")[:2])
    arguments = (sys.executable, "-I", "-S", program, page, version)
    command = " ".join("'" + argument.replace("'", "'\\''") + "'" for argument in arguments)
    _C._cuda.virtual_publish(page)
    path = os.path.join(home, "nvidia-smi")
    with open(path, "w", encoding="utf-8") as file:
        file.write(f'#!/bin/sh\nexec {command} "$@"\n')
    os.chmod(path, 0o700)


def follow() -> None:
    """Called when virtual GPUs come and go: `nvidia-smi` is on the PATH while there are some."""
    if _C._cuda.virtual_active().count == 0:
        _leave(_home)
    elif _home is None or _owner != os.getpid():
        start()
    else:
        rest = os.environ.get("PATH", os.defpath)
        if _home not in rest.split(os.pathsep):
            os.environ["PATH"] = _home + os.pathsep + rest


def _leave(home: "str | None") -> None:
    if home is not None:
        parts = os.environ.get("PATH", "").split(os.pathsep)
        os.environ["PATH"] = os.pathsep.join(p for p in parts if p != home)


def _remove() -> None:
    if _home is not None and _owner == os.getpid():
        with suppress(OSError):
            os.unlink(os.path.join(_home, "nvidia-smi"))
            os.unlink(os.path.join(_home, "page"))
            os.rmdir(_home)
