//! One match of an evaluation: two episodes that send each other lines, played a piece at a time.
//!
//! The side with fewer pieces moves, the first one first. Once both have moved, lines are exchanged and both get their
//! next piece, so a match is that of [`Match`](crate::engine::Match) and of two environments that play each other.

use super::episode::{Bounds, Episode};
use super::record::GameRecord;
use crate::agents::{Agent, AgentRng, Kernel};
use crate::engine::rng::{Tag, word};
use crate::engine::{Dealer, EpisodeEnd, Rules, exchange, exchange_points};

/// A match that can be played in slices.
#[derive(Clone, Debug)]
pub(super) struct MatchEpisode {
    sides: [Episode; 2],
    /// How each side has ended, once the match is over by its rules.
    ends: [Option<EpisodeEnd>; 2],
}

impl MatchEpisode {
    /// A match with this seed and these pieces. The seed also decides what agents draw.
    pub(super) fn new(rules: &Rules, dealer: &Dealer, seed: u64) -> MatchEpisode {
        let side = |side: u8| {
            let rng = AgentRng::new(word(seed, Tag::Side, side.into()));
            Episode::new(rules, dealer.clone(), rng).on_side(side)
        };
        MatchEpisode { sides: [side(0), side(1)], ends: [None; 2] }
    }

    /// Starts recording both sides.
    #[must_use]
    pub(super) fn recorded(self, rules: &Rules) -> MatchEpisode {
        MatchEpisode { sides: self.sides.map(|side| side.recorded(rules)), ..self }
    }

    /// Takes the record of both sides. Returns `None` if the match is not recorded.
    pub(super) fn take_record(&mut self, rules: &Rules) -> Option<GameRecord> {
        let [first, second] = &mut self.sides;
        let (mut record, mut opponent) = (first.take_record(rules)?, second.take_record(rules)?);
        [record.game.end, opponent.game.end] = self.ends;
        Some(GameRecord { opponent: Some(Box::new(opponent)), ..record })
    }

    /// The game of a side.
    pub(super) fn side(&self, side: usize) -> &Episode {
        &self.sides[side]
    }

    /// The end of a side's episode; `None` if a limit cut it.
    pub(super) fn end(&self, side: usize) -> Option<EpisodeEnd> {
        self.ends[side]
    }

    /// Whether the match is over or each side has placed the most pieces.
    pub(super) fn is_over(&self, bounds: Bounds) -> bool {
        let turns = self.sides[1].game.pieces;
        self.ends[0].is_some()
            || turns >= bounds.pieces.min(bounds.steps) && self.sides[0].game.pieces == turns
    }

    /// Plays a slice of about this much work, in pieces of a linear controller on a kernel.
    pub(super) fn advance(
        &mut self,
        rules: &Rules,
        agents: [&Agent; 2],
        kernel: Kernel,
        bounds: Bounds,
        work: u64,
    ) {
        let costs = agents.map(|agent| agent.cost(rules));
        let mut done = 0;
        while done < work && !self.is_over(bounds) {
            let [first, second] = &self.sides;
            let side = usize::from(first.game.pieces > second.game.pieces);
            // A unit of work is one thought, so this stops before the next piece.
            self.sides[side].advance(rules, agents[side], kernel, Bounds::of_game(u64::MAX, u64::MAX), 1);
            done += costs[side];
            let [first, second] = &self.sides;
            if side == 1 && first.game.pieces == second.game.pieces {
                self.exchange(rules);
            }
        }
    }

    /// Ends a turn: lines arrive, and the next pieces appear or are blocked.
    fn exchange(&mut self, rules: &Rules) {
        let [first, second] = &mut self.sides;
        let arrived = exchange(rules, [first.garbage(), second.garbage()]);
        self.sides.iter_mut().for_each(|side| side.prepare(rules));
        self.ends = EpisodeEnd::of_match(self.sides.each_ref().map(|side| side.game.end));
        for (side, points) in self.sides.iter_mut().zip(exchange_points(rules, arrived, self.ends)) {
            side.game.score += points;
        }
    }
}
