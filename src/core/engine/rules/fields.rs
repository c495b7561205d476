//! The fields of the rules, one row each: name, meaning, values, and functions that read and write the field of
//! [`Rules`].
//!
//! Flags, files, settings, snapshots, summaries and the catalog loop over this table. Only the struct [`Rules`] and the
//! protocol's message list the fields once more. This file knows nothing of messages, flags or files.
//!
//! Changes apply in the order of the rows, so a row may rely on the rows above it: `rows_above` on `height`, the parts
//! of garbage on its lines, `spawn_row` on nearly everything.

use std::fmt;

use super::error::{RulesError, expected};
use super::{ActionModel, HEIGHTS, MAX_POINTS, MAX_PREVIEW, OrientationTable, Reach, Rules, TopOut, WIDTHS};
use crate::engine::choice::{ChoiceValue, NamedChoice};
use crate::engine::clears::{AttackTable, ClearPoints};
use crate::engine::garbage::Garbage;
use crate::engine::pieces::PieceSet;
use crate::engine::randomizer::Randomizer;
use crate::engine::rotation::{HalfTurns, RotationSystem};
use crate::engine::spin::SpinRule;
use crate::engine::timing::Timing;

/// A row of the table: a field's name, meaning and bounds, with access to it.
#[derive(Clone, Copy, Debug)]
pub struct RulesField {
    /// Name of the field: its path in the protocol's message, such as `garbage.delay_pieces`.
    pub name: &'static str,
    /// Meaning of the field, as a phrase without a full stop.
    pub about: &'static str,
    /// Value of the field if the caller gives none, in words: `the preset's`, or a number if presets have no such
    /// value.
    pub default: &'static str,
    /// Rules to which the field applies; `None` for all.
    applies: Option<Applies>,
    /// Values of the field, and functions that read and write it.
    pub kind: FieldKind,
}

/// The rules to which a field applies.
#[derive(Clone, Copy, Debug)]
struct Applies {
    when: fn(&Rules) -> bool,
    /// Expected value of the field under other rules, in words.
    otherwise: &'static str,
}

const TIMED: Option<Applies> = Some(Applies { when: Rules::steers, otherwise: Timing::NONE });
const WITH_GARBAGE: Option<Applies> =
    Some(Applies { when: |rules| rules.garbage.is_some(), otherwise: Garbage::NONE });

/// The values of a field, with functions that read it from rules and write it to them.
///
/// A read function returns `None` if the field does not apply, such as `fall_delay` in games without time. A write
/// function only gets values within bounds.
#[derive(Clone, Copy, Debug)]
pub enum FieldKind {
    Count {
        least: u8,
        most: u8,
        get: fn(&Rules) -> Option<u8>,
        set: fn(&mut Rules, u8),
    },
    /// A finite number within the bounds.
    Number {
        bounds: NumberBounds,
        get: fn(&Rules) -> Option<f64>,
        set: fn(&mut Rules, f64),
    },
    Numbers {
        bounds: NumberBounds,
        get: fn(&Rules) -> [f64; 4],
        set: fn(&mut Rules, [f64; 4]),
    },
    Flag {
        get: fn(&Rules) -> Option<bool>,
        set: fn(&mut Rules, bool),
    },
    /// One of a list of named values.
    Choice {
        values: &'static [ChoiceValue],
        /// Reads the number of the value.
        get: fn(&Rules) -> u8,
        /// Writes the value with this number.
        set: fn(&mut Rules, u8),
    },
    Pieces {
        get: fn(&Rules) -> PieceSet,
        set: fn(&mut Rules, PieceSet),
    },
}

/// The bounds of a numeric field.
#[derive(Clone, Copy, Debug)]
pub struct NumberBounds {
    pub least: f64,
    pub most: f64,
    /// Both bounds in words, for errors.
    pub in_words: &'static str,
}

/// The value of a field of any kind, for code that loops over the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue {
    Count(u32),
    Number(f64),
    Numbers([f64; 4]),
    Flag(bool),
    /// Name of a value of a choice.
    Choice(&'static str),
    Pieces(PieceSet),
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FieldValue::Count(count) => write!(f, "{count}"),
            FieldValue::Number(number) => write!(f, "{number}"),
            FieldValue::Numbers(numbers) => write!(f, "{numbers:?}"),
            FieldValue::Flag(flag) => write!(f, "{flag}"),
            FieldValue::Choice(name) => f.write_str(name),
            FieldValue::Pieces(pieces) => write!(f, "{pieces}"),
        }
    }
}

impl From<u32> for FieldValue {
    fn from(count: u32) -> FieldValue {
        FieldValue::Count(count)
    }
}

impl From<f64> for FieldValue {
    fn from(number: f64) -> FieldValue {
        FieldValue::Number(number)
    }
}

impl From<[f64; 4]> for FieldValue {
    fn from(numbers: [f64; 4]) -> FieldValue {
        FieldValue::Numbers(numbers)
    }
}

impl From<bool> for FieldValue {
    fn from(flag: bool) -> FieldValue {
        FieldValue::Flag(flag)
    }
}

impl From<PieceSet> for FieldValue {
    fn from(pieces: PieceSet) -> FieldValue {
        FieldValue::Pieces(pieces)
    }
}

impl<C: NamedChoice> From<C> for FieldValue {
    fn from(value: C) -> FieldValue {
        FieldValue::Choice(value.name())
    }
}

pub(super) const POINTS: NumberBounds = NumberBounds {
    least: -MAX_POINTS,
    most: MAX_POINTS,
    in_words: "a finite number of at most 1e15 in size",
};

/// The row of a choice. Its name and values come from the definition of the choice.
macro_rules! choice {
    ($choice:ty, $member:ident, $about:literal) => {
        RulesField::new(
            <$choice as NamedChoice>::FIELD,
            $about,
            FieldKind::Choice {
                values: <$choice as NamedChoice>::VALUES,
                get: |rules| rules.$member.number(),
                set: |rules, number| {
                    if let Some(value) = <$choice>::from_number(number) {
                        rules.$member = value;
                    }
                },
            },
        )
    };
}

/// The row of a part of the garbage: a count, a number or a flag.
macro_rules! garbage {
    (count $name:literal, $member:ident, $default:literal, $most:expr, $about:literal) => {
        garbage!(
            $name,
            $default,
            $about,
            FieldKind::Count {
                least: 0,
                most: $most,
                get: |rules| rules.garbage.map(|garbage| garbage.$member),
                set: |rules, count| garbage(rules).$member = count,
            }
        )
    };
    (number $name:literal, $member:ident, $default:literal, $bounds:expr, $about:literal) => {
        garbage!(
            $name,
            $default,
            $about,
            FieldKind::Number {
                bounds: $bounds,
                get: |rules| rules.garbage.map(|garbage| garbage.$member),
                set: |rules, number| garbage(rules).$member = number,
            }
        )
    };
    (flag $name:literal, $member:ident, $default:literal, $about:literal) => {
        garbage!(
            $name,
            $default,
            $about,
            FieldKind::Flag {
                get: |rules| rules.garbage.map(|garbage| garbage.$member),
                set: |rules, flag| garbage(rules).$member = flag,
            }
        )
    };
    ($name:literal, $default:literal, $about:literal, $kind:expr) => {
        RulesField { name: $name, about: $about, default: $default, applies: WITH_GARBAGE, kind: $kind }
    };
}

const CHANCE: NumberBounds = NumberBounds { least: 0.0, most: 1.0, in_words: "0 to 1" };
const FACTOR: NumberBounds = NumberBounds { least: 0.0, most: 100.0, in_words: "0 to 100" };

/// Every field of the rules. `src/protocol/tests/it/rules_fields.rs` compares them with the protocol's message.
pub static RULES_FIELDS: [RulesField; 43] = [
    RulesField::new(
        "width",
        "Columns of the playfield",
        FieldKind::Count {
            least: *WIDTHS.start(),
            most: *WIDTHS.end(),
            get: |rules| Some(rules.width),
            set: |rules, width| rules.width = width,
        },
    ),
    RulesField::new(
        "height",
        "Rows of the playfield, including rows above the visible field",
        FieldKind::Count {
            least: *HEIGHTS.start(),
            most: *HEIGHTS.end(),
            get: |rules| Some(rules.height),
            // A new height changes the number of rows above the visible field, not the visible field.
            set: |rules, height| {
                if rules.rows_above > 0 {
                    rules.rows_above = height.saturating_sub(rules.visible_rows());
                }
                rules.height = height;
            },
        },
    ),
    RulesField {
        name: "rows_above",
        about: "Rows above the visible field",
        default: "all but the preset's visible rows",
        applies: None,
        kind: FieldKind::Count {
            least: 0,
            most: *HEIGHTS.end() - *HEIGHTS.start(),
            get: |rules| Some(rules.rows_above),
            set: |rules, rows_above| rules.rows_above = rows_above,
        },
    },
    RulesField::new(
        "preview",
        "Number of next pieces shown",
        FieldKind::Count {
            least: 0,
            most: MAX_PREVIEW,
            get: |rules| Some(rules.preview),
            set: |rules, preview| rules.preview = preview,
        },
    ),
    RulesField::new(
        "piece_set",
        "Set of pieces: a name, or drawings such as \"A=X./XX B=XX\"",
        FieldKind::Pieces { get: |rules| rules.pieces, set: |rules, pieces| rules.pieces = pieces },
    ),
    choice!(Randomizer, randomizer, "Piece generator"),
    choice!(ActionModel, action_model, "Action of one step"),
    choice!(TopOut, top_out, "Rule that ends a game"),
    choice!(OrientationTable, orientations, "Numbering of orientations"),
    choice!(Reach, reach, "Places that pieces can reach"),
    choice!(RotationSystem, rotation_system, "Rotation system (wall kicks)"),
    choice!(HalfTurns, half_turns, "180-degree turns and their kicks"),
    choice!(SpinRule, spin_rule, "Spins to recognise"),
    RulesField::new(
        "hold",
        "Hold: whether a piece can be kept for later",
        FieldKind::Flag { get: |rules| Some(rules.hold), set: |rules, hold| rules.hold = hold },
    ),
    RulesField::new(
        "scoring.piece",
        "Points per piece",
        FieldKind::Number {
            bounds: POINTS,
            get: |rules| Some(rules.scoring.piece),
            set: |rules, points| rules.scoring.piece = points,
        },
    ),
    RulesField::new(
        "scoring.lines",
        "Points for clearing 1, 2, 3 and 4 lines at once",
        FieldKind::Numbers {
            bounds: POINTS,
            get: |rules| rules.scoring.lines,
            set: |rules, points| rules.scoring.lines = points,
        },
    ),
    RulesField::new(
        "scoring.game_end",
        "Points when the rules end a game",
        FieldKind::Number {
            bounds: POINTS,
            get: |rules| Some(rules.scoring.game_end),
            set: |rules, points| rules.scoring.game_end = points,
        },
    ),
    choice!(ClearPoints, clear_points, "How clears are scored"),
    choice!(AttackTable, attack_table, "How many lines clears send"),
    RulesField {
        name: "fall_delay",
        about: "Steps per row that a piece falls, in games steered by keys",
        default: "60",
        applies: TIMED,
        kind: FieldKind::Count {
            least: 1,
            most: u8::MAX,
            get: |rules| rules.timing.map(|timing| timing.fall_delay),
            set: |rules, steps| timing(rules).fall_delay = steps,
        },
    },
    RulesField {
        name: "lock_delay",
        about: "Steps on the ground until a piece locks, in games steered by keys",
        default: "30",
        applies: TIMED,
        kind: FieldKind::Count {
            least: 1,
            most: u8::MAX,
            get: |rules| rules.timing.map(|timing| timing.lock_delay),
            set: |rules, steps| timing(rules).lock_delay = steps,
        },
    },
    RulesField {
        name: "lock_resets",
        about: "Moves or turns on the ground that restart the lock delay, in games steered by keys",
        default: "15",
        applies: TIMED,
        kind: FieldKind::Count {
            least: 0,
            most: u8::MAX,
            get: |rules| rules.timing.map(|timing| timing.lock_resets),
            set: |rules, times| timing(rules).lock_resets = times,
        },
    },
    RulesField {
        name: "garbage.lines_per_piece",
        about: "Average number of garbage rows per piece; 0 for none",
        default: "0",
        applies: None,
        kind: FieldKind::Number {
            bounds: NumberBounds { least: 0.0, most: Garbage::MAX_LINES, in_words: "0 to 4" },
            get: |rules| rules.garbage.map(|garbage| garbage.lines_per_piece),
            set: |rules, lines_per_piece| {
                let others = rules.garbage.unwrap_or(Garbage::DEFAULT);
                rules.garbage = (lines_per_piece > 0.0).then_some(Garbage { lines_per_piece, ..others });
            },
        },
    },
    garbage!(number "garbage.hole_move_chance", hole_move_chance, "0.05", CHANCE,
        "Probability that the hole moves to another column from one garbage row to the next"),
    garbage!(count "garbage.delay_pieces", delay_pieces, "1", Garbage::MAX_DELAY, "Delay of garbage in pieces"),
    RulesField {
        name: "spawn_row",
        about: "Row in which pieces appear, under reach moves",
        default: "the highest visible row, or one higher where that is blocked",
        applies: None,
        kind: FieldKind::Count {
            least: 0,
            most: *HEIGHTS.end(),
            get: |rules| rules.spawn_row,
            set: |rules, row| rules.spawn_row = Some(row),
        },
    },
    RulesField {
        name: "players",
        about: "Number of players: 2 send each other garbage",
        default: "1",
        applies: None,
        kind: FieldKind::Count {
            least: 1,
            most: 2,
            get: |rules| rules.is_match().then_some(rules.players),
            set: |rules, players| rules.players = players,
        },
    },
    RulesField {
        name: "clutch",
        about: "Whether a piece that is blocked after a clear appears higher, under reach moves",
        default: "the preset's",
        applies: Some(Applies { when: Rules::names_spots, otherwise: "false, or reach moves" }),
        kind: FieldKind::Flag {
            get: |rules| rules.names_spots().then_some(rules.clutch),
            set: |rules, clutch| rules.clutch = clutch,
        },
    },
    garbage!(number "garbage.hole_change_chance", hole_change_chance, "0", CHANCE,
        "Probability that the hole changes once lines that arrived together are used up"),
    garbage!(flag "garbage.hole_other_column", hole_other_column, "true",
        "Whether a new hole is never in the column of the one before"),
    garbage!(count "garbage.hole_margin", hole_margin, "0", 15, "Columns at each wall that have no holes"),
    garbage!(flag "garbage.holes_when_sent", holes_when_sent, "false",
        "Whether lines get their holes when they are sent, each attack a new one"),
    garbage!(flag "garbage.delay_skips_clears", delay_skips_clears, "false",
        "Whether pieces that clear lines shorten no delay"),
    garbage!(flag "garbage.rises_after_clears", rises_after_clears, "false",
        "Whether garbage rises also after a piece that cleared lines"),
    garbage!(count "garbage.rows_per_piece", rows_per_piece, "0", u8::MAX,
        "Most rows that rise after a piece; 0 for no limit"),
    garbage!(count "garbage.most_waiting", most_waiting, "0", u8::MAX,
        "Most lines that wait; 0 for as many as the playfield has rows"),
    garbage!(count "garbage.opening_pieces", opening_pieces, "0", u8::MAX,
        "First pieces whose lines cancel doubly while no fewer lines wait than were sent"),
    garbage!(number "garbage.multiplier", multiplier, "1", FACTOR, "Factor of lines sent at the start"),
    garbage!(number "garbage.multiplier_growth", multiplier_growth, "0", FACTOR,
        "Growth of the factor of lines sent, per second"),
    garbage!(count "garbage.multiplier_after", multiplier_after, "0", u8::MAX,
        "Seconds until the factor of lines sent begins to grow"),
    garbage!(number "garbage.multiplier_most", multiplier_most, "100", FACTOR, "Largest factor of lines sent"),
    garbage!(count "garbage.frames_per_piece", frames_per_piece, "30", u8::MAX,
        "Time of a piece in sixtieths of a second, for the growth of the factor of lines sent"),
    garbage!(flag "garbage.meets_in_flight", meets_in_flight, "false",
        "Whether lines that both sides send in one turn destroy each other"),
];

fn timing(rules: &mut Rules) -> &mut Timing {
    rules.timing.get_or_insert(Timing::LEVEL_1)
}

fn garbage(rules: &mut Rules) -> &mut Garbage {
    rules.garbage.get_or_insert(Garbage::DEFAULT)
}

impl RulesField {
    /// A field that applies to all rules.
    const fn new(name: &'static str, about: &'static str, kind: FieldKind) -> RulesField {
        RulesField { name, about, default: "the preset's", applies: None, kind }
    }

    /// The field with this name.
    ///
    /// ```
    /// use tetrion_core::engine::RulesField;
    ///
    /// assert_eq!(RulesField::named("preview").unwrap().expects(), "0 to 6");
    /// ```
    pub fn named(name: &str) -> Option<&'static RulesField> {
        RULES_FIELDS.iter().find(|field| field.name == name)
    }

    /// The value of the field in `rules`; `None` if the field does not apply.
    pub(crate) fn value(&self, rules: &Rules) -> Option<FieldValue> {
        match self.kind {
            FieldKind::Count { get, .. } => get(rules).map(|count| FieldValue::Count(count.into())),
            FieldKind::Number { get, .. } => get(rules).map(FieldValue::Number),
            FieldKind::Numbers { get, .. } => Some(FieldValue::Numbers(get(rules))),
            FieldKind::Flag { get, .. } => get(rules).map(FieldValue::Flag),
            FieldKind::Choice { values, get, .. } => {
                let value = values.iter().find(|value| value.number == get(rules));
                value.map(|value| FieldValue::Choice(value.name))
            }
            FieldKind::Pieces { get, .. } => Some(FieldValue::Pieces(get(rules))),
        }
    }

    /// The number of a choice's value in messages; `None` if the field is not a choice or has no such value.
    pub fn number_of(&self, name: &str) -> Option<u8> {
        let FieldKind::Choice { values, .. } = self.kind else { return None };
        values.iter().find(|value| value.name == name).map(|value| value.number)
    }

    /// Changes the field. If the field does not apply, zero changes nothing, because many languages send zero for an
    /// absent value.
    ///
    /// # Errors
    /// [`RulesError::Field`] for a value that is out of bounds or of another kind, and for any value except zero if the
    /// field does not apply.
    pub(super) fn change(&self, rules: &mut Rules, value: FieldValue) -> Result<(), RulesError> {
        if let Some(applies) = self.applies
            && !(applies.when)(rules)
        {
            return match value {
                FieldValue::Count(0) | FieldValue::Number(0.0) | FieldValue::Flag(false) => Ok(()),
                _ => Err(expected(self.name, value, applies.otherwise)),
            };
        }
        self.check(value)?;
        match (self.kind, value) {
            (FieldKind::Count { set, .. }, FieldValue::Count(count)) => set(rules, count as u8),
            (FieldKind::Number { set, .. }, FieldValue::Number(number)) => set(rules, number),
            (FieldKind::Numbers { set, .. }, FieldValue::Numbers(numbers)) => set(rules, numbers),
            (FieldKind::Flag { set, .. }, FieldValue::Flag(flag)) => set(rules, flag),
            (FieldKind::Choice { set, .. }, FieldValue::Choice(name)) => {
                set(rules, self.number_of(name).expect("checked above"));
            }
            (FieldKind::Pieces { set, .. }, FieldValue::Pieces(pieces)) => set(rules, pieces),
            _ => return Err(expected(self.name, value, self.expects())),
        }
        Ok(())
    }

    /// Checks that a value is within the bounds of the field.
    ///
    /// # Errors
    /// [`RulesError::Field`] if the value is out of bounds or of another kind.
    pub(super) fn check(&self, value: FieldValue) -> Result<(), RulesError> {
        let is_within = match (self.kind, value) {
            (FieldKind::Count { least, most, .. }, FieldValue::Count(count)) => {
                (u32::from(least)..=u32::from(most)).contains(&count)
            }
            (FieldKind::Number { bounds, .. }, FieldValue::Number(number)) => bounds.contain(number),
            (FieldKind::Numbers { bounds, .. }, FieldValue::Numbers(numbers)) => {
                numbers.iter().all(|&number| bounds.contain(number))
            }
            (FieldKind::Choice { .. }, FieldValue::Choice(name)) => self.number_of(name).is_some(),
            (FieldKind::Flag { .. }, FieldValue::Flag(_))
            | (FieldKind::Pieces { .. }, FieldValue::Pieces(_)) => true,
            _ => false,
        };
        if is_within { Ok(()) } else { Err(expected(self.name, value, self.expects())) }
    }

    /// The values of the field, in words: `4 to 32`.
    pub fn expects(&self) -> String {
        match self.kind {
            FieldKind::Count { least, most, .. } => format!("{least} to {most}"),
            FieldKind::Number { bounds, .. } => bounds.in_words.to_owned(),
            FieldKind::Numbers { bounds, .. } => format!("four numbers, each {}", bounds.in_words),
            FieldKind::Flag { .. } => "true or false".to_owned(),
            FieldKind::Choice { values, .. } => {
                let names: Vec<&str> = values.iter().map(|value| value.name).collect();
                format!("one of {}", names.join(", "))
            }
            FieldKind::Pieces { .. } => "a set of pieces".to_owned(),
        }
    }
}

impl NumberBounds {
    pub(super) fn contain(&self, number: f64) -> bool {
        (self.least..=self.most).contains(&number)
    }
}
