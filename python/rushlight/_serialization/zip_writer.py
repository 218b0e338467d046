"""Writes the archive of a `.pt` file: stored records, each starting on a multiple of 64 bytes.

Note: the layout is byte for byte that of PyTorch's writer (padding field "FB", a data descriptor
after each record that is not empty, a zip64 end record always), because its reader computes the
offsets of `data/N` from it instead of looking them up.
"""

import struct

from rushlight import _C

ALIGNMENT = 64
_PIECE = 1 << 22  # a piece stays in the cache between its checksum and its copy to the file
_LIMIT = 0xFFFFFFFF
_UTF8, _DESCRIPTOR = 0x0800, 0x0008


def _zip64(*values):
    """The zip64 extra field holding the given 8-byte values; nothing for none."""
    if not values:
        return b""
    return struct.pack(f"<HH{len(values)}Q", 1, 8 * len(values), *values)


class ZipWriter:
    """Appends records to ``write`` (a callable taking bytes); ``close`` adds the directory."""

    def __init__(self, write, name):
        self._write = write
        self._prefix = name + "/"
        self._position = 0
        self._pending = bytearray()  # headers and small records, to be written together
        self._directory = []

    def _put(self, data):
        self._position += len(data)
        if len(data) + len(self._pending) <= 1 << 16:
            self._pending += data
            return
        self._flush()
        self._write(data)

    def _flush(self):
        if self._pending:
            self._write(self._pending)
            self._pending = bytearray()

    def record(self, name, data):
        """Writes one record; ``data`` is bytes or a contiguous memoryview of bytes."""
        name = (self._prefix + name).encode()
        size, start = len(data), self._position
        large = ((size, size) if size >= _LIMIT else ()) + ((start,) if start >= _LIMIT else ())
        extra = _zip64(*large)
        padding = -(start + 30 + len(name) + len(extra) + 4) % ALIGNMENT
        extra += b"FB" + struct.pack("<H", padding) + b"Z" * padding
        flags = _UTF8 | _DESCRIPTOR if size else _UTF8
        header = struct.pack(
            "<4s5H3I2H", b"PK\3\4", 0, flags, 0, 0, 0, 0, 0, 0, len(name), len(extra)
        )
        self._put(header + name + extra)
        crc = 0
        if size:
            data = memoryview(data)
            for at in range(0, size, _PIECE):
                piece = data[at : at + _PIECE]
                crc = _C._crc32(piece, crc)
                self._put(piece)
            style = "<4sI2Q" if large else "<4sI2I"
            self._put(struct.pack(style, b"PK\7\10", crc, size, size))
        self._directory.append((name, flags, crc, size, start, _zip64(*large)))

    def close(self):
        """Writes version, serialization id and the central directory."""
        self.record("version", b"3\n")
        checksum = _C._crc32(b"".join(entry[0] for entry in self._directory))
        content = _C._crc32(struct.pack(f"<{len(self._directory)}I", *self._crcs()))
        self.record(".data/serialization_id", f"{checksum:020}{content:020}".encode())
        start, count = self._position, len(self._directory)
        for name, flags, crc, size, offset, extra in self._directory:
            stored_size, stored_offset = min(size, _LIMIT), min(offset, _LIMIT)
            entry = struct.pack(
                "<4s6H3I5H2I",
                *(b"PK\1\2", 0, 0, flags, 0, 0, 0, crc, stored_size, stored_size),
                *(len(name), len(extra), 0, 0, 0, 0, stored_offset),
            )
            self._put(entry + name + extra)
        length, end = self._position - start, self._position
        tail = struct.pack(
            "<4sQ2H2I4Q", b"PK\6\6", 44, 0x031E, 45, 0, 0, count, count, length, start
        )
        tail += struct.pack("<4sIQI", b"PK\6\7", 0, end, 1)
        tail += struct.pack(
            "<4s4H2IH",
            *(b"PK\5\6", 0, 0, min(count, 0xFFFF), min(count, 0xFFFF)),
            *(min(length, _LIMIT), min(start, _LIMIT), 0),
        )
        self._put(tail)
        self._flush()

    def _crcs(self):
        return (entry[2] for entry in self._directory)
