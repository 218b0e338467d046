"""`nvidia-smi` for virtual GPUs: what lessons and scripts read from it."""

import os
import shutil
import subprocess
import time

import pytest

import rushlight as torch

cuda = torch.cuda


def smi(arguments="", check=True):
    command = f"nvidia-smi {arguments}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=20)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(autouse=True)
def gpus():
    with cuda.virtual(4, memory="1GiB"):
        yield


def test_free_memory_by_the_lesson_s_pipeline():
    x = torch.zeros(MIB := 1 << 20, dtype=torch.uint8, device="cuda:2")
    lines = smi("-q -d Memory | grep -A4 GPU | grep Free").splitlines()
    assert [int(line.split()[2]) for line in lines] == [1024, 1024, 1022, 1024]
    assert x.numel() == MIB
    del x
    cuda.empty_cache()
    lines = smi("-q -d Memory | grep -A4 GPU | grep Free").splitlines()
    assert [int(line.split()[2]) for line in lines] == [1024] * 4


def test_table():
    x = torch.zeros(30 << 18, device="cuda:1")
    text = smi()
    assert "virtual" in text and "Tesla T4 (virtual)" in text and x.is_cuda
    assert "30MiB /   1024MiB" in text and str(os.getpid()) in text
    assert {len(line) for line in text.splitlines()[1:] if line} == {91}


def test_list():
    lines = smi("-L").splitlines()
    assert len(lines) == 4
    uuid = cuda.get_device_properties(3).uuid
    assert lines[3] == f"GPU 3: Tesla T4 (virtual) (UUID: {uuid})"
    assert smi("-L -i 2") == lines[2] + "\n"


@pytest.mark.parametrize(
    ("options", "first", "last"),
    [
        ("csv", "index, name, memory.total [MiB]", "3, Tesla T4 (virtual), 1024 MiB"),
        ("csv,noheader", "0, Tesla T4 (virtual), 1024 MiB", "3, Tesla T4 (virtual), 1024 MiB"),
        ("csv,noheader,nounits", "0, Tesla T4 (virtual), 1024", "3, Tesla T4 (virtual), 1024"),
    ],
)
def test_queries(options, first, last):
    lines = smi(f"--query-gpu=index,name,memory.total --format={options}").splitlines()
    assert (lines[0], lines[-1]) == (first, last)


def test_query_of_figures():
    kept = torch.zeros(15 << 18, device="cuda:0")
    query = "--query-gpu=memory.used,memory.free,utilization.gpu,compute_cap,count -i 0"
    assert smi(f"{query} --format=csv,noheader,nounits") == "16, 1008, 0, 7.5, 4\n"
    apps = smi("--query-compute-apps=pid,used_memory --format=csv,noheader")
    assert apps == f"{os.getpid()}, 16 MiB\n" and kept.is_cuda


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--query-gpu=nonsense --format=csv", 'Field "nonsense" is not a valid field to query.'),
        ("--query-gpu=name", "--format"),
        ("dmon", "not known"),
        ("-L -i 9", "No devices were found"),
    ],
)
def test_wrong_calls(arguments, words):
    assert words in smi(arguments, check=False)


def test_it_comes_and_goes():
    here = shutil.which("nvidia-smi")
    folder = os.path.dirname(here)
    assert os.stat(folder).st_mode & 0o777 == 0o700
    with cuda.virtual(2, "a100"):
        assert shutil.which("nvidia-smi") == here and len(smi("-L").splitlines()) == 2
        with cuda.virtual(0):
            assert shutil.which("nvidia-smi") != here
    assert len(smi("-L").splitlines()) == 4
    path = os.environ["PATH"]
    assert path.count(folder) == 1


def test_the_folder_is_removed_at_the_end():
    code = "import rushlight as t, shutil; t.cuda.virtual(1); print(shutil.which('nvidia-smi'))"
    import sys

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    path = done.stdout.strip()
    assert path.endswith("nvidia-smi") and not os.path.exists(os.path.dirname(path))


def test_it_is_quick():
    best = 9.0
    for _ in range(5):
        start = time.perf_counter()
        smi("-L")
        best = min(best, time.perf_counter() - start)
    assert best < 0.5  # about 0.03 s on an idle machine
