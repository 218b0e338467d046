"""Small operations, where overhead is everything: the first rows of the table."""

from tests.benchmarks.limits import calling
from tests.benchmarks.rows import Row


def tensors(t):
    x = t.arange(16.0).view(4, 4) / 16
    return {
        "t": t, "f": t.nn.functional, "x": x, "y": x + x, "w": (x + 1).requires_grad_(),
        "b": t.arange(4.0), "target": t.tensor([0, 1, 2, 3]), "cpu": t.device("cpu"),
    }  # fmt: skip


def linear(t):
    return {"layer": t.nn.Linear(5, 2), "v": t.zeros(30, 5)}


def mlp_step(optimizer, **options):
    def setup(t):
        class Net(t.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc1, self.fc2 = t.nn.Linear(10, 5), t.nn.Linear(5, 1)

            def forward(self, x):
                return self.fc2(self.fc1(x).relu())

        t.manual_seed(0)
        net, loss = Net(), t.nn.MSELoss()
        opt = getattr(t.optim, optimizer)(net.parameters(), **options)
        x, y = t.rand(16, 10), t.rand(16, 1)

        def step():
            opt.zero_grad()
            loss(net(x), y).backward()
            opt.step()

        return {"step": step}

    return setup


FUNCTION, METHOD = calling("m.fabs(2.5)"), calling("z.conjugate()")
ROWS = [
    Row("x + y", 0.05, tensors, limit=calling("z + z")),
    Row("t.relu(x)", 0.05, tensors, limit=FUNCTION),
    Row("t.exp(x)", 0.10, tensors, limit=FUNCTION),
    Row("t.mm(x, y)", 0.10, tensors, limit=calling("m.fmod(2.5, 2.5)")),
    Row("x * 2", 0.03, tensors, limit=calling("z * 2")),
    Row("x.add_(0)", 0.03, tensors, limit=METHOD),
    Row("x + b", 0.12, tensors, "x + b, a row added to each row", limit=calling("z + z")),
    Row("x.sum()", 0.06, tensors, limit=METHOD),
    Row("x.max()", 0.12, tensors, limit=METHOD),
    Row("f.softmax(x, 1)", 0.12, tensors, limit=calling("m.fmod(2.5, 2.5)")),
    Row("f.cross_entropy(x, target)", 0.12, tensors, limit=calling("m.fmod(2.5, 2.5)")),
    Row("t.cat([x, y])", 0.12, tensors, limit=calling("m.fsum([2.5, 2.5])")),
    Row("x.view(16)", 0.08, tensors, limit=METHOD),
    Row("x[0]", 0.08, tensors),
    Row("x[1:3]", 0.12, tensors),
    Row("x.to('cpu')", 0.12, tensors, limit=METHOD),
    Row("x.to(cpu)", 0.12, tensors, "x.to(torch.device('cpu'))", limit=METHOD),
    Row("t.empty(4, 4)", 0.10, tensors, limit=calling("m.fmod(2.5, 2.5)")),
    Row("t.zeros(4, 4)", 0.12, tensors, limit=calling("m.fmod(2.5, 2.5)")),
    Row("t.tensor([1., 2., 3.])", 0.12, tensors, limit=calling("m.fsum([1.0, 2.0, 3.0])")),
    Row("x.shape", 0.6, tensors, limit=calling("z.real")),
    Row("x + w", 0.05, tensors, "x + w, recording", limit=calling("z + z")),
    Row("layer(v)", 0.12, linear, "nn.Linear(5, 2) on 30x5"),
    Row("(w + x).sum().backward()", 0.02, tensors,
        limit=calling("(z + z).conjugate().conjugate()")),
    Row("step()", 0.03, mlp_step("SGD", lr=1e-6), "MLP 10-5-1 step, SGD"),
    Row("step()", 0.03, mlp_step("Adam", lr=1e-6), "MLP 10-5-1 step, Adam"),
]  # fmt: skip
