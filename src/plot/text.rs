//! A chart as characters. Lines consist of Braille dots, two across and four down per cell; lines after the first
//! have gaps, so that they can be distinguished without colour.

use std::fmt::Write;

use super::axis::{Axis, label};
use super::{Chart, Line};
use crate::text::escapes::visible;

/// Dots drawn and dots left out, in turn, by line.
const DASHES: [(usize, usize); 4] = [(1, 0), (1, 1), (1, 3), (3, 3)];

/// Foreground colours by line: blue, yellow, green, magenta.
const COLOURS: [&str; 4] = ["\x1b[34m", "\x1b[33m", "\x1b[32m", "\x1b[35m"];
const NO_COLOUR: &str = "\x1b[0m";

/// Bits of the dots of a Braille character, from the top down, left and right.
const DOTS: [[u32; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

/// Fewest columns of a tick of the horizontal axis, and fewest rows of a tick of the vertical axis.
const TICK_COLUMNS: usize = 10;
const TICK_ROWS: usize = 3;

/// Cells of dots, each with the line it belongs to.
struct DotCanvas {
    columns: usize,
    rows: usize,
    cells: Vec<(u32, usize)>,
}

impl Chart {
    /// Draws the chart `columns` wide, with `rows` rows between the axes; ends with a newline. A chart that would be
    /// unreadable is made larger: at least 30 columns wide, with at least 3 rows.
    pub fn to_text(&self, columns: usize, rows: usize, colour: bool) -> String {
        let (columns, rows) = (columns.max(30), rows.max(3));
        let mut text = format!("{}\n", visible(&self.title));
        let Some((x, y)) = self.axes(columns / TICK_COLUMNS, (rows / TICK_ROWS).max(1)) else {
            text.push_str("(nothing to show yet)\n");
            return text;
        };
        let labels: Vec<String> = y.ticks.iter().map(|&tick| label(tick)).collect();
        let margin = labels.iter().map(|label| label.chars().count()).max().unwrap_or(0);
        let canvas = self.draw(&x, &y, columns - margin - 2, rows);

        // Ticks that would share a row: the lowest is written.
        let mut row_labels = vec![None; rows];
        for (&tick, label) in y.ticks.iter().zip(&labels).rev() {
            row_labels[canvas.dot_row(y.position(tick)) / 4] = Some(label);
        }
        let _ = writeln!(text, "{:>margin$} {}", "", self.y_label);
        for (row, row_label) in row_labels.into_iter().enumerate() {
            let line = canvas.row(row, colour);
            let _ = match row_label {
                Some(label) => writeln!(text, "{label:>margin$} ┤{line}"),
                None => writeln!(text, "{:margin$} │{line}", ""),
            };
        }
        let (axis, numbers) = horizontal_axis(&x, canvas.columns);
        let _ = writeln!(text, "{:margin$} └{axis}", "");
        // The label goes to the right end; under the numbers if it would touch them.
        let room = canvas.columns.saturating_sub(numbers.chars().count() + 2);
        if self.x_label.chars().count() <= room {
            let _ = writeln!(text, "{:margin$}  {numbers}  {:>room$}", "", self.x_label);
        } else {
            let right = canvas.columns;
            let _ = writeln!(text, "{:margin$}  {numbers}\n{:margin$}  {:>right$}", "", "", self.x_label);
        }
        for (index, line) in self.lines.iter().enumerate() {
            let _ = writeln!(text, "{:margin$}  {} {}", "", sample(index, colour), line.name);
        }
        text
    }

    fn draw(&self, x: &Axis, y: &Axis, columns: usize, rows: usize) -> DotCanvas {
        let mut canvas = DotCanvas { columns, rows, cells: vec![(0, 0); columns * rows] };
        // The first line last: its cells are its own, whatever crosses it.
        for (index, line) in self.lines.iter().enumerate().rev() {
            canvas.draw(index, line, x, y);
        }
        canvas
    }
}

impl DotCanvas {
    fn draw(&mut self, index: usize, line: &Line, x: &Axis, y: &Axis) {
        let last_dot = (2 * self.columns - 1) as f64;
        let mut dots = line.finite_points().map(|point| {
            let column = (x.position(point.x) * last_dot).round() as i64;
            (column, self.dot_row(y.position(point.y)) as i64)
        });
        let Some(mut from) = dots.next() else { return };
        let mut path = vec![from];
        for to in dots {
            let (across, down) = (to.0 - from.0, to.1 - from.1);
            let num_steps = across.abs().max(down.abs());
            for step in 1..=num_steps {
                let part = step as f64 / num_steps as f64;
                let along = |start: i64, length: i64| start + (part * length as f64).round() as i64;
                path.push((along(from.0, across), along(from.1, down)));
            }
            from = to;
        }
        let (on, off) = DASHES[index % DASHES.len()];
        for (step, (column, row)) in path.into_iter().enumerate() {
            if step % (on + off) < on {
                let (column, row) = (column as usize, row as usize);
                let cell = &mut self.cells[row / 4 * self.columns + column / 2];
                *cell = (cell.0 | DOTS[row % 4][column % 2], index);
            }
        }
    }

    /// Rows of dots from the top, for a position from the bottom.
    fn dot_row(&self, position: f64) -> usize {
        let last_dot = 4 * self.rows - 1;
        last_dot - (position * last_dot as f64).round() as usize
    }

    fn row(&self, row: usize, colour: bool) -> String {
        let cells = &self.cells[row * self.columns..(row + 1) * self.columns];
        let drawn = cells.iter().rposition(|&(dots, _)| dots != 0).map_or(0, |last| last + 1);
        cells[..drawn].iter().map(|&(dots, line)| painted(dots, line, colour)).collect()
    }
}

fn painted(dots: u32, line: usize, colour: bool) -> String {
    if dots == 0 {
        return " ".to_owned();
    }
    let cell = char::from_u32(0x2800 + dots).expect("256 Braille characters");
    if !colour {
        return cell.to_string();
    }
    format!("{}{cell}{NO_COLOUR}", COLOURS[line % COLOURS.len()])
}

/// A sample of a line for the legend: three cells.
fn sample(index: usize, colour: bool) -> String {
    let (on, off) = DASHES[index % DASHES.len()];
    let dot = |column: usize| if column % (on + off) < on { DOTS[2][column % 2] } else { 0 };
    (0..3)
        .map(|cell| match dot(2 * cell) | dot(2 * cell + 1) {
            0 => painted(0, index, colour),
            dots => painted(dots, index, colour),
        })
        .collect()
}

/// The axis line with its ticks, and the numbers below; a number that would touch the previous one is left out.
pub(super) fn horizontal_axis(x: &Axis, columns: usize) -> (String, String) {
    let mut line = vec!['─'; columns];
    let mut numbers = String::new();
    let mut free = 0;
    for &tick in &x.ticks {
        let column = (x.position(tick) * (columns - 1) as f64).round() as usize;
        let number = label(tick);
        let len = number.chars().count();
        let start = column.saturating_sub((len - 1) / 2).min(columns.saturating_sub(len));
        if start < free {
            continue;
        }
        line[column] = '┬';
        let used = numbers.chars().count();
        let _ = write!(numbers, "{:1$}{number}", "", start - used);
        free = start + len + 2;
    }
    (line.into_iter().collect(), numbers)
}
