//! Playfields drawn at random.

use tetrion_core::engine::{Playfield, Rules};

use crate::Dice;

/// A stack of any height and density, full rows, overhangs and slots included; mostly a low one.
pub fn playfield(rules: &Rules, dice: &mut Dice) -> Playfield {
    let free = if dice.below(4) == 0 { 2 } else { 6 };
    let rows = dice.below(usize::from(rules.height) - free);
    let width = usize::from(rules.width);
    let mut row = || {
        let full_in_eight = [1, 4, 6, 7, 7, 8][dice.below(6)];
        (0..width).fold(0, |row, column| row | u32::from(dice.below(8) < full_in_eight) << column)
    };
    Playfield::from_rows(rules.width, rules.height, (0..rows).map(|_| row()).collect::<Vec<_>>())
}
