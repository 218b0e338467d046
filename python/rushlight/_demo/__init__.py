# `rushlight demo`: the five documents' notebooks, cell by cell, on virtual GPUs. They are beside
# this file in an installed package, in notebooks/ in the source tree.
import os
import shutil
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TOUR = (
    (
        "000_data_parallel",
        "A batch over several GPUs: DataParallel splits it and gathers results.",
    ),
    ("001_one_gpu", "Tensors and models on a GPU, and what happens when devices mix."),
    ("002_many_gpus", "Which GPUs a program sees, the main GPU, and which has most memory left."),
    ("003_to_device", "Every form of .to, and checkpoints that change devices."),
    ("004_training", "What goes onto the GPU; then a CNN learns from images of digits."),
)


def find_notebooks() -> str:
    tree = os.path.normpath(os.path.join(HERE, "..", "..", "..", "notebooks"))
    for folder in (os.path.join(HERE, "notebooks"), tree):
        if os.path.isfile(os.path.join(folder, TOUR[0][0] + ".ipynb")):
            return folder
    sys.exit("rushlight: the notebooks of the demo are not installed")


def show_code(source: str, may_raise: bool) -> None:
    note = ["  (the lesson expects an error here)"] if may_raise else []
    print("", *(f"  | {line}" for line in source.splitlines()), *note, sep="\n", flush=True)


def main() -> None:
    """Runs the tour; what it writes goes into a folder that is removed at the end."""
    from .._runner.notebook import run_notebook

    for name in ("CUDA_VISIBLE_DEVICES", "RUSHLIGHT_VIRTUAL_GPUS"):  # the lessons choose their own
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory(prefix="rushlight-demo-") as scratch:
        folder = os.path.join(scratch, "notebooks")
        shutil.copytree(find_notebooks(), folder)
        os.environ["TMPDIR"] = scratch
        for number, (name, explanation) in enumerate(TOUR):
            print(f"\n== Document {number:03}. {explanation}")
            run_notebook(os.path.join(folder, name + ".ipynb"), [], before=show_code)
