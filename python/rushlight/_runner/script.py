# Runs a program as `python FILE` would, with torch's names meaning rushlight. Note:
# the program runs in this process, in a __main__ of its own, and our frames below it must show
# nowhere: not in tracebacks, not in sys.path, not in what multiprocessing tells its workers.
import importlib.machinery
import os
import sys
from types import ModuleType


def new_main(path: str) -> ModuleType:
    main = ModuleType("__main__")
    full = os.path.join(os.getcwd(), path)
    vars(main).update(
        __annotations__={},
        __builtins__=sys.modules["builtins"],
        __cached__=None,
        __file__=full,
        __loader__=importlib.machinery.SourceFileLoader("__main__", full),
    )
    return main


def report(error: BaseException, keep: int) -> None:
    """Shows the error without the first frames, which are ours, and keeps Python from repeating it.

    The error itself goes on to the interpreter, so that the exit code is Python's own."""
    traceback = error.__traceback__
    for _ in range(keep):
        traceback = traceback and traceback.tb_next
    error.__traceback__ = traceback
    hook = sys.excepthook
    sys.excepthook = lambda *_: None
    hook(type(error), error, traceback)


def run_script(path: str, arguments: list[str]) -> None:
    """Runs the Python file `path` as the main program, with `arguments` in sys.argv."""
    from .alias import as_torch

    as_torch()
    main = new_main(path)
    sys.argv[:] = [path, *arguments]
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = os.path.dirname(os.path.realpath(path))
    sys.modules["__main__"] = main
    try:
        with open(path, "rb") as file:
            source = file.read()
    except OSError as error:
        message = f"[Errno {error.errno}] {error.strerror}"
        print(f"rushlight: can't open file {main.__file__!r}: {message}", file=sys.stderr)
        sys.exit(2)  # as Python does
    frames = 1
    try:
        code = compile(source, main.__file__, "exec", dont_inherit=True)  # type: ignore[arg-type]
        exec(code, vars(main))
    except SystemExit:
        raise
    except BaseException as error:
        report(error, frames)
        raise
