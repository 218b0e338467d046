"""Sparse tensors: entries alone, as indices and values.

A sparse tensor is an instance of a private class of Tensor whose body has sizes, dtype and device,
and no memory (csrc/core/tensor.h, sparse_body). `__torch_function__` takes its calls to rules, one
for each operation, which compute with indices and values: so gradients follow by themselves. An
operation without a rule refuses. Importing this package registers the rules.
"""

from rushlight._sparse import (
    binary,
    compressed,
    construction,
    conversion,
    dispatch,
    gradients,
    inplace,
    joins,
    pickles,
    products,
    properties,
    reductions,
    refusals,
    selections,
    steps,
    unary,
    views,
)

inplace.register()
dispatch.COMPLETE.append(True)
