//! N-tuple networks: tables of numbers indexed by patterns of the afterstate, in float32.
//!
//! The messages `NTuple` and `TuplePattern` of the protocol define every digit and the order of the sum, so that a
//! client can compute the same bits. A table's entry is a number or, if a network reads the tables, a vector with one
//! number per unit of its first hidden layer.
//!
//! Afterstates are read in parallel, one per lane, tuple by tuple: the kind of a tuple is checked once for all of them,
//! and the compiler turns the loops over the lanes into vector code.

use crate::engine::{Column, Playfield, PlayfieldOf};
use crate::features::kernel::{Kernel, LaneWork, Lanes, dispatch};

/// Number of afterstates that are read, and go through a network, in parallel.
pub(super) const LANES: usize = 8;

/// Number of tuples that are looked up at once before they are added up. Their entries are in an array on the stack:
/// lists of more than a kilobyte come from memory that threads share, and threads would wait for each other.
pub(super) const TUPLES: usize = 64;

/// The tuples of a network, without the tables.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NTuple {
    tuples: Vec<TuplePattern>,
    /// Look-up data, one item per tuple.
    lookups: Vec<Lookup>,
    num_entries: usize,
}

/// Precomputed data of a tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lookup {
    /// Index of the table's first entry among all entries.
    table: u32,
    /// Distance between consecutive positions; 0 if it varies, or if the tuple has one position.
    stride: i64,
}

/// A pattern of digits, and the table that it indexes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuplePattern {
    pub kind: TupleKind,
    /// Positions of the digits: columns, or `row * width + column` for cells. The first is the most significant.
    pub positions: Vec<u32>,
    /// Largest digit, at which digits are clipped: at least 1 for steps and heights, 0 for cells, which are not
    /// clipped.
    pub clip: u32,
    /// Index of an earlier tuple whose table this one shares; it must have the same kind, clip and number of positions.
    /// `None` for a separate table.
    pub shares: Option<u32>,
}

/// Kind of digit that a tuple reads at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleKind {
    /// The step to the next column, from `-clip` to `clip`.
    Steps,
    /// The height of a column, at most `clip`.
    Heights,
    /// Whether a cell is full.
    Cells,
}

impl NTuple {
    /// Creates a network of these tuples.
    ///
    /// # Panics
    /// If a tuple shares the table of a tuple that does not precede it.
    pub fn new(tuples: Vec<TuplePattern>) -> NTuple {
        let (mut lookups, mut num_entries) = (Vec::<Lookup>::with_capacity(tuples.len()), 0);
        for tuple in &tuples {
            let stride = tuple.stride();
            let table = match tuple.shares {
                Some(earlier) => lookups[earlier as usize].table,
                None => {
                    let table = num_entries as u32;
                    num_entries += tuple.num_entries() as usize;
                    table
                }
            };
            lookups.push(Lookup { table, stride });
        }
        NTuple { tuples, lookups, num_entries }
    }

    /// The tuples, in the order in which a score adds their entries.
    pub fn tuples(&self) -> &[TuplePattern] {
        &self.tuples
    }

    /// Number of entries of all tables.
    pub fn num_entries(&self) -> usize {
        self.num_entries
    }

    /// Number of digits read per afterstate.
    pub(crate) fn num_digits(&self) -> usize {
        self.tuples.iter().map(|tuple| tuple.positions.len()).sum()
    }

    /// Appends the indices of the entries that each afterstate looks up, one per tuple in the order of the sum. An
    /// afterstate is given by its rows, lowest first, with bit c of a row for column c.
    ///
    /// # Panics
    /// If no playfield has this size, the rows do not form whole afterstates, or a tuple reads beyond the playfield.
    pub fn append_entries(
        &self,
        kernel: Kernel,
        (width, height): (u8, u8),
        rows: &[u32],
        out: &mut Vec<u32>,
    ) {
        assert!(Playfield::fits(width, height), "{width} x {height}, expected the size of a playfield");
        assert_eq!(rows.len() % usize::from(height), 0, "whole afterstates of {height} rows");
        dispatch(kernel, width, height, EntriesJob { n_tuple: self, size: (width, height), rows, out });
    }

    /// Appends the output for each afterstate.
    #[inline(always)]
    pub(super) fn append_outputs<C: Column, const N: usize>(
        &self,
        parameters: &[f32],
        mut afterstates: impl Iterator<Item = PlayfieldOf<C, N>>,
        out: &mut Vec<f32>,
    ) {
        let mut looked_up = [[0; LANES]; TUPLES];
        loop {
            let (seen, lanes) = SideBySide::<C, N>::next(&mut afterstates);
            if lanes == 0 {
                break;
            }
            let mut sums = [0.0; LANES];
            for first in (0..self.tuples.len()).step_by(TUPLES) {
                for entries in self.look_up(&seen, first, &mut looked_up) {
                    for (sum, entry) in sums.iter_mut().zip(entries) {
                        *sum += parameters[*entry as usize];
                    }
                }
            }
            out.extend_from_slice(&sums[..lanes]);
        }
    }

    /// Looks up the entries of tuples from `first` on, up to [`TUPLES`] of them: one row per tuple, with one lane per
    /// afterstate.
    #[inline(always)]
    pub(super) fn look_up<'a, C: Column, const N: usize>(
        &self,
        seen: &SideBySide<C, N>,
        first: usize,
        room: &'a mut [[u32; LANES]; TUPLES],
    ) -> &'a [[u32; LANES]] {
        let mut count = 0;
        let tuples = self.tuples[first..].iter().zip(&self.lookups[first..]);
        for (entries, (tuple, lookup)) in room.iter_mut().zip(tuples) {
            *entries = tuple.entries(lookup.stride, seen);
            for entry in entries {
                *entry += lookup.table;
            }
            count += 1;
        }
        &room[..count]
    }
}

/// Work that looks up the entries of many afterstates.
struct EntriesJob<'a> {
    n_tuple: &'a NTuple,
    size: (u8, u8),
    rows: &'a [u32],
    out: &'a mut Vec<u32>,
}

impl LaneWork for EntriesJob<'_> {
    type Output = ();

    #[inline(always)]
    fn run<C: Column, const N: usize, L: Lanes<Word = C>>(self) {
        let EntriesJob { n_tuple, size: (width, height), rows, out } = self;
        let (height, count) = (usize::from(height), n_tuple.tuples.len());
        let mut looked_up = [[0; LANES]; TUPLES];
        for block in rows.chunks(LANES * height) {
            let seen = SideBySide::<C, N>::of_rows(width, height, block);
            let lanes = block.len() / height;
            let at = out.len();
            out.resize(at + lanes * count, 0);
            let out = &mut out[at..];
            for first in (0..count).step_by(TUPLES) {
                for (tuple, entries) in n_tuple.look_up(&seen, first, &mut looked_up).iter().enumerate() {
                    for (lane, entry) in entries.iter().enumerate().take(lanes) {
                        out[lane * count + first + tuple] = *entry;
                    }
                }
            }
        }
    }
}

/// Several afterstates in parallel, one per lane.
pub(super) struct SideBySide<C, const N: usize> {
    width: u8,
    columns: [[C; LANES]; N],
    heights: [[u32; LANES]; N],
}

impl<C: Column, const N: usize> SideBySide<C, N> {
    /// Takes the next afterstates, at most one per lane, and returns their number too. Unused lanes hold empty
    /// playfields.
    #[inline(always)]
    pub(super) fn next(afterstates: &mut impl Iterator<Item = PlayfieldOf<C, N>>) -> (Self, usize) {
        let (mut seen, mut lanes) = (Self::empty(0), 0);
        while lanes < LANES
            && let Some(playfield) = afterstates.next()
        {
            for (column, cells) in seen.columns.iter_mut().zip(playfield.columns()) {
                column[lanes] = *cells;
            }
            seen.width = playfield.width();
            lanes += 1;
        }
        seen.measure();
        (seen, lanes)
    }

    /// Reads afterstates from consecutive rows, at most one per lane. Unused lanes hold empty playfields.
    #[inline(always)]
    fn of_rows(width: u8, height: usize, rows: &[u32]) -> Self {
        let mut beside = [[0; LANES]; Playfield::MAX_HEIGHT as usize];
        for (lane, rows) in rows.chunks_exact(height).enumerate() {
            for (beside, cells) in beside.iter_mut().zip(rows) {
                beside[lane] = *cells;
            }
        }
        let mut seen = Self::empty(width);
        for (number, column) in seen.columns.iter_mut().enumerate().take(width.into()) {
            for cells in beside[..height].iter().rev() {
                for (column, cells) in column.iter_mut().zip(cells) {
                    *column = *column << 1 | C::from_u64(u64::from(*cells >> number & 1));
                }
            }
        }
        seen.measure();
        seen
    }

    /// Empty playfields in all lanes.
    #[inline(always)]
    fn empty(width: u8) -> Self {
        SideBySide { width, columns: [[C::EMPTY; LANES]; N], heights: [[0; LANES]; N] }
    }

    /// Computes the heights of the columns.
    #[inline(always)]
    fn measure(&mut self) {
        for (heights, columns) in self.heights.iter_mut().zip(&self.columns).take(self.width.into()) {
            for (height, cells) in heights.iter_mut().zip(columns) {
                *height = cells.top();
            }
        }
    }

    /// Appends a cell as the next digit of the number in each lane.
    #[inline(always)]
    fn append_cell(&self, column: u32, row: u32, numbers: &mut [u32; LANES]) {
        for (number, cells) in numbers.iter_mut().zip(&self.columns[column as usize]) {
            *number = *number << 1 | (*cells >> row).to_u64() as u32 & 1;
        }
    }
}

impl TuplePattern {
    /// Number of entries of the tuple's table; at most 2^64 - 1.
    pub fn num_entries(&self) -> u64 {
        self.base().saturating_pow(self.positions.len() as u32)
    }

    /// Whether the tuple can share the table of another one.
    pub fn has_shape_of(&self, other: &TuplePattern) -> bool {
        let shape = |tuple: &TuplePattern| (tuple.kind, tuple.clip, tuple.positions.len());
        shape(self) == shape(other)
    }

    /// Number of values of a digit.
    fn base(&self) -> u64 {
        let clip = u64::from(self.clip);
        match self.kind {
            TupleKind::Steps => 2 * clip + 1,
            TupleKind::Heights => clip + 1,
            TupleKind::Cells => 2,
        }
    }

    /// Distance between consecutive positions; 0 if it varies, or if the tuple has one position.
    fn stride(&self) -> i64 {
        let strides = self.positions.windows(2).map(|pair| i64::from(pair[1]) - i64::from(pair[0]));
        let first = strides.clone().next().unwrap_or(0);
        if strides.clone().all(|stride| stride == first) { first } else { 0 }
    }

    /// Index of the entry in the table, in each lane.
    #[inline(always)]
    fn entries<C: Column, const N: usize>(&self, stride: i64, seen: &SideBySide<C, N>) -> [u32; LANES] {
        let (base, clip, heights) = (self.base() as u32, self.clip, &seen.heights);
        let mut entries = [0; LANES];
        match self.kind {
            TupleKind::Steps => {
                for &column in &self.positions {
                    let (here, next) = (&heights[column as usize], &heights[column as usize + 1]);
                    for (entry, (here, next)) in entries.iter_mut().zip(here.iter().zip(next)) {
                        // In the range 0 to 2 * clip, and never negative in between.
                        let digit = (next + clip).saturating_sub(*here).min(2 * clip);
                        *entry = *entry * base + digit;
                    }
                }
            }
            TupleKind::Heights => {
                for &column in &self.positions {
                    for (entry, height) in entries.iter_mut().zip(&heights[column as usize]) {
                        *entry = *entry * base + (*height).min(clip);
                    }
                }
            }
            TupleKind::Cells => self.append_cells(stride, seen, &mut entries),
        }
        entries
    }

    /// Appends the cells at the tuple's positions as digits to numbers that start at 0.
    ///
    /// Runs of cells are frequent, and a division per position would take longer than everything else.
    #[inline(always)]
    fn append_cells<C: Column, const N: usize>(
        &self,
        stride: i64,
        seen: &SideBySide<C, N>,
        numbers: &mut [u32; LANES],
    ) {
        let (width, count) = (u32::from(seen.width), self.positions.len() as u32);
        let (first, last) = (self.positions[0], self.positions[self.positions.len() - 1]);
        let (row, column) = (first / width, first % width);
        if stride.unsigned_abs() == u64::from(width) {
            // Up or down a column, whose cells form a number already: the lowest cell is its last digit.
            let lowest = if stride < 0 { last / width } else { row };
            let mask = C::below(count);
            for (number, cells) in numbers.iter_mut().zip(&seen.columns[column as usize]) {
                *number = (*cells >> lowest & mask).to_u64() as u32;
                if stride > 0 {
                    *number = number.reverse_bits() >> (u32::BITS - count);
                }
            }
        } else if stride == 1 && last / width == row {
            for column in column..column + count {
                seen.append_cell(column, row, numbers);
            }
        } else if stride == -1 && last / width == row {
            for column in (last % width..=column).rev() {
                seen.append_cell(column, row, numbers);
            }
        } else {
            for position in &self.positions {
                seen.append_cell(position % width, position / width, numbers);
            }
        }
    }
}
