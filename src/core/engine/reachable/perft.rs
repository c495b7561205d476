//! Counts all ways of playing a sequence of pieces: the checksum of the reachable placements.
//!
//! The walk keeps a playfield as the vector that floods need, so a placement is one vector operation. The last piece is
//! not placed; its placements are counted as bits.
//!
//! A placement can only clear lines where the columns beside the piece have a common full row. Nearly always they have
//! none, which one look per column tells for all placements there.

use std::ops::ControlFlow;

use super::super::column::Column;
use super::super::lanes::{Apart, Kernel, LaneSize, LaneWork, Lanes, dispatch_to, small};
use super::super::perft::{CountProgress, MAX_PIECES};
use super::super::playfield::Playfield;
use super::super::shape::Shape;
use super::super::tetromino::Tetromino;
use super::cells::empty_cells;
use super::flood::{Which, each_piece};
use super::labels::{Ask, PieceFlood};
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
    perft_with(Kernel::best(), movement, start, pieces, look)
}

/// Like [`perft`], on a given kernel. All kernels give the same counts.
///
/// # Panics
/// With more than [`MAX_PIECES`] pieces, or if this machine cannot run the kernel.
pub fn perft_with(
    kernel: Kernel,
    movement: &Movement,
    start: &Playfield,
    pieces: &[Tetromino],
    look: &mut dyn FnMut(CountProgress<Count>) -> ControlFlow<()>,
) -> Count {
    assert!(pieces.len() <= MAX_PIECES, "{} pieces, expected at most {MAX_PIECES}", pieces.len());
    if pieces.is_empty() {
        return Count { leaves: 1, positions: 0 };
    }
    let mut walk = ReachableWalk {
        kernel,
        movement,
        look,
        width: start.width(),
        height: start.height().into(),
        count: Count::default(),
        until_look: LOOK,
        lists: Vec::new(),
    };
    walk.lists.resize_with(pieces.len(), Vec::new);
    let _ = dispatch_to(kernel, LaneSize::Large, PerftStart { walk: &mut walk, start, pieces });
    walk.count
}

struct ReachableWalk<'a> {
    kernel: Kernel,
    movement: &'a Movement,
    look: &'a mut dyn FnMut(CountProgress<Count>) -> ControlFlow<()>,
    width: u8,
    height: u32,
    count: Count,
    until_look: u64,
    /// One list per remaining piece.
    lists: Vec<Vec<Resting>>,
}

/// A part of the tree, as its start and width in the whole tree.
#[derive(Clone, Copy)]
struct TreeShare {
    from: f64,
    width: f64,
}

/// Work that counts a tree from a playfield.
struct PerftStart<'w, 'a> {
    walk: &'w mut ReachableWalk<'a>,
    start: &'w Playfield,
    pieces: &'w [Tetromino],
}

impl LaneWork for PerftStart<'_, '_> {
    type Output = ControlFlow<()>;

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> ControlFlow<()> {
        let PerftStart { walk, start, pieces } = self;
        let (empty, stack) = (empty_cells::<_, _, L>(start), start.occupied_rows().top());
        let rows = walk.movement.limits(pieces[0], walk.width, stack).rows();
        ReachableNode { walk, empty, stack, pieces, share: TreeShare { from: 0.0, width: 1.0 } }.resized(rows)
    }
}

/// Work that counts the tree below a playfield.
struct ReachableNode<'w, 'a, L> {
    walk: &'w mut ReachableWalk<'a>,
    empty: L,
    /// The row just above the highest full cell.
    stack: u32,
    /// The pieces to play, at least one.
    pieces: &'w [Tetromino],
    share: TreeShare,
}

/// A node, as words of the longest lanes, for lanes of another size.
struct NodeInWords<'w, 'a> {
    walk: &'w mut ReachableWalk<'a>,
    empty: [u64; 32],
    stack: u32,
    pieces: &'w [Tetromino],
    share: TreeShare,
}

impl LaneWork for NodeInWords<'_, '_> {
    type Output = ControlFlow<()>;

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) -> ControlFlow<()> {
        let NodeInWords { walk, empty: long, stack, pieces, share } = self;
        let mut words = [C::EMPTY; 32];
        for (word, long) in words.iter_mut().zip(long) {
            *word = C::from_u64(long >> (u64::BITS - C::BITS));
        }
        L::apart(ReachableNode { walk, empty: L::load(&words), stack, pieces, share })
    }
}

/// A playfield after a placement.
#[derive(Clone, Copy)]
struct AfterPlacement<L> {
    empty: L,
    /// The row just above the highest full cell.
    stack: u32,
}

/// Number of playfields whose last placements are counted together.
const TOGETHER: usize = 32;

/// Work that counts the placements of the last piece on several playfields.
struct CountLast<'a, L, P> {
    piece: P,
    tetromino: Tetromino,
    movement: &'a Movement,
    width: u8,
    playfields: &'a [AfterPlacement<L>],
}

impl<L: Lanes, P: Which> Apart for CountLast<'_, L, P> {
    type Output = u64;

    #[inline(always)]
    fn run(self) -> u64 {
        let CountLast { piece, tetromino, movement, width, playfields } = self;
        let mut leaves = 0;
        for &AfterPlacement { empty, stack } in playfields {
            let limits = &movement.limits(tetromino, width, stack);
            leaves += u64::from(PieceFlood { piece, limits, empty, ask: Ask::Count }.run());
        }
        leaves
    }
}

impl<L: Lanes> Apart for ReachableNode<'_, '_, L> {
    type Output = ControlFlow<()>;

    #[inline(always)]
    fn run(self) -> ControlFlow<()> {
        let ReachableNode { walk, empty, stack, pieces, share } = self;
        let (piece, rest) = (pieces[0], &pieces[1..]);
        if rest.is_empty() {
            return walk.count_last(piece, &[AfterPlacement { empty, stack }], share.from);
        }
        walk.count.positions += 1;
        let mut list = std::mem::take(&mut walk.lists[rest.len()]);
        list.clear();
        let limits = &walk.movement.limits(piece, walk.width, stack);
        each_piece!(L, piece, piece => {
            L::apart(PieceFlood { piece, limits, empty, ask: Ask::List(&mut list) })
        });
        let mut share = TreeShare { width: share.width / list.len() as f64, ..share };
        let columns = ColumnGaps::<L>::new(empty, walk.width);
        let mut flow = ControlFlow::Continue(());
        let mut last = [AfterPlacement { empty, stack }; TOGETHER];
        let mut num_last = 0;
        'all: for places in list.chunk_by(|one, next| one.orientation == next.orientation) {
            let shape = places[0].shape(piece);
            let cells = cells_of::<L>(shape);
            for places in places.chunk_by(|one, next| one.column == next.column) {
                let column = places[0].column;
                let cells = L::load(&cells[32 - usize::from(column)..]);
                let may_clear = columns.have_full_rows_beside(shape, column);
                for resting in places {
                    let top = u32::from(resting.row + shape.height);
                    if top > walk.height {
                        share.from += share.width;
                        continue;
                    }
                    let up = L::Word::BITS - 4 - u32::from(resting.row);
                    let (mut empty, mut stack) = (empty.and_not(cells.up_by(small(up))), stack.max(top));
                    if may_clear {
                        let full = !empty.any();
                        if full != L::Word::EMPTY {
                            (empty, stack) = cleared(empty, full);
                        }
                    }
                    let rows = walk.movement.limits(rest[0], walk.width, stack).rows();
                    if rest.len() == 1 && rows <= L::Word::BITS {
                        last[num_last] = AfterPlacement { empty, stack };
                        num_last += 1;
                        if num_last == TOGETHER {
                            flow = walk.count_last(rest[0], &last, share.from);
                            num_last = 0;
                        }
                    } else {
                        let node = ReachableNode { walk, empty, stack, pieces: rest, share };
                        flow = if rows <= L::Word::BITS { L::apart(node) } else { node.resized(rows) };
                    }
                    if flow.is_break() {
                        break 'all;
                    }
                    share.from += share.width;
                }
            }
        }
        if num_last > 0 && flow.is_continue() {
            flow = walk.count_last(rest[0], &last[..num_last], share.from);
        }
        walk.lists[rest.len()] = list;
        flow
    }
}

impl<L: Lanes> ReachableNode<'_, '_, L> {
    /// Counts the tree on the shortest lanes with this many rows.
    #[inline(always)]
    fn resized(self, rows: u32) -> ControlFlow<()> {
        let ReachableNode { walk, empty, stack, pieces, share } = self;
        let (mut words, mut long) = ([L::Word::EMPTY; 32], [0; 32]);
        empty.store(&mut words);
        let more = u64::BITS - L::Word::BITS;
        for (long, word) in long.iter_mut().zip(words).take(walk.width.into()) {
            // All rows above those of the word are empty.
            *long = word.to_u64() << more | ((1 << more) - 1);
        }
        let size = LaneSize::of(walk.width, rows);
        dispatch_to(walk.kernel, size, NodeInWords { walk, empty: long, stack, pieces, share })
    }
}

impl ReachableWalk<'_> {
    /// Counts the placements of the last piece on several playfields, and looks up from time to time.
    #[inline(always)]
    fn count_last<L: Lanes>(
        &mut self,
        tetromino: Tetromino,
        playfields: &[AfterPlacement<L>],
        share: f64,
    ) -> ControlFlow<()> {
        let ReachableWalk { movement, width, .. } = *self;
        let leaves = each_piece!(L, tetromino, piece => {
            L::apart(CountLast { piece, tetromino, movement, width, playfields })
        });
        self.count.positions += playfields.len() as u64;
        self.count.leaves += leaves;
        self.until_look = self.until_look.saturating_sub(leaves);
        if self.until_look == 0 {
            self.until_look = LOOK;
            return (self.look)(CountProgress { counted: self.count, share });
        }
        ControlFlow::Continue(())
    }
}

/// The rows that have an empty cell, by the columns that they have it in.
struct ColumnGaps<L: Lanes> {
    /// The rows with an empty cell left of a column.
    before: [L::Word; 33],
    /// The rows with an empty cell in a column or right of it.
    from: [L::Word; 33],
}

impl<L: Lanes> ColumnGaps<L> {
    #[inline(always)]
    fn new(empty: L, width: u8) -> Self {
        let mut words = [L::Word::EMPTY; 32];
        empty.store(&mut words);
        let (mut before, mut from) = ([L::Word::EMPTY; 33], [L::Word::EMPTY; 33]);
        let width = usize::from(width);
        for column in 0..width {
            before[column + 1] = before[column] | words[column];
            from[width - 1 - column] = from[width - column] | words[width - 1 - column];
        }
        ColumnGaps { before, from }
    }

    /// Whether some row is full but for the columns of a shape.
    #[inline(always)]
    fn have_full_rows_beside(&self, shape: &Shape, column: u8) -> bool {
        let gaps = self.before[usize::from(column)] | self.from[usize::from(column + shape.width)];
        gaps != !L::Word::EMPTY
    }
}

/// The cells of a shape whose leftmost cells are in word 32, and whose lowest cells are in the fourth row from the top.
#[inline(always)]
fn cells_of<L: Lanes>(shape: &Shape) -> [L::Word; 64] {
    let mut words = [L::Word::EMPTY; 64];
    for (j, word) in words[32..36].iter_mut().enumerate() {
        *word = L::Word::from_u64(shape.column_bits(j).into()).reversed() >> (L::Word::BITS - 4);
    }
    words
}

/// The empty cells after rows have cleared, and the row just above the highest full cell.
#[inline(always)]
fn cleared<L: Lanes>(mut empty: L, mut full: L::Word) -> (L, u32) {
    while full != L::Word::EMPTY {
        // The highest full row is the lowest bit.
        let bit = full.lowest();
        let (row, above) = (L::splat(L::Word::from_u64(1 << bit)), L::splat(L::Word::below(bit)));
        let sunk = empty.and(above).up::<1>().or(empty.and(small(1)));
        empty = empty.and_not(above.or(row)).or(sunk);
        full &= !L::Word::from_u64(1 << bit);
    }
    // Within the walls, the highest row is empty.
    let inside = small::<L>(0).sub(empty.and(small(1)));
    let stack = L::Word::BITS - inside.and_not(empty).any().lowest();
    (empty, stack)
}
