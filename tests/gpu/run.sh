#!/usr/bin/env bash
# Everything that only a GPU can show, in one command and under nine minutes, without a network:
#   tests/gpu/run.sh --quick          a first look in under two minutes: a table, from the ground up
#   tests/gpu/run.sh [FOLDER]         leaves FOLDER/report.md and report.json (build/gpu by default)
#   tests/gpu/run.sh FOLDER --rest    what is not yet ok in that report; FOLDER WORDS: steps by name
# Needs nvcc 13, CMake 3.26, ninja, pybind11, NumPy, pytest and hypothesis, and a torch with CUDA: the
# peer of timings and counts, and the judge of values if it is 2.13 (else its recorded answers are).
# torch's samples need expecttest; compute-sanitizer is used where it is found.
# The first look needs NumPy and the library: run.sh's, an installed one's, or one that was built
# elsewhere, with its core in python/rushlight, and is named by RUSHLIGHT_CUDA_LIBRARY.
set -u
cd "$(dirname "$0")/../.." || exit
exec "${PYTHON:-python3}" -m tests.gpu "$@"
