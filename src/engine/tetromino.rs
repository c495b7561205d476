//! The seven tetrominoes and their shapes.
//!
//! One canonical drawing a tetromino; every other orientation is that drawing turned a quarter counter-clockwise, and
//! only distinct shapes are kept. A rule set numbers the same shapes in its own way: see
//! [`OrientationTable`](super::rules::OrientationTable).

use std::fmt;

/// One of the seven tetrominoes, in the order in which they are numbered everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[allow(missing_docs)] // a letter says all there is to say
pub enum Tetromino {
    I = 0,
    O = 1,
    T = 2,
    Z = 3,
    S = 4,
    J = 5,
    L = 6,
}

impl Tetromino {
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

    /// Its letter, upper case.
    pub const fn letter(self) -> char {
        b"IOTZSJL"[self as usize] as char
    }
}

impl fmt::Display for Tetromino {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.letter())
    }
}

/// A sequence of pieces was written with a letter that names no tetromino.
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
/// Every column of a tetromino is one unbroken run of cells, so two numbers a column say it all; the fast code lives
/// from that.
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
}

impl Shape {
    /// The shape with no cells, which fills unused places of tables.
    const NONE: Shape = Shape { width: 0, height: 0, bottoms: [0; 4], tops: [0; 4] };

    /// The cells of one column as bits, bit 0 at the bottom of the box.
    pub const fn column_bits(&self, column: usize) -> u32 {
        (1 << self.tops[column]) - (1 << self.bottoms[column])
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

    /// Reads a drawing: rows from the top, separated by `/`, `X` full and `.` empty.
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
                if text[from_top * (width as usize + 1) + column] == b'X' {
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
        shape
    }

    /// This shape turned a quarter counter-clockwise.
    const fn turned(&self) -> Shape {
        // Column c of the turned shape holds the old row (height - 1 - c), read from the left as the new bottom-up.
        let mut turned = Shape { width: self.height, height: self.width, ..Shape::NONE };
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
        turned
    }

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
}

impl Shapes {
    /// The shapes as a slice; the index is the orientation.
    pub const fn as_slice(&self) -> &[Shape] {
        self.shapes.split_at(self.len).0
    }

    /// The same shapes in the lab's order: as created, turned right, turned left, half a turn.
    const fn lab_order(self) -> Shapes {
        let Shapes { shapes: [created, left, half, right], len } = self;
        if len == 4 { Shapes { shapes: [created, right, left, half], len } } else { self }
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
        Shapes { shapes, len }
    }
}

/// The shapes by tetromino as the research literature numbers them: its drawings, then counter-clockwise.
pub(super) static CANONICAL: [Shapes; 7] = [
    Shapes::from_drawing("X/X/X/X"),
    Shapes::from_drawing("XX/XX"),
    Shapes::from_drawing("X./XX/X."),
    Shapes::from_drawing(".X/XX/X."),
    Shapes::from_drawing("X./XX/.X"),
    Shapes::from_drawing("X../XXX"),
    Shapes::from_drawing("XXX/X.."),
];

/// The course notebook's numbering.
pub(super) static LAB: [Shapes; 7] = [
    Shapes::from_drawing("X/X/X/X").lab_order(),
    Shapes::from_drawing("XX/XX").lab_order(),
    Shapes::from_drawing(".X./XXX").lab_order(),
    Shapes::from_drawing("XX./.XX").lab_order(),
    Shapes::from_drawing(".XX/XX.").lab_order(),
    Shapes::from_drawing(".X/.X/XX").lab_order(),
    Shapes::from_drawing("X./X./XX").lab_order(),
];

/// The survey notebook's numbering.
pub(super) static SURVEY: [Shapes; 7] = [
    Shapes::from_drawing("XXXX"),
    Shapes::from_drawing("XX/XX"),
    Shapes::from_drawing("XXX/.X."),
    Shapes::from_drawing("XX./.XX"),
    Shapes::from_drawing(".XX/XX."),
    Shapes::from_drawing("X../XXX"),
    Shapes::from_drawing("..X/XXX"),
];

/// The Leiden report's numbering.
pub(super) static LEIDEN: [Shapes; 7] = [
    Shapes::from_drawing("XXXX"),
    Shapes::from_drawing("XX/XX"),
    Shapes::from_drawing("XXX/.X."),
    Shapes::from_drawing("XX./.XX"),
    Shapes::from_drawing(".XX/XX."),
    Shapes::from_drawing("XXX/..X"),
    Shapes::from_drawing("XXX/X.."),
];
