//! The features of a run: a feature set of the server, or a list.

use crate::input::UsageError;
use tetrion_client::{FeatureSetInfo, Features};
use tetrion_core::names::unknown;
use tetrion_protocol::DecodeError;

/// The features whose weights a run trains, as a set or as a list.
#[derive(Debug)]
pub struct RunFeatures {
    /// The feature set; empty for a list.
    pub set: String,
    /// Version of the feature set; empty for a list.
    pub version: String,
    /// Names in the order of the weights.
    pub names: Vec<String>,
}

/// Resolves a feature set or a list of features.
///
/// # Errors
/// If the server does not have the feature set, or the list is invalid at this width.
pub fn resolve(text: &str, width: u32, known: &[FeatureSetInfo]) -> Result<RunFeatures, UsageError> {
    match Features::parse(text) {
        Features::Set { name, .. } => {
            let Some(set) = known.iter().find(|set| set.name == name) else {
                let sets = known.iter().map(|set| set.name.as_str());
                return Err(UsageError(unknown("feature set", &name, sets)));
            };
            Ok(RunFeatures { set: name, version: set.version.clone(), names: set.columns.clone() })
        }
        Features::List(names) => {
            let width = u8::try_from(width).map_err(|error| UsageError(format!("--width: {error}")))?;
            let wrong = |error| match error {
                DecodeError::Invalid { problem, .. } => UsageError(format!("--features: {problem}")),
                error => UsageError(format!("--features: {error}")),
            };
            let set = tetrion_protocol::features::decode_list(&names, width).map_err(wrong)?;
            Ok(RunFeatures { set: String::new(), version: String::new(), names: set.names() })
        }
    }
}
