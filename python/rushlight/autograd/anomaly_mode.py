"""detect_anomaly: a backward that fails or makes NaN names the forward call it belongs to."""

from warnings import warn

from rushlight import _C


class set_detect_anomaly:
    """Switches anomaly detection on or off: at once, and for a `with` block.

    While it is on, every recorded operation remembers where it was called. If its backward raises,
    or returns NaN, a warning shows that traceback, and NaN raises RuntimeError.

    Args:
        mode: whether to look for anomalies.
        check_nan: whether NaN in a gradient is one.

    >>> x = torch.zeros(1, requires_grad=True)
    >>> with torch.autograd.set_detect_anomaly(True, check_nan=False):
    ...     torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    (True, False)
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        for position, value in (("mode", mode), ("check_nan", check_nan)):
            if not isinstance(value, bool):
                raise TypeError(
                    f"set_detect_anomaly(): argument '{position}' must be bool, not "
                    f"{type(value).__name__}"
                )
        self._before = _C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()
        _C.set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _C.set_anomaly_enabled(*self._before)


class detect_anomaly:
    """Looks for anomalies inside a `with` block, as set_detect_anomaly(True) does.

    Args:
        check_nan: whether NaN in a gradient is one.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> x = torch.zeros(1, requires_grad=True)
    >>> with torch.autograd.detect_anomaly():
    ...     (x.sqrt() * 0).sum().backward()
    Traceback (most recent call last):
    RuntimeError: Function 'SqrtBackward0' returned nan values in its 0th output.
    """

    def __init__(self, check_nan: bool = True) -> None:
        warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )
        self._check_nan = check_nan
        self._before = _C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()

    def __enter__(self) -> None:
        _C.set_anomaly_enabled(True, self._check_nan)

    def __exit__(self, *error: object) -> None:
        _C.set_anomaly_enabled(*self._before)
