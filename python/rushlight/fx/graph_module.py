"""GraphModule: a module whose forward is the code of a Graph.

Note: each object has a class of its own, which holds its forward. torch.load refuses a GraphModule
unless weights_only=False, as the code in such a file would run.
"""

import copy
import itertools
from typing import Any

from rushlight import _C
from rushlight.fx import _import_block
from rushlight.fx._pytree_codegen import specs_of
from rushlight.fx.graph import Graph
from rushlight.nn import Module, Parameter

__all__ = ["GraphModule", "reduce_graph_module"]

_HOOKS = ("_replace_hooks", "_create_node_hooks", "_erase_node_hooks")
_count = itertools.count()
default_tracer: Any = None  # what traces an unpickled program: Tracer, which needs this module
_REMINDER = "# To see more debug info, please use `graph_module.print_readable()`"


class _Source:
    """The loader of generated code, from which tracebacks take its lines."""

    def __init__(self, text):
        self.text = text

    def get_source(self, name):
        return self.text


def _compiled(source, meanings):
    """`forward` of the source.

    The file's name is one that torch, in the same process, does not give to its own code: linecache
    keeps one text for a name.
    """
    name = f"<eval_with_key>.rushlight.{next(_count)}"
    own = {**meanings, "__name__": name, "__loader__": _Source(source)}
    exec(compile(source, name, "exec", dont_inherit=True), own)
    return own["forward"]


_forward_from_src = _compiled


def _readable(module, name):
    """The text of print_readable."""
    source = module.graph.python_code("self", verbose=True).src.strip("\n").rstrip() + "\n"
    texts = [f"class {name}(torch.nn.Module):\n{_indented(source)}"]
    for label, child in module.named_children():
        if isinstance(child, GraphModule):
            texts.append(_indented(_readable(child, label)))
    return "\n".join(texts)


def _indented(text):
    return "\n".join(f"    {line}" if line.strip() else "" for line in text.split("\n"))


def _parent(module, target, make):
    """The module that has an attribute, and the attribute's name; modules are made on the way."""
    *path, name = target.split(".")
    for part in path:
        inner = getattr(module, part, None)
        if inner is None and make:
            inner = Module()
            setattr(module, part, inner)
        module = inner
    return module, name


def _assign_attr(value, module, target):
    owner, name = _parent(module, target, make=True)
    if isinstance(value, _C.Tensor) and not isinstance(value, Parameter):
        owner.register_buffer(name, value)
    else:
        setattr(owner, name, value)


def _get_attr(module, target):
    owner, name = _parent(module, target, make=False)
    return getattr(owner, name)


def _copy_attr(source, module, target):
    value = source
    for part in target.split("."):
        if not hasattr(value, part):
            raise AttributeError(
                f"'{type(value).__name__}' object has no attribute '{part}'\n"
                f"a node of the graph names {target}, which the module that was given has not"
            )
        value = getattr(value, part)
    _assign_attr(value, module, target)


class GraphModule(Module):
    """A module that runs a Graph: its `code` is written from the graph, again by `recompile`.

    Args:
        root: the module whose parameters and submodules the graph names, or a dict of them.
        graph: the graph.
        class_name: the name of its class, for the repr.

    Attributes:
        code: the source of its forward.
        meta: a dict for whatever passes want to keep.

    >>> graph = torch.fx.Graph()
    >>> x = graph.placeholder("x")
    >>> out = graph.output(graph.call_module("act", (x,)))
    >>> module = torch.fx.GraphModule({"act": torch.nn.ReLU()}, graph)
    >>> module(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """

    def __new__(cls, *args, **kwargs):
        for each in cls.__mro__:
            if each.__qualname__.split(".")[-1] == "GraphModuleImpl":
                cls = each.__bases__[0]
                break

        class GraphModuleImpl(cls):
            pass

        return Module.__new__(GraphModuleImpl)

    def __init__(self, root, graph, class_name="GraphModule"):
        super().__init__()
        self.__class__.__name__ = class_name
        targets = [n.target for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for target in dict.fromkeys(targets):
                _copy_attr(root, self, target)
        elif isinstance(root, dict):
            for node in graph.nodes:
                if node.op in ("get_attr", "call_module") and node.target not in root:
                    raise RuntimeError(
                        f"Node {node} referenced target {node.target} but that target was not "
                        "provided in ``root``!"
                    )
            for target in sorted(set(targets), key=lambda t: (t.count("."), t)):
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"Unsupported type {root} passed for root!")
        self._start_hooks()
        self.graph = graph
        tracer = graph._tracer_cls
        self._tracer_cls = tracer if tracer and "<locals>" not in tracer.__qualname__ else None
        if graph._tracer_extras:
            self._tracer_extras = graph._tracer_extras
        self.meta: dict = {}

    def _start_hooks(self):
        for name in _HOOKS:
            setattr(self, name, [])

    @property
    def graph(self):
        """The Graph; after changing it call `recompile`. Assigning one recompiles."""
        return self._graph

    @graph.setter
    def graph(self, g):
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self._graph = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self):
        """The source of forward, as it runs."""
        if not hasattr(self, "_code"):
            raise RuntimeError("Code has not been generated! call recompile()")
        return self._code

    def recompile(self):
        """Writes the code anew after the graph was changed.

        Returns: a PythonCode, the text and what its names mean.
        """
        for name, spec in specs_of(self._graph._codegen).items():
            setattr(self, name, spec)
        written = self._graph.python_code("self")
        self._code, self._lineno_map = written.src, written._lineno_map
        self._prologue_start = written._prologue_start
        type(self).forward = _compiled(written.src, written.globals)
        return written

    def add_submodule(self, target, m):
        """Adds a submodule, and the modules on the way to it.

        Args:
            target: its name, such as "encoder.norm".
            m: the module.

        Returns: whether it was added: False where something else than a module is on the way.
        """
        module = self
        *path, name = target.split(".")
        for part in path:
            if not hasattr(module, part):
                setattr(module, part, Module())
            module = getattr(module, part)
            if not isinstance(module, Module):
                return False
        module.add_module(name, m)
        return True

    def delete_submodule(self, target):
        """Deletes a submodule.

        Args:
            target: its name.

        Returns: whether there was one.
        """
        module = self
        *path, name = target.split(".")
        for part in path:
            module = getattr(module, part, None)
            if not isinstance(module, Module):
                return False
        if not isinstance(getattr(module, name, None), Module):
            return False
        delattr(module, name)
        return True

    def delete_all_unused_submodules(self):
        """Deletes the submodules that no node of the graph names."""
        used = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = node.target.split(".")
            used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
            if node.op == "call_module":
                try:
                    inner = self.get_submodule(node.target)
                except AttributeError:
                    continue
                used.update(f"{node.target}.{name}" for name, _ in inner.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def to_folder(self, folder, module_name="FxModule"):
        """Not here: a package of Python that loads pickles.

        Args:
            folder: the folder.
            module_name: the name of the class.

        Raises: NotImplementedError.
        """
        raise NotImplementedError(
            "GraphModule.to_folder() is not in rushlight: it writes a program that unpickles\n"
            "write `module.code` to a file of your own, and torch.save(module.state_dict(), ...)"
        )

    def print_readable(
        self,
        print_output=True,
        include_stride=False,
        include_device=False,
        colored=False,
        *,
        fast_sympy_print=False,
        expanded_def=False,
        additional_meta=None,
    ):
        """Prints the code as a class, with the classes of the GraphModules inside.

        Args:
            print_output: whether to print.
            include_stride: accepted.
            include_device: accepted.
            colored: accepted.
            fast_sympy_print: accepted.
            expanded_def: accepted.
            additional_meta: accepted.

        Returns: the text.
        """
        text = _readable(self, self._get_name())
        if print_output:
            print(text)
        return text

    def __str__(self):
        return f"{super().__str__()}\n{self._code}\n{_REMINDER}"

    def __reduce__(self):
        written = self.recompile()
        state = self.__getstate__()
        for name in ("_graph", "_lineno_map", "_prologue_start", *_HOOKS):
            state.pop(name, None)
        state["_graphmodule_cls_name"] = self._get_name()
        return reduce_graph_module, (state, _import_block.write(written))

    def _copied_state(self, memo):
        state = self.__getstate__()
        graph = state.pop("_graph")
        return copy.deepcopy(state, memo), copy.deepcopy(graph, memo)

    def __deepcopy__(self, memo):
        new = type(self).__new__(type(self))
        memo[id(self)] = new
        state, graph = self._copied_state(memo)
        return new._take(state, graph)

    def __copy__(self):
        new = GraphModule(self, self.graph, self._get_name())
        new.meta = getattr(self, "meta", {})
        return new

    def _take(self, state, graph):
        Module.__setstate__(self, state)
        type(self).__name__ = "GraphModule"
        self._start_hooks()
        self.graph = graph
        return self

    def __setstate__(self, state):
        graph = state.pop("_graph", None)
        Module.__setstate__(self, state)
        if graph is not None:
            self.graph = graph

    def _register_replace_node_hook(self, f):
        self._replace_hooks.append(f)

    def _unregister_replace_node_hook(self, f):
        self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f):
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f):
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f):
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f):
        self._erase_node_hooks.remove(f)


def reduce_graph_module(body, import_block):
    """Makes a GraphModule again from a pickle: its code runs once more, on Proxies.

    Args:
        body: the state of the module, with its source.
        import_block: the lines that import what the source names.
    """
    state = dict(body)
    source = state.pop("_code", None) or state.pop("code")
    name = state.pop("_graphmodule_cls_name", "GraphModule")
    kind = state.get("_tracer_cls") or default_tracer

    class KeepModules(kind):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    class Program(Module):
        forward = _compiled(source, _import_block.read(import_block))

    program = Program()
    Module.__setstate__(program, state)
    graph = KeepModules().trace(program, **state.get("_tracer_extras", {}))
    graph._tracer_cls = kind
    new = GraphModule(program, graph, class_name=name)
    for key, value in state.items():
        new.__dict__.setdefault(key, value)
    return new
