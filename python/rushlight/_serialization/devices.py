"""What is no file: devices, whose bytes have no end."""

import os
import stat


def refuse_devices(file):
    """Raises for what never ends, as /dev/zero."""
    try:
        mode = os.fstat(file.fileno()).st_mode
    except (AttributeError, OSError, TypeError, ValueError):
        return  # no file of the system's
    if stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
        raise RuntimeError(
            f"{getattr(file, 'name', file)} is a device, not a file that torch.save wrote\n"
            "copy what it holds to a file, and load that"
        )
