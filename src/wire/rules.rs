//! Rules: a preset and the changes to it, to and from the wire.
//!
//! The numbers of choices on the wire are those of the engine's definitions ([`NamedChoice`]); a test compares them with
//! the enums of `rules.proto`.

use crate::engine::rules::{HEIGHTS, WIDTHS};
use crate::engine::{
    ActionModel, AttackTable, ClearPoints, Garbage, HalfTurns, NamedChoice, OrientationTable, PRESETS,
    PieceSet, PieceSetError, Randomizer, Reach, RotationSystem, Rules, RulesError, Scoring, SpinRule, Timing,
    TopOut,
};
use crate::names;

use super::error::{DecodeError, Fault};
use super::limits::check_name;
use super::pb;

/// The rules that a caller asks for: a preset, and the changes to it. What is absent is the preset's.
///
/// Nothing is checked before they become [`ResolvedRules`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RulesChoice {
    /// The preset; empty for the default.
    pub preset: String,
    /// Columns.
    pub width: Option<u32>,
    /// Rows.
    pub height: Option<u32>,
    /// Rows above the visible field, of these.
    pub rows_above: Option<u32>,
    /// Which pieces there are, by a name or drawings; empty for the preset's.
    pub piece_set: String,
    /// How pieces are dealt.
    pub randomizer: Option<Randomizer>,
    /// What a step is.
    pub action_model: Option<ActionModel>,
    /// What ends a game.
    pub top_out: Option<TopOut>,
    /// How orientations are numbered.
    pub orientation_table: Option<OrientationTable>,
    /// Where a piece may come down.
    pub reach: Option<Reach>,
    /// How turns are kicked.
    pub rotation: Option<RotationSystem>,
    /// Turns by 180 degrees.
    pub half_turns: Option<HalfTurns>,
    /// Which spins are told apart.
    pub spins: Option<SpinRule>,
    /// The row in which pieces appear.
    pub spawn_row: Option<u32>,
    /// Whether a piece can be held.
    pub hold: Option<bool>,
    /// Points for a piece.
    pub scoring_piece: Option<f64>,
    /// Points for 1, 2, 3 and 4 lines at once; empty for the preset's.
    pub scoring_lines: Vec<f64>,
    /// Points for the end of a game.
    pub scoring_game_end: Option<f64>,
    /// Which points clears make.
    pub clear_points: Option<ClearPoints>,
    /// Which lines clears send.
    pub attack: Option<AttackTable>,
    /// Next pieces shown.
    pub preview: Option<u32>,
    /// Steps in the air after which a piece falls by a row, where keys steer it.
    pub gravity: Option<u32>,
    /// Steps on the ground after which it locks.
    pub lock_delay: Option<u32>,
    /// How often that delay begins anew.
    pub lock_resets: Option<u32>,
    /// Lines of garbage a piece, on average; 0 for none.
    pub garbage_lines: Option<f64>,
    /// The chance that the hole of a row of garbage is in another column than that of the row before.
    pub garbage_hole_moves: Option<f64>,
    /// How many pieces dealt lines wait.
    pub garbage_delay: Option<u32>,
}

/// Playable rules, and the preset that a caller named for them.
///
/// The preset is kept for the echo: finished rules do not depend on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResolvedRules {
    /// A row of [`PRESETS`].
    pub preset: &'static str,
    /// The rules, checked.
    pub rules: Rules,
}

impl Default for ResolvedRules {
    fn default() -> ResolvedRules {
        ResolvedRules { preset: PRESETS[0].name, rules: PRESETS[0].rules }
    }
}

/// Rules that came without a preset, such as those of a snapshot.
impl From<Rules> for ResolvedRules {
    fn from(rules: Rules) -> ResolvedRules {
        ResolvedRules { preset: PRESETS[0].name, rules }
    }
}

impl TryFrom<&pb::Rules> for ResolvedRules {
    type Error = DecodeError;

    fn try_from(message: &pb::Rules) -> Result<ResolvedRules, DecodeError> {
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
            rotation,
            half_turns,
            spins,
            hold,
            clear_points,
            attack,
            gravity,
            lock_delay,
            lock_resets,
            garbage,
            spawn_row,
            piece_set,
        } = message;
        check_name("preset", preset)?;
        let preset = match preset.as_str() {
            "" => &PRESETS[0],
            name => PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| unknown_preset(name))?,
        };
        let mut rules = preset.rules;
        if let Some(width) = *width {
            rules.width = u8::try_from(width)
                .ok()
                .filter(|width| WIDTHS.contains(width))
                .ok_or(RulesError::Width(width))?;
        }
        if let Some(height) = *height {
            rules.height = u8::try_from(height)
                .ok()
                .filter(|height| HEIGHTS.contains(height))
                .ok_or(RulesError::Height(height))?;
        }
        if !piece_set.is_empty() {
            rules.pieces = PieceSet::parse(piece_set)
                .map_err(|error| DecodeError::invalid(fault(&error), "piece_set", error.to_string()))?;
        }
        if let Some(number) = *randomizer {
            rules.randomizer = choice(number)?;
        }
        if let Some(number) = *action_model {
            rules.action_model = choice(number)?;
        }
        if let Some(number) = *top_out {
            rules.top_out = choice(number)?;
        }
        if let Some(number) = *orientation_table {
            rules.orientations = choice(number)?;
        }
        if let Some(number) = *reach {
            rules.reach = choice(number)?;
        }
        if let Some(number) = *rotation {
            rules.rotation = choice(number)?;
        }
        if let Some(number) = *half_turns {
            rules.half_turns = choice(number)?;
        }
        if let Some(number) = *spins {
            rules.spins = choice(number)?;
        }
        if let Some(number) = *clear_points {
            rules.clear_points = choice(number)?;
        }
        if let Some(number) = *attack {
            rules.attack = choice(number)?;
        }
        if let Some(hold) = *hold {
            rules.hold = hold;
        }
        // A height alone changes how much lies above the field, not the field.
        rules.rows_above = match *rows_above {
            None if preset.rules.rows_above == 0 => 0,
            None => rules.height.saturating_sub(preset.rules.visible_rows()),
            Some(rows_above) => {
                let too_many = RulesError::RowsAbove { rows_above, height: rules.height };
                u8::try_from(rows_above).map_err(|_| too_many)?
            }
        };
        if let Some(scoring) = scoring {
            change_scoring(&mut rules.scoring, scoring)?;
        }
        if let Some(preview) = *preview {
            rules.preview = u8::try_from(preview).map_err(|_| RulesError::Preview(preview))?;
        }
        if let Some(message) = garbage {
            rules.garbage = changed_garbage(rules.garbage, message)?;
        }
        rules.timing = timing(&rules, [*gravity, *lock_delay, *lock_resets])?;
        rules.check()?;
        // Its bound depends on other choices.
        if let Some(spawn_row) = *spawn_row {
            rules.check_spawn_row(spawn_row)?;
            rules.spawn_row = Some(spawn_row as u8);
            rules.check()?;
        }
        Ok(ResolvedRules { preset: preset.name, rules })
    }
}

impl From<&RulesChoice> for pb::Rules {
    fn from(rules: &RulesChoice) -> pb::Rules {
        let scoring = pb::Scoring {
            piece: rules.scoring_piece,
            lines: rules.scoring_lines.clone(),
            game_end: rules.scoring_game_end,
        };
        let garbage = pb::Garbage {
            lines_per_piece: rules.garbage_lines,
            hole_moves: rules.garbage_hole_moves,
            delay: rules.garbage_delay,
        };
        pb::Rules {
            preset: rules.preset.clone(),
            width: rules.width,
            height: rules.height,
            randomizer: rules.randomizer.map(number),
            action_model: rules.action_model.map(number),
            top_out: rules.top_out.map(number),
            orientation_table: rules.orientation_table.map(number),
            reach: rules.reach.map(number),
            scoring: (scoring != pb::Scoring::default()).then_some(scoring),
            preview: rules.preview,
            rows_above: rules.rows_above,
            rotation: rules.rotation.map(number),
            half_turns: rules.half_turns.map(number),
            spins: rules.spins.map(number),
            hold: rules.hold,
            clear_points: rules.clear_points.map(number),
            attack: rules.attack.map(number),
            gravity: rules.gravity,
            lock_delay: rules.lock_delay,
            lock_resets: rules.lock_resets,
            garbage: (garbage != pb::Garbage::default()).then_some(garbage),
            spawn_row: rules.spawn_row,
            piece_set: rules.piece_set.clone(),
        }
    }
}

/// The choice of exactly these rules, with every field that they have.
impl From<&ResolvedRules> for RulesChoice {
    fn from(&ResolvedRules { preset, rules }: &ResolvedRules) -> RulesChoice {
        let Rules {
            width,
            height,
            rows_above,
            pieces,
            randomizer,
            action_model,
            top_out,
            orientations,
            reach,
            rotation,
            half_turns,
            spins,
            spawn_row,
            hold,
            scoring,
            clear_points,
            attack,
            preview,
            timing,
            garbage,
        } = rules;
        let Scoring { piece, lines, game_end } = scoring;
        RulesChoice {
            preset: preset.to_owned(),
            width: Some(width.into()),
            height: Some(height.into()),
            rows_above: Some(rows_above.into()),
            piece_set: pieces.to_string(),
            randomizer: Some(randomizer),
            action_model: Some(action_model),
            top_out: Some(top_out),
            orientation_table: Some(orientations),
            reach: Some(reach),
            rotation: Some(rotation),
            half_turns: Some(half_turns),
            spins: Some(spins),
            spawn_row: spawn_row.map(u32::from),
            hold: Some(hold),
            clear_points: Some(clear_points),
            attack: Some(attack),
            scoring_piece: Some(piece),
            scoring_lines: lines.to_vec(),
            scoring_game_end: Some(game_end),
            preview: Some(preview.into()),
            gravity: timing.map(|timing| timing.gravity.into()),
            lock_delay: timing.map(|timing| timing.lock_delay.into()),
            lock_resets: timing.map(|timing| timing.lock_resets.into()),
            garbage_lines: garbage.map(|garbage| garbage.lines_per_piece),
            garbage_hole_moves: garbage.map(|garbage| garbage.hole_moves),
            garbage_delay: garbage.map(|garbage| garbage.delay.into()),
        }
    }
}

impl From<&ResolvedRules> for pb::Rules {
    fn from(rules: &ResolvedRules) -> pb::Rules {
        (&RulesChoice::from(rules)).into()
    }
}

impl TryFrom<&RulesChoice> for ResolvedRules {
    type Error = DecodeError;

    fn try_from(choice: &RulesChoice) -> Result<ResolvedRules, DecodeError> {
        (&pb::Rules::from(choice)).try_into()
    }
}

/// Gravity, lock delay and lock resets: what is absent is that of level 1 where keys steer pieces; elsewhere all must be.
fn timing(rules: &Rules, given: [Option<u32>; 3]) -> Result<Option<Timing>, RulesError> {
    const FIELDS: [(&str, u32, &str); 3] =
        [("gravity", 1, Timing::STEPS), ("lock_delay", 1, Timing::STEPS), ("lock_resets", 0, Timing::TIMES)];
    let Timing { gravity, lock_delay, lock_resets } = Timing::LEVEL_1;
    let mut parts = [gravity, lock_delay, lock_resets];
    for ((field, least, bounds), (part, value)) in FIELDS.into_iter().zip(parts.iter_mut().zip(given)) {
        // Zero is a default of many languages, and says nothing where no time passes.
        match value {
            None => {}
            Some(0) if !rules.steers() => {}
            Some(value) if !rules.steers() => {
                return Err(RulesError::Timing { field, value, expected: Timing::NONE });
            }
            Some(value) => {
                let within = u8::try_from(value).ok().filter(|_| value >= least);
                *part = within.ok_or(RulesError::Timing { field, value, expected: bounds })?;
            }
        }
    }
    let [gravity, lock_delay, lock_resets] = parts;
    Ok(rules.steers().then_some(Timing { gravity, lock_delay, lock_resets }))
}

/// Garbage with what a message changes of it. No lines are no garbage; then the other parts must say nothing.
fn changed_garbage(before: Option<Garbage>, message: &pb::Garbage) -> Result<Option<Garbage>, RulesError> {
    let pb::Garbage { lines_per_piece, hole_moves, delay } = *message;
    let lines_per_piece = lines_per_piece.or(before.map(|garbage| garbage.lines_per_piece)).unwrap_or(0.0);
    if lines_per_piece == 0.0 {
        let parts = [("garbage.hole_moves", hole_moves), ("garbage.delay", delay.map(f64::from))];
        let given =
            parts.into_iter().find_map(|(field, value)| Some((field, value.filter(|&value| value != 0.0)?)));
        return match given {
            None => Ok(None),
            Some((field, value)) => Err(RulesError::Garbage { field, value, expected: Garbage::NONE }),
        };
    }
    let before = before.unwrap_or(Garbage { lines_per_piece, ..Garbage::DEFAULT });
    let delay = match delay {
        None => before.delay,
        Some(delay) => u8::try_from(delay).map_err(|_| RulesError::Garbage {
            field: "garbage.delay",
            value: delay.into(),
            expected: Garbage::DELAYS,
        })?,
    };
    Ok(Some(Garbage { lines_per_piece, hole_moves: hole_moves.unwrap_or(before.hole_moves), delay }))
}

fn change_scoring(scoring: &mut Scoring, message: &pb::Scoring) -> Result<(), DecodeError> {
    if let Some(piece) = message.piece {
        scoring.piece = piece;
    }
    if !message.lines.is_empty() {
        scoring.lines = message.lines.as_slice().try_into().map_err(|_| {
            let problem = format!("has {} numbers, expected 4 or none", message.lines.len());
            DecodeError::field("scoring.lines", problem)
        })?;
    }
    if let Some(game_end) = message.game_end {
        scoring.game_end = game_end;
    }
    Ok(())
}

/// The value of a choice with this name.
///
/// # Errors
/// The known names, if it is not one of them.
pub fn by_name<C: NamedChoice>(name: &str) -> Result<C, String> {
    C::from_name(name).ok_or_else(|| names::unknown(&C::FIELD.replace('_', " "), name, C::names()))
}

/// The value of a choice with this number; zero and numbers of no value are refused.
fn choice<C: NamedChoice>(number: i32) -> Result<C, DecodeError> {
    let value = u8::try_from(number).ok().and_then(C::from_number);
    value.ok_or_else(|| DecodeError::field(C::FIELD, "is unspecified or unknown"))
}

fn number(value: impl NamedChoice) -> i32 {
    value.number().into()
}

/// What kind of mistake is in a set of pieces.
fn fault(error: &PieceSetError) -> Fault {
    match error {
        PieceSetError::UnknownName { .. } => Fault::UnknownName,
        _ => Fault::Field,
    }
}

fn unknown_preset(name: &str) -> DecodeError {
    let known = PRESETS.iter().map(|preset| preset.name);
    DecodeError::invalid(Fault::UnknownName, "preset", names::unknown("preset", name, known))
}

impl From<RulesError> for DecodeError {
    fn from(error: RulesError) -> DecodeError {
        let problem = error.to_string();
        match error {
            RulesError::Width(_) => DecodeError::field("width", problem),
            RulesError::Height(_) => DecodeError::field("height", problem),
            RulesError::RowsAbove { .. } => DecodeError::field("rows_above", problem),
            RulesError::SpawnRow { .. } => DecodeError::field("spawn_row", problem),
            RulesError::Preview(_) => DecodeError::field("preview", problem),
            RulesError::TooWide { .. } => DecodeError::field("piece_set", problem),
            RulesError::Points { field, .. }
            | RulesError::Timing { field, .. }
            | RulesError::Garbage { field, .. } => DecodeError::field(field, problem),
            RulesError::Contradiction(_) => DecodeError::invalid(Fault::Rules, "", problem),
        }
    }
}
