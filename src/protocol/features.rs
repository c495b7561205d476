//! Feature selections: a named set or a list, to and from the wire.
//!
//! The wire has one convenience that [`FeatureSet`] lacks: the bare name of a family selects all its members.

use tetrion_core::engine::Rules;
use tetrion_core::features::{FEATURE_SETS, Feature, FeatureColumn, FeatureError, FeatureSet, MAX_COLUMNS};

use super::error::{DecodeError, Fault};
use super::limits::check_name;
use super::pb;
use super::pb::feature_selection::Kind;

/// Features selected by a caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Features {
    /// A named set, with the version that the weights belong to; an empty version accepts any.
    Set {
        name: String,
        version: String,
    },
    List(Vec<String>),
}

impl Features {
    /// Reads the name of a set or, if the text has a comma, a list. So `holes,` is a list of one.
    pub fn parse(text: &str) -> Features {
        if !text.contains(',') {
            return Features::Set { name: text.to_owned(), version: String::new() };
        }
        let names = text.split(',').map(str::trim).filter(|name| !name.is_empty());
        Features::List(names.map(str::to_owned).collect())
    }

    /// Resolves the features under some rules.
    ///
    /// # Errors
    /// [`DecodeError`] with the fields of `FeatureSelection`.
    pub fn resolve(&self, rules: &Rules) -> Result<FeatureSet, DecodeError> {
        match self {
            Features::Set { name, version } => named_set(name, version, rules),
            Features::List(names) => listed_set(names, rules),
        }
    }

    /// The selection as a message.
    pub fn encode(&self) -> pb::FeatureSelection {
        match self.clone() {
            Features::Set { name, version } => {
                pb::FeatureSelection { kind: Some(Kind::FeatureSet(name)), feature_set_version: version }
            }
            Features::List(names) => from_names(names),
        }
    }
}

impl TryFrom<&pb::FeatureSelection> for Features {
    type Error = DecodeError;

    fn try_from(selection: &pb::FeatureSelection) -> Result<Features, DecodeError> {
        let pb::FeatureSelection { kind, feature_set_version: version } = selection.clone();
        match kind {
            Some(Kind::FeatureSet(name)) => Ok(Features::Set { name, version }),
            _ if !version.is_empty() => {
                let problem = "is given without a feature_set, to which it belongs";
                Err(DecodeError::field("feature_set_version", problem))
            }
            Some(Kind::Names(pb::FeatureNames { names })) => Ok(Features::List(names)),
            None => Err(DecodeError::field("", "has no kind, expected feature_set or names")),
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
    selection.map(|selection| Features::try_from(selection)?.resolve(rules)).transpose()
}

fn named_set(name: &str, version: &str, rules: &Rules) -> Result<FeatureSet, DecodeError> {
    check_name("feature_set", name)?;
    check_name("feature_set_version", version)?;
    let set = FeatureSet::named(name, rules.width)
        .map_err(|error| DecodeError::invalid(Fault::UnknownName, "feature_set", error.to_string()))?;
    let expected = set.version().to_string();
    if !version.is_empty() && version != expected {
        return Err(DecodeError::FeatureSetMismatch { expected, got: version.to_owned() });
    }
    set.check_pieces(&rules.pieces).map_err(|error| DecodeError::field("feature_set", error.to_string()))?;
    Ok(set)
}

fn listed_set(names: &[String], rules: &Rules) -> Result<FeatureSet, DecodeError> {
    let set = decode_list(names, rules.width)?;
    for (i, name) in names.iter().enumerate() {
        let features = decode_list(std::slice::from_ref(name), rules.width)?;
        let checked = features.check_pieces(&rules.pieces);
        checked.map_err(|error| DecodeError::field(path(i), error.to_string()))?;
    }
    Ok(set)
}

/// The message of a set by its name.
pub fn from_set(name: &str) -> pb::FeatureSelection {
    let kind = Some(Kind::FeatureSet(name.to_owned()));
    pb::FeatureSelection { kind, feature_set_version: String::new() }
}

/// The message of an explicit list of features.
pub fn from_names(names: Vec<String>) -> pb::FeatureSelection {
    let kind = Some(Kind::Names(pb::FeatureNames { names }));
    pb::FeatureSelection { kind, feature_set_version: String::new() }
}

/// A selection that decodes to this set.
pub fn encode(set: &FeatureSet) -> pb::FeatureSelection {
    if is_named(set) {
        pb::FeatureSelection { feature_set_version: set.version().to_string(), ..from_set(set.name()) }
    } else {
        from_names(set.names())
    }
}

/// Names of the columns of a feature tensor.
pub fn encode_columns(set: &FeatureSet) -> pb::FeatureColumns {
    let (name, version) =
        if is_named(set) { (set.name().to_owned(), set.version().to_string()) } else { Default::default() };
    pb::FeatureColumns { feature_set: name, feature_set_version: version, names: set.names() }
}

/// The set of a list, in which the bare name of a family selects all its members.
///
/// # Errors
/// [`DecodeError`] with the path `names.names` or the path of the first invalid name.
pub fn decode_list(names: &[String], width: u8) -> Result<FeatureSet, DecodeError> {
    // Counted before families are expanded; the set counts again afterwards.
    if names.is_empty() {
        return Err(DecodeError::field("names.names", "is empty, expected at least one feature"));
    }
    if names.len() > MAX_COLUMNS {
        return Err(DecodeError::field("names.names", FeatureError::TooMany(names.len()).to_string()));
    }
    let mut columns: Vec<String> = Vec::with_capacity(names.len());
    // For each column, the index of its name in the list.
    let mut owners: Vec<usize> = Vec::with_capacity(names.len());
    for (i, name) in names.iter().enumerate() {
        check_name(&path(i), name)?;
        match family(name, width) {
            Some(members) => columns.extend(members),
            None => columns.push(name.clone()),
        }
        owners.resize(columns.len(), i);
    }
    FeatureSet::custom(&columns, width).map_err(|error| {
        let fault = match &error {
            FeatureError::UnknownFeature(_) => Fault::UnknownName,
            _ => Fault::Field,
        };
        let first = match &error {
            FeatureError::TooMany(_) => None,
            FeatureError::Repeated(name) => (0..columns.len()).filter(|at| columns[*at] == *name).nth(1),
            _ => columns.iter().position(|name| FeatureColumn::parse(name, width).is_err()),
        };
        let path = first.map_or_else(|| "names.names".to_owned(), |at| path(owners[at]));
        DecodeError::invalid(fault, path, error.to_string())
    })
}

/// The path of a name of a list.
fn path(i: usize) -> String {
    format!("names.names[{i}]")
}

/// Members of a family that is named without an index.
fn family(name: &str, width: u8) -> Option<impl Iterator<Item = String>> {
    let size = Feature::named(name.strip_suffix("_preclear").unwrap_or(name))?.family_size(width)?;
    Some((0..size).map(move |i| format!("{name}[{i}]")))
}

fn is_named(set: &FeatureSet) -> bool {
    FEATURE_SETS.iter().any(|row| row.name == set.name())
}
