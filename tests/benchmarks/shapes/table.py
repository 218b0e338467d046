"""The rows of random shapes: a kind of operand x, a name, a statement on it and on other operands.

Where x has a gradient, so has the statement with --backward.
"""

import math

KINDS = {
    # x is a matrix R x C, of up to 300,000 elements
    "grid": """
exp | x.exp()
log | x.log()
tanh | x.tanh()
square root | x.sqrt()
gelu | F.gelu(x)
silu | F.silu(x)
row added | x + y | y=rand(C)
column multiplied | x * y | y=rand(R, 1)
sum of two vectors | y[:, None] + z[None] | y=rand(R); z=rand(C)
compared | x > 0.5
chosen | t.where(x > 0.5, x, y) | y=rand(R, C)
clamped | x.clamp(0.2, 0.8)
square | x**2
transposed added | x.t() + y | y=rand(C, R)
every second column | x[:, ::2] + 1
softmax | F.softmax(x, 1)
softmax of columns | F.softmax(x, 0)
log-softmax | F.log_softmax(x, 1)
logsumexp | x.logsumexp(1)
logsumexp of columns | x.logsumexp(0)
sum | x.sum(1)
sum of columns | x.sum(0)
mean of columns | x.mean(0)
largest | x.amax(1)
largest of columns | x.amax(0)
place of the largest | x.argmax(1)
place in columns | x.argmax(0)
standard deviation | x.std(1)
deviation of columns | x.std(0)
product | x.prod(1)
norm | t.linalg.vector_norm(x, dim=1)
norm of columns | t.linalg.vector_norm(x, dim=0)
median | x.median(1)
running sum | x.cumsum(1)
running sum of columns | x.cumsum(0)
running maximum | x.cummax(1)
running maximum of columns | x.cummax(0)
sorted | x.sort(1)
columns, sorted | x.sort(0)
topk | x.topk(min(5, C))
reversed | x.flip(1)
differences | x.diff(dim=1)
layer norm | F.layer_norm(x, (C,), w, b) | w=rand(C); b=rand(C)
RMS norm | F.rms_norm(x, (C,))
unit vectors | F.normalize(x)
batch norm | F.batch_norm(x, m, v, w, b, True) | m=rand(C); v=rand(C); w=b=rand(C)
squared error | F.mse_loss(x, y) | y=rand(R, C)
binary cross entropy | F.binary_cross_entropy_with_logits(x, y) | y=rand(R, C)
cross entropy | F.cross_entropy(x, i) | i=index(C, R)
cosine similarity | F.cosine_similarity(x, y) | y=rand(R, C)
rows by index | x[i] | i=index(R, R)
columns by index | x[:, i] | i=index(C, C)
gather | x.gather(1, i) | i=index(C, R, C)
gather of columns | x.gather(0, i) | i=index(R, R, C)
scatter | x.scatter(1, i, x) | i=index(C, R, C)
scatter_add | x.scatter_add(0, i, x) | i=index(R, R, C)
index_add | x.index_add(0, i, x) | i=index(R, R)
by a mask | x[x > 0.5]
nonzero | (x > 0.5).nonzero()
masked_fill | x.masked_fill(m, 0) | m=rand(R, C) > 0.5
embedding | F.embedding(i, x) | i=index(R, R)
unique | i.unique() | i=index(C + 1, R, C)
counted | i.bincount() | i=index(C + 1, R * C)
one-hot | F.one_hot(i, C) | i=index(C, R)
searchsorted | t.searchsorted(s, y) | s=rand(C).sort()[0]; y=rand(R)
joined | t.cat([x, x, x])
joined sideways | t.cat([x, x], 1)
stacked | t.stack([x, x], -1)
transposed | x.t().contiguous()
repeated | x.repeat(2, 2)
rolled | x.roll(1, 1)
lower triangle | x.tril()
padded | F.pad(x, (1, 1, 1, 1))
outer product | t.outer(y, z) | y=rand(R); z=rand(C)
matrix by vector | x @ y | y=rand(C)
vector by matrix | y @ x | y=rand(R)
linear | F.linear(x, w, b) | w=rand(columns, C); b=rand(columns)
product of matrices | x @ w | w=rand(C, columns)
""",
    # x is N x C x H x H; O channels come out of a kernel K x K
    "image": """
convolution | F.conv2d(x, w, b, padding=K // 2) | w=rand(O, C, K, K); b=rand(O)
convolution, stride 2 | F.conv2d(x, w, b, stride=2) | w=rand(O, C, K, K); b=rand(O)
depthwise | F.conv2d(x, w, padding=K // 2, groups=C) | w=rand(C, 1, K, K)
transposed convolution | F.conv_transpose2d(x, w, stride=2) | w=rand(C, O, K, K)
series | F.conv1d(x.flatten(2), w, padding=K // 2) | w=rand(O, C, K)
largest of 2 x 2 | F.max_pool2d(x, 2)
largest of 3 x 3 | F.max_pool2d(x, 3, 2, 1)
mean of 2 x 2 | F.avg_pool2d(x, 2)
mean of pixels | F.adaptive_avg_pool2d(x, 1)
twice as large | F.interpolate(x, scale_factor=2)
smoothly twice as large | F.interpolate(x, scale_factor=2, mode="bilinear")
batch norm of images | F.batch_norm(x, m, v, w, b, True) | m=rand(C); v=rand(C); w=b=rand(C)
group norm | F.group_norm(x, 1)
patches | F.unfold(x, K)
channels last | x.permute(0, 2, 3, 1).contiguous()
less the mean | x - x.mean((2, 3), keepdim=True)
channels scaled | x * y | y=rand(1, C, 1, 1)
sums of channels | x.sum((0, 2, 3))
""",
    # x is B x L x E, with H heads
    "sequence": """
attention | F.scaled_dot_product_attention(q, q, q) | q=rand(B, H, L, E)
causal attention | F.scaled_dot_product_attention(q, q, q, is_causal=True) | q=rand(B, H, L, E)
LSTM | m(x) | m=layer(nn.LSTM(E, E, batch_first=True))
GRU | m(x) | m=layer(nn.GRU(E, E, batch_first=True))
encoder layer | m(x) | m=layer(nn.TransformerEncoderLayer(E, 1, 64, batch_first=True))
pairs | t.einsum("ble,bme->blm", x, x)
each by a matrix | x @ w | w=rand(E, E)
""",
    # x is B matrices M x K
    "batch": """
batch of products | x @ y | y=rand(B, K, N)
batch by transposed | x @ y.mT | y=rand(B, N, K)
transposed batch | y.mT @ x | y=rand(B, M, N)
dots | t.linalg.vecdot(x, y) | y=rand(B, M, K)
batch by vectors | (x @ y[..., None]).squeeze(-1) | y=rand(B, K)
""",
}


def rows():
    """(kind, name, statement, other operands)"""
    for kind, text in KINDS.items():
        for line in text.strip().split("\n"):
            name, statement, *others = (part.strip() for part in line.split(" | "))
            yield kind, name, statement, others[0] if others else ""


def sizes(kind, random):
    """The sizes of one draw, by letter; small ones are as likely as large ones."""

    def between(low, high):
        return round(math.exp(random.uniform(math.log(low), math.log(high))))

    if kind == "grid":
        r = between(1, 3000)
        c = between(1, max(1, 300_000 // r))
        return {"R": r, "C": c, "columns": int(min(200, 3e6 / (r * c) + 1))}
    if kind == "image":
        n, c, h, o = between(1, 16), between(1, 64), between(3, 64), between(1, 64)
        while n * c * h * h > 400_000:
            n, h = max(1, n // 2), max(3, h // 2)
        return {"N": n, "C": c, "H": h, "O": o, "K": min(h, random.choice([1, 2, 3, 3, 5, 7]))}
    if kind == "sequence":
        e = random.choice([8, 16, 20, 32, 50, 64, 100])
        return {"B": between(1, 16), "L": between(1, 64), "E": e, "H": random.choice([1, 2, 4])}
    m, k, n = (between(1, 128) for _ in range(3))
    most = min(200_000 // max(m * k, k * n, m * n), 2_000_000 // (m * k * n), 20_000)
    return {"B": max(2, most), "M": m, "K": k, "N": n}


OPERAND = {"grid": "R, C", "image": "N, C, H, H", "sequence": "B, L, E", "batch": "B, M, K"}
