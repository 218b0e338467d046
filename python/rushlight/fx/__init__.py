"""torch.fx: programs recorded as graphs, changed, and written as Python again.

    >>> class Net(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = torch.nn.Linear(4, 2)
    ...
    ...     def forward(self, x):
    ...         return self.fc(x).clamp(min=0)
    >>> traced = torch.fx.symbolic_trace(Net())
    >>> print(traced.graph)
    graph():
        %x : [num_users=1] = placeholder[target=x]
        %fc : [num_users=1] = call_module[target=fc](args = (%x,), kwargs = {})
        %clamp : [num_users=1] = call_method[target=clamp](args = (%fc,), kwargs = {min: 0})
        return clamp

Note: symbolic_trace runs the program on Proxies (proxy.py); a Graph (graph.py) is a list of Nodes;
GraphModule (graph_module.py) writes its forward (_codegen.py) and runs it.
"""

from rushlight.fx import (
    _compatibility,
    _pytree,
    _symbolic_trace,
    graph,
    graph_module,
    immutable_collections,
    interpreter,
    node,
    operator_schemas,
    proxy,
    subgraph_rewriter,
    traceback,
)
from rushlight.fx._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from rushlight.fx.graph import CodeGen, Graph
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.interpreter import Interpreter, Transformer
from rushlight.fx.node import Node, has_side_effect, map_arg
from rushlight.fx.proxy import Proxy
from rushlight.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "PH",
    "CodeGen",
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "ProxyableClassMeta",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]


def __getattr__(name):
    if name in ("experimental", "passes"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module 'torch.fx' has no attribute {name!r}", name=name)
