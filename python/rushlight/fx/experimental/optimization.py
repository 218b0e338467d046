"""fuse: batch normalization folded into the convolution before it, in a graph."""

import copy

from rushlight import nn
from rushlight.fx._symbolic_trace import symbolic_trace
from rushlight.fx.graph import Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.nn.utils.fusion import fuse_conv_bn_eval

__all__ = ["extract_subgraph", "fuse", "matches_module_pattern", "remove_dropout"]

_PAIRS = (
    (nn.Conv1d, nn.BatchNorm1d),
    (nn.Conv2d, nn.BatchNorm2d),
    (nn.Conv3d, nn.BatchNorm3d),
)


def matches_module_pattern(pattern, node, modules):
    """Whether a node calls a module of the second type on the result of one of the first.

    Args:
        pattern: a pair of classes.
        node: the node.
        modules: the modules by name.
    """
    if not node.args or not hasattr(node.args[0], "op"):
        return False
    return all(
        each.op == "call_module" and type(modules.get(each.target)) is kind
        for kind, each in zip(pattern, (node.args[0], node), strict=True)
    )


def _replace_module(node, modules, new):
    owner, _, name = node.target.rpartition(".")
    modules[node.target] = new
    modules[owner].register_module(name, new)


def fuse(model, inplace=False, no_trace=False):
    """Folds every batch normalization into the convolution whose result only it uses.

    Args:
        model: the module, in evaluation mode.
        inplace: whether the model's own layers are changed; else those of a copy.
        no_trace: whether the model is a GraphModule, which is not traced again.

    Returns: a GraphModule.

    Raises: NotImplementedError for a normalization without running statistics.

    >>> net = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 1), torch.nn.BatchNorm2d(2)).eval()
    >>> torch.fx.experimental.optimization.fuse(net).graph.find_nodes(op="call_module", target="1")
    []
    """
    if not inplace:
        model = copy.deepcopy(model)
    if no_trace and isinstance(model, GraphModule):
        module = model
    else:
        module = symbolic_trace(model)
    modules = dict(module.named_modules())
    graph = copy.deepcopy(module.graph)
    for pattern in _PAIRS:
        for node in graph.nodes:
            if not matches_module_pattern(pattern, node, modules):
                continue
            if len(node.args[0].users) > 1:
                continue
            conv, norm = modules[node.args[0].target], modules[node.target]
            if not norm.track_running_stats:
                continue
            _replace_module(node.args[0], modules, fuse_conv_bn_eval(conv, norm))
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)
    return GraphModule(module, graph)


def remove_dropout(model):
    """The module without its Dropout layers.

    Args:
        model: the module.

    Returns: a GraphModule.
    """
    from rushlight.fx.interpreter import Transformer

    class DropoutRemover(Transformer):
        def call_module(self, target, args, kwargs):
            if isinstance(self.submodules[target], nn.Dropout):
                return args[0]
            return super().call_module(target, args, kwargs)

    return DropoutRemover(symbolic_trace(model)).transform()


def extract_subgraph(orig_module, nodes, inputs, outputs):
    """Some nodes of a graph as a module of their own.

    Args:
        orig_module: the module that the nodes' graph runs on.
        nodes: the nodes, in order.
        inputs: the nodes whose values it takes.
        outputs: the nodes whose values it returns, as a tuple; one alone as it is.

    Returns: a GraphModule.
    """
    graph = Graph()
    known = {node: graph.placeholder(node.name) for node in inputs}
    for node in nodes:
        known[node] = graph.node_copy(node, lambda n: known[n])
    results = [known[node] for node in outputs]
    graph.output(results[0] if len(results) == 1 else tuple(results))
    graph.lint()
    return GraphModule(orig_module, graph)
