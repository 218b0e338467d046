"""Graph: a program as a list of nodes, each of which names what it calls and what it calls it with.

Note: the list is a ring of nodes around `_root`, so that inserting and erasing cost nothing.
"""

import copy
import inspect
import warnings

from rushlight.fx import _codegen
from rushlight.fx._codegen import (
    CodeGen,
    PythonCode,
    inplace_methods,
    magic_methods,
    reflectable_magic_methods,
)
from rushlight.fx._lint import lint
from rushlight.fx._names import type_repr
from rushlight.fx._pytree_codegen import _PyTreeCodeGen, _PyTreeInfo
from rushlight.fx._text import snake_case, table
from rushlight.fx.node import Node, map_arg

__all__ = ["CodeGen", "Graph", "PythonCode"]

_Namespace = _codegen.Namespace
_format_target = _codegen.format_target
_snake_case = snake_case
_type_repr = type_repr
_USED_ELSEWHERE = (
    magic_methods, inplace_methods, reflectable_magic_methods, _PyTreeCodeGen, _PyTreeInfo,
)  # fmt: skip


class _node_list:
    """The nodes in order; nodes may be added and erased on the way."""

    def __init__(self, graph, direction="_next"):
        self.graph, self.direction = graph, direction

    def __len__(self):
        return self.graph._len

    def __iter__(self):
        root, direction = self.graph._root, self.direction
        node = getattr(root, direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, direction)

    def __reversed__(self):
        return iter(_node_list(self.graph, "_prev" if self.direction == "_next" else "_next"))


class _InsertPoint:
    """Where new nodes go, until the end of a `with` block."""

    def __init__(self, graph, new_insert):
        self.graph, self.before = graph, graph._insert
        graph._insert = new_insert

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.graph._insert = self.before


class Graph:
    """A program: its inputs, calls in the order in which they run, and the output.

    Args:
        owning_module: the GraphModule that runs it.
        tracer_cls: the class of the tracer that made it.
        tracer_extras: what that tracer needs to make it anew, in a dict.

    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> out = graph.output(graph.call_function(torch.relu, (x,)))
    >>> print(graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %relu : [num_users=1] = call_function[target=torch.relu](args = (%x,), kwargs = {})
        return relu
    """

    def __init__(self, owning_module=None, tracer_cls=None, tracer_extras=None):
        self._root = Node(self, "", "root", "", (), {})
        self._insert = self._root.prepend
        self._len = 0
        self._positions = None
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()
        self._co_fields: dict = {}

    @property
    def owning_module(self):
        """The GraphModule that runs the graph, if there is one."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod):
        self._owning_module = mod

    @property
    def nodes(self):
        """The nodes in order, as an iterable with a length; `reversed` goes backwards."""
        return _node_list(self)

    def _position(self, node):
        if self._positions is None:
            self._positions = {n: i for i, n in enumerate(self.nodes)}
        return self._positions.get(node, -1)

    def output_node(self):
        """The node of the output."""
        node = next(iter(reversed(self.nodes)))
        if node.op != "output":
            raise AssertionError(f"the last node is {node.op} {node.name}, not the output")
        return node

    def find_nodes(self, *, op, target=None, sort=True):
        """The nodes of one kind.

        Args:
            op: what they do, such as "call_function".
            target: what they call; needed unless op is "placeholder" or "output".
            sort: accepted: they come in the order of the graph.

        >>> graph = torch.fx.symbolic_trace(lambda x: x.sin() + x.sin()).graph
        >>> graph.find_nodes(op="call_method", target="sin")
        [sin, sin_1]
        """
        if target is None and op == "call_function":
            raise AssertionError("target must not be None for call_function op")
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def graph_copy(self, g, val_map, return_output_node=False):
        """Copies all nodes of another graph into this one, but for its output.

        Args:
            g: the other graph.
            val_map: a dict from its nodes to ours, which is filled; nodes in it are not copied.
            return_output_node: whether to return the node of its output too.

        Returns: its output, in our nodes.
        """
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                value = map_arg(node.args[0], lambda n: val_map[n])
                return (value, node) if return_output_node else value
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo=None):
        memo = memo if memo is not None else {}
        graph = Graph(tracer_cls=self._tracer_cls, tracer_extras=self._tracer_extras)
        memo[id(self)] = graph
        graph._codegen = copy.deepcopy(self._codegen)
        values: dict = {}
        found = graph.graph_copy(self, values, return_output_node=True)
        if found is not None:
            value, old = found
            new = graph.output(value, type_expr=old.type)
            new.meta = copy.copy(old.meta)
            values[old] = new
        memo.update((id(old), new) for old, new in values.items())
        return graph

    def create_node(self, op, target, args=None, kwargs=None, name=None, type_expr=None):
        """Makes a node and adds it at the point of insertion.

        Args:
            op: what it does: "call_function", "call_method", "get_attr", ...
            target: what is called, or which attribute is read.
            args: positional arguments, a tuple.
            kwargs: keyword arguments, a dict.
            name: its name; else one made of the target.
            type_expr: the annotation of its value.

        Returns: the node.
        """
        args = () if args is None else args
        kwargs = {} if kwargs is None else kwargs
        if not isinstance(args, tuple):
            raise AssertionError(f"args must be a tuple, got {type(args)}")
        if not isinstance(kwargs, dict):
            raise AssertionError(f"kwargs must be a dict, got {type(kwargs)}")
        candidate = name if name is not None else self._target_to_str(target)
        name = self._graph_namespace.create_name(candidate, None)
        node = Node(self, name, op, target, args, kwargs, type_expr)
        self._graph_namespace.associate_name_with_obj(name, node)
        for hook in getattr(self.owning_module, "_create_node_hooks", None) or ():
            hook(node)
        self._insert(node)
        self._len += 1
        return node

    def process_inputs(self, *args):
        """What the placeholders get, from the arguments of a call.

        Args:
            args: the arguments.
        """
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out):
        """What a call returns, from the value of the output.

        Args:
            out: the value.
        """
        return self._codegen.process_outputs(out)

    def erase_node(self, to_erase):
        """Takes a node that nothing uses out of the graph.

        Args:
            to_erase: the node.

        Raises: RuntimeError, if there are users, or if it belongs to another graph.
        """
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        for hook in getattr(self.owning_module, "_erase_node_hooks", None) or ():
            hook(to_erase)
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1
        to_erase._set_arguments((), {})

    def inserting_before(self, n=None):
        """Has new nodes added before a node, for the length of a `with` block or for good.

        Args:
            n: the node; None is the beginning of the graph.
        """
        if n is None:
            return self.inserting_after(self._root)
        self._check_mine(n)
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n=None):
        """Has new nodes added behind a node, in a `with` block or for good.

        Args:
            n: the node; None is the end of the graph.

        >>> graph = torch.fx.symbolic_trace(lambda x: x + 1).graph
        >>> x, add, output = graph.nodes
        >>> with graph.inserting_after(add):
        ...     double = graph.call_method("mul", (add, 2))
        >>> list(graph.nodes)
        [x, add, mul, output]
        """
        if n is None:
            return self.inserting_before(self._root)
        self._check_mine(n)
        return _InsertPoint(self, n.append)

    def _check_mine(self, n):
        if n.graph is not self:
            raise AssertionError("Node to insert before is not in graph.")

    def placeholder(self, name, type_expr=None, default_value=inspect.Signature.empty):
        """Adds an input.

        Args:
            name: the name of the parameter; "*args" and "**kwargs" collect.
            type_expr: its annotation.
            default_value: its default.
        """
        args = () if default_value is inspect.Signature.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name, type_expr=None):
        """Adds the reading of a parameter, buffer or other attribute of the module.

        Args:
            qualified_name: its name, such as "layer1.weight".
            type_expr: its annotation.
        """
        if not self._has(qualified_name):
            warnings.warn(
                "Attempted to insert a get_attr Node with no underlying reference in the owning "
                "GraphModule! Call GraphModule.add_submodule to add the necessary submodule, "
                "GraphModule.add_parameter to add the necessary Parameter, or "
                "nn.Module.register_buffer to add the necessary buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def _has(self, path):
        """Whether the module has it; True without a module."""
        value = self.owning_module
        for part in path.split(".") if value is not None else ():
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True

    def call_module(self, module_name, args=None, kwargs=None, type_expr=None):
        """Adds the call of a submodule.

        Args:
            module_name: its name, such as "layer1.0".
            args: positional arguments.
            kwargs: keyword arguments.
            type_expr: the annotation of its value.
        """
        if not self._has(module_name):
            warnings.warn(
                "Attempted to insert a call_module Node with no underlying reference in the "
                "owning GraphModule! Call GraphModule.add_submodule to add the necessary submodule",
                stacklevel=2,
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(self, method_name, args=None, kwargs=None, type_expr=None):
        """Adds the call of a method of its first argument.

        Args:
            method_name: the name of the method.
            args: the object, and the positional arguments.
            kwargs: keyword arguments.
            type_expr: the annotation of its value.
        """
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(self, the_function, args=None, kwargs=None, type_expr=None, name=None):
        """Adds the call of a function.

        Args:
            the_function: the function.
            args: positional arguments.
            kwargs: keyword arguments.
            type_expr: the annotation of its value.
            name: the name of the node.
        """
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def node_copy(self, node, arg_transform=lambda x: x):
        """Adds a copy of a node of another graph.

        Args:
            node: the node.
            arg_transform: a function from the nodes in its arguments to those of this graph.
        """
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        new = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        new.meta = copy.copy(node.meta)
        return new

    def output(self, result, type_expr=None):
        """Adds the output.

        Args:
            result: what the program returns.
            type_expr: its annotation.
        """
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    def _target_to_str(self, target):
        name = target if isinstance(target, str) else target.__name__
        if isinstance(target, str) and target[:2] == target[-2:] == "__" and len(target) > 4:
            name = target[2:-2]
        return snake_case(name)

    def python_code(self, root_module, *, verbose=False, **kwargs):
        """The source of the program.

        Args:
            root_module: the name of the module in it, "self".
            verbose: whether comments say where the traced program had a call.
            kwargs: accepted.

        Returns: a PythonCode.
        """
        return self._codegen._gen_python_code(
            self.nodes, root_module, _codegen.of_nodes(self.nodes), verbose=verbose
        )

    def on_generate_code(self, make_transformer):
        """Not here: code is the text of the graph alone.

        Args:
            make_transformer: what would change the text.

        Raises: NotImplementedError.
        """
        raise NotImplementedError(
            "Graph.on_generate_code() is not in rushlight: a change of the text of the code\n"
            "change the graph's nodes instead, or give a CodeGen of your own to set_codegen()"
        )

    def set_codegen(self, codegen):
        """Has the function around the nodes be written by another CodeGen.

        Args:
            codegen: an object of a subclass of torch.fx.CodeGen.
        """
        self._codegen = codegen

    def __str__(self):
        return "\n    ".join(["graph():", *(node.format_node() for node in self.nodes)])

    def print_tabular(self):
        """Prints the nodes as a table of op, name, target, arguments.

        >>> torch.fx.symbolic_trace(lambda x: x + 1).graph.print_tabular()
        opcode         name    target                   args    kwargs
        -------------  ------  -----------------------  ------  --------
        placeholder    x       x                        ()      {}
        call_function  add     <built-in function add>  (x, 1)  {}
        output         output  output                   (add,)  {}
        """
        rows = [[n.op, n.name, n.target, n.args, n.kwargs] for n in self.nodes]
        print(table(["opcode", "name", "target", "args", "kwargs"], rows))

    def lint(self):
        """Checks that the graph can run: order of nodes, names, and what they name in the module.

        Raises: RuntimeError, ValueError or a TypeError, which names the node.
        """
        lint(self)

    def eliminate_dead_code(self, is_impure_node=None):
        """Erases the nodes that nothing uses and that have no effect.

        Args:
            is_impure_node: a function of a node, which says whether it must stay; else its
                `is_impure()`.

        Returns: whether anything was erased.

        >>> graph = torch.fx.symbolic_trace(lambda x: [x.sin(), x.cos()][0]).graph
        >>> graph.eliminate_dead_code(), list(graph.nodes)
        (True, [x, sin, output])
        """
        self.lint()
        changed = False
        for node in reversed(self.nodes):
            impure = node.is_impure() if is_impure_node is None else is_impure_node(node)
            if not impure and not node.users:
                self.erase_node(node)
                changed = True
        return changed
