"""What torch's documents of torch.fx do, with torch and with rushlight: functions of the library
that return texts and numbers."""

import operator

from tests.fx.programs import filled, plain


def replace_an_operation(torch):
    class Net(torch.nn.Module):
        def forward(self, x, y):
            return torch.add(x, y)

    net = Net()
    graph = torch.fx.Tracer().trace(net)
    for node in graph.nodes:
        if node.op == "call_function" and node.target == torch.add:
            node.target = torch.mul
    graph.lint()
    changed = torch.fx.GraphModule(net, graph)
    return [changed.code, plain(changed(torch.full((2,), 3.0), torch.full((2,), 2.0)))]


def insert_an_operation(torch):
    traced = torch.fx.symbolic_trace(lambda x, y: (x + y, torch.add(x, y), x.add(y)))
    patterns = {operator.add, torch.add, "add"}
    for node in traced.graph.nodes:
        if any(node.target == pattern for pattern in patterns):
            with traced.graph.inserting_after(node):
                new = traced.graph.call_function(torch.bitwise_and, node.args, node.kwargs)
                node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.recompile()
    return [traced.code, plain(traced(torch.tensor([5]), torch.tensor([4])))]


def decompose(torch):
    F = torch.nn.functional
    rules = {F.relu: lambda x, inplace=False: (x > 0) * x}

    class Net(torch.nn.Module):
        def forward(self, x):
            return F.relu(x.neg()) + F.relu(x, inplace=False)

    traced = torch.fx.symbolic_trace(Net())
    graph, env = torch.fx.Graph(), {}
    tracer = torch.fx.proxy.GraphAppendingTracer(graph)
    for node in traced.graph.nodes:
        if node.op == "call_function" and node.target in rules:
            args = [
                torch.fx.Proxy(env[a.name], tracer) if isinstance(a, torch.fx.Node) else a
                for a in node.args
            ]
            env[node.name] = rules[node.target](*args).node
        else:
            env[node.name] = graph.node_copy(node, lambda n: env[n.name])
    changed = torch.fx.GraphModule({}, graph)
    x = torch.tensor([-1.0, 2.0])
    return [changed.code, plain(changed(x)), plain(traced(x))]


def invert(torch):
    inverse = {torch.sin: torch.asin, torch.cos: torch.acos, torch.exp: torch.log}
    inverse.update({value: key for key, value in inverse.items()})

    def inverted(model):
        graph, env = torch.fx.Graph(), {}
        nodes = list(torch.fx.symbolic_trace(model).graph.nodes)
        env[nodes[-1].args[0].name] = graph.placeholder("input")
        for node in reversed(nodes[1:-1]):
            env[node.args[0].name] = graph.call_function(inverse[node.target], (env[node.name],))
        graph.output(env[nodes[0].name])
        return torch.fx.GraphModule({}, graph)

    found = inverted(lambda x: torch.exp(torch.sin(x)))
    x = torch.tensor([0.3, 0.5])
    return [found.code, plain(found(torch.exp(torch.sin(x))))]


def patterns_of_functions(torch):
    F = torch.nn.functional

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(2, 2)

        def forward(self, x, w1, w2):
            m1 = torch.cat([w1, w2]).sum()
            m2 = torch.cat([w1, w2]).sum()
            return F.relu(self.fc(x) + torch.max(m1) + torch.max(m2), inplace=False)

    traced = torch.fx.symbolic_trace(filled(torch, Net()))
    found = torch.fx.replace_pattern(
        traced, lambda w1, w2: torch.cat([w1, w2]).sum(), lambda w1, w2: torch.stack([w1, w2])
    )
    more = torch.fx.replace_pattern(
        traced, lambda x: F.relu(x), lambda x: F.dropout(torch.sigmoid(x), p=0.0)
    )
    ones = torch.ones(1, 2)
    return [len(found), len(more), traced.code, plain(traced(ones, ones, ones))]


def time_of_operations(torch):
    class Counting(torch.fx.Interpreter):
        def __init__(self, module):
            super().__init__(module)
            self.counts = {}

        def run_node(self, n):
            self.counts[n.op] = self.counts.get(n.op, 0) + 1
            return super().run_node(n)

    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    counting = Counting(torch.fx.symbolic_trace(net))
    counting.run(torch.ones(1, 2))
    return [counting.counts]


ALL = [
    replace_an_operation, insert_an_operation, decompose, invert, patterns_of_functions,
    time_of_operations,
]  # fmt: skip
