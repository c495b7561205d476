//! A scene as marks at positions.

use crate::recording::Scene;
use tetrion_core::engine::{Piece, Tetromino};

use super::colours::{Hue, Ink};
use super::font;
use super::layout::{Layout, lying};
use super::moment::Moment;

/// A shape at a position in pixels from the left and the top. Later marks lie over earlier ones.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    Area {
        x: u32,
        y: u32,
        width: u32,
        height: u32,
        ink: Ink,
    },
    /// A full cell of the playfield or of a piece.
    Block {
        x: u32,
        y: u32,
        /// Pixels of the block's side.
        size: u32,
        hue: Hue,
    },
    /// The outline of a cell, inside it.
    Ring {
        x: u32,
        y: u32,
        /// Pixels of the ring's side.
        size: u32,
        ink: Ink,
    },
    Words {
        x: u32,
        y: u32,
        /// Pixels of a dot's side.
        dot: u32,
        ink: Ink,
        text: String,
    },
}

impl Mark {
    /// A mark like this, moved by some pixels to the right.
    fn shifted(mut self, by: u32) -> Mark {
        match &mut self {
            Mark::Area { x, .. } | Mark::Block { x, .. } | Mark::Ring { x, .. } | Mark::Words { x, .. } => {
                *x += by;
            }
        }
        self
    }
}

/// Everything in the picture of a moment, and below it a line of words. The sides of a match are next to each other.
pub fn draw(layout: &Layout, moment: &Moment) -> Vec<Mark> {
    let mut marks = side(layout, moment);
    if let Some(opponent) = &moment.opponent {
        marks.extend(side(layout, opponent).into_iter().map(|mark| mark.shifted(layout.side)));
    }
    marks
}

fn side(layout: &Layout, moment: &Moment) -> Vec<Mark> {
    let mut marks = ground(layout);
    marks.extend(garbage(layout, &moment.scene));
    playfield(layout, moment, &mut marks);
    panel(layout, moment, &mut marks);
    if let Some(y) = layout.caption {
        let caption = &moment.words;
        let room = |dot| ((layout.side - 2 * layout.gap) / (font::ADVANCE * dot)) as usize;
        // Long words are written small, and cut if that is not enough.
        let dot = (1..=layout.dot).rfind(|&dot| caption.chars().count() <= room(dot)).unwrap_or(1);
        let text = caption.chars().take(room(dot)).collect();
        marks.push(Mark::Words { x: layout.gap, y, dot, ink: Ink::Label, text });
    }
    marks
}

/// The unchanging parts: the frame, and the empty playfield.
fn ground(layout: &Layout) -> Vec<Mark> {
    let Layout { cell, frame, inset, columns, rows, .. } = *layout;
    let (width, height) = (columns * cell, rows * cell);
    let area = |x, y, width, height, ink| Mark::Area { x, y, width, height, ink };
    let mut marks = vec![
        area(0, 0, layout.side, layout.height, Ink::Background),
        area(inset - frame, inset - frame, width + 2 * frame, height + 2 * frame, Ink::Frame),
        area(inset, inset, width, height, Ink::Empty),
    ];
    marks.extend((1..columns).map(|column| area(inset + column * cell, inset, 1, height, Ink::Grid)));
    marks.extend((1..rows).map(|row| area(inset, inset + row * cell, width, 1, Ink::Grid)));
    marks
}

/// Waiting garbage: a bar on the left of the frame, one row of cells high per line.
fn garbage(layout: &Layout, scene: &Scene) -> Option<Mark> {
    let lines = scene.garbage.iter().map(|&lines| u32::from(lines)).sum::<u32>().min(layout.rows);
    let Layout { cell, frame, inset, rows, .. } = *layout;
    let (x, y) = (inset - frame, inset + (rows - lines) * cell);
    let ink = Ink::Body(Tetromino::Z.into());
    (lines > 0).then_some(Mark::Area { x, y, width: frame, height: lines * cell, ink })
}

fn playfield(layout: &Layout, Moment { scene, full_rows, .. }: &Moment, marks: &mut Vec<Mark>) {
    let size = layout.cell;
    let at = |&(row, column): &(u8, u8)| (layout.x(column), layout.y(row));
    let is_inside = |cell: &&(u8, u8)| u32::from(cell.0) < layout.rows;
    for (row, cells) in (0..layout.rows as u8).zip(scene.cells.rows()) {
        for (column, hue) in (0..).zip(cells).filter_map(|(column, cell)| Some((column, Hue::of(*cell)?))) {
            let (x, y) = at(&(row, column));
            marks.push(Mark::Block { x, y, size, hue });
        }
    }
    let current = scene.current.as_ref();
    if let (Some(ghost), Some(current)) = (&scene.ghost, current) {
        for (x, y) in ghost.iter().filter(is_inside).map(at) {
            marks.push(Mark::Ring { x, y, size, ink: Ink::Dark(current.piece.into()) });
        }
    }
    if let Some(current) = current {
        for (x, y) in current.cells.iter().filter(is_inside).map(at) {
            marks.push(Mark::Block { x, y, size, hue: current.piece.into() });
        }
    }
    for &row in full_rows {
        let (x, width) = (layout.inset, layout.columns * layout.cell);
        let (height, ink) = (layout.cell.div_ceil(3), Ink::Bright);
        marks.push(Mark::Area { x, y: layout.y(row) + (layout.cell - height) / 2, width, height, ink });
    }
    let marked = current.map_or(&scene.last[..], |current| &current.cells[..]);
    for (x, y) in marked.iter().filter(is_inside).map(at) {
        marks.push(Mark::Ring { x, y, size, ink: Ink::Bright });
    }
}

/// The waiting piece, the held one, the next ones, and the numbers.
fn panel(layout: &Layout, Moment { scene, waiting, .. }: &Moment, marks: &mut Vec<Mark>) {
    let &Layout { dot, panel: x, .. } = layout;
    let mut y = layout.inset;
    let words = |y, ink, text| Mark::Words { x, y, dot, ink, text };
    let groups = [
        ("PIECE", layout.waiting_height(), waiting.as_slice()),
        ("HOLD", layout.hold_height(), scene.held.as_slice()),
        ("NEXT", layout.next_height(), &scene.next),
    ];
    for (label, height, pieces) in groups.into_iter().filter(|(_, height, _)| *height > 0) {
        marks.push(words(y, Ink::Label, label.to_owned()));
        let mut top = y + layout.letter_height() + 3 * dot;
        for &piece in pieces {
            next_piece(layout, piece, top, marks);
            top += layout.piece_height();
        }
        y += height;
    }
    let mut numbers = vec![("LINES", scene.lines.to_string()), ("PIECES", scene.pieces.to_string())];
    if layout.has_score {
        numbers.push(("SCORE", points(scene.score)));
    }
    for (label, number) in numbers {
        marks.push(words(y, Ink::Label, label.to_owned()));
        marks.push(words(y + layout.letter_height() + 2 * dot, Ink::Value, number));
        y += layout.number_height();
    }
}

/// Adds the marks of a next piece, lying on its longer side.
fn next_piece(layout: &Layout, piece: Piece, top: u32, marks: &mut Vec<Mark>) {
    let shape = lying(&layout.pieces, piece);
    let size = layout.small_cell;
    // A flat one lies in the middle of its place.
    let drop = (layout.lying_rows - u32::from(shape.height)) * size / 2;
    for (row, column) in shape.cells_at(0, 0) {
        let from_top = u32::from(shape.height - 1 - row);
        let (x, y) = (layout.panel + u32::from(column) * size, top + drop + from_top * size);
        marks.push(Mark::Block { x, y, size, hue: piece.into() });
    }
}

/// Points, with a digit behind the point where they are not whole.
pub fn points(score: f64) -> String {
    if score.fract() == 0.0 { format!("{score:.0}") } else { format!("{score:.1}") }
}
