"""split_module: a graph cut into submodules, by what a function says of each node.

Note: parameters stay with the whole module, which passes them on; modules move into the parts.
"""

import operator

from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import map_arg

__all__ = ["Partition", "split_module"]


class Partition:
    """One part on its way: its graph, what it takes and what it gives.

    Args:
        name: its name.
    """

    def __init__(self, name):
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, object] = {}
        self.outputs: dict[str, object] = {}
        self.depends_on: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict = {}
        self.targets: dict[str, object] = {}

    def __repr__(self):
        return (
            f"name: {self.name},\n nodes: {self.node_names},\n inputs: {[*self.inputs]},\n "
            f"outputs: {[*self.outputs]},\n partitions depended on: {[*self.depends_on]}"
        )


def split_module(
    m,
    root_m,
    split_callback,
    qualname_map=None,
    keep_original_order=False,
    keep_original_node_name=False,
    keep_original_input_name=True,
    *,
    partition_affix=None,
):
    """A module with a submodule for each part of a graph.

    Args:
        m: the GraphModule.
        root_m: accepted.
        split_callback: a function of a node, which returns the name of its part, an int or a str.
        qualname_map: a dict that gets the old name of each module under its new one.
        keep_original_order: whether parts come in the order in which they begin.
        keep_original_node_name: whether nodes of the parts keep their names.
        keep_original_input_name: whether inputs of the parts are named after what they are.
        partition_affix: a text in the names of the parts.

    Returns: a GraphModule, which calls submod_0, submod_1, ...

    Raises: RuntimeError, if two parts need each other.

    >>> traced = torch.fx.symbolic_trace(lambda x: x.sin().cos())
    >>> split = torch.fx.passes.split_module.split_module(
    ...     traced, traced, lambda node: int(node.target == "cos")
    ... )
    >>> [name for name, _ in split.named_children()]
    ['submod_0', 'submod_1']
    """
    parts: dict[str, Partition] = {}
    part_of = {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        name = str(split_callback(node))
        if partition_affix:
            name = f"{partition_affix}_{name}"
        part = parts.setdefault(name, Partition(name))
        part.node_names.append(node.name)
        part_of[node] = part
    for node in m.graph.nodes:
        _connect(node, part_of)
    order = list(parts.values()) if keep_original_order else _sorted(parts)
    for part in order:
        for name, node in part.inputs.items():
            label = name if keep_original_input_name else f"arg_{len(part.environment)}"
            part.environment[node] = part.graph.placeholder(label, type_expr=node.type)
            part.environment[node].meta = node.meta.copy()
    for node in m.graph.nodes:
        if node in part_of:
            _copy(node, part_of[node], m, qualname_map, keep_original_node_name)
    return _whole(m, order)


def _connect(node, part_of):
    mine = part_of.get(node)
    for used in node.all_input_nodes:
        theirs = part_of.get(used)
        if mine is theirs:
            continue
        if theirs is not None:
            theirs.outputs.setdefault(used.name, used)
        if mine is not None:
            mine.inputs.setdefault(used.name, used)
            if theirs is not None:
                mine.depends_on.setdefault(theirs.name)


def _sorted(parts):
    """So that each comes after what it needs."""
    left = {name: set(part.depends_on) for name, part in parts.items()}
    ready = [name for name, needs in left.items() if not needs]
    order = []
    while ready:
        name = ready.pop(0)
        order.append(parts[name])
        for other, needs in left.items():
            if name in needs:
                needs.remove(name)
                if not needs:
                    ready.append(other)
    if len(order) != len(parts):
        stuck = [name for name, needs in left.items() if needs]
        raise RuntimeError(
            f"cycle exists between partitions!\nthe parts {stuck} need each other's values"
        )
    return order


def _copy(node, part, m, qualname_map, keep_name):
    def mapped(arg):
        return map_arg(arg, lambda n: part.environment[n])

    target = node.target
    if node.op == "call_module":
        module = m.get_submodule(target)
        target = target.replace(".", "_")
        part.targets[target] = module
        if qualname_map is not None:
            qualname_map[f"{part.submod_name}.{target}"] = node.target
    new = part.graph.create_node(
        node.op,
        target,
        mapped(node.args),
        mapped(node.kwargs),
        name=node.name if keep_name else None,
        type_expr=node.type,
    )
    new.meta = node.meta.copy()
    part.environment[node] = new


def _whole(m, order):
    graph, known, modules = Graph(), {}, {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr"):
            known[node] = graph.node_copy(node)
            if node.op == "get_attr":
                modules[node.target] = _attribute(m, node.target)
    for part in order:
        values = tuple(part.environment[node] for node in part.outputs.values())
        if values:
            part.graph.output(values[0] if len(values) == 1 else values)
        modules[part.submod_name] = GraphModule(part.targets, part.graph)
        args = tuple(known[node] for node in part.inputs.values())
        call = graph.create_node("call_module", part.submod_name, args)
        for i, node in enumerate(part.outputs.values()):
            if len(part.outputs) == 1:
                known[node] = call
            else:
                known[node] = graph.call_function(operator.getitem, (call, i))
    for node in m.graph.nodes:
        if node.op == "output":
            new = graph.output(map_arg(node.args[0], lambda n: known[n]), node.type)
            new.meta = node.meta.copy()
    return GraphModule(modules, graph)


def _attribute(m, target):
    value = m
    for part in target.split("."):
        value = getattr(value, part)
    return value
