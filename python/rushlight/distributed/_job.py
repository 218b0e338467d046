"""The variables of srun and of mpiexec, where torchrun's are not set."""

from __future__ import annotations

import os
import re
import zlib

# What tells the rank, the size, the rank on the host and how many are on it, by the program that
# starts processes: Open MPI's mpiexec, those of MPICH and Intel MPI, srun. In this order, as srun
# may start an MPI's own.
_PROGRAMS = {
    "mpiexec of Open MPI": (
        "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
    "mpiexec": ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    "srun": ("SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
}  # fmt: skip


def program():
    """What started this process: "srun", "mpiexec", ... or None."""
    for name, (rank, size, *_) in _PROGRAMS.items():
        if rank in os.environ and size in os.environ:
            return name
    return None


def _value(column):
    name = program()
    return os.environ.get(_PROGRAMS[name][column]) if name else None


def _is_on_one_host():
    if program() == "srun":
        return os.environ.get("SLURM_NNODES", os.environ.get("SLURM_JOB_NUM_NODES")) == "1"
    return _value(1) == _value(3)


def _first_host(hosts):
    """The first of srun's "node[01-04,7],other"."""
    found = re.match(r"([^,\[]+)(?:\[([^,\-\]]+))?", hosts)
    return found[1] + (found[2] or "") if found else None


def _address():
    if _is_on_one_host():
        return "127.0.0.1"
    if program() == "srun":
        names = ("SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST")
        return next((_first_host(os.environ[n]) for n in names if os.environ.get(n)), None)
    return None


def _port():
    """One that all processes of the job, and of no other, find: a checksum of what names it."""
    if program() == "srun":
        names: tuple[str, ...] = ("SLURM_JOB_ID", "SLURM_STEP_ID")
    else:
        names = ("PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid")
    job = "/".join(os.environ.get(n, "") for n in names).strip("/")
    if not job and _is_on_one_host():
        job = str(os.getppid())
    return str(20000 + zlib.crc32(job.encode()) % 12000) if job else "29500"


def variable(name):
    """The value that torchrun's variable would have, or None."""
    if program() is None:
        return None
    columns = {"RANK": 0, "WORLD_SIZE": 1, "LOCAL_RANK": 2}
    if name in columns:
        return _value(columns[name])
    return {"MASTER_ADDR": _address, "MASTER_PORT": _port}[name]()
