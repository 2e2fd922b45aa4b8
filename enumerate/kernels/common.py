"""What the kernels share: one-instruction operations on words, and hashes instead of random state."""

from __future__ import annotations

from typing import Any

from numba import config, njit, types, uint64
from numba.extending import intrinsic

ZERO, ONE = uint64(0), uint64(1)


@intrinsic
def popcount(typing_context: Any, word: Any) -> Any:
    """The number of set bits: one instruction."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), emit


@intrinsic
def lowest(typing_context: Any, word: Any) -> Any:
    """The number of the lowest set bit: one instruction; the word is never zero."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], context.get_constant(types.boolean, True))

    return types.uint64(types.uint64), emit


@intrinsic
def highest(typing_context: Any, word: Any) -> Any:
    """The number of the highest set bit: one instruction; the word is never zero."""

    def emit(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        zeros = builder.ctlz(args[0], context.get_constant(types.boolean, True))
        return builder.sub(context.get_constant(types.uint64, 63), zeros)

    return types.uint64(types.uint64), emit


if config.DISABLE_JIT:  # kernels as plain Python, for coverage: the instructions do not exist there

    def popcount(word):
        return uint64(int(word).bit_count())

    def lowest(word):
        return uint64((int(word) & -int(word)).bit_length() - 1)

    def highest(word):
        return uint64(int(word).bit_length() - 1)


@njit(inline="always")
def mix(x):
    """Steele, Lea and Flood's SplitMix64 finaliser: 64 bits in, 64 well-mixed bits out."""
    x = uint64(x) + uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> uint64(27))) * uint64(0x94D049BB133111EB)
    return x ^ (x >> uint64(31))


@njit(inline="always")
def nth_bit(word, n):
    """The number of the set bit that has n set bits below it."""
    for _ in range(n):
        word &= word - ONE
    return lowest(word)
