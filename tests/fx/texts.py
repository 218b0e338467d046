"""Generated code in its rarer forms, with torch and with rushlight: functions of the library that
return texts."""

import operator
import typing

from tests.fx.programs import plain


def own_codegen(torch):
    class ListCodeGen(torch.fx.CodeGen):
        def gen_fn_def(self, free_vars, maybe_return_annotation):
            head = f"def forward(self, args_list: List[torch.Tensor]){maybe_return_annotation}:"
            return f"\n{head}\n    {', '.join(free_vars)} = args_list"

        def additional_globals(self):
            return [("List", list)]

        def process_inputs(self, *inputs):
            return inputs[0]

    traced = torch.fx.symbolic_trace(lambda x, y: x + y)
    traced.graph.set_codegen(ListCodeGen())
    traced.recompile()
    return [traced.code, traced([1, 2]), torch.fx.Interpreter(traced).run([1, 2])]


def annotations(torch):
    def f(x: torch.Tensor | None, y: "int", z: list[int] = (1,)) -> tuple[int, float]:
        return x + y, 3

    def g(x: torch.Tensor | None, y: typing.Any = None, *a: int, **k: str):
        return x

    traced = [torch.fx.symbolic_trace(each) for each in (f, g)]
    return [[each.code, str(each.graph)] for each in traced]


def statements(torch):
    graph = torch.fx.Graph()
    a = graph.placeholder("a")
    b = graph.call_function(operator.iadd, (a, 1))
    c = graph.call_function(operator.setitem, (a, 0, b))
    d = graph.call_function(getattr, (a, "shape"))
    e = graph.call_function(getattr, (a, "no-id"))
    f = graph.call_function(max, (a, b), {"key": None})
    g = graph.call_function(operator.contains, (a, 3))
    graph.output([b, c, d, e, f, g, 3.5, "it's\n", float("nan"), ...])
    module = torch.fx.GraphModule({}, graph)
    return [module.code, str(graph), module.print_readable(print_output=False)]


def nested(torch):
    class Inner(torch.nn.Module):
        def forward(self, x):
            return x * 2

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = torch.fx.symbolic_trace(Inner())

        def forward(self, x):
            return self.inner(x) + 1

    class Whole(torch.fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    outer = Outer()
    module = torch.fx.GraphModule(outer, Whole().trace(outer), "Outer")
    flat = torch.fx.symbolic_trace(outer)
    return [module.print_readable(print_output=False), flat.code, plain(module(torch.ones(1)))]


def two_names(torch):
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = torch.nn.ModuleList([torch.nn.ModuleList([torch.nn.Identity()])])
            self.b = self.a[0][0]

        def forward(self, x):
            return self.b(self.a[0][0](x))

    traced = torch.fx.symbolic_trace(Net())
    return [str(traced), [name for name, _ in traced.named_modules()]]


def namespaces(torch):
    names, thing = torch.fx.graph._Namespace(), object()
    asked = [("x", thing), ("y", thing), ("x", None), ("x_5", None), ("x", None), ("x_5", None)]
    made = [names.create_name(name, obj) for name, obj in asked]
    return [made, torch.fx.graph._snake_case("FooBar2dBaz")]


def insertion(torch):
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    y = graph.call_method("sin", (x,))
    graph.inserting_before(y)
    z = graph.call_method("cos", (x,))
    graph.inserting_after()
    graph.output((y, z))
    return [str(graph), [n.is_impure() for n in graph.nodes]]


ALL = [own_codegen, annotations, statements, nested, two_names, namespaces, insertion]
