"""replace_pattern: every occurrence of one program in a graph becomes another."""

import copy
from dataclasses import dataclass, field
from typing import NamedTuple

from rushlight.fx._symbolic_trace import symbolic_trace
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.node import Node
from rushlight.nn import Module

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """An occurrence: the pattern's last node, and the graph's node for each of the pattern's."""

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """An occurrence that was replaced, with the nodes that took its place.

    Args:
        anchor: the pattern's last node.
        nodes_map: the graph's node for each of the pattern's.
        replacements: the new nodes.
    """

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node] = field(default_factory=list)


def replace_pattern(gm, pattern, replacement):
    """Replaces every occurrence of a pattern in a graph; occurrences do not overlap.

    Args:
        gm: the GraphModule, which is changed.
        pattern: a function or module; its parameters match anything.
        replacement: a function or module with as many parameters.

    Returns: a list of Match.

    >>> traced = torch.fx.symbolic_trace(lambda x: x.neg().relu() + 1)
    >>> found = torch.fx.replace_pattern(
    ...     traced, lambda x: x.neg().relu(), lambda x: x.clamp(max=0)
    ... )
    >>> traced(torch.tensor([-2.0, 2.0]))
    tensor([-1.,  1.])
    """
    replaced = _replace(gm, pattern, replacement)
    return [Match(anchor=each.anchor, nodes_map=each.nodes_map) for each in replaced]


def replace_pattern_with_filters(
    gm,
    pattern,
    replacement=None,
    match_filters=None,
    ignore_literals=False,
    replacement_callback=None,
    node_name_match="",
):
    """Replaces the occurrences of a pattern that all filters let through.

    Args:
        gm: the GraphModule, which is changed.
        pattern: a function, module or graph.
        replacement: a function, module or graph.
        match_filters: functions of (match, graph, graph of the pattern).
        ignore_literals: whether numbers and strings in the pattern match any.
        replacement_callback: a function of the same, which returns the graph that takes the place.
        node_name_match: a text that the name of the result must contain.

    Returns: a list of ReplacedPatterns.
    """
    return _replace(
        gm, pattern, replacement, match_filters, ignore_literals, replacement_callback,
        node_name_match,
    )  # fmt: skip


def _graph_of(program):
    if isinstance(program, GraphModule):
        return program.graph
    return program if isinstance(program, Graph) else symbolic_trace(program).graph


def _replace(
    gm, pattern, replacement, filters=None, ignore_literals=False, callback=None, name_match=""
):
    from rushlight.fx.passes.utils.matcher_utils import SubgraphMatcher

    pattern_graph = _graph_of(pattern)
    if replacement is None and callback is None:
        raise AssertionError(
            "Must provide either replacement GraphModule or a replacement callback"
        )
    common = None if replacement is None else _graph_of(replacement)
    matcher = SubgraphMatcher(
        pattern_graph, remove_overlapping_matches=True, ignore_literals=ignore_literals
    )
    matches = [
        each
        for each in matcher.match(gm.graph, name_match)
        if all(keep(each, gm.graph, pattern_graph) for keep in filters or ())
    ]
    replaced, changed = [], {}
    for match in matches:
        graph = common if common is not None else callback(match, gm.graph, pattern_graph)
        replaced.append(_replace_one(gm.graph, match, graph, pattern_graph, changed))
    gm.recompile()
    if isinstance(replacement, Module):
        _copy_attributes(gm, replacement)
    return replaced


def _replace_one(graph, match, replacement, pattern, changed):
    inputs = [n for n in replacement.nodes if n.op == "placeholder"]
    if len(match.placeholder_nodes) != len(inputs):
        raise AssertionError(
            f"the pattern has {len(match.placeholder_nodes)} inputs, the replacement {len(inputs)}"
        )
    values = [changed.get(n, n) if isinstance(n, Node) else n for n in match.placeholder_nodes]
    known = dict(zip(inputs, values, strict=True))
    point = _first_use(graph, match)
    before = set(graph.nodes)
    with graph.inserting_before(point):
        result = graph.graph_copy(replacement, known)
    results = [result] if isinstance(result, Node) else list(result)
    if len(match.returning_nodes) != len(results):
        raise AssertionError(
            f"the pattern has {len(match.returning_nodes)} results, the replacement {len(results)}"
        )
    for old, new in zip(match.returning_nodes, results, strict=True):
        old.replace_all_uses_with(new)
        changed[old] = new
    for each in reversed(pattern.nodes):
        if each.op in ("placeholder", "output"):
            continue
        node = match.nodes_map[each]
        if not node.users:
            graph.erase_node(node)
    new_nodes = [n for n in graph.nodes if n not in before]
    return ReplacedPatterns(match.anchors[0], match.nodes_map, new_nodes)


def _first_use(graph, match):
    """The node that the replacement is written before: the first that uses a result, but behind all
    inputs of the match."""
    users = [u for node in match.returning_nodes for u in node.users]
    inner = set(match.nodes_map.values()) if users else set()
    first = min((u for u in users if u not in inner), default=None, key=graph._position)
    if first is not None:
        return first
    return match.returning_nodes[0].next


def _copy_attributes(gm, replacement):
    """Gives a module what the nodes of its new parts name."""
    gm.delete_all_unused_submodules()
    if isinstance(replacement, GraphModule):
        replacement.graph.lint()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        owner, _, name = node.target.rpartition(".")
        try:
            holder = gm.get_submodule(owner)
            if hasattr(holder, name):
                continue
        except AttributeError:
            pass
        try:
            theirs = getattr(replacement.get_submodule(owner), name)
        except AttributeError:
            raise RuntimeError(
                f'Attempted to create a "{node.op}" node during subgraph rewriting with target '
                f"{node.target}, but the referenced attribute does not exist in the replacement "
                "GraphModule"
            ) from None
        if isinstance(theirs, Module):
            gm.add_submodule(node.target, copy.deepcopy(theirs))
        else:
            if owner and not _has_submodule(gm, owner):
                gm.add_submodule(owner, Module())
            setattr(gm.get_submodule(owner), name, theirs)
    gm.graph.lint()


def _has_submodule(gm, path):
    try:
        gm.get_submodule(path)
    except AttributeError:
        return False
    return True
