//! What modern Tetris asks for, of playfields [measured together](super::stage): lane i is one of them, a vector is a column.
//!
//! The [sweeps](super::sweep) do not know these features: they are for placements that turn and slide into their places, which
//! no sweep lists.

use super::lanes::{Lanes, small};
use crate::engine::{Clear, Column, Spin};

/// The features measured here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // they are named as in the table of features
pub enum Modern {
    Clears(u8),
    BaseAttack,
    IdleT,
    ReadyRows,
    SpinSlots,
    SpinSlotRows,
}

/// Which parts of the work the caller needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ModernNeeds {
    pub ready_rows: bool,
    pub slots: bool,
}

impl ModernNeeds {
    /// Adds what a feature needs.
    pub fn add(&mut self, modern: Modern) {
        match modern {
            Modern::ReadyRows => self.ready_rows = true,
            Modern::SpinSlots | Modern::SpinSlotRows => self.slots = true,
            Modern::Clears(_) | Modern::BaseAttack | Modern::IdleT => {}
        }
    }
}

/// The features of landings.
#[derive(Clone, Copy, Debug)]
pub struct Ways<L: Lanes> {
    /// The bit of the way in which lines are cleared, from 1 on; none where nothing is.
    ways: L,
    base_attack: L,
    idle_t: L,
}

impl<L: Lanes> Ways<L> {
    /// Looks at landings that clear so many lines, have these spins, and leave nothing in the lanes of `perfect`; Ts are those of
    /// another mask.
    #[inline(always)]
    pub fn of(lines: L, spins: &[Spin], ts: u32, perfect: u32) -> Self {
        let (zero, one) = (small::<L>(0), small::<L>(1));
        let clearing = lines.nonzero();
        let mut base_attack = zero;
        let mut full = 0;
        for (lane, &spin) in spins.iter().enumerate() {
            full |= u32::from(spin == Spin::Full) << lane;
        }
        if clearing != 0 {
            let mut lanes = [L::Word::default(); 32];
            lines.store(&mut lanes);
            for (lane, &spin) in spins.iter().enumerate() {
                let is_perfect = perfect >> lane & 1 == 1;
                let clear = Clear { lines: lanes[lane].to_u64() as u8, spin, is_perfect };
                lanes[lane] = L::Word::from_u64(clear.base_attack().into());
            }
            base_attack = L::load(&lanes);
        }
        let way = lines.min(small(4)).select(full, lines.min(small(3)).add(small(4)));
        Ways {
            ways: zero.select(clearing, L::place(1, way)),
            base_attack,
            idle_t: zero.select(ts & !(clearing & full), one),
        }
    }

    /// One of them; none for a feature of playfields.
    #[inline(always)]
    pub fn lanes(&self, modern: Modern) -> Option<L> {
        match modern {
            Modern::Clears(way) => Some(self.ways.and(small(2 << way)).min(small(1))),
            Modern::BaseAttack => Some(self.base_attack),
            Modern::IdleT => Some(self.idle_t),
            Modern::ReadyRows | Modern::SpinSlots | Modern::SpinSlotRows => None,
        }
    }
}

/// The features of playfields.
#[derive(Clone, Copy, Debug)]
pub struct Chances<L: Lanes> {
    ready_rows: L,
    spin_slots: L,
    spin_slot_rows: L,
}

impl<L: Lanes> Chances<L> {
    /// Nothing measured yet.
    #[inline(always)]
    pub fn none() -> Self {
        let zero = small::<L>(0);
        Chances { ready_rows: zero, spin_slots: zero, spin_slot_rows: zero }
    }

    /// Measures playfields, given by their columns and the heights of these.
    #[inline(always)]
    pub fn measure<const N: usize>(
        &mut self,
        wall: L::Word,
        columns: &[L],
        heights: &[L; N],
        needs: ModernNeeds,
    ) {
        if !needs.ready_rows && !needs.slots {
            return;
        }
        let one = small::<L>(1);
        // The full cells common to all columns before one, and to all behind it.
        let (mut before, mut behind) = ([L::splat(wall); N], [L::splat(wall); N]);
        for x in 1..columns.len() {
            before[x] = before[x - 1].and(columns[x - 1]);
        }
        for x in (0..columns.len() - 1).rev() {
            behind[x] = behind[x + 1].and(columns[x + 1]);
        }
        if needs.ready_rows {
            let mut most = one;
            for x in 0..columns.len() {
                // A bit added at the lowest of some full ones runs through them, and flips one more.
                let others = before[x].and(behind[x]);
                let flipped = others.add(L::place(1, heights[x])).xor(others);
                most = most.max(flipped.count());
            }
            self.ready_rows = most.sub(one);
        }
        if needs.slots {
            for middle in 1..columns.len() - 1 {
                for (open, covered) in [(middle - 1, middle + 1), (middle + 1, middle - 1)] {
                    // The row above the surface of the open side; the covered side has a cell below and above it, not in it.
                    let row = L::place(1, heights[open]);
                    let cells = columns[covered];
                    let overhang = cells.up::<1>().and(cells.down::<1>()).and_not(cells);
                    let is_slot = overhang.and(row).nonzero() & heights[open].greater(heights[middle]);
                    if is_slot == 0 {
                        continue;
                    }
                    let zero = small::<L>(0);
                    let slot = zero.select(is_slot, one);
                    self.spin_slots = self.spin_slots.add(slot);
                    let upper = before[middle - 1].and(behind[middle + 1]).and(row);
                    let lower = before[middle].and(behind[middle]).and(row.down::<1>());
                    let filled = zero.select(upper.nonzero(), one);
                    let filled = filled.add(zero.select(lower.nonzero(), one));
                    self.spin_slot_rows = self.spin_slot_rows.max(zero.select(is_slot, filled));
                }
            }
        }
    }

    /// One of them; 0 for a feature of landings.
    #[inline(always)]
    pub fn lanes(&self, modern: Modern) -> L {
        match modern {
            Modern::ReadyRows => self.ready_rows,
            Modern::SpinSlots => self.spin_slots,
            Modern::SpinSlotRows => self.spin_slot_rows,
            Modern::Clears(_) | Modern::BaseAttack | Modern::IdleT => small(0),
        }
    }
}
