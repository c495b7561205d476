"""Checks of arguments before anything is sent. Each error has the argument's name, its value and the expected values.

The server decides what the game allows; these checks refuse only values that no message could hold. They accept numpy's
numbers, and integers written as floats, such as `max_pieces=1e6`. True and False are not numbers.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks.names import expected as expected_names
from tetrion._checks.names import plain
from tetrion._pb import messages as pb
from tetrion.errors import InvalidArgumentError

U32, U64 = 2**32 - 1, 2**64 - 1
# The smallest signed 64-bit integer.
I64 = -(2**63)
# Most bytes of a request.
_MAX_BYTES = 64 << 20
TETROMINOES = "IOTZSJL"
PIECES = f"a string of the letters {TETROMINOES}"


def wrong(field: str, value: object, expected: str) -> InvalidArgumentError:
    """The error for a wrong value."""
    # Show a numpy number like a Python number.
    shown = _item(value) if isinstance(value, np.generic) else value
    return InvalidArgumentError(field, f"is {reprlib.repr(shown)}, expected {expected}")


def array(field: str, value: Any, itemsize: int = 1) -> npt.NDArray[Any]:
    """An argument as an array, without a conversion of its elements.

    Args:
        field: Name of the argument.
        value: The argument.
        itemsize: Bytes of an element in a request.

    Raises:
        InvalidArgumentError: Elements are hidden by a mask, or are points or spans of time; or rows have different lengths,
            or no request could hold that many elements, as in a view that repeats one.
    """
    if isinstance(value, np.ma.MaskedArray):
        raise InvalidArgumentError(field, "is a masked array, expected one without a mask")
    try:
        given = np.asarray(value)
    except ValueError:  # Rows of different lengths.
        raise wrong(field, value, "rows of one length") from None
    if given.dtype.kind in "mM":
        raise InvalidArgumentError(field, f"has elements of {given.dtype}, expected numbers")
    if given.size * itemsize > _MAX_BYTES:
        raise InvalidArgumentError(field, f"has {given.size} elements, expected at most {_MAX_BYTES // itemsize}")
    return given


def _item(value: Any) -> Any:
    """A number of numpy, or the only element of an array, as a Python number. Other values are returned unchanged."""
    is_number = isinstance(value, (np.generic, np.ndarray)) and value.size == 1 and value.dtype.kind not in "mM"
    return value.item() if is_number and not isinstance(value, np.ma.MaskedArray) else value


def integer(field: str, value: Any, low: int = 0, high: int = U32, expected: str = "", *, allow_float: bool = True) -> int:
    """Checks an integer from `low` to `high`. The error says that this was expected, or `expected`."""
    number = _item(value)
    if allow_float and isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not low <= number <= high:
        raise wrong(field, value, expected or f"an integer from {low} to {high}")
    return number


def field_integer(field: str, value: Any, high: int) -> int:
    """Checks an integer that fits a message field. The game allows much less, which the server checks."""
    is_large = isinstance(value, (int, float, np.number)) and value > high
    return integer(field, value, 0, high, "a smaller integer" if is_large else "an integer, 0 or more")


def limit(field: str, value: Any, high: int = U32) -> int:
    """A limit in the form of messages: an integer of at least 1, or None for 0, which means the server's limit or none."""
    return 0 if value is None else integer(field, value, 1, high)


def number(field: str, value: Any, low: float = -math.inf, expected: str = "a number", high: float = math.inf) -> float:
    """Checks a number from `low` to `high`, not NaN."""
    given = _item(value)
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not low <= given <= high:
        raise wrong(field, value, expected)
    return float(given)


def flag(field: str, value: Any) -> bool:
    """Checks that a value is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise wrong(field, value, "True or False")
    return bool(value)


def string(field: str, value: Any, expected: str = "a string") -> str:
    """Checks a string."""
    if not isinstance(value, str):
        raise wrong(field, value, expected)
    try:
        value.encode()
    except UnicodeEncodeError:  # Half of a surrogate pair, as in the names of files that are not UTF-8.
        raise wrong(field, value, f"{expected} in Unicode") from None
    return str(value)


def choice(field: str, value: Any, known: Iterable[str]) -> str:
    """One of the known names, in any spelling: `SameStep` and `same-step` become `same_step`."""
    names = list(known)
    given = string(field, value, f"one of {', '.join(names)}")
    for name in names:
        if plain(name) == plain(given):
            return name
    raise InvalidArgumentError(field, f"is {given!r}{expected_names(given, names)}")


def duration(field: str, seconds: Any) -> pb.Duration:
    """A number of seconds in the form of messages, to the microsecond."""
    expected = "seconds, 0 or more"
    try:
        span = timedelta(seconds=number(field, seconds, 0, expected))
    except OverflowError:
        raise wrong(field, seconds, expected) from None
    return pb.Duration(seconds=span.days * 86400 + span.seconds, nanos=1000 * span.microseconds)


def seconds(duration: pb.Duration) -> float:
    """The seconds of a message."""
    return float(duration.seconds + duration.nanos / 1e9)


def items(field: str, value: Any, expected: str) -> list[Any]:
    """A list of anything. Refuses strings and bytes, which Python could turn into lists of letters."""
    if isinstance(value, (str, bytes, bytearray, memoryview, Mapping)) or not isinstance(value, Iterable):
        raise wrong(field, value, expected)
    try:
        return list(value)
    except TypeError:  # An array without dimensions.
        raise wrong(field, value, expected) from None


def names(field: str, value: Any, example: str) -> list[str]:
    """A list of names."""
    listed = items(field, value, f"a list of names such as [{example!r}]")
    return [string(f"{field}[{place}]", name, f"a name such as {example!r}") for place, name in enumerate(listed)]


def integers(field: str, value: Any, expected: str, high: int, low: int = 0) -> list[int]:
    """A list of integers from `low` to `high`."""
    if isinstance(value, np.ndarray):
        value = array(field, value, 4)
    listed = value.tolist() if isinstance(value, np.ndarray) and value.ndim == 1 else items(field, value, expected)
    if all(type(number) is int and low <= number <= high for number in listed):
        return list(listed)
    return [integer(f"{field}[{place}]", number, low, high) for place, number in enumerate(listed)]


def seed(field: str, value: Any) -> int:
    """A 64-bit episode seed. Negative numbers stand for the same bits without a sign: `infos["seed"]` is int64."""
    return integer(field, value, I64, U64) & U64


def seeds(field: str, value: Any) -> list[int]:
    """A list of episode seeds."""
    return [number & U64 for number in integers(field, value, "a list of seeds", U64, I64)]


def pieces(field: str, value: Any) -> list[str]:
    """Piece sequences: one string per environment or game; a single string is one sequence."""
    if isinstance(value, str):
        return [value]
    listed = items(field, value, f"a list, each {PIECES}")
    return [string(f"{field}[{place}]", letters, PIECES) for place, letters in enumerate(listed)]


def columns(field: str, value: Any) -> list[list[int]]:
    """Columns of holes: a list per piece sequence."""
    listed = items(field, value, "a list of columns per piece sequence")
    return [integers(f"{field}[{place}]", holes, "a list of columns", U32) for place, holes in enumerate(listed)]


def weights(field: str, value: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Weights as float64: one row or several.

    Raises:
        InvalidArgumentError: The rows have different lengths, or a weight is not finite.
    """
    given = array(field, value, 8)
    if given.ndim not in (1, 2) or given.size == 0 or given.dtype.kind not in "iuf":
        raise wrong(field, value, "numbers, one row of them or several of one length")
    matrix = given.astype(np.float64)
    if not np.isfinite(matrix).all():
        index = tuple(np.argwhere(~np.isfinite(matrix))[0])
        place = ", ".join(map(str, index))
        raise wrong(f"{field}[{place}]", float(matrix[index]), "a finite number")
    return matrix
