//! How a controller or a formula uses the pieces after the current one: the methods, and the settings of each, one row
//! per setting.
//!
//! Requests and the text of flags ([`Search::from_str`]) loop over the rows. Only the struct [`Expectation`] and the
//! protocol's message list the settings once more.

use std::fmt;
use std::str::FromStr;

use super::{Expectation, Terms};
use crate::engine::{ChoiceValue, MAX_PREVIEW, NamedChoice};
use crate::names::unknown;

/// The way a linear controller uses the pieces after the current one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Search {
    /// No use: chooses the placement with the largest score.
    #[default]
    Greedy,
    /// Adds the best scores of shown pieces.
    Lookahead {
        /// Number of shown pieces to consider, at least 1.
        pieces: u32,
    },
    /// Adds the best value that the next pieces can reach, with the exact mean over a hidden piece.
    Expectation(Expectation),
}

/// A setting of a search, for code that loops over all of them.
#[derive(Clone, Copy, Debug)]
pub struct SearchSetting<S: 'static> {
    /// Name in requests and flags.
    pub name: &'static str,
    /// Meaning of the setting, as a phrase without a full stop.
    pub about: &'static str,
    /// Values of the setting, and functions that read and write it.
    pub kind: SettingKind<S>,
}

/// The values of a setting, with functions that read it and write it. A write function only gets values within bounds.
#[derive(Clone, Copy, Debug)]
pub enum SettingKind<S: 'static> {
    /// A whole number within the bounds.
    Count { least: u8, most: u8, get: fn(&S) -> u32, set: fn(&mut S, u8) },
    /// A number within the bounds.
    Number { least: f64, most: f64, get: fn(&S) -> f64, set: fn(&mut S, f64) },
    /// One of a list of named values, by its number.
    Choice { values: &'static [ChoiceValue], get: fn(&S) -> u8, set: fn(&mut S, u8) },
}

/// The setting of [`Search::Lookahead`], whose number of pieces is the value itself.
pub static LOOKAHEAD_SETTINGS: [SearchSetting<u32>; 1] = [SearchSetting {
    name: "pieces",
    about: "Next pieces to search; the rules must show them",
    kind: SettingKind::Count {
        least: 1,
        most: MAX_PREVIEW,
        get: |pieces| *pieces,
        set: |pieces, value| *pieces = value.into(),
    },
}];

/// The settings of [`Search::Expectation`].
pub static EXPECTATION_SETTINGS: [SearchSetting<Expectation>; 6] = [
    SearchSetting {
        name: "pieces",
        about: "Depth in pieces after the placed one; the rules must show all but the last",
        kind: SettingKind::Count {
            least: 1,
            most: Expectation::MAX_PIECES,
            get: |expectation| expectation.pieces.into(),
            set: |expectation, pieces| expectation.pieces = pieces,
        },
    },
    SearchSetting {
        name: "placements",
        about: "Placements to expand per piece except the last, best first",
        kind: SettingKind::Count {
            least: 1,
            most: Expectation::MAX_PLACEMENTS,
            get: |expectation| expectation.placements.into(),
            set: |expectation, placements| expectation.placements = placements,
        },
    },
    SearchSetting {
        name: "lost_piece",
        about: "Value of losing the game, in multiples of the largest weight",
        kind: SettingKind::Number {
            least: Expectation::LEAST_LOST_PIECE,
            most: 0.0,
            get: |expectation| expectation.lost_piece,
            set: |expectation, value| expectation.lost_piece = value,
        },
    },
    SearchSetting {
        name: "discount",
        about: "Discount per piece",
        kind: SettingKind::Number {
            least: 0.0,
            most: 1.0,
            get: |expectation| expectation.discount,
            set: |expectation, factor| expectation.discount = factor,
        },
    },
    SearchSetting {
        name: "terms",
        about: "Terms of a placement's score that count if another piece follows",
        kind: SettingKind::Choice {
            values: <Terms as NamedChoice>::VALUES,
            get: |expectation| expectation.terms.number(),
            set: |expectation, number| expectation.terms = Terms::from_number(number).unwrap_or_default(),
        },
    },
    SearchSetting {
        name: "caution",
        about: "Standard deviations to subtract from the mean over hidden pieces",
        kind: SettingKind::Number {
            least: 0.0,
            most: Expectation::MOST_CAUTION,
            get: |expectation| expectation.caution,
            set: |expectation, deviations| expectation.caution = deviations,
        },
    },
];

impl<S> SearchSetting<S> {
    /// The values of the setting, in words.
    pub fn expects(&self) -> String {
        match self.kind {
            SettingKind::Count { least, most, .. } => format!("{least} to {most}"),
            SettingKind::Number { least, most, .. } => format!("{least} to {most}"),
            SettingKind::Choice { values, .. } => {
                let names: Vec<&str> = values.iter().map(|value| value.name).collect();
                format!("one of {}", names.join(", "))
            }
        }
    }

    /// The value of the setting, as text.
    pub fn value(&self, settings: &S) -> String {
        match self.kind {
            SettingKind::Count { get, .. } => get(settings).to_string(),
            SettingKind::Number { get, .. } => get(settings).to_string(),
            SettingKind::Choice { values, get, .. } => {
                let value = values.iter().find(|value| value.number == get(settings));
                value.map_or_else(String::new, |value| value.name.to_owned())
            }
        }
    }

    /// Sets a number, or a choice by its number.
    ///
    /// # Errors
    /// The expected values, if the number is not one of them.
    pub fn set(&self, settings: &mut S, number: f64) -> Result<(), String> {
        // As a whole number where one is expected; anything else is out of bounds.
        let whole = || Some(number as u8).filter(|whole| f64::from(*whole) == number);
        let is_set = match self.kind {
            SettingKind::Count { least, most, set, .. } => {
                whole().filter(|whole| (least..=most).contains(whole)).map(|whole| set(settings, whole))
            }
            SettingKind::Number { least, most, set, .. } => {
                (least..=most).contains(&number).then(|| set(settings, number))
            }
            SettingKind::Choice { values, set, .. } => {
                let known = |whole: &u8| values.iter().any(|value| value.number == *whole);
                whole().filter(known).map(|whole| set(settings, whole))
            }
        };
        is_set.ok_or_else(|| format!("is {number}, expected {}", self.expects()))
    }

    /// Checks that the setting has one of its values.
    ///
    /// # Errors
    /// The expected values, if it has another.
    pub fn check(&self, settings: &S) -> Result<(), String>
    where
        S: Clone,
    {
        let number = match self.kind {
            SettingKind::Count { get, .. } => get(settings).into(),
            SettingKind::Number { get, .. } => get(settings),
            SettingKind::Choice { get, .. } => get(settings).into(),
        };
        self.set(&mut settings.clone(), number)
    }
}

impl Search {
    /// Names of the methods.
    pub const METHODS: [&str; 3] = ["greedy", "lookahead", "expectation"];

    /// Number of next pieces that the rules must show.
    pub fn pieces_shown(&self) -> u32 {
        match self {
            Search::Greedy => 0,
            Search::Lookahead { pieces } => *pieces,
            Search::Expectation(expectation) => expectation.pieces_shown().into(),
        }
    }
}

/// Reads a method and its settings, as flags have them.
///
/// ```
/// use tetrion_core::agents::{Expectation, Search};
///
/// let search: Search = "expectation,placements=4".parse()?;
/// assert_eq!(search, Search::Expectation(Expectation { placements: 4, ..Expectation::default() }));
/// assert_eq!(search.to_string(), "expectation,placements=4");
/// assert_eq!("lookahead,pieces=2".parse(), Ok(Search::Lookahead { pieces: 2 }));
/// # Ok::<(), String>(())
/// ```
impl FromStr for Search {
    type Err = String;

    fn from_str(text: &str) -> Result<Search, String> {
        let (method, settings) = text.split_once(',').unwrap_or((text, ""));
        match method {
            "greedy" => with(&[], (), method, settings).map(|()| Search::Greedy),
            "lookahead" => {
                with(&LOOKAHEAD_SETTINGS, 1, method, settings).map(|pieces| Search::Lookahead { pieces })
            }
            "expectation" => {
                with(&EXPECTATION_SETTINGS, Expectation::DEFAULT, method, settings).map(Search::Expectation)
            }
            _ => Err(unknown("method of search", method, Search::METHODS)),
        }
    }
}

/// The settings of a method, changed as the text says.
fn with<S>(
    table: &'static [SearchSetting<S>],
    mut settings: S,
    method: &str,
    text: &str,
) -> Result<S, String> {
    for part in text.split(',').filter(|part| !part.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            return Err(format!("{part:?} is no setting, expected NAME=VALUE"));
        };
        let Some(setting) = table.iter().find(|setting| setting.name == name) else {
            if table.is_empty() {
                return Err(format!("{name:?} is no setting of {method}, which has none"));
            }
            let names = table.iter().map(|setting| setting.name);
            return Err(unknown(&format!("setting of {method}"), name, names));
        };
        let number = match setting.kind {
            SettingKind::Choice { values, .. } => {
                values.iter().find(|known| known.name == value).map(|known| known.number.into())
            }
            SettingKind::Count { .. } | SettingKind::Number { .. } => value.parse().ok(),
        };
        let number = number.ok_or_else(|| format!("{name}: is {value:?}, expected {}", setting.expects()))?;
        setting.set(&mut settings, number).map_err(|problem| format!("{name}: {problem}"))?;
    }
    Ok(settings)
}

/// The method, and the settings that differ from their defaults, as [`Search::from_str`] reads them.
impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Search::Greedy => f.write_str("greedy"),
            Search::Lookahead { pieces } => write!(f, "lookahead,pieces={pieces}"),
            Search::Expectation(expectation) => {
                f.write_str("expectation")?;
                for setting in &EXPECTATION_SETTINGS {
                    let value = setting.value(expectation);
                    if value != setting.value(&Expectation::DEFAULT) {
                        write!(f, ",{}={value}", setting.name)?;
                    }
                }
                Ok(())
            }
        }
    }
}
