//! Scenes in characters.
//!
//! Without colours a cell is the letter of its piece, of a tetromino a small one for those of the last piece, `#` for what was there at
//! the beginning, `.` for nothing. With colours it is two columns wide, so that it is about square.

use std::fmt::Write;

use crate::engine::{Piece, PieceSet, Rules};
use crate::recording::{Cell, Scene};

use super::colours::{ColourScheme, Hue, Rgb};
use super::draw::points;
use super::moment::Moment;

const RESET: &str = "\x1b[0m";

/// Draws a moment of a game of these rules, as far as its rows are visible, with the colours of a scheme or without; lines end with a newline.
pub fn text(moment: &Moment, rules: &Rules, scheme: Option<ColourScheme>) -> String {
    let scene = &moment.scene;
    let (width, height) = (rules.width, rules.visible_rows());
    let frame = format!("+{}+", "-".repeat(usize::from(width) * if scheme.is_some() { 2 } else { 1 }));
    let mut aside = aside(scene, &rules.pieces, scheme).into_iter();
    let mut text = format!("{frame}\n");
    for row in (0..height).rev() {
        text.push('|');
        for column in 0..width {
            let place = place(scene, row, column);
            match scheme {
                Some(scheme) => text.push_str(&coloured(place, scheme)),
                None => text.push(plain(place, &rules.pieces)),
            }
        }
        text.push('|');
        if moment.full_rows.contains(&row) {
            text.push('<');
        }
        if let Some(words) = aside.next() {
            let _ = write!(text, "  {words}");
        }
        text.push('\n');
    }
    text.push_str(&frame);
    text.push('\n');
    aside.for_each(|words| text = format!("{text}{words}\n"));
    text
}

/// What is at a place.
enum Place {
    Empty,
    Ghost(Piece),
    Full(Hue),
    /// Of the current piece, or of the last one.
    Marked(Hue),
}

fn place(scene: &Scene, row: u8, column: u8) -> Place {
    let here = (row, column);
    let cell = scene.cells.get(row, column);
    match &scene.current {
        Some(current) if current.cells.contains(&here) => Place::Marked(current.piece.into()),
        Some(current) if cell == Cell::Empty && scene.ghost.is_some_and(|ghost| ghost.contains(&here)) => {
            Place::Ghost(current.piece)
        }
        current => match Hue::of(cell) {
            None => Place::Empty,
            Some(hue) if current.is_none() && scene.last.contains(&here) => Place::Marked(hue),
            Some(hue) => Place::Full(hue),
        },
    }
}

fn letter(hue: Hue, pieces: &PieceSet) -> char {
    match hue {
        Hue::Piece(number) => pieces.piece(number).map_or('#', |piece| pieces.letter(piece)),
        Hue::Given => '#',
    }
}

fn plain(place: Place, pieces: &PieceSet) -> char {
    match place {
        Place::Empty => '.',
        Place::Ghost(_) => ':',
        Place::Full(hue) => letter(hue, pieces),
        // In other sets a small letter is that of another piece.
        Place::Marked(hue) if pieces.is_tetrominoes() => letter(hue, pieces).to_ascii_lowercase(),
        Place::Marked(hue) => letter(hue, pieces),
    }
}

fn coloured(place: Place, scheme: ColourScheme) -> String {
    match place {
        Place::Empty => " .".to_owned(),
        Place::Ghost(piece) => format!("\x1b[38;5;{}m[]{RESET}", of_256(scheme.of(piece.into()))),
        Place::Full(hue) => format!("\x1b[48;5;{}m  {RESET}", of_256(scheme.of(hue))),
        Place::Marked(hue) => format!("\x1b[1;30;48;5;{}m[]{RESET}", of_256(scheme.of(hue))),
    }
}

/// The nearest of the 6 x 6 x 6 colours that terminals have had since 1999.
fn of_256(rgb: Rgb) -> u16 {
    let step = |part: u8| match part {
        0..48 => 0,
        48..115 => 1,
        part => (u16::from(part) - 35) / 40,
    };
    let [red, green, blue] = rgb.map(step);
    16 + 36 * red + 6 * green + blue
}

/// The lines beside the playfield.
fn aside(scene: &Scene, pieces: &PieceSet, scheme: Option<ColourScheme>) -> Vec<String> {
    let piece = |piece: Piece| match scheme {
        Some(scheme) => {
            format!("\x1b[1;38;5;{}m{}{RESET}", of_256(scheme.of(piece.into())), pieces.letter(piece))
        }
        None => pieces.letter(piece).to_string(),
    };
    let mut lines = vec![
        format!("lines   {}", scene.lines),
        format!("pieces  {}", scene.pieces),
        format!("points  {}", points(scene.score)),
    ];
    if scene.steps != scene.pieces {
        lines.push(format!("steps   {}", scene.steps));
    }
    if let Some(held) = scene.held {
        lines.push(format!("hold    {}", piece(held)));
    }
    if !scene.next.is_empty() {
        lines.push(format!("next    {}", scene.next.iter().copied().map(piece).collect::<String>()));
    }
    if let Some(end) = scene.end {
        lines.push(end.to_string());
    }
    lines
}
