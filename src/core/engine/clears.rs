//! The value of clears beyond their lines: points and lines sent, for spins, combos, back-to-back and perfect clears.
//!
//! The tables are data. This file knows neither playfields nor rules: callers pass the clear, its spin, and the chain
//! of clears before it. Points and attack are separate, each with its own table.
//!
//! A clear is *difficult* if it clears four lines, or any lines by a spin. Difficult clears in succession are
//! *back-to-back*. A clear that is not difficult breaks the succession; a piece that clears nothing does not, with or
//! without a spin. A *combo* counts successive pieces that clear lines, from 0, and a piece that clears nothing ends
//! it. A *perfect clear* leaves an empty playfield.

use super::choice::choice;
use super::spin::Spin;

choice! {
    /// The table from which a clear gets its points.
    pub enum ClearPoints: "clear_points" {
        /// Points per number of lines, as in the scoring.
        Lines = 1, "lines";
        /// Guideline points at level 1: spins, back-to-back, combos and perfect clears count.
        Guideline = 2, "guideline";
        /// Lines sent, by the attack table.
        Attack = 3, "attack";
    }
}

choice! {
    /// The number of lines that clears send to others.
    pub enum AttackTable: "attack_table" {
        /// No lines are sent.
        None = 1, "none";
        /// Attack table of Jstris and Botris; combos add up to 5 lines, from the twelfth clear on.
        Jstris = 2, "jstris";
        /// Attack table of Cold Clear; combos grow a little sooner than in Jstris.
        ColdClear = 3, "cold_clear";
    }
}

/// The recent clears of a game, on which the value of the next clear depends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// Number of successive pieces, up to the last one, that cleared lines.
    pub clears: u16,
    /// Whether the last clear was difficult.
    pub back_to_back: bool,
}

/// A clear: its lines and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clear {
    pub lines: u8,
    /// The spin of the piece.
    pub spin: Spin,
    /// Whether the playfield is empty after the clear.
    pub is_perfect: bool,
}

/// The value of a clear.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClearWorth {
    /// Points by [`ClearPoints::Guideline`].
    pub points: f64,
    /// Lines sent, by an [`AttackTable`].
    pub attack: u32,
}

/// Guideline points for 0 to 4 lines: without a spin, by a mini and by a full spin.
const POINTS: [[u32; 5]; 3] =
    [[0, 100, 300, 500, 800], [100, 200, 400, 400, 400], [400, 800, 1200, 1600, 1600]];
/// Extra points for a perfect clear of 1 to 4 lines, and for a back-to-back perfect clear of four lines.
const PERFECT_POINTS: [u32; 4] = [800, 1200, 1800, 2000];
const PERFECT_BACK_TO_BACK: u32 = 3200;
/// Extra points per clear before this one in the combo.
const COMBO_POINTS: u32 = 50;

/// Lines sent for 0 to 4 lines: without a spin, by a mini and by a full spin.
const ATTACK: [[u32; 5]; 3] = [[0, 0, 1, 2, 4], [0, 0, 1, 1, 1], [0, 2, 4, 6, 6]];
/// Lines sent for a perfect clear, instead of all others.
const PERFECT_ATTACK: u32 = 10;
/// Extra lines sent after 0, 1, 2 ... clears in the combo. The last number applies to all longer combos.
const JSTRIS_COMBO: [u32; 13] = [0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5];
const COLD_CLEAR_COMBO: [u32; 12] = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5];

impl Clear {
    /// The lines that the clear sends by itself, in all tables. Two, three and four lines send 1, 2 and 4. One, two and
    /// three lines by a full spin send 2, 4 and 6; two lines by a mini send 1. A perfect clear sends 10 instead.
    ///
    /// ```
    /// use tetrion_core::engine::{AttackTable, Chain, Clear, Spin};
    ///
    /// let attack = |clear| Chain::default().then(AttackTable::Jstris, clear).1.attack;
    /// let four = Clear { lines: 4, spin: Spin::None, is_perfect: false };
    /// assert_eq!((attack(four), attack(Clear { is_perfect: true, ..four })), (4, 10));
    /// ```
    pub(crate) fn base_attack(self) -> u32 {
        if self.is_perfect {
            return PERFECT_ATTACK;
        }
        ATTACK[self.spin as usize][usize::from(self.lines.min(4))]
    }
}

impl Chain {
    /// The value of the next piece's clear, and the chain after it.
    pub fn then(self, table: AttackTable, clear: Clear) -> (Chain, ClearWorth) {
        let Clear { lines, spin, is_perfect } = clear;
        let (row, column) = (spin as usize, usize::from(lines.min(4)));
        if lines == 0 {
            let worth = ClearWorth { points: POINTS[row][0].into(), attack: 0 };
            return (Chain { clears: 0, ..self }, worth);
        }
        let is_difficult = spin != Spin::None || lines >= 4;
        let is_back_to_back = is_difficult && self.back_to_back;
        let mut points = POINTS[row][column];
        if is_back_to_back {
            points += points / 2;
        }
        points += COMBO_POINTS * u32::from(self.clears);
        if is_perfect {
            let is_best = is_back_to_back && lines >= 4;
            points += if is_best { PERFECT_BACK_TO_BACK } else { PERFECT_POINTS[column - 1] };
        }
        let combo: &[u32] = match table {
            AttackTable::None => &[0],
            AttackTable::Jstris => &JSTRIS_COMBO,
            AttackTable::ColdClear => &COLD_CLEAR_COMBO,
        };
        let combo = combo[usize::from(self.clears).min(combo.len() - 1)];
        let attack = match table {
            AttackTable::None => 0,
            _ if is_perfect => clear.base_attack(),
            _ => clear.base_attack() + u32::from(is_back_to_back) + combo,
        };
        let chain = Chain { clears: self.clears.saturating_add(1), back_to_back: is_difficult };
        (chain, ClearWorth { points: points.into(), attack })
    }
}
