"""What Graph.lint checks."""

from rushlight import _C
from rushlight.fx.node import map_arg

_OPS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output")


def lint(graph):
    """Raises for a graph that cannot run."""
    seen, names = set(), set()
    for node in graph.nodes:
        if node.op not in _OPS:
            raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        map_arg((node.args, node.kwargs), lambda arg, node=node: _check(graph, node, arg, seen))
        seen.add(node)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        names.add(node.name)
    if graph.owning_module is not None:
        for node in graph.nodes:
            if node.op in ("get_attr", "call_module"):
                _check_path(graph.owning_module, node)


def _check(graph, node, arg, seen):
    if arg.graph is not graph:
        raise RuntimeError(
            f"Argument '{arg}' of Node '{node}' does not belong to this Graph, but was used as an "
            "argument! If you are copying nodes from another graph, make sure to use "
            f"``arg_transform`` on node_copy() to remap values\n{graph}"
        )
    if arg not in seen:
        raise RuntimeError(
            f"Argument '{arg}' of Node '{node}' was used before it has been defined! Please check "
            f"that Nodes in the graph are topologically ordered\n{graph}"
        )
    return arg


def _check_path(module, node):
    from rushlight.nn import Module

    value, parts = module, node.target.split(".")
    for i, part in enumerate(parts):
        if not hasattr(value, part):
            raise RuntimeError(
                f"Node {node} target {node.target} references nonexistent attribute {part} of "
                f"{'.'.join(parts[:i])}"
            )
        value = getattr(value, part)
    if node.op == "call_module" and not isinstance(value, Module):
        raise RuntimeError(
            f"Node {node} target {node.target} {part} of {'.'.join(parts[:-1])} does not "
            "reference an nn.Module"
        )
    if node.op == "get_attr" and not isinstance(value, Module | _C.Tensor):
        from warnings import warn

        warn(
            f"Node {node} target {node.target} {part} of {'.'.join(parts[:-1])} does not "
            "reference an nn.Module, nn.Parameter, or buffer, which is what 'get_attr' Nodes "
            "typically target",
            stacklevel=4,
        )
