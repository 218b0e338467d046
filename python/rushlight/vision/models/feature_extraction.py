"""create_feature_extractor: a model that returns values from its inside, by the names of the nodes
where they are computed.

Note: a model may run differently in training and in evaluation, so it is traced in both modes.
"""

import math
import re
import warnings
from collections import OrderedDict
from copy import deepcopy

from rushlight import nn
from rushlight.fx import GraphModule, Tracer
from rushlight.fx.graph_module import _copy_attr
from rushlight.vision import ops
from rushlight.vision.models.vision_transformer import MLPBlock

__all__ = ["create_feature_extractor", "get_graph_node_names"]


class LeafModuleAwareTracer(Tracer):
    """A tracer that does not look into modules of some classes.

    Args:
        leaf_modules: the classes.
    """

    def __init__(self, *args, **kwargs):
        self.leaf_modules = dict.fromkeys(kwargs.pop("leaf_modules", None) or ())
        super().__init__(*args, **kwargs)

    def is_leaf_module(self, m, module_qualified_name):
        if isinstance(m, tuple(self.leaf_modules)):
            return True
        return super().is_leaf_module(m, module_qualified_name)


class NodePathTracer(LeafModuleAwareTracer):
    """A tracer that names each node by its place: the module, and for what is no module the
    operation in it, numbered within the module."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.current_module_qualname = ""
        self.node_to_qualname: OrderedDict = OrderedDict()
        self._last: dict[str, int] = {}

    def call_module(self, m, forward, args, kwargs):
        before = self.current_module_qualname
        try:
            self.current_module_qualname = path = self.path_of_module(m)
            if self.is_leaf_module(m, path):
                return self.create_proxy("call_module", path, args, kwargs)
            return forward(*args, **kwargs)
        finally:
            self.current_module_qualname = before

    def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, *rest, **more):
        proxy = super().create_proxy(kind, target, args, kwargs, name, type_expr, *rest, **more)
        self.node_to_qualname[proxy.node] = self._qualname(proxy.node)
        return proxy

    def _qualname(self, node):
        name = self.current_module_qualname
        if node.op != "call_module":
            name += f"{'.' if name else ''}{node}"
        name = re.sub(r"(?<=.)_[0-9]+$", "", name)
        count = self._last.get(name, -1) + 1
        self._last[name] = count
        return f"{name}_{count}" if count else name


def _is_subseq(x, y):
    """Whether x is what remains of y after some elements are left out."""
    rest = iter(y)
    return all(each in rest for each in x)


def _warn_graph_differences(train_tracer, eval_tracer):
    train = list(train_tracer.node_to_qualname.values())
    evaluation = list(eval_tracer.node_to_qualname.values())
    if train == evaluation:
        return
    text = (
        "When choosing nodes for feature extraction, you may need to specify output nodes for "
        "train and eval mode separately."
    )
    if _is_subseq(train, evaluation):
        text = (
            "NOTE: The nodes obtained by tracing the model in eval mode are a subsequence of "
            f"those obtained in train mode. {text}"
        )
    elif _is_subseq(evaluation, train):
        text = (
            "NOTE: The nodes obtained by tracing the model in train mode are a subsequence of "
            f"those obtained in eval mode. {text}"
        )
    else:
        text = f"The nodes obtained by tracing the model in train mode are different to those obtained in eval mode. {text}"  # noqa: E501
    warnings.warn(text, stacklevel=3)


def _default_tracer_kwargs():
    """Modules that torchvision has in torchvision.ops are not looked into."""
    values = [MLPBlock, *(getattr(ops, name) for name in ops.__all__)]
    leaves = [each for each in values if isinstance(each, type) and issubclass(each, nn.Module)]
    return {"autowrap_modules": (math, ops), "leaf_modules": leaves}


def _traced(model, tracer_kwargs, concrete_args):
    """{mode: (tracer, graph)} of the model, which is left in its mode."""
    kwargs = {**_default_tracer_kwargs(), **(tracer_kwargs or {})}
    before = {module: module.training for module in model.modules()}
    found = {}
    for mode in ("train", "eval"):
        getattr(model, mode)()
        tracer = NodePathTracer(**kwargs)
        found[mode] = tracer, tracer.trace(model, concrete_args=concrete_args)
    for module, training in before.items():
        module.training = training
    return found


def get_graph_node_names(
    model, tracer_kwargs=None, suppress_diff_warning=False, concrete_args=None
):
    """The names of all nodes in a model whose values a feature extractor can return.

    Args:
        model: the model.
        tracer_kwargs: arguments of torch.fx.Tracer, and `leaf_modules`, classes of modules that
            are not looked into.
        suppress_diff_warning: whether to say nothing if the modes differ.
        concrete_args: values of arguments of the model that are fixed.

    Returns: two lists of names, in the order in which they are computed: for training, and for
        evaluation.

    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())
    >>> torch.vision.models.feature_extraction.get_graph_node_names(net)
    (['input', '0', '1'], ['input', '0', '1'])
    """
    found = _traced(model, tracer_kwargs, concrete_args)
    train, evaluation = found["train"][0], found["eval"][0]
    if not suppress_diff_warning:
        _warn_graph_differences(train, evaluation)
    return list(train.node_to_qualname.values()), list(evaluation.node_to_qualname.values())


class DualGraphModule(GraphModule):
    """A module with a graph for training and one for evaluation; `train` and `eval` change them.

    Args:
        root: the module whose parameters and submodules the graphs name.
        train_graph: the graph for training.
        eval_graph: the graph for evaluation.
        class_name: the name of its class.
    """

    def __init__(self, root, train_graph, eval_graph, class_name="GraphModule"):
        training = getattr(root, "training", True)
        super().__init__(root, train_graph, class_name)
        for node in eval_graph.nodes:
            if node.op in ("get_attr", "call_module"):
                _copy_attr(root, self, node.target)
        self.train_graph, self.eval_graph = train_graph, eval_graph
        self.training = training
        self.graph = train_graph if training else eval_graph

    def train(self, mode=True):
        if mode != self.training:
            self.graph = self.train_graph if mode else self.eval_graph
        return super().train(mode)

    def __deepcopy__(self, memo):
        graphs = deepcopy((self.train_graph, self.eval_graph), memo)
        root = nn.Module()
        state = self.__getstate__()
        for name in ("_graph", "train_graph", "eval_graph"):
            state.pop(name, None)
        nn.Module.__setstate__(root, deepcopy(state, memo))
        new = DualGraphModule(root, *graphs, class_name=self._get_name())
        memo[id(self)] = new
        return new


def _to_strdict(value):
    if isinstance(value, dict):
        return {str(k): str(v) for k, v in value.items()}
    return {str(n): str(n) for n in value}


def _check_choice(return_nodes, train_return_nodes, eval_return_nodes):
    if all(each is None for each in (return_nodes, train_return_nodes, eval_return_nodes)):
        raise ValueError(
            "Either `return_nodes` or `train_return_nodes` and `eval_return_nodes` together, "
            "should be specified"
        )
    if (train_return_nodes is None) ^ (eval_return_nodes is None):
        raise ValueError(
            "If any of `train_return_nodes` and `eval_return_nodes` are specified, then both "
            "should be specified"
        )
    if not ((return_nodes is None) ^ (train_return_nodes is None)):
        raise ValueError(
            "If `train_return_nodes` and `eval_return_nodes` are specified, then both should be "
            "specified"
        )


def _check_present(query, names):
    if not any(re.match(rf"^{re.escape(query)}(\.|$)", name) for name in names):
        raise ValueError(
            f"node: '{query}' is not present in model. Hint: use `get_graph_node_names` to make "
            "sure the `return_nodes` you specified are present. It may even be that you need to "
            "specify `train_return_nodes` and `eval_return_nodes` separately."
        )


def _give_outputs(tracer, graph, wanted):
    """Has a graph return a dict of the last values of these nodes, and compute nothing else."""
    outputs = [node for node in graph.nodes if node.op == "output"]
    names = list(tracer.node_to_qualname.values())
    for query in wanted:
        _check_present(query, names)
    for node in outputs:
        graph.erase_node(node)
    left, found = dict(wanted), {}
    for node, name in reversed(tracer.node_to_qualname.items()):
        for query in left:
            if f"{name}.".startswith(f"{query}.") or name == query:
                found[left.pop(query)] = node
                break
    with graph.inserting_after(next(iter(reversed(graph.nodes)))):
        graph.output({label: found[label] for label in wanted.values()})
    graph.eliminate_dead_code()


def create_feature_extractor(
    model,
    return_nodes=None,
    train_return_nodes=None,
    eval_return_nodes=None,
    tracer_kwargs=None,
    suppress_diff_warning=False,
    concrete_args=None,
):
    """A model that returns a dict of values from the inside of another.

    Args:
        model: the model.
        return_nodes: names of nodes, a list or a dict from them to the names in the output;
            of a module that is no leaf, the last value in it is meant.
        train_return_nodes: names in training, if they differ.
        eval_return_nodes: names in evaluation.
        tracer_kwargs: as for get_graph_node_names.
        suppress_diff_warning: as there.
        concrete_args: as there.

    Returns: a GraphModule, with the parameters of the model.

    Raises: ValueError, if there is no place of that name.

    >>> net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU(), torch.nn.Linear(2, 1))
    >>> features = torch.vision.models.feature_extraction
    >>> extract = features.create_feature_extractor(net, {"1": "act"})
    >>> extract(torch.ones(3, 2))["act"].shape
    torch.Size([3, 2])
    """
    _check_choice(return_nodes, train_return_nodes, eval_return_nodes)
    training = model.training
    found = _traced(model, tracer_kwargs, concrete_args)
    (train_tracer, train_graph), (eval_tracer, eval_graph) = found["train"], found["eval"]
    if return_nodes is not None:
        if not suppress_diff_warning:
            _warn_graph_differences(train_tracer, eval_tracer)
        train_return_nodes = eval_return_nodes = return_nodes
    _give_outputs(train_tracer, train_graph, _to_strdict(train_return_nodes))
    _give_outputs(eval_tracer, eval_graph, _to_strdict(eval_return_nodes))
    module = DualGraphModule(model, train_graph, eval_graph, class_name=model._get_name())
    module.train(training)
    return module
