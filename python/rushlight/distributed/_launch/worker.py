"""One process of a job: `python -m rushlight.distributed._launch.worker MODE ALIASED PROGRAM ...`.

It ends with the launcher, and writes an uncaught exception to TORCHELASTIC_ERROR_FILE.
"""

import json
import os
import sys
import time
import traceback


def _is_ours(path):
    """A file between this one and the program: ours, or Python's own that starts programs."""
    folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    ours = path.startswith((os.path.join(folder, "_runner"), os.path.dirname(__file__)))
    return ours or path.startswith("<frozen")


def write_error(error):
    """The exception, as torch's error files have it."""
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if not path or os.path.exists(path):  # a program that wrote its own, knows more
        return
    trace = error.__traceback__
    while trace and trace.tb_next and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    text = "".join(traceback.format_exception(type(error), error, trace))
    last = traceback.format_exception_only(type(error), error)[-1].strip()
    more = {"py_callstack": text, "timestamp": str(int(time.time()))}
    told = {"message": last, "extraInfo": more}
    with open(path, "w") as file:
        json.dump({"message": told}, file)


def _run_python(mode, aliased, program, arguments):
    if aliased and mode == "script":
        from rushlight._runner.script import run_script

        return run_script(program, arguments)
    if aliased:
        from rushlight._runner.alias import as_torch

        as_torch()
    import runpy

    sys.argv[:] = [program, *arguments]
    if mode == "module":
        sys.path.insert(0, "")
        return runpy.run_module(program, run_name="__main__", alter_sys=True)
    sys.path.insert(0, os.path.dirname(os.path.abspath(program)))
    return runpy.run_path(program, run_name="__main__")


def main(mode, aliased, program, *arguments):
    from rushlight import _C

    _C._distributed._end_with_parent()
    if os.getppid() == 1:
        os._exit(1)
    if mode == "program":
        os.execvp(program, [program, *arguments])
    try:
        _run_python(mode, aliased == "1", program, list(arguments))
    except SystemExit:
        raise
    except BaseException as error:
        write_error(error)
        raise


if __name__ == "__main__":
    main(*sys.argv[1:])
