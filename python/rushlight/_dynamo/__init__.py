"""torch._dynamo: what libraries import of the compiler, which is not here. Real is the class of
what torch.compile(module) returns; other names are of rushlight._importable."""

from rushlight._dynamo.eval_frame import OptimizedModule as OptimizedModule


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
