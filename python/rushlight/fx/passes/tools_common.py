"""legalize_graph: nodes put in an order in which they can run."""

__all__ = ["legalize_graph"]


def legalize_graph(gm):
    """Sorts the nodes of a module so that each comes after those whose values it uses.

    Args:
        gm: the GraphModule, whose graph is changed.

    Returns: the module.

    Raises: RuntimeError, if nodes need each other.

    >>> traced = torch.fx.symbolic_trace(lambda x: x.sin().cos())
    >>> x, sin, cos, output = traced.graph.nodes
    >>> x.prepend(cos)
    >>> list(torch.fx.passes.tools_common.legalize_graph(traced).graph.nodes)
    [x, sin, cos, output]
    """
    graph = gm.graph
    needs = {node: len(node.all_input_nodes) for node in graph.nodes}
    ready = [node for node, count in needs.items() if not count]
    order = []
    while ready:
        node = ready.pop(0)
        order.append(node)
        for user in node.users:
            needs[user] -= 1
            if not needs[user]:
                ready.append(user)
    if len(order) != len(needs):
        left = [node.name for node, count in needs.items() if count]
        raise RuntimeError(f"Input graph has cycles, unable to add {left}")
    for node in order:
        graph._root.prepend(node)
    return gm
