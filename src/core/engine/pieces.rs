//! Sets of pieces, defined by drawings.
//!
//! The seven tetrominoes are one row of the table of sets, and nearly every game uses them. The other named sets are
//! from the literature, and callers may draw sets. Every piece has a letter for use in sequences.
//!
//! A drawing has one to five cells that touch by sides or corners. There are 773 such drawings, and one table holds the
//! shapes of all of them. That is the surprising decision: a caller's set is a list of numbers into that table, so a
//! set is a small value, and nothing that callers send ever adds to the memory of the process.
//!
//! Pieces of sets other than the tetrominoes have one orientation table, the literature's: the drawing, then quarter
//! turns counter-clockwise, distinct shapes only. Such a piece appears with its lowest cells in the top row and does
//! not turn on its way.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use super::piece::Piece;
use super::shape::{MAX_SIDE, Shape, Shapes};
use super::tetromino::{CANONICAL, Tetromino};

/// The largest number of pieces in a set.
pub const MAX_PIECES: usize = 32;

/// The largest size of a set as text, in bytes: 32 pieces with five rows of five cells, each with a letter.
const MAX_SET_BYTES: usize = 1_024;

/// The set of pieces of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PieceSet(SetKind);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SetKind {
    /// The seven tetrominoes, in any orientation table.
    #[default]
    Tetrominoes,
    /// Another row of [`PIECE_SETS`], by index.
    Named(u8),
    /// A set drawn by a caller.
    Drawn(DrawnSet),
}

/// A set drawn by a caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct DrawnSet {
    len: u8,
    /// ASCII letters and digits, all different; 0 at `len` and beyond.
    letters: [u8; MAX_PIECES],
    /// Indices into [`DRAWINGS`]; 0 at `len` and beyond.
    drawings: [u16; MAX_PIECES],
}

/// A set of pieces with a name.
#[derive(Clone, Copy, Debug)]
pub struct NamedPieceSet {
    /// Name of the set on the wire and on the command line.
    pub name: &'static str,
    /// Source of the set, in one sentence.
    pub source: &'static str,
    /// One letter per piece, in the order of their numbers.
    letters: &'static str,
    shapes: &'static [Shapes],
}

/// Shapes from one drawing per piece.
const fn drawn<const N: usize>(drawings: [&str; N]) -> [Shapes; N] {
    let mut table = [Shapes::of_piece(Shape::from_drawing("X")); N];
    let mut i = 0;
    while i < N {
        table[i] = Shapes::of_piece(Shape::from_drawing(drawings[i]));
        i += 1;
    }
    table
}

static MELAX: [Shapes; 5] = drawn(["X", "XX", ".X/X.", ".X/XX", "XX/XX"]);
static TROMINOES: [Shapes; 2] = drawn(["XX/.X", "XXX"]);
static SZ: [Shapes; 2] = drawn(["X./XX/.X", ".X/XX/X."]);
static PENTOMINOES: [Shapes; 18] = drawn([
    ".XX/XX./.X.",
    "XX./.XX/.X.",
    "X/X/X/X/X",
    "X./X./X./XX",
    ".X/.X/.X/XX",
    ".X/.X/XX/X.",
    "X./X./XX/.X",
    "XX/XX/X.",
    "XX/XX/.X",
    "XXX/.X./.X.",
    "X.X/XXX",
    "X../X../XXX",
    "X../XX./.XX",
    ".X./XXX/.X.",
    ".X/XX/.X/.X",
    "X./XX/X./X.",
    "XX./.X./.XX",
    ".XX/.X./XX.",
]);

/// All named sets, the tetrominoes first.
pub static PIECE_SETS: [NamedPieceSet; 5] = [
    NamedPieceSet {
        name: "tetrominoes",
        source: "the seven pieces of Tetris; a game of them has all choices of the rules",
        letters: "IOTZSJL",
        shapes: &CANONICAL,
    },
    NamedPieceSet {
        name: "melax",
        source: "Melax' reduced Tetris (1998), as in MDPTetris: a cell, a domino, two cells that touch by a corner, the corner of \
                 three, the square",
        letters: "MDXLO",
        shapes: &MELAX,
    },
    NamedPieceSet {
        name: "trominoes",
        source: "the two pieces of three cells, as in MDPTetris",
        letters: "LI",
        shapes: &TROMINOES,
    },
    NamedPieceSet {
        name: "sz",
        source: "SZ-Tetris: S and Z alone, which end every game (Burgiel 1997; Szita and Szepesvari 2010)",
        letters: "SZ",
        shapes: &SZ,
    },
    NamedPieceSet {
        name: "pentominoes",
        source: "the 18 one-sided pieces of five cells by their usual letters; a small letter is the mirror image",
        letters: "FfILlNnPpTUVWXYyZz",
        shapes: &PENTOMINOES,
    },
];

/// The reason why a text is not a set of pieces.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PieceSetError {
    /// One word that is neither a set's name nor a drawing.
    #[error(
        "no set of pieces is called {name:?}, expected one of {}, or drawings such as A=X./XX B=XX",
        names()
    )]
    UnknownName { name: String },
    /// The text is longer than any set.
    #[error("has {0} bytes, expected at most {MAX_SET_BYTES}")]
    TooLong(usize),
    /// The text has no pieces, or too many.
    #[error("has {0} pieces, expected 1 to {MAX_PIECES}")]
    Count(usize),
    /// Some pieces have letters and others do not.
    #[error("has letters for some pieces only, expected one for each, as in A=XX, or none")]
    SomeLetters,
    /// A letter that is not one ASCII letter or digit.
    #[error("has a piece with the letter {0:?}, expected one of A to Z, a to z, 0 to 9")]
    Letter(String),
    /// A letter that two pieces have.
    #[error("has two pieces with the letter {0:?}, expected all different")]
    SameLetter(char),
    /// A drawing with rows of different lengths, or with other characters.
    #[error(
        "has the drawing {0:?}, expected rows of the same length from the top, / between them, X full, . empty"
    )]
    Drawing(String),
    /// A drawing whose cells do not form a piece.
    #[error(
        "has the drawing {0:?}, expected 1 to {MAX_SIDE} cells, each of which touches another by a side or a corner"
    )]
    Cells(String),
}

fn names() -> String {
    PIECE_SETS.map(|set| set.name).join(", ")
}

/// A sequence of pieces has a letter that no piece of the set has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{letter:?} at position {position} names no {}, expected one of {}", if set.is_tetrominoes() { "tetromino" } else { "piece of the set" }, spaced(set))]
pub struct UnknownLetter {
    pub letter: char,
    /// Position of the letter, in characters from 0.
    pub position: usize,
    pub set: PieceSet,
}

/// The letters of a set, separated by blanks.
fn spaced(set: &PieceSet) -> String {
    let letters: Vec<String> = set.letters().map(String::from).collect();
    letters.join(" ")
}

impl PieceSet {
    /// The seven tetrominoes, in the order I O T Z S J L.
    pub const TETROMINOES: PieceSet = PieceSet(SetKind::Tetrominoes);
    /// The set named `melax`: pieces of one to three cells, and a square.
    pub const MELAX: PieceSet = PieceSet(SetKind::Named(1));

    /// The set with this name; upper and lower case are equal.
    pub fn named(name: &str) -> Option<PieceSet> {
        let index = PIECE_SETS.iter().position(|set| set.name.eq_ignore_ascii_case(name))?;
        Some(if index == 0 { PieceSet::TETROMINOES } else { PieceSet(SetKind::Named(index as u8)) })
    }

    /// Reads a name, or drawings separated by blanks: `A=X./XX B=XX`. Drawings without letters get A, B, C ...
    ///
    /// A drawing lists its rows from the top, separated by `/`, with `X` for full and `.` for empty. Empty rows and
    /// columns around it are ignored. Two pieces may have the same drawing, which is then dealt more often.
    ///
    /// ```
    /// use tetrion_core::engine::PieceSet;
    ///
    /// let pieces = PieceSet::parse("A=X./XX B=XX")?;
    /// assert_eq!(pieces.letters().collect::<String>(), "AB");
    /// assert!(PieceSet::parse("pentominoes").is_ok());
    /// # Ok::<(), tetrion_core::engine::PieceSetError>(())
    /// ```
    ///
    /// # Errors
    /// [`PieceSetError`] for the first problem.
    pub fn parse(text: &str) -> Result<PieceSet, PieceSetError> {
        if text.len() > MAX_SET_BYTES {
            return Err(PieceSetError::TooLong(text.len()));
        }
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        if let [name] = words[..]
            && !name.contains('=')
        {
            let is_name = name.contains(|letter| !matches!(letter, 'X' | '.' | '/'));
            match PieceSet::named(name) {
                Some(set) => return Ok(set),
                None if is_name => return Err(PieceSetError::UnknownName { name: name.to_owned() }),
                None => {}
            }
        }
        if !(1..=MAX_PIECES).contains(&words.len()) {
            return Err(PieceSetError::Count(words.len()));
        }
        let mut set =
            DrawnSet { len: words.len() as u8, letters: [0; MAX_PIECES], drawings: [0; MAX_PIECES] };
        let has_letters = words[0].contains('=');
        for (i, word) in words.into_iter().enumerate() {
            let (letter, drawing) = match word.split_once('=') {
                Some((letter, drawing)) if has_letters => (one_letter(letter)?, drawing),
                None if !has_letters => (LETTERS[i], word),
                _ => return Err(PieceSetError::SomeLetters),
            };
            if set.letters.contains(&letter) {
                return Err(PieceSetError::SameLetter(letter.into()));
            }
            set.letters[i] = letter;
            set.drawings[i] = number_of_drawing(drawing)?;
        }
        Ok(PieceSet(SetKind::Drawn(set)))
    }

    /// Whether this is the set of tetrominoes, the only set that all rules and the kernels support.
    #[inline(always)]
    pub const fn is_tetrominoes(&self) -> bool {
        matches!(self.0, SetKind::Tetrominoes)
    }

    /// Number of pieces, 1 to [`MAX_PIECES`].
    #[inline]
    pub fn len(&self) -> usize {
        match &self.0 {
            SetKind::Tetrominoes => Tetromino::ALL.len(),
            SetKind::Named(index) => PIECE_SETS[usize::from(*index)].shapes.len(),
            SetKind::Drawn(set) => set.len.into(),
        }
    }

    /// Always false: every set has a piece.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// All pieces, in ascending order of their numbers.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Piece> + Clone + use<> {
        (0..self.len() as u8).map(Piece::new)
    }

    /// The piece with this number.
    pub fn piece(&self, number: u8) -> Option<Piece> {
        (usize::from(number) < self.len()).then(|| Piece::new(number))
    }

    /// The letter of a piece.
    ///
    /// # Panics
    /// When the set has no such piece.
    pub fn letter(&self, piece: Piece) -> char {
        let letters = match &self.0 {
            SetKind::Tetrominoes => PIECE_SETS[0].letters.as_bytes(),
            SetKind::Named(index) => PIECE_SETS[usize::from(*index)].letters.as_bytes(),
            SetKind::Drawn(set) => &set.letters[..set.len.into()],
        };
        letters[piece.index()].into()
    }

    /// The letters of all pieces, in the order of their numbers.
    pub fn letters(&self) -> impl Iterator<Item = char> {
        self.iter().map(|piece| self.letter(piece))
    }

    /// The letters of these pieces.
    ///
    /// ```
    /// use tetrion_core::engine::{PieceSet, Tetromino};
    ///
    /// let pieces = PieceSet::named("tetrominoes").unwrap();
    /// assert_eq!(pieces.written(&[Tetromino::S, Tetromino::Z]), "SZ");
    /// ```
    ///
    /// # Panics
    /// When the set has no such piece.
    pub fn written<'a>(&self, pieces: impl IntoIterator<Item = &'a Piece>) -> String {
        pieces.into_iter().map(|&piece| self.letter(piece)).collect()
    }

    /// The piece with this letter. Tetrominoes also have small letters; in other sets a small letter is another piece.
    ///
    /// ```
    /// use tetrion_core::engine::{PieceSet, Tetromino};
    ///
    /// assert_eq!(PieceSet::named("tetrominoes").unwrap().from_letter('T'), Some(Tetromino::T));
    /// ```
    pub fn from_letter(&self, letter: char) -> Option<Piece> {
        if self.is_tetrominoes() {
            return Tetromino::from_letter(letter);
        }
        self.iter().find(|piece| self.letter(*piece) == letter)
    }

    /// Reads a sequence of letters and skips blanks.
    ///
    /// # Errors
    /// [`UnknownLetter`] for the first character that is neither blank nor a letter of the set.
    pub fn parse_sequence(&self, letters: &str) -> Result<Vec<Piece>, UnknownLetter> {
        let parse = |(position, letter)| {
            self.from_letter(letter).ok_or(UnknownLetter { letter, position, set: *self })
        };
        let letters = letters.chars().enumerate().filter(|(_, letter)| !letter.is_ascii_whitespace());
        letters.map(parse).collect()
    }

    /// The distinct shapes of a piece, in the literature's order.
    ///
    /// # Panics
    /// When the set has no such piece.
    pub(super) fn shapes(&self, piece: Piece) -> &'static Shapes {
        match &self.0 {
            SetKind::Tetrominoes => &CANONICAL[piece.index()],
            SetKind::Named(index) => &PIECE_SETS[usize::from(*index)].shapes[piece.index()],
            SetKind::Drawn(set) => &DRAWINGS[usize::from(set.drawings[..set.len.into()][piece.index()])],
        }
    }

    /// Number of cells of the largest piece.
    pub fn max_cells(&self) -> u8 {
        let cells = self.iter().map(|piece| self.shapes(piece).as_slice()[0].num_cells());
        cells.max().unwrap_or(0)
    }

    /// The first piece that is wider than a playfield in all of its orientations.
    pub(super) fn too_wide(&self, width: u8) -> Option<Piece> {
        let fits = |piece: Piece| self.shapes(piece).as_slice().iter().any(|shape| shape.width <= width);
        self.iter().find(|piece| !fits(*piece))
    }

    /// The pieces as letters and drawings, even if the set has a name.
    pub fn drawings(&self) -> String {
        let drawing = |piece| format!("{}={}", self.letter(piece), self.shapes(piece).as_slice()[0]);
        let drawings: Vec<String> = self.iter().map(drawing).collect();
        drawings.join(" ")
    }
}

/// The name of the set, or its letters and drawings, in the format of [`PieceSet::parse`].
impl fmt::Display for PieceSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            SetKind::Tetrominoes => f.write_str(PIECE_SETS[0].name),
            SetKind::Named(index) => f.write_str(PIECE_SETS[usize::from(index)].name),
            SetKind::Drawn(_) => f.write_str(&self.drawings()),
        }
    }
}

/// Reads a sequence of tetromino letters and skips blanks.
///
/// ```
/// use tetrion_core::engine::{Tetromino, parse_sequence};
///
/// assert_eq!(parse_sequence("IO"), Ok(vec![Tetromino::I, Tetromino::O]));
/// assert!(parse_sequence("IX").is_err());
/// ```
///
/// # Errors
/// [`UnknownLetter`] for the first character that is neither blank nor one of the seven letters.
pub fn parse_sequence(letters: &str) -> Result<Vec<Tetromino>, UnknownLetter> {
    PieceSet::TETROMINOES.parse_sequence(letters)
}

/// Default letters of pieces without letters.
const LETTERS: &[u8; MAX_PIECES] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef";

fn one_letter(letter: &str) -> Result<u8, PieceSetError> {
    match letter.as_bytes() {
        [letter] if letter.is_ascii_alphanumeric() => Ok(*letter),
        _ => Err(PieceSetError::Letter(letter.to_owned())),
    }
}

/// The shapes of every drawing, in the order of [`CELLS`].
static DRAWINGS: LazyLock<Vec<Shapes>> = LazyLock::new(|| {
    let shapes = |cells: &CellOffsets| Shapes::of_piece(Shape::from_cells(cells));
    CELLS.iter().map(shapes).collect()
});

/// The cells of every drawing, sorted.
static CELLS: LazyLock<Vec<CellOffsets>> = LazyLock::new(every_drawing);

/// Sorted rows and columns of cells, counted from the lowest row and the leftmost column with a cell.
type CellOffsets = Vec<(u8, u8)>;

/// All drawings of one to five touching cells: 1, 4, 20, 110 and 638, in total 773.
///
/// Adds one cell in every place next to each drawing, and keeps each new drawing once.
fn every_drawing() -> Vec<CellOffsets> {
    let mut all: BTreeSet<CellOffsets> = BTreeSet::new();
    let mut last = BTreeSet::from([vec![(0, 0)]]);
    while last.iter().next().is_some_and(|cells| cells.len() < MAX_SIDE) {
        let mut larger = BTreeSet::new();
        for cells in &last {
            for (row, column) in cells.iter().flat_map(|cell| around(*cell)) {
                if !cells.contains(&(row, column)) {
                    larger.insert(in_its_corner(cells.iter().copied().chain([(row, column)])));
                }
            }
        }
        all.append(&mut last);
        last = larger;
    }
    all.append(&mut last);
    all.into_iter().collect()
}

/// The eight cells around a cell. Wrapping arithmetic: a row or column below 0 becomes 255.
fn around((row, column): (u8, u8)) -> impl Iterator<Item = (u8, u8)> {
    let steps = (0..9).filter(|step| *step != 4).map(|step| (step / 3, step % 3));
    steps.map(move |(up, right)| {
        (row.wrapping_add(up).wrapping_sub(1), column.wrapping_add(right).wrapping_sub(1))
    })
}

/// Sorted cells, moved so that the lowest row and the leftmost column are 0. A row or column of 255 stands for -1.
fn in_its_corner(cells: impl Iterator<Item = (u8, u8)>) -> CellOffsets {
    let up: Vec<(u8, u8)> =
        cells.map(|(row, column)| (row.wrapping_add(1), column.wrapping_add(1))).collect();
    let lowest = up.iter().map(|cell| cell.0).min().unwrap_or(0);
    let leftmost = up.iter().map(|cell| cell.1).min().unwrap_or(0);
    let mut cells: CellOffsets =
        up.into_iter().map(|(row, column)| (row - lowest, column - leftmost)).collect();
    cells.sort_unstable();
    cells
}

fn number_of_drawing(drawing: &str) -> Result<u16, PieceSetError> {
    let rows: Vec<&[u8]> = drawing.split('/').map(str::as_bytes).collect();
    let is_row =
        |row: &&[u8]| row.len() == rows[0].len() && row.iter().all(|cell| matches!(cell, b'X' | b'.'));
    if rows[0].is_empty() || !rows.iter().all(is_row) {
        return Err(PieceSetError::Drawing(drawing.to_owned()));
    }
    let no_piece = || PieceSetError::Cells(drawing.to_owned());
    let full = rows.iter().rev().enumerate().flat_map(|(row, cells)| {
        let full = cells.iter().enumerate().filter(|(_, cell)| **cell == b'X');
        full.map(move |(column, _)| (row, column))
    });
    let full: Vec<(usize, usize)> = full.take(MAX_SIDE + 1).collect();
    let (lowest, leftmost) = (full.iter().map(|cell| cell.0).min(), full.iter().map(|cell| cell.1).min());
    let (Some(lowest), Some(leftmost)) = (lowest, leftmost) else { return Err(no_piece()) };
    // A clipped number never matches, because no drawing is that large.
    let small = |at: usize, least: usize| u8::try_from(at - least).unwrap_or(u8::MAX);
    let mut cells: CellOffsets =
        full.iter().map(|&(row, column)| (small(row, lowest), small(column, leftmost))).collect();
    cells.sort_unstable();
    CELLS.binary_search(&cells).map(|number| number as u16).map_err(|_| no_piece())
}
