"""The networks of `--models`: each gives (module, inputs, loss of the output) for a batch size."""


def residual(t, batch):
    """ResNet-18 as it is used on 32x32 images."""
    nn, F = t.nn, t.nn.functional

    class Block(nn.Module):
        def __init__(self, c, d, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(c, d, 3, stride, 1, bias=False)
            self.conv2 = nn.Conv2d(d, d, 3, 1, 1, bias=False)
            self.bn1, self.bn2 = nn.BatchNorm2d(d), nn.BatchNorm2d(d)
            self.short = nn.Sequential()
            if stride > 1:
                self.short = nn.Sequential(
                    nn.Conv2d(c, d, 1, stride, bias=False), nn.BatchNorm2d(d)
                )

        def forward(self, x):
            y = F.relu(self.bn1(self.conv1(x)))
            return F.relu(self.bn2(self.conv2(y)) + self.short(x))

    widths = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1),
              (128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]  # fmt: skip
    net = nn.Sequential(
        nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(),
        *(Block(*w) for w in widths), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10),
    )  # fmt: skip
    return net, (t.rand(batch, 3, 32, 32),), classes(t, batch)


def classes(t, batch):
    target = t.arange(batch) % 10
    return lambda out: t.nn.functional.cross_entropy(out, target)


def cifar(t, batch):
    """The fifth document's: three 5x5 convolutions with pooling, two linear layers."""
    from tests.benchmarks.training import cifar_net

    return cifar_net(t), (t.rand(batch, 3, 32, 32),), classes(t, batch)


def gpt(t, batch, width=320, depth=8, length=256, words=512):
    """A decoder of 10 million parameters, blocks of attention and GELU."""
    nn, F = t.nn, t.nn.functional

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            b, n, c = x.shape
            q, k, v = self.qkv(self.ln1(x)).view(b, n, 3, 5, c // 5).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).reshape(b, n, c))
            return x + self.down(F.gelu(self.up(self.ln2(x))))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
            self.blocks = nn.Sequential(*(Block() for _ in range(depth)))
            self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

        def forward(self, i):
            x = self.words(i) + self.places(t.arange(i.shape[1]))
            return self.head(self.norm(self.blocks(x)))

    i = t.randint(0, words, (batch, length))
    return GPT(), (i,), next_words(t, i, words)


def next_words(t, i, words):
    target = i.roll(-1, 1).reshape(-1)
    return lambda out: t.nn.functional.cross_entropy(out.reshape(-1, words), target)


def lstm(t, batch, width=256, length=64, words=1000):
    """Two layers of LSTM between an embedding and a linear layer."""
    nn = t.nn

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(words, width)
            self.lstm = nn.LSTM(width, width, 2, batch_first=True)
            self.head = nn.Linear(width, words)

        def forward(self, i):
            return self.head(self.lstm(self.words(i))[0])

    i = t.randint(0, words, (batch, length))
    return Model(), (i,), next_words(t, i, words)


def unet(t, batch, width=16):
    """Two steps down, two up, with skip connections, on 64x64 images."""
    nn = t.nn

    def pair(c, d):
        return nn.Sequential(
            nn.Conv2d(c, d, 3, padding=1), nn.BatchNorm2d(d), nn.ReLU(),
            nn.Conv2d(d, d, 3, padding=1), nn.BatchNorm2d(d), nn.ReLU(),
        )  # fmt: skip

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            w = width
            self.down1, self.down2, self.middle = pair(3, w), pair(w, 2 * w), pair(2 * w, 4 * w)
            self.up2, self.join2 = nn.ConvTranspose2d(4 * w, 2 * w, 2, 2), pair(4 * w, 2 * w)
            self.up1, self.join1 = nn.ConvTranspose2d(2 * w, w, 2, 2), pair(2 * w, w)
            self.pool, self.head = nn.MaxPool2d(2), nn.Conv2d(w, 1, 1)

        def forward(self, x):
            a = self.down1(x)
            b = self.down2(self.pool(a))
            y = self.up2(self.middle(self.pool(b)))
            y = self.up1(self.join2(t.cat([y, b], 1)))
            return self.head(self.join1(t.cat([y, a], 1)))

    target = (t.rand(batch, 1, 64, 64) > 0.5).float()
    loss = nn.BCEWithLogitsLoss()
    return UNet(), (t.rand(batch, 3, 64, 64),), lambda out: loss(out, target)


def gcn(t, batch, nodes=500, edges=4000):
    """Two graph convolutions by index_add on a graph of 500 nodes for each sample."""
    nn, F = t.nn, t.nn.functional

    class GCN(nn.Module):
        def __init__(self):
            super().__init__()
            self.lin1, self.lin2 = nn.Linear(64, 32), nn.Linear(32, 7)

        def forward(self, x, source, end):
            for layer in (self.lin1, self.lin2):
                h = layer(x)
                x = F.relu(t.zeros_like(h).index_add(0, end, h[source]))
            return x

    n = nodes * batch
    source, end = (t.randint(0, n, (edges * batch,)) for _ in range(2))
    target = t.arange(n) % 7
    return GCN(), (t.rand(n, 64), source, end), lambda out: F.cross_entropy(out, target)


def tabular(t, batch):
    """An MLP of float64 on 30 columns."""
    nn = t.nn
    net = nn.Sequential(
        nn.Linear(30, 128), nn.BatchNorm1d(128), nn.ReLU(), nn.Dropout(0.1),
        nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 1),
    ).double()  # fmt: skip
    if batch == 1:
        net.eval()  # a training BatchNorm1d refuses one value per channel
    target = t.rand(batch, 1).double()
    return net, (t.rand(batch, 30).double(),), lambda out: nn.functional.mse_loss(out, target)


def dcgan(t, batch, width=32):
    """A generator followed by its discriminator, 64x64."""
    nn = t.nn

    def up(c, d, stride=2, padding=1):
        return [nn.ConvTranspose2d(c, d, 4, stride, padding, bias=False), nn.BatchNorm2d(d)]

    def down(c, d):
        return [nn.Conv2d(c, d, 4, 2, 1, bias=False), nn.BatchNorm2d(d), nn.LeakyReLU(0.2)]

    w = width
    net = nn.Sequential(
        *up(100, 8 * w, 1, 0), nn.ReLU(), *up(8 * w, 4 * w), nn.ReLU(),
        *up(4 * w, 2 * w), nn.ReLU(), *up(2 * w, w), nn.ReLU(),
        nn.ConvTranspose2d(w, 3, 4, 2, 1, bias=False), nn.Tanh(),
        *down(3, w), *down(w, 2 * w), *down(2 * w, 4 * w), *down(4 * w, 8 * w),
        nn.Conv2d(8 * w, 1, 4, 1, 0, bias=False), nn.Flatten(),
    )  # fmt: skip
    loss, target = nn.BCEWithLogitsLoss(), t.ones(batch, 1)
    return net, (t.randn(batch, 100, 1, 1),), lambda out: loss(out, target)


NETWORKS = {
    "ResNet-18, 32x32": residual,
    "CNN of the fifth document": cifar,
    "GPT of 10 M parameters, length 256": gpt,
    "LSTM language model": lstm,
    "U-Net, 64x64": unet,
    "GCN": gcn,
    "tabular MLP, float64": tabular,
    "DCGAN": dcgan,
}
