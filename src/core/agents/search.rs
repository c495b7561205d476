//! How a controller or a formula uses the pieces after the current one: the methods, and the settings of each, one row
//! per setting.
//!
//! Requests and the text of flags ([`Search::from_str`]) loop over the rows. Only the structs [`Expectation`] and [`Beam`]
//! and the protocol's messages list the settings once more.

use std::fmt;
use std::str::FromStr;

use super::{Beam, Expectation, Terms};
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
    /// Follows many sequences of placements of the known pieces at once.
    Beam(Beam),
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
    Count { least: u16, most: u16, get: fn(&S) -> u32, set: fn(&mut S, u16) },
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
        most: MAX_PREVIEW as u16,
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
            most: Expectation::MAX_PIECES as u16,
            get: |expectation| expectation.pieces.into(),
            set: |expectation, pieces| expectation.pieces = pieces as u8,
        },
    },
    SearchSetting {
        name: "placements",
        about: "Placements to expand per piece except the last, best first",
        kind: SettingKind::Count {
            least: 1,
            most: Expectation::MAX_PLACEMENTS as u16,
            get: |expectation| expectation.placements.into(),
            set: |expectation, placements| expectation.placements = placements as u8,
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

/// The settings of [`Search::Beam`].
pub static BEAM_SETTINGS: [SearchSetting<Beam>; 10] = [
    SearchSetting {
        name: "width",
        about: "Playfields that go on after each piece, best first",
        kind: SettingKind::Count {
            least: 1,
            most: Beam::MAX_PLACES,
            get: |beam| beam.width.into(),
            set: |beam, width| beam.width = width,
        },
    },
    SearchSetting {
        name: "perfect_clear_places",
        about: "Further playfields that go on because a perfect clear may follow",
        kind: SettingKind::Count {
            least: 0,
            most: Beam::MAX_PLACES,
            get: |beam| beam.perfect_clear_places.into(),
            set: |beam, places| beam.perfect_clear_places = places,
        },
    },
    SearchSetting {
        name: "pieces",
        about: "Most pieces to place, the current one included; only known ones are placed",
        kind: SettingKind::Count {
            least: 1,
            most: Beam::MAX_PIECES as u16,
            get: |beam| beam.pieces.into(),
            set: |beam, pieces| beam.pieces = pieces as u8,
        },
    },
    SearchSetting {
        name: "samples",
        about: "Continuations of the known pieces to draw; 0 to stop after the known pieces",
        kind: SettingKind::Count {
            least: 0,
            most: Beam::MAX_SAMPLES,
            get: |beam| beam.samples.into(),
            set: |beam, samples| beam.samples = samples,
        },
    },
    SearchSetting {
        name: "sample_pieces",
        about: "Pieces of each drawn continuation",
        kind: SettingKind::Count {
            least: 1,
            most: Beam::MAX_PIECES as u16,
            get: |beam| beam.sample_pieces.into(),
            set: |beam, pieces| beam.sample_pieces = pieces as u8,
        },
    },
    SearchSetting {
        name: "attack",
        about: "Value of a line sent, in multiples of the largest weight",
        kind: term(|beam| beam.attack, |beam, value| beam.attack = value),
    },
    SearchSetting {
        name: "back_to_back",
        about: "Value of a difficult clear as the last one, in multiples of the largest weight",
        kind: term(|beam| beam.back_to_back, |beam, value| beam.back_to_back = value),
    },
    SearchSetting {
        name: "perfect_clear",
        about: "Value of a perfect clear that may follow at once, in multiples of the largest weight; less if pieces are missing",
        kind: term(|beam| beam.perfect_clear, |beam, value| beam.perfect_clear = value),
    },
    SearchSetting {
        name: "t_slot",
        about: "Value of each row that a T at hand would fill in a spin slot, in multiples of the largest weight",
        kind: term(|beam| beam.t_slot, |beam, value| beam.t_slot = value),
    },
    SearchSetting {
        name: "t_kept",
        about: "Value of a T at hand without a spin slot, in multiples of the largest weight",
        kind: term(|beam| beam.t_kept, |beam, value| beam.t_kept = value),
    },
];

/// A term of a beam's values: a multiple of the largest weight.
const fn term(get: fn(&Beam) -> f64, set: fn(&mut Beam, f64)) -> SettingKind<Beam> {
    SettingKind::Number { least: -Beam::MOST_OF_A_TERM, most: Beam::MOST_OF_A_TERM, get, set }
}

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
        let whole = || Some(number as u16).filter(|whole| f64::from(*whole) == number);
        let is_set = match self.kind {
            SettingKind::Count { least, most, set, .. } => {
                whole().filter(|whole| (least..=most).contains(whole)).map(|whole| set(settings, whole))
            }
            SettingKind::Number { least, most, set, .. } => {
                (least..=most).contains(&number).then(|| set(settings, number))
            }
            SettingKind::Choice { values, set, .. } => {
                let known = |whole: u16| values.iter().find(|value| u16::from(value.number) == whole);
                whole().and_then(known).map(|value| set(settings, value.number))
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
    pub const METHODS: [&str; 4] = ["greedy", "lookahead", "expectation", "beam"];

    /// The method, and the names of its settings.
    pub fn settings(&self) -> (&'static str, Vec<&'static str>) {
        match self {
            Search::Greedy => ("greedy", Vec::new()),
            Search::Lookahead { .. } => ("lookahead", names(&LOOKAHEAD_SETTINGS)),
            Search::Expectation(_) => ("expectation", names(&EXPECTATION_SETTINGS)),
            Search::Beam(_) => ("beam", names(&BEAM_SETTINGS)),
        }
    }

    /// Number of next pieces that the rules must show.
    pub fn pieces_shown(&self) -> u32 {
        match self {
            // A beam looks at what is shown.
            Search::Greedy | Search::Beam(_) => 0,
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
            "beam" => with(&BEAM_SETTINGS, Beam::DEFAULT, method, settings).map(Search::Beam),
            _ => Err(unknown("method of search", method, Search::METHODS)),
        }
    }
}

fn names<S>(table: &[SearchSetting<S>]) -> Vec<&'static str> {
    table.iter().map(|setting| setting.name).collect()
}

/// Why a setting is refused that is not among the `known` ones of its owner, a method or an agent.
pub fn unknown_setting(owner: &str, name: &str, known: &[&str]) -> String {
    if known.is_empty() {
        return format!("{name:?} is no setting of {owner}, which has none");
    }
    unknown(&format!("setting of {owner}"), name, known.iter().copied())
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
            return Err(unknown_setting(method, name, &names(table)));
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
                write_changes(f, "expectation", &EXPECTATION_SETTINGS, (expectation, &Expectation::DEFAULT))
            }
            Search::Beam(beam) => write_changes(f, "beam", &BEAM_SETTINGS, (beam, &Beam::DEFAULT)),
        }
    }
}

/// Writes a method and the settings that differ from the defaults, the second ones.
fn write_changes<S>(
    f: &mut fmt::Formatter<'_>,
    method: &str,
    table: &[SearchSetting<S>],
    (settings, defaults): (&S, &S),
) -> fmt::Result {
    f.write_str(method)?;
    for setting in table {
        let value = setting.value(settings);
        if value != setting.value(defaults) {
            write!(f, ",{}={value}", setting.name)?;
        }
    }
    Ok(())
}
