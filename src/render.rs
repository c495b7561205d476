//! Playfields as text, exact to the character.
//!
//! Four forms, each a different reader's: the plain drawing that the engine reads back, the course notebook's frame, the
//! Leiden report's display, and a coloured one for a terminal. Lines are joined by newlines, with none after the last.
//! Drawings show cells, not tetrominoes: a landed piece has no colour any more.

use std::fmt::Write;

use crate::engine::{Playfield, Tetromino};

/// A way of drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// One character a cell, the top row first: `#` full, `.` empty.
    Ascii,
    /// The course notebook's: rows numbered from the top between bars, two characters a cell.
    Lab,
    /// The Leiden report's: `X` full, blank empty, the three rows above the field without bars.
    Leiden,
    /// Colours by ANSI escape sequences; the pieces, lines and pieces landed beside the playfield.
    Ansi,
}

/// What there is to draw of an environment.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The cells.
    pub playfield: &'a Playfield,
    /// The current piece and those after it, as many as are shown.
    pub pieces: &'a [Tetromino],
    /// Lines cleared in this episode.
    pub lines: u64,
    /// Pieces landed in this episode.
    pub num_pieces: u64,
}

/// Rows of the Leiden form that lie above the field.
const ROWS_ABOVE_FIELD: u8 = 3;

/// Draws a scene.
pub fn render(format: Format, scene: &Scene<'_>) -> String {
    match format {
        Format::Ascii => scene.playfield.to_string(),
        Format::Lab => lab(scene.playfield),
        Format::Leiden => leiden(scene.playfield),
        Format::Ansi => ansi(scene),
    }
}

/// The most bytes that a drawing of a playfield of this size can take.
pub fn max_bytes(format: Format, width: u8, height: u8) -> usize {
    let (width, height) = (usize::from(width), usize::from(height));
    match format {
        Format::Ascii => (width + 1) * height,
        Format::Lab => (2 * width + 6) * (height + 2),
        Format::Leiden => (width + 3) * (height + 2),
        // Every cell may change the colour of the one before it.
        Format::Ansi => (width * (FULL.len() + CELL.len()) + RESET.len() + MAX_ASIDE) * (height + 2),
    }
}

fn lab(playfield: &Playfield) -> String {
    let frame = format!("   o{}o", "--".repeat(playfield.width().into()));
    let mut text = frame.clone();
    for row in 0..playfield.height() {
        let _ = write!(text, "\n{row:2} |");
        for column in 0..playfield.width() {
            let full = playfield.is_full(playfield.height() - 1 - row, column);
            text.push_str(if full { "[]" } else { "  " });
        }
        text.push('|');
    }
    text.push('\n');
    text.push_str(&frame);
    text
}

fn leiden(playfield: &Playfield) -> String {
    let (width, height) = (playfield.width(), playfield.height());
    let mut text = String::new();
    for row in (0..height).rev() {
        let in_field = row + ROWS_ABOVE_FIELD < height;
        text.push(if in_field { '|' } else { ' ' });
        for column in 0..width {
            text.push(if playfield.is_full(row, column) { 'X' } else { ' ' });
        }
        text.push_str(if in_field { "|\n" } else { "\n" });
    }
    text.push_str(&"-".repeat(usize::from(width) + 2));
    text.push_str("\n ");
    text.extend((0..width).map(|column| char::from(b'0' + column % 10)));
    text
}

const RESET: &str = "\x1b[0m";
/// A full cell: blanks on light grey.
const FULL: &str = "\x1b[47m";
/// Blanks, so that the form reads the same where colours are not shown: see [`CELL_FULL`].
const CELL: &str = "  ";
/// Brackets for those who see no colour.
const CELL_FULL: &str = "[]";
/// The most bytes beside a row: the colour of a piece is the longest part of it.
const MAX_ASIDE: usize = 160;

fn ansi(scene: &Scene<'_>) -> String {
    let Scene { playfield, pieces, lines, num_pieces } = scene;
    let frame = format!("+{}+", "--".repeat(playfield.width().into()));
    let mut aside = [String::new(), String::new(), String::new(), String::new()];
    if let Some((current, next)) = pieces.split_first() {
        let _ = write!(aside[0], "  piece  {}", coloured(*current));
        if !next.is_empty() {
            let _ = write!(aside[1], "  next   ");
            aside[1].extend(next.iter().map(|&piece| coloured(piece)));
        }
    }
    let _ = write!(aside[2], "  lines  {lines}");
    let _ = write!(aside[3], "  pieces {num_pieces}");
    let mut text = frame.clone();
    let mut aside = aside.iter();
    for row in (0..playfield.height()).rev() {
        text.push_str("\n|");
        let mut coloured = false;
        for column in 0..playfield.width() {
            let full = playfield.is_full(row, column);
            if full != coloured {
                text.push_str(if full { FULL } else { RESET });
                coloured = full;
            }
            text.push_str(if full { CELL_FULL } else { CELL });
        }
        text.push_str(if coloured { RESET } else { "" });
        text.push('|');
        text.push_str(aside.next().map_or("", String::as_str));
    }
    text.push('\n');
    text.push_str(&frame);
    text
}

/// A piece's letter in the colour that pieces have had since 2001: cyan, yellow, magenta, red, green, blue, orange.
fn coloured(piece: Tetromino) -> String {
    let colour = match piece {
        Tetromino::I => "36",
        Tetromino::O => "33",
        Tetromino::T => "35",
        Tetromino::Z => "31",
        Tetromino::S => "32",
        Tetromino::J => "34",
        Tetromino::L => "38;5;208",
    };
    format!("\x1b[1;{colour}m{piece}{RESET}")
}
