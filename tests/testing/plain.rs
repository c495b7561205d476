//! What controllers that consider hidden pieces choose, from the definition on cells.

use tetrion_core::agents::{Expectation, LinearAgent, Terms};
use tetrion_core::engine::{Piece, Placement, Playfield, Rules, placements};
use tetrion_core::features::kernel::ScoredPlacement;
use tetrion_twins::{self as twin, TwinLanding, TwinModel, TwinPlacement, TwinPlayfield};

/// The choice of a controller that measures one landing at a time, with the features' own functions.
pub fn choose_plainly(
    agent: &LinearAgent,
    rules: &Rules,
    playfield: &Playfield,
    piece: Piece,
) -> ScoredPlacement {
    let placement = placements(rules, playfield, piece).nth(0).expect("a piece that can be played");
    let first = ScoredPlacement { placement, score: f64::NEG_INFINITY };
    let scores = agent.scores(rules, playfield, piece).into_iter();
    scores.fold(first, |best, other| if other.score > best.score { other } else { best })
}

/// A controller on cells, and how it weighs the pieces to come.
#[derive(Debug)]
pub struct Plain<'a> {
    pub features: &'a [&'a str],
    pub weights: &'a [f64],
    /// What is added to the sum of weight times feature, with its parameters.
    pub model: Option<(&'a TwinModel, &'a [f32])>,
    pub avoids_the_end: bool,
    pub expectation: Expectation,
}

/// Features that belong to a landing, and not to the playfield it leads to.
const OF_LANDINGS: [&str; 3] = ["landing_height", "eroded_piece_cells", "lines_cleared"];

impl Plain<'_> {
    fn lost(&self) -> f64 {
        let parameters = self.model.map_or(&[][..], |(_, parameters)| parameters);
        let numbers = self.weights.iter().copied().chain(parameters.iter().map(|number| f64::from(*number)));
        self.expectation.lost_piece * numbers.fold(0.0, |most: f64, number| most.max(number.abs()))
    }

    /// The score of a landing, the model included.
    pub fn score(&self, before: &TwinPlayfield, landing: &TwinLanding) -> f64 {
        let sum = twin::score(self.features, self.weights, before, landing);
        let Some((model, parameters)) = self.model else { return sum };
        let features: Vec<f64> =
            self.features.iter().map(|name| twin::feature(name, before, landing)).collect();
        sum + f64::from(model.output(parameters, &features, &landing.afterstate))
    }

    /// The placements that another piece follows and that are looked at, in their order.
    fn looked_at(&self, playfield: &TwinPlayfield, piece: char) -> Vec<TwinPlacement> {
        let all = twin::placements(playfield, piece);
        let mut scored: Vec<(usize, f64)> = all
            .iter()
            .enumerate()
            .map(|(index, placement)| (index, twin::land(playfield, placement)))
            .filter(|(_, landing)| !(landing.terminal && self.avoids_the_end))
            .map(|(index, landing)| (index, self.score(playfield, &landing)))
            .collect();
        while scored.len() > usize::from(self.expectation.placements) {
            let smallest = scored.iter().map(|(_, score)| *score).fold(f64::INFINITY, f64::min);
            let last = scored.iter().rposition(|(_, score)| *score == smallest).unwrap();
            scored.remove(last);
        }
        scored.into_iter().map(|(index, _)| all[index]).collect()
    }

    fn value(
        &self,
        playfield: &TwinPlayfield,
        placement: &TwinPlacement,
        shown: &[char],
        odds: &[(char, f64)],
        pieces: u8,
    ) -> f64 {
        let landing = twin::land(playfield, placement);
        let (features, weights): (Vec<&str>, Vec<f64>) = (self.features.iter().zip(self.weights))
            .filter(|(feature, _)| OF_LANDINGS.contains(feature))
            .unzip();
        let terms = match self.expectation.terms {
            Terms::Landing => twin::score(&features, &weights, playfield, &landing),
            Terms::All => self.score(playfield, &landing),
            Terms::None => 0.0,
        };
        let after = &landing.afterstate;
        let last = |piece: char| {
            let landings = twin::placements(after, piece).into_iter().map(|next| twin::land(after, &next));
            let scores = landings
                .filter(|next| !(landing.terminal || next.terminal && self.avoids_the_end))
                .map(|next| self.score(after, &next));
            scores.reduce(f64::max).unwrap_or(self.lost())
        };
        let next = match shown {
            [] => {
                let total: f64 = odds.iter().map(|(_, odds)| odds).sum();
                let mean = |number: &dyn Fn(char) -> f64| {
                    odds.iter().map(|(piece, odds)| odds * number(*piece)).sum::<f64>() / total
                };
                let middle = mean(&last);
                middle - self.expectation.caution * mean(&|piece| (last(piece) - middle).powi(2)).sqrt()
            }
            [piece, ..] if pieces == 1 || landing.terminal => last(*piece),
            [piece, rest @ ..] => {
                let values = self.looked_at(after, *piece);
                let values = values.iter().map(|next| self.value(after, next, rest, odds, pieces - 1));
                values.reduce(f64::max).unwrap_or(self.lost())
            }
        };
        terms + self.expectation.discount * next
    }

    pub fn choose(
        &self,
        playfield: &TwinPlayfield,
        piece: char,
        shown: &[char],
        odds: &[(char, f64)],
    ) -> Placement {
        let candidates = self.looked_at(playfield, piece);
        let values: Vec<f64> = candidates
            .iter()
            .map(|placement| self.value(playfield, placement, shown, odds, self.expectation.pieces))
            .collect();
        let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let chosen = values.iter().position(|value| *value == largest);
        let chosen = chosen.map_or(twin::placements(playfield, piece)[0], |chosen| candidates[chosen]);
        Placement::straight(chosen.orientation as u8, chosen.column as u8)
    }
}
