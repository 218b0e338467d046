"""torch.amp: which operations autocast casts, in both directions, and the steps of GradScaler."""

import contextlib
import warnings

import pytest

import rushlight

# Operations on float32 x, w, v, image and on b, the same as x in the region's dtype.
CPU = """
torch.mm(x, x.t())
x @ x.t()
x @ v
torch.mv(x, v)
torch.dot(v, v)
torch.bmm(x[None], x.t()[None])
x.matmul(x.t())
torch.addmm(square, x, x.t())
torch.addmv(four, x, v)
torch.addr(x, four, v)
torch.baddbmm(square[None], x[None], x.t()[None])
torch.addbmm(square, x[None], x.t()[None])
torch.einsum("ij,kj->ik", x, x)
torch.outer(v, v)
F.linear(x, w)
F.linear(x, w, four)
F.bilinear(x, x, torch.ones(3, 6, 6))
F.conv1d(x[None], torch.ones(2, 4, 3))
F.conv2d(image, torch.ones(2, 3, 3, 3), torch.ones(2), padding="same")
F.conv3d(volume, torch.ones(2, 2, 3, 3, 3))
F.conv_transpose1d(x[None], torch.ones(4, 2, 3))
F.conv_transpose2d(image, torch.ones(3, 3, 3, 3))
F.conv_transpose3d(volume, torch.ones(2, 2, 3, 3, 3))
F.scaled_dot_product_attention(x[None], x[None], x[None])
F.prelu(x, torch.ones(1))
torch.exp(b)
torch.pow(b, 2)
b ** 2
torch.softmax(b, 1)
F.log_softmax(b, 1)
F.gelu(b)
torch.sum(b)
b.sum(1)
torch.prod(b)
torch.prod(b, 1)
torch.cumsum(b, 1)
b.norm()
b.std()
b.logsumexp(1)
F.layer_norm(b, [6])
F.group_norm(b[None], 2)
F.rms_norm(b, [6])
F.batch_norm(b, torch.zeros(6), torch.ones(6), torch.ones(6), torch.ones(6), training=True)
F.mse_loss(b, b)
F.mse_loss(b, x)
F.l1_loss(b, b)
F.smooth_l1_loss(b, b)
F.huber_loss(b, b)
F.cross_entropy(b, target)
F.nll_loss(b, target)
F.binary_cross_entropy(torch.sigmoid(b), torch.sigmoid(b))
F.binary_cross_entropy_with_logits(b, torch.sigmoid(b))
F.kl_div(b, b)
F.cosine_similarity(b, b)
F.cosine_embedding_loss(b, b, torch.ones(4))
F.hinge_embedding_loss(b, b)
F.margin_ranking_loss(b, b, b)
F.soft_margin_loss(b, b)
F.triplet_margin_loss(b, b, b)
F.multi_margin_loss(b, target)
F.multilabel_margin_loss(b, torch.zeros(4, 6, dtype=torch.int64))
F.poisson_nll_loss(b, b)
F.gaussian_nll_loss(b, b, b)
F.pairwise_distance(b, b)
F.normalize(b)
F.avg_pool2d(image.to(b.dtype), 2)
F.avg_pool3d(volume.to(b.dtype), 2)
F.adaptive_avg_pool2d(image.to(b.dtype), 2)
F.adaptive_avg_pool3d(volume.to(b.dtype), 2)
F.adaptive_max_pool3d(volume.to(b.dtype), 2)
F.max_pool2d(image.to(b.dtype), 2)
F.interpolate(image.to(b.dtype), scale_factor=2)
F.pad(image.to(b.dtype), (1, 1, 1, 1), "replicate")
F.pad(image.to(b.dtype), (1, 1, 1, 1), "reflect")
F.pad(image.to(b.dtype), (1, 1, 1, 1))
torch.cat([b, x])
torch.stack([b, x])
torch.where(b > 0, b, x)
b + x
F.relu(b)
torch.tanh(b)
F.dropout(b)
F.embedding(target, w)
x.double() @ x.double().t()
torch.nn.Linear(6, 2)(x)
""".strip().splitlines()

# What NVIDIA's list of torch adds on GPUs: these come out in float32 there.
FULL_ON_GPUS = """
torch.acos(b)
torch.exp(b)
torch.log(b)
b.rsqrt()
torch.pow(b, 2)
b ** 2
2 ** b
b.pow(b)
F.softplus(b)
torch.softmax(b, 1)
F.log_softmax(b, 1)
b.sum()
torch.prod(b)
torch.cumsum(b, 1)
torch.cumprod(b, 1)
b.norm()
b.logsumexp(1)
F.layer_norm(b, [6])
F.group_norm(b[None], 2)
F.rms_norm(b, [6])
F.cosine_similarity(b, b)
F.mse_loss(b, b)
F.cross_entropy(b, target)
F.interpolate(b[None], scale_factor=2)
""".strip().splitlines()
LOWER_ON_GPUS = """
x @ x.t()
torch.mv(x, v)
torch.addmv(four, x, v)
torch.addr(x, four, v)
F.linear(x, w)
F.conv1d(x[None], torch.ones(2, 4, 3))
F.gelu(b)
b.mean()
b.tanh()
""".strip().splitlines()


def values(torch, dtype, device="cpu"):
    x = (torch.arange(24.0).reshape(4, 6) / 30 + 0.1).to(device)
    return {
        "torch": torch, "F": torch.nn.functional, "x": x, "b": x.to(dtype), "w": x + 0,
        "v": x[0] + 0, "four": x[:, 0] + 0, "square": torch.ones(4, 4).to(device),
        "image": torch.ones(2, 3, 8, 8).to(device), "volume": torch.ones(1, 2, 4, 4, 4).to(device),
        "target": torch.tensor([0, 1, 2, 3]).to(device),
    }  # fmt: skip


def dtype_of(call, names):
    return str(eval(call, names).dtype)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
@pytest.mark.parametrize("call", CPU)
@pytest.mark.filterwarnings("ignore")
def test_the_lists_of_the_cpu(reference, call, dtype):
    found = []
    for torch in (rushlight, reference):
        kind = getattr(torch, dtype)
        names = values(torch, kind)
        with torch.autocast("cpu", dtype=kind):
            found.append(dtype_of(call, names))
    assert found[0] == found[1]


@pytest.mark.parametrize("call", FULL_ON_GPUS + LOWER_ON_GPUS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_the_lists_of_gpus(virtual_gpus, call, dtype):
    names = values(rushlight, getattr(rushlight, dtype), "cuda:1")
    code = call.replace("torch.ones(2, 4, 3)", "torch.ones(2, 4, 3, device='cuda:1')")
    with rushlight.autocast("cuda", dtype=getattr(rushlight, dtype)):
        found = dtype_of(code, names)
    assert found == ("torch.float32" if call in FULL_ON_GPUS else f"torch.{dtype}")


def test_results_are_those_of_a_cast():
    x = rushlight.randn(5, 7)
    w = rushlight.randn(3, 7)
    with rushlight.autocast("cpu"):
        got = rushlight.nn.functional.linear(x, w)
    want = rushlight.nn.functional.linear(x.bfloat16(), w.bfloat16())
    assert rushlight.equal(got, want)


def test_gradients_come_back_in_the_parameters_dtype():
    layer = rushlight.nn.Linear(3, 2)
    with rushlight.autocast("cpu"):
        out = layer(rushlight.ones(4, 3))
        loss = rushlight.nn.functional.mse_loss(out, rushlight.zeros(4, 2))
    assert out.dtype == rushlight.bfloat16 and loss.dtype == rushlight.float32
    loss.backward()
    assert layer.weight.grad.dtype == rushlight.float32


def test_devices_do_not_mix(virtual_gpus):
    x, y = rushlight.ones(2, 2), rushlight.ones(2, 2, device="cuda")
    with rushlight.autocast("cuda"):
        assert (x @ x).dtype == rushlight.float32 and (y @ y).dtype == rushlight.float16
        with rushlight.autocast("cpu"):
            assert (x @ x).dtype == rushlight.bfloat16 and (y @ y).dtype == rushlight.float16
        with rushlight.autocast("cuda", enabled=False):
            assert (y @ y).dtype == rushlight.float32
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            rushlight.nn.functional.binary_cross_entropy(y, y)


def test_composed_functions_are_not_cast_inside():
    """Attention in bfloat16 has scores and sums in float32, in autocast's regions too."""
    x = rushlight.rand(2, 40, 16)
    attend = rushlight.nn.functional.scaled_dot_product_attention
    with rushlight.autocast("cpu"):
        y = attend(x, x, x)
        assert (x[0] @ x[0].t()).dtype == rushlight.bfloat16
    assert y.equal(attend(*[x.bfloat16()] * 3))


def test_out_is_never_cast():
    x, out = rushlight.ones(2, 2), rushlight.empty(2, 2)
    with rushlight.autocast("cpu"):
        assert rushlight.mm(x, x, out=out) is out and out.tolist() == [[2, 2], [2, 2]]
        total = rushlight.empty(2)
        rushlight.prod(x.bfloat16().float(), 0, out=total)


def test_state(reference):
    for torch in (rushlight, reference):
        assert not torch.is_autocast_enabled("cpu")
        with torch.autocast("cpu", dtype=torch.float16):
            assert torch.is_autocast_enabled("cpu") and not torch.is_autocast_enabled("cuda")
            assert torch.get_autocast_dtype("cpu") == torch.float16
            with contextlib.suppress(ZeroDivisionError), torch.autocast("cpu"):
                assert torch.get_autocast_dtype("cpu") == torch.float16
                1 / 0
            assert torch.is_autocast_enabled("cpu")
        assert not torch.is_autocast_enabled("cpu")
        assert torch.get_autocast_dtype("cpu") == torch.bfloat16


def test_as_a_decorator_and_in_threads():
    from threading import Thread

    @rushlight.autocast("cpu")
    def product(x):
        return x @ x

    x = rushlight.ones(2, 2)
    assert product(x).dtype == rushlight.bfloat16 and (x @ x).dtype == rushlight.float32
    found = []
    with rushlight.autocast("cpu"):
        thread = Thread(target=lambda: found.append((x @ x).dtype))
        thread.start()
        thread.join()
    assert found == [rushlight.float32]


def test_words(reference):
    with pytest.raises(RuntimeError, match="unsupported autocast device_type 'meta'"):
        rushlight.autocast("meta")
    for torch in (rushlight, reference):
        with pytest.raises(ValueError, match="Expected `device_type` of type `str`"):
            torch.autocast(torch.device("cpu"))
        with pytest.raises(TypeError, match="requires a callable, but got int"):
            torch.autocast("cpu")(3)
        with pytest.warns(UserWarning, match="Disabling autocast"):
            assert not torch.autocast("cpu", dtype=torch.float64)._enabled
        with pytest.warns(UserWarning, match="CUDA is not available"):
            assert not torch.autocast("cuda")._enabled
        with pytest.warns(FutureWarning, match="deprecated"), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            torch.cuda.amp.autocast()


# ---- GradScaler


def train(torch, scaler, overflow_at=(), steps=6, clip=False):
    """Weights, scales and whether the step was made, of a small training."""
    torch.manual_seed(0)
    weight = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    history = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = (weight * torch.tensor([1.0, 3.0])).sum() ** 2
        if step in overflow_at:
            loss = loss * float("inf")
        scaler.scale(loss).backward()
        if clip:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_([weight], 1.0)
        scaler.step(optimizer)
        scaler.update()
        history.append((weight.tolist(), scaler.get_scale()))
    return history


@pytest.mark.parametrize("overflow_at", [(), (0,), (1, 2), (5,)])
@pytest.mark.parametrize("clip", [False, True])
def test_scaler_as_torch(reference, overflow_at, clip):
    ours, theirs = (
        train(
            t, t.amp.GradScaler("cpu", init_scale=64.0, growth_interval=2), overflow_at, clip=clip
        )
        for t in (rushlight, reference)
    )
    for (w, scale), (their_w, their_scale) in zip(ours, theirs, strict=True):
        assert w == pytest.approx(their_w, rel=1e-5) and scale == their_scale


def test_scaler_state_and_refusals(reference):
    for torch in (rushlight, reference):
        scaler = torch.amp.GradScaler("cpu", init_scale=4.0)
        weight = torch.nn.Parameter(torch.ones(1))
        optimizer = torch.optim.SGD([weight], lr=1.0)
        with pytest.raises(AssertionError, match="Attempted step but _scale is None"):
            scaler.step(optimizer)
        scaler.scale(weight.sum()).backward()
        scaler.unscale_(optimizer)
        assert weight.grad.tolist() == [1.0]
        with pytest.raises(RuntimeError, match=r"unscale_\(\) has already been called"):
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        with pytest.raises(RuntimeError, match=r"step\(\) has already been called"):
            scaler.step(optimizer)
        with pytest.raises(RuntimeError, match="Closure use is not currently supported"):
            scaler.step(optimizer, closure=None)
        scaler.update()
        scaler.update(8.0) if torch is rushlight else scaler._scale.fill_(8.0)
        state = scaler.state_dict()
        assert state == {
            "scale": 8.0, "growth_factor": 2.0, "backoff_factor": 0.5, "growth_interval": 2000,
            "_growth_tracker": 1,
        }  # fmt: skip
        other = torch.amp.GradScaler("cpu")
        other.load_state_dict(state)
        assert other.get_scale() == 8.0 and other.state_dict() == state
        off = torch.amp.GradScaler("cpu", enabled=False)
        assert off.scale(3) == 3 and off.state_dict() == {} and not off.is_enabled()
        with pytest.raises(RuntimeError, match="source state dict is empty"):
            scaler.load_state_dict({})
        half = torch.nn.Parameter(torch.ones(1, dtype=torch.float16))
        third = torch.amp.GradScaler("cpu", init_scale=4.0)
        third.scale(half.sum()).backward()
        with pytest.raises(ValueError, match="Attempting to unscale FP16 gradients"):
            third.unscale_(torch.optim.SGD([half], lr=1.0))
        scaled = scaler.scale([torch.ones(1), (torch.ones(1),)])
        assert scaled[1][0].tolist() == [8.0]


def test_mixed_precision_on_virtual_gpus(virtual_gpus):
    rushlight.manual_seed(0)
    net = rushlight.nn.Sequential(
        rushlight.nn.Linear(4, 8), rushlight.nn.ReLU(), rushlight.nn.Linear(8, 3)
    ).cuda()
    optimizer = rushlight.optim.Adam(net.parameters(), lr=0.05)
    scaler = rushlight.amp.GradScaler("cuda")
    x = rushlight.randn(16, 4, device="cuda")
    y = rushlight.randint(0, 3, (16,), device="cuda")
    losses = []
    for _ in range(30):
        optimizer.zero_grad()
        with rushlight.autocast("cuda", dtype=rushlight.float16):
            out = net(x)
            loss = rushlight.nn.functional.cross_entropy(out, y)
        assert out.dtype == rushlight.float16 and loss.dtype == rushlight.float32
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 2


def test_custom_functions():
    amp = rushlight.amp
    seen = []

    class Product(rushlight.autograd.Function):
        @staticmethod
        @amp.custom_fwd(device_type="cpu", cast_inputs=rushlight.float32)
        def forward(ctx, x):
            seen.append((x.dtype, rushlight.is_autocast_enabled("cpu")))
            ctx.save_for_backward(x)
            return x @ x

        @staticmethod
        @amp.custom_bwd(device_type="cpu")
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return grad @ x.t() + x.t() @ grad

    x = rushlight.ones(2, 2, dtype=rushlight.bfloat16, requires_grad=True)
    with rushlight.autocast("cpu"):
        out = Product.apply(x)
    out.sum().backward()
    assert seen == [(rushlight.float32, False)] and out.dtype == rushlight.float32
    assert x.grad.tolist() == [[4, 4], [4, 4]]


def test_custom_fwd_casts_the_inputs_of_a_plain_function():
    """It has no ctx: its first argument is one of the tensors."""
    amp = rushlight.amp

    @amp.custom_fwd(device_type="cpu", cast_inputs=rushlight.float32)
    def seen(x, y):
        return x.dtype, y.dtype, rushlight.is_autocast_enabled("cpu")

    x = rushlight.ones(1, dtype=rushlight.bfloat16)
    with rushlight.autocast("cpu"):
        assert seen(x, x) == (rushlight.float32, rushlight.float32, False)
    assert seen(x, x) == (rushlight.bfloat16, rushlight.bfloat16, False)


def test_a_cast_that_finds_no_memory_is_an_error(virtual_gpus):
    """The cast of an argument allocates: where that fails, the call raises as any other."""
    x = rushlight.ones(4096, 4096, device="cuda:1")
    total = rushlight.cuda.get_device_properties(1).total_memory
    reserved = rushlight.cuda.memory_reserved(1)
    rushlight.cuda.set_per_process_memory_fraction(reserved / total, 1)
    try:
        with rushlight.autocast("cuda"):
            with pytest.raises(rushlight.OutOfMemoryError):
                rushlight.addmm(x, x, x)
            with pytest.raises(rushlight.OutOfMemoryError):
                rushlight.nn.functional.linear(x, x)
    finally:
        rushlight.cuda.set_per_process_memory_fraction(1.0, 1)
