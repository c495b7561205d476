//! The initial weights of a run, from a controller or a file.

use std::path::Path;

use anyhow::Context;

use crate::input::UsageError;
use crate::text::numbers::count;
use crate::trainer::weights::{Weights, plain_numbers, read_text};
use tetrion_core::agents::Controller;

/// The weights of a named controller or a file; 0 for features that it lacks.
///
/// # Errors
/// If no such controller or file exists, or it has a weight for a feature outside `features`.
pub fn start_weights(start: &str, features: &[String], width: u32) -> anyhow::Result<Vec<f64>> {
    let (names, weights) = named_weights(start, features, width)?;
    if let Some(other) = names.iter().find(|name| !features.contains(name)) {
        let problem = format!(
            "--start: {start} has a weight for {other}, which is not among the features of the search; see --features"
        );
        return Err(UsageError(problem).into());
    }
    Ok(in_order(features, &names, &weights))
}

/// The weights of these features in a named controller or a file. Ignores other features.
///
/// # Errors
/// If no such controller or file exists.
pub fn common_weights(start: &str, features: &[String], width: u32) -> anyhow::Result<Vec<f64>> {
    let (names, weights) = named_weights(start, features, width)?;
    Ok(in_order(features, &names, &weights))
}

fn in_order(features: &[String], names: &[String], weights: &[f64]) -> Vec<f64> {
    let weight = |feature| names.iter().position(|name| name == feature).map_or(0.0, |at| weights[at]);
    features.iter().map(weight).collect()
}

/// The weights of a named controller or a file, with their features.
fn named_weights(start: &str, features: &[String], width: u32) -> anyhow::Result<(Vec<String>, Vec<f64>)> {
    match Controller::named(start) {
        Ok(controller) => {
            let set = controller.features(u8::try_from(width)?);
            let set = set.map_err(|error| UsageError(format!("--start: {error}")))?;
            Ok((set.names(), controller.weights.to_vec()))
        }
        Err(unknown) => {
            let path = Path::new(start);
            if !path.exists() {
                return Err(UsageError(format!("--start: {unknown}, and there is no such file")).into());
            }
            read_start(path, features).with_context(|| format!("--start: {start}"))
        }
    }
}

/// The weights in a file, with their features. Plain numbers belong to the features of the search, in order.
fn read_start(path: &Path, features: &[String]) -> anyhow::Result<(Vec<String>, Vec<f64>)> {
    let text = read_text(path)?;
    if text.trim_start().starts_with('{') {
        let weights = Weights::from_json(&text)?;
        if weights.policy.model.is_some() {
            let problem = "it has a model in addition to its weights, which a search cannot start from";
            return Err(UsageError(problem.to_owned()).into());
        }
        return Ok((weights.feature_names, weights.policy.row));
    }
    let numbers = plain_numbers(&text)?;
    if numbers.len() != features.len() {
        let (found, expected) = (numbers.len(), features.len());
        let problem = format!(
            "it holds {}, expected one for each of the {expected} features of the search",
            count(found as u64, "number")
        );
        return Err(UsageError(problem).into());
    }
    Ok((features.to_vec(), numbers))
}
