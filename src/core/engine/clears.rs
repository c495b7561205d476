//! What a clear is worth beyond its lines: points and lines sent to others, by spins, combos, back-to-back and perfect clears.
//!
//! The tables are data, and this file knows neither playfields nor rules: it gets what was cleared and how, and the chain of
//! clears before it. Points and attack are apart, and each is counted by a table of its own.
//!
//! A clear is *difficult* if it takes four lines, or any by a spin. Difficult clears that follow each other are back to back;
//! a clear that is not difficult breaks that, a piece that clears nothing does not, spin or none. A *combo* counts pieces that
//! clear something one after the other, from 0 on, and a piece that clears nothing ends it. A *perfect clear* leaves an empty
//! playfield.

use super::choice::choice;
use super::spin::Spin;

choice! {
    /// Which points clears make.
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
    /// Which lines clears send to others.
    pub enum AttackTable: "attack_table" {
        /// No lines are sent.
        None = 1, "none";
        /// Attack table of Jstris and Botris; combos add up to 5 lines, from the twelfth clear on.
        Jstris = 2, "jstris";
        /// Attack table of Cold Clear; combos grow a little sooner than in Jstris.
        ColdClear = 3, "cold_clear";
    }
}

/// The clears that a game has just made, one after the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// How many of the last pieces cleared something, one after the other.
    pub clears: u16,
    /// Whether the last clear was difficult.
    pub back_to_back: bool,
}

/// What a piece cleared, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clear {
    /// How many lines.
    pub lines: u8,
    /// By which spin.
    pub spin: Spin,
    /// Whether nothing is left.
    pub is_perfect: bool,
}

/// What a clear is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClearWorth {
    /// By [`ClearPoints::Guideline`].
    pub points: f64,
    /// Lines sent, by an [`AttackTable`].
    pub attack: u32,
}

/// Guideline points for 0 to 4 lines: without a spin, by a mini and by a full one.
const POINTS: [[u32; 5]; 3] =
    [[0, 100, 300, 500, 800], [100, 200, 400, 400, 400], [400, 800, 1200, 1600, 1600]];
/// More for a perfect clear of 1 to 4 lines, and for one of four lines that is back to back.
const PERFECT_POINTS: [u32; 4] = [800, 1200, 1800, 2000];
const PERFECT_BACK_TO_BACK: u32 = 3200;
/// More for each clear before this one.
const COMBO_POINTS: u32 = 50;

/// Lines sent for 0 to 4 lines: without a spin, by a mini and by a full one.
const ATTACK: [[u32; 5]; 3] = [[0, 0, 1, 2, 4], [0, 0, 1, 1, 1], [0, 2, 4, 6, 6]];
/// Lines sent for a perfect clear, in place of all else.
const PERFECT_ATTACK: u32 = 10;
/// More for the clears before this one: none, one, two ...; the last number stands for all that follow.
const JSTRIS_COMBO: [u32; 13] = [0, 0, 1, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5];
const COLD_CLEAR_COMBO: [u32; 12] = [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 4, 5];

impl Clear {
    /// The lines that it sends by itself, in all tables: 1, 2 and 4 for two, three and four lines; 2, 4 and 6 for one, two and
    /// three by a full spin, 1 for two by a mini; for a perfect clear 10 in place of these.
    pub fn base_attack(self) -> u32 {
        if self.is_perfect {
            return PERFECT_ATTACK;
        }
        ATTACK[self.spin as usize][usize::from(self.lines.min(4))]
    }
}

impl Chain {
    /// What the next piece's clear is worth, and the chain with it.
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
