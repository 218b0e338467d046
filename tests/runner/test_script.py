"""`rushlight run FILE.py` beside `python FILE.py`: what a program can see of how it was started."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest


def both(tmp_path, source, *arguments, stdin="", file="program.py"):
    """The completed processes of plain python and of `rushlight run`, in the program's folder."""
    (tmp_path / file).write_text(textwrap.dedent(source), encoding="utf-8")
    options = {"capture_output": True, "text": True, "input": stdin, "timeout": 60}
    options["cwd"] = tmp_path
    plain = subprocess.run([sys.executable, file, *arguments], **options)
    ours = [sys.executable, "-m", "rushlight", "run", file, *arguments]
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    return plain, subprocess.run(ours, env=environment, **options)


SAME = {
    "arguments": "import sys; print(sys.argv, sys.path[0])",
    "main": """
        import __main__, sys
        print(__name__, __file__, __spec__, __package__, __doc__)
        print(__main__ is sys.modules["__main__"])
        print(sorted(vars(__main__)), type(__loader__).__name__)
    """,
    "stdin": "print(input()[::-1]); import sys; print(sys.stdin.read())",
    "exit code": "import sys; sys.exit(7)",
    "exit text": "raise SystemExit('stopped')",
    "error": """
        def f(x):
            return 1 / x

        f(0)
    """,
    "error in error": """
        try:
            {}["a"]
        except KeyError as error:
            raise ValueError("b") from error
    """,
    "syntax error": "print('never'\nx = = 2\n",
    "own hook": """
        import sys, traceback
        def hook(kind, value, tb):
            print("hook", kind, value, len(traceback.extract_tb(tb)))
        sys.excepthook = hook
        raise ValueError("x")
    """,
    "stack": """
        import traceback
        try:
            {}[1]
        except KeyError:
            traceback.print_exc()
    """,
    "atexit": "import atexit; atexit.register(print, 'bye'); 1 / 0",
    "thread": """
        import threading
        threading.Thread(target=print, args=("late",)).start()
        raise OSError
    """,
    "warning": "import warnings; warnings.warn('w'); warnings.warn('d', DeprecationWarning)",
    "pickle": """
        import pickle
        class A: pass
        print(type(pickle.loads(pickle.dumps(A()))) is A, A.__module__)
    """,
    "source": "import inspect\ndef f():\n    return 1\nprint(inspect.getsource(f))",
    "future": "from __future__ import annotations\ndef f(x: y): ...\nprint(f.__annotations__)",
    "encoding": "# -*- coding: utf-8 -*-\nprint('训练')",
}


@pytest.mark.parametrize("case", SAME)
def test_same_as_plain_python(tmp_path, case):
    plain, ours = both(tmp_path, SAME[case], "--epochs", "3", "-x", stdin="hello\nrest\n")
    assert (ours.stdout, ours.stderr) == (plain.stdout, plain.stderr)
    assert ours.returncode == plain.returncode


def test_interrupt_ends_it_by_signal(tmp_path):
    source = "import os, signal; os.kill(os.getpid(), signal.SIGINT); input()"
    plain, ours = both(tmp_path, source)
    assert ours.returncode == plain.returncode == -signal.SIGINT
    assert ours.stderr == plain.stderr


def test_a_file_that_is_not_there(tmp_path):
    command = [sys.executable, "-m", "rushlight", "run", str(tmp_path / "no.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "can't open file" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "argv", "gpus"),
    [
        (["--gpus", "4", "FILE", "x"], ["x"], "4"),
        (["--gpus=2", "FILE", "--lr", "1"], ["--lr", "1"], "2"),
        (["FILE", "--gpus", "4", "--lr", "1"], ["--lr", "1"], "4"),
        (["FILE", "--", "--gpus", "4"], ["--gpus", "4"], "None"),
        (["FILE", "--lr", "1", "--gpus", "4"], ["--lr", "1", "--gpus", "4"], "None"),
    ],
)
def test_options_of_ours_and_of_the_program(tmp_path, arguments, argv, gpus):
    path = tmp_path / "program.py"
    path.write_text("import os, sys; print(sys.argv[1:], os.environ.get('RUSHLIGHT_VIRTUAL_GPUS'))")
    arguments = [str(path) if a == "FILE" else a for a in arguments]
    command = [sys.executable, "-m", "rushlight", "run", *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "RUSHLIGHT_VIRTUAL_GPUS"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
    assert done.stdout == f"{argv} {gpus}\n", done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "run needs a file"),
        (["walk"], "unknown command 'walk'"),
        (["run", "--fast", "x.py"], "unknown option --fast"),
        (["run", "--gpus", "x", "y.py"], "RUSHLIGHT_VIRTUAL_GPUS"),
        (["run", "--gpus", "2", "--profile", "z9", "y.py"], "z9"),
        (["run", "--gpus", "2", "--memory", "lots", "y.py"], "lots"),
    ],
)
def test_wrong_usage(arguments, words):
    command = [sys.executable, "-m", "rushlight", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and words in done.stderr and "usage:" in done.stderr


def test_info_names_the_library_of_products():
    done = subprocess.run(
        [sys.executable, "-m", "rushlight", "info"], capture_output=True, text=True, timeout=60
    )
    line = next(x for x in done.stdout.splitlines() if x.startswith("matrix products"))
    assert "OpenBLAS" in line and "MAX_THREADS" in line  # its kernel's name lies between


def test_info_into_a_closed_pipe():
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = f"{sys.executable} -m rushlight info | head -n 1"
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=environment, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout.startswith("rushlight") and done.stderr == "", done.stderr


CHILD = """
import subprocess, sys
code = "import importlib.util, sys; print(getattr(sys.modules.get('torch'), '__version__', None))"
print(subprocess.check_output([sys.executable, "-c", code], text=True), end="")
import os
os.environ["RUSHLIGHT_CHILDREN_OF"] = "/another/environment"
print(subprocess.check_output([sys.executable, "-c", code], text=True), end="")
del os.environ["RUSHLIGHT_CHILDREN_OF"]
print(subprocess.check_output([sys.executable, "-c", code], text=True), end="")
"""


@pytest.mark.parametrize("option", [[], ["--children"]])
def test_programs_that_it_starts(option, tmp_path):
    """They have torch's names where this was asked for, in the same environment."""
    (tmp_path / "program.py").write_text(CHILD)
    environment = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    command = [sys.executable, "-m", "rushlight", "run", *option, "program.py"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=60, cwd=tmp_path, env=environment
    )
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.splitlines()
    assert ("+rushlight" in first) == bool(option)
    assert rest == ["None", "None"]


def test_a_sitecustomize_that_is_hidden_runs(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("print('own')")
    (tmp_path / "program.py").write_text(
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'pass'])"
    )
    paths = [str(tmp_path), *(p for p in sys.path if p)]
    done = subprocess.run(
        [sys.executable, "-m", "rushlight", "run", "--children", "program.py"],
        capture_output=True, text=True, timeout=60, cwd=tmp_path,
        env=dict(os.environ, PYTHONPATH=os.pathsep.join(paths)),
    )  # fmt: skip
    assert done.stdout.splitlines() == ["own", "own"], done.stderr
