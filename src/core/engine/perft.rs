//! Perft counts all ways of placing a sequence of pieces. It is the engine's checksum and a measure of its speed.
//!
//! The walk through the tree of placements stores nothing, so leaves, lines and holes take no memory. Only the count of
//! *different* playfields must store them, and there may be billions: they are counted in as many passes over
//! the tree as the memory for it requires.

use std::ops::ControlFlow;

use super::column::Column;
use super::distinct::{DistinctCounter, Item};
use super::game::place;
use super::piece::Piece;
use super::placement::{Placement, PlacementSet};
use super::playfield::Playfield;
use super::reach::{is_blocked, placements};
use super::rules::Rules;

/// The largest length of a sequence. The walk is as deep as the sequence is long; even half as many pieces would take
/// too long to count.
pub const MAX_PIECES: usize = 64;

/// Placements between two calls of the caller's `look`: some milliseconds.
pub const LOOK: u64 = 1 << 16;

/// Result of [`perft`]: the leaves of the tree, and sums over them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Perft {
    /// Paths of full length. A path that tops out on the way is not a leaf, whether by a landing or because its next
    /// piece is blocked.
    pub leaves: u64,
    /// Different playfields among the leaves; `None` unless the count is complete.
    pub distinct: Option<u64>,
    /// Lines cleared, summed along the paths to the leaves.
    pub lines: u64,
    /// Holes, summed over the leaves.
    pub holes: u64,
    /// Placements made, including placements that topped out.
    pub placements: u64,
    /// Passes over the tree, including a stopped one. The first pass counts everything except `distinct`.
    pub passes: u32,
}

/// The counts so far, and the part of the tree that they cover.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CountProgress<C = Perft> {
    pub counted: C,
    /// The finished share of the tree, or of the current pass over it. Treats all subtrees of a node as equally large.
    pub share: f64,
}

/// Plays every sequence of placements of the given pieces from the empty playfield.
///
/// Each piece multiplies the work by up to `4 * width - 6`. Different playfields are counted with up to
/// `distinct_bytes` of memory, or not at all with `None`. `look` is called every few milliseconds and may stop the
/// count; the result is then the count so far.
///
/// ```
/// use std::ops::ControlFlow::Continue;
/// use tetrion_core::engine::{Rules, parse_sequence, perft};
/// let pieces = parse_sequence("IIO").unwrap();
/// let count = perft(&Rules::default(), &pieces, Some(1 << 20), &mut |_| Continue(()));
/// assert_eq!((count.leaves, count.distinct, count.holes), (2601, Some(1745), 6150));
/// ```
///
/// # Panics
/// With more than [`MAX_PIECES`] pieces.
pub fn perft(
    rules: &Rules,
    pieces: &[Piece],
    distinct_bytes: Option<usize>,
    look: &mut dyn FnMut(CountProgress) -> ControlFlow<()>,
) -> Perft {
    assert!(pieces.len() <= MAX_PIECES, "{} pieces, expected at most {MAX_PIECES}", pieces.len());
    match (usize::from(rules.width) * usize::from(rules.height)).div_ceil(64) {
        1 => count::<1>(rules, pieces, distinct_bytes, look),
        2 => count::<2>(rules, pieces, distinct_bytes, look),
        3..=4 => count::<4>(rules, pieces, distinct_bytes, look),
        5..=8 => count::<8>(rules, pieces, distinct_bytes, look),
        _ => count::<20>(rules, pieces, distinct_bytes, look),
    }
}

fn count<const WORDS: usize>(
    rules: &Rules,
    pieces: &[Piece],
    distinct_bytes: Option<usize>,
    look: &mut dyn FnMut(CountProgress) -> ControlFlow<()>,
) -> Perft {
    let distinct =
        distinct_bytes.map(|bytes| DistinctCounter::<WORDS>::new(bytes / size_of::<Item<WORDS>>()));
    let mut walk = DropWalk { rules, distinct, look, count: Perft::default(), until_look: LOOK };
    let start = Playfield::empty(rules.width, rules.height);
    loop {
        walk.count.passes += 1;
        if walk.node(&start, pieces, 0, Subtree { from: 0.0, width: 1.0 }).is_break() {
            return walk.count;
        }
        match walk.distinct.as_mut().map(DistinctCounter::end_pass) {
            None => return walk.count,
            Some(ControlFlow::Continue(())) => {}
            Some(ControlFlow::Break(distinct)) => return Perft { distinct: Some(distinct), ..walk.count },
        }
    }
}

struct DropWalk<'a, const WORDS: usize> {
    rules: &'a Rules,
    distinct: Option<DistinctCounter<WORDS>>,
    look: &'a mut dyn FnMut(CountProgress) -> ControlFlow<()>,
    count: Perft,
    /// Placements until the next look.
    until_look: u64,
}

/// A subtree, as a share of the whole tree.
#[derive(Clone, Copy)]
struct Subtree {
    from: f64,
    width: f64,
}

impl<const WORDS: usize> DropWalk<'_, WORDS> {
    fn node(
        &mut self,
        playfield: &Playfield,
        pieces: &[Piece],
        lines: u64,
        part: Subtree,
    ) -> ControlFlow<()> {
        let Some(&piece) = pieces.first() else {
            self.leaf(playfield, lines);
            return ControlFlow::Continue(());
        };
        if is_blocked(self.rules, playfield, piece) {
            return ControlFlow::Continue(());
        }
        match placements(self.rules, playfield, piece) {
            PlacementSet::Drops(all) => self.each(all.len(), all.iter(), playfield, pieces, lines, part),
            PlacementSet::Spots(all) => {
                self.each(all.len() as u32, all.into_iter(), playfield, pieces, lines, part)
            }
        }
    }

    /// Places the first piece in each of these ways, and continues with the other pieces.
    #[inline(always)]
    fn each(
        &mut self,
        made: u32,
        all: impl Iterator<Item = Placement>,
        playfield: &Playfield,
        pieces: &[Piece],
        lines: u64,
        part: Subtree,
    ) -> ControlFlow<()> {
        let (piece, rest) = (pieces[0], &pieces[1..]);
        let width = part.width / f64::from(made);
        let mut from = part.from;
        for placement in all {
            let mut after = *playfield;
            let landed = place(self.rules, &mut after, piece, placement);
            if !landed.terminal {
                self.node(&after, rest, lines + u64::from(landed.lines), Subtree { from, width })?;
            }
            from += width;
        }
        let made = u64::from(made);
        if self.count.passes == 1 {
            self.count.placements += made;
        }
        self.until_look = self.until_look.saturating_sub(made);
        if self.until_look == 0 {
            self.until_look = LOOK;
            (self.look)(CountProgress { counted: self.count, share: from })?;
        }
        ControlFlow::Continue(())
    }

    fn leaf(&mut self, playfield: &Playfield, lines: u64) {
        if self.count.passes == 1 {
            self.count.leaves += 1;
            self.count.lines += lines;
            self.count.holes +=
                (0..playfield.width()).map(|column| u64::from(playfield.holes(column).count())).sum::<u64>();
        }
        if let Some(distinct) = &mut self.distinct {
            distinct.insert(item(playfield));
        }
    }
}

/// The cells of a playfield, one bit each.
fn item<const WORDS: usize>(playfield: &Playfield) -> Item<WORDS> {
    let mut item = [0; WORDS];
    let mut at = 0;
    for &column in playfield.columns() {
        let (word, bit) = (at / 64, at % 64);
        item[word] |= column << bit;
        if bit + usize::from(playfield.height()) > 64 {
            item[word + 1] |= column >> (64 - bit);
        }
        at += usize::from(playfield.height());
    }
    item
}
