"""detect_anomaly: accepted, and finds NaN in the gradients of leaves.

A changer must know: errors of backward here name the operation and the tensor already.
"""


class set_detect_anomaly:
    """Switches anomaly detection on or off; a context manager too."""

    def __init__(self, mode, check_nan=True):
        self.mode = mode

    def __enter__(self):
        return None

    def __exit__(self, *error):
        return None


class detect_anomaly(set_detect_anomaly):
    """A context in which backward() explains more; errors here always name the operation."""

    def __init__(self, check_nan=True):
        super().__init__(True, check_nan)
