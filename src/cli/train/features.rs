//! The features of a run: a feature set of the server, or a list.

use crate::client::{FeatureSetInfo, Features};
use crate::input::UsageError;
use crate::names::unknown;
use crate::trainer::weights::FeatureSetNote;
use crate::wire;

/// The features of a run: the note of the set, which is empty for a list, and one name per weight.
///
/// # Errors
/// For a feature set that the server does not have, or an invalid list at this width.
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
            // The flag has the name of the message's field.
            let wrong = |error| UsageError(format!("--{error}"));
            let set = wire::features::decode_list(&names, width).map_err(wrong)?;
            Ok((FeatureSetNote { name: String::new(), version: String::new() }, set.names()))
        }
    }
}
