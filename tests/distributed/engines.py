"""Which engines worlds of several processes can be tried on here."""

import importlib.util
import os
import shutil
import sys

import rushlight.distributed as dist

MPIEXEC_PATH = shutil.which(
    "mpiexec", path=os.path.dirname(sys.executable) + os.pathsep + os.environ.get("PATH", "")
)
GLOO = dist.is_gloo_available()
MPI = GLOO and MPIEXEC_PATH is not None and importlib.util.find_spec("mpi4py") is not None
