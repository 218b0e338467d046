"""Builds the library, runs each step with a limit of its own, and writes a report.

python -m tests.gpu FOLDER      (tests/gpu/run.sh is the way to call it)
"""

import datetime
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

from tests.gpu import asks_for_more

ROOT = pathlib.Path(__file__).resolve().parents[2]
OPS = ["pointwise", "reduce", "scan", "sort", "loss", "norm", "pool", "conv", "matmul",
       "positions", "linalg"]  # fmt: skip
KERNEL_TESTS = [f"tests/ops/test_{name}.py" for name in OPS]
PROGRAMS = sorted((ROOT / "tests/documents/programs").glob("???.py"))
DEVICE_TESTS = [f"tests/devices/test_{name}.py" for name in
                ("provider", "libraries", "cudnn", "cusolver", "nccl",
                 "comm")]  # fmt: skip
SECONDS = 530  # for everything: what is left is no step's


def build_steps(work, python):
    """The same for the core and the library, for the GPU that is there."""
    pybind = subprocess.run(
        [python, "-m", "pybind11", "--cmakedir"], capture_output=True, text=True, check=False
    ).stdout.strip()
    yield "configure", [
        "cmake", "-S", str(ROOT), "-B", str(work / "cmake"), "-G", "Ninja",
        "-DCMAKE_BUILD_TYPE=Release", "-DRUSHLIGHT_CUDA=ON", "-DRUSHLIGHT_CUDA_ARCHS=native",
        "-DRUSHLIGHT_IN_PLACE=ON", "-DRUSHLIGHT_WERROR=OFF", f"-DPython_EXECUTABLE={python}",
        f"-Dpybind11_DIR={pybind}",
    ], {}, 60  # fmt: skip
    yield "build", ["cmake", "--build", str(work / "cmake")], {}, 240


def steps(work, python):
    """(name, command, environment, seconds at most) in the order they run. A library that
    RUSHLIGHT_CUDA_LIBRARY names is taken as it is, with the core that lies in python/rushlight."""
    built = work / "cmake" / "librushlight_cuda.so"
    library = os.environ.get("RUSHLIGHT_CUDA_LIBRARY") or built
    on_gpu = {
        "RUSHLIGHT_TEST_GPU": "1",
        "RUSHLIGHT_CUDA_LIBRARY": str(library),
        "PYTHONPATH": str(ROOT / "python"),
        "OMP_NUM_THREADS": "4",
    }
    pytest = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    if library == built:
        yield from build_steps(work, python)
    yield "what is there", [python, "-m", "rushlight", "info"], on_gpu, 60
    blocking = {**on_gpu, "RUSHLIGHT_LAUNCH_BLOCKING": "1"}
    yield "kernels", [*pytest, *KERNEL_TESTS, "tests/optim"], blocking, 150
    alone = {f"RUSHLIGHT_{name}_LIBRARY": "none" for name in ("CUBLASLT", "CUDNN", "CUSOLVER")}
    ours = [*pytest, *(f"tests/ops/test_{name}.py" for name in ("matmul", "conv", "linalg"))]
    yield "without cuBLASLt, cuDNN, cuSOLVER", ours, {**blocking, **alone}, 60
    yield "devices, with 50 bad indices", [*pytest, *DEVICE_TESTS], on_gpu, 60
    samples = [python, "-m", "tests.oracle", "--device", "cuda", "--limit", "3", "--failed"]
    yield "torch's samples of operations", samples, blocking, 120
    yield "torch's samples of modules", [*samples, "--modules"], blocking, 60
    for program in PROGRAMS:
        run = [python, "-m", "rushlight", "run", str(program)]
        yield f"document {program.stem}", run, on_gpu, 40
    yield "notebooks", [python, "-m", "tests.gpu.notebooks"], on_gpu, 90
    for tool in ("memcheck", "racecheck", "initcheck", "synccheck"):
        if shutil.which("compute-sanitizer"):
            command = [
                "compute-sanitizer", "--tool", tool, "--error-exitcode", "9", python, "-m",
                "tests.gpu.kernels",
            ]  # fmt: skip
            yield f"compute-sanitizer {tool}", command, {**on_gpu, "RUSHLIGHT_NO_CACHE": "1"}, 60
    timings = [python, "-m", "tests.gpu.benchmark", str(work / "timings.json")]
    yield "benchmark", timings, on_gpu, 90


def run_step(work, name, command, environment, limit):
    file = "".join(letter for letter in name.replace(" ", "_") if letter not in ",'")
    log = work / f"{file}.log"
    start = time.monotonic()
    with open(log, "w") as out:
        try:
            code = subprocess.run(
                command, cwd=ROOT, env={**os.environ, **environment}, stdout=out,
                stderr=subprocess.STDOUT, timeout=limit, check=False,
            ).returncode  # fmt: skip
        except subprocess.TimeoutExpired:
            code = 124
        except OSError as error:
            out.write(str(error))
            code = 127
    text = log.read_text(errors="replace")
    last = (text.splitlines() or [""])[-1][:100]
    if code and name.startswith("document") and asks_for_more(last):
        code, last = 0, f"as far as it goes on fewer GPUs than it wants: {last}"[:100]
    row = {"step": name, "code": code, "seconds": round(time.monotonic() - start, 1), "last": last}
    print(
        f"{name:<32} {'ok' if code == 0 else f'FAILED ({code})':<12} {row['seconds']:>6} s  {last}"
    )
    return row


def gpu_name():
    query = ["nvidia-smi", "--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"]
    try:
        return subprocess.run(query, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "no GPU found by nvidia-smi"


def write_report(work, rows):
    timings = work / "timings.json"
    report = {
        "date": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "gpu": gpu_name(),
        "steps": rows,
        "timings": json.loads(timings.read_text()) if timings.exists() else [],
    }
    (work / "report.json").write_text(json.dumps(report, indent=1))
    lines = [f"# {report['gpu']}", "", report["date"], "", "| step | | s | last line |"]
    lines.append("|---|---|---|---|")
    lines += [
        f"| {r['step']} | {'ok' if r['code'] == 0 else 'FAILED'} | {r['seconds']} | {r['last']} |"
        for r in rows
    ]
    lines += ["", "| timing | ours | torch | ratio | target |", "|---|---|---|---|---|"]
    lines += [
        f"| {t['name']} | {t['ours']:.3g} us | {t['theirs']:.3g} us | "
        f"{t['ours'] / t['theirs']:.2f} | {t['target']} |"
        for t in report["timings"]
    ]
    (work / "report.md").write_text("\n".join(lines) + "\n")


def main():
    work = pathlib.Path(sys.argv[1]).resolve()
    work.mkdir(parents=True, exist_ok=True)
    rows, start = [], time.monotonic()
    for name, command, environment, limit in steps(work, sys.executable):
        left = max(1.0, SECONDS - (time.monotonic() - start))
        rows.append(run_step(work, name, command, environment, min(limit, left)))
        write_report(work, rows)
        if name in ("configure", "build") and rows[-1]["code"]:
            break
    return any(row["code"] for row in rows)


if __name__ == "__main__":
    sys.exit(main())
