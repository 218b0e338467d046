"""Builds the library, runs each step with a limit of its own, and writes a report.

python -m tests.gpu --quick [FOLDER]                  a first look in under two minutes
python -m tests.gpu FOLDER [WORDS]                    all steps, or those whose names have a word
python -m tests.gpu FOLDER --rest                     those that are not "ok" in FOLDER's report

tests/gpu/run.sh is the way to call it.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

from tests.emulator import name_libraries
from tests.gpu import ROOT, asks_for_more, report
from tests.gpu.steps import steps

BUILD = ("configure", "build")  # what the others need: always run
SHOWN = 12_000  # characters of a step's output in the report, at most


def run_step(work, step, limit):
    log = work / ("".join(c for c in step.name.replace(" ", "_") if c not in ",':") + ".log")
    start = time.monotonic()
    environment = {**os.environ, **step.environment, "RUSHLIGHT_STEP_SECONDS": str(limit)}
    with open(log, "w") as out:
        try:
            code = subprocess.run(
                step.command, cwd=ROOT, env=environment, stdout=out,
                stderr=subprocess.STDOUT, timeout=limit, check=False,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            code = 124
        except OSError as error:
            out.write(str(error))
            code = 127
    text = log.read_text(errors="replace")
    last = (text.strip().splitlines() or [""])[-1][:100]
    if code and step.name.startswith("document") and asks_for_more(last):
        code, last = 0, f"as far as it goes on fewer GPUs than it wants: {last}"[:100]
    row = {"step": step.name, "code": code, "seconds": round(time.monotonic() - start, 1)}
    return {**row, "last": last, "output": text[-SHOWN:] if step.shown else ""}


def show(row):
    word = report.verdict(row) + (f" ({row['code']})" if row["code"] else "")
    print(f"{row['step']:<39} {word:<13} {row['seconds']:>6} s  {row['last']}", flush=True)


def chosen(options, all_steps):
    """The steps that the arguments name, by words or as the rest."""
    before = report.read(options.folder / "report.json", {}).get("steps", [])
    good = {row["step"] for row in before if row["code"] == 0} if options.rest else set()
    for step in all_steps:
        named = not options.words or any(word in step.name for word in options.words)
        if step.name in BUILD or (named and step.name not in good):
            yield step


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.gpu", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a first look, and nothing else")
    parser.add_argument("--rest", action="store_true", help="what is not yet ok in the report")
    parser.add_argument("--seconds", type=float, default=530.0, help="for all steps together")
    parser.add_argument("folder", nargs="?", type=pathlib.Path, default=ROOT / "build/gpu")
    parser.add_argument("words", nargs="*")
    options = parser.parse_intermixed_args()
    options.folder = work = options.folder.resolve()
    name_libraries()
    if options.quick:
        from tests.gpu import quick

        return quick.main(work)
    work.mkdir(parents=True, exist_ok=True)
    all_steps = list(steps(work, sys.executable))
    order, rows, start = [step.name for step in all_steps], [], time.monotonic()
    for step in chosen(options, all_steps):
        left = options.seconds - (time.monotonic() - start)
        if left < 5:
            row = {"step": step.name, "code": None, "seconds": 0.0, "last": "no time left: --rest"}
        else:
            row = run_step(work, step, min(step.limit, left))
        rows.append(row)
        show(row)
        report.write(work, rows, order)
        if step.name in BUILD and row["code"] != 0:
            break
    return any(row["code"] != 0 for row in rows)


if __name__ == "__main__":
    sys.exit(main())
