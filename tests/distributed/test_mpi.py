"""backend="mpi", in programs that mpiexec started; the variables of srun and mpiexec."""

import os
import pathlib
import subprocess
import sys

import pytest

import rushlight
import rushlight.distributed as dist
from rushlight.distributed import _job
from tests.distributed.engines import MPIEXEC_PATH


def mpiexec(size, what):
    env = {
        **os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(rushlight.__file__)),
        "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    }  # fmt: skip
    folder = pathlib.Path(__file__).parent.parent.parent
    command = [MPIEXEC_PATH, "-n", str(size), sys.executable, "-m", "tests.distributed.mpi_world"]
    return subprocess.run(
        [*command, what], env=env, cwd=folder, text=True, capture_output=True, timeout=120
    )


@pytest.mark.mpi
@pytest.mark.parametrize("size", [2, 3])
def test_as_gloo(size):
    ended = mpiexec(size, "same")
    assert ended.stdout.count("the same") == size, ended.stdout + ended.stderr


@pytest.mark.mpi
def test_calls_that_differ_name_both_sides():
    said = mpiexec(2, "differing").stdout.splitlines()
    named = [line for line in said if "the ranks do not call the same" in line]
    # Rank 0 has the store, and may have ended before rank 1 asks it.
    assert len(said) == 2 and named, said
    for line in named:
        assert "(float32[2], SUM)" in line and "(float32[3], SUM)" in line


@pytest.mark.mpi
@pytest.mark.parametrize("what", ["alone", "raising"])
def test_a_rank_that_fails_ends_all(what):
    ended = mpiexec(2, what)
    assert ended.returncode != 0
    if what == "alone":
        assert "Timed out waiting 3000ms" in ended.stdout and "rank 1 has not come" in ended.stdout
    else:
        assert "ValueError: as was asked for" in ended.stderr


def test_without_mpiexec(monkeypatch):
    for name in ("PMI_RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(RuntimeError, match=r"mpiexec -n 4|rushlight\[mpi\]"):
        dist.init_process_group("mpi")
    assert not dist.is_mpi_available()


SRUN = {
    "SLURM_PROCID": "5", "SLURM_NTASKS": "8", "SLURM_LOCALID": "1", "SLURM_NNODES": "2",
    "SLURM_JOB_ID": "77", "SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "node[03-04,7],other",
}  # fmt: skip
MPIEXEC = {"PMI_RANK": "1", "PMI_SIZE": "2", "MPI_LOCALRANKID": "1", "MPI_LOCALNRANKS": "2"}
OPEN_MPI = {
    "OMPI_COMM_WORLD_RANK": "3", "OMPI_COMM_WORLD_SIZE": "4", "OMPI_COMM_WORLD_LOCAL_RANK": "0",
    "OMPI_COMM_WORLD_LOCAL_SIZE": "2", "PMIX_NAMESPACE": "prterun-17",
}  # fmt: skip


@pytest.mark.parametrize(
    "variables, expected",
    [
        (SRUN, ["srun", "5", "8", "1", "node03"]),
        ({**SRUN, "SLURM_STEP_NODELIST": "host-a"}, ["srun", "5", "8", "1", "host-a"]),
        ({**SRUN, "SLURM_NNODES": "1"}, ["srun", "5", "8", "1", "127.0.0.1"]),
        (MPIEXEC, ["mpiexec", "1", "2", "1", "127.0.0.1"]),
        (OPEN_MPI, ["mpiexec of Open MPI", "3", "4", "0", None]),
        ({}, [None] * 5),
    ],
)
def test_variables_of_srun_and_mpiexec(variables, expected, monkeypatch):
    for name in list(os.environ):
        if name.startswith(("SLURM_", "PMI_", "MPI_", "OMPI_", "PMIX_", "LOCAL_RANK", "MASTER_")):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR")
    assert [_job.program(), *map(_job.variable, names)] == expected
    port = _job.variable("MASTER_PORT")
    assert (port is None) if not variables else 20000 <= int(port) < 32000
    if variables is OPEN_MPI:
        monkeypatch.setenv("RANK", "0")
        with pytest.raises(ValueError, match="MASTER_ADDR expected, but not set\nmpiexec of Open"):
            dist.init_process_group("gloo")


@pytest.mark.mpi
def test_gloo_under_mpiexec_needs_no_variables():
    program = (
        "import rushlight as t, rushlight.distributed as d; d.init_process_group('gloo');"
        "d.all_reduce(x := t.ones(1)); same = d.get_node_local_rank() == d.get_rank();"
        "print(f'{x.item()} {same}')"
    )
    env = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(rushlight.__file__))}
    command = [MPIEXEC_PATH, "-n", "2", sys.executable, "-c", program]
    ended = subprocess.run(command, env=env, text=True, capture_output=True, timeout=60)
    assert ended.stdout.count("2.0 True") == 2, ended.stderr
