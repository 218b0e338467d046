"""The rules by which operations compute with a batch, by family; see _func/dispatch.py."""

from rushlight._func.rules import (
    convolutions,
    elements,
    factories,
    gradients,
    indexing,
    losses,
    matrices,
    normalization,
    recurrent,
    reductions,
    refusals,
    transforms,
    views,
)
