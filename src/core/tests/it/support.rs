//! What the tests of several rooms share.

use tetrion_core::engine::{Playfield, Rules, Tetromino};

/// A list of placements that another program made of the notebook's moves.
pub struct LabPlacements {
    /// Piece and playfield, as the file names them.
    pub head: &'static str,
    /// The notebook's, on a playfield of this size.
    pub rules: Rules,
    pub playfield: Playfield,
    pub piece: Tetromino,
    /// A placement a line: orientation, column of the anchor, cells.
    pub rows: &'static str,
}

/// Reads the lists of `src/core/tests/data/lab_placements.txt`.
pub fn lab_placements() -> impl Iterator<Item = LabPlacements> {
    include_str!("../data/lab_placements.txt").split("\n\n").skip(1).map(|list| {
        let (head, rows) = list.trim_end().split_once('\n').unwrap();
        let (letter, drawing) = head.split_once(" on ").unwrap();
        let playfield = match drawing {
            "empty" => Playfield::empty(10, 20),
            drawing => Playfield::from_drawing(7, 12, drawing).unwrap(),
        };
        let (width, height) = (playfield.width(), playfield.height());
        let rules = Rules { width, height, ..Rules::preset("lab").unwrap() };
        let piece = Tetromino::from_letter(letter.parse().unwrap()).unwrap();
        LabPlacements { head, rules, playfield, piece, rows }
    })
}

/// The seven by their letters alone, for tables of cases.
#[allow(unused)] // a module takes those that it has cases of
pub mod letters {
    use tetrion_core::engine::Tetromino;

    pub const I: Tetromino = Tetromino::I;
    pub const O: Tetromino = Tetromino::O;
    pub const T: Tetromino = Tetromino::T;
    pub const Z: Tetromino = Tetromino::Z;
    pub const S: Tetromino = Tetromino::S;
    pub const J: Tetromino = Tetromino::J;
    pub const L: Tetromino = Tetromino::L;
}
