//! The keys for a placement of either piece in the [hand](super::hand): first the hold key, if the other piece is to be
//! placed, then the keys that move the piece there.
//!
//! [`paths`](super::paths) finds the way of one piece and knows nothing of other pieces. This file adds the hold key,
//! which costs 1 like any other press, and the limit on the number of keys.

use super::column::Column;
use super::key::Key;
use super::paths::Paths;
use super::placement::{Placement, Spot};
use super::playfield::PlayfieldOf;
use super::reachable::{Movement, Resting};
use super::rules::Rules;
use super::tetromino::Tetromino;

/// The largest number of keys for a placement. Longer ways are treated as missing.
///
/// Ways are far shorter in games: on random 10 x 20 playfields none had more than 22 keys, on 32 x 40 none more than
/// 60. Only mazes have longer ways: a search for the worst ones found 81 and 253.
pub const MAX_KEYS: usize = 64;

/// The keys for placements of the pieces in a hand.
#[derive(Clone, Debug)]
pub(crate) struct HandPaths {
    current: Option<Paths>,
    other: Option<Paths>,
}

impl HandPaths {
    /// Searches for the keys to these placements, each with its piece, in ascending order of actions. Runs one search
    /// per piece among them.
    ///
    /// # Panics
    /// If placements [do not name the spot](Rules::names_spots) where they come to rest.
    pub(crate) fn towards<C: Column, const N: usize>(
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        placements: &[(Tetromino, Placement)],
    ) -> HandPaths {
        // Placements of the other piece have the larger numbers.
        let (current, other) =
            placements.split_at(placements.partition_point(|(_, placement)| !placement.hold));
        let paths = |placements: &[(Tetromino, Placement)]| {
            let (piece, _) = placements.first()?;
            let wanted: Vec<Resting> = placements.iter().map(|(_, placement)| resting(*placement)).collect();
            Some(Paths::towards(&Movement::of(rules), playfield, *piece, &wanted))
        };
        HandPaths { current: paths(current), other: paths(other) }
    }

    /// The keys for one of those placements, at most [`MAX_KEYS`]. Empty if there would be more.
    ///
    /// ```
    /// use tetrion_core::engine::{Hand, Key, Playfield, Rules, Tetromino};
    /// use tetrion_core::placements::{Options, Position, enumerate};
    /// let rules = Rules::preset("guideline").unwrap();
    /// let hand = Some(Hand { current: Tetromino::O, other: Some(Tetromino::I) });
    /// let positions = [Position::of(Playfield::empty(10, 40), hand)];
    /// let all = enumerate(&rules, &positions, None, Options { keys: true, ..Options::default() });
    /// let keys = |n: usize| &all.keys[all.key_offsets[n] as usize..all.key_offsets[n + 1] as usize];
    /// assert_eq!(keys(0), [Key::FarLeft, Key::HardDrop].map(|key| key as u8));
    /// assert_eq!(keys(9), [Key::Hold, Key::FarLeft, Key::HardDrop].map(|key| key as u8));
    /// ```
    ///
    /// # Panics
    /// If placements [do not name the spot](Rules::names_spots) where they come to rest.
    pub(crate) fn to(&self, placement: Placement) -> Vec<Key> {
        let paths = if placement.hold { &self.other } else { &self.current };
        let way = paths.as_ref().and_then(|paths| paths.to(resting(placement))).unwrap_or_default();
        let hold = placement.hold.then_some(Key::Hold);
        if way.len() + usize::from(placement.hold) > MAX_KEYS {
            return Vec::new();
        }
        hold.into_iter().chain(way).collect()
    }
}

fn resting(placement: Placement) -> Resting {
    let Placement { orientation, column, spot, hold: _ } = placement;
    let Spot { row, spin } = spot.expect("it names the spot where it comes to rest");
    Resting { orientation, column, row, spin }
}
