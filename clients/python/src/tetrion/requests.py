"""What callers write, as messages: rules, features, positions and names of enum values.

Everything takes the message itself too, so whoever prefers messages can use them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tetrion._pb import environment_service_pb2 as environment_pb
from tetrion._pb import features_pb2, rules_pb2
from tetrion.tensors import from_numpy

RulesLike: TypeAlias = "str | Mapping[str, Any] | rules_pb2.Rules | None"
FeaturesLike: TypeAlias = "str | Sequence[str] | features_pb2.FeatureSelection | None"


class Drawing(NamedTuple):
    """A playfield as people draw it.

    Attributes:
        rows: The rows, the top one first; `.` or blank is empty, anything else full. Rows missing at the top are empty.
        piece: The current piece, one of IOTZSJL.
        queue: The next pieces; what is missing is dealt.
    """

    rows: Sequence[str]
    piece: str
    queue: str = ""


class Packed(NamedTuple):
    """Playfields as programs keep them.

    Attributes:
        boards: Integers [B, height], row 0 the lowest, bit c is column c: what `board_bits` and `afterstates` are.
        pieces: Integers [B], the current pieces as numbers 0 to 6 in IOTZSJL.
        queues: Integers [B, preview], the next pieces, -1 where one is to be dealt.
    """

    boards: npt.ArrayLike
    pieces: npt.ArrayLike
    queues: npt.ArrayLike | None = None


PositionsLike: TypeAlias = "environment_pb.Positions | Packed | Drawing | bytes | Sequence[bytes] | Sequence[Drawing]"


class EnumType(Protocol):
    """The part of a generated enum that finds a value by its name."""

    @property
    def DESCRIPTOR(self) -> Any:  # noqa: N802
        """The enum's description."""

    def keys(self) -> Sequence[str]:
        """Its names."""

    def Value(self, name: str) -> Any:  # noqa: N802
        """The value with this name."""


def enum_value(enum: EnumType, name: str) -> Any:
    """The value of a generated enum by its short name in any case: `bag7` is RANDOMIZER_BAG7.

    Raises:
        ValueError: It has no such value; the message lists those it has.
    """
    names = enum.keys()
    prefix = names[0].removesuffix("UNSPECIFIED")
    full = prefix + name.upper().replace("-", "_")
    if full not in names[1:]:
        known = ", ".join(value.removeprefix(prefix).lower() for value in names[1:])
        raise ValueError(f"{name!r} is none of {known}")
    return enum.Value(full)


_RULES_ENUMS: dict[str, EnumType] = {
    "randomizer": rules_pb2.Randomizer,
    "action_model": rules_pb2.ActionModel,
    "top_out": rules_pb2.TopOut,
    "orientation_table": rules_pb2.OrientationTable,
    "reach": rules_pb2.Reach,
}


def rules_message(rules: RulesLike) -> rules_pb2.Rules | None:
    """Rules from a preset's name, or from the fields of the message by name; fields left out are the preset's.

    - `preset`: `simplified` (if left out), `lab`, `survey`, `genetic` or `leiden`; `Client.server_info().rules_presets`
      has all their fields
    - `width` (4 to 32), `height` (4 to 40), `preview` (0 to 6 next pieces shown)
    - `randomizer`: `uniform`, `bag7` or `balanced`
    - `scoring`: points as `piece` for each, `lines` for 1, 2, 3 and 4 at once, `game_end` for the end of a game
    - `action_model`: `placement` or `keypress`; `top_out`, `orientation_table` and `reach` as `rules.proto` tells

    Example: `{"preset": "simplified", "width": 6, "randomizer": "bag7", "scoring": {"piece": 1.0}}`.

    Raises:
        ValueError: There is no such field, or no such value. What is out of range the server refuses, by an
            `InvalidRequest`.
    """
    if rules is None or isinstance(rules, rules_pb2.Rules):
        return rules
    if isinstance(rules, str):
        return rules_pb2.Rules(preset=rules)
    fields = _known(rules, rules_pb2.Rules)
    for name, enum in _RULES_ENUMS.items():
        if isinstance(fields.get(name), str):
            fields[name] = enum_value(enum, fields[name])
    if isinstance(fields.get("scoring"), Mapping):
        fields["scoring"] = rules_pb2.Scoring(**_known(fields["scoring"], rules_pb2.Scoring))
    return rules_pb2.Rules(**fields)


def _known(fields: Mapping[str, Any], message: type[rules_pb2.Rules] | type[rules_pb2.Scoring]) -> dict[str, Any]:
    """The same fields, all of which the message has."""
    names = [field.name for field in message.DESCRIPTOR.fields]
    for name in fields:
        if name not in names:
            raise ValueError(f"{message.__name__.lower()} has no field {name!r}, expected {', '.join(names)}")
    return dict(fields)


def features_message(features: FeaturesLike) -> features_pb2.FeatureSelection | None:
    """A selection of features from the name of a set, or from the names of features.

    `Client.server_info()` lists both, as `feature_sets` and `features`; others the server refuses, by an `InvalidRequest`.
    """
    if features is None or isinstance(features, features_pb2.FeatureSelection):
        return features
    if isinstance(features, str):
        return features_pb2.FeatureSelection(set=features)
    return features_pb2.FeatureSelection(features=features)


def positions_message(positions: PositionsLike, rules: RulesLike = None) -> environment_pb.Positions:
    """Positions from snapshots, drawings or packed playfields, one or several.

    Raises:
        TypeError: They are none of these, or some of one and some of another.
    """
    if isinstance(positions, environment_pb.Positions):
        return positions
    message = environment_pb.Positions(rules=rules_message(rules))
    if isinstance(positions, Packed):
        boards = np.asarray(positions.boards)
        # The width decides between the two types, and it is told by the rules; the array's own type says it as well.
        message.packed.boards.CopyFrom(from_numpy(boards, None if boards.dtype == np.uint32 else np.uint16, "boards"))
        message.packed.pieces.CopyFrom(from_numpy(positions.pieces, np.uint8, "pieces"))
        if positions.queues is not None:
            message.packed.queues.CopyFrom(from_numpy(positions.queues, np.int8, "queues"))
        return message
    several = [positions] if isinstance(positions, (bytes, Drawing)) else list(positions)
    for position in several:
        if isinstance(position, bytes):
            message.states.append(position)
        elif isinstance(position, Drawing):
            message.drawings.add(rows=position.rows, piece=position.piece, queue=position.queue)
        else:
            raise TypeError(f"a position is a snapshot, a Drawing or Packed, not {type(position).__name__}")
    if message.states and message.drawings:
        raise TypeError("snapshots and drawings cannot be mixed in one call")
    return message
