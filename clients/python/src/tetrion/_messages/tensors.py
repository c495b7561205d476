"""Tensors of the protocol as numpy arrays, and back."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer
from tetrion._checks.names import unknown
from tetrion._pb import messages as pb
from tetrion.errors import InvalidArgumentError

DTYPES: dict[int, np.dtype[np.generic]] = {
    pb.DATA_TYPE_BOOL: np.dtype("?"),
    pb.DATA_TYPE_INT8: np.dtype("i1"),
    pb.DATA_TYPE_UINT8: np.dtype("u1"),
    pb.DATA_TYPE_INT16: np.dtype("<i2"),
    pb.DATA_TYPE_UINT16: np.dtype("<u2"),
    pb.DATA_TYPE_INT32: np.dtype("<i4"),
    pb.DATA_TYPE_UINT32: np.dtype("<u4"),
    pb.DATA_TYPE_INT64: np.dtype("<i8"),
    pb.DATA_TYPE_UINT64: np.dtype("<u8"),
    pb.DATA_TYPE_FLOAT16: np.dtype("<f2"),
    pb.DATA_TYPE_FLOAT32: np.dtype("<f4"),
    pb.DATA_TYPE_FLOAT64: np.dtype("<f8"),
}
_DATA_TYPES = {dtype: data_type for data_type, dtype in DTYPES.items()}


def to_numpy(tensor: pb.Tensor, name: str = "tensor") -> npt.NDArray[np.generic]:
    """The tensor as an array that owns its memory.

    Raises:
        InvalidAnswerError: The type is unknown, or the bytes do not match the shape. The error calls the tensor `name`.
    """
    try:
        return np.frombuffer(tensor.data, DTYPES[tensor.dtype]).reshape(tuple(tensor.shape)).copy()
    except (KeyError, ValueError):
        shape, size = list(tensor.shape), len(tensor.data)
        raise invalid_answer(f"{name} has the type {tensor.dtype}, the shape {shape} and {size} bytes") from None


def column(tensor: pb.Tensor, name: str, dtype: npt.DTypeLike, shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """The tensor of an answer, with the type and shape that the request asks for.

    Raises:
        InvalidAnswerError: The tensor has another type or another shape.
    """
    array = to_numpy(tensor, name)
    if array.shape != shape or array.dtype != dtype:
        raise invalid_answer(f"{name} is {array.dtype} {array.shape}, expected {np.dtype(dtype)} {shape}")
    return array


def from_numpy(
    array: npt.ArrayLike, dtype: npt.DTypeLike | None = None, name: str = "array", *, allow_float: bool = True
) -> pb.Tensor:
    """The array as a tensor, of type `dtype` if given. Errors call it `name`.

    Args:
        array: The array.
        dtype: Type of the tensor. None: the array's.
        name: Name of the argument.
        allow_float: Whether integers may be written as floats.

    Raises:
        InvalidArgumentError: The array has another type, and the conversion would change a value; or it is too large.
    """
    given = arguments.array(name, array, np.dtype(dtype).itemsize if dtype is not None else 1)
    wanted = np.dtype(dtype) if dtype is not None else given.dtype
    little = wanted.newbyteorder("<")
    if given.dtype == wanted:
        data, fits = given.astype(little, copy=False), True
    else:
        data = given
        try:
            # The comparison below finds NaN, which fits no integer, so numpy need not warn.
            with np.errstate(invalid="ignore") if given.dtype.kind == "f" else contextlib.nullcontext():
                data = given.astype(little)
            # Booleans are not numbers: a mask instead of actions or environments is a mistake.
            fits = given.dtype != np.bool_ and np.array_equal(data, given)
            # An empty list becomes an array of floats.
            fits = fits and (allow_float or given.dtype.kind in "iuO" or not given.size)
        except (TypeError, ValueError, OverflowError):  # Strings, or integers of more than 64 bits.
            fits = False
    if not fits:
        raise _misfit(name, given, wanted, allow_float=allow_float)
    if data.dtype not in _DATA_TYPES:
        raise InvalidArgumentError(name, f"has elements of {data.dtype}, which no tensor can hold")
    return pb.Tensor(dtype=_DATA_TYPES[data.dtype], shape=data.shape, data=data.tobytes())


def _misfit(name: str, given: npt.NDArray[Any], wanted: np.dtype[Any], *, allow_float: bool) -> InvalidArgumentError:
    """The error for the first value that `wanted` cannot hold; if there is none, for the first float."""
    if wanted.kind in "iu" and given.dtype != np.bool_:
        limits = np.iinfo(wanted)
        for takes_float in (True, allow_float):
            for index, value in np.ndenumerate(given):
                number = value.item() if isinstance(value, np.generic) else value
                integer = isinstance(number, int) or (takes_float and isinstance(number, float) and number.is_integer())
                if not (integer and limits.min <= number <= limits.max):
                    place = f"{name}[{', '.join(map(str, index))}]" if index else name
                    expected = f"an integer from {limits.min} to {limits.max}"
                    return InvalidArgumentError(place, f"is {number!r}, expected {expected}")
    return InvalidArgumentError(name, f"has elements of {given.dtype}, expected {wanted}")


class Specs:
    """The specs of the observations or the infos of a session.

    Attributes:
        places: For each name, the index of its tensor in an answer, in order.
        dtypes: Type of each tensor.
        shapes: Shape of a row of each tensor.
        row_bytes: Bytes of a row of all tensors.
    """

    __slots__ = ("dtypes", "places", "row_bytes", "shapes")

    def __init__(self, specs: Sequence[pb.TensorSpec]) -> None:
        """Reads the specs.

        Raises:
            InvalidAnswerError: A type is unknown, a bound does not fit its type, or a name occurs twice.
        """
        self.places = {spec.name: place for place, spec in enumerate(specs)}
        self.dtypes: list[np.dtype[Any]] = []
        self.shapes = [tuple(spec.shape) for spec in specs]
        for spec in specs:
            dtype: np.dtype[Any] | None = DTYPES.get(spec.dtype)
            limits = np.iinfo(dtype) if dtype is not None and dtype.kind in "iu" else None
            fits = limits is None or all(limits.min <= bound <= limits.max for bound in (spec.low, spec.high))
            if dtype is None or not fits or len(self.places) != len(specs):
                raise invalid_answer(f"the session has a field {spec.name!r} that no session can have")
            self.dtypes.append(dtype)
        sizes = (dtype.itemsize * math.prod(shape) for dtype, shape in zip(self.dtypes, self.shapes, strict=True))
        self.row_bytes = sum(sizes)

    def formats(self, rows: int) -> list[tuple[Any, tuple[int, ...]]]:
        """The types and shapes of arrays with so many rows."""
        return [(dtype, (rows, *shape)) for dtype, shape in zip(self.dtypes, self.shapes, strict=True)]


class Arrays(Mapping[str, npt.NDArray[np.generic]]):
    """The tensors of an answer by the names of their specs, as arrays, which are created when they are first read.

    The answer to a step has a dozen tensors, and most callers read three of them.

    Attributes:
        reader: Data that the reader of these arrays has prepared, if any; see `readers`.
    """

    __slots__ = ("_arrays", "_specs", "reader")

    def __init__(self, specs: Specs) -> None:
        """Stores the names of an answer's tensors."""
        self._arrays: dict[str, npt.NDArray[np.generic]] = {}
        self._specs = specs
        self.reader: Any = None

    def _array(self, place: int) -> npt.NDArray[np.generic]:
        """Creates the array with this index."""
        raise NotImplementedError

    def __getitem__(self, name: str) -> npt.NDArray[np.generic]:
        """The array of this name."""
        array = self._arrays.get(name)
        if array is None:
            places = self._specs.places
            if name not in places:
                raise KeyError(unknown("field of this session", name, places))
            array = self._arrays[name] = self._array(places[name])
        return array

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names in order."""
        return iter(self._specs.places)

    def __len__(self) -> int:
        """Number of arrays."""
        return len(self._specs.places)

    def __repr__(self) -> str:
        """All arrays, as a dict."""
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles as a dict of arrays."""
        return dict, (dict(self),)
