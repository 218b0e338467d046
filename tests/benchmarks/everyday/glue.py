"""What stands between the operations of a program: devices and dtypes, lists and arrays, texts,
indices, states. A name and a statement on the tensors of operands.py and the objects below."""

import copy
import io
import pickle

STATEMENTS = """
device of a tensor | table.device
a device named | t.device("cpu")
devices compared | table.device == t.device("cpu")
a device's text | str(table.device)
a dtype's text | str(table.dtype)
dtypes compared | table.dtype == t.float32
sizes unpacked | [n for n in image.shape]
a list to a tensor | t.tensor(numbers)
a list of lists to a tensor | t.tensor(lists)
an array to a tensor | t.tensor(array)
an array, shared | t.from_numpy(array)
to an array | table.numpy()
to a list | table.tolist()
one number | table[0, 0].item()
a number's text | f"{table[0, 0]:.4f}"
a tensor's text | repr(wide)
rows one by one | [r for r in table]
rows stacked | t.stack([table[k] for k in range(64)])
an element written | table.__setitem__((1, 2), 0.5)
a row written | table.__setitem__(1, point[0, 0])
by a list | table[[1, 5, 7]]
by a mask | table[table > 0.5]
written by a mask | table.clone().__setitem__(table > 0.5, 0)
by two indices | table[category[:30], category[:30] % 7]
every second | wide[::2, 1:9]
added to rows | table.clone().index_put_((category[:50],), table[:50], accumulate=True)
pickled | pickle.dumps(wide)
a state saved | t.save(state, io.BytesIO())
a state loaded | t.load(io.BytesIO(saved))
a state | net.state_dict()
a state taken over | net.load_state_dict(state)
a copy of a network | copy.deepcopy(net)
names of parameters | list(net.named_parameters())
a network's text | repr(net)
a network moved | net.to("cpu")
parameters counted | sum(p.numel() for p in net.parameters())
gradients clipped | nn.utils.clip_grad_norm_(parameters, 1.0)
a step of SGD | sgd.step()
a step of Adam | adam.step()
a linear layer made | nn.Linear(64, 64)
an embedding made | nn.Embedding(100, 16)
log probability | t.distributions.Normal(0.0, 1.0).log_prob(table)
choices drawn | t.distributions.Categorical(logits=table).sample()
gradient of a function | t.func.grad(lambda x: (x * x).sum())(table)
mapped over rows | t.func.vmap(lambda x: (x * x).sum())(table)
triangle of rows | t.einsum("ij,ik->jk", table, table)
""".strip().splitlines()


def objects(t, table):
    """What the statements name beside the tensors."""
    nn = t.nn
    net = nn.Sequential(nn.Linear(7, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 1))
    net(table.float()).sum().backward()
    saved = io.BytesIO()
    t.save(net.state_dict(), saved)
    parameters = list(net.parameters())
    return {
        "net": net, "parameters": parameters, "state": net.state_dict(), "saved": saved.getvalue(),
        "sgd": t.optim.SGD(parameters, lr=1e-6), "adam": t.optim.Adam(parameters, lr=1e-6),
        "numbers": t.rand(1000).tolist(), "lists": t.rand(64, 7).tolist(),
        "array": t.rand(64, 7).numpy(), "io": io, "pickle": pickle, "copy": copy,
    }  # fmt: skip


def rows():
    """(name, statement)"""
    for text in STATEMENTS:
        yield text.split(" | ", 1)
