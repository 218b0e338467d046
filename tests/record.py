"""python -m tests.record [FILES]: records what tests ask of torch, for where it is not installed.

With --check it writes nothing and fails where torch answers otherwise than the record says; the
tests themselves are judged by torch in both cases. Tests with one record in common, as those of one
question on two devices, are checked by one of them.
"""

import os
import sys

import pytest


def main(arguments):
    check = "--check" in arguments
    os.environ["RUSHLIGHT_RECORD"] = "check" if check else "write"
    rest = [a for a in arguments if a != "--check"]
    by_file = ["--dist", "loadfile"]  # a file's answers are written by one worker of xdist
    return pytest.main(["-q", "-p", "no:cacheprovider", *by_file, *(rest or ["tests"])])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
