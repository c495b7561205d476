"""Readers of tensors, whose errors are `ValueError`s without the name of the field.

In this protocol an array of one element can fill any shape, so a few bytes can ask for any amount of memory. The readers
compare the shape with the elements that have arrived, and make no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_INTEGERS = ("int8s", "int32s", "int64s", "uint8s", "uint32s", "uint64s")
_NUMBERS = (*_INTEGERS, "floats", "doubles")
# Most bytes of a name. Errors show an unknown name, so it must not be long.
_MAX_NAME_BYTES = 128


def int32(tensor: Any) -> int:
    """One INT32. Other types are refused, not converted."""
    return int(_scalar(tensor, ("int32s",), "INT32"))


def integer(tensor: Any) -> int:
    """One integer of any type."""
    return int(_scalar(tensor, _INTEGERS, "an integer"))


def flag(tensor: Any) -> bool:
    """One integer, 0 or 1."""
    value = integer(tensor)
    if value not in (0, 1):
        raise ValueError(f"is {value}, expected 0 or 1")
    return bool(value)


def number(tensor: Any) -> float:
    """One number of any numeric type."""
    return float(_scalar(tensor, _NUMBERS, "a number"))


def four_numbers(tensor: Any) -> list[float]:
    """A row of four numbers; a single element stands for all of them."""
    elements = _elements(tensor, _NUMBERS, "numbers")
    if (len(elements), list(tensor.shape)) not in ((4, [4]), (4, [-1]), (1, [4])):
        raise _wrong_shape(tensor, elements, "four numbers of shape [4]")
    return [float(element) for element in elements] * (4 // len(elements))


def text(tensor: Any) -> str:
    """One text."""
    return str(_scalar(tensor, ("strings",), "STRING"))


def name(tensor: Any) -> str:
    """One text, no longer than a name."""
    value = text(tensor)
    size = len(value.encode())
    if size > _MAX_NAME_BYTES:
        raise ValueError(f"has {size} bytes, expected at most {_MAX_NAME_BYTES}")
    return value


def name_or_names(tensor: Any) -> str | list[str]:
    """A name, or a row of names, which is a list even if it has a single one."""
    if not tensor.shape:
        return name(tensor)
    elements = _elements(tensor, ("strings",), "STRING")
    if not elements or list(tensor.shape) not in ([len(elements)], [-1]):
        raise _wrong_shape(tensor, elements, "a text or a row of texts")
    return list(elements)


def _elements(tensor: Any, kinds: Sequence[str], expected: str) -> Sequence[Any]:
    kind = tensor.WhichOneof("payload")
    if kind not in kinds:
        raise ValueError(f"has {kind[:-1].upper() if kind else 'no'} elements, expected {expected}")
    elements: Sequence[Any] = getattr(tensor, kind).array
    # INT8 elements are bytes.
    return memoryview(elements).cast("b") if kind == "int8s" else elements  # type: ignore[arg-type]


def _scalar(tensor: Any, kinds: Sequence[str], expected: str) -> Any:
    elements = _elements(tensor, kinds, expected)
    if tensor.shape or len(elements) != 1:
        raise _wrong_shape(tensor, elements, "a scalar")
    return elements[0]


def _wrong_shape(tensor: Any, elements: Sequence[Any], expected: str) -> ValueError:
    # A hostile shape can be as long as a request.
    more = ", ..." if len(tensor.shape) > 8 else ""
    return ValueError(
        f"has shape [{', '.join(map(str, tensor.shape[:8]))}{more}] and {len(elements)} elements, expected {expected}"
    )
