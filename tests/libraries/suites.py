"""python -m tests.libraries.suites [NAMES] [--torch] [--python PYTHON] [--page]: libraries' own
tests, a bounded part of each, on rushlight and on torch.

`--torch` runs a part under torch and keeps its results; without it the part runs under
`pytest -p rushlight.pytest`, and what passed under torch is counted. The tests come from the
library's public repository at the ref of SUITES, from GitHub or by --repositories from a folder
with clones at OWNER/NAME, into $RUSHLIGHT_SUITES (~/.cache/rushlight/suites), each library with an
environment of its own; --python names one that has them all, and pytest with pytest-timeout. --kept
counts the results that are there, and --page writes the counts into docs/libraries.md.
"""

import argparse
import collections
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

from tests.libraries.__main__ import PAGE, environment, ours, torchs, version
from tests.libraries.suite_parts import SUITES

HOME = pathlib.Path(os.environ.get("RUSHLIGHT_SUITES", "~/.cache/rushlight/suites")).expanduser()
GITHUB = "https://github.com"
TITLE = "## Their own tests"  # the last section of the page
HEAD = f"""{TITLE}

Tests that libraries have of themselves, a part of each:
[suite_parts.py](../tests/libraries/suite_parts.py). `python -m tests.libraries.suites` runs them
under torch and under rushlight, and counts those that pass under both. They come from GitHub, at
the ref in parentheses, or from clones (`--repositories`), as no package brings them all; those of
transformers are of the commit that 5.15.0 was made from, taken from a fork's clone.

| suite | version (tests of) | part | passed under torch | of those under rushlight | date |
|---|---|---|---|---|---|
"""


def sources(name, suite, repositories):
    """The folder with the library's repository at its ref, fetched if it is not there."""
    folder = HOME / name
    if not folder.exists():
        subprocess.run(["git", "init", "-q", folder], check=True)
        url = f"{repositories}/{suite.repository}"
        for command in (["fetch", "-q", "--depth", "1", url, suite.ref],
                        ["checkout", "-q", "FETCH_HEAD"]):  # fmt: skip
            subprocess.run(["git", "-C", folder, *command], check=True)
    return folder / suite.folder


def run(results, name, suite, python, with_torch, repositories):
    """Writes the results into a file in JUnit's format."""
    results.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--timeout=120"]
    command += [] if with_torch else ["-p", "rushlight.pytest"]
    command += [f"--junitxml={results}", *suite.files.split()]
    command += ["-k", suite.keywords] if suite.keywords else []
    with tempfile.TemporaryDirectory() as folder:
        variables = torchs(python, folder) if with_torch else ours(folder)
        variables |= {"HF_HUB_OFFLINE": "1", **suite.variables}
        there = sources(name, suite, repositories)
        subprocess.run(command, cwd=there, env=variables, stdout=subprocess.DEVNULL)


def outcomes(results):
    """test -> "" if it passed, else the first line of why it did not."""
    answers = {}
    for case in xml.etree.ElementTree.parse(results).iter("testcase"):
        said = [part for part in case if part.tag in ("failure", "error", "skipped")]
        why = [f"{part.tag}: {part.get('message') or ''}".splitlines()[0] for part in said]
        answers[f"{case.get('classname')}::{case.get('name')}"] = why[0] if why else ""
    return answers


def compared(torchs_results, our_results):
    """How many tests pass under torch, and why those that fail here do: cause -> tests."""
    expected, found = outcomes(torchs_results), outcomes(our_results)
    passed = [test for test, why in expected.items() if not why]
    causes = collections.defaultdict(list)
    for test in passed:
        if why := found.get(test, "not collected"):
            causes[why].append(test)
    return len(passed), causes


def write_page(rows):
    text, _, table = PAGE.read_text().partition(TITLE)
    lines = {line.split()[1]: line for line in table.splitlines()[1:] if line.startswith("| ")}
    lines.pop("suite", None)
    lines |= rows
    PAGE.write_text(
        text.rstrip("\n") + "\n\n" + HEAD + "".join(f"{lines[name]}\n" for name in sorted(lines))
    )


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.libraries.suites", description=__doc__)
    parser.add_argument("names", nargs="*", help=", ".join(SUITES))
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--python")
    parser.add_argument("--repositories", default=GITHUB, help="where they are cloned from")
    parser.add_argument("--kept", action="store_true", help="do not run them again")
    parser.add_argument("--page", action="store_true")
    args = parser.parse_args()
    rows = {}
    for name in args.names or SUITES:
        suite = SUITES[name]
        package = f"{suite.package}=={suite.version}" if suite.version else suite.package
        needs = [package, "pytest", "pytest-timeout", *suite.needs.split()]
        python = args.python or environment(f"suite_{name}", needs)
        kept = HOME / f"{name}.torch.xml"
        if not args.torch and not kept.exists():
            sys.exit(f"{kept} is not there: python -m tests.libraries.suites {name} --torch")
        results = HOME / f"{name}.{'torch' if args.torch else 'rushlight'}.xml"
        if not args.kept:
            run(results, name, suite, python, args.torch, args.repositories)
        if args.torch:
            print(f"{name}: {sum(not why for why in outcomes(results).values())} pass", flush=True)
            continue
        passed, causes = compared(kept, results)
        good = passed - sum(map(len, causes.values()))
        print(f"{name}: {good} of {passed}", flush=True)
        for why, tests in sorted(causes.items(), key=lambda item: -len(item[1])):
            print(f"    {len(tests)}: {why[:200]} ({tests[0]})", flush=True)
        of = f"{version(suite.package, python)} ({suite.ref[:11]})"
        today = datetime.date.today()
        rows[name] = f"| {name} | {of} | {suite.part} | {passed} | {good} | {today} |"
    if args.page and rows:
        write_page(rows)


if __name__ == "__main__":
    main()
