//! The seven tetrominoes and their shapes.
//!
//! One canonical drawing a tetromino; every other orientation is that drawing turned a quarter counter-clockwise, and
//! only distinct shapes are kept. A rule set numbers the same shapes in its own way: see
//! [`OrientationTable`](super::rules::OrientationTable).
//!
//! One cell of each is its anchor: the cell that it is turned around and that says where it appears. Where pieces come
//! straight down and do not turn on the way, it is unused.

use std::fmt;

use super::piece::Piece;

/// One of the seven tetrominoes: a [`Piece`] of the set that all rules but those with [other pieces](super::pieces) have.
pub type Tetromino = Piece;

/// The tetrominoes, in the order in which they are numbered everywhere.
#[allow(missing_docs)] // a letter says all there is to say
impl Tetromino {
    pub const I: Tetromino = Piece::new(0);
    pub const O: Tetromino = Piece::new(1);
    pub const T: Tetromino = Piece::new(2);
    pub const Z: Tetromino = Piece::new(3);
    pub const S: Tetromino = Piece::new(4);
    pub const J: Tetromino = Piece::new(5);
    pub const L: Tetromino = Piece::new(6);

    /// All seven, by number.
    pub const ALL: [Tetromino; 7] =
        [Tetromino::I, Tetromino::O, Tetromino::T, Tetromino::Z, Tetromino::S, Tetromino::J, Tetromino::L];

    /// The tetromino with this number, or `None` from 7 on.
    pub const fn from_index(index: u8) -> Option<Tetromino> {
        if index < 7 { Some(Tetromino::ALL[index as usize]) } else { None }
    }

    /// The tetromino with this letter, upper or lower case.
    pub const fn from_letter(letter: char) -> Option<Tetromino> {
        let mut i = 0;
        while i < 7 {
            if Tetromino::ALL[i].letter() == letter.to_ascii_uppercase() {
                return Some(Tetromino::ALL[i]);
            }
            i += 1;
        }
        None
    }

    /// The letter of a tetromino, upper case.
    ///
    /// # Panics
    /// For a piece of another set.
    pub const fn letter(self) -> char {
        b"IOTZSJL"[self.index()] as char
    }
}

/// The letter of a tetromino. Pieces of other sets have theirs there; here they are numbers.
impl fmt::Display for Tetromino {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Tetromino::from_index(self.number()) {
            Some(tetromino) => write!(f, "{}", tetromino.letter()),
            None => write!(f, "{}", self.number()),
        }
    }
}

/// A sequence of pieces has a letter that names no tetromino.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{letter:?} at position {position} names no tetromino, expected one of I O T Z S J L")]
pub struct UnknownLetter {
    /// What was found.
    pub letter: char,
    /// Where, counted from 0 in characters.
    pub position: usize,
}

/// Reads a sequence of letters; blanks between them are skipped.
///
/// # Errors
/// [`UnknownLetter`] for the first character that is neither blank nor one of the seven letters.
pub fn parse_sequence(letters: &str) -> Result<Vec<Tetromino>, UnknownLetter> {
    let parse = |(position, letter)| Tetromino::from_letter(letter).ok_or(UnknownLetter { letter, position });
    letters.chars().enumerate().filter(|(_, letter)| !letter.is_ascii_whitespace()).map(parse).collect()
}

/// The cells of a tetromino in one orientation, as columns in their bounding box.
///
/// Every column of a tetromino is one unbroken run of cells, so two numbers describe a column; the fast code relies on that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Columns of the bounding box, 1..=4.
    pub width: u8,
    /// Rows of the bounding box, 1..=4.
    pub height: u8,
    /// Per column, the row of its lowest cell above the bottom of the box; 0 beyond `width`.
    pub bottoms: [u8; 4],
    /// Per column, the row just above its highest cell; 0 beyond `width`.
    pub tops: [u8; 4],
    /// Per column, its cells as bits, bit 0 at the bottom of the box; 0 beyond `width`.
    bits: [u8; 4],
    /// Per column, all bits; 0 beyond `width`.
    masks: [i8; 4],
    /// Column of the anchor cell in the bounding box.
    pub anchor_column: u8,
    /// Row of the anchor cell above the bottom of the box.
    pub anchor_row: u8,
}

impl Shape {
    /// The shape with no cells, which fills unused places of tables.
    const NONE: Shape = Shape {
        width: 0,
        height: 0,
        bottoms: [0; 4],
        tops: [0; 4],
        bits: [0; 4],
        masks: [0; 4],
        anchor_column: 0,
        anchor_row: 0,
    };

    /// The cells of one column as bits, bit 0 at the bottom of the box.
    #[inline(always)]
    pub const fn column_bits(&self, column: usize) -> u32 {
        self.bits[column] as u32
    }

    /// All ones for a column of the shape, 0 beyond its width: to be `and`ed with a column of a playfield.
    #[inline(always)]
    pub(super) const fn column_mask(&self, column: usize) -> u64 {
        self.masks[column] as i64 as u64
    }

    /// The shape with its columns as bits, once the runs of cells are known.
    const fn with_bits(mut self) -> Shape {
        let mut column = 0;
        while column < 4 {
            self.bits[column] = (1 << self.tops[column]) - (1 << self.bottoms[column]);
            self.masks[column] = if self.bits[column] == 0 { 0 } else { -1 };
            column += 1;
        }
        self
    }

    /// The cells of one row as bits, bit 0 at the left of the box; row 0 is its lowest.
    pub const fn row_bits(&self, row: u8) -> u32 {
        let (mut bits, mut column) = (0, 0);
        while column < self.width {
            let (bottom, top) = (self.bottoms[column as usize], self.tops[column as usize]);
            if bottom <= row && row < top {
                bits |= 1 << column;
            }
            column += 1;
        }
        bits
    }

    /// The row and the column of its four cells, by row, then by column, with the lower left corner of its bounding box at
    /// this row and column.
    pub fn cells_at(&self, bottom: u8, left: u8) -> [(u8, u8); 4] {
        let mut cells = [(0, 0); 4];
        let mut n = 0;
        for row in 0..self.height {
            for column in 0..self.width {
                if self.column_bits(column.into()) >> row & 1 == 1 {
                    cells[n] = (bottom + row, left + column);
                    n += 1;
                }
            }
        }
        cells
    }

    /// The lower left corner of the bounding box, as column and row, where the shape appears in a playfield of this size:
    /// the anchor in the top row and in the column floor(width / 2), or as near to it as the walls allow.
    ///
    /// Cells above the anchor are above the playfield then.
    pub const fn spawn(&self, width: u8, height: u8) -> (u8, u8) {
        let column = width / 2 - self.anchor_column;
        let rightmost = width - self.width;
        (if column < rightmost { column } else { rightmost }, height - 1 - self.anchor_row)
    }

    /// Reads a drawing: rows from the top, separated by `/`, `X` full, `@` full and the anchor, `.` empty.
    const fn from_drawing(drawing: &str) -> Shape {
        let text = drawing.as_bytes();
        let (mut width, mut height, mut i) = (0, 1, 0);
        while i < text.len() {
            if text[i] == b'/' {
                height += 1;
            } else if height == 1 {
                width += 1;
            }
            i += 1;
        }
        let mut shape = Shape { width, height, ..Shape::NONE };
        let mut column = 0;
        while column < width as usize {
            let mut row = 0; // from the bottom
            let mut seen = false;
            while row < height {
                let from_top = (height - 1 - row) as usize;
                let cell = text[from_top * (width as usize + 1) + column];
                if cell == b'@' {
                    shape.anchor_column = column as u8;
                    shape.anchor_row = row;
                }
                if cell != b'.' {
                    if !seen {
                        shape.bottoms[column] = row;
                        seen = true;
                    }
                    shape.tops[column] = row + 1;
                }
                row += 1;
            }
            column += 1;
        }
        shape.with_bits()
    }

    /// This shape turned a quarter counter-clockwise.
    const fn turned(&self) -> Shape {
        // Column c of the turned shape holds the old row (height - 1 - c), read from the left as the new bottom-up.
        let mut turned = Shape {
            width: self.height,
            height: self.width,
            anchor_column: self.height - 1 - self.anchor_row,
            anchor_row: self.anchor_column,
            ..Shape::NONE
        };
        let mut column = 0;
        while column < turned.width as usize {
            let old_row = self.height - 1 - column as u8;
            let mut row = 0;
            let mut seen = false;
            while row < turned.height {
                if self.bottoms[row as usize] <= old_row && old_row < self.tops[row as usize] {
                    if !seen {
                        turned.bottoms[column] = row;
                        seen = true;
                    }
                    turned.tops[column] = row + 1;
                }
                row += 1;
            }
            column += 1;
        }
        turned.with_bits()
    }

    /// Whether the cells are the same, wherever the anchor is.
    const fn same(&self, other: &Shape) -> bool {
        let mut same = self.width == other.width && self.height == other.height;
        let mut i = 0;
        while i < 4 {
            same &= self.bottoms[i] == other.bottoms[i] && self.tops[i] == other.tops[i];
            i += 1;
        }
        same
    }
}

/// The distinct shapes of one tetromino, in the order of a rule set's orientations.
#[derive(Clone, Copy, Debug)]
pub struct Shapes {
    shapes: [Shape; 4],
    len: usize,
    /// Of each shape; where there is no shape, a width that fits nowhere.
    widths: [u8; 4],
}

impl Shapes {
    /// The shapes as a slice; the index is the orientation.
    pub const fn as_slice(&self) -> &[Shape] {
        self.shapes.split_at(self.len).0
    }

    /// By orientation the columns of the shape; where the orientation does not exist, more than any playfield has.
    #[inline]
    pub const fn widths(&self) -> [u8; 4] {
        self.widths
    }

    /// The first `len` of these.
    const fn first(shapes: [Shape; 4], len: usize) -> Shapes {
        let mut widths = [u8::MAX; 4];
        let mut i = 0;
        while i < len {
            widths[i] = shapes[i].width;
            i += 1;
        }
        Shapes { shapes, len, widths }
    }

    /// The distinct ones among the poses of a tetromino, by quarter turns to the right.
    const fn distinct(poses: [Shape; 4]) -> Shapes {
        let len = if poses[1].same(&poses[0]) {
            1
        } else if poses[2].same(&poses[0]) {
            2
        } else {
            4
        };
        Shapes::first(poses, len)
    }

    /// The distinct ones in the lab's order: as created, turned right, turned left, half a turn.
    const fn of_lab(poses: [Shape; 4]) -> Shapes {
        let [created, right, half, left] = poses;
        Shapes::first([created, right, left, half], Shapes::distinct(poses).len)
    }

    /// The same shapes with the anchors of another list of them.
    const fn anchored_as(mut self, other: &Shapes) -> Shapes {
        let mut i = 0;
        while i < self.len {
            let mut k = 0;
            while !self.shapes[i].same(&other.shapes[k]) {
                k += 1;
            }
            self.shapes[i] = other.shapes[k];
            i += 1;
        }
        self
    }

    /// Turns a drawing counter-clockwise until a shape repeats.
    const fn from_drawing(drawing: &str) -> Shapes {
        let mut shapes = [Shape::from_drawing(drawing); 4];
        let mut len = 1;
        while len < 4 {
            let next = shapes[len - 1].turned();
            if next.same(&shapes[0]) {
                break;
            }
            // A shape that comes back after two turns has come back to the first: I, S and Z have two, O has one.
            shapes[len] = next;
            len += 1;
        }
        Shapes::first(shapes, len)
    }
}

/// A tetromino as the course notebook creates it, then turned a quarter to the right, half a turn, a quarter to the left.
///
/// The anchor stays where it is, so that even a turned O is somewhere else.
const fn poses(drawing: &str) -> [Shape; 4] {
    let created = Shape::from_drawing(drawing);
    let left = created.turned();
    let half = left.turned();
    [created, half.turned(), half, left]
}

/// Every tetromino in four poses, by quarter turns to the right.
pub(super) static POSES: [[Shape; 4]; 7] = ALL_POSES;

const ALL_POSES: [[Shape; 4]; 7] = [
    poses("X/X/X/@"),
    poses("XX/X@"),
    poses(".X./X@X"),
    poses("XX./.@X"),
    poses(".XX/X@."),
    poses(".X/.X/X@"),
    poses("X./X./@X"),
];

const LAB_SHAPES: [Shapes; 7] = {
    let mut table = [Shapes::first([Shape::NONE; 4], 0); 7];
    let mut i = 0;
    while i < 7 {
        table[i] = Shapes::of_lab(ALL_POSES[i]);
        i += 1;
    }
    table
};

/// A table of shapes from a drawing of each tetromino's first one.
const fn table(drawings: [&str; 7]) -> [Shapes; 7] {
    let mut table = LAB_SHAPES;
    let mut i = 0;
    while i < 7 {
        table[i] = Shapes::from_drawing(drawings[i]).anchored_as(&LAB_SHAPES[i]);
        i += 1;
    }
    table
}

/// Every tetromino as modern Tetris makes it appear, then by quarter turns to the right. The anchor is the cell that stays
/// where it is when a tetromino turns without a kick: what is called true rotation.
pub(super) static TRUE_POSES: [[Shape; 4]; 7] = ALL_TRUE_POSES;

const ALL_TRUE_POSES: [[Shape; 4]; 7] = [
    poses("X@XX"),
    poses("XX/@X"),
    poses(".X./X@X"),
    poses("XX./.@X"),
    poses(".XX/X@."),
    poses("X../X@X"),
    poses("..X/X@X"),
];

/// The cells of a pose as columns and rows from its anchor, which comes first.
pub(super) const fn cells_from_anchor(tetromino: usize, turns: usize) -> [(i8, i8); 4] {
    let shape = &ALL_TRUE_POSES[tetromino][turns];
    let mut cells = [(0, 0); 4];
    let (mut n, mut column) = (1, 0);
    while column < shape.width {
        let mut row = shape.bottoms[column as usize];
        while row < shape.tops[column as usize] {
            let cell = (column as i8 - shape.anchor_column as i8, row as i8 - shape.anchor_row as i8);
            if cell.0 != 0 || cell.1 != 0 {
                cells[n] = cell;
                n += 1;
            }
            row += 1;
        }
        column += 1;
    }
    cells
}

/// The shapes by tetromino as the research literature numbers them: its drawings, then counter-clockwise.
pub(super) static CANONICAL: [Shapes; 7] =
    table(["X/X/X/X", "XX/XX", "X./XX/X.", ".X/XX/X.", "X./XX/.X", "X../XXX", "XXX/X.."]);

/// The course notebook's numbering.
pub(super) static LAB: [Shapes; 7] = LAB_SHAPES;

/// The survey notebook's numbering.
pub(super) static SURVEY: [Shapes; 7] =
    table(["XXXX", "XX/XX", "XXX/.X.", "XX./.XX", ".XX/XX.", "X../XXX", "..X/XXX"]);

/// The Leiden report's numbering.
pub(super) static LEIDEN: [Shapes; 7] =
    table(["XXXX", "XX/XX", "XXX/.X.", "XX./.XX", ".XX/XX.", "XXX/..X", "XXX/X.."]);

/// The numbering of modern Tetris, with the anchors of true rotation.
pub(super) static GUIDELINE: [Shapes; 7] = {
    let mut table = [Shapes::first([Shape::NONE; 4], 0); 7];
    let mut i = 0;
    while i < 7 {
        table[i] = Shapes::distinct(ALL_TRUE_POSES[i]);
        i += 1;
    }
    table
};
