//! Playfields as text, exact to the character.
//!
//! There are four forms, each for a different reader: the plain drawing that the engine reads back, the course notebook's
//! frame, the Leiden report's display, and a coloured one for a terminal. Newlines join the lines, with none after the last.
//! Drawings show cells, not tetrominoes: a landed piece has lost its colour. A piece that falls while keys move it is in
//! the picture.

use std::fmt::Write;

use crate::engine::{MovingPiece, Piece, PieceSet, Playfield};

/// Format of a drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderFormat {
    /// One character per cell, the top row first: `#` full, `.` empty, `@` the falling piece.
    Ascii,
    /// The course notebook's format: rows numbered from the top between bars, two characters per cell.
    Lab,
    /// The Leiden report's format: `X` full, blank empty, the three rows above the field without bars; below, the
    /// columns' numbers and the report's own sentences.
    Leiden,
    /// Colours by ANSI escape sequences, the falling piece in its own colour; next to the playfield the pieces, lines
    /// and pieces landed.
    Ansi,
}

/// Parts of an environment to draw.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// The cells.
    pub playfield: &'a Playfield,
    /// The current piece on its way down, where keys move it.
    pub falling: Option<MovingPiece>,
    /// The current piece and the shown pieces after it.
    pub pieces: &'a [Piece],
    /// Piece set of the pieces.
    pub set: &'a PieceSet,
    /// Lines cleared in this episode.
    pub lines: u64,
    /// Pieces landed in this episode.
    pub num_pieces: u64,
    /// Whether the episode has ended. `pieces` does not show this: after a lost game it begins with the piece that
    /// would have come next.
    pub ended: bool,
}

/// Number of rows of the Leiden format above the field.
const ROWS_ABOVE_FIELD: u8 = 3;

/// The content of one place of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cell {
    Empty,
    Full,
    /// A cell of the falling piece.
    Falling,
}

impl View<'_> {
    /// A function from row and column to the content.
    fn cells(&self) -> impl Fn(u8, u8) -> Cell {
        let falling = self.falling.map(|piece| piece.cells());
        move |row, column| {
            if falling.is_some_and(|cells| cells.contains(&(row, column))) {
                Cell::Falling
            } else if self.playfield.is_full(row, column) {
                Cell::Full
            } else {
                Cell::Empty
            }
        }
    }
}

/// Draws a view.
pub fn render(format: RenderFormat, view: &View<'_>) -> String {
    match format {
        RenderFormat::Ascii => ascii(view),
        RenderFormat::Lab => lab(view),
        RenderFormat::Leiden => leiden(view),
        RenderFormat::Ansi => ansi(view),
    }
}

/// Most bytes of a drawing of a playfield of this size.
pub fn max_bytes(format: RenderFormat, width: u8, height: u8) -> usize {
    let (width, height) = (usize::from(width), usize::from(height));
    match format {
        RenderFormat::Ascii => (width + 1) * height,
        RenderFormat::Lab => (2 * width + 6) * (height + 2),
        RenderFormat::Leiden => (width + 3) * (height + 2) + MAX_SENTENCES,
        // Every cell may change the colour of the one before it.
        RenderFormat::Ansi => {
            (width * (FULL.len() + CELL.len()) + RESET.len() + MAX_ASIDE) * (height + 2) + MAX_FALLING
        }
    }
}

fn ascii(view: &View<'_>) -> String {
    let (width, height) = (view.playfield.width(), view.playfield.height());
    let cell = view.cells();
    let mut text = String::new();
    for row in (0..height).rev() {
        text.extend((0..width).map(|column| match cell(row, column) {
            Cell::Empty => '.',
            Cell::Full => '#',
            Cell::Falling => '@',
        }));
        text.push_str(if row > 0 { "\n" } else { "" });
    }
    text
}

fn lab(view: &View<'_>) -> String {
    let (width, height) = (view.playfield.width(), view.playfield.height());
    let cell = view.cells();
    let frame = format!("   o{}o", "--".repeat(width.into()));
    let mut text = frame.clone();
    for row in 0..height {
        let _ = write!(text, "\n{row:2} |");
        for column in 0..width {
            text.push_str(if cell(height - 1 - row, column) == Cell::Empty { "  " } else { "[]" });
        }
        text.push('|');
    }
    text.push('\n');
    text.push_str(&frame);
    text
}

/// Most bytes of the sentences below the Leiden format, with the longest numbers.
const MAX_SENTENCES: usize = 180;

fn leiden(view: &View<'_>) -> String {
    let View { playfield, lines, num_pieces, ended, .. } = view;
    let (width, height) = (playfield.width(), playfield.height());
    let cell = view.cells();
    let mut text = String::new();
    for row in (0..height).rev() {
        let in_field = row + ROWS_ABOVE_FIELD < height;
        text.push(if in_field { '|' } else { ' ' });
        for column in 0..width {
            text.push(if cell(row, column) == Cell::Empty { ' ' } else { 'X' });
        }
        text.push_str(if in_field { "|\n" } else { "\n" });
    }
    text.push_str(&"-".repeat(usize::from(width) + 2));
    text.push_str("\n ");
    text.extend((0..width).map(|column| char::from(b'0' + column % 10)));
    let _ = write!(text, "\nThis was move {num_pieces}.");
    let empties = playfield.rows().map(|row| u32::from(width) - row.count_ones());
    if let Some((row, empties)) = empties.enumerate().filter(|(_, empties)| *empties < width.into()).last() {
        let _ = write!(text, "\nTop row {row} has {empties} empties.");
    }
    if *ended {
        let _ = write!(text, "\nDone! We have {lines} row(s) cleared, using {num_pieces} pieces.");
    }
    text
}

const RESET: &str = "\x1b[0m";
/// A full cell: blanks on light grey.
const FULL: &str = "\x1b[47m";
/// Two blanks, so that the format is equally wide without colours: see [`CELL_FULL`].
const CELL: &str = "  ";
/// Brackets for readers without colours.
const CELL_FULL: &str = "[]";
/// Most bytes next to a row: the colour of a piece is the longest part.
const MAX_ASIDE: usize = 160;
/// Most bytes that a falling piece adds: four times its colour, and the colour behind it.
const MAX_FALLING: usize = 80;

fn ansi(view: &View<'_>) -> String {
    let View { playfield, pieces, set, lines, num_pieces, falling, .. } = view;
    let cell = view.cells();
    let falling = falling.map_or_else(String::new, |piece| format!("\x1b[4{}m", colour(piece.tetromino())));
    let frame = format!("+{}+", "--".repeat(playfield.width().into()));
    let mut aside = [String::new(), String::new(), String::new(), String::new()];
    if let Some((current, next)) = pieces.split_first() {
        let _ = write!(aside[0], "  piece  {}", coloured(set, *current));
        if !next.is_empty() {
            let _ = write!(aside[1], "  next   ");
            aside[1].extend(next.iter().map(|&piece| coloured(set, piece)));
        }
    }
    let _ = write!(aside[2], "  lines  {lines}");
    let _ = write!(aside[3], "  pieces {num_pieces}");
    let mut text = frame.clone();
    let mut aside = aside.iter();
    for row in (0..playfield.height()).rev() {
        text.push_str("\n|");
        let mut behind = Cell::Empty;
        for column in 0..playfield.width() {
            let here = cell(row, column);
            if here != behind {
                text.push_str(match here {
                    Cell::Empty => RESET,
                    Cell::Full => FULL,
                    Cell::Falling => &falling,
                });
                behind = here;
            }
            text.push_str(if here == Cell::Empty { CELL } else { CELL_FULL });
        }
        text.push_str(if behind == Cell::Empty { "" } else { RESET });
        text.push('|');
        text.push_str(aside.next().map_or("", String::as_str));
    }
    text.push('\n');
    text.push_str(&frame);
    text
}

/// A piece's letter in its colour.
fn coloured(set: &PieceSet, piece: Piece) -> String {
    format!("\x1b[1;3{}m{}{RESET}", colour(piece), set.letter(piece))
}

/// The colour that pieces have had since 2001 (cyan, yellow, magenta, red, green, blue, orange): its digit follows a
/// 3 for the foreground and a 4 for the background. Colours repeat from the eighth piece of another set on.
fn colour(piece: Piece) -> &'static str {
    ["6", "3", "5", "1", "2", "4", "8;5;208"][piece.index() % 7]
}
