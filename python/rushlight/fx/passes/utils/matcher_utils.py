"""SubgraphMatcher: where in a graph a pattern occurs.

Note: it walks from each result of the pattern back to its inputs, in step with the graph.
"""

from dataclasses import dataclass, field
from itertools import product
from typing import Any

from rushlight import _C
from rushlight.fx.node import Node

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """One occurrence of a pattern.

    Args:
        anchors: the nodes of the pattern from which it was matched.
        nodes_map: the pattern's nodes, each with the graph's.
        placeholder_nodes: what the pattern's inputs are.
        returning_nodes: the nodes of the graph that the pattern returns.
        name_node_map: named nodes.
    """

    anchors: list[Node]
    nodes_map: dict[Node, Any] = field(default_factory=dict)
    placeholder_nodes: list[Any] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)


class SubgraphMatcher:
    """Finds a pattern in graphs.

    Args:
        pattern: the graph of the pattern.
        match_output: whether the pattern's output must be the graph's output.
        match_placeholder: whether its inputs must be inputs of the graph.
        remove_overlapping_matches: whether a node may be in one match only.
        ignore_literals: whether numbers and strings in the pattern match any.

    >>> pattern = torch.fx.symbolic_trace(lambda x: x.sin() + 1).graph
    >>> graph = torch.fx.symbolic_trace(lambda x: (x.cos().sin() + 1).exp()).graph
    >>> matcher = torch.fx.passes.utils.matcher_utils.SubgraphMatcher(pattern)
    >>> [match.returning_nodes for match in matcher.match(graph)]
    [[add]]
    """

    def __init__(
        self,
        pattern,
        match_output=False,
        match_placeholder=False,
        remove_overlapping_matches=True,
        ignore_literals=False,
    ):
        self.pattern = pattern
        self.match_output, self.match_placeholder = match_output, match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.is_impure() and not node.users:
                raise AssertionError(
                    "SubgraphMatcher cannot be initialized with an pattern with dead code"
                )
        self.pattern_placeholder_nodes = [n for n in pattern.nodes if n.op == "placeholder"]
        output = pattern.output_node()
        self.pattern_returning_nodes = output.all_input_nodes
        if match_output:
            self.pattern_anchors = [output]
        else:
            self.pattern_anchors = [n for n in output.all_input_nodes if len(n.users) == 1]

    def match(self, graph, node_name_match=""):
        """All matches, in the order of the graph.

        Args:
            graph: the graph to search.
            node_name_match: a text that the names of the results must contain.

        Returns: a list of InternalMatch.
        """
        candidates = []
        for anchor in self.pattern_anchors:
            nodes = [n for n in graph.nodes if self._equal(anchor, n) and node_name_match in n.name]
            candidates.append(nodes)
        matches = []
        for chosen in product(*candidates):
            match = InternalMatch(anchors=self.pattern_anchors)
            pairs = zip(self.pattern_anchors, chosen, strict=True)
            if all(self._walk(p, n, match) for p, n in pairs):
                match.placeholder_nodes = [
                    match.nodes_map[p]
                    for p in self.pattern_placeholder_nodes
                    if p in match.nodes_map
                ]
                match.returning_nodes = [match.nodes_map[p] for p in self.pattern_returning_nodes]
                if self._contained(match.nodes_map):
                    matches.append(match)
        return self._without_overlap(matches) if self.remove_overlapping_matches else matches

    def _equal(self, pattern, node):
        if not isinstance(node, Node):
            return False
        if not self.match_placeholder and pattern.op == "placeholder":
            return True
        if pattern.op != node.op:
            return False
        if pattern.op in ("placeholder", "output"):
            return True
        if pattern.op == "get_attr":
            mine, theirs = _attribute(pattern), _attribute(node)
            if isinstance(mine, _C.Tensor):
                return isinstance(theirs, _C.Tensor)
            return mine is theirs or type(mine) is type(theirs)
        return pattern.target == node.target

    def _walk(self, pattern, node, match):
        """Whether the pattern ends here; nodes_map gets what it is made of."""
        if isinstance(pattern, Node) and not isinstance(node, Node):
            if pattern.op != "placeholder" or self.match_placeholder:
                return False
            if pattern in match.nodes_map:
                return match.nodes_map[pattern] == node
            match.nodes_map[pattern] = node
            return True
        if not isinstance(pattern, Node):
            return not isinstance(node, Node) and (
                self.ignore_literals or (type(pattern) is type(node) and pattern == node)
            )
        if pattern in match.nodes_map:
            return match.nodes_map[pattern] is node
        if node in match.nodes_map.values() and pattern.op != "placeholder":
            return False
        if not self._equal(pattern, node):
            return False
        before = dict(match.nodes_map)
        match.nodes_map[pattern] = node
        if pattern.op == "placeholder" or self._arguments(pattern, node, match):
            return True
        match.nodes_map = before
        return False

    def _arguments(self, pattern, node, match):
        mine, theirs = _in_order(pattern, node)
        return mine is not None and self._same(mine, theirs, match)

    def _same(self, mine, theirs, match):
        if isinstance(mine, list | tuple):
            return (
                isinstance(theirs, list | tuple)
                and len(mine) == len(theirs)
                and all(self._same(a, b, match) for a, b in zip(mine, theirs, strict=True))
            )
        if isinstance(mine, dict):
            return (
                isinstance(theirs, dict)
                and list(mine) == list(theirs)
                and all(self._same(mine[k], theirs[k], match) for k in mine)
            )
        if isinstance(mine, slice):
            return isinstance(theirs, slice) and self._same(
                (mine.start, mine.stop, mine.step), (theirs.start, theirs.stop, theirs.step), match
            )
        return self._walk(mine, theirs, match)

    def _contained(self, nodes_map):
        """Whether only results are used outside of the match."""
        inner = {
            n for p, n in nodes_map.items() if p.op not in ("placeholder", "get_attr", "output")
        }
        given = {nodes_map[p] for p in self.pattern_returning_nodes}
        return all(
            user in inner
            for n in inner
            if n not in given and isinstance(n, Node)
            for user in n.users
        )

    @staticmethod
    def _without_overlap(matches):
        kept, taken = [], set()
        for match in matches:
            inner = {
                n
                for p, n in match.nodes_map.items()
                if p.op not in ("placeholder", "output", "get_attr")
            }
            if not inner & taken:
                kept.append(match)
                taken |= inner
        return kept


def _in_order(pattern, node):
    """The arguments of both, in the same order; (None, None) if they are not the same ones."""
    if len(pattern.args) == len(node.args) and list(pattern.kwargs) == list(node.kwargs):
        mine = [*pattern.args, *pattern.kwargs.values()]
        return mine, [*node.args, *node.kwargs.values()]
    if pattern.op != "call_function":
        return None, None
    found = [each.normalized_arguments(None, normalize_to_only_use_kwargs=True)
             for each in (pattern, node)]  # fmt: skip
    if None in found or found[0].kwargs.keys() != found[1].kwargs.keys():
        return None, None
    return tuple([pair.kwargs[key] for key in found[0].kwargs] for pair in found)


def _attribute(node):
    value = node.graph.owning_module
    for part in node.target.split("."):
        value = getattr(value, part, None)
    return value
