//! Lists of features, resolved for a width: named lists, and callers' own.

use std::fmt;
use std::sync::Arc;

use super::kernel::set::{KernelColumn, KernelSet};
use super::named_sets::FEATURE_SETS;
use super::seen::Seen;
use super::table::{FEATURES, Feature, Measure};
use crate::engine::{PieceSet, Playfield};
use crate::names::{did_you_mean, unknown};

/// Most features of a set.
///
/// The largest named set has 72 at width 32. Sets are prepared and returned in full, so they need a limit.
pub const MAX_COLUMNS: usize = 256;

/// Suffix of the name of a feature measured before clearing.
const PRECLEAR: &str = "_preclear";

/// One feature of a set: a single number.
#[derive(Clone, Copy, Debug)]
pub struct FeatureColumn {
    /// Row of the feature table, which says what to measure.
    pub feature: &'static Feature,
    /// Index in a family, below [`Feature::family_size`] at the width of the set; 0 for a single feature.
    pub index: u8,
    /// Whether the feature is measured before clearing. Never true for a feature of a landing.
    pub preclear: bool,
}

/// A list of features, resolved for one width: the meaning of each number of a feature vector. Clones share one list.
#[derive(Clone, Debug)]
pub struct FeatureSet {
    name: &'static str,
    version: u32,
    width: u8,
    columns: Arc<[FeatureColumn]>,
    /// The set in the kernels' form, if they support all of its features.
    on_kernels: Option<KernelSet>,
}

/// The reason why a set of features is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FeatureError {
    /// No set has that name.
    #[error("{}", unknown_set(.0))]
    UnknownSet(String),
    /// No feature has that name.
    #[error("{}", unknown_feature(.0))]
    UnknownFeature(String),
    /// The name of a family without an index.
    #[error("{name} is a family of features, expected {name}[0] to {name}[{last}] at width {width}")]
    IndexMissing {
        name: String,
        /// Last index of the family.
        last: u8,
        /// The width of the playfield.
        width: u8,
    },
    /// The index does not exist, or the feature has none.
    #[error("{name:?} has a wrong index, expected {expected} at width {width}")]
    IndexWrong {
        /// The name as it was given.
        name: String,
        /// The valid indices, in words.
        expected: String,
        /// The width of the playfield.
        width: u8,
    },
    /// `_preclear` on a feature of a landing, which is measured before clearing by definition.
    #[error("{0} belongs to the landing and has no _preclear form")]
    NoPreclear(&'static str),
    /// A feature about tetrominoes, but the game has other pieces.
    #[error("{0} is about the seven tetrominoes, expected a feature of any pieces: the game has others")]
    OfTetrominoes(&'static str),
    /// A repeated feature, whose two weights would be one.
    #[error("feature {0:?} is listed twice")]
    Repeated(String),
    /// An empty list of features.
    #[error("the list of features is empty")]
    Empty,
    /// A list of more than [`MAX_COLUMNS`] features.
    #[error("{0} features are listed, expected at most {MAX_COLUMNS}")]
    TooMany(usize),
}

impl FeatureSet {
    /// Checks that all features are defined for these pieces.
    ///
    /// # Errors
    /// [`FeatureError::OfTetrominoes`] for the first feature about tetrominoes, if the game has other pieces.
    pub fn check_pieces(&self, pieces: &PieceSet) -> Result<(), FeatureError> {
        match self.columns.iter().find(|column| column.feature.tetrominoes_only) {
            Some(column) if !pieces.is_tetrominoes() => Err(FeatureError::OfTetrominoes(column.feature.name)),
            _ => Ok(()),
        }
    }

    /// Resolves a named set for a width.
    ///
    /// ```
    /// use tetrion_core::features::FeatureSet;
    /// let set = FeatureSet::named("bertsekas", 4).unwrap();
    /// assert_eq!(set.len(), 9);
    /// assert_eq!(set.names()[3..5], ["column_height[3]", "height_difference[0]"]);
    /// ```
    ///
    /// # Errors
    /// [`FeatureError::UnknownSet`].
    pub fn named(name: &str, width: u8) -> Result<FeatureSet, FeatureError> {
        let Some(row) = FEATURE_SETS.iter().find(|row| row.name == name) else {
            return Err(FeatureError::UnknownSet(name.to_owned()));
        };
        let mut columns = Vec::new();
        for member in row.members {
            match member.strip_suffix("[i]") {
                None => columns.push(FeatureColumn::parse(member, width)?),
                Some(family) => {
                    let last = FeatureColumn::parse(&format!("{family}[0]"), width)?;
                    let size = last.feature.family_size(width).unwrap_or(0);
                    columns.extend((0..size).map(|index| FeatureColumn { index, ..last }));
                }
            }
        }
        Ok(FeatureSet::new(row.name, row.version, width, &columns))
    }

    /// Resolves a caller's own list in the given order; its name is `custom`.
    ///
    /// The names are those of [`FEATURES`](super::FEATURES): `holes`, `holes_preclear`, and for one member of a family
    /// `column_height[3]`, `column_height_preclear[3]`.
    ///
    /// # Errors
    /// If a name is unknown, has a wrong index or is repeated, or if the list is empty or longer than [`MAX_COLUMNS`].
    pub fn custom<S: AsRef<str>>(names: &[S], width: u8) -> Result<FeatureSet, FeatureError> {
        if names.is_empty() {
            return Err(FeatureError::Empty);
        }
        if names.len() > MAX_COLUMNS {
            return Err(FeatureError::TooMany(names.len()));
        }
        let mut columns: Vec<FeatureColumn> = Vec::with_capacity(names.len());
        for name in names {
            let column = FeatureColumn::parse(name.as_ref(), width)?;
            if columns.contains(&column) {
                return Err(FeatureError::Repeated(name.as_ref().to_owned()));
            }
            columns.push(column);
        }
        Ok(FeatureSet::new("custom", 1, width, &columns))
    }

    fn new(name: &'static str, version: u32, width: u8, columns: &[FeatureColumn]) -> FeatureSet {
        let on_kernels = columns.iter().map(FeatureColumn::on_kernels).collect::<Option<Vec<_>>>();
        FeatureSet {
            name,
            version,
            width,
            columns: columns.into(),
            on_kernels: on_kernels.map(KernelSet::new),
        }
    }

    /// Name of the set; `custom` for a caller's own list.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Version of the set. Increases whenever a landing's numbers could change.
    pub fn version(&self) -> u32 {
        self.version
    }

    /// Width of the playfields for which the set is resolved.
    pub fn width(&self) -> u8 {
        self.width
    }

    /// Length of a feature vector; never 0.
    #[allow(clippy::len_without_is_empty)] // it would always be false
    pub fn len(&self) -> usize {
        self.columns.len()
    }

    /// The meaning of each number, in order.
    pub fn columns(&self) -> &[FeatureColumn] {
        &self.columns
    }

    /// Full name of each number, in order. [`FeatureSet::custom`] creates the same set from them.
    ///
    /// ```
    /// use tetrion_core::features::FeatureSet;
    ///
    /// let set = FeatureSet::custom(&["holes", "bumpiness"], 10)?;
    /// assert_eq!(set.names(), ["holes", "bumpiness"]);
    /// # Ok::<(), tetrion_core::features::FeatureError>(())
    /// ```
    pub fn names(&self) -> Vec<String> {
        self.columns.iter().map(FeatureColumn::to_string).collect()
    }

    /// The set in the kernels' form, if they support all of its features.
    pub(super) fn on_kernels(&self) -> Option<&KernelSet> {
        self.on_kernels.as_ref()
    }

    /// Computes the feature vector of a landing.
    ///
    /// # Panics
    /// If the length of `out` is not the set's, or the width of the playfield is not.
    pub fn evaluate(&self, seen: &Seen<'_>, out: &mut [f64]) {
        assert_eq!(out.len(), self.len(), "room for each feature");
        assert_eq!(seen.landing.afterstate.width(), self.width, "a playfield of the set's width");
        for (value, column) in out.iter_mut().zip(self.columns()) {
            *value = column.of_landing(seen);
        }
    }

    /// Rough time of [`FeatureSet::evaluate`] for a playfield of this height, in nanoseconds.
    pub fn nanoseconds(&self, height: u8) -> u64 {
        let cells = u64::from(self.width) * u64::from(height);
        // The function of a feature that the kernels support also works on whole columns or rows.
        let slow = if self.on_kernels.is_some() { cells / 8 } else { cells };
        let nanoseconds = |feature: &Feature| match feature.measure {
            Measure::Playfield(_) => slow,
            Measure::Search(_) => 5 * cells,
            Measure::Landing(_) | Measure::LandingSeven(_) | Measure::Column(_) | Measure::Pair(_) => 10,
            Measure::Seven(_) => 10 * u64::from(self.width),
        };
        self.columns.iter().map(|column| nanoseconds(column.feature)).sum()
    }

    /// Computes the feature vector of a playfield without a landing. Features of landings are 0, and features before
    /// clearing use the playfield as it is.
    ///
    /// # Panics
    /// Under the conditions of [`FeatureSet::evaluate`].
    pub fn of_playfield(&self, playfield: &Playfield, out: &mut [f64]) {
        assert_eq!(out.len(), self.len(), "room for each feature");
        assert_eq!(playfield.width(), self.width, "a playfield of the set's width");
        for (value, column) in out.iter_mut().zip(self.columns()) {
            *value = column.of_playfield(playfield);
        }
    }
}

impl FeatureColumn {
    /// Reads a full name: `holes`, `holes_preclear`, `column_height[3]`, `column_height_preclear[3]`.
    ///
    /// # Errors
    /// [`FeatureError`] for a name that is unknown or does not exist at this width.
    pub fn parse(name: &str, width: u8) -> Result<FeatureColumn, FeatureError> {
        let (family, index) = match name.split_once('[') {
            None => (name, None),
            Some((family, indexed)) => match indexed.split_once(']') {
                Some((index, "")) => (family, Some(index)),
                _ => return Err(FeatureError::UnknownFeature(name.to_owned())),
            },
        };
        let (base, preclear) = match family.strip_suffix(PRECLEAR) {
            Some(base) => (base, true),
            None => (family, false),
        };
        let Some(feature) = Feature::named(base) else {
            return Err(FeatureError::UnknownFeature(name.to_owned()));
        };
        if preclear && feature.is_of_landing() {
            return Err(FeatureError::NoPreclear(feature.name));
        }
        let wrong = |expected| FeatureError::IndexWrong { name: name.to_owned(), expected, width };
        let index = match (feature.family_size(width), index) {
            (None, None) => 0,
            (None, Some(_)) => return Err(wrong("none".to_owned())),
            (Some(size), None) => {
                return Err(FeatureError::IndexMissing { name: name.to_owned(), last: size - 1, width });
            }
            // A number can be written in only one way, so that a feature has only one name.
            (Some(size), Some(digits)) => (digits.parse::<u8>().ok())
                .filter(|index| *index < size && index.to_string() == digits)
                .ok_or_else(|| wrong(format!("0 to {}", size - 1)))?,
        };
        Ok(FeatureColumn { feature, index, preclear })
    }

    /// The column in the kernels' form, if they support the feature.
    fn on_kernels(&self) -> Option<KernelColumn> {
        let FeatureColumn { feature, index, preclear } = *self;
        Some(KernelColumn { feature: feature.kernel?, index, preclear })
    }

    /// Value of the feature for a landing.
    pub(crate) fn of_landing(&self, seen: &Seen<'_>) -> f64 {
        match self.feature.measure {
            Measure::Landing(measure) => measure(seen),
            Measure::LandingSeven(measure) => measure(seen, self.index.into()),
            _ if self.preclear => self.of_playfield(&seen.landing.locked),
            _ => self.of_playfield(&seen.landing.afterstate),
        }
    }

    /// Value of the feature for a playfield; 0 for a feature of a landing.
    fn of_playfield(&self, playfield: &Playfield) -> f64 {
        self.feature.of_playfield(playfield, self.index)
    }
}

/// Columns are equal if they mean the same number.
impl PartialEq for FeatureColumn {
    fn eq(&self, other: &FeatureColumn) -> bool {
        let identity = |column: &FeatureColumn| (column.feature.name, column.index, column.preclear);
        identity(self) == identity(other)
    }
}

impl Eq for FeatureColumn {}

/// The full name, such as `holes`, or with an index for a member of a family.
impl fmt::Display for FeatureColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.feature.name)?;
        f.write_str(if self.preclear { PRECLEAR } else { "" })?;
        if self.feature.is_family() {
            write!(f, "[{}]", self.index)?;
        }
        Ok(())
    }
}

fn unknown_set(name: &str) -> String {
    let known = || FEATURE_SETS.iter().map(|row| row.name);
    if Feature::named(name).is_some() {
        let known = known().collect::<Vec<_>>().join(", ");
        return format!(
            "{name:?} is a feature and no feature set, expected a list of features or one of {known}"
        );
    }
    unknown("feature set", name, known())
}

fn unknown_feature(name: &str) -> String {
    let known: Vec<String> = FEATURES.iter().map(Feature::pattern).collect();
    let preclear: Vec<String> = (FEATURES.iter().filter(|feature| !feature.is_of_landing()))
        .map(|feature| match feature.pattern().strip_suffix("[i]") {
            Some(family) => format!("{family}{PRECLEAR}[i]"),
            None => format!("{}{PRECLEAR}", feature.name),
        })
        .collect();
    let wrong = if FEATURE_SETS.iter().any(|row| row.name == name) {
        format!("{name:?} is a feature set and no feature,")
    } else {
        let meant = did_you_mean(name, known.iter().chain(&preclear).map(String::as_str));
        format!("no feature is called {name:?}{meant}")
    };
    let known = known.join(", ");
    format!("{wrong} expected one of {known}; with {PRECLEAR}, measured before clearing")
}
