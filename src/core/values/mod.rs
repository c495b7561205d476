//! Tables of the exact values of afterstates, and what follows from them: the value of a placement, and its regret.
//!
//! A table belongs to a size of playfield, and holds for straight drops of uniform tetrominoes. This room knows neither how values are computed nor who plays. It only looks them up.
//!
//! The surprising decision: the tables of a process are global. They are constants of mathematics, too large to ship and
//! quick enough to compute, so the first user [adds](add) a table, and the rest of the process [looks it up](known).

mod file;
mod table;

pub use file::FileError;
pub use table::{Stakes, Values, pack};

use std::sync::OnceLock;

/// Most cells of a playfield with a table.
pub const MAX_CELLS: u32 = 32;

/// One more than the most columns or rows of a playfield with a table: 4 x 8 and 8 x 4 have 32 cells.
const SIDES: usize = 9;

static TABLES: [[OnceLock<Values>; SIDES]; SIDES] = [const { [const { OnceLock::new() }; SIDES] }; SIDES];

/// The table of a size, if it was added.
pub fn known(width: u8, height: u8) -> Option<&'static Values> {
    TABLES.get(usize::from(width))?.get(usize::from(height))?.get()
}

/// Adds a table for the rest of the process. If the size has one already, it stays.
///
/// # Panics
/// If the playfield has more than [`MAX_CELLS`].
pub fn add(values: Values) -> &'static Values {
    let (width, height) = values.size();
    TABLES[usize::from(width)][usize::from(height)].get_or_init(|| values)
}
