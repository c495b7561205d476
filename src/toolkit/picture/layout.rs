//! Positions of things in a picture, in pixels from the upper left corner.

use tetrion_core::engine::{ActionModel, OrientationTable, Piece, PieceSet, Rules, Shape};

use super::font;

/// Pixels of a cell's side: smaller cells are hard to distinguish, and larger ones add nothing.
pub const CELL_SIZES: std::ops::RangeInclusive<u32> = 4..=64;

/// Letters beside the playfield in a line: a number of eight digits.
const PANEL_LETTERS: u32 = 8;

/// The measures of the pictures of one game, in pixels unless stated otherwise. They are the same for all of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Width of the whole picture, even.
    pub width: u32,
    /// Height of the whole picture, even.
    pub height: u32,
    /// Width of the picture of a game, or of one side of a match.
    pub side: u32,
    /// Side of a cell of the playfield.
    pub cell: u32,
    /// The side of a cell of the next pieces.
    pub small_cell: u32,
    /// Pixels of a dot of a letter.
    pub dot: u32,
    pub frame: u32,
    /// Free space between parts.
    pub gap: u32,
    pub columns: u32,
    /// Rows of the playfield that are visible.
    pub rows: u32,
    /// The playfield's left edge, inside the frame; its top edge is as far down.
    pub inset: u32,
    /// The left edge of the panel next to the playfield.
    pub panel: u32,
    pub pieces: PieceSet,
    /// Rows of the highest lying piece.
    pub lying_rows: u32,
    /// Number of next pieces that fit.
    pub preview: u32,
    /// Whether there is room for a current piece that waits for a placement.
    pub has_waiting: bool,
    /// Whether there is room for a held piece.
    pub has_hold: bool,
    /// Whether points are shown: where they are not just lines.
    pub has_score: bool,
    /// The top edge of the line below everything, if there is one.
    pub caption: Option<u32>,
}

impl Layout {
    /// For replays of games of these rules, of both sides of a match, with cells of this size, which is taken to the nearest of [`CELL_SIZES`]; with room for a
    /// line below everything, if there is something to say.
    pub fn new(rules: &Rules, cell: u32, has_caption: bool) -> Layout {
        let layout = Layout::measured(rules, cell, has_caption, false);
        Layout { width: layout.side * if rules.is_match() { 2 } else { 1 }, ..layout }
    }

    /// Like [`Layout::new`], for single games that wait for their next action: see [`Moment::standing`](super::Moment::standing).
    pub fn standing(rules: &Rules, cell: u32, has_caption: bool) -> Layout {
        Layout::measured(rules, cell, has_caption, rules.action_model == ActionModel::Placement)
    }

    fn measured(rules: &Rules, cell: u32, has_caption: bool, has_waiting: bool) -> Layout {
        let cell = cell.clamp(*CELL_SIZES.start(), *CELL_SIZES.end());
        let (dot, frame, gap) = ((cell / 8).max(1), (cell / 8).max(1), (cell / 2).max(4));
        let (columns, rows) = (u32::from(rules.width), u32::from(rules.visible_rows()));
        let inset = gap + frame;
        let panel = inset + columns * cell + frame + gap;
        let mut layout = Layout {
            width: panel + PANEL_LETTERS * font::ADVANCE * dot + gap,
            height: 0,
            side: 0,
            cell,
            small_cell: (cell * 3 / 4).max(3),
            dot,
            frame,
            gap,
            columns,
            rows,
            inset,
            panel,
            pieces: rules.pieces,
            lying_rows: rules
                .pieces
                .iter()
                .map(|piece| lying(&rules.pieces, piece).height.into())
                .max()
                .unwrap_or(2),
            preview: rules.preview.into(),
            has_waiting,
            has_hold: rules.hold,
            has_score: !rules.points_are_lines(),
            caption: None,
        };
        let playfield = inset + rows * cell + frame;
        let numbers = if layout.has_score { 3 } else { 2 };
        let pieces = layout.waiting_height() + layout.hold_height() + layout.next_height();
        let panel = inset + pieces + numbers * layout.number_height();
        let mut bottom = playfield.max(panel);
        if has_caption {
            layout.caption = Some(bottom + gap);
            bottom += gap + layout.letter_height();
        }
        layout.height = (bottom + gap).next_multiple_of(2);
        layout.width = layout.width.next_multiple_of(2);
        layout.side = layout.width;
        layout
    }

    /// Pixels from the top to the bottom of a letter.
    pub fn letter_height(&self) -> u32 {
        font::HEIGHT * self.dot
    }

    /// Height of a number and its name.
    pub fn number_height(&self) -> u32 {
        2 * self.letter_height() + 5 * self.dot + self.gap
    }

    /// Height of a next piece, which lies on its side.
    pub fn piece_height(&self) -> u32 {
        self.lying_rows * self.small_cell + self.gap / 2
    }

    /// Height of the waiting piece and its name; 0 if none is shown.
    pub fn waiting_height(&self) -> u32 {
        self.pieces_height(self.has_waiting.into())
    }

    /// Height of the held piece and its name; 0 if none can be held.
    pub fn hold_height(&self) -> u32 {
        self.pieces_height(self.has_hold.into())
    }

    /// Height of the next pieces and their name; 0 if none are shown.
    pub fn next_height(&self) -> u32 {
        self.pieces_height(self.preview)
    }

    /// Height of some pieces and their name; 0 without pieces.
    fn pieces_height(&self, pieces: u32) -> u32 {
        if pieces == 0 {
            return 0;
        }
        self.letter_height() + 3 * self.dot + pieces * self.piece_height() + self.gap
    }

    /// The left edge of a column.
    pub fn x(&self, column: u8) -> u32 {
        self.inset + u32::from(column) * self.cell
    }

    /// The top edge of a row of the playfield.
    pub fn y(&self, row: u8) -> u32 {
        self.inset + (self.rows - 1 - u32::from(row)) * self.cell
    }
}

/// A piece as it lies next to the playfield, whatever the rules say.
pub(super) fn lying(pieces: &PieceSet, piece: Piece) -> &'static Shape {
    if pieces.is_tetrominoes() {
        let rules = Rules { orientations: OrientationTable::Survey, ..Rules::default() };
        return &rules.shapes(piece)[0];
    }
    let rules = Rules { pieces: *pieces, ..Rules::default() };
    rules.shapes(piece).iter().min_by_key(|shape| shape.height).expect("a piece has a shape")
}
