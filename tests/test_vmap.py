"""torch.vmap and torch.func around it: torch's values, one call for the whole batch."""

import warnings

import pytest

import rushlight
from tests.conftest import ask

START = """
F, nn, v = torch.nn.functional, torch.nn, torch.vmap
x = torch.linspace(-1.5, 2.0, 24).reshape(4, 2, 3)
y = torch.linspace(0.3, 1.7, 24).reshape(4, 2, 3)
m = torch.linspace(-1, 1, 36).reshape(4, 3, 3).sin() + 2 * torch.eye(3)
w = torch.linspace(-1, 1, 15).reshape(5, 3)
k = torch.tensor([[0, 2], [1, 0], [2, 2], [1, 1]])
f = torch.linspace(-1, 1, 54).reshape(2, 3, 3, 3)
xs = torch.stack([x, y, x * y])
gru = [m[:3].reshape(9, 3)] * 2
img = torch.linspace(-1, 1, 4 * 2 * 3 * 6 * 6).reshape(4, 2, 3, 6, 6)
"""
CALLS = """
v(lambda a, b: a * b + 1)(x, y)
v(lambda a, b: a - b, in_dims=(0, None))(x, y[0])
v(lambda a, b: a / b, in_dims=(None, 2), out_dims=1)(x[:2, 0, 0], y)
v(lambda a, b: torch.where(a > b, a, 0.5))(x, y)
v(lambda a, b: torch.maximum(a, b).exp())(x[:, :, 0], y[:, 0, 0])
v(lambda a: a.clamp(-0.5, 0.5).pow(2).add(1, alpha=2))(x)
v(lambda a, b: a + b, in_dims=(0, None))(x[:, 0, 0].double(), y[0, 0])
v(lambda a, b: a * b)(k, y[:, 0, :2].double())
v(lambda a: a.sum())(x)
v(lambda a: a.sum(0, keepdim=True))(x)
v(lambda a: a.mean(dim=(0, 1)))(x)
v(lambda a: a.sum(), in_dims=1)(x[:, :, 0])
v(lambda a: a.sum(0))(x[:, 0, 0])
v(lambda a: a.amax(-1))(x)
v(lambda a: a.max(0).values + a.max(1).indices.sum())(x)
v(lambda a: torch.max(a))(x)
v(lambda a: a.argmax())(x)
v(lambda a: a.std(1))(x)
v(lambda a: a.var(unbiased=False))(x)
v(lambda a: a.cumsum(-1))(x)
v(lambda a: torch.fft.rfft(a, 5).real)(x)
v(lambda a: torch.fft.fft(a, dim=0).imag, in_dims=1)(x)
v(lambda a: torch.fft.irfftn(a))(x)
v(lambda a: torch.fft.hfft2(a, (3, 4)))(x)
v(lambda a: torch.fft.ifftn(a, dim=(0,)).real)(x)
v(lambda a: a.softmax(0))(x)
v(lambda a: F.log_softmax(a, -1))(x)
v(lambda a: a.sort(-1, descending=True)[0])(x)
v(lambda a: a.topk(2)[0])(x)
v(lambda a: a.norm())(x)
v(lambda a: torch.linalg.vector_norm(a, dim=1))(x)
v(lambda a: F.normalize(a, dim=1))(x)
v(lambda a: a.prod(1).any(0))(x)
v(lambda a: a.quantile(0.5, dim=1))(x)
v(lambda a: a.T.reshape(-1))(x)
v(lambda a: a.view(3, 2).transpose(0, 1))(x)
v(lambda a: a.permute(1, 0).contiguous().view(-1))(x)
v(lambda a: a.unsqueeze(-1).expand(2, 3, 2).flatten(1))(x)
v(lambda a: a[None].squeeze(0).squeeze())(x)
v(lambda a: torch.cat([a, y[0]], 1))(x)
v(lambda a, b: torch.stack([a, b], -1))(x, y)
v(lambda a: a.unbind(1)[1])(x)
v(lambda a: torch.cat(a.split(2, 1)[::-1], 1))(x)
v(lambda a: a.repeat(2, 1, 1))(x)
v(lambda a: a.flip(-1).roll(1, 0).tril())(x)
v(lambda a: a.diagonal())(m)
v(lambda a: a[0])(x)
v(lambda a: a[..., 1:].sum(0))(x)
v(lambda a: a[:, None, ::2])(x)
v(lambda a: a[:, torch.tensor([0, 2, 1])])(x)
v(lambda a, i: a[:, i])(x, k)
v(lambda a, i: a[i], in_dims=(None, 0))(w, k)
v(lambda a, i: a[0, i] + a[i % 2, i])(x, k)
v(lambda a, i: a.index_select(1, i))(x, k)
v(lambda a, i: a.gather(1, i[:, None]))(x, k % 2)
v(lambda a, i: a.scatter(1, i[:, None], 5.0))(x, k % 2)
v(lambda a, i: torch.zeros_like(a).scatter_add_(1, i[:, None], a))(x, k % 2)
v(lambda a, i: torch.take_along_dim(a, i[:, None], 1))(x, k % 2)
v(lambda a: a.masked_fill(a > 0, 9.0))(x)
v(lambda a, b: a.masked_fill(a > 0, b))(x, y[:, 0, 0])
v(lambda a, b: a @ b)(x, m)
v(lambda a, b: a @ b, in_dims=(0, None))(x, m[0])
v(lambda a, b: a @ b, in_dims=(None, 0))(x[0], m)
v(lambda a, b: a @ b, in_dims=(None, 0))(m[0], x[:, 0])
v(lambda a, b: a @ b)(x[:, 0], y[:, 0])
v(lambda a, b: a @ b, in_dims=(0, None))(x[:, 0], m)
v(torch.mm)(x, m)
v(torch.mv)(m, x[:, 0])
v(torch.dot, in_dims=(0, None))(x[:, 0], y[0, 0])
v(torch.outer)(x[:, 0], y[:, 1])
v(torch.bmm, in_dims=(None, 0))(m[:2], x[:, None].expand(4, 2, 2, 3).mT)
v(lambda a, b, c: torch.addmm(c, a, b, beta=2, alpha=3))(x, m, y)
v(lambda a, b: torch.einsum("ij,kj->ik", a, b), in_dims=(0, None))(x, w)
v(torch.trace)(m)
v(torch.linalg.inv)(m)
v(torch.linalg.det)(m)
v(torch.linalg.solve)(m, x[:, 0])
v(torch.linalg.solve, in_dims=(None, 0))(m[0], x.mT)
v(lambda a: torch.linalg.eigvalsh(a + a.mT))(m)
v(lambda a: torch.linalg.svdvals(a))(x)
v(lambda a: torch.linalg.cholesky(a @ a.mT))(m)
v(lambda a: torch.linalg.qr(a)[1].abs())(m)
v(F.linear, in_dims=(0, None))(x, w)
v(F.linear)(x, m)
v(F.linear)(x, m, y[:, 0])
v(F.linear, in_dims=(None, 0, None))(x[0], m, y[0, 0])
v(F.linear, in_dims=(0, 0, 0))(x[:, 0], m, y[:, 0])
v(F.conv2d, in_dims=(0, None))(img, f)
v(F.conv2d)(img, torch.linspace(-1, 1, 216).reshape(4, 2, 3, 3, 3), y[:, 0, :2])
v(F.conv2d)(img[:, 0], torch.linspace(-1, 1, 216).reshape(4, 2, 3, 3, 3), y[:, 0, :2])
v(F.conv2d, in_dims=(None, 0))(img[0], torch.linspace(-1, 1, 216).reshape(4, 2, 3, 3, 3))
v(F.conv1d)(img[:, 0, 0], torch.linspace(-1, 1, 72).reshape(4, 3, 6, 1))
v(F.conv_transpose2d)(img[:, :, :2], torch.linspace(-1, 1, 144).reshape(4, 2, 2, 3, 3))
v(lambda a: F.conv2d(a, torch.ones(3, 1, 2, 2), stride=2, padding=1, groups=3))(img)
v(lambda a: F.max_pool2d(a, 2))(img)
v(lambda a: F.avg_pool2d(a, 3, 1))(img[:, 0])
v(lambda a: F.adaptive_avg_pool2d(a, 2))(img)
v(lambda a: F.interpolate(a, scale_factor=2.0))(img)
v(lambda a: F.pad(a, (1, 2)))(x)
v(lambda a: F.layer_norm(a, (3,)))(x)
v(lambda a, b: F.layer_norm(a, (3,), b, b))(x, y[:, 0])
v(lambda a: F.group_norm(a, 1))(img)
v(lambda a: F.batch_norm(a, None, None, training=True))(img)
v(lambda a, b: F.batch_norm(a, torch.zeros(3), torch.ones(3), b))(img, y[:, 0])
v(lambda a, b: (F.batch_norm(img[0], a, b, training=True), b)[1])(x[:, 0] + 0, y[:, 0] + 0)
v(lambda a: F.instance_norm(a))(img)
v(lambda a: F.gelu(a) + F.silu(a) + F.leaky_relu(a) + F.softplus(a) + F.elu(a))(x)
v(lambda a: F.prelu(a, torch.tensor([0.1, 0.2, 0.3])))(x)
v(lambda a: F.glu(a, 0))(x)
v(lambda a, b: F.mse_loss(a, b))(x, y)
v(lambda a, b: F.smooth_l1_loss(a, b, reduction="sum"))(x, y)
v(lambda a, b: F.l1_loss(a, b, reduction="none"), in_dims=(0, None))(x, y[0])
v(lambda a, b: F.binary_cross_entropy_with_logits(a, b.sigmoid()))(x, y)
v(lambda a, b: F.kl_div(a, b, reduction="batchmean"))(x, y)
v(F.cross_entropy)(x, k)
v(F.cross_entropy)(x[:, 0], k[:, 0])
v(lambda a, b: F.cross_entropy(a, b, reduction="sum"), in_dims=(0, None))(x, k[0])
v(lambda a, b: F.cross_entropy(a, b, torch.tensor([1.0, 2.0, 3.0])))(x, k)
v(lambda a, b: F.cross_entropy(a, b, label_smoothing=0.1))(x, k)
v(lambda a, b: F.cross_entropy(a, b, ignore_index=2))(x[:2], k[:2])
v(lambda a, b: F.cross_entropy(a, b.softmax(1)))(x, y)
v(lambda a, b: F.nll_loss(a, b))(x, k)
v(lambda i: F.embedding(i, w))(k)
v(lambda i, t: F.embedding(i, t))(k, m)
v(lambda i: F.one_hot(i, 3))(k)
v(lambda a: F.scaled_dot_product_attention(a, a, a, is_causal=True))(x)
v(lambda a, b: F.scaled_dot_product_attention(a, b, b), in_dims=(0, None))(x, y[0])
v(lambda a: torch.cdist(a, a))(x)
v(lambda a: F.cosine_similarity(a, y[0], 1))(x)
v(lambda a: torch.zeros_like(a) + a.new_ones(3) + a.new_full((2, 1), 2.0))(x)
v(lambda a: a.new_zeros(2, 3).add_(a))(x)
v(lambda a: a.to(torch.float64).long().float())(x)
v(lambda a, b: a.clone().mul_(b).sub_(1))(x, y)
v(lambda a: a.clone().fill_(3.0))(x)
v(lambda a, b: (a.__setitem__(0, b[1]), a)[1])(x.clone(), y)
v(lambda a, b: (a.__setitem__((slice(None), 1), 7.0), a)[1])(x.clone(), y)
v(lambda a: a.numel() + a.dim() + len(a) + a.size(-1) + a)(x)
v(lambda a: sum(row for row in a))(x)
v(lambda a: torch.ones(2))(x)
v(lambda a: {"p": (a, [a * 2])})(x)["p"][1][0]
v(lambda d: d["p"] + d["q"][0], in_dims=({"p": 0, "q": (None,)},))({"p": x, "q": (y[0],)})
v(lambda a, b=None: a * b)(x, b=y)
v(lambda a: (a, a.sum()), out_dims=(1, 0))(x)[0]
v(lambda a: a.sum(), chunk_size=3)(x)
v(lambda a: a * 2)(torch.zeros(0, 3))
v(lambda a: torch.ones(2), out_dims=None)(x)
v(v(torch.dot, in_dims=(0, None)), in_dims=(None, 0))(x[0], y[0])
v(v(lambda a, b: a @ b + b, in_dims=(None, 0)), in_dims=(0, 0))(m, x)
v(lambda a: v(lambda b: F.linear(b, a))(x[:, 0]))(m)
v(lambda a: v(lambda b: (a[0] * b).softmax(0).sum(0) + a)(a))(x)
v(v(v(torch.add, (0, None)), (None, 0)))(x[:, 0], y[:, 1])
v(torch.func.grad(lambda a: a.sin().sum()))(x)
v(torch.func.grad(lambda p, a: (p * a).sin().sum()), in_dims=(None, 0))(y[0], x)
v(torch.func.grad(lambda p, a: F.conv2d(a, p).sin().sum()), in_dims=(None, 0))(f, img)
v(torch.func.grad(lambda p, a, i: F.cross_entropy(a @ p, i)), in_dims=(None, 0, 0))(m[0], x, k)
v(torch.func.grad(torch.func.grad(lambda a: (a**3).sum().sin())))(x[:, 0, 0])
v(torch.func.jacrev(lambda a: a.cos() * a.sum()))(x[:, 0])
v(torch.func.jacfwd(lambda a: a.cos() * a.sum()))(x[:, 0])
v(torch.func.hessian(lambda a: (a**3).sum() * a[0]))(x[:, 0])
v(lambda a, b: torch.func.vjp(torch.sin, a)[1](b)[0])(x, y)
v(lambda a, b: torch.func.jvp(torch.sin, (a,), (b,))[1])(x, y)
v(torch.func.vjp(torch.sin, x)[1])(torch.stack([x, y]))[0]
v(v(torch.func.grad(lambda a: (a**2).sum().sin())))(x)
v(lambda a: v(lambda b: torch.func.grad(lambda c: (a * c).sum())(b))(a))(x)
v(lambda a: v(torch.func.grad(lambda p, b: (p * b * a).sum().sin()), (None, 0))(a[0], a))(x)
torch.func.jacrev(v(lambda a: a.sum() * a))(x[:, 0])
torch.func.jacrev(lambda a: F.conv2d(a, f).relu().mean((2, 3)))(img[0])
torch.func.jacrev(lambda a: F.layer_norm(a @ m[0], (3,)).softmax(1), chunk_size=4)(x[0])
torch.func.jacrev(torch.func.jacrev(lambda a: (a.tanh() @ m[0]).prod()))(y[0, 0])
torch.func.hessian(lambda a: F.linear(a, w).sin().sum())(x[0])
torch.autograd.functional.jacobian(lambda a: F.gelu(F.linear(a, w)), x[0])
torch.autograd.functional.hessian(lambda a: F.linear(a, w).sin().sum(), x[0], vectorize=True)
v(torch.func.jacrev(lambda a: F.linear(a, w).tanh()))(x[:, 0])
v(torch.func.hessian(lambda a: F.linear(a, w).sin().sum()))(x[:, 0])
v(torch.func.jacrev(lambda a: F.linear(a, w).tanh()), chunk_size=3)(x[:, 0])
v(lambda b: torch.func.vjp(lambda a: F.linear(a, w).tanh(), x[0])[1](b)[0])(torch.ones(3, 2, 5))
v(lambda a, i, b: torch.index_reduce(a, 1, i, b, "amax"))(x, k % 2, y[:, :, :2])
v(lambda a, b: torch.index_reduce(a, 0, k[0, :1], b, "prod"), in_dims=(None, 0))(x[0], y[:, :1])
v(lambda a, i: torch.index_reduce(a, 0, i, y[0], "mean", include_self=False))(x, k % 2)
v(lambda a: F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2))(img)
v(lambda a: F.max_unpool2d(*F.max_pool2d(a, 2, return_indices=True), 2, 2, 0, (7, 7)))(img[:, 0])
v(lambda a: F.max_unpool1d(*F.max_pool1d(a, 2, return_indices=True), 2))(img[:, 0, 0])
v(lambda a: torch.trapezoid(a))(x)
v(lambda a, b: torch.trapezoid(a, b, dim=0))(x, y[:, 0, :2])
v(lambda a, b: torch.cumulative_trapezoid(a, b), in_dims=(0, None))(x, y[0, 0])
v(lambda a, b: torch.trapezoid(a, b), in_dims=(None, 0))(x[0], y)
v(lambda a: torch.cumulative_trapezoid(a, dx=0.5, dim=0))(x)
v(lambda a, b: torch.tensordot(a, b))(x, y)
v(lambda a, b: torch.tensordot(a, b, dims=1), in_dims=(0, None))(x, m[0])
v(lambda a, b: torch.tensordot(a, b, dims=([1, 0], [0, 1])))(x, y.mT)
v(lambda a, b: torch.tensordot(a, b, dims=0))(x[:, 0], y[:, 1])
v(lambda a, b: torch.linalg.multi_dot([a, b, b.mT, w.mT]))(x, m)
v(lambda a, b: torch.linalg.multi_dot([a, b, m[0, 0]]))(x, m)
v(lambda a, b: torch.linalg.multi_dot([a[0], b]))(x, m)
v(lambda a, h: torch.gru_cell(a, h, *gru))(xs[:, 0], xs[:, 1])
torch.func.grad(lambda a: v(lambda b: F.linear(b, a))(x).sin().sum())(m[0])
torch.func.grad(lambda p: v(torch.func.grad(lambda a: (p * a).sin().sum()))(x).square().sum())(y[0])
torch.func.hessian(lambda a: v(lambda b: (a * b).sin())(x[:, 0]).sum())(y[0, 0])
"""
SHARED = [line for line in CALLS.strip().splitlines() if line]


def computed(torch, text):
    """The value of a line, as numbers, shape and dtype."""
    scope = {"torch": torch}
    exec(START, scope)
    found = eval(text, scope)
    return found.detach().cpu().tolist(), tuple(found.shape), str(found.dtype)


def close(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    return a == b or abs(a - b) <= 2e-5 * max(1, abs(b)) or (a != a and b != b)


@pytest.mark.parametrize("text", SHARED)
def test_values(text, on_device):
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # no operation is computed one element after another
        found = computed(rushlight, text)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = ask(lambda torch: computed(torch, text))
    assert found[1:] == expected[1:]
    assert close(found[0], expected[0])


ERRORS = """
v(lambda a: a.sum().item())(x)
v(lambda a: a if a.sum() > 0 else -a)(x)
v(lambda a: float(a.sum()))(x)
v(lambda a: a.tolist())(x)
v(lambda a: a.numpy())(x)
v(lambda a: a.nonzero())(x)
v(lambda a: a[a > 0])(x)
v(lambda a: a.masked_select(a > 0))(x)
v(lambda a: a.unique())(x)
v(lambda b: torch.zeros(2, 3).copy_(b))(x)
v(lambda a, b: a.__setitem__(0, b), in_dims=(None, 0))(torch.zeros(2), x[:, 0, 0])
v(lambda a: a, out_dims=None)(x)
v(lambda a: a + torch.randn(3))(x)
v(lambda a: F.dropout(a))(x)
v(lambda a: torch.rand_like(a))(x)
v(lambda a: a.uniform_())(x.clone())
v(lambda a: torch.bernoulli(a.sigmoid()), randomness="same")(x)
v(lambda a: a + torch.zeros(3).uniform_(), randomness="different")(x)
v(lambda a: torch.equal(a, a))(x)
v(lambda a: torch.allclose(a, a))(x)
v(lambda a: a.sum().backward())(x.clone().requires_grad_())
v(lambda a: a.sum(3))(x)
v(lambda a: "a")(x)
v(lambda a: torch.add(a, a, out=torch.zeros(2, 3)))(x)
v(lambda a: len(a))(x[:, 0, 0])
v(lambda a: F.batch_norm(a, torch.zeros(3), torch.ones(3), training=True))(img)
v(torch.histc)(torch.zeros(0, 3))
v(lambda a: a @ a)(x[:, 0, 0])
v(lambda a: a.view(4))(x)
v(lambda a: a, randomness="some")(x)
v(lambda: 1)()
v(lambda a: (a, a), out_dims=(0, 0, 0))(x)
v(lambda a, b: a, in_dims=(0, 0))(x, y[:2])
v(lambda a: a, in_dims=5)(x)
v(lambda a: a, in_dims=None)(x)
v(lambda a: a)(3)
v(lambda a: (a, 1))(x)
v(lambda a: torch.where(a > 0))(x)
"""


def refused(torch, text):
    scope = {"torch": torch}
    exec(START, scope)
    with warnings.catch_warnings(), pytest.raises(Exception) as caught:
        warnings.simplefilter("ignore")
        eval(text, scope)
    return type(caught.value).__name__, str(caught.value)


@pytest.mark.parametrize("text", ERRORS.strip().splitlines())
def test_errors(text):
    kind, words = refused(rushlight, text)
    expected = ask(lambda torch: refused(torch, text))
    assert kind == expected[0]
    if expected[1].startswith("vmap"):
        assert words.split(". ")[0] == expected[1].split(". ")[0]


def test_one_by_one_with_a_warning(on_device):
    x = rushlight.arange(12.0).reshape(4, 3)
    with pytest.warns(UserWarning, match="performance drop.*aten::histc") as said:
        found = rushlight.vmap(lambda a: rushlight.histc(a, 2, 0, 12))(x)
    assert len(said) == 1
    assert found.tolist() == [[3, 0], [3, 0], [0, 3], [0, 3]]


def drawn(torch, randomness, call):
    torch.manual_seed(3)
    found = torch.vmap(eval(call, {"torch": torch}), randomness=randomness)(torch.ones(4, 3))
    return found.tolist()


@pytest.mark.parametrize("randomness", ["same", "different"])
@pytest.mark.parametrize(
    "call",
    [
        "lambda a: a * torch.rand(3)",
        "lambda a: a * torch.randn((2, 3))",
        "lambda a: a * torch.randint(0, 9, (3,))",
        "lambda a: torch.rand_like(a)",
    ],
)
def test_random_numbers(call, randomness):
    """The numbers of a batch at once, or of one element."""
    expected = ask(lambda torch: drawn(torch, randomness, call))
    assert close(drawn(rushlight, randomness, call), expected)


@pytest.mark.parametrize(
    "call", ["torch.nn.functional.dropout", "torch.nn.functional.alpha_dropout"]
)
def test_dropout(call, on_device):
    dropout = eval(call, {"torch": rushlight})
    x = rushlight.ones(3, 64)

    def function(a, training=True):
        return dropout(a, 0.5, training)

    same = rushlight.vmap(function, randomness="same")(x)
    other = rushlight.vmap(function, randomness="different")(x)
    assert same[0].equal(same[1]) and same[0].unique().numel() == 2
    assert not other[0].equal(other[1])
    assert rushlight.vmap(lambda a: function(a, training=False))(x).equal(x)


def test_gradients_of_each_sample(on_device):
    """The gradients of a module's parameters for each sample, and an ensemble of modules."""
    nn, func = rushlight.nn, rushlight.func
    rushlight.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(32, 3))
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    x, labels = rushlight.randn(5, 1, 6, 6), rushlight.tensor([0, 1, 2, 1, 0])

    def loss(p, sample, label):
        found = func.functional_call(model, p, (sample[None],))
        return nn.functional.cross_entropy(found, label[None])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rushlight.vmap(func.grad(loss), in_dims=(None, 0, 0))(parameters, x, labels)
    for i in range(5):
        alone = func.grad(loss)(parameters, x[i], labels[i])
        for name, g in alone.items():
            assert rushlight.allclose(found[name][i], g, atol=1e-6)
    models = [nn.Linear(3, 2) for _ in range(4)]
    stacked, buffers = func.stack_module_state(models)

    def call(p, b, data):
        return func.functional_call(models[0], (p, b), (data,))

    data = rushlight.randn(6, 3)
    found = rushlight.vmap(call, in_dims=(0, 0, None))(stacked, buffers, data)
    assert rushlight.allclose(found, rushlight.stack([m(data) for m in models]), atol=1e-6)
    found.sum().backward()
    assert rushlight.allclose(stacked["weight"].grad[0], data.sum(0).expand(2, 3), atol=1e-5)


def functions(torch):
    """Two functions with a gradient of their own."""

    class Generated(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x * x.sum()

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * x.sum() + (g * x).sum()

    class Own(Generated):
        generate_vmap_rule = False

        @staticmethod
        def vmap(info, in_dims, x):
            assert info.batch_size == x.shape[in_dims[0]]
            x = x.movedim(in_dims[0], 0)
            return x * x.flatten(1).sum(1)[:, None], 0

    class Neither(Generated):
        generate_vmap_rule = False

    return Generated, Own, Neither


def test_functions_with_a_rule():
    x = rushlight.arange(6.0).reshape(3, 2)
    generated, own, neither = functions(rushlight)
    expected = rushlight.stack([row * row.sum() for row in x])
    assert rushlight.vmap(generated.apply)(x).equal(expected)
    assert rushlight.vmap(own.apply)(x).equal(expected)
    found = rushlight.vmap(rushlight.func.grad(lambda a: generated.apply(a).sum()))(x)
    assert found.equal(2 * x.sum(1, keepdim=True).expand(3, 2))
    with pytest.raises(RuntimeError, match="You tried to vmap over Neither, but it does not have"):
        rushlight.vmap(neither.apply)(x)


def test_what_escapes_is_refused():
    kept = []
    rushlight.vmap(lambda a: (kept.append(a), a)[1])(rushlight.ones(3, 2))
    with pytest.raises(RuntimeError, match="may have escaped from inside a function being vmapped"):
        kept[0] + 1


def test_nothing_is_left_behind():
    """After an error inside, calls are what they were."""
    with pytest.raises(ZeroDivisionError):
        rushlight.vmap(lambda a: a / (1 // 0))(rushlight.ones(3))
    assert not rushlight._C._is_torch_function_mode_enabled()
    assert (rushlight.ones(2) + 1).tolist() == [2, 2]


def test_what_is_printed():
    def call(torch):
        seen = []
        torch.vmap(lambda a: (seen.append(repr(a)), a)[1])(torch.arange(4.0).reshape(2, 2))
        return seen

    assert call(rushlight) == ask(call)


RECURRENT = """
lambda a: torch.lstm(a, (z, z), lstm, False, 1, 0.0, False, False, False)
lambda a: torch.lstm(a[:2], (z, z), lstm, False, 1, 0.0, False, False, True)
lambda a: torch.lstm(a, (a[:1], z), lstm, False, 1, 0.0, False, False, False)
lambda a: torch.lstm(b, (a[:1], a[1:2]), lstm, False, 1, 0.0, False, False, False)
lambda a: torch.rnn_tanh(a, z, rnn, False, 1, 0.0, False, False, False)
lambda a: torch.gru(a, z, [lstm[0][:9], lstm[1][:9]], False, 1, 0.5, False, False, False)
lambda a: torch.lstm_cell(a[0], (z[0], a[1]), *lstm)
lambda a: torch.lstm_cell(b[0, 0], (z[0, 0], a[1, 0]), *lstm)
lambda a: torch.nn.LSTM(3, 2, bidirectional=True)(a)[0] * 0
"""


@pytest.mark.parametrize("text", RECURRENT.strip().splitlines())
def test_recurrent_layers(text):
    """Which torch computes under vmap() not at all."""
    rushlight.manual_seed(0)
    scope = {"torch": rushlight, "z": rushlight.zeros(1, 2, 3), "b": rushlight.randn(4, 2, 3)}
    scope |= {"lstm": [rushlight.randn(12, 3) for _ in range(2)]}
    scope |= {"rnn": [rushlight.randn(3, 3) for _ in range(2)]}
    call, x = eval(text, scope), rushlight.randn(5, 4, 2, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = rushlight.vmap(call, randomness="same")(x)
    single = [call(row) for row in x]
    if isinstance(found, rushlight.Tensor):
        found, single = (found,), [(each,) for each in single]
    for k, got in enumerate(found):
        rushlight.testing.assert_close(got, rushlight.stack([each[k] for each in single]))
