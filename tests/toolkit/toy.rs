//! A function whose summit every search finds.

use tetrion_toolkit::optimizers::{Generation, Optimizer};

/// Score of a weight vector: 0 at `SUMMIT`, and less everywhere else.
pub fn toy(weights: &[f64]) -> f64 {
    -weights.iter().zip(SUMMIT).map(|(x, top)| (x - top) * (x - top)).sum::<f64>()
}

const SUMMIT: [f64; 3] = [1.0, -2.0, 0.5];

/// Returns toy scores to the optimiser until a generation is complete.
pub fn advance(optimizer: &mut dyn Optimizer, score: fn(&[f64]) -> f64) -> Generation {
    loop {
        let scores: Vec<f64> = optimizer.ask().candidates.iter().map(|weights| score(weights)).collect();
        if let Some(generation) = optimizer.tell(&scores).unwrap() {
            return generation;
        }
    }
}
