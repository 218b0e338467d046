"""python -m tests.libraries.start [--python PYTHON] [--runs N] [--page]: what a program costs that
imports transformers and calls a tiny BERT once, on rushlight and on torch.

Whole processes, one after the other in turn, and the median of each: seconds of the processor,
which other programs disturb less than the clock's, and the most memory that was resident. --page
writes both into docs/libraries.md; figures are for a Release build.
"""

import argparse
import os
import pathlib
import statistics
import tempfile

from tests.libraries.__main__ import PAGE, environment, ours, torchs

PROGRAMS = {
    "import": "import torch",
    "BERT": """import torch
from transformers import BertConfig, BertModel
size = dict(hidden_size=128, num_hidden_layers=2, num_attention_heads=2, intermediate_size=512)
with torch.no_grad():
    print(BertModel(BertConfig(**size)).eval()(torch.arange(16)[None]).last_hidden_state.shape)
""",
}
TITLES = {
    "import": "`import torch`",
    "BERT": "`import transformers`, a tiny BERT (2 layers of 128), one call",
}
MARK = "\n## Start and memory\n"
TEXT = (
    MARK
    + """
Seconds of the processor for a whole process, and its largest resident memory: the median of {runs}
in turn (`python -m tests.libraries.start`, a Release build, transformers {version}):

| program | rushlight | torch {torch} | torch / rushlight |
|---|---|---|---|
{rows}"""
)


def measured(command, env, folder):
    """(seconds of the processor, resident MiB) of one process."""
    with open(os.devnull, "w") as nowhere:
        out = [
            (os.POSIX_SPAWN_DUP2, nowhere.fileno(), 1),
            (os.POSIX_SPAWN_DUP2, nowhere.fileno(), 2),
        ]
        child = os.posix_spawn(command[0], command, {**env, "PWD": folder}, file_actions=out)
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{command}: exit status {os.waitstatus_to_exitcode(status)}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.libraries.start", description=__doc__)
    parser.add_argument("--python")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--page", action="store_true")
    args = parser.parse_args()
    python = args.python or environment("transformers", ["transformers"])
    rows = []
    with tempfile.TemporaryDirectory() as a, tempfile.TemporaryDirectory() as b:
        sides = {"ours": (ours(a), ["-m", "rushlight", "run"]), "torch": (torchs(python, b), [])}
        for key, text in PROGRAMS.items():
            program = pathlib.Path(a) / "program.py"
            program.write_text(text)
            found = {side: [] for side in sides}
            for turn in range(args.runs + 1):  # the first one reads the files from the disk
                for side, (env, flags) in sides.items():
                    figures = measured([python, *flags, str(program)], env, a)
                    if turn:
                        found[side].append(figures)
            (s, m), (ts, tm) = (
                [statistics.median(x) for x in zip(*found[k], strict=True)] for k in found
            )
            rows.append(
                f"| {TITLES[key]} | {s:.2f} s, {m:.0f} MiB | {ts:.2f} s, {tm:.0f} MiB "
                f"| {ts / s:.1f} and {tm / m:.1f} times |\n"
            )
            print(rows[-1], end="", flush=True)
    if args.page:
        import torch

        from tests.libraries.__main__ import version

        words = {"runs": args.runs, "version": version("transformers", python)}
        text = TEXT.format(rows="".join(rows), torch=torch.__version__.split("+")[0], **words)
        before, _, after = PAGE.read_text().partition(MARK)
        _, more, rest = after.partition("\n## ")
        PAGE.write_text(before + text + more + rest)


if __name__ == "__main__":
    main()
