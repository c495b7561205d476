//! Reasons for a linear controller's placement: features, weights, their products, and the scores of other placements.

use crate::agents::{Kernel, LinearAgent};
use crate::engine::{Placement, land};
use crate::features::Seen;
use crate::recording::{Course, SceneCells};

/// The reasons for a placement.
#[derive(Clone, Debug, PartialEq)]
pub struct Reasons {
    /// Name of the controller.
    pub controller: String,
    /// The explained placement.
    pub placement: Placement,
    /// Cells of the landed piece.
    pub cells: SceneCells,
    /// Features, in the order of the controller's set.
    pub terms: Vec<Term>,
    /// Score of the placement: the sum of the products plus the model's output.
    pub score: f64,
    /// Scores of all placements that the controller considers, in ascending action order.
    pub scores: Vec<(Placement, f64)>,
}

/// A feature of a placement.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Name of the feature.
    pub feature: String,
    /// Value of the feature.
    pub value: f64,
    /// Weight of the feature.
    pub weight: f64,
}

impl Term {
    /// Weight times value.
    pub fn product(&self) -> f64 {
        self.weight * self.value
    }
}

impl Reasons {
    /// Reasons for the controller's best-scored placement of the current piece; `None` if the game is over.
    pub fn of_best(name: &str, controller: &LinearAgent, course: &Course) -> Option<Reasons> {
        let scores = scores(controller, course);
        let mut best = *scores.first()?;
        for choice in &scores[1..] {
            if choice.1 > best.1 {
                best = *choice;
            }
        }
        Reasons::of(name, controller, course, best.0)
    }

    /// Reasons for a placement; `None` if it does not exist.
    pub fn of(
        name: &str,
        controller: &LinearAgent,
        course: &Course,
        placement: Placement,
    ) -> Option<Reasons> {
        let rules = course.rules();
        let piece = course.hand()?.can_place(rules, course.playfield(), placement)?;
        let cells = course.placed(placement)?;
        let (shape, landing) = land(rules, course.playfield(), piece, placement);
        let seen = Seen { piece, spin: placement.spin(), shape, landing: &landing };
        let set = controller.set();
        let mut values = vec![0.0; set.len()];
        set.evaluate(&seen, &mut values);
        let terms = set.names().into_iter().zip(values).zip(controller.weights());
        let terms = terms.map(|((feature, value), &weight)| Term { feature, value, weight }).collect();
        Some(Reasons {
            controller: name.to_owned(),
            placement,
            cells,
            terms,
            score: controller.score(&seen),
            scores: scores(controller, course),
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

/// Scores of all placements that a controller considers, in ascending action order; empty if the game is over.
fn scores(controller: &LinearAgent, course: &Course) -> Vec<(Placement, f64)> {
    let Some(hand) = course.hand() else { return Vec::new() };
    let scores = controller.scores_of_hand(Kernel::best(), course.rules(), course.playfield(), hand);
    scores.into_iter().map(|choice| (choice.placement, choice.score)).collect()
}
