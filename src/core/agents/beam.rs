//! A controller, a formula or a network with a beam search over the pieces that it knows.
//!
//! Sequences of placements grow by one piece at a time, all to the same number of pieces, so that their values compare.
//! The value of a sequence is the sum of the landing terms of its placements ([`Terms::Landing`]), the whole score of
//! its last one, and terms of the search itself: lines sent, back-to-back, and what a perfect clear or a T has at hand.
//! After each piece the best playfields go on, and some from which a perfect clear may still follow: ten lines are worth
//! a way there that looks bad. Sequences that lead to the same state are one.
//!
//! Known are the current piece, the shown ones and the held one. The last of them is placed by holding a piece that is
//! not shown; this ends a sequence. Further pieces can be drawn by their odds: each continuation goes on from the same
//! playfields, and the first placement with the largest mean wins. All draws come from fixed seeds, as does garbage that
//! is not known, so a choice depends on nothing but what the agent sees.
//!
//! Of equals, the first wins. A sequence that ends the game is dropped. If none is left, the longest ones decide.
//!
//! [`Terms::Landing`]: super::Terms::Landing

use std::collections::HashSet;

use super::growth::{Candidate, Growth, SequenceEnd, continuation, keep_best};
use super::scored_clear::ScoredClear;
use super::worth::{LookaheadValue, Worth};
use super::{Sight, Thought, ValueFunction};
use crate::engine::{
    Chain, Clear, Game, Holes, Incoming, MAX_PREVIEW, Piece, Placement, RestedPiece, Rules, Tetromino,
    comes_to_rest, is_blocked, land,
};
use crate::features::kernel::Kernel;
use crate::features::{LowCells, Seen, spin_slot_rows};

/// Settings of a beam search. The terms are multiples of the largest weight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beam {
    /// Playfields that go on after each piece, 1 to [`Beam::MAX_PLACES`].
    pub width: u16,
    /// Further playfields that go on because a perfect clear may follow, at most [`Beam::MAX_PLACES`].
    pub perfect_clear_places: u16,
    /// Most pieces to place, the current one included, 1 to [`Beam::MAX_PIECES`].
    pub pieces: u8,
    /// Continuations to draw after the known pieces, at most [`Beam::MAX_SAMPLES`]. As many as the odds add up to, of one
    /// piece each, are all there are, so that the mean over them is exact.
    pub samples: u16,
    /// Pieces of each continuation, 1 to [`Beam::MAX_PIECES`].
    pub sample_pieces: u8,
    /// Value of a line sent.
    pub attack: f64,
    /// Value of a difficult clear as the last clear, so that the next one continues it.
    pub back_to_back: f64,
    /// Value of a perfect clear that may follow at once; less in proportion to the missing pieces.
    pub perfect_clear: f64,
    /// Value of each row that a T would fill in a spin slot, if a T is held or next.
    pub t_slot: f64,
    /// Value of a T that is held or next while there is no spin slot.
    pub t_kept: f64,
}

impl Beam {
    /// Most playfields of each kind that go on.
    pub const MAX_PLACES: u16 = 512;
    /// Most pieces of a sequence without a drawn continuation: the current, the shown and the held ones.
    pub const MAX_PIECES: u8 = MAX_PREVIEW + 2;
    /// Most continuations.
    pub const MAX_SAMPLES: u16 = 1024;
    /// The largest size of a term.
    pub const MOST_OF_A_TERM: f64 = 1e3;
    /// All known pieces, by the values of the weights alone.
    pub const DEFAULT: Beam = Beam {
        width: 16,
        perfect_clear_places: 0,
        pieces: Beam::MAX_PIECES,
        samples: 0,
        sample_pieces: 4,
        attack: 0.0,
        back_to_back: 0.0,
        perfect_clear: 0.0,
        t_slot: 0.0,
        t_kept: 0.0,
    };

    /// Most playfields that go on after a piece.
    pub(super) fn places(&self) -> u64 {
        u64::from(self.width) + u64::from(self.perfect_clear_places)
    }

    /// Most bytes that a search holds.
    pub fn bytes(&self) -> u64 {
        /// Most placements of a hand, in round numbers.
        const PLACEMENTS: u64 = 256;
        // Those that go on, those before them and those where continuations begin, and what is placed for them.
        let nodes = (3 + SPARE as u64) * (size_of::<SequenceEnd>() + size_of::<Incoming>()) as u64;
        self.places() * (nodes + 2 * PLACEMENTS * size_of::<Candidate>() as u64)
    }
}

impl Default for Beam {
    fn default() -> Beam {
        Beam::DEFAULT
    }
}

/// A controller or a formula with its beam search.
#[derive(Clone, Debug)]
pub struct BeamAgent {
    values: ValueFunction,
    beam: Beam,
    /// The settings with their terms in the units of scores.
    scaled: Beam,
}

/// The garbage that a search imagines. A game with this seed would have just that.
const IMAGINED: Holes<'static> = Holes { seed: 0x7A6F_1C35_90E2_4BD8, written: &[] };

/// Candidates that are placed for each playfield that goes on: some lead to the same state.
const SPARE: usize = 3;

impl BeamAgent {
    /// Combines a controller or a formula with a beam search whose settings are in range.
    pub(super) fn new(values: impl Into<ValueFunction>, beam: Beam) -> BeamAgent {
        let values = values.into();
        let scale = values.largest_weight();
        let Beam { attack, back_to_back, perfect_clear, t_slot, t_kept, .. } = beam;
        let scaled = Beam {
            attack: attack * scale,
            back_to_back: back_to_back * scale,
            perfect_clear: perfect_clear * scale,
            t_slot: t_slot * scale,
            t_kept: t_kept * scale,
            ..beam
        };
        BeamAgent { values, beam, scaled }
    }

    /// The function that scores placements.
    pub(crate) fn values(&self) -> &ValueFunction {
        &self.values
    }

    /// The settings of the search.
    pub(crate) fn beam(&self) -> &Beam {
        &self.beam
    }

    /// Number of steps of [`BeamAgent::grow`] for a choice.
    pub(super) fn num_steps(&self, rules: &Rules) -> u64 {
        let known = u64::from(self.beam.pieces).min(u64::from(rules.preview) + 2);
        known + u64::from(self.beam.samples) * (u64::from(self.beam.sample_pieces) + 1)
    }

    /// Lets all sequences grow by a piece. Returns the choice after the last one.
    pub(super) fn grow(&self, kernel: Kernel, sight: &Sight<'_>, thought: &mut Thought) -> Option<Placement> {
        let mut growth = thought.beam.take().unwrap_or_else(|| Box::new(self.start(sight)));
        if growth.placed < growth.most && self.grow_by_a_piece(kernel, sight, &mut growth) {
            growth.placed += 1;
            // With hold, the last known piece is placed by holding the first one that is drawn.
            let trunk = if sight.rules.hold { growth.most.max(2) - 1 } else { growth.most };
            if self.samples_of(&growth) > 0 && growth.trunk.is_none() && growth.placed == trunk {
                growth.trunk = Some((growth.nodes.clone(), growth.placed));
                growth.placed = growth.most;
            }
        } else {
            growth.placed = growth.most;
        }
        if growth.placed == growth.most && (growth.trunk.is_none() || self.go_on(sight, &mut growth)) {
            thought.decide(growth.values().map(|(placement, value)| (placement, score(value))));
            return thought.choice().or_else(|| sight.placements().first().copied());
        }
        thought.beam = Some(growth);
        None
    }

    /// The search before the first piece.
    fn start(&self, sight: &Sight<'_>) -> Growth {
        let queue: Vec<Piece> = std::iter::once(sight.piece).chain(sight.next.iter().copied()).collect();
        let Sight { rules, playfield, lines, pieces, chain, .. } = *sight;
        let chain = if rules.keeps_chain() { chain } else { Chain::default() };
        let root = SequenceEnd {
            game: Game { playfield: *playfield, lines, pieces, chain, ..Game::new(rules) },
            held: sight.held,
            current: 0,
            incoming: sight
                .rules
                .garbage
                .map(|_| Box::new(sight.incoming.copied().unwrap_or_else(|| Incoming::new(sight.rules)))),
            sum: 0.0,
            value: 0.0,
            first: 0,
        };
        let mut growth = Growth {
            known: queue.len(),
            queue,
            firsts: Vec::new(),
            nodes: vec![root],
            bests: Vec::new(),
            estimates: Vec::new(),
            placed: 0,
            most: 0,
            trunk: None,
            samples: 0,
            sums: Vec::new(),
        };
        growth.most = growth.num_pieces(sight).min(self.beam.pieces.into());
        growth
    }

    /// Number of continuations; none if not even the known pieces are all placed.
    fn samples_of(&self, growth: &Growth) -> u16 {
        if growth.most < growth.known { 0 } else { self.beam.samples }
    }

    /// Counts the values of a continuation, if one has ended, and begins the next one. Returns whether that was the last.
    fn go_on(&self, sight: &Sight<'_>, growth: &mut Growth) -> bool {
        if growth.queue.len() > growth.known {
            // A first placement whose sequences all fell behind is worth no more than the last one that did not.
            let least = growth.nodes.iter().fold(f64::INFINITY, |least, node| least.min(node.value));
            growth.sums.resize(growth.firsts.len(), 0.0);
            for ((sum, best), estimate) in growth.sums.iter_mut().zip(&growth.bests).zip(&growth.estimates) {
                *sum += best.or(*estimate).unwrap_or(least);
            }
        }
        if growth.samples == self.samples_of(growth) {
            return true;
        }
        growth.queue.truncate(growth.known);
        let pieces =
            continuation(sight, (growth.samples, self.beam.samples)).take(self.beam.sample_pieces.into());
        growth.queue.extend(pieces);
        growth.samples += 1;
        let (nodes, placed) = growth.trunk.clone().expect("where continuations begin");
        (growth.nodes, growth.placed, growth.most) = (nodes, placed, growth.num_pieces(sight));
        false
    }

    /// Places a piece at the end of all sequences, and keeps the best. Returns false, and changes nothing, if every
    /// sequence has ended.
    fn grow_by_a_piece(&self, kernel: Kernel, sight: &Sight<'_>, growth: &mut Growth) -> bool {
        let mut candidates = Vec::new();
        for parent in 0..growth.nodes.len() {
            self.look_for_candidates(kernel, sight, growth, parent, &mut candidates);
        }
        let is_root = growth.placed == 0;
        if is_root {
            growth.firsts = candidates.iter().map(|candidate: &Candidate| candidate.placement).collect();
        }
        let (mut bests, mut estimates) = (vec![None; growth.firsts.len()], vec![None; growth.firsts.len()]);
        for candidate in &candidates {
            raise(&mut estimates[growth.first_of(candidate)], candidate.value);
        }
        let Beam { width, perfect_clear_places, .. } = self.beam;
        let (width, places) = (usize::from(width), usize::from(perfect_clear_places));
        let mut near: Vec<Candidate> = Vec::new();
        if places > 0 {
            near.extend(candidates.iter().filter(|candidate| candidate.near > 0.0));
            keep_best(&mut near, SPARE * places);
        }
        keep_best(&mut candidates, SPARE * width);
        let (mut kept, mut seen) = (Vec::with_capacity(width + places), HashSet::new());
        for (candidates, most) in [(candidates, width), (near, width + places)] {
            let mut children = Vec::with_capacity(candidates.len());
            for candidate in &candidates {
                let Some(child) = self.place(sight, growth, candidate) else { continue };
                raise(&mut bests[child.first], child.value);
                children.push((child, candidate));
            }
            let mut order: Vec<usize> = (0..children.len()).collect();
            // Sorting is stable, so equals keep their order.
            order.sort_by(|&one, &other| children[other].0.value.total_cmp(&children[one].0.value));
            for at in order {
                if kept.len() == most {
                    break;
                }
                let (child, candidate) = &children[at];
                if seen.insert(child.key()) {
                    let sum = child.sum + self.landing_score(sight, growth, candidate);
                    kept.push(SequenceEnd { sum, ..child.clone() });
                }
            }
        }
        if kept.is_empty() {
            return false;
        }
        (growth.nodes, growth.bests, growth.estimates) = (kept, bests, estimates);
        true
    }

    /// Appends every placement at the end of a sequence that does not end the game.
    fn look_for_candidates(
        &self,
        kernel: Kernel,
        sight: &Sight<'_>,
        growth: &Growth,
        parent: usize,
        candidates: &mut Vec<Candidate>,
    ) {
        let node = &growth.nodes[parent];
        let playfield = &node.game.playfield;
        let rules = &*sight.rules.after(node.game.chain);
        let Some((view, is_held)) = node.view(rules, &growth.queue) else { return };
        if is_blocked(rules, playfield, view.piece) {
            return;
        }
        let hand = view.hand();
        let low = LowCells::of(playfield).filter(|_| self.looks_for_perfect_clears());
        for clear in self.values.clears_of_hand(kernel, &view) {
            let ScoredClear { placement, score, .. } = clear;
            let near = low.map_or(0.0, |low| {
                let piece = hand.piece(placement).expect("a piece of the hand");
                let (shape, row) = comes_to_rest(rules, playfield, piece, placement);
                nearness(low.after(shape, row, placement.column, clear.lines), rules.width)
            });
            candidates.push(Candidate {
                value: node.sum + score + self.worth(rules, node, &clear) + self.scaled.perfect_clear * near,
                score,
                parent: parent as u32,
                at: candidates.len() as u32,
                placement: placement.holding(placement.hold || is_held),
                near,
            });
        }
    }

    fn looks_for_perfect_clears(&self) -> bool {
        self.beam.perfect_clear_places > 0 || self.beam.perfect_clear != 0.0
    }

    /// Estimate of the terms for lines sent and back-to-back, of a placement at the end of a sequence.
    fn worth(&self, rules: &Rules, node: &SequenceEnd, clear: &ScoredClear) -> f64 {
        let ScoredClear { placement, lines, is_perfect, .. } = *clear;
        if lines == 0 || !rules.keeps_chain() {
            return self.of_chain(node.game.chain);
        }
        let clear = Clear { lines, spin: placement.spin(), is_perfect, has_garbage: false };
        let (chain, worth) = node.game.chain.then(rules.attack_table, node.multiplier(), clear);
        self.scaled.attack * f64::from(worth.attack.lines()) + self.of_chain(chain)
    }

    fn of_chain(&self, chain: Chain) -> f64 {
        if chain.back_to_back > 0 { self.scaled.back_to_back } else { 0.0 }
    }

    /// The sequence after a placement at its end, but for the landing terms; `None` if that ends the game.
    fn place(&self, sight: &Sight<'_>, growth: &Growth, candidate: &Candidate) -> Option<SequenceEnd> {
        let node = &growth.nodes[candidate.parent as usize];
        let placement = candidate.placement;
        let (piece, held, current) = node.takes(&growth.queue, placement.hold);
        let rules = &*sight.rules.after(node.game.chain);
        let (mut game, mut incoming) = (node.game, node.incoming.clone());
        let (sent, risen) = match &mut incoming {
            None => (game.place(rules, piece, placement).1, 0),
            Some(incoming) => {
                let (shape, row) = comes_to_rest(rules, &game.playfield, piece, placement);
                let (column, spin) = (placement.column, placement.spin());
                let rested = RestedPiece { shape, row, column, spin };
                let counted = game.rest_in_garbage(rules, rested, (IMAGINED, incoming), None);
                (counted.attack.lines(), incoming.just_risen)
            }
        };
        if game.end.is_some() {
            return None;
        }
        let near =
            if risen == 0 { candidate.near } else { nearness(LowCells::of(&game.playfield), rules.width) };
        let sum = node.sum + self.scaled.attack * f64::from(sent);
        let value = sum + candidate.score + self.of_chain(game.chain) + self.scaled.perfect_clear * near;
        let first = growth.first_of(candidate);
        let child = SequenceEnd { game, held, current, incoming, sum, value, first };
        Some(SequenceEnd { value: value + self.of_t(&child, growth), ..child })
    }

    /// The terms for a T that is held or next.
    fn of_t(&self, node: &SequenceEnd, growth: &Growth) -> f64 {
        let Beam { t_slot, t_kept, .. } = self.scaled;
        let next = growth.queue.get(node.current).copied();
        if (t_slot, t_kept) == (0.0, 0.0) || ![node.held, next].contains(&Some(Tetromino::T)) {
            return 0.0;
        }
        match spin_slot_rows(&node.game.playfield) {
            0 => t_kept,
            rows => t_slot * f64::from(rows),
        }
    }

    /// The landing terms of a placement at the end of a sequence.
    fn landing_score(&self, sight: &Sight<'_>, growth: &Growth, candidate: &Candidate) -> f64 {
        let node = &growth.nodes[candidate.parent as usize];
        let placement = candidate.placement;
        let (piece, ..) = node.takes(&growth.queue, placement.hold);
        let rules = &*sight.rules.after(node.game.chain);
        let (shape, landing) = land(rules, &node.game.playfield, piece, placement);
        let (view, _) = node.view(rules, &growth.queue).expect("a sequence that has gone on");
        let view = Sight { piece, ..view };
        self.values.landing_score(&view, &Seen { piece, spin: placement.spin(), shape, landing: &landing })
    }
}

/// Raises a maximum to a value.
fn raise(most: &mut Option<f64>, value: f64) {
    *most = Some(most.map_or(value, |most| most.max(value)));
}

fn score(value: f64) -> Worth {
    Worth::Score(LookaheadValue { value, otherwise: 0.0 })
}

/// How near a perfect clear is, from 0 to 1; 0 without one in reach.
fn nearness(cells: Option<LowCells>, width: u8) -> f64 {
    f64::from(cells.map_or(0, LowCells::perfect_clear_near)) / f64::from(width)
}
