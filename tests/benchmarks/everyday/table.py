"""The everyday rows: a name, a statement on the tensors of operands.py and, where there is one, the
layer `m`. With backward where the statement's result has a gradient."""

OPERATIONS = """
images, normalised | (image - mean) / std
large image, normalised | (photo - mean) / std
bytes to numbers | bytes_ / 255
pixels to a tensor | pixels.permute(2, 0, 1).float().div(255)
channels first | pixels.permute(2, 0, 1).contiguous()
channels last | photo.permute(0, 2, 3, 1).contiguous()
mirrored | photo.flip(3)
turned by 90 degrees | t.rot90(photo, 1, (2, 3))
part of an image | photo[:, :, 10:200, 20:210].contiguous()
patches | photo.unfold(2, 16, 16).unfold(3, 16, 16).contiguous()
clamped | (photo * 1.2).clamp(0, 1)
edges reflected | F.pad(image, (4, 4, 4, 4), "reflect")
statistics of channels | image.mean((0, 2, 3))
largest channel | photo.max(1)[0]
class of each pixel | scores.argmax(1)
softmax over channels | scores.softmax(1)
cross entropy of pixels | F.cross_entropy(scores, classes)
overlap of classes | (scores.sigmoid() * one_hot).sum((2, 3)) / (scores + one_hot).sum((2, 3))
total variation | (photo[:, :, 1:] - photo[:, :, :-1]).abs().mean()
blurred | F.conv2d(image, window, padding=5, groups=3)
Gram matrix | sixteen.flatten(2) @ sixteen.flatten(2).mT
images mixed | 0.3 * image + 0.7 * image.flip(0)
holes | image.masked_fill(hole, 0)
twice as large | F.interpolate(image, scale_factor=2, mode="bilinear")
half as large | F.interpolate(photo, size=(112, 112), mode="bilinear")
nearest pixels | F.interpolate(six, size=(23, 37))
max pooling of digits | F.max_pool2d(digits, 2)
max pooling, overlapping | F.max_pool2d(sixteen, 3, 2, 1)
mean of pixels | sixteen.mean((2, 3))
mean squared error | F.mse_loss(image, target)
columns, standardised | (table - table.mean(0)) / table.std(0)
median of columns | table.median(0)[0]
columns, sorted | table.sort(0)[0]
channels, sorted | six.sort(1)[0]
rows of a mask | table[table[:, 0] > 0.5]
elements of a mask | image[image > 0.5]
counted | t.bincount(value, minlength=10)
into bins | t.bucketize(series, bins)
one-hot | F.one_hot(label, 10)
distances | t.cdist(point, point)
nearest neighbours | t.cdist(point, point).topk(5, largest=False)[0]
all differences | point[:, None] - point[None, :100]
all comparisons | (table[:, None] < table[None]).sum(1)
lengths | point.norm(dim=1)
unit vectors | F.normalize(point, dim=1)
cross products | t.cross(point, other, dim=1)
points, rotated | point @ rotation
points of neighbours | point[neighbour]
products of 3 x 3 matrices | t.bmm(matrix, matrix)
matrices by vectors | (matrix @ point[:100, :, None]).squeeze(-1)
determinants | t.linalg.det(matrix.float())
inverses | t.linalg.inv(matrix.float())
systems | t.linalg.solve(matrix.float(), point[:100, :, None].float())
least squares | t.linalg.lstsq(wide.float(), table.float()).solution
short rows, gathered | point.gather(1, neighbour[:, :3] % 3)
short rows, scattered | t.zeros_like(point).scatter_add(0, neighbour[:, :3], point)
rows, added up | t.zeros_like(table[:50]).index_add(0, category[:50], table[:50])
running sum | series.cumsum(2)
running maximum | series.cummax(2)[0]
largest of a series | series.max(2)[0]
windows of a series | series.unfold(2, 10, 5).mean(-1)
max pooling of a series | F.max_pool1d(series, 2)
batches in front | sequence.transpose(0, 1).contiguous()
heads apart | sequence.view(32, 20, 5, 10).transpose(1, 2).contiguous()
scores of heads | F.scaled_dot_product_attention(heads, heads, heads, attn_mask=shown)
turned heads | t.cat((heads[..., :8] * turn - heads[..., 8:] * turn, heads[..., 8:] * turn), -1)
attention | (sequence @ sequence.mT / 7).softmax(-1) @ sequence
log likelihood | logits.log_softmax(-1).gather(2, word.unsqueeze(-1)).mean()
cross entropy of words | F.cross_entropy(logits.view(-1, 1000), word.view(-1))
most likely | logits[:, -1].topk(50)[0]
words where | t.where(word > 500, word, 0)
last of each sequence | sequence[row, end]
padding, masked | sequence.masked_fill(~kept.unsqueeze(-1), 0)
gates | sequence[..., :25].sigmoid() * sequence[..., 25:].tanh()
quotients | value // 3
""".strip().splitlines()

LAYERS = """
convolution of images | nn.Conv2d(3, 16, 3, padding=1) | m(image)
of one image | nn.Conv2d(3, 8, 3, padding=1) | m(image[:1])
of a large image, stride 2 | nn.Conv2d(3, 64, 7, 2, 3) | m(photo)
of digits, 5x5 | nn.Conv2d(1, 6, 5, padding=2) | m(digits)
of digits, 3x3 | nn.Conv2d(1, 32, 3) | m(digits)
of patches | nn.Conv2d(3, 48, 4, 4) | m(image)
of groups | nn.Conv2d(12, 24, 3, padding=1, groups=3) | m(twelve)
of each channel | nn.Conv2d(16, 16, 3, padding=1, groups=16) | m(sixteen)
of words, as wide as they are | nn.Conv2d(1, 100, (3, 50)) | m(sequence.unsqueeze(1))
of a series | nn.Conv1d(3, 16, 5, padding=2) | m(series)
of a volume | nn.Conv3d(1, 8, 3, padding=1) | m(volume)
of a video | nn.Conv3d(3, 16, (3, 7, 7), (1, 2, 2), (1, 3, 3)) | m(video)
transposed | nn.ConvTranspose2d(16, 3, 4, 2, 1) | m(sixteen)
batch norm of images | nn.BatchNorm2d(3) | m(image)
batch norm of a table | nn.BatchNorm1d(7) | m(table)
group norm | nn.GroupNorm(4, 16) | m(sixteen)
instance norm | nn.InstanceNorm2d(3) | m(image)
layer norm | nn.LayerNorm(50) | m(sequence)
linear, of a table | nn.Linear(7, 32) | m(table)
linear, one output | nn.Linear(32, 1) | m(wide)
linear, of pixels | nn.Linear(16, 32) | m(sixteen.permute(0, 2, 3, 1))
embedding | nn.Embedding(1000, 50) | m(word)
bag of words | nn.EmbeddingBag(1000, 50) | m(word)
LSTM | nn.LSTM(3, 16, batch_first=True) | m(steps)[0]
LSTM, both ways | nn.LSTM(3, 16, bidirectional=True, batch_first=True) | m(steps)[0]
GRU, two layers | nn.GRU(3, 16, 2, batch_first=True) | m(steps)[0]
LSTM cell | nn.LSTMCell(7, 16) | m(table)[0]
multi-head attention | nn.MultiheadAttention(50, 5, batch_first=True) | m(*3 * [sequence])[0]
encoder layer | nn.TransformerEncoderLayer(50, 5, 100, dropout=0.0, batch_first=True) | m(sequence)
PReLU | nn.PReLU(16) | m(sixteen)
dropout | nn.Dropout(0.5) | m(sixteen)
bilinear | nn.Bilinear(7, 32, 8) | m(table, wide)
""".strip().splitlines()


def rows():
    """(name, statement, layer or None)"""
    for text in OPERATIONS:
        name, statement = text.split(" | ", 1)
        yield name, statement, None
    for text in LAYERS:
        name, layer, statement = text.split(" | ")
        yield name, statement, layer
