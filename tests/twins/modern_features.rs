//! What a landing sends and what the stack is ready for, cell by cell.

use std::collections::HashSet;

use super::playfield::{TwinLanding, TwinPlayfield};

/// The number of the way in which it clears, if it clears anything.
pub fn way_of_clearing(landing: &TwinLanding) -> Option<usize> {
    let ways = ["1", "2", "3", "4", "spin 1", "spin 2", "spin 3"];
    let way = match (landing.spin == 2, landing.lines) {
        (_, 0) => return None,
        (true, lines) => format!("spin {}", lines.min(3)),
        (false, lines) => format!("{}", lines.min(4)),
    };
    ways.iter().position(|&other| other == way)
}

pub fn base_attack(landing: &TwinLanding) -> usize {
    if landing.lines > 0 && landing.afterstate.rows.iter().flatten().all(|full| !full) {
        return 10;
    }
    match (landing.spin, landing.lines) {
        (2, lines) => 2 * lines.min(3),
        (1, lines) => usize::from(lines >= 2),
        (_, 0 | 1) => 0,
        (_, 2) => 1,
        (_, 3) => 2,
        _ => 4,
    }
}

pub fn is_idle_t(landing: &TwinLanding) -> bool {
    let is_used = landing.spin == 2 && landing.lines > 0;
    landing.tetromino == 'T' && !is_used
}

pub fn ready_rows(playfield: &TwinPlayfield) -> usize {
    let lacks_only = |row: usize, column: usize| {
        (0..playfield.width()).all(|other| playfield.is_full(row, other) == (other != column))
    };
    let ready = |column: usize| {
        let surface = (0..playfield.height()).rev().find(|&row| playfield.is_full(row, column));
        let first = surface.map_or(0, |row| row + 1);
        (first..playfield.height()).take_while(|&row| lacks_only(row, column)).count()
    };
    (0..playfield.width()).map(ready).max().expect("at least one column")
}

/// The cells of each T in a slot, the lower one last.
fn slots(playfield: &TwinPlayfield) -> Vec<[(usize, usize); 4]> {
    let is_open =
        |row: usize, column: usize| (row..playfield.height()).all(|above| !playfield.is_full(above, column));
    let mut found = Vec::new();
    // A T may stick out above the top, as long as its lower end does not.
    for row in 1..=playfield.height() {
        for column in 1..playfield.width() - 1 {
            let cells = [(row, column - 1), (row, column), (row, column + 1), (row - 1, column)];
            let is_free = cells.iter().all(|&(row, column)| !playfield.is_full(row, column));
            let is_held = playfield.is_full(row - 1, column - 1) && playfield.is_full(row - 1, column + 1);
            let over = [column - 1, column + 1].map(|end| playfield.is_full(row + 1, end));
            let comes_in = match over {
                [true, false] => is_open(row, column + 1),
                [false, true] => is_open(row, column - 1),
                _ => false,
            };
            if is_free && is_held && comes_in && is_open(row, column) {
                found.push(cells);
            }
        }
    }
    found
}

pub fn spin_slots(playfield: &TwinPlayfield) -> usize {
    slots(playfield).len()
}

pub fn spin_slot_rows(playfield: &TwinPlayfield) -> usize {
    let filled = |cells: &[(usize, usize); 4]| {
        let is_full =
            |row: usize, column: usize| playfield.is_full(row, column) || cells.contains(&(row, column));
        let rows = [cells[0].0, cells[3].0];
        rows.into_iter().filter(|&row| (0..playfield.width()).all(|column| is_full(row, column))).count()
    };
    slots(playfield).iter().map(filled).max().unwrap_or(0)
}

pub fn perfect_clear_near(playfield: &TwinPlayfield) -> usize {
    let (width, height) = (playfield.width(), playfield.height());
    let stack = (0..height).rev().find(|&row| (0..width).any(|column| playfield.is_full(row, column)));
    let stack = stack.map_or(0, |row| row + 1);
    let may_be_filled = |rows: usize| {
        let mut left: HashSet<(usize, usize)> = (0..rows)
            .flat_map(|row| (0..width).map(move |column| (row, column)))
            .filter(|&(row, column)| !playfield.is_full(row, column))
            .collect();
        let missing = left.len();
        while let Some(&first) = left.iter().next() {
            let (mut region, mut open) = (0, vec![first]);
            left.remove(&first);
            while let Some((row, column)) = open.pop() {
                region += 1;
                let around = [
                    (row + 1, column),
                    (row, column + 1),
                    (row.wrapping_sub(1), column),
                    (row, column.wrapping_sub(1)),
                ];
                open.extend(around.into_iter().filter(|cell| left.remove(cell)));
            }
            if region % 4 != 0 {
                return None;
            }
        }
        Some(missing / 4)
    };
    let fewest = (1..=4).filter(|&rows| rows >= stack).find_map(may_be_filled);
    if width > 15 { 0 } else { fewest.map_or(0, |pieces| width - pieces) }
}
