//! Weighted sums as text.

use tetrion_core::features::FeatureSet;

/// A controller's weighted sum as text, with every bit of its weights.
pub fn weighted_sum(set: &FeatureSet, weights: &[f64]) -> String {
    let terms: Vec<String> =
        set.names().iter().zip(weights).map(|(name, weight)| format!("{weight:?} * {name}")).collect();
    terms.join(" + ")
}
