//! What the weights of a run belong to: a set that the server has, or a list of features of the caller's own.

use crate::client::{FeatureSetInfo, Features};
use crate::input::UsageError;
use crate::names::unknown;
use crate::trainer::weights::FeatureSetNote;
use crate::wire;

/// The features of a run: the note of the set, with empty texts for a list, and one name a weight.
///
/// # Errors
/// A set that the server does not have, or a list that is no feature set at this width.
pub fn resolve(
    text: &str,
    width: u32,
    known: &[FeatureSetInfo],
) -> Result<(FeatureSetNote, Vec<String>), UsageError> {
    match Features::parse(text) {
        Features::Set { name, .. } => {
            let Some(set) = known.iter().find(|set| set.name == name) else {
                let sets = known.iter().map(|set| set.name.as_str());
                return Err(UsageError(unknown("feature set", &name, sets)));
            };
            Ok((FeatureSetNote { name, version: set.version.clone() }, set.columns.clone()))
        }
        Features::List(names) => {
            let width = u8::try_from(width).map_err(|error| UsageError(format!("--width: {error}")))?;
            // The field of the message is named as the flag is.
            let wrong = |error| UsageError(format!("--{error}"));
            let set = wire::features::decode_list(&names, width).map_err(wrong)?;
            Ok((FeatureSetNote { name: String::new(), version: String::new() }, set.names()))
        }
    }
}
