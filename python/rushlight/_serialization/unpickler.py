"""Reads pickles under `weights_only`: a small machine of our own for pickle's instructions.

Note: it imports and calls nothing but what `allowlist.Allowed` returns, and it bounds what an
instruction may cost: lengths by the bytes that are left, objects by the pickle's length, the depth
of tuples (Python hashes them by recursion) by a constant.
"""

import gc
import struct

from rushlight._serialization.allowlist import Allowed, Refused, check_key

_MAX_TUPLE_DEPTH = 500
_MAX_MARKS = 10_000  # how deep containers may be nested
_FREE_OBJECTS = 200_000  # containers that any file may make, beyond one for each four bytes


class Unpickler:
    """Runs consecutive pickles in ``data``.

    Args:
        data: the bytes; read from ``position`` on.
        encoding: how the byte strings of Python 2 become text; "bytes" leaves them as bytes.
        persistent_load: called with each persistent id.
        allowed: the tables of what may be named.
    """

    def __init__(self, data, encoding="utf-8", persistent_load=None, allowed=None, position=0):
        self._data = data
        self._end = len(data)
        self.position = position
        self._encoding = encoding
        self._persistent_load = persistent_load
        self._allowed = allowed or Allowed()

    def load(self):
        """Returns the object of the next pickle."""
        # The collector would look at all that is made, and at all of the program's, again and
        # again, and find no garbage: half of the time that a file of small objects takes.
        collects = gc.isenabled()
        gc.disable()
        try:
            return self._run()
        finally:
            if collects:
                gc.enable()

    def _run(self):
        self._stack = []
        self._marks = []
        self._memo = {}
        self._deep_tuples = {}
        self._objects_left = _FREE_OBJECTS + (self._end - self.position) // 4
        data, table = self._data, _TABLE
        try:
            while True:
                code = data[self.position]
                self.position += 1
                if code == _STOP:
                    return self._stack.pop()
                table[code](self)
        except IndexError:
            if self.position >= self._end:
                raise Refused("the pickle ended early") from None
            raise Refused("the pickle takes from an empty stack") from None
        except KeyError as error:
            raise Refused(f"the pickle uses a memo entry it never made: {error}") from None
        except UnicodeDecodeError as error:
            raise Refused(f"the pickle holds text that cannot be decoded: {error}") from None
        except (TypeError, ValueError, OverflowError) as error:
            raise Refused(f"the pickle is malformed: {error}") from None

    # What instructions are made of.

    def _take(self, length):
        start = self.position
        if length > self._end - start:
            raise Refused("the pickle ended early")
        self.position = start + length
        return self._data[start : start + length]

    def _number(self, style, length):
        return struct.unpack(style, self._take(length))[0]

    def _line(self):
        end = self._data.find(b"\n", self.position, self.position + 4096)
        if end < 0:
            raise Refused("the pickle ended early")
        line = self._data[self.position : end]
        self.position = end + 1
        return line.decode("utf-8")

    def _count_object(self):
        self._objects_left -= 1
        if self._objects_left < 0:
            raise Refused("the pickle makes more objects than its length accounts for")

    def _since_mark(self):
        items = self._stack
        self._stack = self._marks.pop()
        return items

    def _push_tuple(self, items):
        depth = 0
        for item in items:
            if type(item) is tuple and item:
                below = self._deep_tuples.get(id(item))
                depth = max(depth, below[1] if below else 1)
        made = tuple(items)
        if depth:
            if depth >= _MAX_TUPLE_DEPTH:
                raise Refused(f"tuples are nested more than {_MAX_TUPLE_DEPTH} deep")
            self._deep_tuples[id(made)] = (made, depth + 1)
        self._count_object()
        self._stack.append(made)

    def _top(self, kind, instruction):
        top = self._stack[-1]
        if type(top) is not kind:
            raise Refused(f"Can only {instruction} {kind.__name__}s, but got {type(top)}")
        return top

    def _dictionary(self, instruction):
        top = self._stack[-1]
        if type(top) is not dict and type(top) not in _DICTIONARIES:
            raise Refused(
                f"Can only {instruction} for dict, collections.OrderedDict, collections.Counter, "
                f"but got {type(top)}"
            )
        return top

    # One method for each instruction.

    def _proto(self):
        if self._take(1)[0] > 5:
            raise Refused("the pickle's protocol is newer than 5")

    def _frame(self):
        self._take(8)

    def _mark(self):
        if len(self._marks) >= _MAX_MARKS:
            raise Refused(f"containers are nested more than {_MAX_MARKS} deep")
        self._marks.append(self._stack)
        self._stack = []

    def _pop(self):
        if self._stack:
            self._stack.pop()
        else:
            self._since_mark()

    def _pop_mark(self):
        self._since_mark()

    def _dup(self):
        self._stack.append(self._stack[-1])

    def _none(self):
        self._stack.append(None)

    def _true(self):
        self._stack.append(True)

    def _false(self):
        self._stack.append(False)

    def _int4(self):
        self._stack.append(self._number("<i", 4))

    def _int1(self):
        self._stack.append(self._data[self.position])
        self.position += 1

    def _int2(self):
        self._stack.append(self._number("<H", 2))

    def _long1(self):
        self._stack.append(int.from_bytes(self._take(self._take(1)[0]), "little", signed=True))

    def _long4(self):
        length = self._number("<i", 4)
        if length < 0 or length > 1024:
            raise Refused(f"an int of {length} bytes is larger than tensors need")
        self._stack.append(int.from_bytes(self._take(length), "little", signed=True))

    def _float(self):
        self._stack.append(self._number(">d", 8))

    def _text(self, length):
        self._stack.append(str(self._take(length), "utf-8", "surrogatepass"))

    def _text1(self):
        self._text(self._take(1)[0])

    def _text4(self):
        self._text(self._number("<I", 4))

    def _text8(self):
        self._text(self._number("<Q", 8))

    def _old_string(self, length):
        data = bytes(self._take(length))
        self._stack.append(data if self._encoding == "bytes" else data.decode(self._encoding))

    def _old_string1(self):
        self._old_string(self._take(1)[0])

    def _old_string4(self):
        length = self._number("<i", 4)
        if length < 0:
            raise Refused("a string of negative length")
        self._old_string(length)

    def _bytes1(self):
        self._stack.append(bytes(self._take(self._take(1)[0])))

    def _bytes4(self):
        self._stack.append(bytes(self._take(self._number("<I", 4))))

    def _bytes8(self):
        self._stack.append(bytes(self._take(self._number("<Q", 8))))

    def _bytearray8(self):
        self._stack.append(bytearray(self._take(self._number("<Q", 8))))

    def _empty_list(self):
        self._count_object()
        self._stack.append([])

    def _empty_dict(self):
        self._count_object()
        self._stack.append({})

    def _empty_set(self):
        self._count_object()
        self._stack.append(set())

    def _empty_tuple(self):
        self._stack.append(())

    def _tuple(self):
        self._push_tuple(self._since_mark())

    def _tuple_of(self, count):
        items = self._stack[-count:]
        if len(items) < count:
            raise Refused("the pickle takes from an empty stack")
        del self._stack[-count:]
        self._push_tuple(items)

    def _tuple1(self):
        self._tuple_of(1)

    def _tuple2(self):
        self._tuple_of(2)

    def _tuple3(self):
        self._tuple_of(3)

    def _list(self):
        self._count_object()
        items = self._since_mark()
        self._stack.append(items)

    def _dict(self):
        self._count_object()
        items = self._since_mark()
        self._stack.append({})
        self._set_all(items)

    def _frozenset(self):
        items = self._since_mark()
        for item in items:
            check_key(item)
        self._count_object()
        self._stack.append(frozenset(items))

    def _append(self):
        item = self._stack.pop()
        self._top(list, "append to").append(item)

    def _appends(self):
        items = self._since_mark()
        self._top(list, "extend").extend(items)

    def _add_items(self):
        items = self._since_mark()
        for item in items:
            check_key(item)
        self._top(set, "add to").update(items)

    def _set_item(self):
        value = self._stack.pop()
        key = self._stack.pop()
        check_key(key)
        self._dictionary("SETITEM")[key] = value

    def _set_items(self):
        self._set_all(self._since_mark())

    def _set_all(self, items):
        target = self._dictionary("SETITEMS")
        if len(items) % 2:
            raise Refused("a dict has a key without a value")
        for i in range(0, len(items), 2):
            check_key(items[i])
            target[items[i]] = items[i + 1]

    def _put1(self):
        self._memo[self._take(1)[0]] = self._stack[-1]

    def _put4(self):
        self._memo[self._number("<I", 4)] = self._stack[-1]

    def _memoize(self):
        self._memo[len(self._memo)] = self._stack[-1]

    def _get1(self):
        self._stack.append(self._memo[self._take(1)[0]])

    def _get4(self):
        self._stack.append(self._memo[self._number("<I", 4)])

    def _global(self):
        module = self._line()
        self._stack.append(self._allowed.find(module, self._line()))

    def _stack_global(self):
        name, module = self._stack.pop(), self._stack.pop()
        if type(name) is not str or type(module) is not str:
            raise Refused("a global's name is not text")
        self._stack.append(self._allowed.find(module, name))

    def _reduce(self):
        arguments = self._stack.pop()
        function = self._stack.pop()
        self._count_object()
        self._stack.append(self._allowed.call(function, arguments))

    def _new_object(self):
        arguments = self._stack.pop()
        kind = self._stack.pop()
        self._count_object()
        self._stack.append(self._allowed.make(kind, arguments))

    def _build(self):
        state = self._stack.pop()
        self._allowed.build(self._stack[-1], state)

    def _persistent(self):
        identity = self._stack.pop()
        if self._persistent_load is None:
            raise Refused("unsupported persistent id encountered")
        self._stack.append(self._persistent_load(identity))

    def _unsupported(self):
        raise Refused(f"Unsupported operand {self._data[self.position - 1]}")


def _dictionary_types():
    from collections import Counter, OrderedDict

    return (OrderedDict, Counter)


_DICTIONARIES = _dictionary_types()
_STOP = ord(".")
_INSTRUCTIONS = {
    b"\x80": Unpickler._proto,
    b"\x95": Unpickler._frame,
    b"(": Unpickler._mark,
    b"0": Unpickler._pop,
    b"1": Unpickler._pop_mark,
    b"2": Unpickler._dup,
    b"N": Unpickler._none,
    b"\x88": Unpickler._true,
    b"\x89": Unpickler._false,
    b"J": Unpickler._int4,
    b"K": Unpickler._int1,
    b"M": Unpickler._int2,
    b"\x8a": Unpickler._long1,
    b"\x8b": Unpickler._long4,
    b"G": Unpickler._float,
    b"\x8c": Unpickler._text1,
    b"X": Unpickler._text4,
    b"\x8d": Unpickler._text8,
    b"U": Unpickler._old_string1,
    b"T": Unpickler._old_string4,
    b"C": Unpickler._bytes1,
    b"B": Unpickler._bytes4,
    b"\x8e": Unpickler._bytes8,
    b"\x96": Unpickler._bytearray8,
    b"]": Unpickler._empty_list,
    b"}": Unpickler._empty_dict,
    b"\x8f": Unpickler._empty_set,
    b")": Unpickler._empty_tuple,
    b"t": Unpickler._tuple,
    b"\x85": Unpickler._tuple1,
    b"\x86": Unpickler._tuple2,
    b"\x87": Unpickler._tuple3,
    b"l": Unpickler._list,
    b"d": Unpickler._dict,
    b"\x91": Unpickler._frozenset,
    b"a": Unpickler._append,
    b"e": Unpickler._appends,
    b"\x90": Unpickler._add_items,
    b"s": Unpickler._set_item,
    b"u": Unpickler._set_items,
    b"q": Unpickler._put1,
    b"r": Unpickler._put4,
    b"\x94": Unpickler._memoize,
    b"h": Unpickler._get1,
    b"j": Unpickler._get4,
    b"c": Unpickler._global,
    b"\x93": Unpickler._stack_global,
    b"R": Unpickler._reduce,
    b"\x81": Unpickler._new_object,
    b"b": Unpickler._build,
    b"Q": Unpickler._persistent,
}
_TABLE = [_INSTRUCTIONS.get(bytes([code]), Unpickler._unsupported) for code in range(256)]
