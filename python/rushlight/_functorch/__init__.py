"""torch._functorch: what libraries import from inside torch.func; the rest is importable alone."""


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
