"""Switches of a thread or of the process, against torch: what they return, and what they change."""

import subprocess
import sys

import rushlight as torch
from tests.conftest import ask

TINY = 1e-310


def test_flush_denormal():
    def run(torch):
        product = [torch.set_flush_denormal(True)]
        product.append((torch.tensor([TINY], dtype=torch.float64) * 1.0).item())
        product.append(torch.set_flush_denormal(False))
        return [*product, (torch.tensor([TINY], dtype=torch.float64) * 1.0).item()]

    assert run(torch) == ask(run) == [True, 0.0, True, TINY]


def test_the_cache_of_autocast():
    def run(torch):
        seen = [torch.is_autocast_cache_enabled()]
        with torch.autocast("cpu", cache_enabled=False):
            seen.append(torch.is_autocast_cache_enabled())
            with torch.autocast("cpu"):
                seen.append(torch.is_autocast_cache_enabled())
        torch.set_autocast_cache_enabled(False)
        seen.append(torch.is_autocast_cache_enabled())
        torch.set_autocast_cache_enabled(True)
        torch.clear_autocast_cache()
        return [*seen, torch.is_autocast_cache_enabled()]

    assert run(torch) == ask(run)


def test_anomaly():
    def run(torch):
        torch.set_anomaly_enabled(True, False)
        seen = [torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]
        torch.set_anomaly_enabled(False)
        return [*seen, torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()]

    assert run(torch) == ask(run)


def test_warnings_come_each_time_where_that_is_asked_for():
    # In a process of its own: they come once in each.
    code = (
        "import sys, warnings; import {} as torch; x = torch.ones(2, 2, 2)\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    x.T; x.T; torch.set_warn_always(True); x.T; x.T; torch.set_warn_always(False); x.T\n"
        "print(len(seen), torch.is_warn_always_enabled())"
    )
    done = subprocess.run(
        [sys.executable, "-c", code.format("rushlight")], capture_output=True, text=True, check=True
    )
    assert done.stdout == "3 False\n"


def test_memory_fraction():
    with torch.cuda.virtual(2):
        torch.cuda.set_per_process_memory_fraction(0.5, 1)
        try:
            fractions = [torch.cuda.get_per_process_memory_fraction(i) for i in (0, 1)]
            assert fractions == [1.0, 0.5]
        finally:
            torch.cuda.set_per_process_memory_fraction(1.0, 1)
