"""From callers' arguments to messages: rules, features, positions and names of enum values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from gymnasium.vector import AutoresetMode

from tetrion._checks import arguments
from tetrion._checks.failures import invalid_answer
from tetrion._checks.names import expected
from tetrion._messages.tensors import from_numpy
from tetrion._pb import messages as pb
from tetrion._pb.fields import RulesFields
from tetrion.errors import InvalidArgumentError

RulesLike: TypeAlias = "str | RulesFields | None"
FeaturesLike: TypeAlias = "str | Sequence[str] | None"


def field_names(field: str, value: Sequence[str] | None, example: str) -> pb.FieldNames | None:
    """Names of observations or infos; None for the server's default."""
    return None if value is None else pb.FieldNames(names=arguments.names(field, value, example))


class Drawing(NamedTuple):
    """A playfield as a drawing.

    Attributes:
        rows: The rows from the top down; `.` and blank are empty cells, everything else is full. Missing rows at the top are
            empty.
        piece: The current piece, one of IOTZSJL.
        queue: The next pieces; the server deals the missing ones.
        held: The held piece, if the rules have hold.
    """

    rows: Sequence[str]
    piece: str
    queue: str = ""
    held: str = ""


class Packed(NamedTuple):
    """Playfields and pieces as arrays, in the forms that observations have.

        Packed(observations["board"], observations["current"])  # the playfields of a vector environment
        Packed(board, 0)                                         # one playfield, with an I

    Attributes:
        boards: Cells, 0 or 1, [B, height, width]; or integers [B, height] in which bit c is column c, like `board_bits` and
            `afterstates`. Row 0 is the lowest. Without B for a single position.
        pieces: Integers [B], the current pieces as numbers 0 to 6 in IOTZSJL; an integer for a single position.
        queues: Integers [B, preview], the next pieces; the server deals those that are -1.
        held: Integers [B], the held pieces, or -1 for none, if the rules have hold.
    """

    boards: npt.ArrayLike
    pieces: npt.ArrayLike
    queues: npt.ArrayLike | None = None
    held: npt.ArrayLike | None = None


PositionsLike: TypeAlias = "Packed | Drawing | bytes | Sequence[bytes] | Sequence[Drawing] | Mapping[str, Any]"


def enum_value(enum: pb.Enum, name: Any, field: str = "") -> int:
    """The value of an enum by its short name: `bag7`, `BAG7` and `Bag-7` are RANDOMIZER_BAG7.

    Raises:
        InvalidArgumentError: The value does not exist. The error calls the enum `field` and lists its values.
    """
    prefix = _prefix(enum)
    numbers = {short_name(enum, value): number for value, number in [*enum.values.items()][1:]}
    if isinstance(name, str) and name.upper().startswith(prefix):
        name = name[len(prefix) :]
    return numbers[arguments.choice(field or prefix.lower().rstrip("_"), name, numbers)]


def enum_name(enum: pb.Enum, name: str, field: str) -> str:
    """The short name of a value of an enum, `bag7` for `Bag-7`; see `enum_value`."""
    return word(enum, enum_value(enum, name, field))


def word(enum: pb.Enum, number: int) -> str:
    """The short name of a value in an answer.

    Raises:
        InvalidAnswerError: The enum has no such value.
    """
    for value, known in enum.values.items():
        if known == number:
            return short_name(enum, value)
    raise invalid_answer(f"{enum.name} has no value {number}")


def short_name(enum: pb.Enum, value: str) -> str:
    """The name of an enum value without its prefix."""
    return value.removeprefix(_prefix(enum)).lower()


def _prefix(enum: pb.Enum) -> str:
    return next(iter(enum.values)).removesuffix("UNSPECIFIED")


def autoreset_mode(mode: str | AutoresetMode) -> AutoresetMode:
    """Gymnasium's autoreset mode from its name, in any spelling: `same_step`, `SameStep` or `SAME_STEP`.

    Raises:
        InvalidArgumentError: The mode does not exist.
    """
    modes = {mode.name.lower(): mode for mode in AutoresetMode}
    return mode if isinstance(mode, AutoresetMode) else modes[arguments.choice("autoreset_mode", mode, modes)]


def rules_message(rules: RulesLike) -> pb.Rules | None:
    """Rules from a preset's name, or from fields of the message by name; the preset decides the other fields.

    `RulesFields` describes each field; `Client.catalog().rules_presets` lists the fields of every preset. Values of
    enums are names without their prefix, such as `bag7`.

    Example: `{"preset": "simplified", "width": 6, "randomizer": "bag7", "scoring": {"piece": 1.0}}`.

    Raises:
        InvalidArgumentError: The field or the value does not exist. The server refuses numbers that are out of range, with
            an `InvalidRequestError`.
    """
    if rules is None:
        return None
    if isinstance(rules, str):
        return pb.Rules(preset=arguments.string("rules", rules))
    if not isinstance(rules, Mapping):
        raise arguments.wrong("rules", rules, "a preset's name, or fields by name such as {'width': 6}")
    message: pb.Rules = _filled(pb.Rules, rules, "rules")
    return message


def _filled(kind: type[Any], fields: Mapping[str, Any], path: str) -> Any:
    """A message of a kind from its fields by name. None leaves a field absent."""
    known = pb.FIELDS[kind.NAME]
    given: dict[str, Any] = {}
    for name, value in fields.items():
        if name not in known:
            raise InvalidArgumentError(path, f"has no field {name!r}{expected(name, known)}")
        of, field = known[name], f"{path}.{name}"
        if value is None:
            continue
        if of.is_message:
            if not isinstance(value, Mapping):
                raise arguments.wrong(field, value, "fields by name")
            given[name] = _filled(getattr(pb, of.kind), value, field)
        elif of.is_list:
            listed = arguments.items(field, value, "a list")
            given[name] = [_scalar(of, item, f"{field}[{place}]") for place, item in enumerate(listed)]
        else:
            given[name] = _scalar(of, value, field)
    return kind(**given)


def _scalar(of: pb.Field, value: Any, field: str) -> Any:
    """Checks a value for a field."""
    if of.is_enum:
        is_number = isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**31
        return value if is_number else enum_value(getattr(pb, of.kind), value, field)
    if of.kind in ("double", "float"):
        return arguments.number(field, value)
    if of.kind == "bool":
        return arguments.flag(field, value)
    if of.kind == "string":
        return arguments.string(field, value)
    return arguments.field_integer(field, value, arguments.U64 if of.kind in ("uint64", "fixed64") else arguments.U32)


def selected_features(features: FeaturesLike) -> str | tuple[str, ...] | None:
    """The name of a feature set, or names of features; None for no features.

    Raises:
        InvalidArgumentError: The value is none of these.
    """
    if features is None:
        return None
    if isinstance(features, str):
        return arguments.string("features", features)
    if not isinstance(features, Iterable) or isinstance(features, (bytes, Mapping)):
        raise arguments.wrong("features", features, "the name of a feature set, or a list of features")
    return tuple(arguments.names("features", features, "holes")) or None


def features_message(features: FeaturesLike) -> pb.FeatureSelection | None:
    """A selection of features from the name of a set or the names of features.

    `Client.catalog()` lists them as `feature_sets` and `features`; the server refuses others.
    """
    selected = selected_features(features)
    if selected is None:
        return None
    if isinstance(selected, str):
        return pb.FeatureSelection(feature_set=selected)
    return pb.FeatureSelection(names=pb.FeatureNames(names=selected))


def features_from(message: pb.FeatureSelection) -> str | tuple[str, ...]:
    """The name of a set, or the names of features, in a selection of features."""
    return tuple(message.names.names) if message.has("names") else message.feature_set


_POSITIONS = "snapshots as bytes, Drawings, Packed(boards, pieces), or an observation"


def positions_message(
    positions: PositionsLike, rules: RulesLike, catalog: Callable[[], pb.GetCatalogResponse], own: pb.Rules | None = None
) -> pb.Positions:
    """Positions from one or several snapshots, drawings or packed playfields, or from observations.

    Args:
        positions: The positions.
        rules: Rules of the positions. None: not sent.
        catalog: Asks for the catalog, if presets or sets of pieces are needed.
        own: The rules, with every field, if the caller knows them.

    Raises:
        InvalidArgumentError: The positions are none of these, or a mixture.
    """
    sent = rules_message(rules)
    if isinstance(positions, (Packed, Mapping)):
        full = own
        if full is None:
            some = sent or pb.Rules()
            full = some if some.width and isinstance(positions, Packed) else _full_rules(some, catalog())
        packed = positions if isinstance(positions, Packed) else _from_observation(positions, full, catalog)
        return pb.Positions(rules=sent, packed=_packed(packed, full.width))
    if isinstance(positions, np.ndarray) and positions.dtype.kind not in "OS":
        raise InvalidArgumentError("positions", f"is an array without pieces, expected {_POSITIONS}")
    several = [positions] if isinstance(positions, (bytes, Drawing)) else arguments.items("positions", positions, _POSITIONS)
    if not several:
        raise arguments.wrong("positions", positions, _POSITIONS)
    if len({isinstance(position, bytes) for position in several if isinstance(position, (bytes, Drawing))}) > 1:
        raise InvalidArgumentError("positions", "has snapshots and drawings, expected one kind in one call")
    states, drawings = [], []
    for place, position in enumerate(several):
        field = f"positions[{place}]"
        if isinstance(position, bytes):
            states.append(position)
        elif isinstance(position, Drawing):
            if isinstance(position.rows, np.ndarray) and position.rows.dtype.kind not in "UTO":
                raise InvalidArgumentError(f"{field}.rows", "are an array of numbers, which Packed(board, piece) takes")
            drawing = pb.Drawing(
                rows=arguments.names(f"{field}.rows", position.rows, "##.######."),
                piece=arguments.string(f"{field}.piece", position.piece, "one of the letters IOTZSJL"),
                queue=arguments.string(f"{field}.queue", position.queue, arguments.PIECES),
                held=arguments.string(f"{field}.held", position.held, "one of the letters IOTZSJL, or nothing"),
            )
            drawings.append(drawing)
        else:
            raise arguments.wrong(field, position, "a snapshot as bytes, or a Drawing")
    if states:
        return pb.Positions(rules=sent, snapshots=pb.Snapshots(states=states))
    return pb.Positions(rules=sent, drawings=pb.Drawings(drawings=drawings))


def _full_rules(rules: pb.Rules, catalog: pb.GetCatalogResponse) -> pb.Rules:
    """Rules with the fields of their preset. An unknown preset is left to the server."""
    presets = catalog.rules_presets
    full = next((one.rules for one in presets if one.name == (rules.preset or presets[0].name)), pb.Rules())
    return full.merged(rules)


def _from_observation(
    observation: Mapping[str, Any], rules: pb.Rules, catalog: Callable[[], pb.GetCatalogResponse]
) -> Packed:
    """The positions of an observation, or of the observations of many games.

    Raises:
        InvalidArgumentError: The observation lacks the playfield or the piece, or its game has ended.
    """
    board = next((name for name in ("board", "board_bits") if name in observation), None)
    if board is None or "current" not in observation:
        problem = f"has the fields {', '.join(map(str, observation))}, expected the observations 'board' and 'current'"
        raise InvalidArgumentError("positions", problem)
    # Environments show the number of pieces where there is none, and sessions -1.
    num_pieces = _num_pieces(rules.piece_set, catalog)

    def pieces(name: str) -> npt.NDArray[Any] | None:
        if name not in observation:
            return None
        numbers = arguments.array(f"positions[{name!r}]", observation[name])
        return np.where(numbers == num_pieces, -1, numbers)

    current = pieces("current")
    assert current is not None, "checked"
    if (current == -1).any():
        which = f" in game {np.argmax(current == -1)}" if current.ndim else ""
        raise InvalidArgumentError("positions['current']", f"has no piece{which}, expected games that have not ended")
    held = pieces("held") if rules.hold else None
    return Packed(observation[board], current, pieces("queue"), held)


def _num_pieces(piece_set: str, catalog: Callable[[], pb.GetCatalogResponse]) -> int:
    """The number of pieces of a set: a name, or drawings."""
    if piece_set in ("", "tetrominoes"):
        return len(arguments.TETROMINOES)
    return len({known.name: known.pieces for known in catalog().piece_sets}.get(piece_set, piece_set).split())


def _packed(packed: Packed, width: int) -> pb.PackedPositions:
    """The message of packed playfields.

    Raises:
        InvalidArgumentError: The arrays have the wrong type or shape.
    """
    boards, pieces = arguments.array("boards", packed.boards), arguments.array("pieces", packed.pieces)
    is_single = pieces.ndim == 0
    if boards.ndim - pieces.ndim not in (1, 2) or pieces.ndim > 1 or (not is_single and len(boards) != len(pieces)):
        raise InvalidArgumentError(
            "boards",
            f"have the shape {boards.shape} and pieces {pieces.shape}, expected a playfield for each piece: cells "
            "(B, height, width) or bits (B, height), with pieces (B,); or all without B",
        )
    if boards.ndim - pieces.ndim == 2:
        boards = _bits(boards, width)

    def rows(array: npt.ArrayLike, dtype: npt.DTypeLike, name: str) -> pb.Tensor:
        given = arguments.array(name, array)
        return from_numpy(given[None] if is_single else given, dtype, name)

    # The server expects 32 bits for rows of more than 16 columns, and 16 bits for others.
    return pb.PackedPositions(
        boards=rows(boards, np.uint32 if width > 16 else np.uint16, "boards"),
        pieces=rows(pieces, np.uint8, "pieces"),
        queues=None if packed.queues is None else rows(packed.queues, np.int8, "queues"),
        held=None if packed.held is None else rows(packed.held, np.int8, "held"),
    )


def _bits(cells: npt.NDArray[Any], width: int) -> npt.NDArray[np.uint32]:
    """Cells as a number per row, of which bit c is column c."""
    if cells.shape[-1] != width:
        raise InvalidArgumentError("boards", f"have {cells.shape[-1]} columns, expected the {width} of the rules")
    is_full = cells == 1
    if cells.dtype.kind not in "biuf" or not (is_full | (cells == 0)).all():
        raise InvalidArgumentError("boards", "have cells other than 0 and 1")
    bits: npt.NDArray[np.uint32] = is_full @ (np.uint32(1) << np.arange(width, dtype=np.uint32))
    return bits


def num_positions(positions: pb.Positions) -> int:
    """Number of positions."""
    packed = positions.packed.pieces.shape
    return packed[0] if packed else len(positions.snapshots.states) + len(positions.drawings.drawings)
