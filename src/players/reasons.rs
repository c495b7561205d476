//! Why a linear controller places a piece where it does: features, weights, their products, and what the other placements
//! score.

use crate::agents::{Kernel, LinearAgent};
use crate::engine::{Placement, land};
use crate::features::Seen;
use crate::recording::{Course, SceneCells};

/// The reasons for a placement.
#[derive(Clone, Debug, PartialEq)]
pub struct Reasons {
    /// The controller.
    pub controller: String,
    /// The placement that is explained.
    pub placement: Placement,
    /// Where its piece comes to rest.
    pub cells: SceneCells,
    /// Its features, in the order of the controller's set.
    pub terms: Vec<Term>,
    /// Its score: the sum of the products, and what a model adds.
    pub score: f64,
    /// The score of every placement that the controller considers, in ascending action order.
    pub scores: Vec<(Placement, f64)>,
}

/// A feature of a placement.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Its name.
    pub feature: String,
    /// What it is.
    pub value: f64,
    /// What it is multiplied by.
    pub weight: f64,
}

impl Term {
    /// Weight times feature.
    pub fn product(&self) -> f64 {
        self.weight * self.value
    }
}

impl Reasons {
    /// Why the controller would place the piece in play where it would, by the scores alone; none if the game is over.
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

    /// The same for a placement; none if there is no such placement.
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

    /// Those of the same piece: of the one in play, or of the one that it is held for.
    pub fn scores_of_piece(&self) -> impl Iterator<Item = (Placement, f64)> + '_ {
        self.scores.iter().copied().filter(|(placement, _)| placement.hold == self.placement.hold)
    }

    /// The score of a placement, if the controller considers it.
    pub fn score_of(&self, placement: Placement) -> Option<f64> {
        self.scores.iter().find(|(other, _)| *other == placement).map(|(_, score)| *score)
    }

    /// The best score among the other placements.
    pub fn next_best(&self) -> Option<f64> {
        let others = self.scores.iter().filter(|(placement, _)| *placement != self.placement);
        others.map(|(_, score)| *score).max_by(f64::total_cmp)
    }

    /// How a score stands between the worst, 0, and the best, 9.
    pub fn level(&self, score: f64) -> u8 {
        let scores = || self.scores.iter().map(|(_, score)| *score);
        let (worst, best) =
            (scores().fold(f64::INFINITY, f64::min), scores().fold(f64::NEG_INFINITY, f64::max));
        // Equal scores are all the best one; the cast of what is no number is 0.
        if best > worst { (9.0 * ((score - worst) / (best - worst))).floor() as u8 } else { 9 }
    }
}

/// The score of every placement that a controller considers, in ascending action order; none if the game is over.
fn scores(controller: &LinearAgent, course: &Course) -> Vec<(Placement, f64)> {
    let Some(hand) = course.hand() else { return Vec::new() };
    let scores = controller.scores_of_hand(Kernel::best(), course.rules(), course.playfield(), hand);
    scores.into_iter().map(|choice| (choice.placement, choice.score)).collect()
}
