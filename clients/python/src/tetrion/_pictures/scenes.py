"""What a viewer draws of a game: cells that know which tetromino they came from, and the numbers beside the playfield.

The server's playfield knows full and empty cells only. A `Course` follows a game step by step and works out from the
playfields before and after a landing which cells the piece filled and which rows went. That takes no rules of the game: full
rows vanish, and what lies above them moves down. Cells whose piece came to rest before the course began are of no tetromino.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

LETTERS = "IOTZSJL"
# Their shapes, lying: drawings, whatever the rules make of them.
LYING = (("####",), ("##", "##"), ("###", ".#."), ("##.", ".##"), (".##", "##."), ("#..", "###"), ("..#", "###"))
# The keys that move a piece to a side, and that turn it, see `ActionModel` in the proto files.
LEFT, RIGHT, TURN_LEFT, TURN_RIGHT, TURN_HALF = 1, 2, 3, 4, 8
# What is in a cell, besides the number of a tetromino.
EMPTY, GIVEN = -1, 7
# How games end, and in words.
TOPPED_OUT, OUT_OF_PIECES, INVALID_ACTION = "topped_out", "out_of_pieces", "invalid_action"
ENDINGS = {
    TOPPED_OUT: "topped out",
    OUT_OF_PIECES: "out of pieces",
    INVALID_ACTION: "ended by an action that does not exist",
}

Cell = tuple[int, int]
Cells = tuple[Cell, ...]
# The shape of a piece that an action places, by both numbers.
Shapes = Mapping[tuple[int, int], Cells]


class GameState(NamedTuple):
    """What the server shows of a game at some step.

    Attributes:
        rows: The playfield, an integer a row; row 0 is the lowest, bit c is column c.
        current: The current piece, 0 to 6 in IOTZSJL, -1 for none.
        queue: The next ones, as far as there are some.
        falling: Row and column of the cells of a piece that keys move; empty where they do not.
        steps: Actions so far.
        pieces: Pieces landed.
        lines: Lines cleared.
        score: Points.
        landing_row: Where the lowest cell of the last piece came to rest.
        held: The piece that is held, 0 to 6 in IOTZSJL, -1 for none.
        piece_state: Where keys steer the piece, what its cells do not say of it; else empty.
        garbage: Lines that wait, by the piece with which they may rise; empty where the rules have none.
        garbage_rows: Rows of garbage that have risen.
    """

    rows: tuple[int, ...]
    current: int
    queue: tuple[int, ...]
    falling: Cells
    steps: int
    pieces: int
    lines: int
    score: float
    landing_row: int
    held: int = -1
    piece_state: tuple[int, ...] = ()
    garbage: tuple[int, ...] = ()
    garbage_rows: int = 0


class Landing(NamedTuple):
    """A piece that came to rest.

    Attributes:
        tetromino: 0 to 6 in IOTZSJL.
        cells: Row and column of its cells in the playfield, before rows were cleared, by row, then by column.
        cleared: The rows that it completed, as they were numbered before they went, the lowest first.
        lines: How many the server counts.
    """

    tetromino: int
    cells: Cells
    cleared: tuple[int, ...]
    lines: int


@dataclass(frozen=True)
class Scene:
    """A game at a glance. Row 0 is the lowest; pieces are numbers, 0 to 6 in IOTZSJL.

    Attributes:
        cells: int8 [height, width], the number of the tetromino that a cell came from; -1 is empty, 7 was full when the game
            was first seen, or rose with garbage. Without the piece in play.
        current: The piece in play; None once the game has ended.
        falling: Row and column of its cells where keys move it; rows may lie above the playfield. Else empty.
        ghost: Where it would come to rest. Else empty.
        queue: The next pieces, as many as the rules show.
        last: The cells of the last landed piece that are there still, after full rows have gone.
        full_rows: Rows that are full and about to go.
        steps: Actions so far.
        pieces: Pieces landed so far.
        lines: Lines cleared so far.
        score: Points so far.
        end: How the game ended: `topped_out`, `out_of_pieces`, `invalid_action`; None while it goes on.
        held: The piece that is held; None while none is.
        garbage: Lines that wait, by the piece with which they may rise; empty where the rules have none.
    """

    cells: npt.NDArray[np.int8]
    current: int | None
    falling: Cells
    ghost: Cells
    queue: tuple[int, ...]
    last: Cells
    full_rows: tuple[int, ...]
    steps: int
    pieces: int
    lines: int
    score: float
    end: str | None
    held: int | None = None
    garbage: tuple[int, ...] = ()


class Course:
    """A game, followed step by step.

    Attributes:
        state: What the server shows now.
        start: What it showed at the beginning.
        action: The last action.
        landing: The landing of the last step, if a piece landed in it.
        end: How the game ended, once it has; see `Scene`.
    """

    def __init__(self, state: GameState, width: int, shapes: Shapes | None, hold_from: int | None = None) -> None:
        """A game that is seen for the first time.

        Args:
            state: What the server shows of it.
            width: Columns of the playfield.
            shapes: The orientation of each placement, where its number says it; else empty. None: the pieces are not
                tetrominoes, and which cells they fill is not worked out.
            hold_from: The first action that holds the current piece; None where none can be held.
        """
        self.state = self.start = state
        self.action = -1
        self.landing: Landing | None = None
        self.end: str | None = None
        self._width = width
        self._shapes = shapes
        self._hold_from = hold_from
        self._last: Cells = ()
        self._cells = np.where(_bits(state.rows, width), np.int8(GIVEN), np.int8(EMPTY))

    def copy(self) -> Course:
        """The same game, to go on from here more than once."""
        twin = copy.copy(self)
        twin._cells = self._cells.copy()
        return twin

    def step(self, action: int, state: GameState, end: str | None) -> None:
        """Follows an action.

        Args:
            action: What was done.
            state: What the server shows after it.
            end: How the game ended, if it did.
        """
        before, self.action, self.state, self.end, self.landing = self.state, action, state, end, None
        if state.pieces > before.pieces:
            self._land(before, action, state)

    def _land(self, before: GameState, action: int, state: GameState) -> None:
        lines = state.lines - before.lines
        piece = self._placed(before, action)
        if self._shapes is None:
            self.landing = Landing(piece, (), (), lines)
            self._cells = np.where(_bits(state.rows, self._width), np.int8(GIVEN), np.int8(EMPTY))
            return
        shapes = self._landing_shapes(before, piece, action)
        # Rows have risen after it. What they pushed over the top does not show any more; the game is over then.
        risen = state.garbage_rows - before.garbage_rows
        after = (*state.rows[risen:], *[0] * risen)
        cells, cleared = landed(before.rows, after, self._width, lines, state.landing_row, shapes)
        if risen and len(cells) < 4:
            top, column = len(after) - risen, self._column(before, action)
            cells = _completed(cells, before.rows, self._width, state.landing_row, shapes, top, column)
        self.landing = Landing(piece, cells, cleared, lines)
        for row, column in cells:
            self._cells[row, column] = piece
        kept = np.delete(self._cells, cleared, axis=0)
        self._cells = np.vstack([kept, np.full((len(cleared), self._width), EMPTY, np.int8)])
        self._last = tuple(
            (row - sum(other < row for other in cleared) + risen, column) for row, column in cells if row not in cleared
        )
        self._last = tuple((row, column) for row, column in self._last if row < len(state.rows))
        self._cells = np.vstack([np.full((risen, self._width), EMPTY, np.int8), self._cells])[: len(state.rows)]
        # The server's playfield counts: what a landing does not explain came from somewhere else.
        full = _bits(state.rows, self._width)
        self._cells[~full] = EMPTY
        self._cells[full & (self._cells == EMPTY)] = GIVEN

    def _placed(self, before: GameState, action: int) -> int:
        """The piece that a placement is of."""
        if self._hold_from is None or action < self._hold_from:
            return before.current
        return before.held if before.held >= 0 else before.queue[0]

    def _column(self, before: GameState, action: int) -> int | None:
        """The leftmost column of the piece that an action lets land, where that is known."""
        if before.falling:
            return min(column for _, column in before.falling) + {LEFT: -1, RIGHT: 1}.get(action, 0)
        return action % self._width if self._shapes else None

    def _landing_shapes(self, before: GameState, piece: int, action: int) -> Sequence[Cells]:
        """The orientations in which the piece may land."""
        if before.falling:
            falling = shape(before.falling)
            # A turn for which there is no room does nothing.
            if action in (TURN_LEFT, TURN_RIGHT):
                return (turned(falling, left=action == TURN_LEFT), falling)
            if action == TURN_HALF:
                return (turned(turned(falling, left=True), left=True), falling)
            return (falling,)
        known = self._shapes.get((piece, action)) if self._shapes else None
        return orientations(piece) if known is None else (known,)

    def scene(self) -> Scene:
        """The game as it stands, with the numbers counted from its beginning."""
        state, start = self.state, self.start
        in_play = self.end is None and state.current >= 0
        falling = state.falling if in_play else ()
        return Scene(
            cells=self._cells.copy(),
            current=state.current if in_play else None,
            falling=falling,
            ghost=dropped(falling, self._cells),
            queue=state.queue,
            last=self._last,
            full_rows=(),
            steps=state.steps - start.steps,
            pieces=state.pieces - start.pieces,
            lines=state.lines - start.lines,
            score=state.score - start.score,
            end=self.end,
            held=state.held if state.held >= 0 else None,
            garbage=state.garbage,
        )


def landed(
    before: Sequence[int], after: Sequence[int], width: int, lines: int, landing_row: int, shapes: Sequence[Cells]
) -> tuple[Cells, tuple[int, ...]]:
    """The cells that a piece filled, and the rows that went.

    Args:
        before: The playfield before the landing, an integer a row.
        after: The playfield after it.
        width: Columns of the playfield.
        lines: How many rows went.
        landing_row: The row of the lowest cell of the piece, before rows went.
        shapes: The orientations in which the piece may have landed, as `shape` has them.

    Returns:
        The cells by row, then by column, and the rows as they were numbered before they went, the lowest first; none of
        either if nothing explains the playfields.
    """
    if lines == 0:
        return _cells_of([new & ~old for old, new in zip(before, after, strict=True)]), ()
    full = (1 << width) - 1
    was_full = [row for row, bits in enumerate(before) if bits == full]
    near = [row for row in range(max(landing_row, 0), min(landing_row + 4, len(before))) if before[row] != full]
    for others in combinations(near, max(lines - len(was_full), 0)):
        cleared = tuple(sorted([*was_full, *others]))
        # The playfield with the piece and its full rows still there.
        rest = iter(after)
        locked = [full if row in cleared else next(rest) for row in range(len(before))]
        if any(old & ~new for old, new in zip(before, locked, strict=True)):
            continue
        cells = _cells_of([new & ~old for old, new in zip(before, locked, strict=True)])
        if cells and cells[0][0] == landing_row and _is_part(cells, shapes, len(before)):
            return cells, cleared
    return (), ()


def _completed(
    cells: Cells, before: Sequence[int], width: int, low: int, shapes: Sequence[Cells], top: int, column: int | None
) -> Cells:
    """The cells of a landed piece, with those from row `top` on, which do not show: at the place nearest to a column."""
    found = []
    for whole in shapes:
        for left in range(width - max(place for _, place in whole)):
            all_cells = tuple((row + low, place + left) for row, place in whole if row + low < len(before))
            is_free = not any(before[row] >> place & 1 for row, place in all_cells)
            if is_free and tuple(cell for cell in all_cells if cell[0] < top) == cells:
                found.append((0 if column is None else abs(left - column), all_cells))
    return min(found)[1] if found else cells


def _is_part(cells: Cells, shapes: Sequence[Cells], height: int) -> bool:
    """Whether cells have one of the shapes, or are the part of one that is in the playfield."""
    low, left = cells[0][0], min(column for _, column in cells)
    return any(
        tuple((row + low, column - shift + left) for row, column in whole if row + low < height) == cells
        for whole in shapes
        # The part in the playfield may lack the leftmost cell.
        for shift in {column for _, column in whole}
    )


def shape(cells: Iterable[Cell]) -> Cells:
    """Cells by row, then by column, moved to where the lowest row and the leftmost column are 0."""
    some = list(cells)
    low, left = min(row for row, _ in some), min(column for _, column in some)
    return tuple(sorted((row - low, column - left) for row, column in some))


def turned(cells: Cells, *, left: bool) -> Cells:
    """A shape after a quarter turn: counter-clockwise to the left, else clockwise."""
    return shape((column, -row) if left else (-column, row) for row, column in cells)


@cache
def orientations(tetromino: int) -> tuple[Cells, ...]:
    """The shapes of a tetromino, whatever their numbers in the rules."""
    drawing = reversed(LYING[tetromino])
    found = [shape((row, column) for row, line in enumerate(drawing) for column, cell in enumerate(line) if cell == "#")]
    for _ in range(3):
        found.append(turned(found[-1], left=True))
    return tuple(dict.fromkeys(found))


def dropped(piece: Cells, cells: npt.NDArray[np.int8]) -> Cells:
    """Where the cells of a piece come to rest if they fall straight down; none if they overlap the playfield."""
    height, width = cells.shape

    def fits(distance: int) -> bool:
        return all(
            row >= distance and 0 <= column < width and (row - distance >= height or cells[row - distance, column] == EMPTY)
            for row, column in piece
        )

    if not piece or not fits(0):
        return ()
    distance = next(distance for distance in range(len(cells) + 4) if not fits(distance + 1))
    return tuple((row - distance, column) for row, column in piece)


def drawn(rows: Sequence[int], width: int) -> list[str]:
    """A playfield as a drawing, the top row first, `#` full and `.` empty; without the empty rows at the top."""
    lines = ["".join("#" if bits >> column & 1 else "." for column in range(width)) for bits in rows]
    while lines and "#" not in lines[-1]:
        lines.pop()
    return lines[::-1]


def letters(pieces: Sequence[int], known: str = LETTERS) -> str:
    """Pieces as their letters, those of the set that they belong to."""
    return "".join(known[piece] for piece in pieces)


def points(score: float) -> str:
    """Points, with a digit behind the point where they are not whole."""
    return f"{score:.0f}" if score == int(score) else f"{score:.1f}"


def _bits(rows: Sequence[int], width: int) -> npt.NDArray[np.bool_]:
    return (np.array(rows, np.int64)[:, None] >> np.arange(width) & 1).astype(np.bool_)


def _cells_of(rows: Sequence[int]) -> Cells:
    return tuple(
        (row, column) for row, bits in enumerate(rows) if bits for column in range(bits.bit_length()) if bits >> column & 1
    )
