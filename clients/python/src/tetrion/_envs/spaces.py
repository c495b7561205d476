"""Gymnasium spaces for the server's tensors, and the values that belong in them.

A piece is a name, not an amount, so its field is a category. The server sends it as a number with -1 for "none", which the
`Discrete` spaces of the learning libraries cannot hold. So here the largest value of a category means "none": in `current`,
`queue` and `held`, 0 to 6 are I O T Z S J L, and 7 is none.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from gymnasium import spaces

from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer
from tetrion._checks.names import expected
from tetrion._messages.tensors import DTYPES
from tetrion._pb import messages as pb
from tetrion.errors import InvalidArgumentError


def box(spec: pb.TensorSpec) -> spaces.Box:
    """The space of a tensor for one environment, with the server's bounds or, without those, the bounds of its type."""
    sent = signed(np.empty(0, DTYPES[spec.dtype]))
    translate = translation(sent)
    dtype: Any = (sent if translate is None else translate(sent)).dtype
    low, high = -np.inf, np.inf
    if np.issubdtype(dtype, np.integer):
        low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    low = spec.low if spec.has("low") else low
    high = spec.high if spec.has("high") else high
    return spaces.Box(dtype.type(low), dtype.type(high), tuple(spec.shape), dtype.type)


def category(spec: pb.TensorSpec) -> spaces.Discrete | spaces.MultiDiscrete:
    """The space of one category or a row of them, with one additional value for "none"."""
    values = int(spec.high) + 2
    if not spec.shape:
        return spaces.Discrete(values)
    return spaces.MultiDiscrete(np.full(tuple(spec.shape), values))


class Fields:
    """The observation fields of a session, in the types that Gymnasium and learners expect.

    Attributes:
        space: The space of one environment's observation, a `Dict`.
        names: The fields of answers that it contains, in order.
        none: For each category, the value that means "none".
        has_mask: Whether the observation also contains the action mask.
    """

    def __init__(self, specs: Sequence[pb.TensorSpec], num_actions: int = 0) -> None:
        """Creates the fields for the observations of a session.

        Args:
            specs: The server's specs of the observations. Fields without entries, such as a queue with a preview of 0, are
                omitted.
            num_actions: Length of `action_mask` in the observation; 0 for an observation without it.

        Raises:
            InvalidArgumentError: No field has entries.
        """
        shown = [spec for spec in specs if 0 not in spec.shape]
        if not shown:
            names = [spec.name for spec in specs]
            raise InvalidArgumentError(
                "observations", f"is {names}, which shows nothing under these rules: a preview of 0 has no queue"
            )
        fields: dict[str, spaces.Space[Any]] = {
            spec.name: category(spec) if spec.kind == pb.TENSOR_KIND_CATEGORY else box(spec) for spec in shown
        }
        self.none = {spec.name: int(spec.high) + 1 for spec in shown if spec.kind == pb.TENSOR_KIND_CATEGORY}
        self.names = list(fields)
        self.has_mask = num_actions > 0
        if num_actions:
            fields["action_mask"] = spaces.Box(0, 1, (num_actions,), np.int8)
        self.space = spaces.Dict(fields)


def signed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """A view that shows unsigned numbers of 64 bits as signed ones, bit for bit; another array as it is.

    PyTorch barely supports unsigned numbers. Seeds of 2**63 and more are negative then, and `arguments.seed` accepts them.
    """
    return array.view(np.int64) if array.dtype == np.uint64 else array


def translation(array: npt.NDArray[Any], none: int | None = None) -> Callable[[npt.NDArray[Any]], npt.NDArray[Any]] | None:
    """A function that gives arrays like this signed one the type that learners expect; None if it has that type.

    Unsigned numbers of more than eight bits become int64, with differences that do not wrap. So do categories, with `none`
    instead of -1.
    """
    if none is not None:
        return functools.partial(_categories, np.arange(none + 1))
    if array.dtype.kind == "u" and array.itemsize > 1:
        return lambda array: array.astype(np.int64)
    return None


def _categories(known: npt.NDArray[np.int64], array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Numbers of known categories, of which the last one stands for -1."""
    try:
        numbers: npt.NDArray[np.int64] = known[array]
    except IndexError:
        raise invalid_answer(f"a category is {array.max()}, expected -1 to {len(known) - 2}") from None
    return numbers


def ended_mask(num_actions: int) -> npt.NDArray[np.int8]:
    """The mask of an episode that has ended. It allows only action 0, so that a distribution over allowed actions exists."""
    mask = np.zeros(num_actions, np.int8)
    mask[0] = 1
    return mask


def known_options(options: Mapping[str, Any] | None, known: Iterable[str]) -> Mapping[str, Any]:
    """Checks the options of a reset.

    Raises:
        InvalidArgumentError: The options are not a dictionary, or one of them does not exist.
    """
    if not isinstance(options or {}, Mapping):
        raise arguments.wrong("options", options, "options by name")
    for name in options or {}:
        if name not in known:
            raise InvalidArgumentError("options", f"has {name!r}, which is not an option of reset{expected(name, known)}")
    return options or {}


def checked_seed(seed: Any, field: str = "seed") -> int | None:
    """Checks a seed from 0 to 2**64 - 1, or None.

    Raises:
        InvalidArgumentError: The seed does not fit into 64 bits.
    """
    return arguments.seed(field, seed) if seed is not None else None
