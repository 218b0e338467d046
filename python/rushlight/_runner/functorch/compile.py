"""functorch.compile: the compilers that leave a graph as it is, whose result is the function as it
was written; a compiler that would read the graph of operations is refused, as there is none.
"""

import functools

from rushlight._functorch import config
from rushlight._importable import refusal

__all__ = [
    "aot_function", "aot_module", "aot_module_simplified", "compiled_function", "compiled_module",
    "config", "default_decompositions", "default_partition", "draw_graph",
    "get_aot_compilation_context", "get_aot_graph_name", "get_graph_being_compiled",
    "make_boxed_compiler", "make_boxed_func", "memory_efficient_fusion",
    "min_cut_rematerialization_partition", "minifier", "nop", "print_compile", "ts_compile",
]  # fmt: skip

default_decompositions: dict = {}


def nop(fx_g, _):
    """The graph as it is.

    Args:
        fx_g: the graph.
        _: the inputs, which are not read.

    >>> from functorch.compile import nop
    >>> nop(torch.sin, [])(torch.zeros(1))
    tensor([0.])
    """
    return fx_g


def ts_compile(fx_g, inps):
    """The graph as it is, as scripts are the functions that they are made of.

    Args:
        fx_g: the graph.
        inps: the inputs, which are not read.

    >>> from functorch.compile import ts_compile
    >>> ts_compile(torch.sin, [])(torch.zeros(1))
    tensor([0.])
    """
    return fx_g


def make_boxed_func(f):
    """A function that takes a list of the arguments of another.

    Args:
        f: the function.

    >>> from functorch.compile import make_boxed_func
    >>> make_boxed_func(torch.add)([torch.ones(1), 2])
    tensor([3.])
    """

    def boxed(args):
        return f(*args)

    boxed._boxed_call = True
    return boxed


def make_boxed_compiler(compiler):
    """A compiler whose results take a list of arguments.

    Args:
        compiler: a function of a graph and its inputs.

    >>> from functorch.compile import make_boxed_compiler, nop
    >>> make_boxed_compiler(nop)(torch.neg, [])([torch.ones(1)])
    tensor([-1.])
    """

    @functools.wraps(compiler)
    def boxed(fx_g, inps):
        return make_boxed_func(compiler(fx_g, inps))

    boxed.leaves_graph = _leaves_graph(compiler)
    return boxed


def _leaves_graph(compiler):
    return compiler in (None, nop, ts_compile) or getattr(compiler, "leaves_graph", False)


_trace = refusal("_functorch.aot_autograd.aot_function", "compiler")


def aot_function(fn, fw_compiler, bw_compiler=None, *args, inference_compiler=None, **kwargs):
    """The function itself, where the compilers are such as leave graphs as they are.

    Args:
        fn: the function.
        fw_compiler, bw_compiler, inference_compiler: nop or ts_compile, boxed or not.
        *args, **kwargs: what else torch takes; it is about graphs.

    Raises:
        NotImplementedError: another compiler; it would get a graph of operations.

    >>> from functorch.compile import aot_function, nop
    >>> aot_function(torch.sin, nop)(torch.zeros(1))
    tensor([0.])
    """
    if not all(map(_leaves_graph, (fw_compiler, bw_compiler, inference_compiler))):
        _trace()

    @functools.wraps(fn)
    def returned(*args, **kwargs):
        return fn(*args, **kwargs)

    return returned


def aot_module(mod, fw_compiler, bw_compiler=None, *args, inference_compiler=None, **kwargs):
    """The module itself, where the compilers are such as leave graphs as they are.

    Args:
        mod: the module.
        fw_compiler, bw_compiler, inference_compiler: nop or ts_compile, boxed or not.
        *args, **kwargs: what else torch takes; it is about graphs.

    Raises:
        NotImplementedError: another compiler; it would get a graph of operations.

    >>> from functorch.compile import aot_module, nop
    >>> aot_module(torch.nn.ReLU(), nop)
    ReLU()
    """
    if not all(map(_leaves_graph, (fw_compiler, bw_compiler, inference_compiler))):
        _trace()
    return mod


compiled_function, compiled_module = aot_function, aot_module


def memory_efficient_fusion(fn, **kwargs):
    """The function or module itself: nothing is fused.

    Args:
        fn: the function or module.
        **kwargs: what torch takes beside; it is about graphs.

    >>> from functorch.compile import memory_efficient_fusion
    >>> memory_efficient_fusion(torch.nn.ReLU())
    ReLU()
    """
    return fn


def get_aot_graph_name():
    """The name of the graph that is compiled: of none.

    >>> from functorch.compile import get_aot_graph_name
    >>> get_aot_graph_name()
    'model___0'
    """
    return "model___0"


def get_graph_being_compiled():
    """The same.

    >>> from functorch.compile import get_graph_being_compiled
    >>> get_graph_being_compiled()
    'model___0'
    """
    return "model___0"


def get_aot_compilation_context():
    """The graphs that are compiled, their model's name and number: none.

    >>> from functorch.compile import get_aot_compilation_context
    >>> get_aot_compilation_context()
    ([], 'model', 0)
    """
    return [], "model", 0


def _refused(name):
    made = refusal(f"_functorch.{name}", "compiler")
    made.__name__ = name
    return made


aot_module_simplified = _refused("aot_module_simplified")
default_partition = _refused("default_partition")
draw_graph = _refused("draw_graph")
min_cut_rematerialization_partition = _refused("min_cut_rematerialization_partition")
minifier = _refused("minifier")
print_compile = _refused("print_compile")
