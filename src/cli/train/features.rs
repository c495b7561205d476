//! The features of a run: a feature set of the server, or a list.

use crate::input::UsageError;
use tetrion_client::{FeatureSetInfo, Features};
use tetrion_core::names::unknown;
use tetrion_protocol::DecodeError;

/// Resolves a feature set or a list of features. Returns it with the names in the order of the weights.
///
/// # Errors
/// If the server does not have the feature set, or the list is invalid at this width.
pub fn resolve(
    text: &str,
    width: u32,
    known: &[FeatureSetInfo],
) -> Result<(Features, Vec<String>), UsageError> {
    match Features::parse(text) {
        Features::Set { name, .. } => {
            let Some(set) = known.iter().find(|set| set.name == name) else {
                let sets = known.iter().map(|set| set.name.as_str());
                return Err(UsageError(unknown("feature set", &name, sets)));
            };
            Ok((Features::Set { name, version: set.version.clone() }, set.columns.clone()))
        }
        Features::List(names) => {
            let width = u8::try_from(width).map_err(|error| UsageError(format!("--width: {error}")))?;
            let wrong = |error| match error {
                DecodeError::Invalid { problem, .. } => UsageError(format!("--features: {problem}")),
                error => UsageError(format!("--features: {error}")),
            };
            let names = tetrion_protocol::features::decode_list(&names, width).map_err(wrong)?.names();
            Ok((Features::List(names.clone()), names))
        }
    }
}
