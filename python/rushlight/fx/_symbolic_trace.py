"""symbolic_trace and Tracer: runs a module's forward on Proxies, which records a Graph.

Note: while it runs, nn.Module has a __call__ and a __getattribute__ of ours, so that calls of
submodules and the reading of parameters are seen; both are gone afterwards.
"""

import functools
import inspect
import math
import types

import rushlight
from rushlight import _C
from rushlight.fx import graph_module
from rushlight.fx._compatibility import compatibility
from rushlight.fx._module_view import ModuleView
from rushlight.fx._patching import (
    _autowrap_check,
    _patch_wrapped_functions,
    _Patcher,
    _wrapped_fns_to_patch,
    find_proxy,
)
from rushlight.fx._placeholders import PH, PHBase, PHWithMeta, root_arguments
from rushlight.fx._scope import Scope, ScopeContextManager
from rushlight.fx.graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from rushlight.fx.graph_module import GraphModule
from rushlight.fx.proxy import ParameterProxy, Proxy, TracerBase
from rushlight.nn import Module, Parameter, Sequential

__all__ = [
    "PH", "PHBase", "PHWithMeta", "ProxyableClassMeta", "Tracer", "compatibility",
    "symbolic_trace", "wrap",
]  # fmt: skip

_proxyable_classes: dict = {}
_tracing = False
FunctionType = types.FunctionType
_orig_module_call = Module.__call__
_HOMES = ("rushlight.nn.", "torch.nn.", "rushlight.ao.nn", "torch.ao.nn")


class ScriptObject:
    """An object of TorchScript: there are none here, but tracers of libraries test for them."""


def _orig_module_getattr(module, name):
    """What a module does about an attribute that it has not: nothing else is found."""
    raise AttributeError(f"'{type(module).__name__}' object has no attribute '{name}'")


def is_fx_tracing():
    """Whether a program is being traced just now."""
    return _tracing


is_fx_symbolic_tracing = is_fx_tracing


class ProxyableClassMeta(type):
    """The metaclass of classes whose objects may be made of traced values: making one is recorded
    as a call of the class.

    >>> class Pair(metaclass=torch.fx.ProxyableClassMeta):
    ...     def __init__(self, left, right):
    ...         self.left, self.right = left, right
    """

    def __init__(cls, name, bases, attributes):
        _proxyable_classes.setdefault(cls)
        super().__init__(name, bases, attributes)

    def __call__(cls, *args, **kwargs):
        instance = cls.__new__(cls)
        if not is_fx_tracing():
            cls.__init__(instance, *args, **kwargs)
            return instance
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            cls.__init__(instance, *args, **kwargs)
            return instance
        return proxy.tracer.create_proxy("call_function", cls, args, kwargs)


def _assert_is_none(value, msg):
    if value is not None:
        raise AssertionError(msg)


class Tracer(TracerBase):
    """Records what a module or function does, as a Graph. Subclasses decide which modules are
    taken apart, and what becomes of parameters.

    Args:
        autowrap_modules: modules of Python whose functions are recorded as calls, such as math.
        autowrap_functions: functions that are.
        param_shapes_constant: whether shapes of parameters are ints, not nodes.

    >>> class All(torch.fx.Tracer):
    ...     def is_leaf_module(self, m, module_qualified_name):
    ...         return False
    >>> net = torch.nn.Sequential(torch.nn.Identity())
    >>> All().trace(net).nodes.__len__(), torch.fx.Tracer().trace(net).nodes.__len__()
    (2, 3)
    """

    def __init__(
        self, autowrap_modules=(math,), autowrap_functions=(), param_shapes_constant=False
    ):
        super().__init__()
        self._autowrap_function_ids = {
            id(value)
            for module in autowrap_modules
            for name, value in vars(module).items()
            if not name.startswith("_") and callable(value)
        } | {id(each) for each in autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths = None
        self.root_module_name = ""
        self.scope, self.module_stack = Scope("", None), {}
        self.node_name_to_scope = {}
        self._qualname_counter: dict = {}

    @property
    def _view(self):
        view = self.__dict__.get("_module_view")
        if view is None or view.root is not self.root:
            view = self._module_view = ModuleView(self.root)
        return view

    def get_fresh_qualname(self, prefix):
        """The first of prefix0, prefix1, ... that the root module has not.

        Args:
            prefix: the beginning.
        """
        i = self._qualname_counter.get(prefix, 0)
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        self._qualname_counter[prefix] = i
        return f"{prefix}{i}"

    def create_arg(self, a):
        """A value of the program as an argument of a node: a parameter becomes the reading of it.

        Args:
            a: the value.
        """
        if isinstance(a, Parameter):
            name = self._view.parameter_name(a)
            if name is None:
                raise NameError("parameter is not a member of this module")
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, _C.Tensor) and (name := self._view.buffer_name(a)) is not None:
            return self.create_node("get_attr", name, (), {})
        if isinstance(a, Module):
            for name, module in self.root.named_modules():
                if a is module:
                    return self.create_node("get_attr", name, (), {})
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            args = tuple(self.create_arg(each) for each in a)
            return self.create_node("call_function", type(a), args, {})
        if isinstance(a, _C.Tensor):
            return self.create_node("get_attr", self._constant(a, "_tensor_constant"), (), {})
        if type(a) in _proxyable_classes:
            return self.create_node("get_attr", self._constant(a, "_proxyable_constant"), (), {})
        return super().create_arg(a)

    def _constant(self, value, prefix):
        """The attribute of the root module that holds a constant; made where there is none."""
        name = self._view.constant_name(value)
        if name is None:
            name = self.get_fresh_qualname(prefix)
            self._view.keep_constant(name, value)
            setattr(self.root, name, value)
        return name

    def is_leaf_module(self, m, module_qualified_name):
        """Whether a module is one call, not taken apart: those of torch.nn but for Sequential.

        Args:
            m: the module.
            module_qualified_name: its name.
        """
        home = f"{m.__module__}."
        return home.startswith(_HOMES) and not isinstance(m, Sequential)

    def path_of_module(self, mod):
        """The name of a module in the root module.

        Args:
            mod: the module.

        Raises: NameError, if it is not in there.
        """
        if self.submodule_paths:
            path = self.submodule_paths.get(mod)
            if path is not None:
                return path
        else:
            for name, module in self.root.named_modules():
                if mod is module:
                    return name
        raise NameError(
            "module is not installed as a submodule\n"
            f"the program calls a {type(mod).__name__}; make it an attribute of the traced module"
        )

    def call_module(self, m, forward, args, kwargs):
        """What the call of a module becomes: a node for a leaf, else what its forward records.

        Args:
            m: the module.
            forward: a function that runs it.
            args: positional arguments.
            kwargs: keyword arguments.
        """
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))):
            key, repeated = path, 0
            while key in self.module_stack:
                repeated += 1
                key = f"{path}@{repeated}"
            self.module_stack[key] = (path, type(m))
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                del self.module_stack[key]

    def getattr(self, attr, attr_val, parameter_proxy_cache):
        """What the reading of a parameter, buffer or submodule gives.

        Args:
            attr: the name.
            attr_val: the value.
            parameter_proxy_cache: a dict of the Proxies that there are already, by name.
        """
        if isinstance(attr_val, Parameter):
            name = self._view.parameter_name(attr_val)
        elif self.proxy_buffer_attributes and isinstance(attr_val, _C.Tensor):
            name = self._view.buffer_name(attr_val)
        else:
            return attr_val
        if name is None:
            return attr_val
        if name not in parameter_proxy_cache:
            make = None
            if self.param_shapes_constant and isinstance(attr_val, Parameter):

                def make(node):
                    return ParameterProxy(self, node, name, attr_val)

            parameter_proxy_cache[name] = self.create_proxy(
                "get_attr", name, (), {}, proxy_factory_fn=make
            )
        return parameter_proxy_cache[name]

    def create_args_for_root(self, root_fn, is_module, concrete_args=None):
        """The inputs: a Proxy for each parameter of the function.

        Args:
            root_fn: the function.
            is_module: whether its first parameter is the module.
            concrete_args: values of parameters that are fixed.

        Returns: a pair of the function to call and its arguments.
        """
        checks = rushlight._assert, _assert_is_none
        root_fn, args, names, concrete = root_arguments(
            self, root_fn, is_module, concrete_args, checks
        )
        if not concrete:
            return root_fn, args
        from rushlight.utils._pytree import tree_flatten, tree_unflatten

        flat, in_spec = tree_flatten(tuple(args))
        if all(spec.is_leaf() for spec in in_spec.children_specs):
            return root_fn, args
        self.graph._codegen = codegen = _PyTreeCodeGen(_PyTreeInfo(names, in_spec, None))

        def flattened(*leaves):
            outputs, out_spec = tree_flatten(root_fn(*tree_unflatten(list(leaves), in_spec)))
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=out_spec)
            return outputs

        return flattened, flat

    def trace(self, root, concrete_args=None):
        """Records a module or function.

        Args:
            root: the module or function.
            concrete_args: a dict of values for parameters that are fixed; the part of a program
                that depends on them is then decided. torch.fx.PH in a container remains an input.

        Returns: a Graph.
        """
        global _tracing
        if isinstance(root, Module):
            function = getattr(type(root), self.traced_func_name, None)
            if function is None:
                raise AssertionError(
                    f"traced_func_name={self.traced_func_name} doesn't exist in "
                    f"{type(root).__name__}"
                )
            self.root, self.root_module_name = root, root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            if not isinstance(root, types.FunctionType | types.MethodType):
                function = getattr(root, "__func__", root)
            self.root, function = Module(), root
        self.graph = Graph(tracer_cls=type(self))
        if not isinstance(function, types.FunctionType):
            raise AssertionError(f"Expected FunctionType, got {type(function)}")
        before, _tracing = _tracing, True
        try:
            function, args = self.create_args_for_root(
                function, isinstance(root, Module), concrete_args
            )
            with _Patcher() as patcher:
                self._patch(patcher, inspect.unwrap(function))
                result = self.create_arg(function(*args))
            annotation = getattr(function, "__annotations__", {}).get("return", None)
            self.create_node("output", "output", (result,), {}, type_expr=annotation)
        finally:
            _tracing = before
        self.submodule_paths = None
        return self.graph

    def _patch(self, patcher, function):
        cache: dict = {}

        @functools.wraps(_orig_module_call)
        def call(module, *args, **kwargs):
            def forward(*args, **kwargs):
                return _orig_module_call(module, *args, **kwargs)

            home = getattr(type(module).forward, "__globals__", None)
            if home is not None:
                _autowrap_check(patcher, home, self._autowrap_function_ids)
            return self.call_module(module, forward, args, kwargs)

        def get(module, name):
            value = object.__getattribute__(module, name)
            if isinstance(value, _C.Tensor | Module) and self._view.registers(module, name):
                return self.getattr(name, value, cache)
            return value

        patcher.patch_method(Module, "__getattribute__", get)
        patcher.patch_method(Module, "__call__", call)
        _patch_wrapped_functions(patcher)
        _autowrap_check(patcher, function.__globals__, self._autowrap_function_ids)
        for module in self._autowrap_search:
            _autowrap_check(patcher, vars(module), self._autowrap_function_ids)

    def __deepcopy__(self, memo):
        new = Tracer.__new__(type(self))
        memo[id(self)] = new
        from copy import copy, deepcopy

        for key, value in self.__dict__.items():
            if key == "_autowrap_search" or isinstance(value, Proxy):
                new.__dict__[key] = copy(value)
            else:
                new.__dict__[key] = deepcopy(value, memo)
        return new


def wrap(fn_or_name):
    """Has calls of a function be recorded as one node instead of being traced through.

    To be called at the level of a module, after or as a decorator of the function, or with the
    name of a global or built-in function.

    Args:
        fn_or_name: the function, or its name.

    Returns: the argument.

    Raises: NotImplementedError anywhere else than at the level of a module.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            "Unsupported type for global function! Must be either a callable or string name"
        )
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe().f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped_fns_to_patch[(id(frame.f_globals), name)] = frame.f_globals
    return fn_or_name


def symbolic_trace(root, concrete_args=None):
    """Records what a module or function does, as a GraphModule that does the same.

    Args:
        root: the module or function.
        concrete_args: values of parameters that are fixed, as in Tracer.trace.

    Returns: a GraphModule.

    Raises: TraceError where the program branches or loops on a traced value.

    >>> traced = torch.fx.symbolic_trace(lambda x: x.relu() + 1)
    >>> print(traced.code.strip())
    def forward(self, x):
        relu = x.relu();  x = None
        add = relu + 1;  relu = None
        return add
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


graph_module.default_tracer = Tracer
