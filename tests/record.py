"""python -m tests.record [FILES]: records what tests ask of torch, for where it is not installed.

With --check it writes nothing and fails where torch answers otherwise than the record says; the
tests themselves are judged by torch in both cases. Tests with one record in common, as those of one
question on two devices, are checked by one of them. --due K/N checks the files that were edited
since torch was asked, part K of N of the others, and what has no record.
"""

import argparse
import os
import sys

import pytest


def main(arguments):
    parser = argparse.ArgumentParser(prog="python -m tests.record", add_help=False)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--due", metavar="K/N")
    options, rest = parser.parse_known_args(arguments)
    os.environ["RUSHLIGHT_RECORD"] = "check" if options.check else "write"
    if options.due:
        os.environ["RUSHLIGHT_RECORD_DUE"] = options.due
    by_file = ["--dist", "loadfile"]  # a file's answers are written by one worker of xdist
    return pytest.main(["-q", "-p", "no:cacheprovider", *by_file, *(rest or ["tests"])])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
