"""frombuffer: shared memory, offsets, read-only buffers, torch's errors."""

import pytest

import rushlight


def test_shares_memory():
    memory = bytearray(8)
    tensor = rushlight.frombuffer(memory, dtype=rushlight.int16, count=2, offset=2)
    memory[2] = 7
    tensor[1] = 9
    assert tensor.tolist() == [7, 9]
    assert memory[4] == 9
    with pytest.raises(BufferError):
        memory.extend(b"more")  # the tensor holds the buffer


def test_odd_offset_and_read_only_are_copied():
    tensor = rushlight.frombuffer(bytearray(range(9)), dtype=rushlight.int32, offset=1)
    assert tensor.tolist() == [0x04030201, 0x08070605]
    with pytest.warns(UserWarning, match="The given buffer is not writable"):
        tensor = rushlight.frombuffer(b"\1\2", dtype=rushlight.uint8)
    assert tensor.add_(1).tolist() == [2, 3]


def test_gradient():
    tensor = rushlight.frombuffer(bytearray(8), dtype=rushlight.float32, requires_grad=True)
    assert tensor.requires_grad


@pytest.mark.parametrize(
    "arguments",
    [
        {"offset": 9},
        {"offset": -1},
        {"count": 3, "dtype": "int32"},
        {"offset": 1, "dtype": "int32"},
        {"count": 0},
    ],
    ids=str,
)
def test_errors(reference, arguments):
    def words(library):
        options = dict(arguments, dtype=getattr(library, arguments.get("dtype", "uint8")))
        with pytest.raises(ValueError, match="buffer length") as caught:
            library.frombuffer(bytearray(8), **options)
        return str(caught.value).splitlines()[0]

    assert words(rushlight) == words(reference)


def test_a_count_whose_bytes_overflow():
    with pytest.raises(ValueError, match="must not be greater than actual buffer length"):
        rushlight.frombuffer(bytearray(8), dtype=rushlight.int32, count=2**62)


def test_what_is_no_buffer():
    with pytest.raises(ValueError, match="does not implement Python buffer protocol"):
        rushlight.frombuffer(3, dtype=rushlight.uint8)
