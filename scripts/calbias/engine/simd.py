"""Machine operations that numba lacks: the bits of a float64, and arithmetic on several lanes.

Lanes are spelled out, not left to the compiler's choice, and products and sums are never contracted
to fused multiply-adds: every machine gives the same bits, in as many steps as its registers take.
"""

from llvmlite import ir
from numba import types
from numba.core.errors import TypingError
from numba.extending import intrinsic

_DOUBLE, _INDEX = ir.DoubleType(), ir.IntType(32)
LANES = 8


@intrinsic
def bits_of(typing_context, x):
    """Return the 64 bits of a float64 as a uint64."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@intrinsic
def float_of(typing_context, x):
    """Return the float64 whose bits are those of a uint64."""

    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], _DOUBLE)

    return types.float64(types.uint64), generate


@intrinsic
def two_cubics(typing_context, table, k, t):
    """Return (a0 + a1·t + a2·t² + a3·t³, and the same in b) for a float64 table and uint64 k.

    ``table[k:k + 8]`` holds a0 b0 a1 b1 a2 b2 a3 b3. Evaluated as (x0 + t²·x2) + t·(x1 + t²·x3).
    """
    pair = types.UniTuple(types.float64, 2)

    def generate(context, builder, signature, arguments):
        table = _Memory(context, builder, signature.args[0], arguments[0])
        k, t = arguments[1:]
        square = _Lanes.copies(builder, builder.fmul(t, t), 4)
        sums = table.load(k, 0, 4) + square * table.load(k, 4, 4)
        both = sums.pick(0, 1) + _Lanes.copies(builder, t, 2) * sums.pick(2, 3)
        return context.make_tuple(builder, signature.return_type, [both.lane(0), both.lane(1)])

    return pair(table, types.uint64, types.float64), generate


@intrinsic
def add_power_sums(typing_context, scores, cum_hit, i, offset, sign, scale, shift, sums):
    """Add the powers of eight samples, ranks i to i + 7, to the lanes of ``sums`` (48,), float64.

    With x = (offset + sign·score)·scale - shift these are x, x², x³ and hit·x, hit·x², hit·x³.
    """
    number = types.float64
    arguments = (scores, cum_hit, types.uint64, number, number, number, number, sums)

    def generate(context, builder, signature, arguments):
        scores, cum_hit, sums = (
            _Memory(context, builder, signature.args[k], arguments[k]) for k in (0, 1, 7)
        )
        i = arguments[2]
        offset, sign, scale, shift = (
            _Lanes.copies(builder, value, LANES) for value in arguments[3:7]
        )
        x = (offset + sign * scores.load(i, 0, LANES)) * scale - shift
        hit_x = (cum_hit.load(i, 1, LANES) - cum_hit.load(i, 0, LANES)) * x
        square = x * x
        terms = (x, square, square * x, hit_x, hit_x * x, hit_x * square)
        start = ir.Constant(ir.IntType(64), 0)
        for k, term in enumerate(terms):
            sums.store(start, k * LANES, sums.load(start, k * LANES, LANES) + term)
        return context.get_dummy_value()

    return types.void(*arguments), generate


@intrinsic
def sum_of_lanes(typing_context, sums, k):
    """Return the sum of ``sums[k:k + 8]``, in pairs, pairs of pairs and so on."""

    def generate(context, builder, signature, arguments):
        lanes = _Memory(context, builder, signature.args[0], arguments[0])
        total = lanes.load(arguments[1], 0, LANES)
        for half in (4, 2, 1):
            total = total.pick(*range(half)) + total.pick(*range(half, 2 * half))
        return total.lane(0)

    return types.float64(sums, types.uint64), generate


class _Lanes:
    """A vector of float64 with the arithmetic of its lanes."""

    def __init__(self, builder, value):
        self.builder, self.value = builder, value

    @classmethod
    def copies(cls, builder, number, count):
        nothing = ir.Constant(ir.VectorType(_DOUBLE, count), ir.Undefined)
        return cls(builder, builder.insert_element(nothing, number, _INDEX(0))).pick(*[0] * count)

    def pick(self, *lanes):
        mask = ir.Constant(ir.VectorType(_INDEX, len(lanes)), list(lanes))
        return _Lanes(self.builder, self.builder.shuffle_vector(self.value, self.value, mask))

    def lane(self, k):
        return self.builder.extract_element(self.value, _INDEX(k))

    def __add__(self, other):
        return _Lanes(self.builder, self.builder.fadd(self.value, other.value))

    def __sub__(self, other):
        return _Lanes(self.builder, self.builder.fsub(self.value, other.value))

    def __mul__(self, other):
        return _Lanes(self.builder, self.builder.fmul(self.value, other.value))


class _Memory:
    """The elements of a contiguous float64 array, loaded and stored several at a time.

    Another array is refused: its elements are not where they would be read.
    """

    def __init__(self, context, builder, array_type, array):
        if array_type.layout != "C" or array_type.dtype != types.float64:
            raise TypingError(f"{array_type}: not a contiguous array of float64")
        self.builder = builder
        self.data = context.make_array(array_type)(context, builder, array).data

    def load(self, start, offset, count):
        return _Lanes(self.builder, self.builder.load(self._at(start, offset, count), align=8))

    def store(self, start, offset, lanes):
        count = lanes.value.type.count
        self.builder.store(lanes.value, self._at(start, offset, count), align=8)

    def _at(self, start, offset, count):
        place = self.builder.add(start, ir.Constant(start.type, offset))
        element = self.builder.gep(self.data, [place])
        return self.builder.bitcast(element, ir.VectorType(_DOUBLE, count).as_pointer())
