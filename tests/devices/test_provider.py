"""The provider of real GPUs: on a GPU where RUSHLIGHT_TEST_GPU=1, and on the CPU where
RUSHLIGHT_CUDA_LIBRARY names the emulated library (CONTRIBUTING.md). How it is found is tested
everywhere.
"""

import os
import subprocess
import sys
import textwrap

import pytest

import rushlight as torch
from rushlight import nn
from tests.conftest import EMULATED, REAL

real = pytest.mark.provider


def run(program, **environment):
    """The output of a program in a process of its own; it must end well."""
    merged = {**os.environ, "RUSHLIGHT_LAUNCH_BLOCKING": "", **environment}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env=merged, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_library_that_cannot_be_loaded_is_named(tmp_path):
    program = """
        import rushlight as torch
        assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
        try:
            torch.zeros(2, device="cuda")
        except AssertionError as error:
            print(error)
    """
    text = run(program, RUSHLIGHT_CUDA_LIBRARY=str(tmp_path / "absent.so"))
    assert "CUDA library cannot be used" in text and "absent.so" in text
    wrong = tmp_path / "wrong.so"
    source = tmp_path / "wrong.c"
    source.write_text("void* rushlight_cuda_backend(int abi) { return 0; }")
    if subprocess.run(["gcc", "-shared", "-o", wrong, source], check=False).returncode == 0:
        assert "another version" in run(program, RUSHLIGHT_CUDA_LIBRARY=str(wrong))


@pytest.mark.parametrize(
    ("answers", "begins", "names"),
    [
        ((12080, 0, 1), "The NVIDIA driver on your system is too old (found version 12080). Please "
         "update your GPU driver", "it is for CUDA 12.8, and the CUDA library of rushlight needs "
         "one for CUDA 13 (580 or newer)"),
        ((13000, 100, 0), "No CUDA GPUs are available", "and it shows no GPU"),
        ((13000, 803, 0), "No CUDA GPUs are available", "and it answers error 803"),
        ((13000, 0, 0), "No CUDA GPUs are available", "and it shows no GPU"),
    ],
)  # fmt: skip
def test_a_driver_that_does_not_serve(tmp_path, answers, begins, names):
    version, error, count = answers
    source = tmp_path / "driver.c"
    source.write_text(f"""
        int cuDriverGetVersion(int* v) {{ *v = {version}; return 0; }}
        int cuInit(unsigned flags) {{ return {error}; }}
        int cuDeviceGetCount(int* n) {{ *n = {count}; return {error}; }}
    """)
    subprocess.run(["gcc", "-shared", "-o", tmp_path / "libcuda.so.1", source], check=True)
    program = """
        import rushlight as torch
        assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
        try:
            torch.zeros(2, device="cuda")
        except RuntimeError as error:
            print(error)
    """
    text = run(program, RUSHLIGHT_CUDA_LIBRARY="", LD_LIBRARY_PATH=str(tmp_path))
    assert text.startswith(begins) and names in text and "RUSHLIGHT_VIRTUAL_GPUS" in text


@pytest.mark.emulated
def test_a_runtime_that_answers_with_an_error():
    program = """
        import rushlight as torch
        assert not torch.cuda.is_available()
        try:
            torch.zeros(2, device="cuda")
        except RuntimeError as error:
            print(error)
    """
    text = run(program, RUSHLIGHT_EMULATED_ERROR="35")
    assert text.startswith("No CUDA GPUs are available")
    assert "CUDA error: CUDA driver version is insufficient" in text
    assert "finds none" in run(program, RUSHLIGHT_EMULATED_ERROR="100")


def test_virtual_gpus_are_served_first(tmp_path):
    program = """
        import rushlight as torch
        with torch.cuda.virtual(3):
            assert torch.cuda.device_count() == 3
            assert "virtual" in torch.cuda.get_device_name(0)
        print(torch.cuda.device_count())
    """
    assert run(program, RUSHLIGHT_CUDA_LIBRARY=str(tmp_path / "absent.so")) == "0\n"


@pytest.mark.emulated
def test_gpus_that_it_has_no_code_for():
    """The emulated library says that it was built for 80-real, 90-real and 100."""
    say = """
        import rushlight as torch
        try:
            print(torch.cuda.device_count(), torch.zeros(1, device="cuda").item())
        except Exception as error:
            print(error)
        from rushlight.__main__ import main; import sys; sys.argv[1:] = ["info"]; main()
    """
    for capability in ("80", "86", "89", "90", "100", "103", "120"):
        assert run(say, RUSHLIGHT_EMULATED_CAPABILITY=capability).startswith("2 0.0")
    for capability in ("75", "87 75"):
        text = run(say, RUSHLIGHT_EMULATED_CAPABILITY=capability)
        assert text.startswith("1 0.0" if " " in capability else "No CUDA GPUs are available")
        assert "has compute capability 7.5, and this library was built for 80-real" in text
        assert "RUSHLIGHT_CUDA_ARCHS=75-real" in text


@real
def test_what_it_says_of_itself():
    assert torch._C._cuda.provider() == "cuda"
    p = torch.cuda.get_device_properties(0)
    assert p.warp_size == 32 and p.total_memory > 0 and p.uuid.startswith("GPU-")
    assert not EMULATED or p.name == "Emulated GPU"


@real
def test_memory_is_accounted_for():
    torch.cuda.empty_cache()
    before = torch.cuda.memory_allocated()
    x = torch.empty(1000, device="cuda")
    assert torch.cuda.memory_allocated() - before == 4096
    assert torch.cuda.memory_reserved() >= torch.cuda.memory_allocated()
    del x
    assert torch.cuda.memory_allocated() == before


@real
def test_out_of_memory_and_on():
    kept = torch.ones(10, device="cuda")
    total = torch.cuda.get_device_properties(0).total_memory
    with pytest.raises(torch.cuda.OutOfMemoryError, match=r"CUDA out of memory. Tried to allocate"):
        torch.empty(total, dtype=torch.float64, device="cuda")
    assert (kept + 1).sum().item() == 20
    assert torch.cuda.memory_stats()["num_ooms"] >= 1


@real
def test_bad_indices_do_not_end_the_device():
    """Each is an IndexError, at the latest from the call that reads; then a product is right."""
    print(
        run("""
        import rushlight as torch
        import rushlight.nn.functional as F
        a = torch.arange(12., device="cuda").reshape(3, 4)
        expected = (a.cpu() @ a.cpu().t()).tolist()
        bad = torch.tensor([0, 99], device="cuda")
        calls = [
            lambda: a[bad],
            lambda: a.gather(0, bad.reshape(1, 2)),
            lambda: F.embedding(bad, a),
            lambda: F.cross_entropy(a[:2], bad),
            lambda: a.clone().index_put_((bad,), torch.ones((), device="cuda")),
        ]
        for i in range(50):
            try:
                calls[i % len(calls)]()
                torch.cuda.synchronize()
            except IndexError as error:
                assert "99" in str(error) and "LAUNCH_BLOCKING" in str(error), error
            else:
                raise SystemExit(f"call {i % len(calls)} raised nothing")
            assert (a @ a.t()).tolist() == expected
    """)
    )


@real
def test_a_bad_index_is_raised_at_once_where_calls_wait():
    run(
        """
        import rushlight as torch
        a = torch.zeros(3, 4, device="cuda")
        try:
            a[torch.tensor([0, 99], device="cuda")]
        except IndexError as error:
            assert "index 99 is out of bounds for dimension with size 3" in str(error), error
        else:
            raise SystemExit("nothing was raised")
    """,
        RUSHLIGHT_LAUNCH_BLOCKING="1",
    )


@real
def test_positions_from_the_end_and_masks():
    a = torch.arange(12.0, device="cuda").reshape(3, 4)
    at = torch.tensor([-1, 0], device="cuda")
    assert a[at].tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    assert a[:, at].tolist() == [[3, 0], [7, 4], [11, 8]]
    assert a[a > 8].tolist() == [9, 10, 11]
    a[at, at] = -1
    assert a[2].tolist() == [8, 9, 10, -1] and a[0, 0].item() == -1


@real
def test_streams_and_events():
    stream = torch.cuda.Stream()
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    with torch.cuda.stream(stream):
        start.record()
        x = torch.ones(1000, device="cuda") * 3
        end.record()
    end.synchronize()
    assert start.elapsed_time(end) >= 0 and end.query()
    stream.synchronize()
    torch.cuda.current_stream().wait_stream(stream)
    assert x.sum().item() == 3000


@real
def test_copies_between_host_and_devices():
    x = torch.arange(10.0).pin_memory()
    assert x.is_pinned()
    there = x.to("cuda", non_blocking=True)
    assert there.cpu().tolist() == x.tolist()
    if torch.cuda.device_count() > 1:
        assert there.to("cuda:1").to("cuda:0").tolist() == x.tolist()


@real
def test_random_numbers_follow_the_seed():
    def draw():
        return torch.rand(1000, device="cuda"), torch.randn(1000, device="cuda")

    torch.manual_seed(7)
    first, normal = draw()
    assert first.tolist() != torch.rand(1000, device="cuda").tolist()
    torch.manual_seed(7)
    draw()
    state = torch.cuda.get_rng_state()
    then = torch.rand(5, device="cuda")
    torch.manual_seed(7)
    again, _ = draw()
    assert first.tolist() == again.tolist()
    torch.cuda.set_rng_state(state)
    assert torch.rand(5, device="cuda").tolist() == then.tolist()
    assert first.min().item() >= 0 and first.max().item() < 1
    assert abs(first.mean().item() - 0.5) < 0.05 and abs(normal.mean().item()) < 0.15
    assert abs(normal.std().item() - 1) < 0.1
    assert sorted(torch.randperm(50, device="cuda").tolist()) == list(range(50))


def small_network():
    """The same weights in each call."""
    torch.manual_seed(3)
    return nn.Sequential(
        nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(36, 5),
    )  # fmt: skip


def losses_of(model, device, steps=3):
    """Of a few steps of training on `device`."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(6, 3, 8, 8, generator=generator).to(device)
    y = (torch.arange(6) % 5).to(device)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@real
def test_a_network_trains_as_on_the_cpu():
    expected = losses_of(small_network(), "cpu")
    assert losses_of(small_network().to("cuda"), "cuda") == pytest.approx(expected, rel=1e-4)


@real
@pytest.mark.skipif(REAL and torch.cuda.device_count() < 2, reason="needs two GPUs")
def test_replicas_train_as_one():
    def network(device):  # batch norm would see half of the batch
        model = small_network()
        model[1] = nn.Identity()
        return model.to(device)

    expected = losses_of(network("cpu"), "cpu")
    replicas = nn.DataParallel(network("cuda:0"), device_ids=[0, 1])
    assert losses_of(replicas, "cuda:0") == pytest.approx(expected, rel=1e-4)


def fork_after(first):
    """A child forked after `first` is refused the GPU, with torch's words."""
    run(f"""
        import os
        import rushlight as torch
        {first}
        child = os.fork()
        if child == 0:
            try:
                torch.zeros(2, device="cuda")
            except RuntimeError as error:
                os._exit(0 if "Cannot re-initialize CUDA in forked" in str(error) else 1)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
    """)


@real
def test_a_forked_child_may_not_use_it():
    fork_after("torch.zeros(2, device='cuda')")
