"""trace: the GraphDef that TensorBoard draws, from the autograd graph of one forward pass.

Each operation is a node of the autograd graph; the module whose forward made it is its scope. A
pass without gradients has no such graph, and shows the modules in the order they ran.
"""

import rushlight

kMaxNodes = 20000


def trace(model, arguments, tensorboardx):
    """The graph of `model(*arguments)` as tensorboardX's GraphDef.

    Args:
        model: a Module.
        arguments: a tensor, or a tuple of arguments.
        tensorboardx: gives a module of tensorboardX by name.
    """
    arguments = tuple(arguments) if isinstance(arguments, tuple | list) else (arguments,)
    root = type(model).__name__
    recorder = _Recorder(model, root)
    was_training = model.training
    model.eval()
    try:
        with rushlight.enable_grad():
            output = model(*arguments)
    finally:
        model.train(was_training)
        recorder.remove()
    nodes = _Nodes(tensorboardx("proto.node_def_pb2").NodeDef)
    for i, argument in enumerate(arguments):
        nodes.add(f"input/input{i}", "IO Node", shape=getattr(argument, "shape", None))
    outputs = [tensor for tensor in _tensors(output) if tensor.grad_fn is not None]
    if outputs:
        names = _add_operations(
            nodes, recorder, [tensor.grad_fn for tensor in outputs], model, root
        )
        last = [names[tensor.grad_fn] for tensor in outputs]
    else:
        last = [recorder.add_modules(nodes)]
    for i, name in enumerate(last):
        nodes.add(f"output/output{i}", "IO Node", [name])
    graph_pb2 = tensorboardx("proto.graph_pb2")
    versions_pb2 = tensorboardx("proto.versions_pb2")
    return graph_pb2.GraphDef(node=nodes.list, versions=versions_pb2.VersionDef(producer=22))


def _tensors(value):
    if isinstance(value, rushlight.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        return [tensor for item in value for tensor in _tensors(item)]
    return []


class _Nodes:
    """The nodes so far; names are made unique."""

    def __init__(self, node_def):
        self._node_def = node_def
        self._counts = {}
        self.list = []

    def add(self, name, op, inputs=(), shape=None):
        """Add a node; its unique name."""
        count = self._counts[name] = self._counts.get(name, 0) + 1
        unique = name if count == 1 else f"{name}_{count - 1}"
        node = self._node_def(name=unique, op=op, input=list(inputs))
        if shape is not None:
            shapes = node.attr["_output_shapes"].list.shape.add()
            for size in shape:
                shapes.dim.add(size=size)
        self.list.append(node)
        return unique


class _Recorder:
    """Notes, by hooks, which module made which operations, and the order of the modules."""

    def __init__(self, model, root):
        self.scopes = {}  # autograd node: scope, innermost module first
        self.order = []
        self._hooks = []
        for name, module in model.named_modules():
            scope = "/".join([root, *name.split(".")]) if name else root
            self._hooks.append(module.register_forward_hook(self._hook(scope, module)))

    def _hook(self, scope, module):
        is_leaf = next(iter(module.children()), None) is None

        def note(module, arguments, output):
            if is_leaf:
                self.order.append((f"{scope}/{type(module).__name__}", type(module).__name__))
            # Inner modules end first, so what has no scope yet was made by this one. What came
            # in stays open for the module outside.
            stop = {tensor.grad_fn for tensor in _tensors(arguments)}
            todo = [tensor.grad_fn for tensor in _tensors(output)]
            while todo and len(self.scopes) < kMaxNodes:
                node = todo.pop()
                if node is None or node in stop or node in self.scopes:
                    continue
                self.scopes[node] = scope
                todo += [after for after, _ in node.next_functions]

        return note

    def remove(self):
        """Take the hooks off."""
        for hook in self._hooks:
            hook.remove()

    def add_modules(self, nodes):
        """Add the leaf modules as a chain; the last one's name."""
        last = "input/input0"
        for name, kind in self.order:
            last = nodes.add(name, kind, [last])
        return last


def _add_operations(nodes, recorder, roots, model, root):
    """Add all operations from the inputs on; name by autograd node."""
    parameters = list(model.named_parameters())
    names, order, seen = {}, [], set()
    todo = [(node, False) for node in roots]
    while todo and len(order) < kMaxNodes:
        node, is_done = todo.pop()
        if is_done:
            order.append(node)
        elif node not in seen:
            seen.add(node)
            todo.append((node, True))
            todo += [(after, False) for after, _ in node.next_functions if after is not None]
    for node in order:
        variable = getattr(node, "variable", None)
        if variable is not None:
            path = next((n for n, parameter in parameters if parameter is variable), "leaf")
            name = "/".join([root, *path.split(".")])
            names[node] = nodes.add(name, "Parameter", shape=variable.shape)
            continue
        inputs = [names[after] for after, _ in node.next_functions if after in names]
        if any(after is None for after, _ in node.next_functions) and not inputs:
            inputs = ["input/input0"]
        elif any(after is None for after, _ in node.next_functions[:2]):
            inputs.append("input/input0")
        kind = node.name().rsplit("Backward", 1)[0]
        scope = recorder.scopes.get(node, root)
        names[node] = nodes.add(f"{scope}/{kind}", kind, inputs)
    return names
