//! Scenes in characters.
//!
//! Without colours a cell is the letter of its piece, of a tetromino a small one for those of the last piece, `#` for what was there at
//! the beginning, `.` for nothing. With colours it is two columns wide, so that it is about square.

use std::fmt::Write;

use crate::recording::{Cell, Scene};
use tetrion_core::engine::{Piece, PieceSet, Rules};

use super::colours::{ColourScheme, Hue, Rgb};
use super::draw::points;
use super::moment::Moment;

const RESET: &str = "\x1b[0m";

/// Draws a moment of a replay of a game of these rules, as far as its rows are visible, with the colours of a scheme or without;
/// lines end with a newline. The sides of a match are next to each other.
pub fn text(moment: &Moment, rules: &Rules, scheme: Option<ColourScheme>) -> String {
    let side = |moment: &Moment| drawing(moment, rules, scheme, aside(&moment.scene, &rules.pieces, scheme));
    let mut text = side(moment);
    if let Some(opponent) = &moment.opponent {
        text = next_to_each_other(&text, &side(opponent));
    }
    text.push('\n');
    text
}

/// Two drawings of the same game, line by line.
fn next_to_each_other(left: &str, right: &str) -> String {
    let width = left.lines().map(visible_width).max().unwrap_or(0);
    let (mut left, mut right) = (left.lines(), right.lines());
    let mut lines = Vec::new();
    loop {
        let line = match (left.next(), right.next()) {
            (Some(left), Some(right)) => {
                format!("{left}{}   {right}", " ".repeat(width - visible_width(left)))
            }
            (Some(left), None) => left.to_owned(),
            (None, Some(right)) => format!("{}{right}", " ".repeat(width + 3)),
            (None, None) => return lines.join("\n"),
        };
        lines.push(line);
    }
}

/// Columns of a line, without the sequences that colour it.
fn visible_width(line: &str) -> usize {
    line.split('\x1b')
        .enumerate()
        .map(|(part, text)| {
            let shown = if part == 0 { text } else { text.split_once('m').map_or("", |(_, shown)| shown) };
            shown.chars().count()
        })
        .sum()
}

/// Draws a [standing](Moment::standing) moment of a game of these rules; newlines join the lines.
pub fn standing(moment: &Moment, rules: &Rules, scheme: Option<ColourScheme>) -> String {
    drawing(moment, rules, scheme, standing_aside(moment, rules, scheme))
}

/// Most bytes of [`standing`] under these rules.
pub fn max_bytes(rules: &Rules) -> usize {
    let (width, rows) = (usize::from(rules.width), usize::from(rules.visible_rows()));
    // Two frames, and below them the lines for which there is no room next to the playfield.
    (MAX_CELL * width + 8) * (rows + 2) + MAX_LINE * 9 + MAX_CELL * usize::from(rules.preview)
}

/// Most bytes of a cell, or of the letter of a piece.
const MAX_CELL: usize = "\x1b[1;30;48;5;255m[]\x1b[0m".len();

/// Most bytes of a line next to the playfield, without letters of next pieces.
const MAX_LINE: usize = 64;

fn drawing(moment: &Moment, rules: &Rules, scheme: Option<ColourScheme>, aside: Vec<String>) -> String {
    let scene = &moment.scene;
    let (width, height) = (rules.width, rules.visible_rows());
    let frame = format!("+{}+", "-".repeat(usize::from(width) * if scheme.is_some() { 2 } else { 1 }));
    let mut aside = aside.into_iter();
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
    aside.for_each(|words| text.extend(["\n", &words]));
    text
}

/// What is at a place.
enum TextCell {
    Empty,
    Ghost(Piece),
    Full(Hue),
    /// Of the current piece, or of the last one.
    Marked(Hue),
}

fn place(scene: &Scene, row: u8, column: u8) -> TextCell {
    let here = (row, column);
    let cell = scene.cells.get(row, column);
    match &scene.current {
        Some(current) if current.cells.contains(&here) => TextCell::Marked(current.piece.into()),
        Some(current) if cell == Cell::Empty && scene.ghost.is_some_and(|ghost| ghost.contains(&here)) => {
            TextCell::Ghost(current.piece)
        }
        current => match Hue::of(cell) {
            None => TextCell::Empty,
            Some(hue) if current.is_none() && scene.last.contains(&here) => TextCell::Marked(hue),
            Some(hue) => TextCell::Full(hue),
        },
    }
}

fn letter(hue: Hue, pieces: &PieceSet) -> char {
    match hue {
        Hue::Piece(number) => pieces.piece(number).map_or('#', |piece| pieces.letter(piece)),
        Hue::Given => '#',
    }
}

fn plain(place: TextCell, pieces: &PieceSet) -> char {
    match place {
        TextCell::Empty => '.',
        TextCell::Ghost(_) => ':',
        TextCell::Full(hue) => letter(hue, pieces),
        // In other sets a small letter is that of another piece.
        TextCell::Marked(hue) if pieces.is_tetrominoes() => letter(hue, pieces).to_ascii_lowercase(),
        TextCell::Marked(hue) => letter(hue, pieces),
    }
}

fn coloured(place: TextCell, scheme: ColourScheme) -> String {
    match place {
        TextCell::Empty => " .".to_owned(),
        TextCell::Ghost(piece) => format!("\x1b[38;5;{}m[]{RESET}", of_256(scheme.of(piece.into()))),
        TextCell::Full(hue) => format!("\x1b[48;5;{}m  {RESET}", of_256(scheme.of(hue))),
        TextCell::Marked(hue) => format!("\x1b[1;30;48;5;{}m[]{RESET}", of_256(scheme.of(hue))),
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

/// A function from a piece to its letter, in its colour.
fn written(pieces: &PieceSet, scheme: Option<ColourScheme>) -> impl Fn(Piece) -> String {
    move |piece| match scheme {
        Some(scheme) => {
            format!("\x1b[1;38;5;{}m{}{RESET}", of_256(scheme.of(piece.into())), pieces.letter(piece))
        }
        None => pieces.letter(piece).to_string(),
    }
}

/// The lines next to the playfield of a replay.
fn aside(scene: &Scene, pieces: &PieceSet, scheme: Option<ColourScheme>) -> Vec<String> {
    let piece = written(pieces, scheme);
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
    match scene.garbage.iter().map(|&lines| u32::from(lines)).sum() {
        0 => {}
        waiting => lines.push(format!("garbage {waiting}")),
    }
    if let Some(end) = scene.end {
        lines.push(end.to_string());
    }
    lines
}

/// The lines next to the playfield of a game that waits for its next action.
fn standing_aside(
    Moment { scene, waiting, .. }: &Moment,
    rules: &Rules,
    scheme: Option<ColourScheme>,
) -> Vec<String> {
    let letter = written(&rules.pieces, scheme);
    let mut lines = Vec::new();
    if let Some(piece) = waiting.or(scene.current.map(|current| current.piece)) {
        lines.push(format!("piece  {}", letter(piece)));
    }
    if let Some(held) = scene.held {
        lines.push(format!("hold   {}", letter(held)));
    }
    if rules.preview > 0 {
        lines.push(format!("next   {}", scene.next.iter().copied().map(letter).collect::<String>()));
    }
    if let Some((now, later)) = scene.garbage.split_first() {
        lines.push(match later.iter().map(|&lines| u32::from(lines)).sum() {
            0 => format!("rising {now}"),
            later => format!("rising {now} +{later}"),
        });
    }
    lines.push(format!("lines  {}", scene.lines));
    lines.push(format!("pieces {}", scene.pieces));
    lines.push(format!("points {}", points(scene.score)));
    lines.extend(scene.end.map(|end| end.to_string()));
    lines
}
