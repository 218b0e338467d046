"""CodeGen: the source of a Graph's `forward`, in the text that torch writes, and its globals."""

import builtins
import collections.abc
import enum
import inspect
import keyword
import math
import re
import types
import typing
from dataclasses import dataclass, field

import rushlight
from rushlight import _C
from rushlight.fx._names import is_ours, module_of, qualified_name, resolve, type_repr
from rushlight.fx.node import Node

# fmt: off
reflectable_magic_methods = {
    "add": "{} + {}", "sub": "{} - {}", "mul": "{} * {}", "floordiv": "{} // {}",
    "truediv": "{} / {}", "div": "{} / {}", "mod": "{} % {}", "pow": "{} ** {}",
    "lshift": "{} << {}", "rshift": "{} >> {}", "and_": "{} & {}", "or_": "{} | {}",
    "xor": "{} ^ {}", "getitem": "{}[{}]", "matmul": "{} @ {}",
}
magic_methods = {
    "eq": "{} == {}", "ne": "{} != {}", "lt": "{} < {}", "gt": "{} > {}", "le": "{} <= {}",
    "ge": "{} >= {}", "pos": "+{}", "neg": "-{}", "invert": "~{}", **reflectable_magic_methods,
}
inplace_methods = {
    "iadd": "{} += {}", "iand": "{} &= {}", "ifloordiv": "{} //= {}", "ilshift": "{} <<= {}",
    "imod": "{} %= {}", "imul": "{} *= {}", "imatmul": "{} @= {}", "ior": "{} |= {}",
    "ipow": "{} **= {}", "irshift": "{} >>= {}", "isub": "{} -= {}", "itruediv": "{} /= {}",
    "ixor": "{} ^= {}", "setitem": "{}[{}] = {}",
}
# fmt: on


def custom_builtins():
    """What every generated program has as globals."""
    from rushlight.fx import _pytree as fx_pytree
    from rushlight.utils import _pytree as pytree

    return {
        "inf": math.inf,
        "nan": math.nan,
        "NoneType": type(None),
        "torch": rushlight,
        "device": _C.device,
        "fx_pytree": fx_pytree,
        "pytree": pytree,
    }


_RESERVED = frozenset("inf nan NoneType torch device fx_pytree pytree".split())
IMPORTS = {
    "inf": "from math import inf",
    "nan": "from math import nan",
    "NoneType": "NoneType = type(None)",
    "torch": "import torch",
    "device": "from torch import device",
    "fx_pytree": "import torch.fx._pytree as fx_pytree",
    "pytree": "import torch.utils._pytree as pytree",
}


@dataclass
class PythonCode:
    """The source of a graph's function.

    Args:
        src: the text.
        globals: what its names mean.

    >>> torch.fx.symbolic_trace(lambda x: x + 1).graph.python_code("self").src.split()[:3]
    ['def', 'forward(self,', 'x):']
    """

    src: str
    globals: dict[str, typing.Any]
    _lineno_map: dict[int, int | None] | None = None
    _prologue_start: int = 0
    _names: dict[str, str] = field(default_factory=dict, repr=False)


class Namespace:
    """Gives names, each once, that are identifiers and hide nothing."""

    def __init__(self):
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}
        self._names: dict[int, tuple[object, str]] = {}

    def create_name(self, candidate, obj):
        """A name like `candidate`; always the same one for an object that is not None."""
        if obj is not None and id(obj) in self._names:
            return self._names[id(obj)][1]
        candidate = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = re.match(r"(.*)_(\d+)$", candidate)
        base, number = (match[1], int(match[2])) if match else (candidate, None)
        if number is None or candidate in self._used_names:
            number = self._base_count.get(base, 0) if number is None else number
        while candidate in self._used_names or self._is_illegal(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        self._base_count[base] = number
        if obj is not None:
            self._names[id(obj)] = (obj, candidate)
        return candidate

    def associate_name_with_obj(self, name, obj):
        """Has `name` mean `obj` from now on."""
        self._names[id(obj)] = (obj, name)

    def _is_illegal(self, name, obj):
        if name in keyword.kwlist:
            return True
        if name in builtins.__dict__:
            return obj is not builtins.__dict__[name]
        return name in _RESERVED and obj is not custom_builtins()[name]


def format_target(base, target):
    """`base.a.b`, with getattr() for the parts that are no identifiers."""
    for part in target.split("."):
        plain = part.isidentifier() and not keyword.iskeyword(part)
        base = f"{base}.{part}" if plain else f"getattr({base}, {_quoted(part)})"
    return base


def _quoted(text):
    return '"' + repr("'" + text)[2:-1].replace('"', '\\"') + '"'


class CodeGen:
    """How the function around a graph's nodes is written; subclasses change arguments and output.

    >>> torch.fx.CodeGen().gen_fn_def(["x"], "")
    'def forward(self, x):'
    """

    def gen_fn_def(self, free_vars, maybe_return_annotation, *, expanded_def=False):
        """The line `def forward(...):`.

        Args:
            free_vars: the texts of the parameters.
            maybe_return_annotation: " -> type", or nothing.
            expanded_def: whether each parameter has a line of its own.
        """
        if not free_vars or free_vars[0] != "self":
            free_vars = ["self", *free_vars]
        if expanded_def:
            lines = "".join(f"    {each},\n" for each in free_vars)
            return f"def forward(\n{lines}){maybe_return_annotation}:"
        return f"def forward({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args, *, descs=None, repr_fn=None):
        """The line `return ...`.

        Args:
            output_args: the argument of the node of the output.
            descs: accepted.
            repr_fn: how an argument is written.
        """
        return f"return {(repr_fn or repr)(output_args)}"

    def process_inputs(self, *args):
        """What the placeholders get, from the arguments of the function.

        Args:
            args: the arguments.
        """
        return args

    def process_outputs(self, outputs):
        """What the function returns, from the value of the output.

        Args:
            outputs: the value.
        """
        return outputs

    def additional_globals(self):
        """Pairs of a name and what it means in the code, besides those of the nodes."""
        return []

    def _gen_python_code(self, nodes, root_module, namespace, *, verbose=False):
        return _Writer(self, root_module, namespace, verbose).write(list(nodes))


class _Writer:
    """One program on its way."""

    def __init__(self, codegen, root, namespace, verbose):
        self.codegen, self.root, self.namespace, self.verbose = codegen, root, namespace, verbose
        self.globals: dict[str, object] = {}
        self.names: dict[str, str] = {}
        self.wrapped: dict[str, None] = {}
        self.parameters: list[str] = []
        self.annotation = ""

    def write(self, nodes):
        for name, value in {**custom_builtins(), **dict(self.codegen.additional_globals())}.items():
            self.global_name(name, value)
        ends = _last_uses(nodes)
        body, lines, last_trace = [], {}, None
        for index, node in enumerate(nodes):
            if self.verbose and node.op not in ("placeholder", "output"):
                trace = node.stack_trace or ""
                if trace != last_trace:
                    body.append(("\n" if body else "") + _comment(trace) + "\n")
                    last_trace = trace
            text = self.line(node)
            if node.op not in ("placeholder", "output"):
                dead = ends.get(node, [])
                if dead:
                    text += f";  {' = '.join(map(repr, dead))} = None"
            lines["".join(body).count("\n")] = index
            if text:
                body.append(text + "\n")
        if not body:
            body.append("pass\n")
        header = "".join(f'torch.fx._symbolic_trace.wrap("{n}")\n' for n in self.wrapped)
        head = self.codegen.gen_fn_def(self.parameters, self.annotation)
        indented = "\n".join(f"    {each}" if each else each for each in "".join(body).split("\n"))
        prologue = f"\n{header.rstrip()}\n\n"
        source = f"{prologue}{head}\n{indented}"
        source += "    " if not self.verbose else ""
        start = source.index(head) and prologue.count("\n") + head.count("\n") + 1
        return PythonCode(source, self.globals, lines, start, self.names)

    def line(self, node):
        """The text of one node, without what it sets to None."""
        kind = "" if node.type is None else f" : {self.type_name(node.type)}"
        name = repr(node)
        if node.op == "placeholder":
            default = f" = {self.value(node.args[0])}" if node.args else ""
            _check_identifier(node.target.lstrip("*"), node)
            self.parameters.append(f"{node.target}{kind}{default}")
            raw = node.target.replace("*", "")
            return "" if raw == name else f"{name} = {raw}"
        if node.op == "output":
            if node.type is not None:
                self.annotation = f" -> {self.type_name(node.type)}"
            generate = self.codegen.generate_output
            # Codegens of programs may take the output only.
            takes = inspect.signature(generate).parameters
            options = {"repr_fn": self.value} if "repr_fn" in takes else {}
            return generate(node.args[0], **options)
        if node.op == "get_attr":
            return f"{name}{kind} = {format_target(self.root, node.target)}"
        if node.op == "call_module":
            call = self.arguments(node.args, node.kwargs, node)
            return f"{name}{kind} = {format_target(self.root, node.target)}({call})"
        if node.op == "call_method":
            base = format_target(self.value(node.args[0]), node.target)
            return f"{name}{kind} = {base}({self.arguments(node.args[1:], node.kwargs, node)})"
        return self.function_line(node, name, kind)

    def function_line(self, node, name, kind):
        target = node.target
        own = getattr(target, "__name__", "")
        if module_of(target) == "_operator" and not node.kwargs:
            if own in magic_methods:
                text = magic_methods[own].format(*map(self.value, node.args))
                return f"{name}{kind} = {text}"
            if own in inplace_methods:
                text = inplace_methods[own].format(*map(self.value, node.args))
                return f"{text};  {name}{kind} = {self.value(node.args[0])}"
        called = self.global_name(qualified_name(target), target)
        if called == "getattr" and len(node.args) == 2 and not node.kwargs:
            attribute = node.args[1]
            if isinstance(attribute, str) and attribute.isidentifier():
                return f"{name}{kind} = {format_target(self.value(node.args[0]), attribute)}"
        if node.meta.get("is_wrapped", False):
            self.wrapped.setdefault(called)
        return f"{name}{kind} = {called}({self.arguments(node.args, node.kwargs, node)})"

    def arguments(self, args, kwargs, node):
        for key in kwargs:
            _check_identifier(key, node)
        words = [f"{key} = {self.value(value)}" for key, value in kwargs.items()]
        return ", ".join([*map(self.value, args), *words])

    def value(self, arg):
        """The text of an argument."""
        if isinstance(arg, Node):
            return repr(arg)
        if isinstance(arg, tuple):
            values = ", ".join(map(self.value, arg)) + ("," if len(arg) == 1 else "")
            if hasattr(arg, "_fields"):
                return f"{self.type_global(type(arg))}({values})"
            if type(arg) is _C.Size:
                return f"torch.Size([{values.rstrip(',')}])"
            return f"({values})"
        if isinstance(arg, list):
            return f"[{', '.join(map(self.value, arg))}]"
        if isinstance(arg, dict):
            pairs = (f"{self.value(k)}: {self.value(v)}" for k, v in arg.items())
            return f"{{{', '.join(pairs)}}}"
        if isinstance(arg, slice):
            return f"slice({', '.join(map(self.value, (arg.start, arg.stop, arg.step)))})"
        if isinstance(arg, enum.Enum):
            return f"{self.type_global(type(arg))}.{arg.name}"
        if isinstance(arg, type) or callable(arg):
            return self.global_name(qualified_name(arg), arg)
        return repr(arg)

    def type_global(self, cls):
        return self.global_name(f"{module_of(cls)}.{cls.__qualname__}", cls)

    def type_name(self, kind):
        text = type_repr(kind)
        arguments = getattr(kind, "__args__", None)
        origin = getattr(kind, "__origin__", None)
        if arguments and origin not in (None, collections.abc.Callable):
            inner = [self.type_name(a) for a in arguments]
            if origin is typing.Union:
                return f"{self.global_name('typing.Union', typing.Union)}[{','.join(inner)}]"
            base = text.split("[")[0]
            if "." in base:
                base = self.global_name(base, _typing(kind, base))
            return f"{base}[{','.join(inner)}]"
        if isinstance(kind, types.UnionType):
            return "|".join(self.type_name(a) for a in arguments)
        return self.global_name(text, kind)

    def global_name(self, hint, obj):
        if is_ours(obj) and obj is not _C.device and resolve(hint) is obj:
            return hint
        self.names.setdefault(hint, hint)
        name = self.namespace.create_name(hint, obj)
        known = self.globals.setdefault(name, obj)
        if known is not obj:
            raise AssertionError(f"Global {name} is defined more than once")
        self.names[name] = hint
        return name


def _typing(kind, base):
    return getattr(typing, base.removeprefix("typing."), None) or kind.__origin__


def _check_identifier(name, node):
    if not name.isidentifier() or keyword.iskeyword(name):
        raise SyntaxError(
            f"Node {node.name}: {name!r} cannot be the name of an argument in generated code"
        )


def _last_uses(nodes):
    """node -> the nodes whose values are not needed after it."""
    last: dict[Node, Node] = {}
    ends: dict[Node, list[Node]] = {}
    for user in reversed(nodes):
        for used in user._input_nodes:
            if used not in last:
                last[used] = user
                ends.setdefault(user, []).append(used)
    for node in nodes:
        if not node.users:
            ends.setdefault(node, []).append(node)
    return ends


def _comment(trace):
    if not trace:
        return "# No stacktrace found for following nodes"
    lines = [each.strip() for each in trace.strip().split("\n")]
    return "# " + ", code: ".join(lines[-2:])


def of_nodes(nodes):
    """A namespace in which the names of nodes are taken."""
    namespace = Namespace()
    for node in nodes:
        namespace._used_names.add(node.name)
        namespace.associate_name_with_obj(node.name, node)
    return namespace
