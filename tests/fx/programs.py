"""Programs that are traced with torch and with rushlight: each function takes the library and
returns (module or function, its arguments)."""


def operators(torch):
    def f(x, y):
        x += y
        z = x @ y - 2 / y
        z //= 2
        return z < y, x == y, x != y, +z, -z % 3, 2**z, z[0:1, ..., None], z[x > 0], abs(z)

    return f, [torch.ones(2, 2), torch.full((2, 2), 3.0)]


def bits(torch):
    def f(x, y):
        return x & y, x | y, x ^ y, ~x, x << 1, y >> 1, 5 & x, 1 | y

    return f, [torch.tensor([1, 2, 3]), torch.tensor([4, 5, 6])]


def attributes(torch):
    def f(x):
        rows, columns = x.shape
        last = x.T.mT
        return x.view(columns, rows), x.size(0), last.dim(), x.dtype, x.shape[-1:]

    return f, [torch.ones(2, 3)]


def containers(torch):
    def f(x):
        return {"a": x + 1, "b": (x, [x.exp()]), "none": None, "slice": slice(1, 2)}, (x,), []

    return f, [torch.zeros(2)]


def constants(torch):
    def f(x):
        values = x * float("inf"), x + 1e-5, x * -float("inf"), x * True
        return values, x.to("cpu", torch.float64), x.new_zeros(2, device=torch.device("cpu"))

    return f, [torch.ones(2)]


def annotations(torch):
    def f(x: torch.Tensor, y: int = 3, z=(1, 2.5)) -> torch.Tensor:
        return x + y

    return f, [torch.ones(2)]


def keywords(torch):
    def f(x, y: int = 3, *, z: float = 2.0, w=None):
        return x + y + z

    return f, [torch.ones(2)]


def variadic(torch):
    def f(x, *args, **kwargs):
        return x + args[0] * kwargs["a"]

    return f, None


def names_that_are_taken(torch):
    def f(input, self_, len, sum, torch):
        float = input.float()
        return float.sum() + len + sum.abs().sum().sum() + self_ + torch

    return f, [torch.ones(2)] * 5


def unused(torch):
    def f(x, y):
        x.exp()
        y.shape[0]
        return x

    return f, [torch.ones(2)] * 2


def layers(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.first = torch.nn.Linear(3, 4)
            self.more = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(4, 2))
            self.each = torch.nn.ModuleList([torch.nn.Linear(2, 2) for _ in range(2)])
            self.scale = torch.nn.Parameter(torch.ones(2))
            self.register_buffer("shift", torch.zeros(2))
            self.plain = torch.ones(2)
            self.number = 3

        def forward(self, x):
            x = self.more(self.first(x))
            for layer in self.each:
                x = layer(x)
            x = x * self.scale + self.shift
            x = x - self.plain / self.number
            return x + self.each[0].weight.sum() + self.scale

    return filled(torch, Net()), [torch.ones(5, 3)]


def shared_layer(torch):
    class Block(torch.nn.Module):
        def __init__(self, act):
            super().__init__()
            self.act, self.fc = act, torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.act(self.fc(x)) + x

    act = torch.nn.Tanh()
    net = torch.nn.Sequential(Block(act), Block(act))
    return filled(torch, net), [torch.ones(1, 2)]


def module_dict(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ModuleDict({"a-b": torch.nn.ReLU(), "2": torch.nn.Tanh()})

        def forward(self, x):
            return self.parts["a-b"](x) + self.parts["2"](x)

    return Net(), [torch.ones(2)]


def training_decides(torch):
    class Net(torch.nn.Module):
        def forward(self, x):
            return x * 2 if self.training else x

    return Net().eval(), [torch.ones(2)]


def constant_tensor(torch):
    made = torch.arange(3.0)

    def f(x):
        return x + made - made

    return f, [torch.ones(3)]


WITHOUT_FUNCTIONS = [
    operators, bits, attributes, containers, constants, annotations, keywords, variadic,
    names_that_are_taken, unused, layers, shared_layer, module_dict, training_decides,
    constant_tensor,
]  # fmt: skip


def filled(torch, module):
    """With parameters that both libraries have."""
    with torch.no_grad():
        for i, parameter in enumerate(module.parameters()):
            values = torch.arange(float(parameter.numel())).reshape(parameter.shape)
            parameter.copy_(values.add(i).mul(0.7).sin())
    return module


def plain(value):
    """A result as numbers and texts."""
    if hasattr(value, "detach"):
        return [str(value.dtype), tuple(value.shape), rounded(value.detach().tolist())]
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, (tuple, list)):
        return [type(value).__name__.removeprefix("immutable_"), *map(plain, value)]
    return value if isinstance(value, (int, float, str, type(None))) else str(value)


def rounded(value):
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def described(torch, program):
    """What tracing gives: code, graph, nodes, and the values of the traced module."""
    function, args = program(torch)
    traced = torch.fx.symbolic_trace(function)
    nodes = [
        (n.op, n.name, n.target if isinstance(n.target, str) else n.target.__name__,
         [u.name for u in n.users], [i.name for i in n.all_input_nodes])
        for n in traced.graph.nodes
    ]  # fmt: skip
    traced.graph.lint()
    answer = [traced.code, str(traced.graph), str(traced), nodes]
    answer.append(traced.print_readable(print_output=False))
    if args is not None:
        answer.append(plain(traced(*args)))
        answer.append(plain(function(*args)) == answer[-1])
    return answer
