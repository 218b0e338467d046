#!/usr/bin/env bash
# Everything that only a GPU can show, in one command and under nine minutes, without a network:
#   tests/gpu/run.sh --quick          a first look in under two minutes: a table, from the ground up
#   tests/gpu/run.sh [FOLDER]         leaves FOLDER/report.md and report.json (build/gpu by default)
#   tests/gpu/run.sh FOLDER --rest    what is not yet ok in that report; FOLDER WORDS: steps by name
# Needs nvcc, CMake 3.26, ninja, pybind11, scikit-build-core's Python, pytest, hypothesis and a torch
# with CUDA, which is the judge of values and the peer of timings; compute-sanitizer where it is found.
# The first look needs none of them but the built library: run.sh's, or an installed rushlight's.
set -u
cd "$(dirname "$0")/../.." || exit
exec "${PYTHON:-python3}" -m tests.gpu "$@"
