//! The feature vectors of every placement, as rows of a matrix.

use super::ground::{Basis, Ground, LaneBounds};
use super::lanes::{Apart, Lanes};
use super::slots::{Beyond, KernelFeature, Slots};
use super::sweep::sweep;
use crate::engine::{Column, PlayfieldOf, Shape, TopOut};
use crate::features::sets::FeatureSet;

/// A feature set, prepared for writing matrices.
#[derive(Clone, Debug)]
pub struct Extractor {
    slots: Slots,
}

/// What placements lead to, one row each, in ascending action order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PlacementRows {
    /// Feature vectors, row-major.
    pub features: Vec<f32>,
    /// The row of the piece's lowest cells.
    pub landing_rows: Vec<u8>,
    /// Lines cleared.
    pub lines: Vec<u8>,
    /// Whether the game ends.
    pub terminal: Vec<bool>,
}

impl PlacementRows {
    /// No rows again; the room for them stays.
    pub fn clear(&mut self) {
        self.features.clear();
        self.landing_rows.clear();
        self.lines.clear();
        self.terminal.clear();
    }

    /// No rows yet, with room for `num_rows`.
    pub fn with_capacity(num_rows: usize, num_features: usize) -> PlacementRows {
        PlacementRows {
            features: Vec::with_capacity(num_rows * num_features),
            landing_rows: Vec::with_capacity(num_rows),
            lines: Vec::with_capacity(num_rows),
            terminal: Vec::with_capacity(num_rows),
        }
    }
}

impl Extractor {
    /// Prepares a set, or nothing but the landings themselves; `None` if the kernel does not know all of its features.
    pub fn new(set: Option<&FeatureSet>) -> Option<Extractor> {
        let slots = set.map_or_else(|| Some(Slots::new(Vec::new())), |set| set.slots().cloned());
        let slots = slots.filter(|slots| slots.are_swept)?;
        Some(Extractor { slots })
    }

    /// How long a feature vector is.
    pub fn num_features(&self) -> usize {
        self.slots.slots.len()
    }

    /// Appends the feature vector of a playfield nothing has landed on: features of landings are 0.
    #[inline(always)]
    pub fn append_playfield<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &LaneBounds<L>,
        playfield: &PlayfieldOf<C, N>,
        out: &mut Vec<f32>,
    ) {
        let measures = Slots::measure_playfield(size, playfield.words(), self.slots.needs);
        for slot in self.slots.slots.iter() {
            out.push(slot.of_playfield(playfield, &measures, 0) as f32);
        }
    }

    /// Appends a row for every placement of a tetromino, given by its shapes.
    #[inline(always)]
    pub fn append<C: Column, const N: usize, L: Lanes<Word = C>>(
        &self,
        size: &LaneBounds<L>,
        playfield: &PlayfieldOf<C, N>,
        shapes: &[Shape],
        top_out: TopOut,
        rows: &mut PlacementRows,
    ) {
        L::apart(Append { slots: &self.slots, size, playfield, shapes, top_out, rows });
    }
}

/// The rows of the placements on one playfield.
struct Append<'a, L: Lanes, const N: usize> {
    slots: &'a Slots,
    size: &'a LaneBounds<L>,
    playfield: &'a PlayfieldOf<L::Word, N>,
    shapes: &'a [Shape],
    top_out: TopOut,
    rows: &'a mut PlacementRows,
}

impl<L: Lanes, const N: usize> Apart for Append<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let Append { slots, size, playfield, shapes, top_out, rows } = self;
        let num_features = slots.slots.len();
        let ground = Ground::<L>::new(size, playfield.words(), slots.needs);
        let surface = size.surface(playfield.words(), slots.needs.surface);
        let mut lanes = [L::Word::EMPTY; N];
        for shape in shapes {
            let swept = sweep(&ground, shape, slots.needs);
            let count = swept.exist.count_ones() as usize;
            let first = rows.lines.len();
            rows.lines.resize(first + count, 0);
            rows.terminal.resize(first + count, false);
            swept.rows.store(&mut lanes);
            rows.landing_rows.extend(lanes[..count].iter().map(|row| row.to_u64() as u8));

            let from = rows.features.len();
            // Without features, rows of nothing.
            let row_len = num_features.max(1);
            rows.features.resize(from + count * num_features, 0.0);
            let block = &mut rows.features[from..];
            let mut beyond = Beyond::none();
            slots.measure_beyond(&swept, &ground, &surface, shape, &mut beyond);
            for (slot, at) in slots.slots.iter().zip(0..) {
                slot.kind.lanes(&swept, &beyond).store(&mut lanes);
                let unit = if slot.kind == KernelFeature::Basis(Basis::LandingHeight) { 0.5 } else { 1.0 };
                for (row, value) in block.chunks_exact_mut(row_len).zip(&lanes) {
                    row[at] = value.to_u64() as u32 as i32 as f32 * unit;
                }
            }

            let mut apart = swept.clearing | swept.ending(&ground, top_out);
            while apart != 0 {
                let column = apart.trailing_zeros();
                apart &= apart - 1;
                let landing = playfield.land(shape, column as u8, top_out);
                let measures = slots.measure(size, &landing);
                let at = column as usize;
                let row = &mut block[at * num_features..][..num_features];
                for (value, slot) in row.iter_mut().zip(slots.slots.iter()) {
                    *value = slot.value(shape, &landing, &measures) as f32;
                }
                rows.lines[first + at] = landing.lines;
                rows.terminal[first + at] = landing.terminal;
            }
        }
    }
}
