"""A plugin of pytest: `python -m pytest -p rushlight.pytest` runs tests that import torch.

It is imported before the tests and their conftest.py; workers of pytest-xdist import it, too.
"""

from rushlight._runner.alias import as_torch

as_torch()
