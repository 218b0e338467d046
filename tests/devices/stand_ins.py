"""What answers for NVIDIA's libraries in this process (tests/emulator/libraries)."""

import ctypes
import os

import pytest


def stand_in(title):
    """The emulated library in place of `title`, whose record of calls tests read."""
    named = os.environ[f"RUSHLIGHT_{title.upper()}_LIBRARY"]
    if named == "none":
        pytest.skip(f"{title} is switched off")
    return ctypes.CDLL(named)
