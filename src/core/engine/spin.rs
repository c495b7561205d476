//! Spins: placements that are more than a drop because a turn led to them.
//!
//! This file has the names and the choice. [`reachable`](super::reachable) finds the labels of whole playfields at
//! once, and [`paths`](super::paths) the labels of single turns.

use super::choice::choice;

choice! {
    /// The turns that count as spins.
    pub enum SpinRule: "spin_rule" {
        /// No spins.
        None = 1, "none";
        /// T-spins by the three-corner rule; a fifth or later kick makes a mini spin full.
        TSpins = 2, "t_spins";
        /// T-spins by the three-corner rule; only the fifth kick from a flat to an upright orientation makes a mini spin full.
        TSpinsStrict = 3, "t_spins_strict";
        /// T-spins as in t_spins, and spins of other pieces that can move neither sideways nor up.
        AllSpins = 4, "all_spins";
        /// T-spins as in t_spins_strict, and mini spins of other pieces that can move neither sideways nor up.
        AllMini = 5, "all_mini";
        /// Like all_mini; a T that can move neither sideways nor up spins too, mini where its corners say nothing more.
        AllMiniPlus = 6, "all_mini_plus";
        /// Full spins of all pieces that can move neither sideways nor up, whatever their corners.
        Immobile = 7, "immobile";
    }
}

/// The spin label of a placement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Spin {
    #[default]
    None = 0,
    /// A T-spin with an open corner on the side that it points to, or under some rules a piece that can move neither
    /// sideways nor up.
    Mini = 1,
    /// A T-spin, or under some rules a piece that can move neither sideways nor up.
    Full = 2,
}

impl Spin {
    /// All labels, in ascending order of their numbers.
    pub const ALL: [Spin; 3] = [Spin::None, Spin::Mini, Spin::Full];
}

impl SpinRule {
    /// Whether the n-th kick of a turn, counted from 0, makes a T-spin full, given the orientations before and after.
    pub(super) fn is_full_by_kick(self, kick: usize, from: usize, to: usize) -> bool {
        match self {
            SpinRule::None | SpinRule::Immobile => false,
            SpinRule::TSpins | SpinRule::AllSpins => kick >= 4,
            SpinRule::TSpinsStrict | SpinRule::AllMini | SpinRule::AllMiniPlus => {
                kick == 4 && [0, 2].contains(&from) && [1, 3].contains(&to)
            }
        }
    }

    /// Whether the full corners around a turned T make a spin.
    #[inline]
    pub(super) const fn has_corners(self) -> bool {
        !matches!(self, SpinRule::None | SpinRule::Immobile)
    }

    /// The label of a piece that a turn has put where it can move neither sideways nor up; `is_t` says whether it is a
    /// T.
    #[inline]
    pub(super) const fn immobile(self, is_t: bool) -> Spin {
        match self {
            SpinRule::None | SpinRule::TSpins | SpinRule::TSpinsStrict => Spin::None,
            SpinRule::AllSpins | SpinRule::AllMini if is_t => Spin::None,
            SpinRule::AllSpins | SpinRule::Immobile => Spin::Full,
            SpinRule::AllMini | SpinRule::AllMiniPlus => Spin::Mini,
        }
    }
}
