"""Interpreters, rewriting and fusing, with torch and with rushlight: functions of the library that
return texts and numbers."""

import warnings

from tests.fx.programs import filled, plain
from tests.fx.scenarios import error


def interpreters(torch):
    class Doubled(torch.fx.Interpreter):
        def call_method(self, target, args, kwargs):
            return super().call_method(target, args, kwargs) * 2

    class Shifted(torch.fx.Transformer):
        def call_method(self, target, args, kwargs):
            result = super().call_method(target, args, kwargs)
            return result.neg() + 1 if target == "exp" else result

        def call_module(self, target, args, kwargs):
            return super().call_module(target, args, kwargs) * 3

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.act = torch.nn.ReLU()
            self.scale = torch.nn.Parameter(torch.ones(2))

        def forward(self, x, y=2.0):
            return {"out": (self.act(x).exp() * self.scale + y,)}

    traced = torch.fx.symbolic_trace(Net())
    x = torch.tensor([-1.0, 0.0])
    plainly = torch.fx.Interpreter(traced)
    changed = Shifted(traced).transform()
    answer = [plain(plainly.run(x)), plain(plainly.run(x, 5.0)), plain(Doubled(traced).run(x))]
    answer += [len(plainly.env), changed.code, plain(changed(x)), str(changed.graph)]
    answer += [plain(plainly.boxed_run([x, 1.0])), plainly.fetch_attr("act").training]
    kept = torch.fx.Interpreter(traced, garbage_collect_values=False)
    kept.run(x)
    answer += [[n.name for n in kept.env], error(lambda: plainly.run())]
    answer += [error(lambda: plainly.run("text"))[0], error(lambda: plainly.fetch_attr("no.pe"))]
    given = {node: x + 1 for node in traced.graph.nodes if node.name == "act"}
    return [*answer, plain(plainly.run(x, initial_env=given))]


def shapes(torch):
    from importlib import import_module

    shape_prop = import_module(f"{torch.__name__}.fx.passes.shape_prop")
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 4, 3), torch.nn.ReLU(), torch.nn.Flatten(), torch.nn.Linear(36, 5)
    )
    traced = torch.fx.symbolic_trace(net)
    result = shape_prop.ShapeProp(traced).propagate(torch.ones(2, 3, 5, 5))
    found = [n.meta["tensor_meta"] for n in traced.graph.nodes if "tensor_meta" in n.meta]
    answer = [[tuple(m.shape), str(m.dtype), m.requires_grad, m.stride] for m in found]
    return [answer, tuple(result.shape), [n.meta["type"].__name__ for n in traced.graph.nodes]]


def patterns(torch):
    trace, replace = torch.fx.symbolic_trace, torch.fx.replace_pattern

    class Net(torch.nn.Module):
        def forward(self, x, w1, w2):
            m1 = (x @ w1).sum()
            m2 = (x @ w2).sum()
            return x.max() + (m1 + m2).exp()

    traced = trace(Net())
    found = replace(traced, lambda a, b: (a @ b).sum(), lambda a, b: (a * b).mean().abs())
    answer = [len(found), [m.anchor.name for m in found], traced.code]
    answer.append([[p.name, getattr(n, "name", n)] for p, n in found[0].nodes_map.items()])

    def two(x):
        return x.neg().exp().neg().exp() + x.sin().cos(), x.exp()

    for pattern, replacement in (
        (lambda x: x.neg().exp(), lambda x: x.tan()),
        (lambda x: x.exp(), lambda x: x.exp().exp()),
        (lambda x, y: x + y, lambda x, y: y + x),
        (lambda x: x.sin().cos(), lambda x: x),
        (lambda x: x.log(), lambda x: x),
    ):
        traced = trace(two)
        found = replace(traced, pattern, replacement)
        traced.graph.lint()
        answer.append([len(found), traced.code])
    return answer


def filtered_patterns(torch):
    rewriter = torch.fx.subgraph_rewriter

    def f(x):
        return (x + 1).neg() + (x + 2).neg()

    def second(match, original, pattern):
        return match.returning_nodes[0].name == "neg_1"

    answer = []
    for options in ({"match_filters": [second]}, {}, {"ignore_literals": False}):
        traced = torch.fx.symbolic_trace(f)
        found = rewriter.replace_pattern_with_filters(
            traced, lambda x: (x + 1).neg(), lambda x: x.exp(), **options
        )
        answer.append([len(found), [r.name for m in found for r in m.replacements], traced.code])
    traced = torch.fx.symbolic_trace(f)
    found = rewriter.replace_pattern_with_filters(
        traced, lambda x: (x + 1).neg(), lambda x: x.exp(), ignore_literals=True
    )
    return [*answer, len(found), traced.code]


def module_patterns(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.fc(x).exp()

    class Pattern(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(2, 2)

        def forward(self, x):
            return self.fc(x).exp()

    class Replacement(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.other = torch.nn.ReLU()

        def forward(self, x):
            return self.other(x)

    traced = torch.fx.symbolic_trace(Net())
    replaced = torch.fx.symbolic_trace(Replacement())
    found = torch.fx.replace_pattern(traced, torch.fx.symbolic_trace(Pattern()), replaced)
    return [len(found), traced.code, str(traced)]


def fused(torch):
    from importlib import import_module

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        optimization = import_module(f"{torch.__name__}.fx.experimental.optimization")
    nn = torch.nn
    inner = nn.Sequential(nn.Conv2d(2, 3, 1), nn.BatchNorm2d(3), nn.ReLU())
    net = nn.Sequential(inner, nn.Conv2d(3, 2, 3, bias=False), nn.BatchNorm2d(2), nn.Dropout(0.5))
    net = filled(torch, net).eval()
    for norm in (net[0][1], net[2]):
        norm.running_mean.add_(0.3)
        norm.running_var.mul_(1.7)
    x = torch.arange(50.0).reshape(1, 2, 5, 5).cos()
    found = optimization.fuse(net)
    without = optimization.remove_dropout(net)
    close = torch.allclose(net(x), found(x), atol=1e-5)
    same = torch.equal(net(x), without(x))
    answer = [found.code, close, plain(found(x).sum() * 0 + 1), same, without.code]
    return [*answer, net[2].training, sorted(found.state_dict())]


def split(torch):
    from importlib import import_module

    split_module = import_module(f"{torch.__name__}.fx.passes.split_module").split_module

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.p = torch.nn.Parameter(torch.ones(2))
            self.more = torch.nn.Sequential(torch.nn.Linear(2, 2))
            self.q = torch.nn.Parameter(torch.full((2,), 0.3))

        def forward(self, x, y=2):
            z = self.more(x + self.p).clamp(min=0.0)
            w = z.sin() + y
            v = w + z * self.q
            return v.exp(), w + self.p

    net = filled(torch, Net())
    traced, x = torch.fx.symbolic_trace(net), torch.ones(1, 2)
    cuts = {"sin": 1, "add_1": 1, "mul": 1, "add_2": 2, "add_3": 2, "exp": 3}
    names, answer = {}, []
    for options in ({}, {"partition_affix": "x"}, {"keep_original_node_name": True}):
        parts = split_module(traced, net, lambda node: cuts.get(node.name, 0), names, **options)
        answer += [parts.code, [[n, c.code] for n, c in parts.named_children()], plain(parts(x))]
    cuts = {"clamp": 1, "sin": 1}
    answer.append(error(lambda: split_module(traced, net, lambda node: cuts.get(node.name, 0))))
    whole = split_module(traced, net, lambda node: "all")
    return [*answer, names, whole.code, whole.submod_all.code]


ALL = [split, interpreters, shapes, patterns, filtered_patterns, module_patterns, fused]
