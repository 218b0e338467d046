"""Puts bugs into a copy of the kernels, one at a time, and says whether the emulated suite fails.

python -m tests.emulator.bugs [WORDS in file names]     (needs cmake, ninja, and a built core)
"""

import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "bugs"
BUILD = COPY / "build" / "emulated"  # as deep as any build, so that ccache knows its objects
# What is wrong, file, the right text, the wrong text, tests.
BUGS = [
    ("no barrier between the writes and the reads of a step", "scan",
     "    shared[t] = v;\n    __syncthreads();\n", "    shared[t] = v;\n", "ops/test_scan.py"),
    ("no barrier before the carry is read", "scan",
     "      shared[threadIdx.x] = v;\n      __syncthreads();\n      carry",
     "      shared[threadIdx.x] = v;\n      carry", "ops/test_scan.py"),
    ("the last element is left out", "reduce_kernels.h",
     "r < job.reduced.numel;", "r + 1 < job.reduced.numel;", "ops/test_reduce.py"),
    ("half of the block is not joined", "reduce_kernels.h",
     "int half = high / 2; half > 0;", "int half = high / 2; half > 1;", "ops/test_reduce.py"),
    ("a padded row is read as if it were not", "copy",
     "tile[x * (kTile + 1) + k]", "tile[x * kTile + k]", "ops/test_sort.py ops/test_pointwise.py"),
    ("tiles are used before they are whole", "matmul",
     "      __syncthreads();\n      for (int k = 0; k < kDepth", "      for (int k = 0; k < kDepth",
     "ops/test_matmul.py"),
    ("the tail of the depth is not zero", "matmul",
     "row + r < m.rows && k0 + k < m.depth;", "row + r < m.rows;", "ops/test_matmul.py"),
    ("rows of another column", "softmax",
     "row / s.inner * s.dim * s.inner + row % s.inner", "row / s.inner * s.dim * s.inner + row",
     "ops/test_loss.py"),
    ("a channel of another group", "conv",
     "(to * channels + c % channels)", "(to * channels + c)", "ops/test_conv.py"),
    ("negative indices do not count from the end", "index",
     "(value < 0 ? value + size : value)", "value", "devices/test_provider.py"),
    ("a bad index is read", "index",
     "if (value < -size || value >= size) {", "if (size < 0) {", "devices/test_provider.py"),
    ("ignored targets weigh", "cross_entropy",
     "if (t >= 0) weights +=", "weights +=", "ops/test_loss.py"),
    ("no occurrence is the first", "embedding",
     "earlier += same && j < i", "earlier += same && j <= i", "ops/test_loss.py"),
    ("a biased running variance", "norm",
     "m.squares / double(n - 1)", "m.squares / double(n)", "ops/test_norm.py"),
    ("one window too few", "pool",
     "last < out - 1 ? last : out - 1", "last < out - 1 ? last : out - 2", "ops/test_pool.py"),
    ("every fill draws the same", "random",
     "s.seed, number++}", "s.seed, number}", "devices/test_provider.py"),
    ("freed memory stays in the books", "memory",
     "count_block(b, std::int64_t(bytes), -1);", "", "devices/test_provider.py"),
]  # fmt: skip


def copy_tree():
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    for name in filter(None, listed.split("\0")):
        to = COPY / name
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / name, to)


def build():
    return subprocess.run(
        ["cmake", "--build", str(BUILD), "--target", "rushlight_cuda_emulated"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def suite_fails(tests):
    library = BUILD / "tests/emulator/librushlight_cuda_emulated.so"
    environment = {**os.environ, "RUSHLIGHT_CUDA_LIBRARY": str(library)}
    environment["RUSHLIGHT_LAUNCH_BLOCKING"] = "1"
    for reverse in ({"RUSHLIGHT_EMULATED_REVERSE": "1"}, {}):  # most missing barriers show in that
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
        command += [f"tests/{t}" for t in tests.split()]
        if subprocess.run(
            command, cwd=ROOT, env={**environment, **reverse}, capture_output=True, check=False
        ).returncode:
            return "caught" if reverse else "caught in forward order only"
    return ""


def main():
    words = sys.argv[1:]
    shutil.rmtree(COPY / "kernels", ignore_errors=True)
    copy_tree()
    pybind = subprocess.run(
        [sys.executable, "-m", "pybind11", "--cmakedir"], capture_output=True, text=True, check=True
    ).stdout.strip()
    subprocess.run(
        ["cmake", "-S", str(COPY), "-B", str(BUILD), "-G", "Ninja",
         "-DCMAKE_BUILD_TYPE=Dev", "-DRUSHLIGHT_TESTS=ON",
         f"-DPython_EXECUTABLE={sys.executable}", f"-Dpybind11_DIR={pybind}"],
        check=True, capture_output=True,
    )  # fmt: skip
    chosen = [bug for bug in BUGS if not words or any(w in bug[1] for w in words)]
    used = sorted({test for bug in chosen for test in bug[4].split()})
    if build().returncode or suite_fails(" ".join(used)):
        sys.exit("without a bug put in, the build or its tests fail: nothing can be learnt")
    missed = 0
    for what, stem, right, wrong, tests in chosen:
        file = COPY / "kernels/cuda" / (stem if "." in stem else stem + ".cu")
        text = file.read_text()
        assert text.count(right) >= 1, f"{stem}: the text of '{what}' has changed"
        file.write_text(text.replace(right, wrong))
        built = build()
        verdict = suite_fails(tests) if built.returncode == 0 else "does not compile"
        file.write_text(text)
        missed += not verdict or verdict == "does not compile"
        print(f"{stem:<16} {what:<52} {verdict or 'MISSED'}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
