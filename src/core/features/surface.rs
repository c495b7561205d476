//! The surface as the next pieces see it: this project's own features, for players that consider hidden pieces.
//!
//! A tetromino *fits* where one of its orientations can rest with every column touching the surface: then it covers no
//! empty cell, and creates no hole. This depends only on the columns' heights, not on the height of the playfield or
//! anything above. A player with the exact mean over the next piece loses when one of the seven fits nowhere. So these
//! numbers summarize what the mean finds out with seven pieces.
//!
//! Two features weight by depth what Dellacherie's count once: a hole far under the surface is opened late, and only an
//! I fits into a well of three rows or more. The last feature is the checkerboard argument: every tetromino but the T
//! covers as many black cells as white ones.

use super::bertsekas::column_height;
use crate::engine::{Column, Playfield, Rules, Shape, Tetromino};

/// Number of tetrominoes, out of seven, that fit somewhere; at least 1, because an I fits upright on any column.
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
/// assert_eq!(Feature::named("accommodated").unwrap().of_playfield(&playfield, 0), 6.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn accommodated(playfield: &Playfield) -> u32 {
    (0..7).map(|tetromino| readiness(playfield, tetromino)).sum()
}

/// 1 if the tetromino with this number fits somewhere, else 0.
pub(super) fn readiness(playfield: &Playfield, tetromino: usize) -> u32 {
    fits_of(playfield, tetromino).min(1)
}

/// Number of ways in which the tetrominoes fit: pairs of an orientation and a column, over all seven.
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
/// assert_eq!(Feature::named("fits").unwrap().of_playfield(&playfield, 0), 13.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn fits(playfield: &Playfield) -> u32 {
    (0..7).map(|tetromino| fits_of(playfield, tetromino)).sum()
}

/// Number of ways in which the tetromino with this number fits: pairs of an orientation and a column.
pub(super) fn fits_of(playfield: &Playfield, tetromino: usize) -> u32 {
    // All rules have the same shapes, though in different orders.
    let shapes = Rules::default().shapes(Tetromino::ALL[tetromino]);
    shapes.iter().map(|shape| resting_places(playfield, shape)).sum()
}

/// Number of columns over which every column of a shape touches the surface.
fn resting_places(playfield: &Playfield, shape: &Shape) -> u32 {
    let touches = |under: &&[u64]| {
        let row = |j: usize| under[j].top() as i32 - i32::from(shape.bottoms[j]);
        (1..under.len()).all(|j| row(j) == row(0))
    };
    playfield.columns().windows(shape.width.into()).filter(touches).count() as u32
}

/// Number of pairs of neighbouring columns whose step `h[i + 1] - h[i]` is `index - 3`; -3 or less for 0, 3 or more for
/// 6.
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
/// assert_eq!(Feature::named("steps").unwrap().of_playfield(&playfield, 1), 2.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn steps(playfield: &Playfield, index: usize) -> u32 {
    let step = |pair: &[u64]| pair[1].top() as i32 - pair[0].top() as i32;
    let counted = |pair: &&[u64]| (step(pair).clamp(-3, 3) + 3) as usize == index;
    playfield.columns().windows(2).filter(counted).count() as u32
}

/// For every hole, the rows from it up to the top of its column: the column's height minus the hole's row.
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
/// assert_eq!(Feature::named("weighted_holes").unwrap().of_playfield(&playfield, 0), 2.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn weighted_holes(playfield: &Playfield) -> u32 {
    let mut sum = 0;
    for column in 0..playfield.width() {
        let height = column_height(playfield, column.into());
        let holes = playfield.holes(column);
        sum += (0..height).filter(|&row| holes >> row & 1 == 1).map(|row| height - row).sum::<u32>();
    }
    sum
}

/// For every column, the number of rows beyond two by which it lies below its lower neighbour, with infinitely high
/// walls.
pub(super) fn deep_wells(playfield: &Playfield) -> u32 {
    let heights: Vec<u32> = playfield.heights().collect();
    let height = |i: usize| heights.get(i).copied().unwrap_or(u32::MAX);
    let lower_neighbour = |i: usize| height(i.wrapping_sub(1)).min(height(i + 1));
    (0..heights.len()).map(|i| lower_neighbour(i).saturating_sub(height(i) + 2)).sum()
}

/// The imbalance of black and white on a chessboard if every column is filled up to its height: the absolute value of
/// the sum of `(-1)^i (h[i] mod 2)`.
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
/// assert_eq!(Feature::named("surface_parity").unwrap().of_playfield(&playfield, 0), 1.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn surface_parity(playfield: &Playfield) -> u32 {
    let sign = |i: usize| if i.is_multiple_of(2) { 1 } else { -1 };
    playfield
        .heights()
        .enumerate()
        .map(|(i, height)| sign(i) * (height % 2) as i32)
        .sum::<i32>()
        .unsigned_abs()
}
