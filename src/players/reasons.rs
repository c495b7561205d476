//! Reasons for a placement that weights or a formula chose: features, weights and their products if there are any, and the
//! scores of other placements.

use super::pilot::{PlacementValues, seen_by_a_player, sight_of};
use tetrion_core::agents::{Kernel, LinearAgent};
use tetrion_core::engine::{Placement, land};
use tetrion_core::features::Seen;
use tetrion_toolkit::recording::{Course, SceneCells};

/// The reasons for a placement.
#[derive(Clone, Debug, PartialEq)]
pub struct Reasons {
    /// Name of the controller or the formula.
    pub controller: String,
    pub placement: Placement,
    /// Cells of the landed piece.
    pub cells: SceneCells,
    /// Features, in the order of the controller's set or in which the formula names them.
    pub terms: Vec<PlacementFeature>,
    /// Score of the placement: the sum of the products plus the model's output, or the value of the formula.
    pub score: f64,
    /// Scores of all placements that the controller considers, in ascending action order.
    pub scores: Vec<(Placement, f64)>,
}

/// A feature's value for a placement, and its weight in the score.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacementFeature {
    pub feature: String,
    pub value: f64,
    /// Weight of the feature; `None` in a formula.
    pub weight: Option<f64>,
}

impl PlacementFeature {
    /// Weight times value; 0 in a formula.
    pub fn product(&self) -> f64 {
        self.weight.map_or(0.0, |weight| weight * self.value)
    }
}

impl Reasons {
    /// Reasons for the controller's best-scored placement of the current piece; `None` if the game is over.
    pub fn of_best(name: &str, controller: &LinearAgent, course: &Course) -> Option<Reasons> {
        let values = PlacementValues::Weights(controller);
        let scores = scores(values, course);
        let mut best = *scores.first()?;
        for choice in &scores[1..] {
            if choice.1 > best.1 {
                best = *choice;
            }
        }
        Reasons::of(name, values, course, best.0)
    }

    /// Reasons for a placement; `None` if it does not exist.
    pub fn of(
        name: &str,
        values: PlacementValues<'_>,
        course: &Course,
        placement: Placement,
    ) -> Option<Reasons> {
        let rules = course.rules();
        let piece = course.hand()?.can_place(rules, course.playfield(), placement)?;
        let cells = course.resting_cells(placement)?;
        let (shape, landing) = land(rules, course.playfield(), piece, placement);
        let seen = Seen { piece, spin: placement.spin(), shape, landing: &landing };
        let (set, weights, score) = match values {
            PlacementValues::Weights(agent) => (agent.set(), agent.weights(), agent.score(&seen)),
            PlacementValues::Formula(agent) => {
                let (rules, next) = seen_by_a_player(course);
                let now = sight_of(course, &rules, &next);
                let sight = if placement.hold { now.holding()? } else { now };
                (agent.program().set(), &[][..], agent.score(&sight, &seen))
            }
        };
        let mut found = vec![0.0; set.len()];
        set.evaluate(&seen, &mut found);
        let weights = weights.iter().copied().map(Some).chain(std::iter::repeat(None));
        let terms = set.names().into_iter().zip(found).zip(weights);
        let terms =
            terms.map(|((feature, value), weight)| PlacementFeature { feature, value, weight }).collect();
        Some(Reasons {
            controller: name.to_owned(),
            placement,
            cells,
            terms,
            score,
            scores: scores(values, course),
        })
    }

    /// Scores of placements with or without hold, as the explained placement.
    pub fn scores_of_piece(&self) -> impl Iterator<Item = (Placement, f64)> + '_ {
        self.scores.iter().copied().filter(|(placement, _)| placement.hold == self.placement.hold)
    }

    /// Score of a placement, if the controller considers it.
    pub fn score_of(&self, placement: Placement) -> Option<f64> {
        self.scores.iter().find(|(other, _)| *other == placement).map(|(_, score)| *score)
    }

    /// The best score among the other placements.
    pub fn next_best(&self) -> Option<f64> {
        let others = self.scores.iter().filter(|(placement, _)| *placement != self.placement);
        others.map(|(_, score)| *score).max_by(f64::total_cmp)
    }

    /// Level of a score, from 0 for the worst to 9 for the best.
    pub fn level(&self, score: f64) -> u8 {
        let scores = || self.scores.iter().map(|(_, score)| *score);
        let (worst, best) =
            (scores().fold(f64::INFINITY, f64::min), scores().fold(f64::NEG_INFINITY, f64::max));
        // Equal scores are all the best; NaN casts to 0.
        if best > worst { (9.0 * ((score - worst) / (best - worst))).floor() as u8 } else { 9 }
    }
}

/// Scores of all placements that weights or a formula consider, in ascending action order; empty if the game is over.
fn scores(values: PlacementValues<'_>, course: &Course) -> Vec<(Placement, f64)> {
    let Some(hand) = course.hand() else { return Vec::new() };
    let kernel = Kernel::best();
    let scores = match values {
        PlacementValues::Weights(agent) => {
            agent.scores_of_hand(kernel, course.rules(), course.playfield(), hand)
        }
        PlacementValues::Formula(agent) => {
            let (rules, next) = seen_by_a_player(course);
            agent.scores_of_hand(kernel, &sight_of(course, &rules, &next))
        }
    };
    scores.into_iter().map(|choice| (choice.placement, choice.score)).collect()
}
