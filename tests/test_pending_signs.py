"""Files of torch's whose tensors were still to be conjugated or negated; a layout in a file."""

import io
import struct

import pytest

import rushlight
from tests.conftest import ask

MADE = [
    "z.conj()", "z.conj().imag", "z.imag", "z.conj()[0, 1:]", "z.t().conj()", "z[0, 0].conj()",
    "[z.conj(), z]", "z.conj().resolve_conj()", "torch._neg_view(torch.arange(3.0))",
    "torch._neg_view(z)", "torch._neg_view(z).conj()",
]  # fmt: skip


def pickled(text):
    return struct.pack("<I", len(text)) + text


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("zipped", [True, False])
@pytest.mark.parametrize("text", MADE)
def test_pending_signs(text, zipped, weights_only):
    def saved(torch):
        z = torch.complex(torch.arange(6.0).view(2, 3), torch.arange(6.0).view(2, 3) + 1)
        made = eval(text, {"torch": torch, "z": z})
        file = io.BytesIO()
        torch.save(made, file, _use_new_zipfile_serialization=zipped)
        made = made if isinstance(made, list) else [made]
        content = file.getvalue()
        for t in made:  # the old format names a storage by its address: of each process another
            address = str(t.untyped_storage()._cdata).encode()
            content = content.replace(pickled(address), pickled(b"1"))
        return content.hex(), [repr(t.tolist()) for t in made]

    content, values = ask(saved)
    file = io.BytesIO(bytes.fromhex(content))
    loaded = rushlight.load(file, weights_only=weights_only)
    loaded = loaded if isinstance(loaded, list) else [loaded]
    assert [repr(t.tolist()) for t in loaded] == values


@pytest.mark.parametrize("weights_only", [True, False])
def test_a_layout(weights_only):
    def saved(torch):
        file = io.BytesIO()
        torch.save(torch.strided, file)
        return file.getvalue().hex()

    file = io.BytesIO(bytes.fromhex(ask(saved)))
    assert rushlight.load(file, weights_only=weights_only) is rushlight.strided


@pytest.mark.parametrize("metadata", [3, "conj", [("conj", True)], {"conj": 1}, {1: 2}, {}])
def test_what_else_metadata_may_be(metadata):
    from rushlight._utils import _rebuild_tensor_v2
    from rushlight.storage import TypedStorage

    storage = TypedStorage(
        wrap_storage=rushlight.ones(2).untyped_storage(), dtype=rushlight.float32
    )
    try:
        made = _rebuild_tensor_v2(storage, 0, (2,), (1,), False, None, metadata)
    except RuntimeError as error:
        assert "metadata must be a dict" in str(error)
        return
    assert made.tolist() == [1, 1]


def test_one_copy_of_a_storage_that_many_tensors_name():
    from rushlight._utils import _rebuild_tensor_v2
    from rushlight.storage import TypedStorage

    made = TypedStorage(wrap_storage=rushlight.ones(2).untyped_storage(), dtype=rushlight.float32)
    many = [_rebuild_tensor_v2(made, 0, (2,), (1,), False, None, {"neg": True}) for _ in range(9)]
    assert len({t.data_ptr() for t in many}) == 1 and many[0].tolist() == [-1, -1]
    wide = _rebuild_tensor_v2(made, 1, (1 << 40,), (0,), False, None, {"neg": True})
    assert wide[-1] == -1 and wide.data_ptr() == many[0].data_ptr() + 4
    for dtype in (rushlight.int64, rushlight.bool, rushlight.uint8):
        made = TypedStorage(wrap_storage=rushlight.ones(2).untyped_storage(), dtype=dtype)
        with pytest.raises(RuntimeError, match="cannot be conjugated or negated"):
            _rebuild_tensor_v2(made, 0, (1,), (1,), False, None, {"neg": True})
