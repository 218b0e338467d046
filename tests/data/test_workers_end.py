"""How workers end where Python's collector finds a loader that nobody finished."""

import subprocess
import sys

PROGRAM = """
import gc, sys
import rushlight as torch
from rushlight.utils.data import DataLoader

class Bad(torch.utils.data.Dataset):
    def __len__(self):
        return 4
    def __getitem__(self, i):
        raise ValueError("bad sample")

gc.disable()
batches = iter(DataLoader(Bad(), num_workers=1))
circle = [batches]
circle.append(circle)

class Collects:
    def find_spec(self, name, *rest):
        if name == "multiprocessing.context" or name.startswith("tempfile"):
            gc.collect()  # within the import of multiprocessing.connection

sys.meta_path.insert(0, Collects())
del batches, circle
sys.modules.pop("tempfile", None)
import multiprocessing.connection
gc.collect()
print("ended")
"""


def test_within_an_import():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert (done.stdout, done.stderr, done.returncode) == ("ended\n", "", 0)
