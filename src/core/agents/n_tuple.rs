//! N-tuple networks: tables of numbers that are looked up by patterns of the afterstate, in float32.
//!
//! The messages `NTuple` and `TuplePattern` of the protocol define every digit and the order of the sum, so that a client can
//! compute the same bits.

use crate::engine::{Column, PlayfieldOf};

/// The tuples of a network; the entries of their tables are elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NTuple {
    tuples: Vec<TuplePattern>,
    /// For each tuple, where its table begins among all entries.
    tables: Vec<usize>,
    num_entries: usize,
}

/// A pattern of digits, and which table it looks up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TuplePattern {
    /// What a digit is.
    pub kind: TupleKind,
    /// Where digits are read: columns, or `row * width + column` for cells. The first is the most significant.
    pub positions: Vec<u32>,
    /// Where digits are cut off: at least 1 for steps and heights, 0 for cells, which have no such place.
    pub clip: u32,
    /// An earlier tuple of the same kind, clip and number of positions whose table it looks up; `None` for its own.
    pub shares: Option<u32>,
}

/// What a tuple reads at a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TupleKind {
    /// The step up to the next column, from `-clip` to `clip`.
    Steps,
    /// The height of a column, at most `clip`.
    Heights,
    /// Whether a cell is full.
    Cells,
}

impl NTuple {
    /// A network of these tuples.
    ///
    /// # Panics
    /// When a tuple shares the table of one that is not before it.
    pub fn new(tuples: Vec<TuplePattern>) -> NTuple {
        let (mut tables, mut num_entries) = (Vec::with_capacity(tuples.len()), 0);
        for tuple in &tuples {
            match tuple.shares {
                Some(earlier) => tables.push(tables[earlier as usize]),
                None => {
                    tables.push(num_entries);
                    num_entries += tuple.num_entries() as usize;
                }
            }
        }
        NTuple { tuples, tables, num_entries }
    }

    /// The tuples, in order.
    pub fn tuples(&self) -> &[TuplePattern] {
        &self.tuples
    }

    /// How many parameters it has: the entries of all tables.
    pub fn num_parameters(&self) -> usize {
        self.num_entries
    }

    /// How many digits it reads of one afterstate.
    pub fn num_digits(&self) -> usize {
        self.tuples.iter().map(|tuple| tuple.positions.len()).sum()
    }

    /// Appends the parameters that an afterstate looks up, by their indices and in the order of the sum. It is given by its rows,
    /// the lowest first, bit c of a row being column c.
    pub fn append_entries(&self, width: u8, rows: &[u32], out: &mut Vec<u32>) {
        let (mut heights, mut cells) = ([0; 32], Vec::new());
        let mut seen = 0;
        for (below, row) in rows.iter().enumerate().rev() {
            let mut tops = row & !seen;
            seen |= row;
            while tops != 0 {
                heights[tops.trailing_zeros() as usize] = below as u32 + 1;
                tops &= tops - 1;
            }
        }
        if self.reads_cells() {
            cells.extend(
                rows.iter().flat_map(|row| (0..u32::from(width)).map(move |column| row >> column & 1)),
            );
        }
        for (tuple, table) in self.tuples.iter().zip(&self.tables) {
            out.push((table + tuple.entry(&heights, &cells)) as u32);
        }
    }

    fn reads_cells(&self) -> bool {
        self.tuples.iter().any(|tuple| tuple.kind == TupleKind::Cells)
    }

    /// Appends the output for each afterstate.
    #[inline(always)]
    pub(super) fn append_outputs<C: Column, const N: usize>(
        &self,
        parameters: &[f32],
        afterstates: impl Iterator<Item = PlayfieldOf<C, N>>,
        out: &mut Vec<f32>,
    ) {
        let reads_cells = self.reads_cells();
        let mut heights = [0; 32];
        let mut cells = Vec::new();
        for playfield in afterstates {
            let columns = playfield.columns();
            for (height, column) in heights.iter_mut().zip(columns) {
                *height = column.top();
            }
            if reads_cells {
                cells.clear();
                for row in 0..u32::from(playfield.height()) {
                    let row = C::from_u64(1 << row);
                    cells.extend(columns.iter().map(|&column| u32::from(column & row != C::EMPTY)));
                }
            }
            let mut sum = 0.0;
            for (tuple, table) in self.tuples.iter().zip(&self.tables) {
                sum += parameters[table + tuple.entry(&heights, &cells)];
            }
            out.push(sum);
        }
    }
}

impl TuplePattern {
    /// How many entries its table has; at most 2^64 - 1.
    pub fn num_entries(&self) -> u64 {
        self.base().saturating_pow(self.positions.len() as u32)
    }

    /// Whether it can look up the same table.
    pub fn has_shape_of(&self, other: &TuplePattern) -> bool {
        let shape = |tuple: &TuplePattern| (tuple.kind, tuple.clip, tuple.positions.len());
        shape(self) == shape(other)
    }

    /// How many values a digit has.
    fn base(&self) -> u64 {
        let clip = u64::from(self.clip);
        match self.kind {
            TupleKind::Steps => 2 * clip + 1,
            TupleKind::Heights => clip + 1,
            TupleKind::Cells => 2,
        }
    }

    /// The index of its entry on a playfield with these heights and these cells, row by row.
    #[inline(always)]
    fn entry(&self, heights: &[u32; 32], cells: &[u32]) -> usize {
        let (base, clip) = (self.base() as usize, self.clip);
        let mut entry = 0;
        match self.kind {
            TupleKind::Steps => {
                for &column in &self.positions {
                    let (here, next) = (heights[column as usize], heights[column as usize + 1]);
                    // From 0 to 2 * clip, and never below 0 on the way there.
                    let digit = (next + clip).saturating_sub(here).min(2 * clip);
                    entry = entry * base + digit as usize;
                }
            }
            TupleKind::Heights => {
                for &column in &self.positions {
                    entry = entry * base + heights[column as usize].min(clip) as usize;
                }
            }
            TupleKind::Cells => {
                for &cell in &self.positions {
                    entry = entry * base + cells[cell as usize] as usize;
                }
            }
        }
        entry
    }
}
