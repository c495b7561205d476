//! Rules: a preset and changes to it, to and from the wire.
//!
//! A choice has the same number on the wire and in the engine, in [`NamedChoice`](tetrion_core::engine::NamedChoice); a test
//! compares the engine's numbers with the enums of `rules.proto`.

use std::str::FromStr;

use tetrion_core::engine::{
    Changes, FieldKind, FieldValue, PRESETS, PieceSet, PieceSetError, RULES_FIELDS, Rules, RulesError,
    RulesField,
};
use tetrion_core::names;

use super::error::{DecodeError, Fault, InField};
use super::limits::check_name;
use super::pb;

/// The rules that a caller asks for: a preset, and changes to it.
///
/// They are not checked until they become [`ResolvedRules`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesChoice {
    /// Name of the preset; empty for the default.
    pub preset: String,
    /// Changes to the preset. All other fields keep the preset's values.
    pub changes: Changes,
}

impl RulesChoice {
    /// The rules of a preset.
    pub fn preset(name: &str) -> RulesChoice {
        RulesChoice { preset: name.to_owned(), changes: Changes::default() }
    }

    /// Changes one more field of these rules.
    ///
    /// # Errors
    /// [`RulesError::UnknownField`] if no field has this name.
    pub fn with(mut self, field: &str, value: impl Into<FieldValue>) -> Result<RulesChoice, RulesError> {
        self.changes.set(field, value)?;
        Ok(self)
    }

    /// The default rules at this size.
    pub fn of_size(width: u32, height: u32) -> RulesChoice {
        let mut choice = RulesChoice::default();
        choice.resize(width, height);
        choice
    }

    /// Changes the size of the playfield.
    pub fn resize(&mut self, width: u32, height: u32) {
        for (field, value) in [("width", width), ("height", height)] {
            self.changes.set(field, value).expect("rules have a width and a height");
        }
    }
}

/// Playable rules, and the name of their preset.
///
/// The preset's name is kept only for the echo; the rules do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResolvedRules {
    /// Name of the preset, a row of [`PRESETS`].
    pub preset: &'static str,
    pub rules: Rules,
}

impl Default for ResolvedRules {
    fn default() -> ResolvedRules {
        ResolvedRules { preset: PRESETS[0].name, rules: PRESETS[0].rules }
    }
}

/// Converts rules without a preset, such as those of a snapshot.
impl From<Rules> for ResolvedRules {
    fn from(rules: Rules) -> ResolvedRules {
        ResolvedRules { preset: PRESETS[0].name, rules }
    }
}

impl TryFrom<&RulesChoice> for ResolvedRules {
    type Error = DecodeError;

    fn try_from(RulesChoice { preset, changes }: &RulesChoice) -> Result<ResolvedRules, DecodeError> {
        check_name("preset", preset)?;
        let preset = match preset.as_str() {
            "" => &PRESETS[0],
            name => PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| unknown_preset(name))?,
        };
        Ok(ResolvedRules { preset: preset.name, rules: preset.rules.with(changes)? })
    }
}

impl TryFrom<&pb::Rules> for RulesChoice {
    type Error = DecodeError;

    fn try_from(message: &pb::Rules) -> Result<RulesChoice, DecodeError> {
        use FieldValue::{Count, Flag, Number};
        let pb::Rules {
            preset,
            width,
            height,
            randomizer,
            action_model,
            top_out,
            orientation_table,
            reach,
            scoring,
            preview,
            rows_above,
            rotation_system,
            half_turns,
            spin_rule,
            hold,
            clear_points,
            attack_table,
            fall_delay,
            lock_delay,
            lock_resets,
            garbage,
            spawn_row,
            piece_set,
            players,
            clutch,
        } = message;
        let scoring = scoring.clone().unwrap_or_default();
        let pb::Scoring { piece, lines, game_end } = &scoring;
        let pb::Garbage {
            lines_per_piece,
            hole_move_chance,
            delay_pieces,
            hole_change_chance,
            hole_other_column,
            hole_margin,
            holes_when_sent,
            delay_skips_clears,
            rises_after_clears,
            rows_per_piece,
            most_waiting,
            opening_pieces,
            multiplier,
            multiplier_growth,
            multiplier_after,
            multiplier_most,
            frames_per_piece,
            meets_in_flight,
        } = garbage.unwrap_or_default();
        let choices = [
            ("randomizer", randomizer),
            ("action_model", action_model),
            ("top_out", top_out),
            ("orientation_table", orientation_table),
            ("reach", reach),
            ("rotation_system", rotation_system),
            ("half_turns", half_turns),
            ("spin_rule", spin_rule),
            ("clear_points", clear_points),
            ("attack_table", attack_table),
        ];
        let values = [
            ("width", nonzero(*width)),
            ("height", nonzero(*height)),
            ("rows_above", rows_above.map(Count)),
            ("preview", preview.map(Count)),
            (
                "piece_set",
                (!piece_set.is_empty()).then(|| pieces(piece_set).in_field("piece_set")).transpose()?,
            ),
            ("hold", hold.map(Flag)),
            ("scoring.piece", piece.map(Number)),
            ("scoring.lines", line_points(lines)?),
            ("scoring.game_end", game_end.map(Number)),
            ("fall_delay", nonzero(*fall_delay)),
            ("lock_delay", nonzero(*lock_delay)),
            ("lock_resets", lock_resets.map(Count)),
            ("garbage.lines_per_piece", lines_per_piece.map(Number)),
            ("garbage.hole_move_chance", hole_move_chance.map(Number)),
            ("garbage.delay_pieces", delay_pieces.map(Count)),
            ("spawn_row", spawn_row.map(Count)),
            ("players", nonzero(*players)),
            ("clutch", clutch.map(Flag)),
            ("garbage.hole_change_chance", hole_change_chance.map(Number)),
            ("garbage.hole_other_column", hole_other_column.map(Flag)),
            ("garbage.hole_margin", hole_margin.map(Count)),
            ("garbage.holes_when_sent", holes_when_sent.map(Flag)),
            ("garbage.delay_skips_clears", delay_skips_clears.map(Flag)),
            ("garbage.rises_after_clears", rises_after_clears.map(Flag)),
            ("garbage.rows_per_piece", rows_per_piece.map(Count)),
            ("garbage.most_waiting", most_waiting.map(Count)),
            ("garbage.opening_pieces", opening_pieces.map(Count)),
            ("garbage.multiplier", multiplier.map(Number)),
            ("garbage.multiplier_growth", multiplier_growth.map(Number)),
            ("garbage.multiplier_after", multiplier_after.map(Count)),
            ("garbage.multiplier_most", multiplier_most.map(Number)),
            ("garbage.frames_per_piece", frames_per_piece.map(Count)),
            ("garbage.meets_in_flight", meets_in_flight.map(Flag)),
        ];
        let mut choice = RulesChoice::preset(preset);
        for (name, number) in choices {
            if *number != 0 {
                choice.changes.set(name, value_of(name, *number)?)?;
            }
        }
        for (name, value) in values {
            if let Some(value) = value {
                choice.changes.set(name, value)?;
            }
        }
        Ok(choice)
    }
}

impl TryFrom<&pb::Rules> for ResolvedRules {
    type Error = DecodeError;

    fn try_from(message: &pb::Rules) -> Result<ResolvedRules, DecodeError> {
        (&RulesChoice::try_from(message)?).try_into()
    }
}

impl From<&RulesChoice> for pb::Rules {
    fn from(RulesChoice { preset, changes }: &RulesChoice) -> pb::Rules {
        let (count, number) = (|name| changes.count(name), |name| changes.number(name));
        let flag = |name| match changes.get(name) {
            Some(FieldValue::Flag(flag)) => Some(flag),
            _ => None,
        };
        let given = |name| count(name).unwrap_or_default();
        let choice = |name| match changes.get(name) {
            Some(FieldValue::Choice(value)) => {
                RulesField::named(name).and_then(|field| field.number_of(value)).map_or(0, i32::from)
            }
            _ => 0,
        };
        let scoring = pb::Scoring {
            piece: number("scoring.piece"),
            lines: match changes.get("scoring.lines") {
                Some(FieldValue::Numbers(points)) => points.to_vec(),
                _ => Vec::new(),
            },
            game_end: number("scoring.game_end"),
        };
        let garbage = pb::Garbage {
            lines_per_piece: number("garbage.lines_per_piece"),
            hole_move_chance: number("garbage.hole_move_chance"),
            delay_pieces: count("garbage.delay_pieces"),
            hole_change_chance: number("garbage.hole_change_chance"),
            hole_other_column: flag("garbage.hole_other_column"),
            hole_margin: count("garbage.hole_margin"),
            holes_when_sent: flag("garbage.holes_when_sent"),
            delay_skips_clears: flag("garbage.delay_skips_clears"),
            rises_after_clears: flag("garbage.rises_after_clears"),
            rows_per_piece: count("garbage.rows_per_piece"),
            most_waiting: count("garbage.most_waiting"),
            opening_pieces: count("garbage.opening_pieces"),
            multiplier: number("garbage.multiplier"),
            multiplier_growth: number("garbage.multiplier_growth"),
            multiplier_after: count("garbage.multiplier_after"),
            multiplier_most: number("garbage.multiplier_most"),
            frames_per_piece: count("garbage.frames_per_piece"),
            meets_in_flight: flag("garbage.meets_in_flight"),
        };
        pb::Rules {
            preset: preset.clone(),
            width: given("width"),
            height: given("height"),
            randomizer: choice("randomizer"),
            action_model: choice("action_model"),
            top_out: choice("top_out"),
            orientation_table: choice("orientation_table"),
            reach: choice("reach"),
            scoring: (scoring != pb::Scoring::default()).then_some(scoring),
            preview: count("preview"),
            rows_above: count("rows_above"),
            rotation_system: choice("rotation_system"),
            half_turns: choice("half_turns"),
            spin_rule: choice("spin_rule"),
            hold: flag("hold"),
            clear_points: choice("clear_points"),
            attack_table: choice("attack_table"),
            fall_delay: given("fall_delay"),
            lock_delay: given("lock_delay"),
            lock_resets: count("lock_resets"),
            garbage: (garbage != pb::Garbage::default()).then_some(garbage),
            spawn_row: count("spawn_row"),
            piece_set: changes.get("piece_set").map_or_else(String::new, |pieces| pieces.to_string()),
            players: given("players"),
            clutch: flag("clutch"),
        }
    }
}

/// The choice of exactly these rules, with every field set.
impl From<&ResolvedRules> for RulesChoice {
    fn from(&ResolvedRules { preset, rules }: &ResolvedRules) -> RulesChoice {
        let base = PRESETS.iter().find(|of| of.name == preset).map_or(Rules::default(), |of| of.rules);
        // A preset may have what these rules lack: garbage.
        RulesChoice { preset: preset.to_owned(), changes: rules.fields().or(&rules.changes_from(&base)) }
    }
}

impl From<&ResolvedRules> for pb::Rules {
    fn from(rules: &ResolvedRules) -> pb::Rules {
        (&RulesChoice::from(rules)).into()
    }
}

/// A set of pieces, from its name or from drawings.
fn pieces(text: &str) -> Result<FieldValue, DecodeError> {
    let fault = |error| match error {
        PieceSetError::UnknownName { .. } => Fault::UnknownName,
        _ => Fault::Field,
    };
    PieceSet::parse(text).map(FieldValue::Pieces).map_err(|error| {
        let problem = error.to_string();
        DecodeError::invalid(fault(error), "", problem)
    })
}

/// Points for 1, 2, 3 and 4 lines; `None` if the list is empty.
fn line_points(points: &[f64]) -> Result<Option<FieldValue>, DecodeError> {
    if points.is_empty() {
        return Ok(None);
    }
    let points = points.try_into().map_err(|_| {
        let problem = format!("has {} numbers, expected 4 or none", points.len());
        DecodeError::field("scoring.lines", problem)
    })?;
    Ok(Some(FieldValue::Numbers(points)))
}

/// A count; `None` if it is 0.
fn nonzero(count: u32) -> Option<FieldValue> {
    (count > 0).then_some(FieldValue::Count(count))
}

/// The value of a choice from its number.
fn value_of(field: &'static str, number: i32) -> Result<FieldValue, DecodeError> {
    let values = match RulesField::named(field).map(|field| field.kind) {
        Some(FieldKind::Choice { values, .. }) => values,
        _ => &[],
    };
    let value = values.iter().find(|value| i32::from(value.number) == number);
    let value = value.ok_or_else(|| DecodeError::field(field, format!("is {number}, which is unknown")))?;
    Ok(FieldValue::Choice(value.name))
}

/// Reads a value from text in the form of flags and settings: `10`, `bag7`, `1,2,3,4`, `true`.
///
/// # Errors
/// The field's expected values, if the text is not one of them.
pub fn parse(field: &RulesField, text: &str) -> Result<FieldValue, String> {
    let expected = || format!("is {text:?}, expected {}", field.expects());
    match field.kind {
        FieldKind::Count { .. } => text.parse().map(FieldValue::Count).map_err(|_| expected()),
        FieldKind::Number { .. } => text.parse().map(FieldValue::Number).map_err(|_| expected()),
        FieldKind::Numbers { .. } => {
            let numbers: Result<Vec<f64>, _> = text.split(',').map(|number| number.trim().parse()).collect();
            let numbers = numbers.ok().and_then(|numbers| numbers.try_into().ok());
            numbers.map(FieldValue::Numbers).ok_or_else(expected)
        }
        FieldKind::Flag { .. } => text.parse().map(FieldValue::Flag).map_err(|_| expected()),
        FieldKind::Choice { values, .. } => {
            let value = values.iter().find(|value| value.name.eq_ignore_ascii_case(text));
            let names = values.iter().map(|value| value.name);
            let value = value.ok_or_else(|| names::unknown(&field.name.replace('_', " "), text, names))?;
            Ok(FieldValue::Choice(value.name))
        }
        FieldKind::Pieces { .. } => {
            PieceSet::parse(text).map(FieldValue::Pieces).map_err(|error| error.to_string())
        }
    }
}

/// Reads a preset and changes to it, as flags have them: `guideline,hold=false`. Without a preset, the default one.
///
/// ```
/// use tetrion_protocol::rules::RulesChoice;
///
/// let rules: RulesChoice = "lab,scoring.lines=40,100,300,1200,preview=1".parse()?;
/// assert_eq!(rules.preset, "lab");
/// assert_eq!(rules.changes.count("preview"), Some(1));
/// # Ok::<(), String>(())
/// ```
impl FromStr for RulesChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<RulesChoice, String> {
        let mut parts = text.split(',').peekable();
        let preset = parts.next_if(|part| !part.contains('=')).unwrap_or_default();
        let mut choice = RulesChoice::preset(preset);
        while let Some(part) = parts.next() {
            let Some((name, value)) = part.split_once('=') else {
                return Err(format!("{part:?} is no change of the rules, expected FIELD=VALUE"));
            };
            let field = field(name)?;
            let mut value = value.to_owned();
            // The numbers of a list are separated by commas too.
            while let FieldKind::Numbers { .. } = field.kind
                && let Some(next) = parts.next_if(|part| !part.contains('='))
            {
                value = format!("{value},{next}");
            }
            let value = parse(field, &value).map_err(|problem| format!("{name}: {problem}"))?;
            choice.changes.set(field.name, value).map_err(|error| error.to_string())?;
        }
        Ok(choice)
    }
}

/// The field with this name.
///
/// # Errors
/// The known names, if none matches.
pub fn field(name: &str) -> Result<&'static RulesField, String> {
    let names = RULES_FIELDS.iter().map(|field| field.name);
    RulesField::named(name).ok_or_else(|| names::unknown("field of the rules", name, names))
}

fn unknown_preset(name: &str) -> DecodeError {
    let known = PRESETS.iter().map(|preset| preset.name);
    DecodeError::invalid(Fault::UnknownName, "preset", names::unknown("preset", name, known))
}

impl From<RulesError> for DecodeError {
    fn from(error: RulesError) -> DecodeError {
        let problem = error.to_string();
        match error {
            RulesError::Field { field, .. } => DecodeError::field(field, problem),
            RulesError::UnknownField(_) => DecodeError::invalid(Fault::UnknownName, "", problem),
            RulesError::TooWide { .. } => DecodeError::field("piece_set", problem),
            RulesError::Contradiction(_) => DecodeError::invalid(Fault::Rules, "", problem),
        }
    }
}
