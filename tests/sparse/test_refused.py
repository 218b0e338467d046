"""What torch refuses of sparse tensors is refused in its type, with the cure; hostile indices are
refused when they are given, and when they are written to later.
"""

import io
import subprocess
import sys
import warnings

import pytest

import rushlight
from tests.conftest import ask

REFUSED = (
    """
s % 2|2 ** s|s.isfinite()|F.softmax(s, 1)|s.softmax(1)|s == s|s > 1|torch.allclose(s, s)
torch.isclose(s, s)|s.mean()|s.std()|s.count_nonzero()|torch.linalg.norm(s)|s.squeeze()
s.diagonal()|torch.ones_like(s)|torch.rand_like(s)|torch.full_like(s, 1)|s.fill_(1)|s.exp()
s.max()|s.prod()|s.cumsum(0)|s.view(3, 2)|s.flip(0)|s.tril()|s.nonzero()|s.log()|s.sigmoid()
torch.where(s > 0, s, s)|torch.equal(s, s)|s[0:1]|s[torch.tensor([0])]|s.storage()|s.split(1)
torch.addmv(torch.ones(2), s, torch.ones(3))|torch.dot(s[0], s[0])|s / d|2 / s|s + d|s + 1
nn.utils.clip_grad_norm_([w], 1.0)|d.copy_(s)|s.copy_(d)|s.expand(2, 2, 3)|s.reshape(3, 2)
""".replace("\n", "|")
    .strip("|")
    .split("|")
)


def raised(torch, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return error_of(torch, text)


def error_of(torch, text):
    s = torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))
    d = torch.ones(2, 3)
    w = torch.nn.Parameter(torch.ones(2, 3))
    w.grad = s
    names = {"torch": torch, "nn": torch.nn, "F": torch.nn.functional, "s": s, "d": d, "w": w}
    try:
        eval(text, names)
    except Exception as error:
        return type(error).__name__
    return None


@pytest.mark.parametrize("text", REFUSED)
def test_in_torchs_type(text):
    ours = raised(rushlight, text)
    assert ours is not None
    assert ours == ask(lambda torch: raised(torch, text))


def made():
    i = rushlight.tensor([[0, 1, 1], [2, 0, 2]])
    return rushlight.sparse_coo_tensor(i, rushlight.tensor([3.0, 4.0, 5.0]), (2, 3))


USES = {
    "to_dense": lambda s: s.to_dense(),
    "coalesce": lambda s: s.coalesce(),
    "mm": lambda s: s @ rushlight.ones(3, 2),
    "double mm": lambda s: s.double() @ rushlight.ones(3, 2).double(),
    "long mm": lambda s: s.long() @ rushlight.ones(3, 2, dtype=rushlight.int64),
    "half mm": lambda s: s.half() @ rushlight.ones(3, 2).half(),
    "mv": lambda s: s @ rushlight.ones(3),
    "dense @": lambda s: rushlight.ones(4, 2) @ s,
    "sparse @": lambda s: s @ s.t(),
    "add": lambda s: s + s.coalesce(),
    "dense +": lambda s: rushlight.ones(2, 3) + s,
    "mul dense": lambda s: s * rushlight.ones(2, 3),
    "sum": lambda s: s.sum(0),
    "select": lambda s: s[1],
    "index_select": lambda s: s.index_select(0, rushlight.tensor([0])),
    "csr": lambda s: s.to_sparse_csr(),
    "softmax": lambda s: rushlight.sparse.softmax(s, 1),
    "mask": lambda s: rushlight.ones(2, 3).sparse_mask(s),
    "narrow": lambda s: s.narrow_copy(0, 0, 1),
}


@pytest.mark.parametrize("bad", [-1, 3, 2**40, -(2**62)])
@pytest.mark.parametrize("use", USES)
def test_indices_written_to(use, bad):
    s = made()
    s._indices()[1, 0] = bad
    with pytest.raises((RuntimeError, IndexError)):
        USES[use](s)


def test_indices_of_a_compressed_matrix_written_to():
    for bad in (-1, 3, 2**40):
        r = made().to_sparse_csr()
        r.col_indices()[0] = bad
        for use in (r.to_dense, lambda r=r: r @ rushlight.ones(3, 2)):
            with pytest.raises((RuntimeError, IndexError)):
                use()
    for bad in (-1, 4, 2**40, -(2**62)):
        r = made().to_sparse_csr()
        r.crow_indices()[1] = bad
        with pytest.raises((RuntimeError, IndexError)):
            r @ rushlight.ones(3, 2)


@pytest.mark.parametrize(
    "indices, values, size",
    [
        ([[0, 2], [0, 0]], [1.0, 2.0], (2, 2)),
        ([[0, -1], [0, 0]], [1.0, 2.0], (2, 2)),
        ([[0, 1]], [1.0, 2.0], (2, 2)),
        ([[0, 1], [0, 0]], [1.0], (2, 2)),
        ([[0, 1], [0, 0]], [[1.0], [2.0]], (2, 2)),
        ([[0, 1], [0, 0]], [1.0, 2.0], (2, -2)),
        ([[[0]]], [1.0], (1,)),
        ([["a"]], [1.0], (1,)),
        ([[0], [0]], [1.0], (2**40, 2**40)),
        (None, [1.0], (1,)),
        ([[0]], [1.0], "ab"),
    ],
)
def test_parts_that_do_not_fit(indices, values, size):
    with pytest.raises((RuntimeError, TypeError, ValueError)):
        rushlight.sparse_coo_tensor(indices, values, size).to_dense()


def test_a_sparse_parameter():
    module = rushlight.nn.Module()
    module.adj = rushlight.nn.Parameter(made())
    assert [name for name, _ in module.named_parameters()] == ["adj"] and module.adj.is_sparse
    optimizer = rushlight.optim.SGD(module.parameters(), lr=0.5)
    rushlight.sparse.mm(module.adj, rushlight.ones(3, 2)).sum().backward()
    optimizer.step()
    assert module.adj.grad.is_sparse and module.adj.is_leaf
    assert module.adj.detach().to_dense().tolist() == [[0.0, 0.0, 2.0], [3.0, 0.0, 4.0]]
    assert module.state_dict()["adj"].is_sparse


def test_out():
    found = rushlight.empty(2, 2)
    assert rushlight.mm(made(), rushlight.ones(3, 2), out=found) is found
    assert found.tolist() == [[3.0, 3.0], [9.0, 9.0]]
    for a, b in ((made(), rushlight.ones(3, 3)), (rushlight.ones(2, 3), rushlight.ones(3, 3))):
        with pytest.raises(NotImplementedError, match=r"mm\.out"):
            rushlight.mm(a, b, out=made())


class Image(rushlight.Tensor):
    pass


def test_no_dense_body():
    for kind in (rushlight.nn.Parameter, Image):
        with pytest.raises(NotImplementedError, match="sparse"):
            rushlight.Tensor._make_subclass(kind, made())
    with pytest.raises(NotImplementedError, match="sparse"):
        made().as_subclass(Image)
    s = made()
    with rushlight._C.DisableTorchFunctionSubclass(), pytest.raises(RuntimeError):
        s + 1
    with pytest.raises(NotImplementedError, match="Function"):

        class Twice(rushlight.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x.to_dense()

        Twice.apply(made().requires_grad_())


def test_indices_whose_size_has_no_number():
    with pytest.raises(RuntimeError, match="has more than 64 bits"):
        rushlight.sparse_coo_tensor([[2**63 - 1]], [1.0])
    assert rushlight.sparse_coo_tensor([[2**63 - 2]], [1.0]).shape == (2**63 - 1,)


@pytest.mark.parametrize("kind", ["to_sparse", "to_sparse_csr", "to_sparse_csc"])
def test_files_whose_indices_come_last(kind):
    """The format before PyTorch 1.6 has all elements behind the tensors."""
    x = getattr(rushlight.tensor([[0.0, 7.0], [5.0, 0.0], [0.0, 3.0]]), kind)()
    file = io.BytesIO()
    rushlight.save({"x": x, "y": [x]}, file, _use_new_zipfile_serialization=False)
    for weights_only in (True, False):
        file.seek(0)
        found = rushlight.load(file, weights_only=weights_only)
        assert found["x"].layout == x.layout
        for each in (found["x"], found["y"][0]):
            assert each.to_dense().tolist() == x.to_dense().tolist()
        assert kind != "to_sparse" or found["x"].is_coalesced()
    file.seek(0)
    if kind == "to_sparse":
        there = rushlight.load(file, map_location="meta")["x"]
        assert (there.shape, there.device.type, there.is_coalesced()) == ((3, 2), "meta", True)
    content = file.getvalue()
    name = {"to_sparse": "_indices", "to_sparse_csr": "col_indices", "to_sparse_csc": "row_indices"}
    indices = getattr(x, name[kind])().numpy()
    assert indices.tobytes() in content
    with pytest.raises(RuntimeError, match=r"inconsistent with indices|is not satisfied"):
        rushlight.load(io.BytesIO(content.replace(indices.tobytes(), (indices + 2**40).tobytes())))


def test_interrupted_first_call():
    """Ctrl-C while the rules are imported: the next call imports those that are missing."""
    program = """
import sys, rushlight as torch
class Interrupts:
    def find_spec(self, name, path, target=None):
        if name == NAME:
            sys.meta_path.remove(self)
            raise KeyboardInterrupt
for NAME in ("rushlight._sparse.unary", "rushlight._sparse.properties", "rushlight._sparse.views"):
    sys.meta_path.insert(0, Interrupts())
    try:
        torch.eye(2).to_sparse().shape
    except KeyboardInterrupt:
        continue
x = torch.eye(2).to_sparse()
print(tuple(x.shape), x.layout, (x * 2).neg_().sum().item())
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.strip() == "(2, 2) torch.sparse_coo -4.0", done.stderr
