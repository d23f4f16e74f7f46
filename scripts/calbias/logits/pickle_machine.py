"""The few instructions of a pickle that arrays are written with, and nothing else.

A pickle is a program for a stack machine, and the plain unpickler runs whatever it names. This
machine imports nothing: its caller hands it the names that may occur and what stands for them.
Memory is bounded by the size of the file: a length is checked against what is left of it, long
byte strings are not copied, and the number of instructions is limited.
"""

import codecs

MAX_INSTRUCTIONS = 10_000
_MARK = object()


class Damaged(Exception):
    """The bytes are no pickle of arrays that this reader understands."""


class Refused(Exception):
    """The pickle asks for something that is not a numeric array; the message names it."""


def text(value):
    """Return a string of the pickle as str; Python 2 wrote bytes where Python 3 writes text."""
    if isinstance(value, bytes | memoryview):  # an int would become as many zero bytes
        return bytes(value).decode("latin-1")
    if not isinstance(value, str):
        raise Damaged("a name that is no string")
    return value


class Machine:
    """The stack machine; ``at`` is the position in the bytes that it has reached.

    ``names`` maps ``"module name"`` to what stands for it: a function, or a class whose objects
    have ``set_state``.
    """

    def __init__(self, data, names):
        self.data = memoryview(data)
        self.names = names
        self.at = 0
        self.stack = []
        self.memo = {}

    def run(self):
        """Return what the pickle builds; raises Damaged, Refused, ValueError and the like."""
        for _ in range(MAX_INSTRUCTIONS):
            code = self._take(1)[0]
            if code == ord("."):
                return self.stack.pop()
            instruction = _INSTRUCTIONS.get(code)
            if instruction is None:
                raise Damaged(f"instruction {bytes([code])!r} has no place in a pickle of arrays")
            instruction(self)
        raise Damaged(f"more than {MAX_INSTRUCTIONS} instructions")

    def _take(self, n):
        """Return the next n bytes of the file, uncopied."""
        if n < 0 or n > len(self.data) - self.at:
            raise Damaged(f"{n} bytes are announced, {len(self.data) - self.at} are left")
        self.at += n
        return self.data[self.at - n : self.at]

    def _number(self, n, signed=False):
        return int.from_bytes(self._take(n), "little", signed=signed)

    def _line(self):
        end = self.data.obj.find(b"\n", self.at)
        if end < 0:
            raise Damaged("a line without an end")
        line = bytes(self._take(end - self.at))
        self.at += 1
        return line

    def _push(self, value):
        self.stack.append(value)

    def _pop(self, n):
        if n > len(self.stack):
            raise Damaged("an empty stack")
        taken = self.stack[len(self.stack) - n :]
        del self.stack[len(self.stack) - n :]
        return taken

    def _pop_to_mark(self):
        for depth, value in enumerate(reversed(self.stack)):
            if value is _MARK:
                values = self._pop(depth)
                self._pop(1)
                return values
        raise Damaged("no mark")

    def _append(self, values):
        target = self.stack[-1]
        if not isinstance(target, list):
            raise Damaged("an append to what is no list")
        target.extend(values)

    def _name(self, module, name):
        key = f"{text(module)} {text(name)}"
        if key not in self.names:
            raise Refused(ascii(key.replace(" ", "."))[1:-1][:100])
        self._push(self.names[key])

    def _reduce(self):
        function, arguments = self._pop(2)
        if not callable(function):
            raise Damaged("a call of what is no function")
        self._push(function(*arguments))

    def _build(self):
        (state,) = self._pop(1)
        target = self.stack[-1]
        if not hasattr(target, "set_state"):
            raise Damaged("a state for what is no array")
        target.set_state(state)

    def _remember(self, key):
        self.memo[key] = self.stack[-1]

    def _recall(self, key):
        self._push(self.memo[key])


def _integer(line):
    return line == b"01" if line in (b"00", b"01") else int(line)


def _string(line):
    """Return the bytes of a Python 2 string, written as its repr."""
    if len(line) < 2 or line[:1] not in (b"'", b'"') or line[-1:] != line[:1]:
        raise Damaged("a string without quotes")
    return codecs.escape_decode(line[1:-1])[0]


def _unicode(taken):
    return str(taken, "utf-8", "surrogatepass")


def _validate_instance(machine):
    machine._name(machine._line(), machine._line())
    raise Damaged("an instance")


_INSTRUCTIONS = {
    # The stream: protocol, frame.
    0x80: lambda m: m._take(1),
    0x95: lambda m: m._take(8),
    # Constants and numbers.
    ord("N"): lambda m: m._push(None),
    0x88: lambda m: m._push(True),
    0x89: lambda m: m._push(False),
    ord("I"): lambda m: m._push(_integer(m._line())),
    ord("L"): lambda m: m._push(int(m._line().rstrip(b"L"))),
    ord("K"): lambda m: m._push(m._number(1)),
    ord("M"): lambda m: m._push(m._number(2)),
    ord("J"): lambda m: m._push(m._number(4, signed=True)),
    0x8A: lambda m: m._push(m._number(m._number(1), signed=True)),
    # Python 2 strings and bytes, uncopied.
    ord("S"): lambda m: m._push(_string(m._line())),
    ord("T"): lambda m: m._push(m._take(m._number(4, signed=True))),
    ord("U"): lambda m: m._push(m._take(m._number(1))),
    ord("B"): lambda m: m._push(m._take(m._number(4))),
    ord("C"): lambda m: m._push(m._take(m._number(1))),
    0x8E: lambda m: m._push(m._take(m._number(8))),
    0x96: lambda m: m._push(m._take(m._number(8))),
    # Text.
    ord("V"): lambda m: m._push(str(m._line(), "raw-unicode-escape")),
    ord("X"): lambda m: m._push(_unicode(m._take(m._number(4)))),
    0x8C: lambda m: m._push(_unicode(m._take(m._number(1)))),
    0x8D: lambda m: m._push(_unicode(m._take(m._number(8)))),
    # Lists and tuples.
    ord("("): lambda m: m._push(_MARK),
    ord("]"): lambda m: m._push([]),
    ord("l"): lambda m: m._push(m._pop_to_mark()),
    ord("a"): lambda m: m._append(m._pop(1)),
    ord("e"): lambda m: m._append(m._pop_to_mark()),
    ord(")"): lambda m: m._push(()),
    ord("t"): lambda m: m._push(tuple(m._pop_to_mark())),
    0x85: lambda m: m._push(tuple(m._pop(1))),
    0x86: lambda m: m._push(tuple(m._pop(2))),
    0x87: lambda m: m._push(tuple(m._pop(3))),
    # The memo.
    ord("p"): lambda m: m._remember(int(m._line())),
    ord("q"): lambda m: m._remember(m._number(1)),
    ord("r"): lambda m: m._remember(m._number(4)),
    0x94: lambda m: m._remember(len(m.memo)),
    ord("g"): lambda m: m._recall(int(m._line())),
    ord("h"): lambda m: m._recall(m._number(1)),
    ord("j"): lambda m: m._recall(m._number(4)),
    # Names and what is made of them.
    ord("c"): lambda m: m._name(m._line(), m._line()),
    0x93: lambda m: m._name(*m._pop(2)),
    ord("i"): _validate_instance,
    ord("R"): lambda m: m._reduce(),
    ord("b"): lambda m: m._build(),
}
