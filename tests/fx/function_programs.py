"""Programs that call functions of torch and of nn.functional, as in programs.py."""

from tests.fx.programs import filled


def torch_functions(torch):
    def f(x, y):
        z = torch.add(x, y, alpha=2.0) + torch.relu(input=x)
        z = torch.cat([z, y], dim=0)
        z = torch.stack((z, z)).sum(dim=(0, 1))
        z = torch.where(z > 0, z, 0.5)
        values, indices = torch.max(z.reshape(1, -1), dim=1)
        z = torch.clamp(z, min=0.1)
        return torch.flatten(z, 0), values, indices, torch.bmm(x[None], y[None])

    return f, [torch.ones(2, 2), torch.full((2, 2), -3.0)]


def functional(torch):
    F = torch.nn.functional

    def f(x, weight, bias):
        y = F.relu(x)
        y = F.dropout(y, 0.5, training=False)
        y = F.linear(y, weight, bias=bias)
        y = F.gelu(y, approximate="tanh") + F.silu(y) + F.softplus(y)
        y = F.layer_norm(y, [3], weight=None)
        y = F.softmax(y, dim=-1) + F.log_softmax(y, -1)
        y = F.pad(y, (1, 1), value=0.25)
        y = F.leaky_relu(y, inplace=False) + F.hardtanh(y, -2.0) + F.elu(y)
        return F.mse_loss(y, y * 2), F.normalize(y, dim=0), F.cosine_similarity(y, y + 1)

    return f, [torch.arange(6.0).reshape(2, 3), torch.eye(3), torch.ones(3)]


def images(torch):
    F = torch.nn.functional

    def f(x, weight):
        y = F.conv2d(x, weight, None, 1, padding=1)
        y = F.batch_norm(y, torch.zeros(2), torch.ones(2))
        y = F.max_pool2d(y, kernel_size=2) + F.avg_pool2d(y, 2)
        y = F.interpolate(y, scale_factor=2.0) + F.interpolate(y, (4, 4), mode="bilinear")
        y = F.adaptive_avg_pool2d(y, 1) + F.adaptive_avg_pool2d(y, (1, 1))
        return torch.flatten(y, start_dim=1)

    return f, [torch.arange(32.0).reshape(1, 2, 4, 4).sin(), torch.ones(2, 2, 3, 3)]


def losses(torch):
    F = torch.nn.functional

    def f(x, target):
        return (
            F.cross_entropy(x, target, label_smoothing=0.1)
            + F.nll_loss(x, target)
            + F.smooth_l1_loss(x, x + 1, beta=0.5)
            + F.binary_cross_entropy_with_logits(x, x.sigmoid())
            + F.kl_div(x, x.exp(), reduction="sum", log_target=False)
        )

    return f, [torch.arange(6.0).reshape(2, 3).cos(), torch.tensor([0, 2])]


def attention(torch):
    F = torch.nn.functional

    class Attention(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.qkv = torch.nn.Linear(4, 12)
            self.proj = torch.nn.Linear(4, 4)
            self.heads = 2

        def forward(self, x):
            b, n, c = x.shape
            qkv = self.qkv(x).reshape(b, n, 3, self.heads, c // self.heads)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.0)
            scores = (q @ k.transpose(-2, -1)) * (c // self.heads) ** -0.5
            y = y + scores.softmax(dim=-1) @ v
            return self.proj(y.transpose(1, 2).reshape(b, n, c))

    return filled(torch, Attention()), [torch.arange(12.0).reshape(1, 3, 4).sin()]


def created(torch):
    def f(x):
        rows = x.shape[0]
        y = torch.zeros((rows, 2), dtype=torch.float64) + torch.ones_like(x)
        z = torch.arange(rows) + torch.full((rows,), 3)
        return y, z, torch.eye(rows), torch.arange(0, x.size(1), 1, device=x.device)

    return f, [torch.ones(2, 2)]


def tensors_first(torch):
    made = torch.arange(1.0, 3.0)

    def f(x):
        return (
            made + x, made - x, made * x, made / x, made @ x, made**x, made > x, made == x,
            made.add(x, alpha=2), made.view(x.size(0)), torch.add(made, x), 2 * made - x,
            torch.Tensor.sub(made, x), made[x.long() - 2], made.maximum(x).where(x > 2, x),
        )  # fmt: skip

    return f, [torch.tensor([2.0, 3.0])]


def arranged(torch):
    def f(x):
        a, b = torch.chunk(x, 2, dim=1)
        c = torch.einsum("ij,kj->ik", a, b) + torch.einsum("ij,kj->ik", [a, b])
        grid = torch.meshgrid(x[0], x[1], indexing="ij")
        rolled = torch.roll(x, shifts=(1, 2), dims=(0, 1))
        pair = torch.broadcast_tensors(a, b)
        return c, grid[0], rolled, pair[1], torch.tensordot(a, b, 2)

    return f, [torch.arange(8.0).reshape(2, 4)]


def residual_net(torch):
    F, nn = torch.nn.functional, torch.nn

    class Block(nn.Module):
        def __init__(self, channels, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(channels, channels, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(channels)
            self.down = nn.Conv2d(channels, channels, 1, stride) if stride > 1 else None

        def forward(self, x):
            out = F.relu(self.bn1(self.conv1(x)), inplace=True)
            if self.down is not None:
                x = self.down(x)
            out += x
            return out

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(Block(2, 1), Block(2, 2))
            self.fc = nn.Linear(2, 3)

        def forward(self, x):
            x = self.layers(x)
            x = F.adaptive_avg_pool2d(x, 1)
            return self.fc(torch.flatten(x, 1))

    return filled(torch, Net()).eval(), [torch.arange(32.0).reshape(1, 2, 4, 4).sin()]


def recurrent(torch):
    class Cell(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.gates = torch.nn.Linear(5, 12)
            self.rnn = torch.nn.GRU(2, 3)
            self.embed = torch.nn.Embedding(4, 2)

        def forward(self, x, state):
            h, c = state
            i, f, g, o = self.gates(torch.cat((x, h), 1)).chunk(4, 1)
            c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
            y, last = self.rnn(self.embed(torch.argmax(x, 1))[:, None])
            return torch.sigmoid(o) * torch.tanh(c), c, y + last

    state = torch.ones(1, 3), torch.zeros(1, 3)
    return filled(torch, Cell()), [torch.ones(1, 2), state]


def assertions(torch):
    def f(x):
        torch._assert(x.shape[0] == 2, "two rows")
        return x + torch.exp(x)

    return f, [torch.ones(2)]


ALL = [
    torch_functions, functional, images, losses, attention, created, tensors_first, arranged,
    residual_net, recurrent, assertions,
]  # fmt: skip
