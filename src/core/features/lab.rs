//! The course notebook's own versions of features, and versions that its report and its exercises suggest.
//!
//! The notebook's weights fit only its own definitions, which are all measured before clearing (`_preclear`). For
//! columns its surroundings differ from Dellacherie's: above the highest row everything is full.

use super::dellacherie::{empty_cells_down_from, inside, well_cells};
use super::seen::Seen;
use crate::engine::{Column, Playfield};

/// The row of the piece's anchor cell before clearing, with the floor row as 1.
///
/// The notebook builds and turns every tetromino around one cell, which is the middle only for a T. So an upright I on
/// the floor has landing height 1.
pub(super) fn landing_height_lab(seen: &Seen<'_>) -> f64 {
    f64::from(seen.landing.row + seen.shape.anchor_row + 1)
}

/// The mean height of the piece's lowest and highest cells, with the floor row as 1: always one more than Dellacherie's
/// landing height.
pub(super) fn landing_height_mid(seen: &Seen<'_>) -> f64 {
    f64::from(seen.landing.row) + f64::from(seen.shape.height + 1) / 2.0
}

/// The rows below the piece plus half its height, as an exercise hints: always half a row more than Dellacherie's
/// landing height.
pub(super) fn landing_height_hint(seen: &Seen<'_>) -> f64 {
    f64::from(seen.landing.row) + f64::from(seen.shape.height) / 2.0
}

/// Changes between full and empty along all columns, full below the floor and above the highest row. Always even in a
/// column; an empty column has two.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::Feature;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(Feature::named("column_transitions_lab").unwrap().of_playfield(&playfield, 0), 14.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn column_transitions_lab(playfield: &Playfield) -> u32 {
    let above = 1 << playfield.height();
    playfield.columns().iter().map(|&column| ((column | above) ^ (column << 1 | 1)).count()).sum()
}

/// For every hole, the number of full cells above it in its column: a full cell counts once for each hole below it.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::Feature;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(Feature::named("hole_depth_lab").unwrap().of_playfield(&playfield, 0), 1.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn hole_depth_lab(playfield: &Playfield) -> u32 {
    let mut sum = 0;
    for column in 0..playfield.width() {
        let cells = playfield.columns()[usize::from(column)];
        let mut holes = playfield.holes(column);
        while holes != 0 {
            sum += (cells >> holes.lowest()).count();
            holes &= holes - 1;
        }
    }
    sum
}

/// Holes that cannot be reached from the sky through empty neighbours above, below, left and right.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::Feature;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(Feature::named("holes_enclosed").unwrap().of_playfield(&playfield, 0), 1.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn holes_enclosed(playfield: &Playfield) -> u32 {
    let columns = playfield.columns();
    let highest_row = 1 << (playfield.height() - 1);
    let mut reached = [0u64; 32];
    loop {
        let before = reached;
        for (i, &cells) in columns.iter().enumerate() {
            let left = if i == 0 { 0 } else { reached[i - 1] };
            let right = if i + 1 == columns.len() { 0 } else { reached[i + 1] };
            let vertical = reached[i] << 1 | reached[i] >> 1;
            reached[i] = (reached[i] | highest_row | left | right | vertical) & !cells & inside(playfield);
        }
        if reached == before {
            break;
        }
    }
    (0..playfield.width())
        .map(|column| (playfield.holes(column) & !reached[usize::from(column)]).count())
        .sum()
}

/// `1 + 2 + ... + n` for the `n` open well cells of every column, with or without gaps between them: cumulative wells
/// as the exercise grades them.
///
/// An open well cell is an empty cell whose neighbours in its row are full, walls included, with nothing above it in
/// its column.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::Feature;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(Feature::named("wells_lab").unwrap().of_playfield(&playfield, 0), 4.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn wells_lab(playfield: &Playfield) -> u32 {
    open_wells(playfield).map(|(_, cells)| sum_up_to(cells.count())).sum()
}

/// Like [`wells_lab`], but `n` starts again after a gap.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::Feature;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(Feature::named("wells_runs").unwrap().of_playfield(&playfield, 0), 4.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn wells_runs(playfield: &Playfield) -> u32 {
    let runs = |mut cells: u64| {
        // The cells that are at least the first, second, third, ... of their run, counted from below.
        let mut sum = 0;
        while cells != 0 {
            sum += cells.count();
            cells &= cells << 1;
        }
        sum
    };
    open_wells(playfield).map(|(_, cells)| runs(cells)).sum()
}

/// For every open well cell, the number of empty cells from it straight down to the first full one, including the open
/// well cell: Dellacherie's cumulative wells without covered well cells.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::Feature;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(Feature::named("wells_open").unwrap().of_playfield(&playfield, 0), 4.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn wells_open(playfield: &Playfield) -> u32 {
    open_wells(playfield).map(|(column, cells)| empty_cells_down_from(column, cells)).sum()
}

/// `1 + 2 + ... + d` for every column that lies `d` rows below the lower of its two neighbours, with infinitely high
/// walls, as the report describes it.
///
/// ```
/// use tetrion_core::engine::Playfield;
/// use tetrion_core::features::Feature;
///
/// let playfield = Playfield::from_drawn_rows(6, 6, &[
///     "#.....",
///     "#.#...",
///     "####.#",
///     "#.##.#",
/// ])?;
/// assert_eq!(Feature::named("wells_heights").unwrap().of_playfield(&playfield, 0), 4.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn wells_heights(playfield: &Playfield) -> u32 {
    let columns = playfield.columns();
    let depth = |i: usize| {
        let left = if i == 0 { u32::MAX } else { columns[i - 1].top() };
        let right = columns.get(i + 1).map_or(u32::MAX, |column| column.top());
        left.min(right).saturating_sub(columns[i].top())
    };
    (0..columns.len()).map(|i| sum_up_to(depth(i))).sum()
}

/// `1 + 2 + ... + n`.
pub(super) fn sum_up_to(n: u32) -> u32 {
    n * (n + 1) / 2
}

/// Every column with its open well cells.
pub(super) fn open_wells(playfield: &Playfield) -> impl Iterator<Item = (u64, u64)> + '_ {
    let open = |(i, &column): (usize, &u64)| (column, well_cells(playfield, i) & !u64::below(column.top()));
    playfield.columns().iter().enumerate().map(open)
}
