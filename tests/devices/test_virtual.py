"""Virtual GPUs come and go at any time; what a program sees of them."""

import os
import subprocess
import sys

import pytest

import rushlight as torch

cuda = torch.cuda


@pytest.fixture(autouse=True)
def no_gpus_left_behind():
    assert cuda.device_count() == 0
    yield
    cuda.virtual(0)


def python(source, **environment):
    """The output of a fresh process."""
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("RUSHLIGHT", "CUDA"))}
    plain["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run(
        [sys.executable, "-c", "import os, rushlight as torch\n" + source],
        capture_output=True,
        text=True,
        timeout=60,
        env={**plain, **environment},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_without_a_gpu():
    assert not cuda.is_available() and cuda.device_count() == 0 and not cuda.is_initialized()
    assert torch.version.cuda is None and cuda.get_arch_list() == []
    assert torch.accelerator.current_accelerator() is None
    assert not torch.backends.cudnn.is_available() and not torch.backends.mps.is_available()
    actions = (
        lambda: torch.zeros(1, device="cuda"),
        lambda: torch.ones(2).cuda(),
        lambda: torch.ones(2).to("cuda:0"),
        cuda.current_device,
        cuda.synchronize,
        cuda.get_device_name,
        cuda.Stream,
        cuda.init,
    )
    for action in actions:
        with pytest.raises((RuntimeError, AssertionError)) as caught:
            action()
        text = str(caught.value)
        assert "no driver" in text or "no device" in text or "library not installed" in text
        assert "rushlight run --gpus 4" in text and "torch.cuda.virtual(4)" in text
    cuda.manual_seed(1)  # remembered
    cuda.manual_seed_all(1)
    cuda.empty_cache()
    assert cuda.memory_allocated() == 0 and cuda.memory_stats() == {}


def test_as_a_block():
    with cuda.virtual(4, profile="a100", memory="2GiB") as handle:
        assert handle is not None
        assert cuda.is_available() and cuda.device_count() == 4
        p = cuda.get_device_properties(3)
        assert (p.name, p.major, p.minor) == ("NVIDIA A100-SXM4-40GB (virtual)", 8, 0)
        assert p.total_memory == 2 << 30 and p.multi_processor_count == 108
        assert cuda.get_device_capability("cuda:1") == (8, 0)
        assert torch.version.cuda == "13.0" and torch.backends.cuda.is_built()
        assert str(torch.accelerator.current_accelerator()) == "cuda"
        assert "virtual" in repr(p)
    assert not cuda.is_available()


def test_as_a_call():
    for count in (1, 3, 2):
        cuda.virtual(count)
        assert cuda.device_count() == count
        assert torch.ones(2, device=f"cuda:{count - 1}").sum().item() == 2
    cuda.virtual(0)


def test_blocks_nest_and_tensors_come_back():
    with cuda.virtual(2):
        x = torch.arange(3, device="cuda:1")
        cuda.set_device(1)
        with cuda.virtual(4, memory="64MiB"):
            assert cuda.device_count() == 4
            with pytest.raises(RuntimeError, match="device is gone"):
                x + 1
            assert torch.arange(3, device="cuda:1").tolist() == [0, 1, 2]
        assert cuda.current_device() == 1 and cuda.memory_allocated() == 512
        assert (x + 1).tolist() == [1, 2, 3]
        try:
            with cuda.virtual(1):
                raise KeyError
        except KeyError:
            assert cuda.device_count() == 2


def test_a_tensor_whose_device_is_gone():
    with cuda.virtual(1):
        x = torch.ones(3, device="cuda")
        w = torch.ones(3, device="cuda", requires_grad=True)
        y = (w * 2).sum()
    uses = [
        lambda: x + 1,
        lambda: x.cpu(),
        lambda: x.add_(1),
        lambda: x[0].item(),
        lambda: x.tolist(),
        lambda: print(x),
        lambda: torch.ones(3).copy_(x),
        lambda: y.backward(),
        lambda: x.clone(),
    ]
    for use in uses:
        with pytest.raises(RuntimeError, match="is gone"):
            use()
        with cuda.virtual(2), pytest.raises(RuntimeError, match="is gone"):
            use()
    assert x.shape == (3,) and str(x.device) == "cuda:0"


def test_many_times():
    for i in range(200):
        with cuda.virtual(1 + i % 5):
            torch.zeros(10, device="cuda") + 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((-1,), "from 0 to 64"),
        ((65,), "from 0 to 64"),
        ((2, "z80"), "there is no profile 'z80'"),
        ((2, "t4", "lots"), "no memory size"),
        ((2, "t4", "1KiB"), "no memory size"),
        ((3, ["t4", "v100"]), "one for each"),
    ],
)
def test_wrong_wishes(arguments, words):
    with pytest.raises(ValueError, match=words):
        cuda.virtual(*arguments)


def test_each_its_own_profile():
    with cuda.virtual(2, ["t4", "v100"], ["1GiB", 2 << 30]):
        assert cuda.get_device_name(1) == "Tesla V100-SXM2-16GB (virtual)"
        assert [cuda.mem_get_info(i)[1] for i in (0, 1)] == [1 << 30, 2 << 30]


def test_every_profile():
    for profile, (name, capability, memory, processors) in cuda.virtual.profiles().items():
        with cuda.virtual(1, profile):
            p = cuda.get_device_properties(0)
            assert p.name == f"{name} (virtual)" and (p.major, p.minor) == capability
            assert p.total_memory == memory and p.multi_processor_count == processors


def test_environment():
    source = "c = torch.cuda; print(c.device_count(), c.get_device_name(0), c.mem_get_info(0)[1])"
    assert python(source, RUSHLIGHT_VIRTUAL_GPUS="3") == "3 Tesla T4 (virtual) 15835594752\n"
    both = {"RUSHLIGHT_VIRTUAL_PROFILE": "h100", "RUSHLIGHT_VIRTUAL_MEMORY": "1GiB"}
    expected = "1 NVIDIA H100 80GB HBM3 (virtual) 1073741824\n"
    assert python(source, RUSHLIGHT_VIRTUAL_GPUS="1", **both) == expected
    assert python("print(torch.cuda.is_available())", RUSHLIGHT_VIRTUAL_GPUS="0") == "False\n"


@pytest.mark.parametrize(
    ("value", "physical"),
    [
        ("2,3", [2, 3]),
        ("0,3,2", [0, 3, 2]),
        (" 1 , 0", [1, 0]),
        ("", []),
        ("-1", []),
        ("1,-1,2", [1]),
        ("1,9,2", [1]),
        ("1,x", [1]),
        ("1,1", []),
        ("GPU-00000000-0000-0000-0000-000000000002", [2]),
    ],
)
def test_visible_devices(value, physical):
    source = """
c = torch.cuda
print([int(c.get_device_properties(i).uuid[-1]) for i in range(c.device_count())])
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
print(c.device_count())
"""
    text = python(source, RUSHLIGHT_VIRTUAL_GPUS="4", CUDA_VISIBLE_DEVICES=value)
    assert text == f"{physical}\n{len(physical)}\n"


def test_visible_devices_are_read_at_the_first_use():
    source = """
os.environ["CUDA_VISIBLE_DEVICES"] = "3"
print(torch.cuda.device_count())
"""
    assert python(source, RUSHLIGHT_VIRTUAL_GPUS="4") == "1\n"
    hidden = "print(torch.cuda.is_available())\ntry: torch.zeros(1).cuda()\n"
    hidden += "except RuntimeError as error: print(str(error).splitlines())"
    text = python(hidden, RUSHLIGHT_VIRTUAL_GPUS="4", CUDA_VISIBLE_DEVICES="")
    assert "No CUDA GPUs are available" in text and "CUDA_VISIBLE_DEVICES" in text


def test_importing_touches_nothing():
    source = "import rushlight.cuda; print(torch.cuda.is_initialized(), torch.cuda._initialized)\n"
    source += "torch.cuda.device_count(); print(torch.cuda.is_initialized())\n"
    source += "torch.zeros(1, device='cuda'); print(torch.cuda.is_initialized())"
    assert python(source, RUSHLIGHT_VIRTUAL_GPUS="1").split() == ["False", "False", "False", "True"]


def test_a_forked_child():
    source = """
x = torch.ones(2, device="cuda")
def child(f):
    pid = os.fork()
    if pid == 0:
        try:
            f()
        except BaseException as error:
            print(type(error).__name__, str(error).splitlines()[0], flush=True)
        os._exit(0)
    os.waitpid(pid, 0)
child(lambda: torch.zeros(1, device="cuda"))
child(lambda: x + 1)
child(lambda: print(torch.cuda._is_in_bad_fork(), torch.ones(2).sum().item(), flush=True))
print((x + 1).tolist())
"""
    words = (
        "RuntimeError Cannot re-initialize CUDA in forked subprocess. To use CUDA with "
        "multiprocessing, you must use the 'spawn' start method"
    )
    text = python(source, RUSHLIGHT_VIRTUAL_GPUS="1").splitlines()
    assert text == [words, words, "True 2.0", "[2.0, 2.0]"]


def test_a_child_forked_before_cuda_was_used():
    source = """
print(torch.cuda.is_available(), flush=True)
pid = os.fork()
if pid == 0:
    print(torch.ones(2, device="cuda:1").sum().item(), flush=True)
    os._exit(0)
os.waitpid(pid, 0)
"""
    assert python(source, RUSHLIGHT_VIRTUAL_GPUS="2") == "True\n2.0\n"


@pytest.mark.parametrize(
    ("device_type", "kept"),
    [
        (None, (True, True)),
        ("cuda", (True, True)),
        ("cpu", (True, False)),
        ("meta", (False, False)),
    ],
)
def test_fork_rng_of_a_kind_of_device(device_type, kept):
    """The generators of the CPU and of the GPU that are as before after the block."""
    with cuda.virtual(1):
        before = torch.get_rng_state(), cuda.get_rng_state()
        with torch.random.fork_rng(device_type=device_type):
            torch.rand(3), torch.rand(3, device="cuda")
        after = torch.get_rng_state(), cuda.get_rng_state()
    assert tuple(torch.equal(a, b) for a, b in zip(before, after, strict=True)) == kept


def test_fork_rng_of_no_device():
    with (
        pytest.raises(RuntimeError, match="nowhere"),
        torch.random.fork_rng(device_type="nowhere"),
    ):
        raise AssertionError
