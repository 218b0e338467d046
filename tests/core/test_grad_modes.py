"""What switches recording on and off takes a bool, and nothing that merely has a truth."""

import pytest

import rushlight


@pytest.mark.parametrize("mode", [1, 0, None, "yes"])
def test_set_grad_enabled_takes_a_bool(reference, mode):
    for torch in (rushlight, reference):
        with pytest.raises(TypeError, match=r"argument 'enabled' .position 1. must be bool, not "):
            torch.set_grad_enabled(mode)
        assert torch.is_grad_enabled()
