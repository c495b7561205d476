"""Settings: the table of all of them, and the arguments of sessions that they become.

Every field of the rules is a setting, by its name in `tetrion.RulesFields`; a dot leads into a group, as in `scoring.piece`.
Sessions do the checks, and have the bounds and the defaults.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_origin, get_type_hints, is_typeddict

from tetrion import RulesFields
from tetrion.errors import InvalidRequestError, TetrionError

from tetrion_dm_env_rpc import tensors
from tetrion_dm_env_rpc.errors import shown, wrong_field

_MAX_SEED = 2**64 - 1


class Setting(NamedTuple):
    """A setting: the reader of its tensor, and the argument that it becomes, after the groups that contain it."""

    read: Callable[[Any], Any]
    path: tuple[str, ...]


def _seeds(tensor: Any) -> list[int]:
    seed = tensors.integer(tensor)
    if not 0 <= seed <= _MAX_SEED:
        raise ValueError(f"is {seed}, expected an integer from 0 to {_MAX_SEED}")
    return [seed]


def _rules(kind: type, path: tuple[str, ...]) -> Iterator[tuple[str, Setting]]:
    readers = {bool: tensors.flag, int: tensors.integer, float: tensors.number, str: tensors.text}
    readers |= {Sequence[float]: tensors.four_numbers}
    for name, of in get_type_hints(kind).items():
        if is_typeddict(of):
            yield from _rules(of, (*path, name))
        else:
            read = tensors.name if get_origin(of) is Literal else readers[of]
            yield ".".join((*path[1:], name)), Setting(read, (*path, name))


_PIECES = Setting(lambda tensor: [tensors.text(tensor)], ("piece_sequences",))

AT_CREATION: dict[str, Setting] = {
    **dict(_rules(RulesFields, ("rules",))),
    "preset": Setting(tensors.name, ("rules", "preset")),
    "features": Setting(tensors.name_or_names, ("features",)),
    "max_episode_steps": Setting(lambda tensor: tensors.integer(tensor) or None, ("max_episode_steps",)),
    "invalid_action_policy": Setting(tensors.name, ("invalid_action_policy",)),
    "invalid_action_reward": Setting(tensors.number, ("invalid_action_reward",)),
    "label": Setting(tensors.name, ("label",)),
    "ttl_seconds": Setting(tensors.number, ("ttl",)),
    "seed": Setting(_seeds, ("env_seeds",)),
    "pieces": _PIECES,
}
AT_RESET = {"seed": Setting(_seeds, ("seeds",)), "pieces": _PIECES}
AT_JOIN: dict[str, Setting] = {}

# Arguments of sessions whose defaults are others in this protocol.
DEFAULTS = {"autoreset_mode": "disabled", "invalid_action_policy": "terminate", "ttl": 600.0}


def read(settings: Mapping[str, Any], known: Mapping[str, Setting]) -> dict[str, Any]:
    """The arguments that settings become. Refuses unknown settings, and tensors of other types and shapes."""
    arguments: dict[str, Any] = {}
    for name in sorted(settings):
        if name not in known:
            close = difflib.get_close_matches(name[:64], known, 1)
            expected = f"{f', did you mean {close[0]!r}?' if close else ','} expected one of {', '.join(known)}"
            problem = f"no setting is called {shown(name)}{expected if known else '; joining takes no settings'}"
            raise wrong_field("settings", problem, "UNKNOWN_NAME")
        try:
            value = known[name].read(settings[name])
        except ValueError as error:
            raise wrong_field(f"settings.{name}", str(error), "INVALID_TENSOR") from None
        *groups, last = known[name].path
        place = arguments
        for group in groups:
            place = place.setdefault(group, {})
        place[last] = value
    if "seed" in settings and "pieces" in settings:
        raise wrong_field("settings.seed", "is given together with pieces, expected one of the two")
    return arguments


def by_setting(error: TetrionError) -> TetrionError:
    """The error of an argument, as an error of the setting that became the argument."""
    if not isinstance(error, InvalidRequestError) or not error.violations:
        return error
    field, problem = error.violations[0]
    path = field.removeprefix("config.").removeprefix("rules.")
    renamed = {"seeding": "pieces", "piece_sequences": "pieces", "ttl": "ttl_seconds"}
    name = renamed.get(re.split(r"[.\[]", path)[0], path)
    return wrong_field("settings" if name == "rules" else f"settings.{name}", problem, error.reason or "INVALID_FIELD")
