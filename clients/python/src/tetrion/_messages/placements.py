"""Every placement of many positions, as columns of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

import numpy as np
import numpy.typing as npt

from tetrion import _native
from tetrion._checks import arguments
from tetrion._messages.digits import Digits, decode, read
from tetrion._messages.tensors import DTYPES, from_numpy, to_numpy
from tetrion._pb import messages as pb
from tetrion.errors import InvalidArgumentError

#: The names of keys by their numbers; all but `far_left` and `far_right` are actions of `"tetrion/Keypress-v0"`.
KEYS = tuple(value.removeprefix("KEY_").lower() for value in pb.Key.values)


# Any array may keep the memory of an answer of at most so many bytes, which lists a few positions.
_SMALL = 4096


class PlacementsFlags(TypedDict, total=False):
    """Columns that `Placements` have on request: keyword arguments of `enumerate_placements` of clients and sessions.

    Attributes:
        afterstates: Whether to return the playfields after the placements.
        position_features: Whether to return the features of the current playfields.
        anchors: Whether to return the cells of the pieces' anchors at rest.
        cells: Whether to return the pieces' cells at rest.
        preclear_boards: Whether to return the playfields with the pieces at rest, before full rows are cleared.
        keys: Whether to return the fewest keys that take the piece to each placement, for `Placements.key_names`. They exist
            under rules with kicks and moves on the way down, such as `guideline`, and where pieces fall with every key, as
            in `lab`.
        optimal_values: Whether to return the exact value of each placement, under rules for which the server knows them,
            such as `{"width": 4, "height": 5}`.
    """

    afterstates: bool
    position_features: bool
    anchors: bool
    cells: bool
    preclear_boards: bool
    keys: bool
    optimal_values: bool


class Model(Protocol):
    """A model that adds to a weighted sum of features: an `Mlp` or an `NTuple`."""

    def num_parameters(self, num_features: int) -> int:
        """Number of parameters for this many features."""
        ...

    def outputs(self, placements: Placements, parameters: npt.ArrayLike) -> npt.NDArray[np.float32]:
        """The model's contribution to the score of each row."""
        ...


@dataclass(frozen=True, repr=False)
class Placements:
    """R placements of B positions, in arrays that belong to the caller.

    Attributes:
        row_offsets: int32 [B + 1]; the rows of position i are row_offsets[i] to row_offsets[i + 1] - 1. A position whose
            game is over has none.
        actions: int32 [R], for `step`.
        placements: int32 [R], number of the placement; equal to `actions` if a step is a placement.
        rewards: float32 [R], reward for the placement.
        lines: uint8 [R], lines that the placement clears.
        terminated: bool [R], whether the placement ends the game.
        features: float32 [R, F], if requested.
        afterstates: uint16 or uint32 [R, height], if requested: the playfield after the placement, bit c of a row is column
            c.
        position_features: float32 [B, F], if requested: features of the current playfields.
        feature_names: Names of the F columns.
        sequence_number: Sequence number of the session that the rows belong to; 0 for positions.
        spins: uint8 [R], label of the placement: 0 no spin, 1 mini, 2 full; None if the rules do not distinguish spins.
        holds: bool [R], whether the current piece is held and the other one placed; None if the rules have no hold.
        attacks: uint8 [R], lines that the placement sends; None if the rules count neither these nor other points for
            clears.
        anchors: int8 [R, 2], if requested: row and column of the piece's anchor at rest.
        cells: int8 [R, C, 2], if requested: row and column of the piece's cells at rest, ordered by row, then by column.
            Rows from `height` on are above the playfield. C is 4 or, for another `piece_set`, the size of its largest piece,
            with -1 for cells that a piece lacks.
        preclear_boards: uint16 or uint32 [R, height], if requested: the playfield with the piece at rest and full rows.
            Excludes cells above the playfield.
        key_offsets: int32 [R + 1], if requested; the keys of row j are keys[key_offsets[j]] to
            keys[key_offsets[j + 1] - 1].
        keys: uint8 [K], if requested: indices in `KEYS`.
        optimal_values: float64 [R], if requested: the lines to be expected from the placement on, its own included, for the
            best player that sees only the current piece. 0 if the placement ends the game; NaN if it leads to a playfield
            that no game from the empty one reaches.
        policy_values: float64 [R], if requested by `policy`: the value that the policy gives the placement, its score or,
            with a search, the value that the search defines. Minus infinity for a placement that the policy does not
            consider, such as one that ends the game.
        policy_choices: int32 [B], if requested by `policy`: the row that the policy plays, the first of the best; -1 for a
            position without rows. `policy_actions` has their actions.
        placement_digits: Digits of `placements`, for `decode_placements`.
    """

    row_offsets: npt.NDArray[np.int32]
    actions: npt.NDArray[np.int32]
    placements: npt.NDArray[np.int32]
    rewards: npt.NDArray[np.float32]
    lines: npt.NDArray[np.uint8]
    terminated: npt.NDArray[np.bool_]
    feature_names: tuple[str, ...]
    sequence_number: int
    features: npt.NDArray[np.float32] | None = None
    afterstates: npt.NDArray[np.unsignedinteger] | None = None
    position_features: npt.NDArray[np.float32] | None = None
    spins: npt.NDArray[np.uint8] | None = None
    holds: npt.NDArray[np.bool_] | None = None
    attacks: npt.NDArray[np.uint8] | None = None
    anchors: npt.NDArray[np.int8] | None = None
    cells: npt.NDArray[np.int8] | None = None
    preclear_boards: npt.NDArray[np.unsignedinteger] | None = None
    key_offsets: npt.NDArray[np.int32] | None = None
    keys: npt.NDArray[np.uint8] | None = None
    optimal_values: npt.NDArray[np.float64] | None = None
    policy_values: npt.NDArray[np.float64] | None = None
    policy_choices: npt.NDArray[np.int32] | None = None
    placement_digits: Digits = ()

    @classmethod
    def _of(cls, listed: _native.Listed) -> Placements:
        """Placements as the extension module has read them."""
        memory: Any
        memory, columns, feature_names, sequence_number, digits = listed
        views = [(name, np.ndarray(shape, DTYPES[dtype], memory, place)) for name, dtype, shape, place in columns]
        # As in a session's answers, only a large array keeps the memory of all, unless all are small.
        size = memoryview(memory).nbytes
        whole = 0 if size <= _SMALL else size // 4
        found = object.__new__(cls)
        # A frozen dataclass takes 2 us to set its fields one by one; the defaults are attributes of the class.
        found.__dict__.update(
            {name: array if array.nbytes >= whole else array.copy() for name, array in views},
            feature_names=tuple(feature_names),
            sequence_number=sequence_number,
            placement_digits=read(tuple(digits)),
        )
        return found

    def __repr__(self) -> str:
        """The numbers of placements and positions, in a line."""
        names = [
            name
            for name in ("features", *PlacementsFlags.__annotations__, "policy_values")
            if getattr(self, name) is not None
        ]
        held = f" with {', '.join(names)}" if names else ""
        return f"<tetrion.Placements: {len(self.actions)} of {len(self.row_offsets) - 1} positions{held}>"

    def decode_placements(self) -> dict[str, npt.NDArray[np.int64]]:
        """The meaning of the placements: `orientation`, `column` and the other digits by name, int64 [R]."""
        return decode(self.placement_digits, self.placements, "placements")

    @property
    def policy_actions(self) -> npt.NDArray[np.int32]:
        """The action that the policy plays in each position, int32 [B], for `step`; 0 for a position without rows.

        Raises:
            InvalidArgumentError: No policy was asked for.
        """
        if self.policy_choices is None:
            raise InvalidArgumentError("policy", "was not given: enumerate_placements(..., policy=...)")
        return self.actions_of(self.policy_choices)

    def actions_of(self, rows: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """The action of a chosen row of each position, int32 [B], for `step`.

        Args:
            rows: Integers [B], one row per position, such as those of `best_rows`; -1 for a position without rows. Its game
                has ended and ignores the action, 0.

        Raises:
            InvalidArgumentError: A row is of another position.
        """
        chosen: npt.NDArray[np.int64] = to_numpy(from_numpy(rows, np.int64, "rows", allow_float=False))  # type: ignore[assignment]
        first, end = self.row_offsets[:-1], self.row_offsets[1:]
        if chosen.shape != first.shape:
            raise arguments.wrong("rows", rows, f"one row for each of {len(first)} positions")
        is_empty = first == end
        fits = np.where(is_empty, chosen == -1, (first <= chosen) & (chosen < end))
        if not fits.all():
            wrong = int(fits.argmin())
            few = "-1, as there are none" if is_empty[wrong] else f"a row from {first[wrong]} to {end[wrong] - 1}"
            raise arguments.wrong(f"rows[{wrong}]", chosen[wrong], few)
        actions = np.zeros(len(chosen), np.int32)
        actions[~is_empty] = self.actions[chosen[~is_empty]]
        return actions

    def key_names(self, row: int) -> tuple[str, ...]:
        """The names of the keys that take the piece of a row to its placement, in order.

        There is no shorter list. The last key is `hard_drop`; the first one is `hold` if the other piece is placed. The list
        is empty if it would be longer than `server_info().limits.messages.max_keys`, as in a maze.

        Under rules such as `lab`, where a piece falls with every key, it may rest before a drop; and the list is also empty
        if the piece rests before it is there.

        Args:
            row: From 0 to R - 1.

        Raises:
            InvalidArgumentError: Keys were not requested, or the row does not exist.
        """
        if self.keys is None or self.key_offsets is None:
            raise InvalidArgumentError("keys", "were not asked for: enumerate_placements(..., keys=True)")
        row = arguments.integer("row", row, 0, len(self.actions) - 1)
        return tuple(KEYS[key] for key in self.keys[self.key_offsets[row] : self.key_offsets[row + 1]])

    def scores(
        self, weights: npt.ArrayLike, model: Model | None = None, *, terminal_value: str = "avoid"
    ) -> npt.NDArray[np.float64]:
        """The score of each row for one weight vector, equal to the server's to the last bit. `best_rows` chooses by it.

        Columns are added one by one in float64. `features @ weights` may differ in the last bit, and could choose another
        placement if two are nearly equal.

        Args:
            weights: One signed weight per feature, then the N parameters of the model.
            model: An `Mlp` or an `NTuple` that adds to the weighted sum. With tables, it needs afterstates.
            terminal_value: Value of a game-ending placement: `avoid`, minus infinity, or `score`, as for any other
                placement.

        Raises:
            InvalidArgumentError: Features or afterstates are missing, the number of weights differs from that of features
                and parameters, or a weight is not a number.
        """
        numbers = arguments.weights("weights", weights)
        avoids = arguments.choice("terminal_value", terminal_value, ("avoid", "score")) == "avoid"
        if self.features is None:
            raise InvalidArgumentError("features", "were not asked for: enumerate_placements(..., features=...)")
        num_features = len(self.feature_names)
        num_parameters = 0 if model is None else model.num_parameters(num_features)
        if numbers.shape != (num_features + num_parameters,):
            count = f"{num_features} features"
            if model is not None:
                count += f" + {num_parameters} parameters = {num_features + num_parameters}"
            raise InvalidArgumentError("weights", f"are {'x'.join(map(str, numbers.shape))} weights, expected {count}")
        scores = np.zeros(len(self.actions), np.float64)
        for weight, column in zip(numbers, self.features.T.astype(np.float64), strict=False):
            scores += weight * column
        if avoids:
            scores[self.terminated] = -np.inf
        return scores if model is None else scores + model.outputs(self, numbers[num_features:]).astype(np.float64)

    def best_rows(self, scores: npt.NDArray[np.floating]) -> npt.NDArray[np.int64]:
        """For each position, the row with the largest score, the first of equals; -1 if it has no rows.

        `session.step(placements.actions_of(placements.best_rows(scores)))` plays them.

        Args:
            scores: One number per row.

        Raises:
            InvalidArgumentError: The number of scores differs from the number of rows, or a score is NaN.
        """
        scores = np.asarray(scores)
        if scores.shape != self.actions.shape:
            raise InvalidArgumentError(
                "scores", f"have the shape {scores.shape}, expected one for each of {len(self.actions)} rows"
            )
        if np.isnan(scores).any():
            raise InvalidArgumentError(f"scores[{int(np.isnan(scores).argmax())}]", "is nan, expected a number")
        starts = self.row_offsets.astype(np.int64)
        counts = np.diff(starts)
        best = np.full(len(counts), -1, np.int64)
        # reduceat returns a wrong number for empty segments, so they are excluded.
        some = np.flatnonzero(counts)
        if some.size:
            largest = np.maximum.reduceat(scores, starts[some])
            rows = np.flatnonzero(scores == np.repeat(largest, counts[some]))
            owners = np.repeat(some, counts[some])[rows]
            positions, first = np.unique(owners, return_index=True)
            best[positions] = rows[first]
        return best
