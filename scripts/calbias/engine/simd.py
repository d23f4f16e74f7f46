"""Vectors of eight numbers as values in compiled functions, with the same bits on every processor.

A function that is decorated with ``njit`` may hold vectors of eight float64 (FLOATS), eight uint64
(WORDS) or eight truth values (TRUTHS), and may combine them with the operators below, lane by lane,
also with a plain number. LLVM compiles each operation to the registers that the processor has: one
step of AVX-512, two of AVX2, four of SSE. Products and sums are never contracted to fused
multiply-adds and the order of sums is written out, so that the bits do not depend on the processor.

    load, store                a vector from, or to, eight consecutive elements of an array
    store_groups               four vectors as the rows of eight groups of four
    gather                     eight elements of an array
    lanes_from                 eight of the lanes of two vectors, shifted
    gather_rows                eight rows of a table, transposed: a vector for each column
    copies                     one number in all lanes
    select                     the first vector where a truth value holds, else the second; also
                               of single numbers
    bits_of, float_of          a float64 and its 64 bits, also of single numbers
    prefix_sums, last_lane     partial sums over the lanes; the last lane in all lanes
    sum_of_lanes               the sum, in pairs, pairs of pairs and so on
    first_true                 the number of the first lane that is true, 8 if none is
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.errors import RequireLiteralValue, TypingError
from numba.extending import intrinsic, lower_builtin, models, register_model, type_callable

LANES = 8
_LLVM = {
    types.float64: ir.DoubleType(),
    types.uint64: ir.IntType(64),
    types.boolean: ir.IntType(1),
}


class Vector(types.Type):
    """The numba type of eight elements of one type."""

    def __init__(self, element):
        self.element = element
        super().__init__(name=f"Vector({element})")


FLOATS, WORDS, TRUTHS = Vector(types.float64), Vector(types.uint64), Vector(types.boolean)


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager, vector):
        super().__init__(manager, vector, ir.VectorType(_LLVM[vector.element], LANES))


def _define(symbol, operand, result, instruction):
    """Define an operator between vectors, and between a vector and a number, by an instruction."""

    def is_allowed(kind):
        return kind == operand or isinstance(kind, types.Number)

    @type_callable(symbol)
    def type_of(context):
        def typer(left, right):
            if operand in (left, right) and is_allowed(left) and is_allowed(right):
                return result
            return None

        return typer

    def generate(context, builder, signature, arguments):
        vectors = []
        for kind, value in zip(signature.args, arguments, strict=True):
            if kind != operand:
                value = _broadcast(builder, context.cast(builder, value, kind, operand.element))
            vectors.append(value)
        return instruction(builder, *vectors)

    for kinds in ((operand, operand), (operand, types.Number), (types.Number, operand)):
        lower_builtin(symbol, *kinds)(generate)


_define(operator.add, FLOATS, FLOATS, ir.IRBuilder.fadd)
_define(operator.sub, FLOATS, FLOATS, ir.IRBuilder.fsub)
_define(operator.mul, FLOATS, FLOATS, ir.IRBuilder.fmul)
_define(operator.truediv, FLOATS, FLOATS, ir.IRBuilder.fdiv)
_define(operator.lt, FLOATS, TRUTHS, lambda builder, a, b: builder.fcmp_ordered("<", a, b))
_define(operator.gt, FLOATS, TRUTHS, lambda builder, a, b: builder.fcmp_ordered(">", a, b))
_define(operator.ge, FLOATS, TRUTHS, lambda builder, a, b: builder.fcmp_ordered(">=", a, b))
_define(operator.add, WORDS, WORDS, ir.IRBuilder.add)
_define(operator.sub, WORDS, WORDS, ir.IRBuilder.sub)
_define(operator.mul, WORDS, WORDS, ir.IRBuilder.mul)
_define(operator.and_, WORDS, WORDS, ir.IRBuilder.and_)
_define(operator.or_, WORDS, WORDS, ir.IRBuilder.or_)
_define(operator.xor, WORDS, WORDS, ir.IRBuilder.xor)
_define(operator.lshift, WORDS, WORDS, ir.IRBuilder.shl)
_define(operator.rshift, WORDS, WORDS, ir.IRBuilder.lshr)


@intrinsic
def load(typing_context, array, i):
    """Return the vector of ``array[i:i + 8]``, float64 or uint64."""

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        return builder.load(pointer, align=8)

    return Vector(_element(array))(array, i), generate


@intrinsic
def store(typing_context, array, i, vector):
    """Set ``array[i:i + 8]`` to a vector."""
    _element(array)

    def generate(context, builder, signature, arguments):
        pointer = _pointer(context, builder, signature, arguments)
        builder.store(arguments[2], pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, i, vector), generate


@intrinsic
def store_groups(typing_context, array, i, a, b, c, d):
    """Set ``array[i:i + 32]`` to a[0], b[0], c[0], d[0], a[1], b[1] and so on, up to d[7]."""
    _element(array)

    def generate(context, builder, signature, arguments):
        a, b, c, d = arguments[2:]
        for half in (0, 4):
            pair = [lane for k in range(half, half + 4) for lane in (k, k + LANES)]
            ab, cd = _shuffle(builder, a, b, pair), _shuffle(builder, c, d, pair)
            for quarter in (0, 4):
                four = [quarter + lane for lane in (0, 1, 8, 9, 2, 3, 10, 11)]
                offset = 4 * half + 2 * quarter
                pointer = _pointer(context, builder, signature, arguments, offset)
                builder.store(_shuffle(builder, ab, cd, four), pointer, align=8)
        return context.get_dummy_value()

    return types.void(array, i, a, b, c, d), generate


@intrinsic
def gather_rows(typing_context, table, rows):
    """Return eight FLOATS: vector k holds table[8·row + k] for the eight ``rows``, WORDS.

    The rows, of 64 bytes, are loaded in halves. The halves of lanes k and k + 4 go into one
    vector, and the vectors are transposed in two steps.
    """
    columns = types.UniTuple(FLOATS, LANES)

    def generate(context, builder, signature, arguments):
        data, size = _data(context, builder, signature, arguments)
        half_row = ir.VectorType(ir.DoubleType(), 4).as_pointer()
        threes = ir.Constant(ir.VectorType(ir.IntType(64), LANES), [3] * LANES)
        starts = builder.shl(arguments[1], threes)
        vectors = []
        for half in (0, 4):
            halves = []
            for lane in range(LANES):
                start = builder.extract_element(starts, ir.IntType(32)(lane))
                start = builder.add(start, ir.IntType(64)(half))
                address = _address(context, builder, data, size, start, 4)
                halves.append(builder.load(builder.bitcast(address, half_row), align=8))
            both = [_shuffle(builder, halves[k], halves[k + 4], range(LANES)) for k in range(4)]
            for distance in (1, 2):
                both = _exchanged(builder, both, distance)
            vectors += both
        return context.make_tuple(builder, signature.return_type, vectors)

    return columns(table, rows), generate


@intrinsic
def gather(typing_context, array, positions):
    """Return the elements of an array at eight ``positions``, WORDS: FLOATS, of integers WORDS."""
    result = FLOATS if array.dtype == types.float64 else WORDS

    def generate(context, builder, signature, arguments):
        data, size = _data(context, builder, signature, arguments)
        vector = ir.Constant(ir.VectorType(_LLVM[result.element], LANES), ir.Undefined)
        for lane in range(LANES):
            index = ir.IntType(32)(lane)
            position = builder.extract_element(arguments[1], index)
            value = builder.load(_address(context, builder, data, size, position, 1))
            vector = builder.insert_element(vector, value, index)
        return vector

    return result(array, positions), generate


def _exchanged(builder, vectors, distance):
    """Return four vectors, one step of the transposition of their blocks of four lanes further."""
    result = list(vectors)
    lanes = range(LANES)
    for k in range(4):
        if not k & distance:
            pair = vectors[k], vectors[k + distance]
            low = [j if not j & distance else LANES + j - distance for j in lanes]
            high = [j + distance if not j & distance else LANES + j for j in lanes]
            result[k] = _shuffle(builder, *pair, low)
            result[k + distance] = _shuffle(builder, *pair, high)
    return result


@intrinsic
def copies(typing_context, number):
    """Return the vector with a float64 or uint64 in every lane."""

    def generate(context, builder, signature, arguments):
        return _broadcast(builder, arguments[0])

    return Vector(number)(number), generate


@intrinsic
def select(typing_context, truths, a, b):
    """Return the lanes of ``a`` where ``truths`` holds and the lanes of ``b`` elsewhere.

    A plain number stands in all lanes. One truth value chooses between two numbers.
    """
    element = getattr(a, "element", a)
    is_vector = any(isinstance(kind, Vector) for kind in (truths, a, b))
    result = Vector(element) if is_vector else element

    def generate(context, builder, signature, arguments):
        values = [
            value if kind == result else _broadcast(builder, value)
            for kind, value in zip((a, b), arguments[1:], strict=True)
        ]
        return builder.select(arguments[0], *values)

    return result(truths, a, b), generate


@intrinsic
def bits_of(typing_context, x):
    """Return the 64 bits of a float64, as a uint64, or of each lane."""
    return _reinterpreted(x, WORDS if isinstance(x, Vector) else types.uint64)


@intrinsic
def float_of(typing_context, x):
    """Return the float64 with the bits of a uint64, or of each lane."""
    return _reinterpreted(x, FLOATS if isinstance(x, Vector) else types.float64)


def _reinterpreted(kind, result):
    def generate(context, builder, signature, arguments):
        return builder.bitcast(arguments[0], context.get_value_type(result))

    return result(kind), generate


@intrinsic
def prefix_sums(typing_context, vector):
    """Return the vector whose lane k is the sum of lanes 0 to k."""

    def generate(context, builder, signature, arguments):
        sums, zeros = arguments[0], ir.Constant(arguments[0].type, None)
        for step in (1, 2, 4):
            mask = [LANES if lane < step else lane - step for lane in range(LANES)]
            sums = builder.fadd(sums, _shuffle(builder, sums, zeros, mask))
        return sums

    return vector(vector), generate


@intrinsic
def lanes_from(typing_context, first, second, start):
    """Return eight lanes from lane ``start`` (a literal) of the 16 of two vectors on."""
    if not isinstance(start, types.IntegerLiteral):
        raise RequireLiteralValue("start")

    def generate(context, builder, signature, arguments):
        lanes = range(start.literal_value, start.literal_value + LANES)
        return _shuffle(builder, *arguments[:2], lanes)

    return first(first, second, start), generate


@intrinsic
def last_lane(typing_context, vector):
    """Return the vector with the last lane of ``vector`` in every lane."""

    def generate(context, builder, signature, arguments):
        return _shuffle(builder, arguments[0], arguments[0], [LANES - 1] * LANES)

    return vector(vector), generate


@intrinsic
def sum_of_lanes(typing_context, vector):
    """Return the sum of the lanes of FLOATS, in pairs, pairs of pairs and so on."""

    def generate(context, builder, signature, arguments):
        total = arguments[0]
        for half in (4, 2, 1):
            low = _shuffle(builder, total, total, range(half))
            total = builder.fadd(low, _shuffle(builder, total, total, range(half, 2 * half)))
        return builder.extract_element(total, ir.IntType(32)(0))

    return vector.element(vector), generate


@intrinsic
def first_true(typing_context, truths):
    """Return the number of the first lane of TRUTHS that is true, 8 if none is; uint64."""

    def generate(context, builder, signature, arguments):
        bits = builder.bitcast(arguments[0], ir.IntType(LANES))
        bits = builder.or_(builder.zext(bits, ir.IntType(64)), ir.IntType(64)(1 << LANES))
        return builder.cttz(bits, ir.IntType(1)(1))

    return types.uint64(truths), generate


def _element(array):
    """Return the type of an array's elements; refuse one that is not contiguous."""
    if array.layout != "C" or array.dtype not in (types.float64, types.uint64):
        raise TypingError(f"{array}: not a contiguous array of float64 or uint64")
    return array.dtype


def _data(context, builder, signature, arguments):
    """Return the address and the size of the array, argument 0."""
    array = context.make_array(signature.args[0])(context, builder, arguments[0])
    return array.data, array.nitems


def _address(context, builder, data, size, start, count):
    """Return the address of ``count`` elements; with NUMBA_BOUNDSCHECK they must be inside."""
    if context.enable_boundscheck:
        for end in (start, builder.add(start, ir.IntType(64)(count - 1))):
            cgutils.do_boundscheck(context, builder, end, size)
    return builder.gep(data, [start])


def _pointer(context, builder, signature, arguments, offset=0):
    """Return the address of eight elements, from element i (argument 1) + offset on."""
    i = context.cast(builder, arguments[1], signature.args[1], types.intp)
    data, size = _data(context, builder, signature, arguments)
    start = builder.add(i, ir.IntType(64)(offset))
    address = _address(context, builder, data, size, start, LANES)
    vector = ir.VectorType(_LLVM[signature.args[0].dtype], LANES)
    return builder.bitcast(address, vector.as_pointer())


def _broadcast(builder, number):
    nothing = ir.Constant(ir.VectorType(number.type, LANES), ir.Undefined)
    first = builder.insert_element(nothing, number, ir.IntType(32)(0))
    return _shuffle(builder, first, nothing, [0] * LANES)


def _shuffle(builder, a, b, lanes):
    lanes = list(lanes)
    mask = ir.Constant(ir.VectorType(ir.IntType(32), len(lanes)), lanes)
    return builder.shuffle_vector(a, b, mask)
