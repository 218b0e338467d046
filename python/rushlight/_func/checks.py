"""What functions that make functions refuse, in torch's words: arguments to differentiate by,
values that hold something else than tensors, trees of another structure.
"""

import threading

from rushlight._func.trees import is_tensor, leaves, mapped

state = threading.local()  # how many transforms are under way: depth

# In whose words the value of the function is refused.
OF_GRAD, OF_VJP, OF_JVP = (
    "grad_and_value(f)(*args)",
    "vjp(f, *primals)",
    "jvp(f, primals, tangents)",
)


def positions(args, argnums):
    """The positions that `argnums` names among `args`, from 0 on."""
    if not isinstance(argnums, int | tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    indices = argnums if isinstance(argnums, tuple) else (argnums,)
    if not indices:
        raise RuntimeError("argnums must be non-empty")
    for n in indices:
        if not isinstance(n, int):
            raise RuntimeError(f"argnum must be int, got: {type(n)}")
        if not -len(args) <= n < len(args):
            raise RuntimeError(
                f"Got argnum={n}, but only {len(args)} positional inputs\n"
                "argnums names arguments by position"
            )
    found = tuple(n % len(args) for n in indices)
    if len(set(found)) < len(found):
        raise RuntimeError(f"argnums elements must be unique, got {found}")
    return found


def value_and_aux(result, has_aux, call):
    """Apart, with has_aux; the value of a vjp() or jvp() holds tensors only."""
    if has_aux and (not isinstance(result, tuple) or len(result) != 2):
        raise RuntimeError(
            f"{call}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    value, aux = result if has_aux else (result, None)
    if call == OF_GRAD:
        return value, aux
    parts = leaves(value)
    if not parts or value is None:
        raise RuntimeError(
            f"{call}: Expected f to be a function that has non-empty output (got output = {parts})"
        )
    for part in parts:
        if not is_tensor(part):
            raise RuntimeError(
                f"{call}: expected f(*primals) to return only tensors, got unsupported type "
                f"{type(part)}"
            )
        if call == OF_VJP and not (part.is_floating_point() or part.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got "
                f"Tensor with dtype {part.dtype}"
            )
    return value, aux


def real(tree, name, what):
    """A Jacobian is of real numbers by real ones."""
    for n, part in enumerate(leaves(tree)):
        if is_tensor(part) and part.is_complex():
            raise RuntimeError(
                f"{name}: Expected all {what} to be real but received complex tensor at flattened "
                f"input idx: {n}"
            )


class _Star:
    def __repr__(self):
        return "*"


def structure(tree):
    return repr(mapped(lambda _: _Star(), tree))


def alike(cotangents, value):
    a, b = structure(cotangents), structure(value)
    if a != b:
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of outputs "
            f"to the function. cotangents: {a}, primal output: {b}"
        )


def tangents_of(primals, tangents):
    """Those of a jvp() are for its primals."""
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{OF_JVP}: Expected primals to be a tuple. E.g. it should be valid to call "
            "f(*primals)."
        )
    if structure(primals) != structure(tangents):
        raise RuntimeError(
            f"{OF_JVP}: Expected primals and tangents to have the same python structure. For "
            "example, if primals is a tuple of 3 tensors, tangents also must be. Got primals with "
            f"structure {structure(primals)} and tangents with structure {structure(tangents)}"
        )
    if not leaves(primals):
        raise RuntimeError(f"{OF_JVP}: Expected primals to contain at least one Tensor.")
    for name, tree in (("primals", primals), ("tangents", tangents)):
        for x in leaves(tree):
            if not is_tensor(x):
                raise RuntimeError(
                    f"{OF_JVP}: Expected {name} to only contain Tensors, got {type(x)}"
                )
    for x, t in zip(leaves(primals), leaves(tangents), strict=True):
        floating("primal", x)
        floating("tangent", t)
        same_size(x, t)


def floating(name, given):
    if not (given.is_floating_point() or given.is_complex()):
        raise ValueError(f"Expected {name} to be floating point or complex, but got: {given.dtype}")


def same_size(primal, tangent):
    if primal.shape != tangent.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than that of the original "
            f"Tensor, this is not supported. Tensor is of size {list(primal.shape)} while the "
            f"given forward gradient is of size {list(tangent.shape)}."
        )


def outside():
    """Not within a transform, for what takes gradients that the transform could not go through."""
    if getattr(state, "depth", 0):
        raise RuntimeError(
            "You are attempting to call Tensor.requires_grad_() (or perhaps using "
            "torch.autograd.functional.* APIs) inside of a function being transformed: what it "
            "gives would have no gradient.\nUse torch.func there (grad, vjp, jacrev, hessian), or "
            "create_graph=True, through which gradients go"
        )
