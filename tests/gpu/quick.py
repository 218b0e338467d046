"""A first look at a GPU in under two minutes: python -m tests.gpu --quick [FOLDER]

Each row of tests/gpu/rows is a process of its own with a limit, so one that crashes or hangs costs
the table nothing. The rows go from the ground up: the first that fails says which files to read.
"""

import json
import os
import sys
import time

from tests.gpu import ROOT, SHIPPED
from tests.gpu.process import run_process, seconds_of_step

ROW_SECONDS, ALL_SECONDS = 20, 110
AFTER_A_HANG = 8  # seconds of a row: what hangs once often hangs again
GROUND = ("import", "library and driver", "device", "memory", "copies")  # all others need them
BUILT = "cmake/librushlight_cuda.so"
LIST = [sys.executable, "-m", "tests.gpu.rows", "--list"]


def last_line(verdict, text):
    """What a row says at its end: of an error, the line that names it; of a hang, its own line."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if verdict == "FAILED":
        found = [x for x in lines if x.split(":")[0].endswith(("Error", "Exception"))][-1:]
    elif verdict == "ok":
        found = lines[-1:]
    else:
        found = [x for x in lines if "/rows/" in x and "__.py" not in x][:1]
    return (found or lines[-1:] or [""])[0]


def table():
    """(name, command, files to look at) of each row, the first of which gives the names."""
    yield "import", LIST, "python/rushlight/__init__.py, csrc/bindings/"
    verdict, _, text = run_process(LIST, ROW_SECONDS, SHIPPED)
    for name, where in json.loads(text.splitlines()[-1]) if verdict == "ok" else ():
        yield name, [sys.executable, "-m", "tests.gpu.rows", name, str(ROW_SECONDS)], where


def look(rows, row_seconds=ROW_SECONDS, all_seconds=ALL_SECONDS):
    """Runs the rows and prints the table; returns them as dictionaries."""
    start, found, first = time.monotonic(), [], None
    for name, command, where in rows:
        left = all_seconds - (time.monotonic() - start)
        row = {"row": name, "where": where, "verdict": "not run", "seconds": 0.0, "words": ""}
        text = ""
        if first and first["row"] in GROUND:
            row["words"] = f"needs what '{first['row']}' has shown to fail"
        elif left < 1:
            row["words"] = f"the {all_seconds} seconds for all rows are over"
        else:
            verdict, seconds, text = run_process(command, min(row_seconds, left), SHIPPED)
            words = "" if command == LIST and verdict == "ok" else last_line(verdict, text)
            row_seconds = min(row_seconds, AFTER_A_HANG) if verdict == "HANGS" else row_seconds
            row |= {"verdict": verdict, "seconds": seconds, "words": words}
        found.append(row)
        print(f"{name:<31} {row['verdict']:<17} {row['seconds']:>5} s  {row['words'][:100]}")
        sys.stdout.flush()
        if first is None and row["verdict"] not in ("ok", "not run"):
            first = row
            row["output"] = text[-4000:]
            if row["verdict"] != "HANGS":
                blocking = {**SHIPPED, "RUSHLIGHT_LAUNCH_BLOCKING": "1"}
                row["blocking"] = run_process(command, row_seconds, blocking)[0]
    tell(found, first, time.monotonic() - start)
    return found


def tell(found, first, seconds):
    good = sum(row["verdict"] == "ok" for row in found)
    print(f"{good} of {len(found)} rows are good, in {seconds:.0f} s")
    if first is None:
        return
    print(f"\nThe first that is not: '{first['row']}', {first['verdict']}")
    print(f"look at {first['where']}")
    if first.get("blocking") == "ok":
        print("it passes with RUSHLIGHT_LAUNCH_BLOCKING=1: something does not wait that must")
    elif "blocking" in first:
        print(f"with RUSHLIGHT_LAUNCH_BLOCKING=1: {first['blocking']}")
    print(f"alone: python -m tests.gpu.rows '{first['row']}'\nits output ends with\n")
    print(first["output"].rstrip())


def main(folder):
    if not os.environ.get("RUSHLIGHT_CUDA_LIBRARY") and (folder / BUILT).exists():
        os.environ["RUSHLIGHT_CUDA_LIBRARY"] = str(folder / BUILT)  # by run.sh
    if any((ROOT / "python/rushlight").glob("_C*.so")):
        os.environ["PYTHONPATH"] = str(ROOT / "python")
    rows = look(table(), all_seconds=min(ALL_SECONDS, seconds_of_step(ALL_SECONDS)))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "first_look.json").write_text(json.dumps(rows, indent=1))
    return any(row["verdict"] != "ok" for row in rows)
