//! What checks the twin itself: worked examples from documents, counts that can be redone with pencil and paper, the
//! published vectors of the seeds, and games played by the literature's own program.

mod features; // drawings counted by hand, and what must hold between features on any playfield
mod games; // perft, the greedy controller, and MDPTetris' games placement for placement
mod lab; // every number of tests/data/lab_features.txt
mod rules; // shapes, placements, falling, clearing, the end of a game
mod seeds; // words, uniform sequences and bags

use tetrion_twins::{TwinPlacement, TwinPlayfield, TwinStep, feature, land};

/// Drops one tetromino onto a drawing.
fn drop(before: &str, height: usize, tetromino: char, orientation: usize, column: usize) -> TwinStep {
    let before = TwinPlayfield::drawn(before, height);
    let placement = TwinPlacement { tetromino, orientation, column };
    TwinStep { landing: land(&before, &placement), before, placement }
}

/// A feature of what a step did.
fn value(step: &TwinStep, name: &str) -> f64 {
    feature(name, &step.before, &step.landing)
}
