"""Groups of tensors by device and dtype."""

import pytest

import rushlight as torch
from rushlight.utils import _foreach_utils as utils


def test_groups():
    a = [torch.ones(1), torch.ones(2, dtype=torch.float64), torch.ones(3)]
    double = [t * 2 for t in a]
    groups = utils._group_tensors_by_device_and_dtype([a, double, [None] * 3], with_indices=True)
    cpu = torch.device("cpu")
    parts, at = groups[cpu, torch.float32]
    assert at == [0, 2] and parts == [[a[0], a[2]], [double[0], double[2]], [None, None]]
    assert groups[cpu, torch.float64] == ([[a[1]], [double[1]], [None]], [1])
    assert utils._group_tensors_by_device_and_dtype([a[:1], []]) == {
        (cpu, torch.float32): ([[a[0]], []], [])
    }
    with pytest.raises(RuntimeError, match="lengths must match, got \\[3, 1\\]"):
        utils._group_tensors_by_device_and_dtype([a, a[:1]])
    assert utils._has_foreach_support(a, cpu)
