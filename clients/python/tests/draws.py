"""Seeds of games: the seed function that the proto files describe."""

from __future__ import annotations

_MASK = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
# The stream of `word` that gives whole games their seeds.
GAME = 3


def word(seed: int, tag: int, n: int) -> int:
    """The n-th 64-bit word of the stream `tag` of a seed: the seed function that the proto files define."""

    def mix(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    return mix((mix((seed + (tag + 1) * _GOLDEN) & _MASK) + (n + 1) * _GOLDEN) & _MASK)
