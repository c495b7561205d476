//! Feature selections: a named set or a list, to and from the wire.
//!
//! The wire has one convenience that [`FeatureSet`] lacks: the bare name of a family stands for all its members.

use crate::engine::Rules;
use crate::features::{FEATURE_SETS, Feature, FeatureError, FeatureSet, MAX_COLUMNS};

use super::error::{DecodeError, Fault};
use super::limits::check_name;
use super::pb;

/// Features selected by a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Features {
    /// A named set, with the version that weights were made for; an empty version accepts any.
    Set {
        /// Name of the set.
        name: String,
        /// Version of the set.
        version: String,
    },
    /// A list of features.
    List(Vec<String>),
}

impl Features {
    /// Reads the name of a set or, with a comma, a list. So `holes,` is a list of one.
    pub fn parse(text: &str) -> Features {
        if !text.contains(',') {
            return Features::Set { name: text.to_owned(), version: String::new() };
        }
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        Features::List(names.map(str::to_owned).collect())
    }

    /// The features under some rules; `None` for an empty selection.
    ///
    /// # Errors
    /// [`DecodeError`] with the fields of `FeatureSelection`.
    pub fn resolve(&self, rules: &Rules) -> Result<Option<FeatureSet>, DecodeError> {
        match self {
            Features::Set { name, version } => select(name, version, &[], rules),
            Features::List(names) => select("", "", names, rules),
        }
    }

    /// The selection as a message.
    pub fn encode(&self) -> pb::FeatureSelection {
        match self.clone() {
            Features::Set { name, version } => {
                pb::FeatureSelection { feature_set: name, feature_set_version: version, features: Vec::new() }
            }
            Features::List(features) => pb::FeatureSelection { features, ..Default::default() },
        }
    }
}

/// Reads a selection under some rules; `None` if it is absent.
///
/// # Errors
/// [`DecodeError`] with the fields of `FeatureSelection`.
pub fn decode(
    selection: Option<&pb::FeatureSelection>,
    rules: &Rules,
) -> Result<Option<FeatureSet>, DecodeError> {
    let Some(pb::FeatureSelection { feature_set, features, feature_set_version }) = selection else {
        return Ok(None);
    };
    select(feature_set, feature_set_version, features, rules)
}

/// The features of a named set, or of a list; `None` if both are empty.
fn select(
    set: &str,
    version: &str,
    features: &[String],
    rules: &Rules,
) -> Result<Option<FeatureSet>, DecodeError> {
    let Some((field, set)) = select_at(set, version, features, rules.width)? else { return Ok(None) };
    set.check_pieces(&rules.pieces).map_err(|error| DecodeError::field(field, error.to_string()))?;
    Ok(Some(set))
}

/// The features for tetrominoes at a width, with the field that names them.
fn select_at(
    set: &str,
    version: &str,
    features: &[String],
    width: u8,
) -> Result<Option<(&'static str, FeatureSet)>, DecodeError> {
    check_name("feature_set", set)?;
    check_name("feature_set_version", version)?;
    match (set, features) {
        ("", []) if version.is_empty() => Ok(None),
        ("", []) => Err(DecodeError::field("feature_set_version", "is given without a set")),
        ("", features) => {
            if !version.is_empty() {
                return Err(DecodeError::field(
                    "feature_set_version",
                    "belongs to a set, and a list is given",
                ));
            }
            decode_list(features, width).map(|set| Some(("features", set)))
        }
        (set, []) => {
            let set = FeatureSet::named(set, width).map_err(|error| {
                DecodeError::invalid(Fault::UnknownName, "feature_set", error.to_string())
            })?;
            let expected = set.version().to_string();
            if !version.is_empty() && version != expected {
                return Err(DecodeError::FeatureSetMismatch { expected, got: version.to_owned() });
            }
            Ok(Some(("feature_set", set)))
        }
        _ => {
            Err(DecodeError::field("features", "is given together with feature_set, expected one of the two"))
        }
    }
}

/// A selection that decodes to this set.
pub fn encode(set: &FeatureSet) -> pb::FeatureSelection {
    if is_named(set) {
        let (feature_set, feature_set_version) = (set.name().to_owned(), set.version().to_string());
        pb::FeatureSelection { feature_set, features: vec![], feature_set_version }
    } else {
        pb::FeatureSelection { features: set.names(), ..Default::default() }
    }
}

/// Names of the columns of a feature tensor.
pub fn encode_columns(set: &FeatureSet) -> pb::FeatureColumns {
    let pb::FeatureSelection { feature_set, feature_set_version, .. } = encode(set);
    pb::FeatureColumns { feature_set, feature_set_version, names: set.names() }
}

/// The set of a list, in which the bare name of a family stands for all its members.
///
/// # Errors
/// [`DecodeError`] with the field `features`.
pub fn decode_list(names: &[String], width: u8) -> Result<FeatureSet, DecodeError> {
    // Counted before the families are expanded; the set itself counts again afterwards.
    if names.len() > MAX_COLUMNS {
        return Err(DecodeError::field("features", FeatureError::TooMany(names.len()).to_string()));
    }
    let mut columns: Vec<String> = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        check_name(&format!("features[{i}]"), name)?;
        match family(name, width) {
            Some(members) => columns.extend(members),
            None => columns.push(name.clone()),
        }
    }
    FeatureSet::custom(&columns, width).map_err(|error| {
        let fault = match &error {
            FeatureError::UnknownFeature(_) => Fault::UnknownName,
            _ => Fault::Field,
        };
        DecodeError::invalid(fault, "features", error.to_string())
    })
}

/// Members of a family that is named without an index.
fn family(name: &str, width: u8) -> Option<impl Iterator<Item = String>> {
    let size = Feature::named(name.strip_suffix("_preclear").unwrap_or(name))?.family_size(width)?;
    Some((0..size).map(move |i| format!("{name}[{i}]")))
}

fn is_named(set: &FeatureSet) -> bool {
    FEATURE_SETS.iter().any(|row| row.name == set.name())
}
