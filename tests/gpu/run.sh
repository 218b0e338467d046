#!/usr/bin/env bash
# Everything that only a GPU can show, in one command and under nine minutes, without a network:
#   tests/gpu/run.sh [FOLDER]     leaves FOLDER/report.md and report.json (build/gpu by default)
# Needs nvcc, CMake 3.26, ninja, pybind11, scikit-build-core's Python, pytest, hypothesis and a torch
# with CUDA, which is the judge of values and the peer of timings; compute-sanitizer where it is found.
set -u
cd "$(dirname "$0")/../.." || exit
exec "${PYTHON:-python3}" -m tests.gpu "${1:-build/gpu}"
