"""Interpreter and Transformer: a graph run node by node, with methods for subclasses to change."""

import rushlight
from rushlight.fx import traceback as fx_traceback
from rushlight.fx._symbolic_trace import Tracer
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import Node, map_aggregate, map_arg
from rushlight.fx.proxy import Proxy
from rushlight.nn import Module

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a GraphModule node by node. A subclass changes what a kind of node does.

    Args:
        module: the module.
        garbage_collect_values: whether values are dropped after their last use.
        graph: the graph; else that of the module.

    >>> class Logged(torch.fx.Interpreter):
    ...     def call_method(self, target, args, kwargs):
    ...         print(target)
    ...         return super().call_method(target, args, kwargs)
    >>> Logged(torch.fx.symbolic_trace(lambda x: x.neg().exp())).run(torch.zeros(1))
    neg
    exp
    tensor([1.])
    """

    def __init__(self, module, garbage_collect_values=True, graph=None):
        self.module = module
        self.submodules = dict(module.named_modules())
        self.graph = module.graph if graph is None else graph
        self.env: dict[Node, object] = {}
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = {}
        if garbage_collect_values:
            seen: set[Node] = set()
            for node in reversed(self.graph.nodes):
                for used in node.all_input_nodes:
                    if used not in seen:
                        seen.add(used)
                        self.user_to_last_uses.setdefault(node, []).append(used)

    def run(self, *args, initial_env=None, enable_io_processing=True):
        """Runs the module.

        Args:
            *args: its arguments.
            initial_env: values of nodes that are known, which are not computed.
            enable_io_processing: whether the arguments are taken apart, and the output is built
                again, as the graph's CodeGen says.

        Returns: what the module returns.
        """
        self.env = dict(initial_env) if initial_env else {}
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                if self.extra_traceback:
                    _say_where(error, node)
                raise
            for used in self.user_to_last_uses.get(node, ()):
                self.env.pop(used, None)
            if node.op == "output":
                value = self.env[node]
                return self.graph.process_outputs(value) if enable_io_processing else value
        return None

    def boxed_run(self, args_list):
        """Runs the module on arguments in a list, which is emptied.

        Args:
            args_list: the arguments.
        """
        env = {}
        for node in self.graph.nodes:
            if node.op == "placeholder":
                env[node] = args_list[len(env)]
        args_list.clear()
        return self.run(initial_env=env)

    def run_node(self, n):
        """Runs one node.

        Args:
            n: the node.

        Returns: its value.
        """
        with fx_traceback.set_current_meta(n):
            args, kwargs = self.fetch_args_kwargs_from_env(n)
            return getattr(self, n.op)(n.target, args, kwargs)

    def placeholder(self, target, args, kwargs):
        """The next argument, or the default.

        Args:
            target: the name of the parameter.
            args: its default, if it has one.
            kwargs: nothing.
        """
        if target.startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from None

    def get_attr(self, target, args, kwargs):
        """An attribute of the module.

        Args:
            target: its name.
            args: nothing.
            kwargs: nothing.
        """
        return self.fetch_attr(target)

    def call_function(self, target, args, kwargs):
        """Calls a function.

        Args:
            target: the function.
            args: positional arguments.
            kwargs: keyword arguments.
        """
        if isinstance(target, str):
            raise AssertionError(f"a function is needed, not {target!r}")
        return target(*args, **kwargs)

    def call_method(self, target, args, kwargs):
        """Calls a method of the first argument.

        Args:
            target: the name of the method.
            args: the object, and positional arguments.
            kwargs: keyword arguments.
        """
        self_obj, *rest = args
        return getattr(self_obj, target)(*rest, **kwargs)

    def call_module(self, target, args, kwargs):
        """Calls a submodule.

        Args:
            target: its name.
            args: positional arguments.
            kwargs: keyword arguments.
        """
        return self.fetch_attr(target)(*args, **kwargs)

    def output(self, target, args, kwargs):
        """What the module returns.

        Args:
            target: "output".
            args: the value.
            kwargs: nothing.
        """
        return args[0]

    def fetch_attr(self, target):
        """An attribute of the module by its name.

        Args:
            target: the name, such as "fc.weight".
        """
        value, parts = self.module, target.split(".")
        for i, part in enumerate(parts):
            if not hasattr(value, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(parts[: i + 1])}")
            value = getattr(value, part)
        return value

    def fetch_args_kwargs_from_env(self, n):
        """The arguments of a node, as values.

        Args:
            n: the node.

        Returns: a pair of positional and keyword arguments.
        """
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args, n):
        """Values in place of the nodes in arguments.

        Args:
            args: the arguments.
            n: the node that they belong to.
        """

        def value(node):
            if node not in self.env:
                raise RuntimeError(f"Node {n} referenced nonexistent value {node}! Run Graph.lint()"
                                   " to diagnose such issues")  # fmt: skip
            return self.env[node]

        return map_arg(args, value)


def _say_where(error, node):
    text = f"While executing {node.format_node()}"
    if node.stack_trace:
        text += f"\nOriginal traceback:\n{node.stack_trace}"
    if error.args and isinstance(error.args[0], str) and not isinstance(error, KeyError):
        error.args = (f"{error.args[0]}\n\n{text}", *error.args[1:])
    else:
        error.add_note(text)


class _TransformerTracer(Tracer):
    def __init__(self, graph, root):
        super().__init__()
        self.graph, self.root = graph, root
        self.tensor_attrs: dict = {}

    def is_leaf_module(self, m, module_qualified_name):
        return True


class Transformer(Interpreter):
    """Runs a GraphModule on Proxies, so that it is recorded again, with what a subclass changes.

    Args:
        module: the module.

    >>> class NegSigmoid(torch.fx.Transformer):
    ...     def call_method(self, target, args, kwargs):
    ...         x = super().call_method(target, args, kwargs)
    ...         return x.neg() if target == "sigmoid" else x
    >>> NegSigmoid(torch.fx.symbolic_trace(lambda x: x.sigmoid())).transform().graph.nodes.__len__()
    4
    """

    def __init__(self, module):
        super().__init__(module)
        self.new_graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer = _TransformerTracer(self.new_graph, module)
        self.tracer.root = module

    def placeholder(self, target, args, kwargs):
        """The Proxy of an input.

        Args:
            target: the name of the parameter.
            args: its default, if it has one.
            kwargs: nothing.
        """
        default = args[0] if args else rushlight.fx.graph.inspect.Signature.empty
        node = self.new_graph.placeholder(target, default_value=default)
        return Proxy(node, self.tracer)

    def get_attr(self, target, args, kwargs):
        """The Proxy of an attribute.

        Args:
            target: its name.
            args: nothing.
            kwargs: nothing.
        """
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(self, target, args, kwargs):
        """Records the call of a submodule.

        Args:
            target: its name.
            args: positional arguments.
            kwargs: keyword arguments.
        """
        module = self.fetch_attr(target)
        if not isinstance(module, Module):
            raise AssertionError(f"{target} is no module")
        return self.tracer.call_module(module, module.forward, args, kwargs)

    def call_function(self, target, args, kwargs):
        """Records the call of a function.

        Args:
            target: the function.
            args: positional arguments.
            kwargs: keyword arguments.
        """
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self):
        """Runs the module on Proxies.

        Returns: the new GraphModule.
        """
        with fx_traceback.preserve_node_meta():
            result = super().run(enable_io_processing=False)
        if result is not None:
            node = map_aggregate(result, lambda a: a.node if isinstance(a, Proxy) else a)
            old = self.graph.output_node()
            self.new_graph.output(node, old.type).meta.update(old.meta)
        return GraphModule(self.module, self.new_graph)
