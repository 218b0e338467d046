"""torch._dynamo: what libraries import of the compiler, which is not here. Real are the class of
what torch.compile(module) returns and list_backends; other names are of rushlight._importable."""

from rushlight._dynamo.eval_frame import OptimizedModule as OptimizedModule
from rushlight.compiler import list_backends as list_backends


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
