"""The five documents' code, run unedited by `rushlight run`: on the CPU and on virtual GPUs.

programs/ holds the code as the documents have it, with straight quotes and line breaks where they
were lost. For one, torch's own output for the same seed is the expected text.
"""

import ast
import os
import pathlib
import re
import subprocess
import sys

import pytest

from tests.conftest import ask

PROGRAMS = pathlib.Path(__file__).parent / "programs"
SEED = "import torch; torch.manual_seed(0)\n"


def clean_environment():
    names = ("RUSHLIGHT_", "CUDA_VISIBLE")
    return {k: v for k, v in os.environ.items() if not k.startswith(names)}


def program(name, before="", after=""):
    return before + (PROGRAMS / f"{name}.py").read_text(encoding="utf-8") + after


def execute(folder, source, command, environment):
    path = folder / "document.py"
    path.write_text(source, encoding="utf-8")
    return subprocess.run(
        [sys.executable, *command, str(path)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env=environment,
    )


def run(folder, source, *options, fails=False):
    """The output of `rushlight run`; of one that fails, the error text."""
    environment = clean_environment()
    environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)
    done = execute(folder, source, ["-m", "rushlight", "run", *options], environment)
    assert (done.returncode != 0) == fails, done.stdout + done.stderr
    return done.stderr if fails else done.stdout


def run_torch(folder, source):
    """What torch itself prints on its CPU."""
    environment = {**clean_environment(), "OMP_NUM_THREADS": "1"}
    environment.pop("PYTHONPATH", None)
    done = execute(folder, source, ["-W", "ignore"], environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def shown(source):
    """Cells as a notebook shows them: the value of a last expression is printed."""
    cells = []
    for cell in source.split("# %%\n"):
        tree = ast.parse(cell)
        if tree.body and isinstance(tree.body[-1], ast.Expr):
            last = ast.get_source_segment(cell, tree.body[-1])
            if not last.startswith("print"):
                head = "\n".join(cell.splitlines()[: tree.body[-1].lineno - 1])
                cell = f"{head}\n_ = {last}\nif _ is not None: print(repr(_))\n"
        cells.append(cell)
    return "\n".join(cells)


# ---- 000: DataParallel over a data set of random rows


def test_000_on_the_cpu_prints_what_torch_prints(tmp_path):
    source = program("000", before=SEED)
    assert run(tmp_path, source) == ask(lambda torch: run_torch(tmp_path, source))


SPLITS = {
    1: ([30], [10]),
    2: ([15, 15], [5, 5]),
    3: ([10, 10, 10], [4, 4, 2]),
    4: ([8, 8, 8, 6], [3, 3, 3, 1]),
}


@pytest.mark.parametrize("gpus", SPLITS)
def test_000_on_virtual_gpus(tmp_path, gpus):
    text = run(tmp_path, program("000", before=SEED), "--gpus", str(gpus))
    sizes = [int(n) for n in re.findall(r"input_size torch\.Size\(\[(\d+), 5\]\)", text)]
    whole, last = SPLITS[gpus]
    assert sizes == whole * 3 + last
    name = "AddmmBackward0" if gpus == 1 else "GatherBackward"
    assert text.count(f"device='cuda:0', grad_fn=<{name}>)") == 4
    assert text.count("device='cuda:0')\n") == 4
    on_cpu = run(tmp_path, program("000", before=SEED))
    rows = re.compile(r"\[ *-?\d+\.\d+.*?\]")
    assert rows.findall(text) == rows.findall(on_cpu)  # the same numbers, however they were split


# ---- 001: one GPU


def test_001_without_a_gpu_says_how_to_get_one(tmp_path):
    error = run(tmp_path, program("001"), fails=True)
    assert "no driver" in error or "CUDA library not installed" in error
    assert "--gpus 4" in error and "torch.cuda.virtual(4)" in error


def test_001_on_a_virtual_gpu(tmp_path):
    assert run(tmp_path, program("001"), "--gpus", "1", "--profile", "gtx1050").splitlines() == [
        "True 1 0",
        "GeForce GTX 1050 Ti (virtual)",
        "tensor([1., 2., 3.])",
        "tensor([1., 2., 3.], device='cuda:0')",
        "cuda:0",
        "tensor([1, 2, 3], device='cuda:0')",
        "tensor([1, 4, 9], device='cuda:0')",
    ]


def test_001_devices_do_not_mix(tmp_path):
    error = run(tmp_path, program("001", after="z=y+x.cpu()\n"), "--gpus", "1", fails=True)
    words = "Expected all tensors to be on the same device, but found at least two devices, "
    assert words + "cuda:0 and cpu!" in error


def test_001_a_model_refuses_integers(tmp_path):
    error = run(tmp_path, program("001_model"), "--gpus", "1", fails=True)
    last = error[error.index("RuntimeError") :]
    assert re.search("[Ll]ong|int64", last) and re.search("[Ff]loat", last), error


# ---- 002: .to, logical and physical GPUs, free memory


def test_002_to_returns_the_same_tensor_when_nothing_moves(tmp_path):
    lines = run(tmp_path, program("002_to")).splitlines()
    assert lines[:3] == ["torch.float32", "torch.float64", "cpu"]
    assert lines[4] == lines[6] and lines[4].startswith("device: cpu is_cuda: False id: ")


def test_002_to_on_a_gpu(tmp_path):
    lines = run(tmp_path, program("002_to"), "--gpus", "1").splitlines()
    assert lines[2] == "cuda:0"
    assert lines[6].startswith("device: cuda:0 is_cuda: True id: ")
    assert lines[4].split()[-1] != lines[6].split()[-1]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ('import os; os.environ.setdefault("CUDA_VISIBLE_DEVICES", "2", "3")', "TypeError"),
        ("import torch; device = torch.device(cpu)", "NameError: name 'cpu' is not defined"),
    ],
)
def test_002_lines_that_python_refuses(tmp_path, line, error):
    assert error in run(tmp_path, line, fails=True)


@pytest.mark.parametrize(("gpus", "batches"), [(0, [16]), (1, [16]), (4, [8, 8])])
def test_002_parallel(tmp_path, gpus, batches):
    text = run(tmp_path, program("002_parallel"), "--gpus", str(gpus))
    assert [int(n) for n in re.findall(r"batch size in forward: (\d+)", text)] == batches
    visible = min(gpus, 2)
    assert text.endswith(
        "model outputs.size: torch.Size([16, 3])\n"
        f"CUDA_VISIBLE_DEVICES :0,1\ndevice_count :{visible}\n"
    )


def test_002_visible_devices_are_physical(tmp_path):
    source = """
import os
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "2,3")
import subprocess, torch
print(torch.cuda.device_count())
x = torch.zeros(3 << 18, device="cuda:1")
query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
print(subprocess.run(query, capture_output=True, text=True).stdout.split())
os.environ["CUDA_VISIBLE_DEVICES"] = "0"
print(torch.cuda.device_count())
"""
    assert run(tmp_path, source, "--gpus", "4").splitlines() == ["2", "['0', '0', '0', '20']", "2"]


def test_002_the_main_gpu(tmp_path):
    source = program("002_parallel").replace("nn.DataParallel(net)", "nn.DataParallel(net, [1, 2])")
    source = source.replace('"cuda:0"', '"cuda:2"').replace("[0,1]", "[0,1,2]")
    words = (
        "module must have its parameters and buffers on device cuda:1 (device_ids[0]) but found "
        "one of them on device: cuda:2"
    )
    assert words in run(tmp_path, source, "--gpus", "3", fails=True)


def test_002_free_memory(tmp_path):
    after = """
    print(gpu_memory)
    print(list(np.argsort(gpu_memory, kind="stable")[::-1]))
"""
    use = (
        "import torch\nkept = [torch.zeros((i + 1) << 20, device=f'cuda:{i}') for i in range(3)]\n"
    )
    text = run(tmp_path, program("002_memory", use, after), "--gpus", "4", "--memory", "1GiB")
    assert text.splitlines()[0] == str([1024 - 20, 1024 - 20, 1024 - 12, 1024])
    assert not (tmp_path / "tmp.txt").exists()


# ---- 003: every form of .to, checkpoints, versions


def test_003_forms_of_to(tmp_path):
    assert run(tmp_path, program("003_forms"), "--gpus", "3").splitlines() == [
        "torch.float32 torch.float64",
        "cpu device(type='cuda', index=0)",
        "cpu device(type='cuda', index=0)",
        "device(type='cuda', index=0) torch.float64",
        "device(type='cuda', index=0) torch.float64",
        " ".join(["device(type='cuda', index=1)"] * 3),
    ]


@pytest.mark.parametrize("gpus", [0, 1, 3])
def test_003_a_model_anywhere(tmp_path, gpus):
    after = """
PATH = "net.pt"
torch.save(model.state_dict(), PATH)
x = torch.ones(7, 10)
y = model(x.to(device))
print(type(model).__name__, y.device, tuple(y.shape))
def TheModelClass():
    new = Net()
    return nn.DataParallel(new) if torch.cuda.device_count() > 1 else new
device = torch.device('cpu')
model = Net()
state = torch.load(PATH, map_location=device)
print({v.device for v in state.values()})
model.load_state_dict({k.removeprefix("module."): v for k, v in state.items()})
model.to(device)
print(torch.allclose(model(x), y.cpu()))
"""
    text = run(tmp_path, program("003", after=after), "--gpus", str(gpus))
    where = "cuda:0" if gpus else "cpu"
    name = "DataParallel" if gpus > 1 else "Net"
    assert text == f"{name} {where} (7, 1)\n{{device(type='cpu')}}\nTrue\n"


def test_003_checkpoints_between_devices(tmp_path):
    save = program("003") + 'torch.save(Net().cuda(1).state_dict(), "gpu.pt")\n'
    save += 'torch.save(Net().state_dict(), "cpu.pt")\n'
    run(tmp_path, save, "--gpus", "3")
    load = """
import torch
print({v.device for v in torch.load("gpu.pt").values()})
print({v.device for v in torch.load("cpu.pt", map_location="cuda:0").values()})
print({v.device for v in torch.load("gpu.pt", map_location=torch.device("cpu")).values()})
"""
    assert run(tmp_path, load, "--gpus", "2").splitlines() == [
        "{device(type='cuda', index=1)}",
        "{device(type='cuda', index=0)}",
        "{device(type='cpu')}",
    ]
    load = "import torch\ntorch.load('gpu.pt')"
    assert "map_location=torch.device('cpu')" in run(tmp_path, load, fails=True)
    assert "torch.cuda.device_count() is 1" in run(tmp_path, load, "--gpus", "1", fails=True)
    load = (
        "import torch\nprint({v.device for v in torch.load('gpu.pt', map_location='cpu').values()})"
    )
    assert run(tmp_path, load) == "{device(type='cpu')}\n"


def test_003_versions(tmp_path):
    text = run(tmp_path, program("003_versions"), "--gpus", "1", "--profile", "rtx3060")
    assert re.fullmatch(
        r"CUDA版本: \d+\.\d+\nPytorch版本: 2\.13\.0\+rushlight0\.1\n"
        r"显卡是否可用: 可用\n显卡数量: 1\n当前显卡的CUDA算力: \(8, 6\)\n"
        r"当前显卡型号: NVIDIA GeForce RTX 3060 Laptop GPU \(virtual\)\n",
        text,
    )


# ---- 004: what goes where, and a CNN that learns


def test_004_places_on_the_cpu(tmp_path):
    source = shown(program("004_places").rsplit("# %%", 1)[0])
    assert run(tmp_path, source).splitlines() == [
        "No cuda,return cpu device",
        "False",
        "cpu",
        "False",
        "device(type='cpu')",
        "MSELoss()",
    ]


def test_004_unguarded_cuda_explains_itself(tmp_path):
    error = run(tmp_path, program("004_places"), fails=True)
    assert "--gpus 4" in error and "content.cuda()" in error


def test_004_the_legacy_constructor(tmp_path):
    error = run(tmp_path, program("004_places"), "--gpus", "1", fails=True)
    words = "legacy constructor expects device type: cpu but device type: cuda was passed"
    assert f"RuntimeError: {words}" in error


def test_004_places_on_a_gpu(tmp_path):
    meant = "torch.tensor([1.,2,3],device=my_device)"
    source = program("004_places").replace("torch.Tensor([1,2,3],device=my_device)", meant)
    assert run(tmp_path, shown(source), "--gpus", "1").splitlines() == [
        "found cuda,return cuda device",
        "True",
        "cuda:0",
        "True",
        "device(type='cuda', index=0)",
        "MSELoss()",
    ]


def test_004_a_weight_on_the_cpu_is_named(tmp_path):
    error = run(tmp_path, program("004_weight"), "--gpus", "1", fails=True)
    words = (
        "Expected all tensors to be on the same device, but got weight is on cpu, different from "
        "other tensors on cuda:0"
    )
    assert words in error
    source = program("004_weight").replace("loss = criterion(output, target) # error", "")
    run(tmp_path, source, "--gpus", "1")


# A little data set in CIFAR-10's own format: pictures whose colour tells the class.
DATA = """
import os, pickle
import numpy as np

os.makedirs("dataset/cifar-10-batches-py", exist_ok=True)
numbers = np.random.default_rng(0)
for name in [f"data_batch_{i}" for i in range(1, 6)] + ["test_batch"]:
    labels = numbers.integers(0, 10, 128)
    data = numbers.integers(0, 120, (128, 3, 1024)) + 12 * labels[:, None, None]
    batch = {"batch_label": name, "labels": labels.tolist(),
             "data": data.reshape(128, 3072).astype(np.uint8),
             "filenames": [f"{i}.png" for i in range(128)]}
    with open("dataset/cifar-10-batches-py/" + name, "wb") as file:
        pickle.dump(batch, file, protocol=2)
names = "airplane automobile bird cat deer dog frog horse ship truck".split()
with open("dataset/cifar-10-batches-py/batches.meta", "wb") as file:
    pickle.dump({"label_names": names, "num_vis": 3072}, file, protocol=2)
"""
# What the program needs of torchvision, for torch itself, which has none here.
TORCHVISION = """
import pickle, sys, types
import numpy as np, torch

class CIFAR10(torch.utils.data.Dataset):
    def __init__(self, root, train, transform, download):
        names = [f"data_batch_{i}" for i in range(1, 6)] if train else ["test_batch"]
        parts = [pickle.load(open(f"{root}/cifar-10-batches-py/{n}", "rb"))
                 for n in names]
        self.data = np.concatenate([p["data"] for p in parts]).reshape(-1, 3, 32, 32)
        self.labels = sum((p["labels"] for p in parts), [])
    def __len__(self):
        return len(self.labels)
    def __getitem__(self, i):
        return torch.from_numpy(self.data[i].copy()).float().div(255), self.labels[i]

torch.Tensor.cuda = lambda self: self  # the program calls it unguarded
module = types.ModuleType("torchvision")
module.datasets = types.SimpleNamespace(CIFAR10=CIFAR10)
module.transforms = types.SimpleNamespace(ToTensor=lambda: None)
sys.modules["torchvision"] = module
"""
LOSSES = """
import torch.utils.data
torch.set_num_threads(1)
class Told(nn.CrossEntropyLoss):
    def forward(self, outputs, targets):
        loss = super().forward(outputs, targets)
        told.append(loss.item())
        return loss
told = []
nn.CrossEntropyLoss = Told
"""


def training(before=""):
    """The fifth document's training; its first 30 steps' losses are printed too."""
    source = program("004_training", before + SEED).replace(
        "import time\n", "import time\n" + LOSSES, 1
    )
    return source + "\nprint('told', told[:30])\n"


def losses_told(text):
    return ast.literal_eval(text.splitlines()[-1].removeprefix("told "))


def test_004_training(tmp_path):
    exec_in = {"cwd": tmp_path, "check": True, "timeout": 60}
    subprocess.run([sys.executable, "-c", DATA], **exec_in)
    text = run(tmp_path, training(), "--gpus", "1")
    lines = text.splitlines()
    assert lines[:2] == ["训练数据集及的长度为: 640", "测试数据集及的长度为: 128"]
    assert lines[2] == "------第 1 轮训练开始------" and text.count("模型已保存") == 10
    assert re.search(r"训练次数: 100, Loss: \d\.\d+\n", text)
    told = losses_told(text)
    assert len(told) == 30 and told[0] == pytest.approx(2.3, abs=0.2)

    # The event file that TensorBoard reads, and the model that was saved.
    reader = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    events = reader.EventAccumulator(str(tmp_path / "logs_train"))
    events.Reload()
    assert [e.step for e in events.Scalars("train_loss")] == [100]
    assert len(events.Scalars("test_accuracy")) == 10
    source = (
        "import torch\n"
        + program("004_training").split("# 创建网络模型")[1].split("model = Model")[0]
    )
    source = "from torch import nn\n" + source
    source += "m = torch.load('model_9.pth', weights_only=False)\n"
    source += "print(type(m).__name__, next(m.parameters()).device)\n"
    source += "print(m(torch.zeros(1, 3, 32, 32).cuda()).shape)"
    assert run(tmp_path, source, "--gpus", "1") == "Model cuda:0\ntorch.Size([1, 10])\n"

    said = ask(lambda torch: losses_told(run_torch(tmp_path, training(TORCHVISION))))
    assert told == pytest.approx(said, abs=1e-3)


def test_004_training_without_a_gpu_explains_itself(tmp_path):
    exec_in = {"cwd": tmp_path, "check": True, "timeout": 60}
    subprocess.run([sys.executable, "-c", DATA], **exec_in)
    error = run(tmp_path, program("004_training"), fails=True)
    assert "targets = targets.cuda()" in error and "torch.cuda.virtual(4)" in error
