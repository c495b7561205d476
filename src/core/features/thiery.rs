//! The features that Thiery and Scherrer added to Dellacherie's six.
//!
//! The first two complete the set of BCTS ("Building Controllers for Tetris", ICGA Journal 32(1), 2009), the third
//! the set of DT-10 and DT-20 (Gabillon, Ghavamzadeh and Scherrer, "Approximate Dynamic Programming Finally Performs
//! Well in the Game of Tetris", NIPS 2013).

use crate::engine::{Column, Playfield};

/// Full cells with an empty cell anywhere below them in their column. In other words: for every hole, the full cells
/// directly on top of it, up to the end of their run.
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
/// assert_eq!(Feature::named("hole_depth").unwrap().of_playfield(&playfield, 0), 1.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn hole_depth(playfield: &Playfield) -> u32 {
    // Adding one carries through the full cells that stand on the floor, and masking removes them.
    playfield.columns().iter().map(|&column| (column & (column + 1)).count()).sum()
}

/// Rows with at least one hole.
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
/// assert_eq!(Feature::named("rows_with_holes").unwrap().of_playfield(&playfield, 0), 1.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn rows_with_holes(playfield: &Playfield) -> u32 {
    (0..playfield.width()).fold(0, |rows, column| rows | playfield.holes(column)).count()
}

/// The number of different steps among -2, -1, 0, 1, 2 that occur as height differences `h[i + 1] - h[i]`: 0 to 5.
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
/// assert_eq!(Feature::named("pattern_diversity").unwrap().of_playfield(&playfield, 0), 4.0);
/// # Ok::<(), tetrion_core::engine::DrawingError>(())
/// ```
pub(super) fn pattern_diversity(playfield: &Playfield) -> u32 {
    let mut occurs = 0u32;
    for pair in playfield.columns().windows(2) {
        let step = pair[1].top() as i32 - pair[0].top() as i32;
        if step.abs() <= 2 {
            occurs |= 1 << (step + 2);
        }
    }
    occurs.count_ones()
}
