//! The sequences of placements of a [beam search](super::beam) in progress.
//!
//! This file follows pieces through the queue and hold, and knows no values.

use super::Sight;
use crate::engine::rng::{Tag, below, mix, word};
use crate::engine::{Game, Incoming, Odds, Piece, Placement, Rules};

/// A search in progress.
#[derive(Clone, Debug)]
pub(super) struct Growth {
    /// The current piece and the pieces after it: known ones, then those of a continuation.
    pub queue: Vec<Piece>,
    /// Number of pieces of the queue that are known.
    pub known: usize,
    /// The first placements of all sequences, in ascending action order.
    pub firsts: Vec<Placement>,
    pub nodes: Vec<SequenceEnd>,
    /// The largest value of each first placement's sequences at the last piece, of those that go on and those that lead to
    /// a state of theirs.
    pub bests: Vec<Option<f64>>,
    /// The largest estimate of each first placement's sequences at the last piece, whether or not they go on.
    pub estimates: Vec<Option<f64>>,
    /// Number of pieces that the sequences have placed, and will have.
    pub placed: usize,
    pub most: usize,
    /// The sequences from which continuations go on, and the number of their pieces.
    pub trunk: Option<(Vec<SequenceEnd>, usize)>,
    /// Continuations so far, and the sums of the values of each first placement over them.
    pub samples: u16,
    pub sums: Vec<f64>,
}

/// The end of a sequence of placements.
#[derive(Clone, Debug)]
pub(super) struct SequenceEnd {
    pub game: Game<u64, 32>,
    /// The held piece. `None` also after an unseen piece was held: then the queue is used up, and nothing follows.
    pub held: Option<Piece>,
    /// Index in the queue of the piece in play.
    pub current: usize,
    /// Garbage, if the rules have it.
    pub incoming: Option<Box<Incoming>>,
    /// Landing terms and lines sent.
    pub sum: f64,
    /// The value of the sequence.
    pub value: f64,
    /// Index of the first placement.
    pub first: usize,
}

/// A placement at the end of a sequence.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    /// Estimate of the value.
    pub value: f64,
    pub score: f64,
    /// Index of the sequence.
    pub parent: u32,
    /// Index among the placements of the layer, which decides between equals.
    pub at: u32,
    pub placement: Placement,
    /// How near a perfect clear is after it, from 0 to 1; 0 if the search does not ask.
    pub near: f64,
}

impl Growth {
    /// Number of pieces that can be placed, drawn ones included.
    pub(super) fn num_pieces(&self, sight: &Sight<'_>) -> usize {
        self.queue.len() + usize::from(sight.rules.hold && sight.held.is_some())
    }

    /// Index of the first placement of a sequence that a candidate ends.
    pub(super) fn first_of(&self, candidate: &Candidate) -> usize {
        if self.placed == 0 { candidate.at as usize } else { self.nodes[candidate.parent as usize].first }
    }

    /// The value of each first placement that has one.
    pub(super) fn values(&self) -> impl Iterator<Item = (Placement, f64)> {
        let values = if self.sums.is_empty() {
            self.bests.clone()
        } else {
            // Placements that none of the continuations began with have no value.
            let begins =
                |first| self.trunk.iter().flat_map(|(nodes, _)| nodes).any(|node| node.first == first);
            let mean = |(first, sum): (usize, &f64)| begins(first).then_some(sum / f64::from(self.samples));
            self.sums.iter().enumerate().map(mean).collect()
        };
        self.firsts.iter().copied().zip(values).filter_map(|(placement, value)| Some((placement, value?)))
    }
}

impl SequenceEnd {
    /// What the agent sees at the end of the sequence, and whether the piece in play is not known, so that the held one
    /// is placed instead. `None` if nothing is left to place.
    pub(super) fn view<'a>(&'a self, rules: &'a Rules, queue: &'a [Piece]) -> Option<(Sight<'a>, bool)> {
        let (piece, held, next, is_held) = match queue.get(self.current) {
            Some(&piece) => (piece, self.held, &queue[self.current + 1..], false),
            None => (self.held?, None, [].as_slice(), true),
        };
        let Game { playfield, lines, pieces, chain, .. } = &self.game;
        let (lines, pieces, chain) = (*lines, *pieces, *chain);
        let (incoming, odds) = (self.incoming.as_deref(), Odds::EVEN);
        let view = Sight { rules, playfield, piece, next, held, odds, lines, pieces, chain, incoming };
        Some((view, is_held))
    }

    /// The piece that a placement with or without hold places, then the held piece and the index of the one in play.
    pub(super) fn takes(&self, queue: &[Piece], hold: bool) -> (Piece, Option<Piece>, usize) {
        let current = queue.get(self.current).copied();
        match (current, self.held) {
            (Some(current), held) if !hold => (current, held, self.current + 1),
            (current, Some(held)) => (held, current, self.current + 1),
            (current, None) => (queue[self.current + 1], current, self.current + 2),
        }
    }

    /// The factor of the lines that the next piece sends.
    pub(super) fn multiplier(&self) -> f64 {
        self.incoming.as_ref().map_or(1.0, |incoming| incoming.multiplier)
    }

    /// A number that is equal for equal states.
    pub(super) fn key(&self) -> u64 {
        let held = self.held.map_or(0, |piece| 1 + piece.index() as u64);
        let state = [
            held | (self.current as u64) << 8,
            u64::from(self.game.chain.clears) | u64::from(self.game.chain.back_to_back) << 16,
            self.incoming.as_ref().map_or(0, |incoming| incoming.waiting().into()),
        ];
        let words = self.game.playfield.columns().iter().copied().chain(state);
        words.fold(0, |key, word| mix(key ^ word))
    }
}

/// Keeps the candidates with the largest values, the first of equals.
pub(super) fn keep_best(candidates: &mut Vec<Candidate>, most: usize) {
    if candidates.len() > most {
        let order = |one: &Candidate, other: &Candidate| {
            other.value.total_cmp(&one.value).then(one.at.cmp(&other.at))
        };
        candidates.select_nth_unstable_by(most, order);
        candidates.truncate(most);
    }
    candidates.sort_unstable_by_key(|candidate| candidate.at);
}

/// The pieces of a continuation, drawn by their odds. The first pieces of all continuations, of which this is one with a
/// number, are spread over the odds as evenly as can be.
pub(super) fn continuation<'a>(
    sight: &Sight<'a>,
    (sample, samples): (u16, u16),
) -> impl Iterator<Item = Piece> + use<'a> {
    let (randomizer, pieces, mut odds) = (sight.rules.randomizer, sight.rules.pieces, sight.odds);
    (0..).map(move |n| {
        let total: u64 = pieces.iter().map(|piece| u64::from(odds.of(piece))).sum();
        let drawn = odds.share(match n {
            0 => u64::from(sample) * total / u64::from(samples),
            _ => below(word(sample.into(), Tag::Agent, n), total),
        });
        odds = odds.after(randomizer, &pieces, drawn);
        drawn
    })
}
