"""python -m tests.libraries [NAMES] [--torch] [--together | --python PYTHON] [--page]: programs of
libraries that people use with torch, as they are on PyPI, run on rushlight.

programs/with_NAME.py prints numbers; expected/NAME.txt is what it prints under torch (`--torch`
writes it, where torch is installed). Each library has an environment of its own in
$RUSHLIGHT_LIBRARIES (~/.cache/rushlight/libraries), which `rushlight install` fills; --together
makes one for all that are named, --python names one that has them all. --page writes
the answers into docs/libraries.md.
"""

import argparse
import datetime
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

import rushlight
from tests.libraries.comparison import equal_items

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
PAGE = ROOT / "docs/libraries.md"
DEFAULT = pathlib.Path.home() / ".cache/rushlight/libraries"
# What pip calls a library, where that is another name; and what its program needs besides.
PACKAGES = {
    "accelerate_gpus": "accelerate xoscar",  # two processes
    "accelerate_two": "accelerate xoscar",
    "backpack": "backpack-for-pytorch",
    "captum": "captum scikit-learn",
    "curvlinops": "curvlinops-for-pytorch",
    "diffusers": "diffusers scipy transformers",
    "flair": "flair sentencepiece transformers<5",
    "ignite": "pytorch-ignite",
    "jaxtyping": "jaxtyping beartype",
    "lightning_callbacks": "lightning torchmetrics",
    "lightning_ddp": "lightning xoscar",
    "lightning_gpus": "lightning xoscar",
    "monai": "monai scipy",
    "open_clip": "open_clip_torch",
    "pyro": "pyro-ppl",
    "segmentation_models": "segmentation-models-pytorch",
    "torch_geometric": "torch-geometric",
    "torch_geometric_training": "torch-geometric",
    "vit_pytorch": "vit-pytorch",
    "x_transformers": "x-transformers",
    "pycox": "pycox scikit-learn",
    "pytorch_metric_learning": "pytorch-metric-learning",
    "pytorch_optimizer": "pytorch-optimizer",
    "pytorch_lightning": "pytorch-lightning",
    "sentence_transformers": "sentence-transformers",
    "timm_gpus": "timm",
    "torch_pruning": "torch-pruning",
    "timm_training": "timm",
    "transformers_generate": "transformers",
    "transformers_gpus": "transformers accelerate",
    "transformers_models": "transformers",
    "transformers_pipeline": "transformers pillow",
    "transformers_trainer": "transformers accelerate",
}
# What is linked for torch itself; $RUSHLIGHT_REFERENCE is a folder with torchvision, if needed.
TORCHS = tuple(
    "torch functorch sympy mpmath networkx jinja2 markupsafe filelock fsspec typing_ext".split()
)
HEAD = """# Libraries

Programs of 10 to 40 lines for libraries that people use with torch, as they are on PyPI, by
`rushlight run` and with no line edited: [tests/libraries](../tests/libraries/programs).
`python -m tests.libraries` runs them and compares each printed line with torch's; numbers are equal
within 2e-3. An item is a line. Programs called ..._gpus run on two virtual GPUs, under torch on the
CPU. Made by `python -m tests.libraries --page` on {date}.

| library | version | items equal | the first line that stops it |
|---|---|---|---|
"""


def names():
    return sorted(p.stem.removeprefix("with_") for p in (HERE / "programs").glob("with_*.py"))


def environment(home, libraries):
    """The Python of an environment with the libraries, made if it is not there."""
    home = pathlib.Path(os.environ.get("RUSHLIGHT_LIBRARIES", DEFAULT)) / home
    python = home / "bin/python"
    if not (home / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", home], check=True)
        packages = [each for name in libraries for each in PACKAGES.get(name, name).split()]
        install = [python, "-m", "rushlight", "install", "-q", "numpy", *packages]
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(install, check=True, env=ours(folder))
        (home / "complete").touch()
    return str(python)


def ours(folder, name=""):
    """An environment's variables with the rushlight of this process, linked into the folder, and
    two virtual GPUs for a program that is called ..._gpus."""
    (pathlib.Path(folder) / "rushlight").symlink_to(pathlib.Path(rushlight.__file__).parent)
    gpus = {"RUSHLIGHT_VIRTUAL_GPUS": "2"} if name.endswith("_gpus") else {}
    return {**os.environ, "PYTHONPATH": folder, "OMP_NUM_THREADS": "1", **gpus}


def torchs(python, folder):
    """An environment's variables with torch, and what it needs, linked from this one's."""
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    there = pathlib.Path(subprocess.check_output([python, "-c", code], text=True).strip())
    for home in (sysconfig.get_path("purelib"), os.environ.get("RUSHLIGHT_REFERENCE")):
        for entry in pathlib.Path(home).iterdir() if home else ():
            wanted = entry.name.startswith(TORCHS) or home != sysconfig.get_path("purelib")
            if wanted and not (there / entry.name).exists():
                (pathlib.Path(folder) / entry.name).symlink_to(entry)
    return {**os.environ, "PYTHONPATH": folder, "OMP_NUM_THREADS": "1"}


def run(name, python, with_torch):
    """(what the program printed, the line that stopped it or "")"""
    program = str(HERE / "programs" / f"with_{name}.py")
    with tempfile.TemporaryDirectory() as folder:
        ours_runs = ["-m", "rushlight", "run", "--children"]
        command = [python, *([] if with_torch else ours_runs), program]
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=280, cwd=folder,
            env=torchs(python, folder) if with_torch else ours(folder, name),
        )  # fmt: skip
    if not done.returncode:
        return done.stdout, ""
    lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
    errors = [line for line in lines if line and not line.startswith(" ")]
    said = next((line for line in errors if "Error" in line), lines[-1])  # of the first cause
    return done.stdout, said


def version(name, python):
    package = PACKAGES.get(name, name).split()[0]
    code = f"import importlib.metadata as m; print(m.version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return done.stdout.strip()


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.libraries", description=__doc__)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--torch", action="store_true")
    parser.add_argument("--together", action="store_true")
    parser.add_argument("--python")
    parser.add_argument("--page", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="show the lines that differ")
    args = parser.parse_args()
    answers = {}
    wanted = args.names or names()
    for name in wanted:
        home, libraries = ("together", wanted) if args.together else (name, [name])
        python = args.python or environment(home, libraries)
        output, stopped = run(name, python, args.torch)
        expected = HERE / "expected" / f"{name}.txt"
        if args.torch:
            if not stopped:
                expected.write_text(output)
            print(f"{name}: {stopped or 'written'}", flush=True)
            continue
        good, different = equal_items(output, expected.read_text())
        answers[name] = version(name, python), good, good + len(different), stopped
        print(f"{name}: {good} of {good + len(different)} {stopped}", flush=True)
        for line in different if args.verbose else ():
            print(f"    {line}"[:300], flush=True)
    if args.page and answers:
        table, more, rest = PAGE.read_text().partition("\n## ")
        rows = [line for line in table.splitlines() if line.startswith("| ")][1:]
        lines = {row.split()[1]: row for row in rows}  # those of other names remain
        for name, (number, good, count, stopped) in answers.items():
            said = stopped.replace("|", "/")
            lines[name] = f"| {name} | {number} | {good} of {count} | {said} |"
        text = HEAD.format(date=datetime.date.today())
        PAGE.write_text(text + "".join(f"{lines[name]}\n" for name in sorted(lines)) + more + rest)
    if any(good < count or stopped for _, good, count, stopped in answers.values()):
        sys.exit(1)


if __name__ == "__main__":
    main()
