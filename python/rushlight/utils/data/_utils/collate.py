"""default_collate and default_convert: torch's rules for making a batch out of samples.

NumPy's types enter the table only once the program itself has imported NumPy.
"""

import re
import sys
from collections.abc import Mapping, Sequence

import rushlight

from .containers import is_container, map_like

np_str_obj_array_pattern = re.compile(r"[SaUO]")  # dtypes of arrays that are not collated
default_collate_err_msg_format = (
    "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {}"
)


def default_convert(data):
    """Convert NumPy arrays and scalars inside `data` to tensors; leave everything else.

    Args:
        data: one sample: a tensor, array, scalar, text, mapping or sequence.

    Example:
        Shape: arrays keep their shape.

        >>> import numpy
        >>> torch.utils.data.default_convert([numpy.array([0, 1]), "a"])
        [tensor([0, 1]), 'a']
    """
    kind = type(data)
    if isinstance(data, rushlight.Tensor):
        return data
    if kind.__module__ == "numpy" and kind.__name__ not in ("str_", "bytes_", "string_"):
        if kind.__name__ == "ndarray" and data.dtype.kind in "SUO":
            return data
        return rushlight.as_tensor(data)
    if isinstance(data, Mapping):
        return map_like(data, {key: default_convert(data[key]) for key in data})
    if is_container(data):
        return map_like(data, [default_convert(value) for value in data])
    return data


def collate(batch, *, collate_fn_map=None):
    """Make a batch of samples, with a table of functions by element type.

    Args:
        batch: list of samples.
        collate_fn_map: dict from type (or tuple of types) to `function(batch, collate_fn_map=)`.

    Raises:
        TypeError: an element of a type that the table lacks.
        RuntimeError: sequences of different lengths, tensors of different shapes.

    Example:
        >>> from rushlight.utils.data._utils.collate import collate, default_collate_fn_map
        >>> collate([(0, "a"), (1, "b")], collate_fn_map=default_collate_fn_map)
        [tensor([0, 1]), ('a', 'b')]
    """
    element = batch[0]
    kind = type(element)
    if collate_fn_map is not None:
        function = collate_fn_map.get(kind)
        if function is None:
            for known, candidate in collate_fn_map.items():
                if isinstance(element, known):
                    function = candidate
                    break
        if function is not None:
            return function(batch, collate_fn_map=collate_fn_map)
    if isinstance(element, Mapping):
        return map_like(
            element,
            {
                key: collate([sample[key] for sample in batch], collate_fn_map=collate_fn_map)
                for key in element
            },
        )
    if isinstance(element, Sequence):
        sizes = {len(sample) for sample in batch}
        if len(sizes) > 1 and not hasattr(element, "_fields"):
            raise RuntimeError(
                "each element in list of batch should be of equal size\n"
                f"The samples' lengths are {sorted(sizes)}: pad them in the data set, or give "
                "DataLoader a collate_fn."
            )
        return map_like(
            element,
            [
                collate(column, collate_fn_map=collate_fn_map)
                for column in zip(*batch, strict=False)
            ],
        )
    raise TypeError(
        default_collate_err_msg_format.format(kind)
        + "\nReturn one of these from the data set, or give DataLoader a collate_fn."
    )


def collate_tensor_fn(batch, *, collate_fn_map=None):
    """Stack tensors of one shape along a new first dimension."""
    try:
        return rushlight.stack(batch, 0)
    except RuntimeError as error:
        error.add_note(
            "default_collate was stacking the samples of one batch: make their shapes equal in "
            "the data set (Resize, padding), or give DataLoader a collate_fn."
        )
        raise


def collate_numpy_array_fn(batch, *, collate_fn_map=None):
    """Stack NumPy arrays as tensors."""
    element = batch[0]
    if element.dtype.kind in "SUO":
        raise TypeError(default_collate_err_msg_format.format(element.dtype))
    return collate([rushlight.as_tensor(array) for array in batch], collate_fn_map=collate_fn_map)


def collate_numpy_scalar_fn(batch, *, collate_fn_map=None):
    """A tensor of NumPy scalars, of their dtype."""
    return rushlight.as_tensor(sys.modules["numpy"].asarray(batch))


def collate_float_fn(batch, *, collate_fn_map=None):
    """A float64 tensor of Python floats."""
    return rushlight.tensor(batch, dtype=rushlight.float64)


def collate_int_fn(batch, *, collate_fn_map=None):
    """An int64 (or bool) tensor of Python ints."""
    return rushlight.tensor(batch)


def collate_str_fn(batch, *, collate_fn_map=None):
    """Text and bytes stay as they are."""
    return batch


default_collate_fn_map = {
    rushlight.Tensor: collate_tensor_fn,
    float: collate_float_fn,
    int: collate_int_fn,
    str: collate_str_fn,
    bytes: collate_str_fn,
}


def _know_numpy():
    # NumPy's float64 is a Python float too, so NumPy's rows must come before Python's.
    numpy = sys.modules.get("numpy")
    if numpy is None or numpy.ndarray in default_collate_fn_map:
        return
    rows = list(default_collate_fn_map.items())
    rows[1:1] = [
        (numpy.ndarray, collate_numpy_array_fn),
        ((numpy.bool_, numpy.number, numpy.object_), collate_numpy_scalar_fn),
    ]
    default_collate_fn_map.clear()
    default_collate_fn_map.update(rows)


def default_collate(batch):
    """Make one batch of samples: tensors are stacked, scalars become tensors, containers are
    taken apart.

    | sample | batch |
    |---|---|
    | tensor, NumPy array | tensor with a new first dimension |
    | float; int; bool | float64; int64; bool tensor |
    | str, bytes | list or tuple of them |
    | mapping, namedtuple, sequence | the same, each field collated (a tuple gives a list) |

    Args:
        batch: list of samples.

    Shape: n tensors (*) give (n, *).

    Raises:
        TypeError: a sample of another type.
        RuntimeError: samples of different lengths or shapes.

    Example:
        >>> torch.utils.data.default_collate([(0, {"a": 1.0}), (2, {"a": 3.0})])
        [tensor([0, 2]), {'a': tensor([1., 3.], dtype=torch.float64)}]
    """
    _know_numpy()
    return collate(batch, collate_fn_map=default_collate_fn_map)
