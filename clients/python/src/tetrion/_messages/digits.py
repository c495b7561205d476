"""The meaning of actions: numbers in a mixed radix, whose digits the server lists for each session."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tetrion._checks.failures import invalid_answer
from tetrion._checks.names import expected
from tetrion._messages.tensors import from_numpy, to_numpy
from tetrion.errors import InvalidArgumentError

# Far more than any rules have.
_MAX_NUMBERS = 2**31
# Longest words about digits that are kept.
_MAX_KEPT = 4096


class ActionDigit(NamedTuple):
    """A digit of an action.

    Attributes:
        name: `hold`, `orientation`, `column`, `row` or `spin` of a placement, or `key`.
        size: Number of values: 0 to `size - 1`.
        description: Meaning of the values.
    """

    name: str
    size: int
    description: str


Digits = tuple[ActionDigit, ...]


def read(digits: tuple[tuple[str, int, str], ...]) -> Digits:
    """The digits of an answer, most significant first: their names, sizes and meanings.

    Raises:
        InvalidAnswerError: There are no digits, or they allow too many numbers.
    """
    # Of a usual length; each list of placements has them.
    return (
        _read(digits) if sum(len(name) + len(about) for name, _, about in digits) < _MAX_KEPT else _read.__wrapped__(digits)
    )


@functools.lru_cache(maxsize=64)
def _read(digits: tuple[tuple[str, int, str], ...]) -> Digits:
    found = tuple(ActionDigit(*digit) for digit in digits)
    if not found or not 0 < np.prod([digit.size for digit in found], dtype=np.float64) <= _MAX_NUMBERS:
        raise invalid_answer(f"the digits of an action have {[digit.size for digit in found]} values")
    return found


def decode(digits: Digits, numbers: npt.ArrayLike, field: str) -> dict[str, npt.NDArray[np.int64]]:
    """The values of each digit, by its name.

    Raises:
        InvalidArgumentError: A number has no such digits.
    """
    sizes = tuple(digit.size for digit in digits)
    values = np.unravel_index(_numbers(field, numbers, math.prod(sizes)), sizes)
    return {digit.name: np.asarray(value) for digit, value in zip(digits, values, strict=True)}


def encode(digits: Digits, values: Mapping[str, npt.ArrayLike]) -> npt.NDArray[np.int32]:
    """The numbers with these digits; other digits are 0.

    Raises:
        InvalidArgumentError: A digit does not exist, or a value is not below its size.
    """
    names = [digit.name for digit in digits]
    for name in values:
        if name not in names:
            raise InvalidArgumentError(name, f"is no digit of an action{expected(name, names)}")
    arrays = [_numbers(digit.name, values.get(digit.name, 0), digit.size) for digit in digits]
    try:
        numbers = np.ravel_multi_index(np.broadcast_arrays(*arrays), tuple(digit.size for digit in digits))
    except ValueError:
        shapes = ", ".join(str(array.shape) for array in arrays)
        raise InvalidArgumentError("digits", f"have the shapes {shapes}, expected one shape") from None
    return np.asarray(numbers, np.int32)


def _numbers(field: str, given: npt.ArrayLike, size: int) -> npt.NDArray[np.int64]:
    """Integers from 0 to `size - 1`, in an array of any shape."""
    numbers: npt.NDArray[np.int64] = to_numpy(from_numpy(given, np.int64, field), field)  # type: ignore[assignment]
    wrong = numbers[(numbers < 0) | (numbers >= size)]
    if wrong.size:
        raise InvalidArgumentError(field, f"has {wrong.flat[0]}, expected integers from 0 to {size - 1}")
    return numbers
