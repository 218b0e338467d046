"""What is done to graphs, with torch and with rushlight: functions of the library that return texts
and numbers."""

import copy
import operator

from tests.fx.programs import filled, plain


def error(call):
    """The type and the first line of what a call raises."""
    try:
        value = call()
    except Exception as error:
        return [type(error).__name__, str(error).split("\n")[0]]
    return ["nothing raised", str(value)]


def state(graph):
    return [
        str(graph),
        [[n.name, [u.name for u in n.users]] for n in graph.nodes],
        len(graph.nodes),
    ]


def relu_neg(torch):
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    relu = graph.call_function(torch.relu, (x,))
    neg = graph.call_method("neg", (relu,))
    graph.output(neg)
    return graph, x, relu, neg


def by_hand(torch):
    graph, x, relu, neg = relu_neg(torch)
    module = torch.fx.GraphModule(torch.nn.Module(), graph, "Made")
    answer = [state(graph), module.code, str(module), plain(module(torch.tensor([-1.0, 2.0])))]
    answer += [relu.next.name, relu.prev.name, [n.name for n in reversed(graph.nodes)]]
    answer += [neg.format_node(), [n.name for n in neg.all_input_nodes], str(relu.args)]
    answer += [graph.output_node().name, graph.find_nodes(op="call_method", target="neg")[0].name]
    answer += [len(graph.find_nodes(op="placeholder")), neg > relu, x < relu, x.op, repr(x)]
    return answer


def names(torch):
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    asked = ["3a", "a.b", "class", "len", "torch", "FooBarConv2D", "_x_1", "a-b", "inf", "__add__"]
    asked += ["x_2", "x_2", "BatchNorm2dNorm", "x", "self", "device"]
    made = [graph.create_node("call_function", torch.relu, (x,), name=name).name for name in asked]
    return made + [graph.call_method(name, (x,)).name for name in asked]


def editing(torch):
    graph, x, relu, neg = relu_neg(torch)
    with graph.inserting_after(relu):
        add = graph.call_function(operator.add, (relu, 1))
    with graph.inserting_before(neg):
        exp = graph.call_method("exp", (add,), {"out": None})
    answer = [state(graph)]
    neg.args = (exp,)
    answer.append(state(graph))
    changed = relu.replace_all_uses_with(x)
    graph.erase_node(relu)
    answer += [[n.name for n in changed], state(graph)]
    add.update_arg(1, 7)
    add.insert_arg(1, x)
    exp.update_kwarg("out", x)
    answer.append(state(graph))
    exp.replace_input_with(x, add)
    neg.append(graph.call_method("sin", (x,)))
    answer.append(state(graph))
    with graph.inserting_before():
        graph.placeholder("first", torch.Tensor, 3)
    graph.eliminate_dead_code()
    answer.append(state(graph))
    kept = neg.replace_all_uses_with(x, lambda user: user.op != "output")
    return [*answer, [n.name for n in kept], state(graph)]


def copies(torch):
    graph, x, relu, _neg = relu_neg(torch)
    relu.meta["mine"] = 3
    other = torch.fx.Graph()
    value = other.placeholder("value")
    known = {x: value}
    result = other.graph_copy(graph, known)
    other.output((result, value))
    again = copy.deepcopy(graph)
    twice = other.node_copy(relu, lambda n: value)
    metas = [n.meta.get("mine") for g in (other, again) for n in g.nodes]
    return [state(other), known[relu].name, state(again), twice.name, metas]


def errors_of_graphs(torch):
    graph, x, relu, neg = relu_neg(torch)
    other = torch.fx.Graph()
    answer = [
        error(lambda: graph.erase_node(relu)),
        error(lambda: relu.args.append(3)),
        error(lambda: graph.create_node("foo", "x")),
        error(lambda: graph.create_node("call_function", torch.relu, [x])),
        error(lambda: graph.create_node("call_function", torch.relu, (x,), [1])),
        error(lambda: other.erase_node(neg)),
        error(lambda: other.inserting_before(neg)),
        error(lambda: x.prepend(other.placeholder("z"))),
        error(lambda: neg.insert_arg(5, 1)),
        error(lambda: torch.fx.node.map_arg(1, 2)),
        error(lambda: graph.find_nodes(op="call_function")),
    ]
    other.call_function(torch.relu, (x,))
    answer.append(error(other.lint))
    neg.args = (neg,)
    answer.append(error(graph.lint))
    cat = graph.call_function(torch.cat, ([x, x],), {"dim": 0})
    for call in (
        lambda: cat.args[0].append(2),
        lambda: cat.args[0].__setitem__(0, 2),
        lambda: cat.kwargs.update(a=1),
        lambda: cat.kwargs.pop("dim"),
    ):
        answer.append(error(call))
    return answer


def errors_of_modules(torch):
    graph = torch.fx.Graph()
    graph.output(graph.get_attr("foo.bar"))
    called = torch.fx.Graph()
    called.output(called.call_module("foo.bar"))
    GraphModule = torch.fx.GraphModule
    answer = [
        error(lambda: GraphModule(3, graph)),
        error(lambda: GraphModule({}, graph)),
        error(lambda: GraphModule(torch.nn.Module(), graph)),
        error(lambda: GraphModule(torch.nn.Module(), called)),
    ]
    module = GraphModule({"foo.bar": torch.nn.Linear(2, 2)}, called)
    answer += [str(module), error(lambda: module(3))]
    del module.foo.bar
    return [*answer, error(module.graph.lint)[0]]


def errors_of_tracing(torch):
    class Missing(torch.nn.Module):
        def forward(self, x):
            return self.nope(x)

    def outside(x):
        return x + torch.nn.Linear(2, 2)(x)

    def branch(x):
        if x.sum() > 0:
            return x
        return -x

    def two(x, y):
        return x

    trace = torch.fx.symbolic_trace
    return [
        error(lambda: trace(branch)),
        error(lambda: trace(lambda x: list(x))),
        error(lambda: trace(lambda x: len(x))),
        error(lambda: trace(lambda x: {**x})),
        error(lambda: trace(lambda x: x.sum() and x)),
        error(lambda: trace(lambda x: 3 in x)),
        error(lambda: trace(lambda x: range(x))),
        error(lambda: trace(lambda x: int(x))),
        error(lambda: trace(lambda x: x.__setitem__(0, 1) and 3)),
        error(lambda: trace(lambda x: x.add(object()))),
        error(lambda: trace(lambda x: x.add({x: 1}))),
        error(lambda: trace(lambda x: x + torch.nn.Parameter(torch.ones(1)))),
        error(lambda: trace(lambda x: divmod(x, x))),
        error(lambda: trace(Missing())),
        error(lambda: trace(outside)),
        error(lambda: trace(3)),
        error(lambda: trace(two, concrete_args=(1,))),
        error(lambda: torch.fx.wrap("foo")),
        error(lambda: torch.fx.wrap(3)),
    ]


def proxies(torch):
    graph = torch.fx.Graph()
    x = torch.fx.Proxy(graph.placeholder("x"))
    answer = [repr(x), repr(x + 1), repr(x.foo(3)), repr(1 - x), repr(x[0]), repr(x(2))]
    attribute = x.bar
    answer += [len(graph.nodes), repr(attribute), len(graph.nodes), repr(attribute.node)]
    first, second = x
    answer += [repr(first), repr(second), isinstance(x, torch.Tensor), hasattr(x, "anything")]
    answer += [repr(copy.deepcopy(x)), repr(x == x), x.node in {x.node}, hash(x) == hash(x)]
    return [*answer, str(graph)]


def submodules(torch):
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    graph.output(graph.call_module("a.b", (x,)))
    module = torch.fx.GraphModule({"a.b": torch.nn.ReLU()}, graph)
    answer = [
        module.add_submodule("c.d.e", torch.nn.Tanh()),
        module.add_submodule("a.f", torch.nn.Tanh()),
        [name for name, _ in module.named_modules()],
        module.delete_submodule("a.f"),
        module.delete_submodule("a.f"),
    ]
    module.delete_all_unused_submodules()
    return [*answer, [name for name, _ in module.named_modules()], str(module)]


def deep_copies(torch):
    net = filled(torch, torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU()))
    traced = torch.fx.symbolic_trace(net)
    again = copy.deepcopy(traced)
    with torch.no_grad():
        next(iter(again.parameters())).zero_()
    x = torch.ones(1, 2)
    answer = [again.code == traced.code, again._get_name(), type(again) is type(traced)]
    answer += [plain(traced(x)), plain(again(x)), sorted(again.state_dict())]
    for node in again.graph.nodes:
        if node.target == "1":
            node.replace_all_uses_with(node.args[0])
            again.graph.erase_node(node)
    again.recompile()
    return [*answer, again.code, traced.code, again.graph.owning_module is again]


def concrete(torch):
    def f(x, y, flip=False):
        x = x["a"] + x["b"][0] if isinstance(x, dict) else x
        return -x * y if flip else x * y

    PH = torch.fx.PH
    chosen = [{"flip": True}, {"flip": None}, {"y": 2.5, "flip": 3}, {"y": 3, "flip": False}]
    chosen.append((PH, 2.0, True))
    answer = []
    for each in chosen:
        traced = torch.fx.symbolic_trace(f, concrete_args=each)
        answer.append(str(traced.graph))

    def g(x, y):
        return [x["a"] + x["b"][0], {"y": y}]

    traced = torch.fx.symbolic_trace(g, concrete_args={"x": {"a": PH, "b": [PH]}})
    one = torch.ones(1)
    answer += [traced.code, plain(traced({"a": one, "b": [one]}, 3))]
    return answer


def traces_inside(torch):
    inner = torch.nn.Sequential(torch.nn.Tanh())
    found = []

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = torch.nn.ReLU()

        def forward(self, x):
            found.append(str(torch.fx.symbolic_trace(inner).graph))
            return self.act(x) + inner(torch.zeros(1)).item()

    net = Net()
    try:
        return [str(torch.fx.symbolic_trace(net).graph), found]
    except NameError as error:
        return [str(error).split("\n")[0], found]


def shapes_of_parameters(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2, 3))

        def forward(self, x):
            rows = self.weight.shape[0] if self.weight.dim() == 2 else 7
            return x * rows + self.weight.numel() + self.weight.size()[1] + self.weight

    tracer = torch.fx.Tracer(param_shapes_constant=True)
    return [str(tracer.trace(Net()))]


def own_tracer(torch):
    class Whole(torch.fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, torch.nn.Linear) and module_qualified_name != "0.1"

        def to_bool(self, obj):
            return True

        def iter(self, obj):
            return iter([obj[0], obj[1]])

    def f(x):
        for each in x:
            if each > 0:
                x = x + each
        return x

    class Doubled(torch.nn.Module):
        def forward(self, x):
            return x + x

    inner = torch.nn.Sequential(torch.nn.Linear(2, 2), Doubled(), torch.nn.Linear(2, 2))
    net = torch.nn.Sequential(inner, torch.nn.Linear(2, 1))
    graph = Whole().trace(net)
    stacks = [list(n.meta.get("nn_module_stack", ())) for n in graph.nodes]
    return [str(graph), stacks, str(Whole().trace(f))]


def buffers_as_proxies(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("b", torch.ones(2))

        def forward(self, x):
            return x + self.b.sum() + self.b

    class Buffers(torch.fx.Tracer):
        proxy_buffer_attributes = True

    return [str(Buffers().trace(Net())), str(torch.fx.Tracer().trace(Net()))]


def annotated(torch):
    from importlib import import_module

    notes = import_module(f"{torch.__name__}.fx.traceback")

    def f(x):
        x = x + 1
        with notes.annotate({"stage": 1}):
            x = x * 2
            with notes.annotate({"part": 2}):
                x = x - 1
        return x.exp()

    with notes.preserve_node_meta():
        graph = torch.fx.symbolic_trace(f).graph
    return [[n.name, n.meta.get("custom")] for n in graph.nodes]


def hooks(torch):
    graph, x, _relu, _neg = relu_neg(torch)
    module = torch.fx.GraphModule({}, graph)
    seen = []
    module._register_create_node_hook(lambda node: seen.append(["made", node.name]))
    module._register_erase_node_hook(lambda node: seen.append(["erased", node.name]))
    made = graph.call_method("sin", (x,))
    graph.erase_node(made)
    return seen


def helpers(torch):
    lists = torch.fx.immutable_collections
    x = torch.fx.Graph().placeholder("x")
    pair = torch.fx.node.map_aggregate(([1, {"a": x}], slice(x, 2)), lambda a: a if a is x else 5)
    answer = [str(pair), type(pair[0]).__name__, type(pair[0][1]).__name__]
    answer += [str(torch.fx.map_arg([x, 2], lambda n: n.name)), str(lists.immutable_dict(a=1))]
    leaves, _spec = torch.utils._pytree.tree_flatten(lists.immutable_list([1, [2]]))
    return [
        *answer,
        str(leaves),
        lists.immutable_list([1]) == [1],
        str([*lists.immutable_list("a")]),
    ]


ALL = [
    by_hand, names, editing, copies, errors_of_graphs, errors_of_modules, errors_of_tracing,
    proxies, submodules, deep_copies, concrete, shapes_of_parameters, own_tracer, traces_inside,
    buffers_as_proxies, annotated, hooks, helpers,
]  # fmt: skip
