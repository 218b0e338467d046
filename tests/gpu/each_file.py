"""Test files on a GPU, a process for each and some at once: after an error that a CUDA context does
not survive, or a hang, the other files still count.

python -m tests.gpu.each_file FILES
"""

import concurrent.futures
import os
import re
import sys
import time

from tests.gpu import ROOT
from tests.gpu.process import run_process, seconds_of_step

COUNTS = ("passed", "failed", "error", "skipped", "deselected")


def jobs():
    """How many processes at once: each has CUDA contexts of its own, about a GiB with torch's."""
    import rushlight

    free = min(rushlight.cuda.mem_get_info(d)[0] for d in range(rushlight.cuda.device_count()))
    return max(1, min(8, (os.cpu_count() or 2) // 2, free >> 31))


def files_of(names):
    """Test files, and those of folders; a name that is not there is an error."""
    for name in names:
        path = ROOT / name
        if path.is_dir():
            yield from sorted(path.glob("test_*.py"))
        elif path.is_file():
            yield path
        else:
            sys.exit(f"{name}: there is no such file or folder")


def run_file(path, end):
    """(line, counts, whether it is good, output) of one file."""
    name = str(path.relative_to(ROOT))
    left = end - time.monotonic()
    if left < 1:
        return f"{name:<32} not run: no time left", {}, False, ""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", "cuda", name]
    verdict, seconds, text = run_process(command, left, {})
    found = re.findall(r"(\d+) (passed|failed|error|skipped|deselected)", last_summary(text))
    counts = {word: int(number) for number, word in found}
    if verdict == "FAILED" and not counts.get("failed") and not counts.get("error"):
        nothing = counts.get("deselected") and not counts.get("passed")
        verdict = "ok" if nothing else "FAILED: nothing ran"  # no test of it asks for a device
    words = ", ".join(f"{counts[c]} {c}" for c in COUNTS if c in counts and c != "deselected")
    line = f"{name:<32} {verdict:<10} {seconds:>6} s  {words}"
    return line, counts, verdict == "ok", text


def last_summary(text):
    lines = [line for line in text.splitlines() if re.search(r" in [\d.]+s", line)]
    return lines[-1] if lines else ""


def main():
    files, end = list(files_of(sys.argv[1:])), time.monotonic() + seconds_of_step(600.0)
    total, bad = dict.fromkeys(COUNTS, 0), []
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        for line, counts, good, text in pool.map(lambda path: run_file(path, end), files):
            print(line, flush=True)
            for word, number in counts.items():
                total[word] += number
            if not good:
                bad.append((line, text))
    for line, text in bad:
        print(f"\n== {line}\n{text[-6000:]}")
    words = ", ".join(f"{n} {word}" for word, n in total.items() if n and word != "deselected")
    print(f"{len(files) - len(bad)} of {len(files)} files are good: {words}")
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
