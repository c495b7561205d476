"""The scene of a game for viewers: cells with the tetromino that each came from, and the numbers next to the playfield."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tetrion._checks.failures import invalid_answer
from tetrion._messages.ends import word
from tetrion._pb import messages as pb
from tetrion.errors import InvalidArgumentError

LETTERS = "IOTZSJL"
# Values of a cell that are not the number of a tetromino.
EMPTY, GIVEN = -1, 7

Cell = tuple[int, int]
Cells = tuple[Cell, ...]


@dataclass(frozen=True)
class Scene:
    """A game at one moment. Row 0 is the lowest; pieces are numbers, 0 to 6 in IOTZSJL.

    Attributes:
        cells: int8 [height, width], the number of the tetromino that each cell came from; -1 is empty; 7 is full from an
            unknown source, such as a restored position or garbage. Excludes the piece in play.
        current: The piece in play; None once the game has ended.
        falling: Row and column of the current piece's cells if keys move it; rows may lie above the playfield. Else empty.
        ghost: The cells in which the current piece would come to rest if keys move it. Else empty.
        queue: The next pieces, as many as the rules show.
        last: The remaining cells of the last landed piece, after full rows were cleared.
        steps: Actions so far.
        pieces: Pieces landed so far.
        lines: Lines cleared so far.
        score: Points so far.
        end: How the game ended: a name of `EpisodeEnd` in lower case, such as `topped_out`; None while it goes on.
        held: The held piece, if any.
        garbage: Waiting lines, by the piece with which they may rise; empty without garbage in the rules.
    """

    cells: npt.NDArray[np.int8]
    current: int | None
    falling: Cells
    ghost: Cells
    queue: tuple[int, ...]
    last: Cells
    steps: int
    pieces: int
    lines: int
    score: float
    end: str | None
    held: int | None = None
    garbage: tuple[int, ...] = ()


def check_pieces(rules: pb.Rules) -> None:
    """Checks that a game has tetrominoes.

    Raises:
        InvalidArgumentError: It has other pieces.
    """
    if rules.piece_set not in ("", "tetrominoes"):
        raise InvalidArgumentError(
            "rules.piece_set",
            f"is {rules.piece_set!r}; scenes are of tetrominoes, pictures and `tetrion export` show any pieces",
        )


def scene(env: pb.WatchedEnv, rules: pb.Rules) -> Scene:
    """The scene of a message.

    Raises:
        InvalidAnswerError: It is of other rules.
    """
    cells = np.full((rules.height, rules.width), EMPTY, np.int8)
    try:
        if env.colors:
            # In the message, 0 is an empty cell, and tetrominoes count from 1.
            cells[:] = np.frombuffer(env.colors, np.int8).reshape(cells.shape) - 1
        # If a step is a placement, the piece's cells are only where it would appear.
        falls = rules.action_model == pb.ACTION_MODEL_KEYPRESS
        return Scene(
            cells=cells,
            current=LETTERS.index(env.piece) if env.piece else None,
            falling=_pairs(env.piece_cells) if falls else (),
            ghost=_pairs(env.ghost_cells),
            queue=tuple(LETTERS.index(letter) for letter in env.queue),
            last=_pairs(env.last_cells),
            steps=env.steps,
            pieces=env.pieces,
            lines=env.lines,
            score=env.episode_return,
            end=word(env.end) if env.end != pb.EPISODE_END_UNSPECIFIED else None,
            held=LETTERS.index(env.held) if env.held else None,
            garbage=tuple(env.garbage),
        )
    except ValueError as error:
        raise invalid_answer(f"the scene cannot be read: {error}") from None


def _pairs(numbers: npt.ArrayLike) -> Cells:
    return tuple((row, column) for row, column in np.reshape(np.asarray(numbers, np.int64), (-1, 2)).tolist())
