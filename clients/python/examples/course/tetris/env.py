"""The module `tetris/env.py` of a course notebook, over Tetrion, which plays by the rules of the preset `lab`.

Put the folder `tetris` next to the notebook, and its cells run unchanged. A place is (column, row); row 0 is the highest.
"""

import sys
import time
from dataclasses import dataclass, replace

import numpy as np

import tetrion

LETTERS = "IOTZSJL"


@dataclass(frozen=True, eq=False)
class Tetromino:
    """A tetromino: its name, the place of its anchor, and the places of its cells relative to the anchor."""

    name: str
    anchor: tuple
    blocks: np.ndarray

    @staticmethod
    def create(name, anchor):
        return Tetromino(name, anchor, BLOCKS[name])

    def position(self):
        return self.blocks + self.anchor

    def moved(self, columns, rows):
        return replace(self, anchor=(self.anchor[0] + columns, self.anchor[1] + rows))

    def move_left(self):
        return self.moved(-1, 0)

    def move_right(self):
        return self.moved(1, 0)

    def rotate_left(self):
        return replace(self, blocks=self.blocks @ [[0, -1], [1, 0]])

    def rotate_right(self):
        return replace(self, blocks=self.blocks @ [[0, 1], [-1, 0]])

    def drop(self, board, column=None):
        piece = self
        if column is not None:  # it walks there from the middle of the top row
            piece = replace(self, anchor=(board.columns() // 2, 0))
            while piece.anchor[0] != column and board.can_place(piece):
                piece = piece.move_left() if column < piece.anchor[0] else piece.move_right()
        if not board.can_place(piece):
            return None
        while board.can_place(piece.moved(0, 1)):
            piece = piece.moved(0, 1)
        return piece

    def action_for(self, target):
        """The next key on the way to a landed tetromino: turns, then moves, then the drop."""
        turned, turns = self, 0
        while turns < 4 and not np.array_equal(turned.blocks, target.blocks):
            turned, turns = turned.rotate_left(), turns + 1
        columns = target.anchor[0] - self.anchor[0]
        return [2 if columns > 0 else 1 if columns < 0 else 5, 3, 3, 4, 5][turns]


class Board:
    """A playfield: `grid[column, row]` is 1 where it is full."""

    def __init__(self, grid):
        self.grid = np.array(grid, dtype=int)

    def columns(self):
        return self.grid.shape[0]

    def rows(self):
        return self.grid.shape[1]

    def can_place(self, piece):
        columns, rows = piece.position().T
        is_inside = columns.min() >= 0 and columns.max() < self.columns() and rows.max() < self.rows()
        return bool(is_inside and not self.grid[columns, rows.clip(0)][rows >= 0].any())  # cells may lie above the top row

    def add(self, piece):
        board, (columns, rows) = Board(self.grid), piece.position().T
        board.grid[columns[rows >= 0], rows[rows >= 0]] = 1
        return board

    def __str__(self):
        """The drawing of the notebook."""
        edge = f"   o{'--' * self.columns()}o"
        rows = (f"{number:2} |{''.join('[]' if cell else '  ' for cell in row)}|" for number, row in enumerate(self.grid.T))
        return "\n".join([edge, *rows, edge])


class TetrisEnv:
    """The game: a step is a key from 0 to 5, and its state is a board and the tetromino that falls."""

    def __init__(self):
        self._env = tetrion.KeypressEnv(observations=["board", "current", "falling_cells"], label="tetris.env")
        self._seed = None

    def seed(self, seed):
        self._seed = seed

    def reset(self):
        seen, _ = self._env.reset(seed=self._seed)
        self._seed, self._is_over = None, False  # the next game has other pieces
        return self._show(seen, [])

    def step(self, action):
        if self._is_over:  # the first cell of the notebook does not look
            return self._state, 0.0, True
        piece = self._state[1]
        keys = {1: piece.move_left, 2: piece.move_right, 3: piece.rotate_left, 4: piece.rotate_right}
        seen, lines, self._is_over, _, _ = self._env.step(action)
        return self._show(seen, [keys.get(action, lambda: piece)(), piece]), lines, self._is_over

    def _show(self, seen, before):
        """The board, and the piece that lies where the engine's does: one of `before` a row lower, or else a new one."""
        board = Board(seen["board"][::-1].T)
        cells = sorted(_places(seen["falling_cells"], board.rows()).tolist())
        lower = (piece.moved(0, 1) for piece in before)
        new = Tetromino.create(LETTERS[int(seen["current"])], (board.columns() // 2, 0))
        self._state = board, next((piece for piece in lower if sorted(piece.position().tolist()) == cells), new)
        return self._state

    def render(self):
        """Draws the game over its last picture, in a terminal or in a notebook."""
        if "IPython" in sys.modules:
            sys.modules["IPython"].display.clear_output(wait=True)
        print("\x1b[H\x1b[J" * sys.stdout.isatty() + self._env.session.render(style="lab")[0], flush=True)
        time.sleep(0.05)

    def close(self):
        self._env.close()


def _places(cells, rows):
    """Places from the engine's pairs of a row, counted from the bottom, and a column."""
    return np.stack([cells[:, 1].astype(int), rows - 1 - cells[:, 0].astype(int)], axis=1)


def _blocks():
    """The cells of every tetromino around its anchor: it appears with the anchor in the middle of the top row."""
    with tetrion.Client().create_session(len(LETTERS), rules="lab", observations=["falling_cells"]) as session:
        created = session.reset(piece_sequences=list(LETTERS)).observations["falling_cells"]
        width, height = session.rules["width"], session.rules["height"]
    return {letter: _places(cells, height) - (width // 2, 0) for letter, cells in zip(LETTERS, created, strict=True)}


BLOCKS = _blocks()
