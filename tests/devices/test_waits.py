"""What makes the host wait for a GPU says so: torch's own samples on the emulated provider, which
counts the waits, while set_sync_debug_mode() reports them.
"""

import pytest

from tests.devices.test_provider import run

pytest.importorskip("torch")
pytest.importorskip("expecttest")
pytestmark = pytest.mark.emulated


def test_nothing_waits_unreported():
    text = run(
        """
        import ctypes, os, warnings

        for each in "RUSHLIGHT_LAUNCH_BLOCKING", "RUSHLIGHT_NO_CACHE":  # they wait for every call
            os.environ.pop(each, None)
        import torch
        import rushlight
        from tests.oracle import ops, transfer

        transfer.DEVICE[0] = rushlight.device("cuda:1")
        library = ctypes.CDLL(os.environ["RUSHLIGHT_CUDA_LIBRARY"])
        library.emulated_waits.restype = ctypes.c_uint64
        torch.set_num_threads(1)
        warnings.simplefilter("ignore")
        waiting = 0

        def call_once(op, call, sample):
            carrier = transfer.Carrier()
            try:
                args = carrier.value((sample.input, *sample.args))
                named = carrier.value(sample.kwargs)
            except (transfer.Untransferable, RuntimeError):
                return 0
            rushlight.cuda.synchronize(1)
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                before = library.emulated_waits()
                rushlight.cuda.set_sync_debug_mode("warn")
                try:
                    call(*args, **named)
                except Exception:  # of samples that we refuse
                    pass
                rushlight.cuda.set_sync_debug_mode("default")
                waited = library.emulated_waits() > before
            if waited and not any("synchronizing" in str(w.message) for w in said):
                print("not reported:", ops.title(op))
            return waited

        for op in ops.entries():
            call = ops.ours(op)
            dtype = torch.float32 if torch.float32 in op.dtypes else torch.int64
            if call is ops.ABSENT or dtype not in op.dtypes:
                continue
            samples = list(op.sample_inputs("cpu", dtype, requires_grad=False))
            for sample in samples[:: max(1, len(samples) // 2)][:3]:
                waiting += call_once(op, call, sample)
        assert waiting > 50, waiting  # nonzero, unique, ...
        """
    )
    assert not text, text
