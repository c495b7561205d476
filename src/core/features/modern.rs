//! Features for modern Tetris: what a landing clears and how, and what the stack is ready for.
//!
//! Players of modern Tetris send lines to opponents, most by four lines at once and by T-spins. The features of
//! landings distinguish these; the features of playfields measure what is prepared: a column left open for an I, and
//! an overhang for a T.
//!
//! Under rules without spins no landing has a spin, and the rest still counts. Combos and back-to-back clears depend on
//! several landings, so no feature here measures them.

use super::dellacherie::inside;
use super::low_cells::LowCells;
use super::seen::Seen;
use crate::engine::{Clear, Column, Playfield, Spin, Tetromino};

/// 1 if the landing clears lines in the way with this number, else 0. Ways 0 to 3 are one, two, three, and four or more
/// lines without a full spin; 4 to 6 are one, two, and three or more lines with a full spin.
pub(super) fn clears(seen: &Seen<'_>, index: usize) -> f64 {
    let way = match (seen.landing.lines, seen.spin) {
        (0, _) => return 0.0,
        (lines, Spin::Full) => 4 + lines.min(3) - 1,
        (lines, Spin::None | Spin::Mini) => lines.min(4) - 1,
    };
    f64::from(usize::from(way) == index)
}

/// Lines that the landing sends without combos and back-to-back clears; see [`Clear::base_attack`].
pub(super) fn base_attack(seen: &Seen<'_>) -> f64 {
    let Seen { landing, spin, .. } = *seen;
    let is_perfect = landing.lines > 0 && landing.afterstate.occupied_rows() == 0;
    Clear { lines: landing.lines, spin, is_perfect, ..Clear::default() }.base_attack().into()
}

/// 1 if the piece is a T that clears nothing by a full spin, else 0.
pub(super) fn idle_t(seen: &Seen<'_>) -> f64 {
    f64::from(seen.piece == Tetromino::T && (seen.landing.lines == 0 || seen.spin != Spin::Full))
}

/// Consecutive rows, from the surface of a column up, that are full except for that column; the maximum over all
/// columns.
///
/// Four such rows let an I clear four lines.
pub(super) fn ready_rows(playfield: &Playfield) -> u32 {
    let columns = playfield.columns();
    let ready = |(at, column): (usize, &u64)| {
        let others = columns.iter().enumerate().filter(|(other, _)| *other != at);
        let full = others.fold(inside(playfield), |full, (_, column)| full & column);
        (full >> column.top()).trailing_ones()
    };
    columns.iter().enumerate().map(ready).max().unwrap_or(0)
}

/// Number of positions where a T that points down would make a full spin under an overhang.
pub(super) fn spin_slots(playfield: &Playfield) -> u32 {
    slots(playfield).count() as u32
}

/// Number of rows, 0 to 2, that a T in a spin slot would fill; the maximum over all slots.
pub(crate) fn spin_slot_rows(playfield: &Playfield) -> u32 {
    let filled = |(middle, row): (usize, u32)| {
        let is_full_but_for = |row: u32, cells: std::ops::RangeInclusive<usize>| {
            let mut columns = playfield.columns().iter().enumerate();
            columns.all(|(column, word)| cells.contains(&column) || word >> row & 1 == 1)
        };
        let upper = is_full_but_for(row, middle - 1..=middle + 1);
        u32::from(upper) + u32::from(is_full_but_for(row - 1, middle..=middle))
    };
    slots(playfield).map(filled).max().unwrap_or(0)
}

/// How near a perfect clear is: with n columns, n less the fewest tetrominoes that may fill up to four rows; 0 if none
/// may. See [`LowCells::perfect_clear_near`].
pub(super) fn perfect_clear_near(playfield: &Playfield) -> u32 {
    LowCells::of(playfield).map_or(0, LowCells::perfect_clear_near)
}

/// For each spin slot, column and row of the middle of a T in it.
///
/// Both sides of its lower cell are full, so the T cannot fall further. The T enters on one side: that column and the
/// column of its middle are open to the sky. On the other side a cell hangs over it, which only a turn gets under.
fn slots(playfield: &Playfield) -> impl Iterator<Item = (usize, u32)> + '_ {
    let columns = playfield.columns();
    let overhangs = move |middle: usize| {
        let sides = [(middle - 1, middle + 1), (middle + 1, middle - 1)];
        sides.into_iter().filter_map(move |(open, covered)| {
            // The open side is full just below the T, and empty from there up.
            let row = columns[open].top();
            let is_slot =
                row >= 1 && columns[middle].top() < row && columns[covered] >> (row - 1) & 7 == 0b101;
            is_slot.then_some((middle, row))
        })
    };
    (1..columns.len() - 1).flat_map(overhangs)
}
