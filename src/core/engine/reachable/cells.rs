//! Sets of a playfield's cells, one lane per column, upside down.
//!
//! The lowest row is the highest bit of a lane, so a piece falls towards higher bits, and one addition carries it down
//! its column until something is in the way: see [`fallen`]. Cells that a move takes out of the walls, the floor or the
//! highest row are gone.
//!
//! This file knows no rules.

use std::marker::PhantomData;

use super::super::column::Column;
use super::super::lanes::{Apart, Lanes, small};
use super::super::playfield::PlayfieldOf;
use super::super::rotation::Offset;

/// The empty cells of a playfield, for all rows that fit. Rows above the playfield are empty.
#[inline(always)]
pub(super) fn empty_cells<C: Column, const N: usize, L: Lanes>(playfield: &PlayfieldOf<C, N>) -> L {
    let mut words = [L::Word::EMPTY; 32];
    let inside = usize::from(playfield.width());
    // All lanes, because a loop without conditions becomes vectors.
    for (word, column) in words.iter_mut().zip(playfield.words()).take(L::LANES) {
        *word = (!L::Word::from_u64(column.to_u64())).reversed();
    }
    for word in &mut words[inside..] {
        *word = L::Word::EMPTY;
    }
    L::load(&words)
}

/// The bit of a row. The row must be below the number of bits in a word.
#[inline(always)]
pub(super) fn row_bit<C: Column>(row: u32) -> C {
    C::from_u64(1 << (C::BITS - 1 - row))
}

/// The set that contains only this cell.
#[inline(always)]
pub(super) fn cell<L: Lanes>(column: u32, row: u32) -> L {
    let mut words = [L::Word::EMPTY; 32];
    words[column as usize] = row_bit(row);
    L::load(&words)
}

/// All cells below a row, outside the walls too.
#[inline(always)]
pub(super) fn rows_below<L: Lanes>(row: u32) -> L {
    L::splat(!L::Word::below(L::Word::BITS - row))
}

/// An offset that the compiler knows. A type, because an offset as a value would leave each of its moves with code for
/// all offsets until very late, and compiling would take many times as long.
pub(super) trait KnownOffset {
    const OFFSET: Offset;
}

/// The set, moved to the right by columns and up by rows.
#[inline(always)]
pub(super) fn moved<L: Lanes, W: KnownOffset>(set: L) -> L {
    sideways::<L, Onward<W>>(upwards::<L, Onward<W>>(set))
}

/// The set, moved back from where [`moved`] takes it.
#[inline(always)]
pub(super) fn moved_back<L: Lanes, W: KnownOffset>(set: L) -> L {
    sideways::<L, Back<W>>(upwards::<L, Back<W>>(set))
}

/// The places from which the cell at an offset is in the set. The two highest rows of the set are full, and so is
/// everything above them.
#[inline(always)]
pub(super) fn seen_at<L: Lanes, W: KnownOffset>(set: L) -> L {
    let above = if W::OFFSET.1 > 0 { set.and(small((1 << W::OFFSET.1 as u32) - 1)) } else { small(0) };
    sideways::<L, Back<W>>(upwards::<L, Back<W>>(set).or(above))
}

/// The offset of a way as two numbers.
trait Steps {
    const COLUMNS: i8;
    const ROWS: i8;
}

struct Onward<W>(PhantomData<W>);

struct Back<W>(PhantomData<W>);

impl<W: KnownOffset> Steps for Onward<W> {
    const COLUMNS: i8 = W::OFFSET.0;
    const ROWS: i8 = W::OFFSET.1;
}

impl<W: KnownOffset> Steps for Back<W> {
    const COLUMNS: i8 = -W::OFFSET.0;
    const ROWS: i8 = -W::OFFSET.1;
}

#[inline(always)]
fn upwards<L: Lanes, S: Steps>(set: L) -> L {
    match S::ROWS {
        -3 => set.up::<3>(),
        -2 => set.up::<2>(),
        -1 => set.up::<1>(),
        0 => set,
        1 => set.down::<1>(),
        2 => set.down::<2>(),
        _ => set.down::<3>(),
    }
}

#[inline(always)]
fn sideways<L: Lanes, S: Steps>(set: L) -> L {
    match S::COLUMNS {
        -2 => set.next::<2>(small(0)),
        -1 => set.next::<1>(small(0)),
        0 => set,
        1 => set.previous::<1>(small(0)),
        _ => set.previous::<2>(small(0)),
    }
}

/// Like [`moved`], by an offset that the compiler does not know.
#[inline(always)]
pub(super) fn moved_by<L: Lanes>(set: L, offset: Offset) -> L {
    L::apart(MoveCells { set, offset })
}

/// Like [`seen_at`], for an offset that the compiler does not know.
#[inline(always)]
pub(super) fn seen_by<L: Lanes>(set: L, (columns, rows): Offset) -> L {
    let above = if rows > 0 { set.and(small((1 << rows as u32) - 1)) } else { small(0) };
    moved_by(moved_by(set, (0, -rows)).or(above), (-columns, 0))
}

struct MoveCells<L> {
    set: L,
    offset: Offset,
}

impl<L: Lanes> Apart for MoveCells<L> {
    type Output = L;

    #[inline(always)]
    fn run(self) -> L {
        let MoveCells { set, offset: (columns, rows) } = self;
        let moved = match rows {
            -3 => set.up::<3>(),
            -2 => set.up::<2>(),
            -1 => set.up::<1>(),
            0 => set,
            1 => set.down::<1>(),
            2 => set.down::<2>(),
            3 => set.down::<3>(),
            _ => unreachable!("no kick and no cell of a piece is further away"),
        };
        match columns {
            -2 => moved.next::<2>(small(0)),
            -1 => moved.next::<1>(small(0)),
            0 => moved,
            1 => moved.previous::<1>(small(0)),
            2 => moved.previous::<2>(small(0)),
            _ => unreachable!("no kick and no cell of a piece is further away"),
        }
    }
}

/// The set, moved to the right by a column.
#[inline(always)]
pub(super) fn right<L: Lanes>(set: L) -> L {
    set.previous::<1>(small(0))
}

/// The set, moved to the left by a column.
#[inline(always)]
pub(super) fn left<L: Lanes>(set: L) -> L {
    set.next::<1>(small(0))
}

/// The set, moved up by a row.
#[inline(always)]
pub(super) fn up<L: Lanes>(set: L) -> L {
    set.down::<1>()
}

/// The set, moved down by a row.
#[inline(always)]
pub(super) fn down<L: Lanes>(set: L) -> L {
    set.up::<1>()
}

/// All cells on the way down from this set through `free`, including the set itself, whose cells must be free.
#[inline(always)]
pub(super) fn fallen<L: Lanes>(set: L, free: L) -> L {
    // In each run of free cells, the sum flips all bits from the set's highest cell downwards, except the set's other
    // bits. The carry ends in the bit after the run, which is not free, or leaves the word.
    set.or(free.add(set).xor(free).and(free))
}

/// Whether the set has no cell.
#[inline(always)]
pub(super) fn is_empty<L: Lanes>(set: L) -> bool {
    set.nonzero() == 0
}
