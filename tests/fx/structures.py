"""Arguments that are structures, functions of a module beside forward, codegens of programs."""

import collections
import operator
from importlib import import_module

Point = collections.namedtuple("Point", "x y")


class Pair:
    def __init__(self, a, b):
        self.a, self.b = a, b


def structures(torch):
    """Traced flat, traced again as a module, and taken apart once more."""
    pytree = import_module(f"{torch.__name__}.utils._pytree")
    fx_pytree = import_module(f"{torch.__name__}.fx._pytree")
    if Pair not in pytree.SUPPORTED_NODES:
        pytree.register_pytree_node(
            Pair, lambda p: ([p.a, p.b], None), lambda parts, _: Pair(*parts)
        )
        fx_pytree.register_pytree_flatten_spec(Pair, lambda p, _: [p.a, p.b])
    one = torch.fx.PH

    def lists(x):
        return {key: [i + 1 for i in value] for key, value in x.items()}

    answer = []
    for function, given in (
        (lambda x: sum(x), [one, one, one]),
        (lists, {"a": (one, one), "b": [one], "c": []}),
        (lambda x: x.x * 2 + x.y, Point(one, one)),
        (lambda x: x.a * 2 + x.b, Pair(one, one)),
        (lambda x: sum(x.a.values()) + x.b, Pair({"a": one, "b": one}, 3)),
    ):
        value = pytree.tree_map(lambda x: torch.ones(2) if x is one else x, given)
        flat = torch.fx.symbolic_trace(function, concrete_args={"x": given})
        again = torch.fx.symbolic_trace(flat)
        apart = torch.fx.symbolic_trace(again, concrete_args={"x": given})
        answer += [again.code, apart.code]
        answer += [pytree.tree_map(lambda t: t.tolist(), m(value)) for m in (flat, again, apart)]
    return answer


def functions_beside_forward(torch):
    class Two(torch.nn.Module):
        def forward(self, x):
            return x + 1

        def other(self, x):
            return operator.and_(x, 1) | 2

    tracer = torch.fx.Tracer()
    codes = [str(tracer.trace(Two()))]
    tracer.traced_func_name = "other"
    codes.append(str(tracer.trace(Two())))
    tracer.traced_func_name = "none"
    try:
        tracer.trace(Two())
    except AssertionError as error:
        codes.append("traced_func_name=none doesn't exist in" in str(error))
    return codes


def codegens(torch):
    class Listed(torch.fx.CodeGen):
        def generate_output(self, output_args):
            return f"return [{output_args!r}]"

    traced = torch.fx.symbolic_trace(lambda x: x + 1)
    traced.graph.set_codegen(Listed())
    traced.recompile()
    return [traced.code, traced(torch.ones(1))[0].item()]


def tags(torch):
    class Tagging(torch.fx.Tracer):
        def create_node(self, *args, **kwargs):
            node = super().create_node(*args, **kwargs)
            node.tag = "tracer's"
            return node

    class Tagged(torch.fx._symbolic_trace.PHBase):
        def __init__(self):
            self.tag, self.mark = "input's", 3

    def double(x):
        return x * 2

    graph = Tagging().trace(double, concrete_args={"x": Tagged()})
    return [(node.tag, getattr(node, "mark", None)) for node in graph.nodes]


def memory_formats(torch):
    shape_prop = import_module(f"{torch.__name__}.fx.passes.shape_prop")
    traced = torch.fx.symbolic_trace(lambda x: x * 2)
    found = []
    for shape, layout in (((2, 3, 4, 5), "channels_last"), ((2, 3, 4, 5, 6), "channels_last_3d")):
        for memory_format in (torch.contiguous_format, getattr(torch, layout)):
            x = torch.ones(shape).contiguous(memory_format=memory_format)
            shape_prop.ShapeProp(traced).propagate(x)
            found += [str(n.meta["tensor_meta"].memory_format) for n in traced.graph.nodes]
    return found


ALL = [structures, functions_beside_forward, codegens, tags, memory_formats]
