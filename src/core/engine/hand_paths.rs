//! Which keys a player presses for a placement of either piece in the [hand](super::hand): the one that holds the current piece
//! first, if the other one is to be placed, then those that take the piece there.
//!
//! [`paths`](super::paths) finds the way of one piece and knows nothing of other pieces; this file has the key that changes
//! them, and how many keys are too many. To hold the piece is a press like any other, and costs 1.

use super::column::Column;
use super::key::Key;
use super::paths::Paths;
use super::placement::{Placement, Spot};
use super::playfield::PlayfieldOf;
use super::reachable::{Movement, Resting};
use super::rules::Rules;
use super::tetromino::Tetromino;

/// The most keys of a placement: a longer way counts as none.
///
/// In games, ways are shorter by far: on 10 x 20 none had more than 22 keys on playfields drawn at random, on 32 x 40 none more
/// than 60. Only in mazes are they longer: a search for the worst ones found 81 and 253.
pub const MAX_KEYS: usize = 64;

/// The keys to placements of the pieces in a hand.
#[derive(Clone, Debug)]
pub struct HandPaths {
    current: Option<Paths>,
    other: Option<Paths>,
}

impl HandPaths {
    /// Searches for the keys to these placements, in ascending action order, each with its piece: once for each piece that is
    /// among them.
    ///
    /// # Panics
    /// If placements [do not name the spot](Rules::names_spots) where they come to rest.
    pub fn towards<C: Column, const N: usize>(
        rules: &Rules,
        playfield: &PlayfieldOf<C, N>,
        placements: &[(Tetromino, Placement)],
    ) -> HandPaths {
        // Those of the other piece have the larger numbers.
        let (current, other) =
            placements.split_at(placements.partition_point(|(_, placement)| !placement.hold));
        let paths = |placements: &[(Tetromino, Placement)]| {
            let (piece, _) = placements.first()?;
            let wanted: Vec<Resting> = placements.iter().map(|(_, placement)| resting(*placement)).collect();
            Some(Paths::towards(&Movement::of(rules), playfield, *piece, &wanted))
        };
        HandPaths { current: paths(current), other: paths(other) }
    }

    /// The keys to one of those placements: at most [`MAX_KEYS`], none if there would be more.
    ///
    /// ```
    /// use tetrion_core::engine::{Hand, HandPaths, Playfield, Rules, Tetromino};
    /// let rules = Rules::preset("guideline").unwrap();
    /// let (playfield, hand) = (Playfield::empty(10, 40), Hand { current: Tetromino::O, other: Some(Tetromino::I) });
    /// let all = hand.placements(&rules, &playfield);
    /// let paths = HandPaths::towards(&rules, &playfield, &all);
    /// let names = |n: usize| paths.to(all[n].1).iter().map(|key| key.name()).collect::<Vec<_>>();
    /// assert_eq!(names(0), ["far_left", "hard_drop"]);
    /// assert_eq!(names(9), ["hold", "far_left", "hard_drop"]);
    /// ```
    ///
    /// # Panics
    /// As [`HandPaths::towards`].
    pub fn to(&self, placement: Placement) -> Vec<Key> {
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
