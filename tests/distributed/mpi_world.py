"""What test_mpi.py starts by mpiexec: collectives on MPI and on Gloo must answer the same."""

import os
import sys
import time

import rushlight as torch
import rushlight.distributed as dist
from tests.distributed import test_collectives, test_surface


def answers():
    rank, size = dist.get_rank(), dist.get_world_size()
    found = [test_collectives.shapes(rank, size)]
    if size == 3:
        found += test_surface.everything(rank, size)
    else:
        found.append(test_collectives.reductions(rank, size))
    return repr(found).replace("mpi", "gloo")


def same():
    found = []
    for backend in ("mpi", "gloo", "mpi"):
        dist.init_process_group(backend)
        if backend == "mpi":  # torch's has none
            dist.monitored_barrier = lambda **options: None
        found.append(answers())
        assert str(dist.get_backend()) == backend
        dist.destroy_process_group()
    print("the same" if found[0] == found[1] == found[2] else found, flush=True)


def differing():
    dist.init_process_group("mpi")
    rank = dist.get_rank()
    try:
        dist.all_reduce(torch.ones(2 + rank))
    except dist.DistBackendError as error:
        print(repr(str(error)), flush=True)
    dist.destroy_process_group()


def alone():
    """One rank never comes: an error after the time-out, and the end of all."""
    from datetime import timedelta

    dist.init_process_group("mpi", timeout=timedelta(seconds=3))
    if dist.get_rank() == 1:
        time.sleep(60)
    try:
        dist.all_reduce(torch.ones(2))
    except dist.DistBackendError as error:
        print(repr(str(error)), flush=True)


def raising():
    dist.init_process_group("mpi")
    if dist.get_rank() == 1:
        raise ValueError("as was asked for")
    dist.all_reduce(torch.ones(2))


if __name__ == "__main__":
    sys.path.insert(0, os.getcwd())
    globals()[sys.argv[1]]()
