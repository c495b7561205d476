//! Playfields as text, exact to the character.
//!
//! There are three forms, each for a different reader: the plain drawing that the engine reads back, the course notebook's
//! frame, and the Leiden report's display. Newlines join the lines, with none after the last. Drawings show cells, not
//! pieces; pictures of recorded games have those that do. A piece that falls while keys move it is in the drawing.

use std::fmt::Write;

use crate::engine::{MovingPiece, Playfield};

/// The form of a drawing, exact to the character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RenderFormat {
    /// One character per cell, the top row first: `#` full, `.` empty, `@` the falling piece.
    Ascii,
    /// The course notebook's format: rows numbered from the top between bars, two characters per cell.
    Lab,
    /// The Leiden report's format: `X` full, blank empty, the three rows above the field without bars; below, the
    /// columns' numbers and the report's own sentences.
    Leiden,
}

/// Parts of an environment to draw.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    /// Cells without the falling piece.
    pub playfield: &'a Playfield,
    /// The current piece on its way down, where keys move it.
    pub falling: Option<MovingPiece>,
    /// Lines cleared in this episode.
    pub lines: u64,
    /// Pieces landed in this episode.
    pub num_pieces: u64,
    /// Whether the episode has ended.
    pub ended: bool,
}

/// Number of rows of the Leiden format above the field.
const ROWS_ABOVE_FIELD: u8 = 3;

/// The content of one place of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DrawnCell {
    Empty,
    Full,
    /// A cell of the falling piece.
    Falling,
}

impl View<'_> {
    /// A function from row and column to the content.
    fn cells(&self) -> impl Fn(u8, u8) -> DrawnCell {
        let falling = self.falling.map(|piece| piece.cells());
        move |row, column| {
            if falling.is_some_and(|cells| cells.contains(&(row, column))) {
                DrawnCell::Falling
            } else if self.playfield.is_full(row, column) {
                DrawnCell::Full
            } else {
                DrawnCell::Empty
            }
        }
    }
}

/// Draws a view, without a newline at the end.
pub fn render(format: RenderFormat, view: &View<'_>) -> String {
    match format {
        RenderFormat::Ascii => ascii(view),
        RenderFormat::Lab => lab(view),
        RenderFormat::Leiden => leiden(view),
    }
}

/// Most bytes of a drawing of a playfield of this size.
pub fn max_bytes(format: RenderFormat, width: u8, height: u8) -> usize {
    let (width, height) = (usize::from(width), usize::from(height));
    match format {
        RenderFormat::Ascii => (width + 1) * height,
        RenderFormat::Lab => (2 * width + 6) * (height + 2),
        RenderFormat::Leiden => (width + 3) * (height + 2) + MAX_SENTENCES,
    }
}

fn ascii(view: &View<'_>) -> String {
    let (width, height) = (view.playfield.width(), view.playfield.height());
    let cell = view.cells();
    let mut text = String::new();
    for row in (0..height).rev() {
        text.extend((0..width).map(|column| match cell(row, column) {
            DrawnCell::Empty => '.',
            DrawnCell::Full => '#',
            DrawnCell::Falling => '@',
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
            text.push_str(if cell(height - 1 - row, column) == DrawnCell::Empty { "  " } else { "[]" });
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
            text.push(if cell(row, column) == DrawnCell::Empty { ' ' } else { 'X' });
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
