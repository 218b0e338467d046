"""torchrun: `rushlight launch` and `python -m rushlight.distributed.run`, with real processes."""

import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

import pytest

from rushlight.distributed import run as torchrun
from rushlight.distributed._launch.options import read_job

VARIABLES = (
    "RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
    "ROLE_RANK", "ROLE_WORLD_SIZE", "ROLE_NAME", "MASTER_ADDR", "TORCHELASTIC_RESTART_COUNT",
    "TORCHELASTIC_MAX_RESTARTS", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_USE_AGENT_STORE",
    "OMP_NUM_THREADS",
)  # fmt: skip
SHOW = f"""
import json, os, sys
seen = {{name: os.environ.get(name) for name in {VARIABLES}}}
open(sys.argv[1] + "/" + os.environ["RANK"], "w").write(json.dumps([seen, sys.argv[2:]]))
"""


def command(*words, entry=("rushlight.distributed.run",)):
    return [sys.executable, "-m", *entry, *map(str, words)]


def launch(*words, entry=("rushlight.distributed.run",), code=0, **environment):
    given = {k: v for k, v in os.environ.items() if k != "OMP_NUM_THREADS"}
    done = subprocess.run(
        command(*words, entry=entry), env={**given, **environment}, capture_output=True, text=True,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == code, done.stdout + done.stderr
    return done


@pytest.fixture
def program(tmp_path):
    def write(text, name="train.py"):
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def seen(folder, world):
    return [json.loads((folder / str(rank)).read_text()) for rank in range(world)]


def test_every_process_knows_its_place(program, tmp_path):
    launch("--nproc_per_node", 2, "--rdzv-id", "job", program(SHOW), tmp_path, "--epochs", 3)
    for rank, (found, words) in enumerate(seen(tmp_path, 2)):
        assert words == ["--epochs", "3"]
        assert found == {
            "RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2",
            "GROUP_RANK": "0", "GROUP_WORLD_SIZE": "1", "ROLE_RANK": str(rank),
            "ROLE_WORLD_SIZE": "2", "ROLE_NAME": "default", "MASTER_ADDR": "127.0.0.1",
            "TORCHELASTIC_RESTART_COUNT": "0", "TORCHELASTIC_MAX_RESTARTS": "0",
            "TORCHELASTIC_RUN_ID": "job", "TORCHELASTIC_USE_AGENT_STORE": "True",
            "OMP_NUM_THREADS": "1",
        }  # fmt: skip


@pytest.mark.parametrize("backend", ["static", "c10d"])
def test_two_hosts(program, tmp_path, backend):
    with_port = subprocess.run(
        [sys.executable, "-c", "import socket; s = socket.socket(); s.bind(('127.0.0.1', 0)); "
         "print(s.getsockname()[1])"], capture_output=True, text=True, check=True,
    )  # fmt: skip
    port, script = int(with_port.stdout), program(SHOW)
    hosts = []
    for node in range(2):
        where = (
            ["--node-rank", node, "--master-addr", "127.0.0.1", "--master-port", port]
            if backend == "static"
            else ["--rdzv-backend", "c10d", "--rdzv-endpoint", f"127.0.0.1:{port}"]
        )
        words = ["--nnodes", 2, "--nproc-per-node", 2, *where, script, tmp_path]
        hosts.append(subprocess.Popen(command(*words)))
    assert [host.wait(60) for host in hosts] == [0, 0]
    found = [each for each, _ in seen(tmp_path, 4)]
    assert [each["GROUP_RANK"] for each in found] == ["0", "0", "1", "1"]
    assert {each["WORLD_SIZE"] for each in found} == {"4"}


FAILS = """
import os, sys, time
if os.environ["RANK"] == "1" and os.environ["TORCHELASTIC_RESTART_COUNT"] < sys.argv[1]:
    raise ValueError("the second rank is unwell")
time.sleep(0 if os.environ["TORCHELASTIC_RESTART_COUNT"] == sys.argv[1] else 60)
print("well")
"""


def test_a_failure_names_the_rank_and_shows_its_traceback(program):
    done = launch("--nproc-per-node", 2, program(FAILS), 9, code=1)
    assert "train.py FAILED" in done.stderr
    cause = done.stderr[done.stderr.index("Root Cause (first observed failure):") :]
    assert "rank      : 1 (local_rank: 1)" in cause and "exitcode  : 1 (pid: " in cause
    assert "ValueError: the second rank is unwell" in cause and 'train.py", line 4' in cause
    assert "_launch" not in cause and "_runner" not in cause and "runpy" not in cause


def test_all_start_again_after_a_failure(program):
    done = launch("--nproc-per-node", 2, "--max-restarts", 1, program(FAILS), 1)
    assert done.stdout.count("well") == 2


def test_a_signal_is_named(program):
    text = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
    done = launch(program(text), code=1)
    assert "exitcode  : -11 (SIGSEGV)" in done.stderr
    assert re.search(r"Signal 11 \(SIGSEGV\) received by PID \d+", done.stderr)


def test_logs(program, tmp_path):
    text = "import os, sys; print('out', os.environ['RANK']); print('err', file=sys.stderr)"
    logs = tmp_path / "logs"
    words = ["--nproc-per-node", 2, "--log-dir", logs, "--rdzv-id", "job"]
    done = launch(*words, "-r", "0:3", "-t", "1:1", program(text))
    assert done.stdout == "[default1]:out 1\n" and done.stderr == "err\n"
    folder = logs / "job" / "attempt_0"
    assert (folder / "0" / "stdout.log").read_text() == "out 0\n"
    assert (folder / "0" / "stderr.log").read_text() == "err\n"
    assert (folder / "1" / "stdout.log").read_text() == "out 1\n"
    done = launch("--nproc-per-node", 2, "--local-ranks-filter", 1, program(text))
    assert done.stdout == "out 1\n"


def test_a_module_and_another_program(program, tmp_path):
    program(SHOW, "lesson.py")
    launch("-m", "lesson", tmp_path, PYTHONPATH=f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}")
    assert seen(tmp_path, 1)[0][0]["RANK"] == "0"
    done = launch("--no-python", "sh", "-c", "echo $RANK of $WORLD_SIZE")
    assert done.stdout == "0 of 1\n"


def test_torch_is_rushlight_in_rushlight_launch(program):
    script = program("import torch, torch.distributed as d; print(torch.__version__, d.__name__)")
    done = launch("launch", "--nproc-per-node", 1, script, entry=("rushlight",))
    assert "+rushlight" in done.stdout and done.stdout.endswith(".distributed\n")


def alive(pid):
    try:
        return (
            "Z" not in pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        )
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_is_left_behind(program, tmp_path, number):
    text = "import os, sys, time; open(sys.argv[1] + '/' + str(os.getpid()), 'w'); time.sleep(60)"
    started = tmp_path / "started"
    started.mkdir()
    agent = subprocess.Popen(
        command("--nproc-per-node", 2, program(text), started), stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 30
    while len(list(started.iterdir())) < 2 and time.monotonic() < end:
        time.sleep(0.02)
    pids = [int(path.name) for path in started.iterdir()]
    assert len(pids) == 2
    agent.send_signal(number)
    _, said = agent.communicate(timeout=30)
    assert agent.returncode == (-9 if number == signal.SIGKILL else 128 + number)
    if number != signal.SIGKILL:
        assert f"the launcher received {signal.Signals(number).name}" in said
    while any(map(alive, pids)) and time.monotonic() < end:
        time.sleep(0.02)
    assert not any(map(alive, pids))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--nnodes", "1:4"], "a number of hosts is needed"),
        (["--nnodes", "2"], "several hosts need --master-addr and --master-port"),
        (["--nnodes", "2", "--master-port", "5", "--node-rank", "2"], "hosts are 0 to 1"),
        (["--nnodes", "2", "--master-port", "5"], "--node-rank says which of the hosts"),
        (["--nnodes", "2", "--standalone"], "--standalone is for one host"),
        (["--rdzv-backend", "etcd"], "no rendezvous over etcd"),
        (["--nproc-per-node", "some"], "Unsupported nproc_per_node value: some"),
        (["-r", "7"], "0 to 3"),
    ],
)
def test_wrong_options(words, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        read_job(torchrun.parse_args([*words, "train.py"]))


def test_options_from_the_environment(monkeypatch):
    monkeypatch.setenv("PET_NPROC_PER_NODE", "3")
    monkeypatch.setenv("PET_STANDALONE", "1")
    args = torchrun.parse_args(["train.py"])
    assert read_job(args).processes == 3 and args.standalone is True
    assert read_job(torchrun.parse_args(["--nproc-per-node=2", "train.py"])).processes == 2
