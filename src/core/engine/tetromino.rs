//! The seven tetrominoes and their shapes.
//!
//! Each tetromino has one canonical drawing. Every other orientation is that drawing, turned by quarters
//! counter-clockwise; only distinct shapes are kept. Each rule set numbers the same shapes in its own way: see
//! [`OrientationTable`](super::rules::OrientationTable).
//!
//! One cell of each shape is its anchor: the piece turns around this cell, and the cell determines where the piece
//! appears. Straight drops do not use it.

use std::fmt;

use super::piece::Piece;
use super::shape::{Shape, Shapes};

/// One of the seven tetrominoes: a [`Piece`] of the default set. Only rules with [other pieces](super::PieceSet) use
/// another set.
pub type Tetromino = Piece;

/// The tetrominoes, in the order of their numbers.
impl Tetromino {
    pub const I: Tetromino = Piece::new(0);
    pub const O: Tetromino = Piece::new(1);
    pub const T: Tetromino = Piece::new(2);
    pub const Z: Tetromino = Piece::new(3);
    pub const S: Tetromino = Piece::new(4);
    pub const J: Tetromino = Piece::new(5);
    pub const L: Tetromino = Piece::new(6);

    /// All seven, in ascending order of their numbers.
    pub const ALL: [Tetromino; 7] =
        [Tetromino::I, Tetromino::O, Tetromino::T, Tetromino::Z, Tetromino::S, Tetromino::J, Tetromino::L];

    /// The tetromino with this number; `None` for 7 and above.
    pub(crate) const fn from_index(index: u8) -> Option<Tetromino> {
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

/// The letter of a tetromino. Pieces of other sets display as numbers, because only the set knows their letters.
impl fmt::Display for Tetromino {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match Tetromino::from_index(self.number()) {
            Some(tetromino) => write!(f, "{}", tetromino.letter()),
            None => write!(f, "{}", self.number()),
        }
    }
}

/// A tetromino as the course notebook creates it, then turned by a quarter to the right, by half a turn, by a quarter
/// to the left.
///
/// The anchor does not move, so even a turned O covers other cells.
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

/// A table of shapes, from a drawing of the first shape of each tetromino.
const fn table(drawings: [&str; 7]) -> [Shapes; 7] {
    let mut table = LAB_SHAPES;
    let mut i = 0;
    while i < 7 {
        table[i] = Shapes::from_drawing(drawings[i]).anchored_as(&LAB_SHAPES[i]);
        i += 1;
    }
    table
}

/// The tetrominoes as they appear in modern Tetris, then by quarter turns to the right. The anchor is the cell that
/// does not move when a tetromino turns without a kick ("true rotation").
pub(super) static TRUE_POSES: [[Shape; 4]; 7] = ALL_TRUE_POSES;

pub(super) const ALL_TRUE_POSES: [[Shape; 4]; 7] = [
    poses("X@XX"),
    poses("XX/@X"),
    poses(".X./X@X"),
    poses("XX./.@X"),
    poses(".XX/X@."),
    poses("X../X@X"),
    poses("..X/X@X"),
];

/// The cells of a pose as columns and rows relative to its anchor. The anchor comes first.
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

/// The shapes by tetromino in the numbering of the research literature: its drawings, then counter-clockwise turns.
pub(super) static CANONICAL: [Shapes; 7] =
    table(["X/X/X/X", "XX/XX", "X./XX/X.", ".X/XX/X.", "X./XX/.X", "X../XXX", "XXX/X.."]);

/// The orientations as the course notebook numbers them.
pub(super) static LAB: [Shapes; 7] = LAB_SHAPES;

/// The orientations as the survey notebook numbers them.
pub(super) static SURVEY: [Shapes; 7] =
    table(["XXXX", "XX/XX", "XXX/.X.", "XX./.XX", ".XX/XX.", "X../XXX", "..X/XXX"]);

/// The orientations as the Leiden report numbers them.
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
