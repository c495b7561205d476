//! The features for modern Tetris, [one playfield per lane](super::playfield_lanes).
//!
//! The [sweeps](super::sweep) do not measure these features, because no sweep lists placements that turn and slide into
//! place.

use super::feature::KernelFeature::*;
use super::feature::NeededFeatures;
use super::playfield_lanes::PlayfieldLanes;
use crate::engine::lanes::{Lanes, small};
use crate::engine::{Clear, Column, Spin};

/// The features of landings that clear lines, one landing per lane.
#[derive(Clone, Copy, Debug)]
pub(super) struct ClearLanes<L: Lanes> {
    /// The way in which each lane clears lines, as a bit from bit 1 on; no bit if it clears none.
    ways: L,
    pub base_attack: L,
    pub idle_t: L,
}

impl<L: Lanes> ClearLanes<L> {
    /// An empty value, before anything is measured.
    #[inline(always)]
    pub(super) fn none() -> Self {
        let zero = small::<L>(0);
        ClearLanes { ways: zero, base_attack: zero, idle_t: zero }
    }

    /// Measures landings, given their cleared lines, their spins, the lanes of T pieces, and the lanes whose playfield
    /// is empty after clearing.
    #[inline(always)]
    pub(super) fn measure(&mut self, lines: L, spins: &[Spin], ts: u32, empty: u32) {
        let (zero, one) = (small::<L>(0), small::<L>(1));
        let clearing = lines.nonzero();
        self.base_attack = zero;
        let mut full_spins = 0;
        for (lane, &spin) in spins.iter().enumerate() {
            full_spins |= u32::from(spin == Spin::Full) << lane;
        }
        if clearing != 0 {
            let mut lanes = [L::Word::default(); 32];
            lines.store(&mut lanes);
            for (lane, &spin) in spins.iter().enumerate() {
                let is_perfect = empty >> lane & 1 == 1;
                let clear = Clear { lines: lanes[lane].to_u64() as u8, spin, is_perfect, ..Clear::default() };
                lanes[lane] = L::Word::from_u64(clear.base_attack().into());
            }
            self.base_attack = L::load(&lanes);
        }
        let way = lines.min(small(4)).select(full_spins, lines.min(small(3)).add(small(4)));
        self.ways = zero.select(clearing, L::place(1, way));
        self.idle_t = zero.select(ts & !(clearing & full_spins), one);
    }

    /// 1 in the lanes that clear lines in this way.
    #[inline(always)]
    pub(super) fn clears(&self, way: u8) -> L {
        self.ways.and(small(2 << way)).min(small(1))
    }
}

impl<L: Lanes, const N: usize> PlayfieldLanes<L, N> {
    /// Measures the rows that are ready for an I, and the slots for a T. The heights must be measured already.
    #[inline(always)]
    pub(super) fn measure_modern(&mut self, wall: L::Word, columns: &[L], needs: NeededFeatures) {
        let (zero, one) = (small::<L>(0), small::<L>(1));
        let heights = &self.heights;
        // For each column, the full cells common to all columns left of it, and to all columns right of it.
        let (mut left, mut right) = ([L::splat(wall); N], [L::splat(wall); N]);
        for x in 1..columns.len() {
            left[x] = left[x - 1].and(columns[x - 1]);
        }
        for x in (0..columns.len() - 1).rev() {
            right[x] = right[x + 1].and(columns[x + 1]);
        }
        if needs.has(ReadyRows) {
            let mut most = one;
            for x in 0..columns.len() {
                // Adding a bit at the lowest cell of a run of full cells flips the run and one more cell.
                let others = left[x].and(right[x]);
                let flipped = others.add(L::place(1, heights[x])).xor(others);
                most = most.max(flipped.count());
            }
            self.values[ReadyRows as usize] = most.sub(one);
        }
        if needs.any([SpinSlots, SpinSlotRows]) {
            let (mut num_slots, mut most_filled) = (zero, zero);
            for middle in 1..columns.len() - 1 {
                for (open, covered) in [(middle - 1, middle + 1), (middle + 1, middle - 1)] {
                    // The row above the open side's surface. The covered side has a cell below and above this row, but
                    // not in it.
                    let row = L::place(1, heights[open]);
                    let cells = columns[covered];
                    let overhang = cells.up::<1>().and(cells.down::<1>()).and_not(cells);
                    let is_slot = overhang.and(row).nonzero() & heights[open].greater(heights[middle]);
                    if is_slot == 0 {
                        continue;
                    }
                    num_slots = num_slots.add(zero.select(is_slot, one));
                    let upper = left[middle - 1].and(right[middle + 1]).and(row);
                    let lower = left[middle].and(right[middle]).and(row.down::<1>());
                    let filled = zero.select(upper.nonzero(), one).add(zero.select(lower.nonzero(), one));
                    most_filled = most_filled.max(zero.select(is_slot, filled));
                }
            }
            self.values[SpinSlots as usize] = num_slots;
            self.values[SpinSlotRows as usize] = most_filled;
        }
    }
}
