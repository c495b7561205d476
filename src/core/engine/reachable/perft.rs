//! Counts all ways of playing a sequence of pieces: the checksum of the reachable placements.
//!
//! The last piece is not placed; its placements are counted as bits.

use std::ops::ControlFlow;

use super::super::column::Column;
use super::super::perft::{CountProgress, MAX_PIECES};
use super::super::playfield::{CompactPlayfield, Playfield, PlayfieldOf};
use super::super::rules::TopOut;
use super::super::tetromino::Tetromino;
use super::movement::Movement;
use super::resting::Resting;

/// Placements between two calls of the caller's `look`: some milliseconds.
pub(crate) const LOOK: u64 = 1 << 18;

/// Result of [`perft`]: the leaves of the tree, and the work that it took.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Paths of full length. A path on which a piece is blocked, or sticks out of the playfield, has no leaves.
    pub leaves: u64,
    /// Playfields whose placements were searched.
    pub positions: u64,
}

/// Plays every sequence of placements of the given pieces, starting from a playfield.
///
/// `look` is called every few milliseconds and may stop the count; the result is then the count so far.
///
/// # Panics
/// With more than [`MAX_PIECES`] pieces.
pub fn perft(
    movement: &Movement,
    start: &Playfield,
    pieces: &[Tetromino],
    look: &mut dyn FnMut(CountProgress<Count>) -> ControlFlow<()>,
) -> Count {
    assert!(pieces.len() <= MAX_PIECES, "{} pieces, expected at most {MAX_PIECES}", pieces.len());
    let mut walk =
        ReachableWalk { movement, look, count: Count::default(), until_look: LOOK, lists: Vec::new() };
    walk.lists.resize_with(pieces.len(), Vec::new);
    // As high as the pieces can stack. Smaller playfields are faster.
    let highest = start.occupied_rows().top() + 4 * pieces.len() as u32;
    let height = highest.clamp(4, start.height().into()) as u8;
    let _ = if height < start.height() && CompactPlayfield::fits(start.width(), height) {
        walk.node(&start.with_height::<u32, 16>(height), pieces, 0.0, 1.0)
    } else {
        walk.node(start, pieces, 0.0, 1.0)
    };
    walk.count
}

struct ReachableWalk<'a> {
    movement: &'a Movement,
    look: &'a mut dyn FnMut(CountProgress<Count>) -> ControlFlow<()>,
    count: Count,
    until_look: u64,
    /// One list per remaining piece.
    lists: Vec<Vec<Resting>>,
}

impl ReachableWalk<'_> {
    /// Counts a subtree, which is the share of the tree from `from` to `from + width`.
    fn node<C: Column, const N: usize>(
        &mut self,
        playfield: &PlayfieldOf<C, N>,
        pieces: &[Tetromino],
        mut from: f64,
        width: f64,
    ) -> ControlFlow<()> {
        let Some((&piece, rest)) = pieces.split_first() else {
            self.count.leaves += 1;
            return ControlFlow::Continue(());
        };
        self.count.positions += 1;
        if rest.is_empty() {
            let leaves = u64::from(self.movement.count(playfield, piece));
            self.count.leaves += leaves;
            self.until_look = self.until_look.saturating_sub(leaves);
            if self.until_look == 0 {
                self.until_look = LOOK;
                return (self.look)(CountProgress { counted: self.count, share: from });
            }
            return ControlFlow::Continue(());
        }
        let mut list = std::mem::take(&mut self.lists[rest.len()]);
        list.clear();
        self.movement.append(playfield, piece, &mut list);
        let width = width / list.len() as f64;
        let mut flow = ControlFlow::Continue(());
        for resting in &list {
            let mut after = *playfield;
            let landed = after.lock(resting.shape(piece), resting.row, resting.column, TopOut::Overflow);
            if !landed.terminal {
                flow = self.node(&after, rest, from, width);
                if flow.is_break() {
                    break;
                }
            }
            from += width;
        }
        self.lists[rest.len()] = list;
        flow
    }
}
