# `rushlight demo`: five short programs on virtual GPUs, one for each of the lessons in notebooks/.
# They are plain programs that import torch; each is run by `rushlight run` in a process of its own.
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOUR = (
    ("data_parallel.py", "One batch over four GPUs: DataParallel splits 30 rows as chunk does."),
    ("one_gpu.py", "Tensors and models on a GPU, and what happens when devices mix."),
    ("many_gpus.py", "Which GPUs a program sees, and which has most memory left."),
    ("moving.py", "Every form of .to, and checkpoints that change devices."),
    ("training.py", "A CNN that learns, on a GPU, with its loss falling."),
)


def main() -> None:
    """Runs the tour; options of `rushlight run` that were given hold for every program."""
    gpus = os.environ.get("RUSHLIGHT_VIRTUAL_GPUS", "4")
    home = os.path.dirname(os.path.dirname(HERE))
    paths = [home, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "RUSHLIGHT_VIRTUAL_GPUS": gpus,
    }
    for number, (name, explanation) in enumerate(TOUR, 1):
        print(f"\n== {number}. {explanation}\n   ({os.path.join(HERE, name)})\n", flush=True)
        command = [sys.executable, "-m", "rushlight", "run", os.path.join(HERE, name)]
        done = subprocess.run(command, env=environment, check=False)
        if done.returncode:
            sys.exit(done.returncode)
