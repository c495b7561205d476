//! A single environment: extracted from a batch, inserted into another, or started from a given position.

use std::ops::Range;
use std::sync::Arc;

use crate::engine::rng::{Tag, word};
use crate::engine::{
    Chain, Column, Dealer, EpisodeEnd, FallingPiece, Hand, Incoming, MovingPiece, Odds, Piece, PieceSequence,
    Playfield, Rules, SteeredPiece, Visible, is_blocked,
};

use super::columns::{Envs, EpisodeIndex, EpisodePhase, EpisodeStatistics, InvalidActions, LastLanding};
use super::rows::{EnvRows, one_for};
use super::{EnvConfig, PositionError, Restored};

/// Everything that decides the future of an environment, and its statistics.
///
/// The state excludes the configuration of the batch: the autoreset mode, the invalid-action policy, the limit on
/// steps, and the features. So it fits into any batch with the same rules. [`EnvState::to_bytes`] makes a snapshot of
/// it.
#[derive(Clone, Debug, PartialEq)]
pub struct EnvState {
    pub(super) rules: Rules,
    pub(super) playfield: Playfield,
    pub(super) last_landing: Option<LastLanding<u64, 32>>,
    pub(super) visible: Visible,
    pub(super) falling: Option<FallingPiece>,
    pub(super) steered: Option<SteeredPiece>,
    pub(super) held: Option<Piece>,
    pub(super) chain: (Chain, u64),
    pub(super) incoming: Incoming,
    pub(super) dealer: Dealer,
    pub(super) end: Option<EpisodeEnd>,
    pub(super) episode: EpisodeIndex,
    pub(super) statistics: EpisodeStatistics,
    pub(super) invalid_actions: InvalidActions,
}

impl EnvState {
    /// Rules of the game, which must match those of a batch that continues it.
    pub fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether the states are the two sides of a match at the same turn, in either order.
    pub(super) fn is_against(&self, other: &EnvState) -> bool {
        let place = |state: &EnvState| (state.episode, state.statistics.steps, state.end.is_some());
        let sides = [self.incoming.side, other.incoming.side];
        (sides == [Some(0), Some(1)] || sides == [Some(1), Some(0)])
            && place(self) == place(other)
            && self.dealer.seed() == other.dealer.seed()
    }

    /// Cells of the playfield, without the current piece.
    pub fn playfield(&self) -> &Playfield {
        &self.playfield
    }

    /// The current piece and the shown pieces after it, as many as there are.
    pub fn pieces(&self) -> Vec<Piece> {
        self.visible.pieces().collect()
    }

    /// The current piece and the pieces after it, visible or not; at most `count`.
    pub fn deal(&self, count: usize) -> Vec<Piece> {
        let mut dealer = self.dealer.clone();
        let dealt = std::iter::from_fn(|| dealer.deal());
        self.visible.pieces().chain(dealt).take(count).collect()
    }

    /// The current piece where keys have moved it; `None` if a step is a placement or there is no piece.
    pub fn falling(&self) -> Option<MovingPiece> {
        self.falling.map(MovingPiece::Falling).or(self.steered.map(MovingPiece::Steered))
    }

    /// The held piece, if any.
    pub fn held(&self) -> Option<Piece> {
        self.held
    }

    /// Odds of the piece after the shown ones.
    pub fn odds(&self) -> Odds {
        self.dealer.odds()
    }

    /// Totals of the current episode.
    pub fn statistics(&self) -> EpisodeStatistics {
        self.statistics
    }

    /// The preceding clears, if the rules need them.
    pub fn chain(&self) -> Chain {
        self.chain.0
    }

    /// The waiting garbage, if the rules have garbage.
    pub fn incoming(&self) -> Incoming {
        self.incoming
    }

    /// The pieces that can be placed; `None` once the episode has ended.
    pub fn hand(&self) -> Option<Hand> {
        let hand = self.visible.hand(&self.rules, self.held).filter(|_| !self.has_ended());
        hand.map(|hand| hand.with(self.falling()))
    }

    /// Whether the episode has ended and waits for its reset.
    pub fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Number of pieces and of columns of holes in the explicit sequence; 0 if pieces come from a seed.
    pub fn sequence_len(&self) -> usize {
        self.sequence().map_or(0, |sequence| sequence.pieces.len() + sequence.holes.len())
    }

    /// The explicit sequence, if any.
    pub fn sequence(&self) -> Option<&Arc<PieceSequence>> {
        self.dealer.written()
    }

    /// Replaces the explicit sequence by an equal copy, so that one copy serves many environments.
    ///
    /// # Panics
    /// If the sequences differ, or the state has none.
    pub fn share_sequence(&mut self, copy: Arc<PieceSequence>) {
        self.dealer.share(copy);
    }
}

/// A playfield and pieces from which to start an episode. If a step is a key, the current piece starts at its spawn
/// position.
///
/// Rows that are already full stay until the next landing, which clears them too.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartPosition {
    /// Playfield of the size of the rules.
    pub playfield: Playfield,
    pub piece: Piece,
    /// Next pieces, at most as many as the rules show. They and the current one replace the first pieces of the dealer,
    /// which adds the missing ones.
    pub queue: Vec<Piece>,
    /// Held piece; `None` unless the rules have hold.
    pub held: Option<Piece>,
}

impl StartPosition {
    /// Whether the game is already over, or is over because the piece cannot enter.
    pub fn is_over(&self, rules: &Rules) -> bool {
        self.playfield.is_topped_out(rules.top_out) || is_blocked(rules, &self.playfield, self.piece)
    }

    /// The current piece and the next ones.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> {
        std::iter::once(self.piece).chain(self.queue.iter().copied())
    }

    /// Checks that an episode can start from this position.
    ///
    /// # Errors
    /// [`PositionError`] for a playfield of another size, a game that is over, more next pieces than the rules show, or
    /// a held piece under rules without hold.
    pub fn check(&self, rules: &Rules) -> Result<(), PositionError> {
        let got = (self.playfield.width(), self.playfield.height());
        let expected = (rules.width, rules.height);
        if got != expected {
            return Err(PositionError::Size { got, expected });
        }
        if self.is_over(rules) {
            return Err(PositionError::GameOver);
        }
        if self.queue.len() > usize::from(rules.preview) {
            return Err(PositionError::Queue { got: self.queue.len(), preview: rules.preview });
        }
        if self.held.is_some() && !rules.hold {
            return Err(PositionError::Held);
        }
        Ok(())
    }
}

impl<C: Column, const N: usize> Envs<C, N> {
    /// Copies everything that decides how an environment continues.
    ///
    /// # Panics
    /// If no episode has begun in the environment.
    pub(super) fn state(&self, rules: &Rules, i: usize) -> EnvState {
        assert!(self.phases[i] != EpisodePhase::NotStarted, "no episode has begun in environment {i}");
        EnvState {
            rules: *rules,
            playfield: self.playfields[i].resized(),
            last_landing: self.last_landings[i].map(|last| last.resized()),
            visible: self.visible[i],
            falling: self.falling(i),
            steered: self.steered(i),
            held: self.held(i),
            chain: self.chain(i),
            incoming: self.incoming(i),
            dealer: self.dealers[i].clone(),
            end: self.phases[i].end(),
            episode: self.episodes[i],
            statistics: self.statistics[i],
            invalid_actions: self.invalid_actions[i],
        }
    }

    /// Puts environments into given states. With `reseed`, the later pieces of row i come from the seed `word(reseed,
    /// Reseed, i)`, except for explicit sequences.
    pub(super) fn restore(
        &mut self,
        config: &EnvConfig,
        (all, rows): (EnvRows<'_>, Range<usize>),
        restored: Restored<'_>,
        reseed: Option<u64>,
    ) {
        let are_matches = config.rules.is_match() && reseed.is_some();
        let row_of = if are_matches { all.row_of_each_env() } else { Vec::new() };
        for row in rows {
            let i = all.env(row);
            match restored {
                Restored::States(states) => self.put(i, one_for(states, row)),
                Restored::Positions(positions) => self.begin_from(config, i, one_for(positions, row)),
            }
            if let Some(reseed) = reseed
                && self.dealers[i].seed().is_some()
            {
                // Both sides of a match have the seed of the first.
                let row = if are_matches { row_of[i & !1].into() } else { row as u64 };
                let seed = word(reseed, Tag::Reseed, row);
                self.dealers[i].reseed(seed);
                self.episodes[i].env_seed = seed;
            }
        }
    }

    fn put(&mut self, i: usize, state: &EnvState) {
        self.playfields[i] = state.playfield.resized();
        self.last_landings[i] = state.last_landing.map(|last| last.resized());
        self.visible[i] = state.visible;
        if let Some(falling) = self.falling.get_mut(i) {
            *falling = state.falling;
        }
        if let Some(steered) = self.steered.get_mut(i) {
            *steered = state.steered;
        }
        if let Some(held) = self.held.get_mut(i) {
            *held = state.held;
        }
        if let Some(chain) = self.chains.get_mut(i) {
            *chain = state.chain;
        }
        if let Some(incoming) = self.incoming.get_mut(i) {
            // A side of a match keeps its holes, or goes on alone.
            *incoming = state.incoming.on_side(incoming.side.and(state.incoming.side));
        }
        self.dealers[i] = state.dealer.clone();
        self.phases[i] = state.end.map_or(EpisodePhase::Running, EpisodePhase::Ended);
        self.episodes[i] = state.episode;
        self.statistics[i] = state.statistics;
        self.invalid_actions[i] = state.invalid_actions;
    }

    fn begin_from(&mut self, config: &EnvConfig, i: usize, position: &StartPosition) {
        self.begin_next(config, i);
        self.playfields[i] = position.playfield.resized();
        self.visible[i] = self.visible[i].starting_with(position.pieces());
        if let Some(held) = self.held.get_mut(i) {
            *held = position.held;
        }
        self.appear(config, i);
        self.appear_steered(config, i);
    }
}
