"""Unknown arguments: the error suggests the intended one, and where it belongs.

From `gymnasium.make`, Python's own error for a constructor has no hint. Fields of the rules are the arguments that callers
try first.
"""

from __future__ import annotations

import functools
import inspect
import reprlib
from collections.abc import Callable, Iterator
from typing import Any, ParamSpec, TypeVar

from tetrion._checks.names import closest
from tetrion._pb import messages as pb
from tetrion.errors import InvalidArgumentError

# TorchRL's GymEnv passes this to every environment, and retries without it after Python's own TypeError.
_OFFERED = "frameskip"

# Arguments that only vector environments have.
_OF_VECTORS = ("num_envs", "autoreset_mode", "copy")
# Arguments of clients; see `ConnectionSettings`.
_OF_CLIENTS = ("token", "tls", "timeout", "patience", "any_version")

_P = ParamSpec("_P")
_Result = TypeVar("_Result")


def checked(call: Callable[_P, _Result]) -> Callable[_P, _Result]:
    """Makes a function, method or constructor refuse unknown arguments with an `InvalidArgumentError`."""
    known = list(_parameters(call))
    parameters = inspect.signature(call).parameters.values()
    by_position = [one.name for one in parameters if one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    by_name = [name for name in known if name not in by_position]

    @functools.wraps(call)
    def wrapper(*args: _P.args, **kwargs: _P.kwargs) -> _Result:
        for name, value in kwargs.items():
            if name not in known and name != _OFFERED:
                meant = _meant(name, value, known)
                problem = f"is not an argument of {called(args)}{meant} expected one of {', '.join(known)}"
                raise InvalidArgumentError(name, problem)
        if len(args) > len(by_position) and by_name:
            taken = ", ".join(name for name in by_position if name != "self") or "no arguments"
            raise InvalidArgumentError(
                f"{called(args)} takes {taken} by position, expected all others by name, such as {by_name[0]}=..."
            )
        return call(*args, **kwargs)

    def called(args: tuple[Any, ...]) -> str:
        return type(args[0]).__name__ if call.__name__ == "__init__" else call.__name__

    return wrapper


def _parameters(call: Callable[..., Any]) -> Iterator[str]:
    """The names of the arguments, with the keys of a TypedDict for `**options: Unpack[...]`."""
    for name, parameter in inspect.signature(call).parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            # A string, because annotations are not evaluated.
            yield from call.__globals__[parameter.annotation.removeprefix("Unpack[").removesuffix("]")].__annotations__
        elif name != "self":
            yield name


def _meant(name: str, value: Any, known: list[str]) -> str:
    """The probably intended argument, as a caller would write it."""
    shown = reprlib.repr(value)
    written: dict[str, str] = {}
    if "rules" in known:
        written |= {field: f"rules={{{field!r}: {shown}}}" for field in pb.FIELDS["tetrion.v1.Rules"]}
    if "search" in known and "weights" in known:  # an evaluation
        written["lookahead"] = f"search=tetrion.Search(lookahead={shown}), in a tetrion.Policy or beside weights"
        written["expectation"] = "search=tetrion.Search(), in a tetrion.Policy or beside weights"
        written["controllers"] = "'policies'"
        written["playouts"] = f"tetrion.Policy(..., playouts={shown})"
    if "address" in known and "rules" in known:  # an environment
        written |= {setting: f"address=tetrion.Client(..., {setting}=...)" for setting in _OF_CLIENTS}
        written["seed"] = f"reset(seed={shown})"
        sequences = "piece_sequences" if "num_envs" in known else "piece_sequence"
        written[sequences] = f"reset(options={{{sequences!r}: {shown}}})"
        written |= {argument: f"gymnasium.make_vec(..., {argument}={shown})" for argument in _OF_VECTORS}
        written["action_mask"] = "'observe_mask'"
    written |= {argument: repr(argument) for argument in known}
    close = closest(name, written)
    return f", did you mean {written[close]}?" if close else ","
