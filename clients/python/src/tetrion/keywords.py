"""Keyword arguments that do not exist: the error says which one was meant, and where it belongs.

Python's own error for a constructor comes out of `gymnasium.make` without a hint, and fields of the rules are the arguments
that callers try first.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from tetrion._pb import rules_pb2
from tetrion.connection import ConnectionSettings
from tetrion.errors import InvalidArgument
from tetrion.names import closest

# TorchRL's GymEnv gives this to every environment, and goes on without it after Python's own TypeError.
_OFFERED = "frameskip"

_P = ParamSpec("_P")
_Self = TypeVar("_Self")
_Result = TypeVar("_Result")


def checked(call: Callable[Concatenate[_Self, _P], _Result]) -> Callable[Concatenate[_Self, _P], _Result]:
    """A method or a constructor that refuses unknown keyword arguments with an `InvalidArgument`."""
    _, *known = inspect.signature(call).parameters

    @functools.wraps(call)
    def wrapper(self: _Self, /, *args: _P.args, **kwargs: _P.kwargs) -> _Result:
        for name, value in kwargs.items():
            if name not in known and name != _OFFERED:
                what = type(self).__name__ if call.__name__ == "__init__" else call.__name__
                meant = _meant(name, value, known)
                raise InvalidArgument(name, f"is not an argument of {what}{meant} expected one of {', '.join(known)}")
        return call(self, *args, **kwargs)

    return wrapper


def _meant(name: str, value: Any, known: list[str]) -> str:
    """The argument that was probably meant, written as a caller would."""
    elsewhere = {field: f"rules={{{field!r}: {value!r}}}" for field in rules_pb2.Rules.DESCRIPTOR.fields_by_name}
    if "address" in known:
        elsewhere |= {
            setting: f"address=tetrion.Client(..., {setting}=...)" for setting in ConnectionSettings.__annotations__
        }
        elsewhere["seed"] = f"reset(seed={value!r})"
    written = {**elsewhere, **{argument: repr(argument) for argument in known}}
    close = closest(name, written)
    return f", did you mean {written[close]}?" if close else ","
