"""Pictures of a scene: pixels for videos and notebooks, coloured text for terminals.

The pixels are those of `tetrion export`: the same colours, letters and measures. Pictures that an environment renders show
the piece to be placed as well.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tetrion._checks import arguments
from tetrion._pb import messages as pb
from tetrion._pictures import font
from tetrion._pictures.scenes import EMPTY, ENDINGS, LETTERS, LYING, Cell, Scene, points
from tetrion.errors import InvalidArgumentError

Rgb = tuple[int, int, int]
Picture = npt.NDArray[np.uint8]

# The colours of I O T Z S J L, and of cells whose tetromino is not known. `usual` has those that pieces have had since 2001,
# `color-blind` seven that people with any kind of colour blindness can tell apart: those of Okabe and Ito (2008), "Color
# Universal Design".
_GREY = (0x8A, 0x90, 0x9C)
PALETTES: dict[str, tuple[Rgb, ...]] = {
    "usual": (
        (0x2F, 0xC6, 0xE0),
        (0xF2, 0xCF, 0x3C),
        (0xA9, 0x5B, 0xD6),
        (0xE2, 0x48, 0x4D),
        (0x53, 0xB9, 0x4F),
        (0x3F, 0x6F, 0xE0),
        (0xEE, 0x8C, 0x2F),
        _GREY,
    ),
    "color-blind": (
        (0x56, 0xB4, 0xE9),
        (0xF0, 0xE4, 0x42),
        (0xCC, 0x79, 0xA7),
        (0xD5, 0x5E, 0x00),
        (0x00, 0x9E, 0x73),
        (0x00, 0x72, 0xB2),
        (0xE6, 0x9F, 0x00),
        _GREY,
    ),
}
BACKGROUND, EMPTY_CELL, GRID, FRAME = (0x1B, 0x1E, 0x26), (0x11, 0x13, 0x19), (0x1F, 0x23, 0x2D), (0x5A, 0x63, 0x75)
# The tetromino that is red: garbage that waits has its colour.
_RED = 3
LABEL, VALUE, BRIGHT = (0x8D, 0x96, 0xA8), (0xF0, 0xF2, 0xF6), (0xFF, 0xFF, 0xFF)

# Pixels of a cell's side at scale 1, and at most and at least.
_CELL, _CELLS = 16, (4, 64)
# Letters beside the playfield in a line: a number of eight digits.
_PANEL_LETTERS = 8


def checked_palette(field: str, palette: Any) -> str:
    """The name of a palette.

    Raises:
        InvalidArgumentError: There is no such palette.
    """
    return arguments.choice(field, palette, PALETTES)


def checked_scale(field: str, scale: Any) -> float:
    """A scale.

    Raises:
        InvalidArgumentError: It is no number, or out of range.
    """
    low, high = (side / _CELL for side in _CELLS)
    return arguments.number(field, scale, low, f"a number from {low:g} to {high:g}", high)


@dataclass(frozen=True)
class Layout:
    """Where things are in a picture, in pixels from the upper left corner; the same for all steps of a game.

    Attributes:
        width: Of the whole picture, even: many players of videos want it so.
        height: Of the whole picture, even.
        cell: A cell's side.
        columns: Of the playfield.
        rows: Of the playfield, as far as they are visible.
        preview: How many next pieces there is room for.
        has_hold: Whether there is room for a held piece.
        has_current: Whether the piece to be placed is shown beside the playfield.
        has_score: Whether points are shown: where they are not just lines.
        caption: The top edge of a line of words below everything; None if there is none.
    """

    width: int
    height: int
    caption: int | None
    cell: int
    columns: int
    rows: int
    preview: int
    has_hold: bool
    has_current: bool
    has_score: bool

    @classmethod
    def of(cls, rules: pb.Rules, scale: float = 1.0, *, has_current: bool = False, has_caption: bool = False) -> Layout:
        """For games of these rules, every field of which is filled in; scale 1 is 16 pixels a cell's side."""
        check_pieces(rules)
        cell = round(_CELL * checked_scale("scale", scale))
        scoring = rules.scoring
        just_lines = (scoring.piece, list(scoring.lines), scoring.game_end) == (0, [1, 2, 3, 4], 0)
        just_lines = just_lines and rules.clear_points == pb.CLEAR_POINTS_LINES
        visible = rules.height - rules.rows_above
        shown = (cell, rules.width, visible, rules.preview, rules.hold, has_current, not just_lines)
        layout = cls(0, 0, None, *shown)
        width = layout.panel + _PANEL_LETTERS * font.ADVANCE * layout.dot + layout.gap
        playfield = layout.inset + layout.rows * cell + layout.frame
        numbers = 3 if layout.has_score else 2
        panel = layout.inset + sum(map(layout.pieces_height, (int(has_current), int(rules.hold), layout.preview)))
        bottom, caption = max(playfield, panel + numbers * layout.number_height), None
        if has_caption:
            caption = bottom + layout.gap
            bottom = caption + layout.letter_height
        height = bottom + layout.gap
        return cls(width + width % 2, height + height % 2, caption, *shown)

    @property
    def dot(self) -> int:
        """Pixels of a dot of a letter, and the thickness of the frame."""
        return max(self.cell // 8, 1)

    frame = dot

    @property
    def gap(self) -> int:
        """Free space between parts."""
        return max(self.cell // 2, 4)

    @property
    def small_cell(self) -> int:
        """The side of a cell of the pieces beside the playfield."""
        return max(self.cell * 3 // 4, 3)

    @property
    def inset(self) -> int:
        """The playfield's left edge, inside the frame; its top edge is as far down."""
        return self.gap + self.frame

    @property
    def panel(self) -> int:
        """The left edge of what is beside the playfield."""
        return self.inset + self.columns * self.cell + self.frame + self.gap

    @property
    def letter_height(self) -> int:
        """Rows of a letter."""
        return font.HEIGHT * self.dot

    @property
    def number_height(self) -> int:
        """A number and its name."""
        return 2 * self.letter_height + 5 * self.dot + self.gap

    @property
    def piece_height(self) -> int:
        """A piece, which lies on its side."""
        return 2 * self.small_cell + self.gap // 2

    def pieces_height(self, count: int) -> int:
        """So many pieces and their name; 0 if there are none."""
        return self.letter_height + 3 * self.dot + count * self.piece_height + self.gap if count else 0


class Painter:
    """Paints scenes as pixels."""

    def __init__(self, layout: Layout, palette: str = "usual") -> None:
        """Prepares what is the same in all pictures.

        Raises:
            InvalidArgumentError: There is no such palette.
        """
        self.layout = layout
        self._colours = PALETTES[checked_palette("palette", palette)]
        self._ground = self._empty()
        empty = np.full((layout.cell, layout.cell, 3), EMPTY_CELL, np.uint8)
        # The grid shows between cells.
        empty[0], empty[:, 0] = GRID, GRID
        self._sprites = np.stack([*(self._block(layout.cell, colour, empty) for colour in self._colours), empty])
        small = np.full((layout.small_cell, layout.small_cell, 3), BACKGROUND, np.uint8)
        self._small = [self._block(layout.small_cell, colour, small) for colour in self._colours]

    def _empty(self) -> Picture:
        layout = self.layout
        cell, frame, inset = layout.cell, layout.frame, layout.inset
        width, height = layout.columns * cell, layout.rows * cell
        picture: Picture = np.full((layout.height, layout.width, 3), BACKGROUND, np.uint8)
        picture[inset - frame : inset + height + frame, inset - frame : inset + width + frame] = FRAME
        field = picture[inset : inset + height, inset : inset + width]
        field[:] = EMPTY_CELL
        field[:, cell::cell] = GRID
        field[cell::cell] = GRID
        return picture

    @staticmethod
    def _block(size: int, colour: Rgb, ground: Picture) -> Picture:
        block: Picture = ground.copy()
        body, edge = block[1:, 1:], max(size // 8, 1)
        body[:] = colour
        if size >= 6:
            body[:edge] = body[:, :edge] = [part + (255 - part) // 3 for part in colour]
            body[-edge:] = body[:, -edge:] = [part - part // 3 for part in colour]
        return block

    def paint(self, scene: Scene, caption: str = "") -> Picture:
        """The picture of a scene, uint8 [height, width, 3], with words below it if the layout has room for them."""
        layout = self.layout
        picture: Picture = self._ground.copy()
        cell, inset = layout.cell, layout.inset
        field = picture[inset : inset + layout.rows * cell, inset : inset + layout.columns * cell]
        cells = scene.cells[: layout.rows].copy()
        for row, column in scene.falling:
            if scene.current is not None and 0 <= row < layout.rows:
                cells[row, column] = scene.current
        waiting = min(sum(scene.garbage), layout.rows)
        if waiting:
            # A bar on the left of the frame, a row of cells high for each line.
            bottom = inset + layout.rows * cell
            picture[bottom - waiting * cell : bottom, inset - layout.frame : inset] = self._colours[_RED]
        edges = field[0].copy(), field[:, 0].copy()
        # Rows, then the pixels of a row of cells, then columns.
        field[:] = self._sprites[cells[::-1]].transpose(0, 2, 1, 3, 4).reshape(field.shape)
        field[0], field[:, 0] = edges
        if scene.current is not None:
            dark = tuple(part - part // 3 for part in self._colours[scene.current])
            for place in scene.ghost:
                if place not in scene.falling:
                    self._ring(picture, place, dark)
        thickness = -(-cell // 3)
        for row in scene.full_rows:
            top = (layout.rows - 1 - row) * cell + (cell - thickness) // 2
            field[top : top + thickness] = BRIGHT
        for place in scene.falling or scene.last:
            self._ring(picture, place, BRIGHT)
        self._panel(picture, scene)
        if layout.caption is not None:
            room = (layout.width - 2 * layout.gap) // font.ADVANCE
            # Long words are written small, and cut if that is not enough.
            dot = next((dot for dot in range(layout.dot, 1, -1) if len(caption) <= room // dot), 1)
            self._words(picture, layout.gap, layout.caption, caption[: room // dot], LABEL, dot)
        return picture

    def _ring(self, picture: Picture, place: Cell, colour: tuple[int, ...]) -> None:
        """The outline of a cell, inside it."""
        layout, (row, column) = self.layout, place
        if not 0 <= row < layout.rows:
            return
        size, edge = layout.cell, max(layout.cell // 12, 1)
        top, left = layout.inset + (layout.rows - 1 - row) * size, layout.inset + column * size
        body = picture[top + 1 : top + size, left + 1 : left + size]
        body[:edge] = body[:, :edge] = body[-edge:] = body[:, -edge:] = colour

    def _panel(self, picture: Picture, scene: Scene) -> None:
        """The pieces and the numbers beside the playfield."""
        layout = self.layout
        dot, left, top = layout.dot, layout.panel, layout.inset
        groups: list[tuple[str, int, tuple[int, ...]]] = []
        if layout.has_current:
            groups.append(("PIECE", 1, () if scene.current is None else (scene.current,)))
        if layout.has_hold:
            groups.append(("HOLD", 1, () if scene.held is None else (scene.held,)))
        if layout.preview:
            groups.append(("NEXT", layout.preview, scene.queue))
        for label, room, pieces in groups:
            self._words(picture, left, top, label, LABEL, dot)
            for place, piece in enumerate(pieces):
                self._lying(picture, piece, top + layout.letter_height + 3 * layout.dot + place * layout.piece_height)
            top += layout.pieces_height(room)
        numbers = [("LINES", str(scene.lines)), ("PIECES", str(scene.pieces))]
        if layout.has_score:
            numbers.append(("SCORE", points(scene.score)))
        for label, number in numbers:
            self._words(picture, left, top, label, LABEL, dot)
            self._words(picture, left, top + layout.letter_height + 2 * dot, number, VALUE, dot)
            top += layout.number_height

    @staticmethod
    def _words(picture: Picture, left: int, top: int, text: str, colour: Rgb, dot: int) -> None:
        dots = _dots(text, dot)
        area = picture[top : top + len(dots), left : left + dots.shape[1]]
        area[dots[:, : area.shape[1]]] = colour

    def _lying(self, picture: Picture, piece: int, top: int) -> None:
        size, left, drawing = self.layout.small_cell, self.layout.panel, LYING[piece]
        # A flat one lies in the middle of its place.
        top += (2 - len(drawing)) * size // 2
        for row, line in enumerate(drawing):
            for column, letter in enumerate(line):
                if letter == "#":
                    down, across = top + row * size, left + column * size
                    picture[down + 1 : down + size, across + 1 : across + size] = self._small[piece][1:, 1:]


@lru_cache(maxsize=256)
def _dots(text: str, dot: int) -> npt.NDArray[np.bool_]:
    return font.dots(text).repeat(dot, axis=0).repeat(dot, axis=1)


def side_by_side(pictures: Sequence[Picture], columns: int) -> Picture:
    """Pictures of one size as one picture, in rows of so many."""
    height, width, _ = pictures[0].shape
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    whole: Picture = np.full((rows * height, columns * width, 3), BACKGROUND, np.uint8)
    for place, picture in enumerate(pictures):
        top, left = place // columns * height, place % columns * width
        whole[top : top + height, left : left + width] = picture
    return whole


def png(picture: Picture) -> bytes:
    """A picture as a file of the format PNG."""
    height, width, _ = picture.shape
    # A byte before each row says how it is filtered: 2 is the difference to the row above, which is mostly 0.
    rows = np.full((height, 1 + 3 * width), 2, np.uint8)
    rows[:, 1:] = np.diff(picture.reshape(height, 3 * width), axis=0, prepend=np.uint8(0))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = [(b"IHDR", header), (b"IDAT", zlib.compress(rows.tobytes(), 1)), (b"IEND", b"")]
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


def are_tetrominoes(rules: pb.Rules) -> bool:
    """Whether the pieces of a game are tetrominoes."""
    return rules.piece_set in ("", "tetrominoes")


def check_pieces(rules: pb.Rules) -> None:
    """Checks that a game has tetrominoes, whose colours and shapes this package knows.

    Raises:
        InvalidArgumentError: It has other pieces.
    """
    if not are_tetrominoes(rules):
        raise InvalidArgumentError(
            "rules.piece_set",
            f"is {rules.piece_set!r}; pictures and scenes here are of tetrominoes, `tetrion export` draws any pieces",
        )


def text(scene: Scene, rules: pb.Rules, palette: str | None = "usual") -> str:
    """A scene for a terminal.

    With a palette it has colours by ANSI escape sequences, and two characters a cell, so that it is about square. Without
    one a cell is the letter of its tetromino, a small one for the piece in play and for the last one.
    """
    colours = [_of_256(colour) for colour in PALETTES[palette]] if palette is not None else None
    frame = f"+{'-' * rules.width * (1 if colours is None else 2)}+"
    aside = iter(_aside(scene, rules, colours))
    lines = [frame]
    for row in range(rules.height - rules.rows_above - 1, -1, -1):
        cells = "".join(_place(scene, (row, column), colours) for column in range(rules.width))
        words = next(aside, "")
        lines.append(f"|{cells}|" + (f"  {words}" if words else ""))
    return "\n".join([*lines, frame, *aside])


def _place(scene: Scene, place: Cell, colours: list[int] | None) -> str:
    hue, is_marked = int(scene.cells[place]), False
    if scene.current is not None and place in scene.falling:
        hue, is_marked = scene.current, True
    elif scene.current is not None and hue == EMPTY and place in scene.ghost:
        return ":" if colours is None else f"\x1b[38;5;{colours[scene.current]}m[]\x1b[0m"
    elif hue == EMPTY:
        return "." if colours is None else " ."
    elif not scene.falling:
        is_marked = place in scene.last
    if colours is None:
        letter = f"{LETTERS}#"[hue]
        return letter.lower() if is_marked else letter
    return f"\x1b[1;30;48;5;{colours[hue]}m[]\x1b[0m" if is_marked else f"\x1b[48;5;{colours[hue]}m  \x1b[0m"


def _aside(scene: Scene, rules: pb.Rules, colours: list[int] | None) -> list[str]:
    """The lines beside the playfield."""

    def letter(piece: int) -> str:
        return LETTERS[piece] if colours is None else f"\x1b[1;38;5;{colours[piece]}m{LETTERS[piece]}\x1b[0m"

    lines = []
    if scene.current is not None:
        lines.append(f"piece  {letter(scene.current)}")
    if scene.held is not None:
        lines.append(f"hold   {letter(scene.held)}")
    if rules.preview:
        lines.append(f"next   {''.join(map(letter, scene.queue))}")
    if scene.garbage:
        now, later = scene.garbage[0], sum(scene.garbage[1:])
        lines.append(f"rising {now} +{later}" if later else f"rising {now}")
    lines += [f"lines  {scene.lines}", f"pieces {scene.pieces}", f"points {points(scene.score)}"]
    return [*lines, ENDINGS[scene.end]] if scene.end is not None else lines


def _of_256(colour: Rgb) -> int:
    """The nearest of the 6 x 6 x 6 colours that terminals have had since 1999."""
    red, green, blue = (0 if part < 48 else 1 if part < 115 else (part - 35) // 40 for part in colour)
    return 16 + 36 * red + 6 * green + blue
