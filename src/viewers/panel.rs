//! The panel next to or below a playfield: the numbers of the game, and its next pieces.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

use super::palette::{Palette, ScreenCell};
use crate::text::numbers::{grouped, short};
use tetrion_core::engine::{ActionModel, Piece, Rules, Shape};
use tetrion_toolkit::recording::Scene;

/// Columns that a panel takes, whatever the rules.
pub const PANEL_WIDTH: u16 = 14;

/// The numbers and next pieces of a game.
#[derive(Clone, Copy, Debug)]
pub struct Panel<'a> {
    pub scene: &'a Scene,
    pub rules: &'a Rules,
    /// A note on the player, such as its state.
    pub note: &'a str,
    pub palette: Palette,
}

/// Names and values of the numbers to show under these rules.
fn counters(rules: &Rules, scene: &Scene) -> Vec<(&'static str, f64)> {
    let mut counters = vec![("lines", scene.lines as f64), ("pieces", scene.pieces as f64)];
    // Omit the points if they equal the lines.
    if !rules.points_are_lines() {
        counters.push(("score", scene.score));
    }
    if rules.action_model == ActionModel::Keypress {
        counters.push(("steps", scene.steps as f64));
    }
    counters
}

/// Least number of lines of a panel, with its next pieces as letters.
pub fn least_height(rules: &Rules) -> u16 {
    let counters =
        2 + u16::from(!rules.points_are_lines()) + u16::from(rules.action_model == ActionModel::Keypress);
    // The current piece, the held piece, the next pieces and the note.
    counters + 3 + u16::from(rules.hold) + u16::from(rules.garbage.is_some())
}

impl Panel<'_> {
    /// Draws the panel, with as many drawn next pieces as fit. Shows the others as letters.
    pub fn render(&self, area: Rect, buffer: &mut Buffer) {
        let Panel { scene, rules, palette, .. } = *self;
        let mut lines = LineCursor { area, y: area.y, buffer, palette };
        let piece =
            scene.current.map_or("-".to_owned(), |current| rules.pieces.letter(current.piece).to_string());
        lines.pair("piece", &piece);
        if rules.hold {
            lines.pair(
                "hold",
                &scene.held.map_or("-".to_owned(), |held| rules.pieces.letter(held).to_string()),
            );
        }
        if !scene.garbage.is_empty() {
            lines.pair("garbage", &waiting(&scene.garbage));
        }
        for (name, number) in counters(rules, scene) {
            let number = if number.abs() < 999_999.5 { grouped(number) } else { short(number) };
            lines.pair(name, &number);
        }
        // A panel below a playfield has only room for letters.
        let room = area.bottom().saturating_sub(lines.y + 1);
        let drawn = if scene.next.is_empty() || room < 5 { 0 } else { usize::from((room - 2) / 3) };
        let drawn = drawn.min(scene.next.len());
        if drawn > 0 {
            lines.y += 1;
            lines.label("next");
            for &piece in &scene.next[..drawn] {
                lines.piece(lying(rules, piece), piece);
            }
        }
        let letters = rules.pieces.written(&scene.next[drawn..]);
        if !letters.is_empty() {
            lines.pair(if drawn > 0 { "then" } else { "next" }, &letters);
        }
        if !self.note.is_empty() {
            let note = textwrap::wrap(self.note, usize::from(PANEL_WIDTH));
            lines.y = area.bottom().saturating_sub(note.len() as u16).max(lines.y);
            note.iter().for_each(|line| lines.label(line));
        }
    }
}

/// Waiting garbage as text: the lines that may rise with the current piece, and the sum of the others.
fn waiting(garbage: &[u8]) -> String {
    let later: u8 = garbage[1..].iter().sum();
    if later == 0 { garbage[0].to_string() } else { format!("{} +{later}", garbage[0]) }
}

/// The lowest of the piece's shapes; of equals, the first.
fn lying(rules: &Rules, piece: Piece) -> &'static Shape {
    let shapes = rules.shapes(piece).iter();
    shapes.min_by_key(|shape| shape.height).expect("a piece has a shape")
}

/// A cursor that writes line by line.
struct LineCursor<'a> {
    area: Rect,
    y: u16,
    buffer: &'a mut Buffer,
    palette: Palette,
}

impl LineCursor<'_> {
    fn put(&mut self, x: u16, text: &str, style: ratatui::style::Style) {
        if self.y < self.area.bottom() {
            let room = usize::from(self.area.width.saturating_sub(x));
            self.buffer.set_stringn(self.area.x + x, self.y, text, room, style);
        }
    }

    fn label(&mut self, text: &str) {
        self.put(0, text, self.palette.label());
        self.y += 1;
    }

    fn pair(&mut self, name: &str, value: &str) {
        self.put(0, name, self.palette.label());
        let x = PANEL_WIDTH.saturating_sub(value.chars().count() as u16);
        self.put(x, value, self.palette.strong());
        self.y += 1;
    }

    /// Draws a shape in cells of two columns, followed by an empty line.
    fn piece(&mut self, shape: &Shape, piece: Piece) {
        let (text, style) = self.palette.wide(ScreenCell::Current(piece), 1, 0);
        let cells = shape.cells_at(0, 0);
        for row in (0..shape.height).rev() {
            for (_, column) in cells.iter().filter(|cell| cell.0 == row) {
                self.put(2 + 2 * u16::from(*column), &text, style);
            }
            self.y += 1;
        }
        self.y += 3u16.saturating_sub(shape.height.into()).max(1);
    }
}
