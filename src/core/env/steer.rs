//! Steps of environments in which keys steer pieces, as in modern Tetris, and the state of such a piece.
//!
//! The engine moves a piece ([`SteeredPiece`]). This file handles the consequences: the piece is held, or it lands and
//! the next one appears. None of this is for the loops of other environments.

use crate::engine::steered::MAX_LIFTS;
use crate::engine::{Column, EpisodeEnd, Key, Resting, SteeredPiece, Tetromino, Timing, lock};

use super::columns::{Envs, LastLanding, Rest};
use super::fields::PIECE_STATE;
use super::{EnvConfig, InvalidActionPolicy};

impl<C: Column, const N: usize> Envs<C, N> {
    /// Whether a key can be pressed in a running environment.
    #[inline(never)] // keep it out of the hot loop of straight drops
    pub(super) fn has_key(&self, config: &EnvConfig, i: usize, key: Key) -> bool {
        let has_key = |piece: SteeredPiece| {
            let rules = self.rules_now(config, i);
            piece.has_key(&rules, &self.playfields[i], key, self.held(i), self.next(i))
        };
        self.steered(i).is_some_and(has_key)
    }

    /// Appends the mask of the keys of a running environment.
    pub(crate) fn append_keys(&self, config: &EnvConfig, i: usize, out: &mut Vec<u8>) {
        out.extend(config.rules.keys().iter().map(|&key| u8::from(self.has_key(config, i, key))));
    }

    /// Performs one key in a running environment.
    pub(super) fn steer(&mut self, config: &EnvConfig, i: usize, key: Key) -> (f64, Option<EpisodeEnd>) {
        let rules = &*self.rules_now(config, i);
        // Under this policy, the step has been checked already.
        let is_checked = config.invalid_action_policy == InvalidActionPolicy::Reject;
        if !is_checked && !self.has_key(config, i, key) {
            return self.count_invalid(config, i);
        }
        let piece = self.steered(i).expect("a running episode has a piece");
        if key == Key::Hold {
            self.hold(config, i, piece);
            return self.count_step(config, i, 0.0, None);
        }
        let playfield = &mut self.playfields[i];
        let steered = piece.step(rules, playfield, key);
        self.steered[i] = Some(steered.piece);
        let Some(resting) = steered.resting else { return self.count_step(config, i, 0.0, None) };
        let piece = piece.tetromino;
        self.last_landings[i] =
            Some(LastLanding { before: *playfield, rest: Rest::Steered { piece, resting } });
        let Resting { row, column, spin, .. } = resting;
        let landed = lock(rules, playfield, resting.shape(piece), row, column);
        let counted = self.count_landing(config, i, landed, spin);
        self.appear_steered(config, i);
        counted
    }

    /// Holds the current piece. The held piece replaces it or, without one, the next piece does and all later ones move
    /// up.
    fn hold(&mut self, config: &EnvConfig, i: usize, piece: SteeredPiece) {
        let rules = self.rules_now(config, i);
        let swapped = piece.swapped(&rules, &self.playfields[i], self.held(i), self.next(i));
        let swapped = swapped.expect("a key that can be pressed");
        self.visible[i].hold(&mut self.held[i], &mut self.dealers[i], config.rules.preview);
        debug_assert_eq!(self.visible[i].current().map(Tetromino::letter), Some(swapped.tetromino.letter()));
        self.steered[i] = Some(swapped);
    }

    /// The numbers of [`Field::PieceState`](super::Field::PieceState); zeros without a piece.
    pub(super) fn piece_state(&self, config: &EnvConfig, i: usize) -> [u8; PIECE_STATE] {
        let (Some(piece), Some(timing)) = (self.steered(i), config.rules.timing) else {
            return [0; PIECE_STATE];
        };
        let Timing { fall_delay, lock_delay, lock_resets } = timing;
        [
            piece.turns,
            piece.arrival as u8,
            fall_delay - piece.steps_in_air,
            lock_delay.saturating_sub(piece.steps_on_ground),
            lock_resets - piece.lock_resets,
            MAX_LIFTS - piece.lifts,
            piece.lowest_row,
            piece.is_swapped.into(),
        ]
    }
}
