"""detect_anomaly: accepted, so that programs run; it looks for no NaN.

A changer must know: errors of backward name the operation and the tensor without it.
"""


class set_detect_anomaly:
    """Accepted as a call or a context manager, and changes nothing."""

    def __init__(self, mode, check_nan=True):
        self.mode = mode

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None


class detect_anomaly(set_detect_anomaly):
    """Accepted as a context, and changes nothing: errors of backward always name the operation."""

    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)
