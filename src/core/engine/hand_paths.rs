//! The keys for a placement of either piece in the [hand](super::hand): first the hold key, if the other piece is to be
//! placed, then the keys that move the piece there.
//!
//! [`paths`](super::paths) and [`falling_paths`](super::falling_paths) find the way of one piece and know nothing of other
//! pieces. This file adds the hold key, which costs 1 like any other press, and the limit on the number of keys.

use super::column::Column;
use super::falling_paths::falling_paths;
use super::game::comes_to_rest;
use super::key::Key;
use super::paths::Paths;
use super::placement::{Placement, Spot};
use super::playfield::PlayfieldOf;
use super::reachable::{Movement, Resting};
use super::rules::{ActionModel, Rules};
use super::tetromino::Tetromino;

/// The largest number of keys for a placement. Longer ways are treated as missing.
///
/// Ways are far shorter in games: on random 10 x 20 playfields none had more than 22 keys, on 32 x 40 none more than
/// 60. Only mazes have longer ways: a search for the worst ones found 81 and 253.
pub const MAX_KEYS: usize = 64;

/// The keys for each of these placements, each with its piece, in ascending order of actions. No keys for a placement
/// that would need more than [`MAX_KEYS`], or that a piece that falls with every key cannot reach. Runs one search per
/// piece.
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
/// If placements neither [name the spot](Rules::names_spots) where they come to rest, nor belong to a game of keys.
pub(crate) fn keys_to_each<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    placements: &[(Tetromino, Placement)],
) -> Vec<Vec<Key>> {
    // Placements of the other piece have the larger numbers.
    let (current, other) = placements.split_at(placements.partition_point(|(_, placement)| !placement.hold));
    [current, other].map(|placements| keys_of_one(rules, playfield, placements)).concat()
}

/// The keys for placements of one piece.
fn keys_of_one<C: Column, const N: usize>(
    rules: &Rules,
    playfield: &PlayfieldOf<C, N>,
    placements: &[(Tetromino, Placement)],
) -> Vec<Vec<Key>> {
    let Some(&(piece, _)) = placements.first() else { return Vec::new() };
    if !rules.names_spots() {
        assert_eq!(rules.action_model, ActionModel::Keypress, "rules with keys");
        let cells = placements.iter().map(|(_, placement)| {
            let (shape, row) = comes_to_rest(rules, playfield, piece, *placement);
            shape.cells_at(row, placement.column)
        });
        return falling_paths(playfield, piece, &cells.collect::<Vec<_>>());
    }
    let wanted: Vec<Resting> = placements.iter().map(|(_, placement)| resting(*placement)).collect();
    let paths = Paths::towards(&Movement::of(rules), playfield, piece, &wanted);
    let keys = |&(_, placement): &(Tetromino, Placement)| {
        let way = paths.to(resting(placement)).unwrap_or_default();
        let keys: Vec<Key> = placement.hold.then_some(Key::Hold).into_iter().chain(way).collect();
        if keys.len() > MAX_KEYS { Vec::new() } else { keys }
    };
    placements.iter().map(keys).collect()
}

fn resting(placement: Placement) -> Resting {
    let Placement { orientation, column, spot, hold: _ } = placement;
    let Spot { row, spin } = spot.expect("it names the spot where it comes to rest");
    Resting { orientation, column, row, spin }
}
