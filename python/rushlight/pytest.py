"""A plugin of pytest: `python -m pytest -p rushlight.pytest` runs tests that import torch.

Its hook is called before the tests and their conftest.py are imported, in workers of pytest-xdist
as well.
"""

from rushlight._runner.alias import as_torch


def pytest_load_initial_conftests():
    """From here on the tests' torch is rushlight."""
    as_torch()
