"""Reads the archive of a `.pt` file, trusting nothing in it.

Note: every length is compared with the file's before memory is allocated, and two records may not
share bytes; so all records together are never larger than the file.
"""

import itertools
import os
import struct

from rushlight import _C

_LIMIT = 0xFFFFFFFF
_CHECKED_UP_TO = 1 << 20  # records up to this size have their CRC verified


def _bad(text):
    return RuntimeError(
        f"PytorchStreamReader failed reading zip archive: {text}\n"
        "the file is damaged or was not written by save(); copy or save it again"
    )


class ZipReader:
    """The records of an archive that begins at the current position of a seekable file."""

    def __init__(self, file):
        self._file = file
        self._base = file.tell()
        file.seek(0, os.SEEK_END)  # which gives None, of an mmap
        self._size = file.tell() - self._base
        self._records = {}
        self._read_directory(*self._find_directory())

    def _read_at(self, offset, length):
        if offset < 0 or length < 0 or offset + length > self._size:
            raise _bad("a record is outside the file")
        self._file.seek(self._base + offset)
        data = self._file.read(length)
        if len(data) != length:
            raise _bad("the file ended early")
        return data

    def _find_directory(self):
        """Returns (offset, length, entries) of the central directory."""
        tail_start = max(0, self._size - 22 - 0xFFFF)
        tail = self._read_at(tail_start, self._size - tail_start)
        at = tail.rfind(b"PK\5\6")
        if at < 0 or len(tail) - at < 22:
            raise _bad("failed finding central directory")
        entries, length, offset = struct.unpack_from("<H2I", tail, at + 10)
        locator = tail_start + at - 20
        if locator >= 0 and self._read_at(locator, 4) == b"PK\6\7":
            (end64,) = struct.unpack("<Q", self._read_at(locator + 8, 8))
            record = self._read_at(end64, 56)
            if record[:4] != b"PK\6\6":
                raise _bad("its zip64 end record is missing")
            entries, length, offset = struct.unpack_from("<3Q", record, 32)
        return offset, length, entries

    def _read_directory(self, offset, length, entries):
        data = self._read_at(offset, length)
        if entries * 46 > length:
            raise _bad("its directory is too short for its number of records")
        at, spans, archive = 0, [], None
        for _ in range(entries):
            if at + 46 > length or data[at : at + 4] != b"PK\1\2":
                raise _bad("its directory is damaged")
            flags, method = struct.unpack_from("<2H", data, at + 8)
            fields = struct.unpack_from("<3I3H", data, at + 16)
            crc, stored, size, name_length, extra_length, comment_length = fields
            (start,) = struct.unpack_from("<I", data, at + 42)
            after_name = at + 46 + name_length
            extra = data[after_name : after_name + extra_length]
            stored, size, start = _widen(extra, stored, size, start)
            try:
                full_name = data[at + 46 : after_name].decode()
            except UnicodeDecodeError:
                raise _bad("a record's name is not UTF-8") from None
            at = after_name + extra_length + comment_length
            if at > length:
                raise _bad("its directory is damaged")
            top, _, name = full_name.partition("/")
            if archive is None:
                archive = top
            if top != archive or not name:
                raise _bad(f"the record {full_name[:80]!r} is not in the folder {archive[:80]!r}")
            if name in self._records:
                raise _bad(f"the record {full_name[:80]!r} occurs twice")
            if method != 0 or flags & 1:
                what = "encrypted" if flags & 1 else "compressed"
                raise _bad(f"the record {full_name[:80]!r} is {what}, not stored")
            if stored != size or start + 30 + name_length + size > self._size:
                raise _bad(f"the record {full_name[:80]!r} is larger than the file")
            self._records[name] = (start, size, crc, name_length)
            spans.append((start, start + 30 + name_length + size))
        spans.sort()
        for (_, end), (start, _) in itertools.pairwise(spans):
            if start < end:
                raise _bad("two records overlap")
        if spans and spans[-1][1] > offset:
            raise _bad("a record overlaps the directory")

    def __contains__(self, name):
        return name in self._records

    def names(self):
        """The names of all records, without the archive's folder."""
        return list(self._records)

    def size(self, name):
        """The number of bytes in a record."""
        if name not in self._records:
            raise RuntimeError(
                f"PytorchStreamReader failed locating file {name[:80]}: file not found\n"
                "the archive lacks a record that its pickle names; save it again"
            )
        return self._records[name][1]

    def _seek_to(self, name):
        size = self.size(name)
        start, _, crc, name_length = self._records[name]
        header = self._read_at(start, 30)
        if header[:4] != b"PK\3\4":
            raise _bad(f"the record {name[:80]!r} has no header")
        local_name, extra = struct.unpack_from("<2H", header, 26)
        if local_name != name_length or start + 30 + local_name + extra + size > self._size:
            raise _bad(f"the header of record {name[:80]!r} contradicts the directory")
        self._file.seek(self._base + start + 30 + local_name + extra)
        return size, crc

    def read(self, name):
        """Returns a record as bytes."""
        size, crc = self._seek_to(name)
        data = self._file.read(size)
        if len(data) != size:
            raise _bad("the file ended early")
        self._check(name, data, crc)
        return data

    def read_into(self, name, memory):
        """Fills a writable memoryview with the first bytes of a record."""
        size, crc = self._seek_to(name)
        fill(self._file, memory)
        if len(memory) == size:
            self._check(name, memory, crc)

    def _check(self, name, data, crc):
        if len(data) <= _CHECKED_UP_TO and _C._crc32(data) != crc:
            raise _bad(f"the checksum of record {name[:80]!r} is wrong")


def fill(file, memory):
    """Reads exactly ``len(memory)`` bytes of ``file`` into ``memory``."""
    read_into = getattr(file, "readinto", None)
    done = 0
    while done < len(memory):
        if read_into is not None:
            count = read_into(memory[done:])
        else:
            data = file.read(min(len(memory) - done, 1 << 24))
            count = len(data)
            memory[done : done + count] = data
        if not count:
            raise _bad("the file ended early")
        done += count


def _widen(extra, *values):
    """Replaces 32-bit fields that say "see zip64" by the values of the zip64 extra field."""
    at, values = 0, list(values)
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<2H", extra, at)
        if kind == 1:
            wide, end = at + 4, min(at + 4 + length, len(extra))
            for i in (1, 0, 2):  # the field's order: uncompressed size, compressed size, offset
                if values[i] == _LIMIT and wide + 8 <= end:
                    (values[i],) = struct.unpack_from("<Q", extra, wide)
                    wide += 8
        at += 4 + length
    return values
