//! The size of a playfield, in the form that the lanes need.

use super::feature::{KernelFeature, NeededFeatures};
use super::surface::Surface;
use crate::engine::Column;
use crate::engine::lanes::{Lanes, Words, lanes_below};

/// The size of a playfield, and the vectors that depend only on the size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaneBounds<L: Words> {
    pub(super) width: u32,
    pub(super) height: u32,
    /// Number of rows above `height` that the sweep skips: empty rows between two walls.
    pub(super) hidden_rows: u32,
    /// The rows of the playfield as a full column: a wall.
    pub(super) wall: L::Word,
    /// A wall in every lane from `width` on, nothing in the others.
    pub(super) walls: L,
    /// All ones in the lanes that have a right neighbour inside the playfield.
    pub(super) pairs: L,
}

impl<L: Lanes> LaneBounds<L> {
    /// The bounds of a playfield that fits into the lanes.
    #[inline(always)]
    pub(crate) fn new(width: u8, height: u8) -> Self {
        LaneBounds::lowered(width, height, height)
    }

    /// The surface of a playfield, if a feature needs it. `words` are its columns, empty beyond the width.
    #[inline(always)]
    pub(crate) fn surface(&self, words: &[L::Word], needs: NeededFeatures) -> Option<Surface<L>> {
        if needs.surface() { Some(Surface::new(L::load(words), self.pairs, self.width, needs)) } else { None }
    }

    /// Upper bound on the values of a feature, in its unit.
    pub(crate) fn largest(&self, feature: KernelFeature) -> u32 {
        feature.largest(self.width, self.height, self.height + self.hidden_rows)
    }

    /// The bounds of a playfield on which only the lowest `rows` are used; the others are and stay empty. The features
    /// include these hidden rows: each has two row transitions, at the walls.
    #[inline(always)]
    pub(crate) fn lowered(width: u8, height: u8, rows: u8) -> Self {
        let hidden_rows = u32::from(height - rows);
        let height = rows;
        let (width, height) = (u32::from(width), u32::from(height));
        let wall = L::Word::below(height);
        let inside = lanes_below(width);
        LaneBounds {
            width,
            height,
            hidden_rows,
            wall,
            walls: L::splat(wall).select(inside, L::splat(L::Word::EMPTY)),
            pairs: L::splat(L::Word::EMPTY).select(lanes_below(width - 1), L::splat(!L::Word::EMPTY)),
        }
    }
}
