"""Data pipes: the classes that data sets inherit; torch has removed the functions of torchdata."""


def __getattr__(name):
    from rushlight._importable import find

    return find(__name__, name)
