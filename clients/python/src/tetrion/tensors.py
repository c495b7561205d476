"""Tensors of the protocol as numpy arrays, and back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from tetrion._pb import tensor_pb2 as pb

DTYPES: dict[pb.DataType, np.dtype[np.generic]] = {
    pb.DATA_TYPE_UINT8: np.dtype("u1"),
    pb.DATA_TYPE_INT8: np.dtype("i1"),
    pb.DATA_TYPE_UINT16: np.dtype("<u2"),
    pb.DATA_TYPE_INT32: np.dtype("<i4"),
    pb.DATA_TYPE_UINT32: np.dtype("<u4"),
    pb.DATA_TYPE_UINT64: np.dtype("<u8"),
    pb.DATA_TYPE_FLOAT32: np.dtype("<f4"),
    pb.DATA_TYPE_FLOAT64: np.dtype("<f8"),
    pb.DATA_TYPE_BOOL: np.dtype("?"),
}
_DATA_TYPES = {dtype: data_type for data_type, dtype in DTYPES.items()}


def to_numpy(tensor: pb.Tensor) -> npt.NDArray[np.generic]:
    """The tensor as a read-only view of the message's bytes, without a copy."""
    return np.frombuffer(tensor.data, DTYPES[tensor.dtype]).reshape(tuple(tensor.shape))


def from_numpy(array: npt.ArrayLike, dtype: npt.DTypeLike | None = None) -> pb.Tensor:
    """The array as a tensor, of `dtype` if one is given.

    Raises:
        TypeError: The array has another type, and a value would change by the conversion.
    """
    given = np.asarray(array)
    wanted = np.dtype(dtype) if dtype is not None else given.dtype
    data = np.ascontiguousarray(given, dtype=wanted.newbyteorder("<"))
    if given.dtype != wanted and not np.array_equal(data, given):
        raise TypeError(f"expected an array of {wanted}, got {given.dtype} with values that are none")
    if data.dtype not in _DATA_TYPES:
        raise TypeError(f"no tensor holds {data.dtype}")
    # ascontiguousarray makes a row of a scalar, so the shape is the given one's.
    return pb.Tensor(dtype=_DATA_TYPES[data.dtype], shape=given.shape, data=data.tobytes())


def by_name(specs: Sequence[str], tensors: Iterable[pb.Tensor]) -> dict[str, npt.NDArray[np.generic]]:
    """Tensors by the names of their specs, which come in the same order."""
    return {name: to_numpy(tensor) for name, tensor in zip(specs, tensors, strict=True)}
