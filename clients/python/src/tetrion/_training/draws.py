"""Random numbers for searches, equal to those of `tetrion train` to the last bit.

ChaCha with eight rounds (Bernstein 2008), keyed by the seed and a separate domain, with one stream per generation. Normals
use Marsaglia's polar method. The logarithm follows fdlibm operation by operation, because `numpy.log` has several
implementations. All machines round sums, products, quotients and square roots alike, so numpy's own can be used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

_DOMAIN = b"tetrion optimizer draws."
_CONSTANTS = np.frombuffer(b"expand 32-byte k", "<u4")
_COLUMNS = ((0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15))
_DIAGONALS = ((0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14))

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
# The stream of `word` from which whole games get their seeds.
GAME = 3


def word(seed: int, tag: int, n: int) -> int:
    """The n-th 64-bit word of the stream `tag` of a seed: the seed function that the proto files define."""

    def mix(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    return mix((mix((seed + (tag + 1) * _GOLDEN) & _MASK) + (n + 1) * _GOLDEN) & _MASK)


class Draws:
    """The draws of a stream one by one, for a search that does not know in advance how many of each kind it needs."""

    def __init__(self, seed: int, stream: int) -> None:
        """Starts at the beginning of the stream."""
        self._words = _stream(seed, stream)
        self._spare: float | None = None

    def uniform(self) -> float:
        """A number in [0, 1), a multiple of 2**-53."""
        return (next(self._words) >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """A number in 0 to n - 1, from the upper word of a product."""
        return (next(self._words) * n) >> 64

    def normal(self) -> float:
        """A normal with mean 0 and standard deviation 1. They are generated in pairs."""
        if self._spare is not None:
            spare, self._spare = self._spare, None
            return spare
        while True:
            u, v = 2.0 * self.uniform() - 1.0, 2.0 * self.uniform() - 1.0
            s = u * u + v * v
            if 0.0 < s < 1.0:
                factor = math.sqrt(-2.0 * float(_log(np.array([s]))[0]) / s)
                self._spare = v * factor
                return u * factor


def _stream(seed: int, stream: int) -> Iterator[int]:
    """The endless words of a stream."""
    for block in itertools.count(0, 64):
        yield from _chacha8(seed, stream, block, 64).tolist()


def normals(seed: int, stream: int, count: int) -> npt.NDArray[np.float64]:
    """The first `count` standard normals of a stream, float64 [count]."""
    accepted: list[npt.NDArray[np.float64]] = []
    missing, first_block = count, 0
    while missing > 0:
        # A block gives four pairs of uniforms. A share of pi / 4 lies in the circle and gives two normals each.
        num_blocks = math.ceil(missing / (2 * math.pi)) + 4
        words = _chacha8(seed, stream, first_block, num_blocks)
        uniforms = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        u, v = (2.0 * uniforms - 1.0).reshape(-1, 2).T
        s = u * u + v * v
        inside = (s > 0.0) & (s < 1.0)
        u, v, s = u[inside], v[inside], s[inside]
        factor = np.sqrt(-2.0 * _log(s) / s)
        accepted.append(np.stack([u * factor, v * factor], axis=1).ravel())
        missing -= accepted[-1].size
        first_block += num_blocks
    return np.concatenate(accepted)[:count] if accepted else np.empty(0)


def _chacha8(seed: int, stream: int, first_block: int, num_blocks: int) -> npt.NDArray[np.uint64]:
    """Consecutive blocks of the keystream as little-endian words, uint64 [8 * num_blocks]."""
    key = np.frombuffer(seed.to_bytes(8, "little") + _DOMAIN, "<u4")
    counters = np.arange(first_block, first_block + num_blocks, dtype=np.uint64)
    start = np.empty((16, num_blocks), np.uint32)
    start[:4] = _CONSTANTS[:, None]
    start[4:12] = key[:, None]
    start[12] = counters.astype(np.uint32)
    start[13] = (counters >> np.uint64(32)).astype(np.uint32)
    start[14:] = np.array([stream & 0xFFFFFFFF, stream >> 32], np.uint32)[:, None]
    x = start.copy()
    for _ in range(4):
        for a, b, c, d in (*_COLUMNS, *_DIAGONALS):
            for left, right, turned, bits in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[left] += x[right]
                x[turned] ^= x[left]
                x[turned] = (x[turned] << np.uint32(bits)) | (x[turned] >> np.uint32(32 - bits))
    x += start
    low, high = x.T[:, 0::2].astype(np.uint64), x.T[:, 1::2].astype(np.uint64)
    words: npt.NDArray[np.uint64] = (low | (high << np.uint64(32))).ravel()
    return words


# fdlibm's e_log.c: the parts of ln 2, and the polynomial on [0, 0.1716] that stands for (log(1 + s) - log(1 - s) - 2 s) / s.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_EVEN = (3.999999999940941908e-01, 2.222219843214978396e-01, 1.531383769920937332e-01)
_ODD = (6.666666666666735130e-01, 2.857142874366239149e-01, 1.818357216161805012e-01, 1.479819860511658591e-01)
# Mantissas from this one on, about sqrt(2) / 2, are kept; smaller ones are doubled.
_ROOT_HALF = float(np.uint64(0x3FE6A09E00000000).view(np.float64))


def _log(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """The natural logarithm of positive numbers, with each operation in fdlibm's order."""
    mantissa, exponent = np.frexp(x)
    small = mantissa < _ROOT_HALF
    f = np.where(small, 2.0 * mantissa, mantissa) - 1.0
    k = (exponent - small).astype(np.float64)
    half_square = 0.5 * f * f
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = w * (_EVEN[0] + w * (_EVEN[1] + w * _EVEN[2]))
    odd = z * (_ODD[0] + w * (_ODD[1] + w * (_ODD[2] + w * _ODD[3])))
    return s * (half_square + (odd + even)) + k * _LN2_LOW - half_square + f + k * _LN2_HIGH
