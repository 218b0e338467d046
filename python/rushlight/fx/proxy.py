"""Proxy: what flows through a program while it is traced, and records what is done to it.

Note: operators are methods made by `_define_operators`; functions of tensors arrive in
`__torch_function__`.
"""

import dataclasses
import dis
import enum
import operator
import sys
from keyword import iskeyword

from rushlight import _C
from rushlight.fx import traceback as fx_traceback
from rushlight.fx._calls import as_torch_calls
from rushlight.fx._codegen import magic_methods, reflectable_magic_methods
from rushlight.fx._scope import Scope, ScopeContextManager
from rushlight.fx._user_frame import user_stack
from rushlight.fx.node import Node, base_types, map_aggregate

__all__ = [
    "Attribute",
    "GraphAppendingTracer",
    "MetaProxy",
    "ParameterProxy",
    "Proxy",
    "Scope",
    "ScopeContextManager",
    "TraceError",
    "TracerBase",
]


class TraceError(ValueError):
    """A program does what tracing cannot record: a branch or a loop on a traced value."""


class TracerBase:
    """Makes nodes of calls; Tracer, for modules, is the usual subclass.

    >>> issubclass(torch.fx.Tracer, torch.fx.proxy.TracerBase)
    True
    """

    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def _scopes(self):
        """The scope that calls are recorded in, and the stack of modules around it."""
        if not hasattr(self, "scope"):
            self.scope, self.module_stack = Scope("", None), {}
            self.node_name_to_scope = {}
        return self.scope, self.module_stack

    def create_node(self, kind, target, args, kwargs, name=None, type_expr=None):
        """Adds a node to the graph.

        Args:
            kind: what it does, such as "call_function".
            target: what it calls.
            args: arguments that may be in a graph.
            kwargs: the same by keyword.
            name: its name.
            type_expr: the annotation of its value.
        """
        if kind == "call_function" and self.check_mutable_operations:
            _refuse_writing(target, kwargs)
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        scope, stack = self._scopes()
        self.node_name_to_scope[node.name] = (scope.module_path, scope.module_type)
        if fx_traceback.has_preserved_node_meta():
            node.meta.update(fx_traceback.get_current_meta())
        if stack:
            from collections import OrderedDict

            node.meta["nn_module_stack"] = OrderedDict(stack)
        return node

    def proxy(self, node):
        """The Proxy of a node.

        Args:
            node: the node.
        """
        return Proxy(node, self)

    def create_proxy(
        self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None
    ):
        """Adds a node of arguments as the program has them, and returns its Proxy.

        Args:
            kind: what it does.
            target: what it calls.
            args: positional arguments, with Proxies.
            kwargs: keyword arguments.
            name: its name.
            type_expr: the annotation of its value.
            proxy_factory_fn: a function of the node that makes the Proxy.
        """
        args, kwargs = self.create_arg(args), self.create_arg(kwargs)
        node = self.create_node(kind, target, args, kwargs, name, type_expr)
        if self.record_stack_traces and not node.stack_trace:
            node.stack_trace = user_stack()
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a):
        """A value of the program as an argument of a node.

        Args:
            a: the value; subclasses handle kinds of their own and leave others to this.

        Raises: NotImplementedError for what cannot be an argument.
        """
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            return type(a)(*map(self.create_arg, a))
        if isinstance(a, list | tuple):
            values = [self.create_arg(each) for each in a]
            return a if type(a) is _C.Size and not _has_node(values) else _like(a, values)
        if isinstance(a, dict):
            return {self._key(k): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(*(self.create_arg(each) for each in (a.start, a.stop, a.step)))
        if isinstance(a, (Node, enum.Enum, *base_types)):
            return a
        if dataclasses.is_dataclass(a) and not isinstance(a, type):
            values = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), values)
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key):
        def refuse(value):
            if isinstance(value, Proxy | Node):
                raise RuntimeError(
                    "Keys for dictionaries used as an argument cannot contain a Node. "
                    f"Got key: {self.create_arg(key)}"
                )
            return value

        return map_aggregate(key, refuse)

    def to_bool(self, obj):
        """What a test of a Proxy gives; subclasses may decide.

        Args:
            obj: the Proxy.

        Raises: TraceError.
        """
        raise TraceError(
            "symbolically traced variables cannot be used as inputs to control flow\n"
            f"the program tests {obj!r}, which has no value yet; give the argument that decides in "
            "concrete_args, or put the branch into a function and call torch.fx.wrap on it"
        )

    def iter(self, obj):
        """What a loop over a Proxy gets; subclasses may decide.

        Args:
            obj: the Proxy.

        Raises: TraceError.
        """
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a "
            "loop or as a *args or **kwargs function argument. See the torch.fx docs on "
            "pytorch.org for a more detailed explanation of what types of control flow can be "
            "traced, and check out the Proxy docstring for help troubleshooting Proxy iteration "
            "errors"
        )

    def keys(self, obj):
        """What `**proxy` gets for its keys.

        Args:
            obj: the Proxy.
        """
        return Attribute(obj, "keys")()


def _has_node(values):
    return any(isinstance(each, Node) for each in values)


def _like(a, values):
    return tuple(values) if isinstance(a, tuple) else list(values)


def _refuse_writing(target, kwargs):
    name = getattr(target, "__name__", "")
    writes = name.endswith("_") and not name.endswith("__") and not iskeyword(name[:-1])
    if writes or kwargs.get("out") is not None:  # operator.and_ writes to nothing
        raise RuntimeError(
            f"Tried to trace mutable operation {name}. FX only supports functional code"
        )


class GraphAppendingTracer(TracerBase):
    """Adds nodes to a graph that is there.

    Args:
        graph: the graph.
    """

    def __init__(self, graph):
        self.graph = graph


def assert_fn(x):
    """What an assertion on a traced value becomes.

    Args:
        x: the condition.
    """
    if not x:
        raise AssertionError


def _calling_instruction(frame):
    """The instructions of a frame from the one that is running on."""
    at = frame.f_lasti
    return [each for each in dis.get_instructions(frame.f_code) if each.offset >= at]


class Proxy:
    """A value of a program that is traced: operators, methods, attributes and functions of it are
    recorded as nodes of a graph and give other Proxies.

    It cannot be looped over, and not be tested by `if`: it has no value. Unpacking (`a, b = x`) is
    recorded, as the number of names is known.

    Args:
        node: the node that computes the value.
        tracer: the tracer; without one, calls are added to the node's graph.

    >>> graph = torch.fx.Graph()
    >>> x = torch.fx.Proxy(graph.placeholder("x"))
    >>> (x + 1).relu()
    Proxy(relu)
    """

    def __init__(self, node, tracer=None):
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self):
        return f"Proxy({self.node.name})"

    def __deepcopy__(self, memo):
        return Proxy(self.node, self.tracer)

    def __getattr__(self, name):
        return Attribute(self, name)

    def __getstate__(self):
        return self.__dict__

    def __setstate__(self, state):
        self.__dict__.update(state)

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self):
        running = _calling_instruction(sys._getframe(1))[0]
        if running.opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(running.argval))
        return self.tracer.iter(self)

    def __abs__(self):
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self):
        if self.tracer.trace_asserts:
            after = _calling_instruction(sys._getframe(1))[:3]
            if any(each.opname == "LOAD_ASSERTION_ERROR" for each in after[1:]):
                self.tracer.create_proxy("call_function", assert_fn, (self,), {})
                return True
        return self.tracer.to_bool(self)

    def keys(self):
        """Called for `**proxy`."""
        return self.tracer.keys(self)

    def __len__(self):
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be "
            "recorded, please call torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(cls, orig_method, types, args=(), kwargs=None):
        """Records the call of one of torch's functions.

        Args:
            orig_method: the function, or the method of Tensor.
            types: the types of the arguments that have this protocol.
            args: positional arguments.
            kwargs: keyword arguments.
        """
        kwargs = {} if kwargs is None else kwargs
        tracers = {}

        def find(value):
            if isinstance(value, Proxy):
                tracers.setdefault(value.tracer)

        map_aggregate((args, kwargs), find)
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations"
                f" {orig_method}"
            )
        tracer = next(iter(tracers))
        kind, target, args, kwargs = as_torch_calls(orig_method, args, kwargs)
        name = target if isinstance(target, str) else target.__name__
        name = tracer.graph._target_to_str(name)
        return tracer.create_proxy(kind, target, args, kwargs, name=name)


class MetaProxy(Proxy):
    """A Proxy that computes its value on meta tensors as well, which is kept in `node.meta["val"]`.

    Args:
        node: the node.
        tracer: the tracer.
        fake_mode: accepted.
    """

    def __init__(self, node, tracer=None, fake_mode=None):
        super().__init__(node, tracer)
        self.fake_mode = fake_mode


class Attribute(Proxy):
    """An attribute of a Proxy: a node of its own only if it is used other than by calling it.

    Args:
        root: the Proxy.
        attr: the name.
    """

    def __init__(self, root, attr):
        self.root, self.attr = root, attr
        self.tracer = root.tracer
        self._node = None

    @property
    def node(self):
        """The node that reads the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy(
                "call_function", getattr, (self.root, self.attr), {}
            ).node
        return self._node

    def __call__(self, *args, **kwargs):
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter whose shape is a constant of the trace (`param_shapes_constant=True`).

    Args:
        tracer: the tracer.
        node: the node that reads the parameter.
        name: its name.
        param: the parameter.
    """

    def __init__(self, tracer, node, name, param):
        super().__init__(node, tracer)
        if not isinstance(param, _C.Tensor):
            raise AssertionError(f"param must be a tensor, got {type(param)}")
        self.param, self.name = param, name

    def __repr__(self):
        return f"ParameterProxy({self.name})"

    @property
    def shape(self):
        """The shape of the parameter."""
        return self.param.shape

    @property
    def ndim(self):
        """Its number of dimensions."""
        return self.param.ndim

    def size(self):
        """Its shape."""
        return self.param.size()

    def dim(self):
        """Its number of dimensions."""
        return self.param.dim()

    def numel(self):
        """Its number of elements."""
        return self.param.numel()

    def nelement(self):
        """Its number of elements."""
        return self.param.nelement()


def _define_operators():
    def forward(name):
        def operate(*args, **kwargs):
            target = getattr(operator, name)
            return args[0].tracer.create_proxy("call_function", target, args, kwargs)

        return operate

    def reflected(name):
        def operate(self, other):
            target = getattr(operator, name)
            return self.tracer.create_proxy("call_function", target, (other, self), {})

        return operate

    for name in magic_methods:
        if name != "div":
            setattr(Proxy, f"__{name.strip('_')}__", forward(name))
    for name in reflectable_magic_methods:
        if name not in ("div", "getitem"):
            setattr(Proxy, f"__r{name.strip('_')}__", reflected(name))
    Proxy.__hash__ = object.__hash__


_define_operators()
