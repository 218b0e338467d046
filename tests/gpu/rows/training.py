"""What programs do: gradients, networks, optimizers, autocast, files, PyTorch in the process."""

import importlib.util
import io

import rushlight as torch
import rushlight.nn.functional as F
from rushlight import nn
from tests.gpu import models
from tests.gpu.rows import EMULATED, row, same, same_gradients, to_gpu


@row("attention, LSTM, CTC", "kernels/cuda/attention.cu, recurrent.cu, ctc.cu")
def _():
    q, k, v = (torch.randn(2, 3, 37, 16) for _ in range(3))
    attend = F.scaled_dot_product_attention
    same_gradients(lambda q, k, v: attend(q, k, v, is_causal=True), q, k, v)
    for kind in (nn.LSTM, nn.GRU):
        layer = kind(5, 7, num_layers=2)
        x = torch.randn(9, 3, 5)
        here = layer(x)[0].detach()
        there = layer.to("cuda")(x.to("cuda"))[0].detach().cpu()
        torch.testing.assert_close(there, here, rtol=1e-4, atol=1e-5)
    scores, labels = torch.randn(12, 2, 6), torch.randint(1, 6, (2, 4))
    lengths = torch.tensor([12, 9]), torch.tensor([4, 3])
    same_gradients(lambda x, y: F.ctc_loss(x.log_softmax(-1), y, *lengths), scores, labels)


@row("autograd", "csrc/autograd/")
def _():
    x, w = torch.randn(17, 9), torch.randn(9, 5)

    def penalty(x, w):
        y = (x @ w).tanh().sum()
        return torch.autograd.grad(y, x, create_graph=True)[0].square().sum()

    same_gradients(penalty, x, w)
    same_gradients(lambda x, w: torch.utils.checkpoint.checkpoint(
        lambda x: (x @ w).relu().cumsum(0), x, use_reentrant=False), x, w)  # fmt: skip


def losses(make, shape, classes, device, steps=4, optimizer=None):
    """Of a few steps of training from one seed."""
    torch.manual_seed(3)
    model = make(torch)
    inputs, targets = torch.randn(*shape), torch.randn(shape[0], classes)
    model.to(device)
    optimizer = (optimizer or (lambda p: torch.optim.SGD(p, lr=0.05)))(model.parameters())
    step = models.step(torch, model, optimizer, inputs.to(device), targets.to(device))
    return torch.stack([step().detach() for _ in range(steps)]).cpu()


def same_losses(make, shape, classes, rtol=1e-3, **options):
    here, there = (losses(make, shape, classes, d, **options) for d in ("cpu", "cuda"))
    torch.testing.assert_close(there, here, rtol=rtol, atol=1e-4)
    assert here[-1] < here[0], here
    return f"losses {', '.join(f'{loss:.4f}' for loss in there.tolist())}"


@row("training steps of an MLP", "csrc/ops/, kernels/cuda/optim.cu")
def _():
    return same_losses(models.mlp, (16, 10), 1)


@row("training steps of a CNN", "kernels/cuda/nvidia/cudnn.cpp, kernels/cuda/pool.cu")
def _():
    torch.backends.cudnn.allow_tf32 = False
    return same_losses(models.cnn, (1 if EMULATED else 8, 3, 32, 32), 10, steps=2)


@row("optimizers", "kernels/cuda/optim.cu")
def _():
    kinds = [torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop,
             torch.optim.Adagrad, torch.optim.Adamax, torch.optim.NAdam]  # fmt: skip
    for kind in kinds:
        same_losses(models.mlp, (16, 10), 1, optimizer=lambda p, kind=kind: kind(p, lr=0.003))
    momentum = {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}
    same_losses(
        models.mlp, (16, 10), 1, optimizer=lambda p: torch.optim.SGD(p, lr=0.01, **momentum)
    )
    return f"{len(kinds)} kinds"


@row("autocast and GradScaler", "csrc/bindings/table/, kernels/cuda/nvidia/cublaslt.cpp")
def _():
    x, w, b = torch.randn(24, 40), torch.randn(16, 40) / 6, torch.randn(16)
    for dtype in (torch.float16, torch.bfloat16):
        with torch.autocast("cuda", dtype=dtype):
            y = F.linear(*map(to_gpu, (x, w, b)))
            assert y.dtype == dtype and y.softmax(-1).dtype == torch.float32
        torch.testing.assert_close(y.float().cpu(), F.linear(x, w, b), rtol=0.05, atol=0.05)
    scaler, p = torch.amp.GradScaler("cuda"), torch.ones(5, device="cuda", requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=1.0)
    for value, expected in ((0.25, 0.75), (float("inf"), 0.75)):  # infinite gradients: no step
        optimizer.zero_grad()
        scaler.scale((p * value).sum()).backward()
        scaler.step(optimizer)
        scaler.update()
        assert p.tolist() == [expected] * 5, p


@row("save and load", "python/rushlight/_serialization/")
def _():
    x, file = torch.randn(33, 7, device="cuda"), io.BytesIO()
    torch.save({"x": x, "row": x[1]}, file)
    file.seek(0)
    loaded = torch.load(file)
    assert loaded["x"].device.type == "cuda" and torch.equal(loaded["x"], x)
    file.seek(0)
    assert torch.equal(torch.load(file, map_location="cpu")["row"], x[1].cpu())
    same(lambda x: x[0], loaded["x"].cpu())


@row("PyTorch in the same process", "kernels/cuda/runtime/devices.cpp")
def _():
    if not importlib.util.find_spec("torch"):
        return "PyTorch is not installed"
    import torch as peer

    if not peer.cuda.is_available():
        return f"PyTorch {peer.__version__} without CUDA"
    ours, theirs = torch.arange(1000.0, device="cuda"), peer.arange(1000.0, device="cuda")
    for device in range(peer.cuda.device_count()):
        peer.cuda.set_device(device)
        assert (ours * 2).sum().item() == (theirs * 2).sum().item() == 999000
    return f"PyTorch {peer.__version__}"
