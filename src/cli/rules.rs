//! The flags for the rules, the same for every subcommand that plays; and what rules change of a preset.
//!
//! The values of a choice, and what they mean, come from its definition in the engine.

use std::ops::RangeInclusive;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, RangedI64ValueParser, TypedValueParser};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::client::RulesChoice;
use crate::engine::rules::{HEIGHTS, MAX_PREVIEW, WIDTHS};
use crate::engine::{
    ActionModel, AttackTable, ClearPoints, Garbage, HalfTurns, NamedChoice, OrientationTable, PRESETS,
    Randomizer, Reach, RotationSystem, Rules, Scoring, SpinRule, Timing, TopOut,
};

/// The options for the rules: a preset, and the changes to it.
///
/// The settings of a run keep the changes.
#[derive(Clone, Debug, Default, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RulesArgs {
    /// The rules preset [default: simplified]
    #[arg(long, value_name = "PRESET")]
    pub rules: Option<String>,

    /// Columns of the playfield [default: the rules']
    #[arg(long, value_name = "N", value_parser = within(WIDTHS))]
    pub width: Option<u32>,

    /// Rows of the playfield [default: the rules']
    #[arg(long, value_name = "N", value_parser = within(HEIGHTS))]
    pub height: Option<u32>,

    /// How many of the rows lie above the visible field [default: all but the rules' visible ones]
    #[arg(long, value_name = "N", value_parser = within(0..=HEIGHTS.end() - HEIGHTS.start()))]
    pub rows_above: Option<u32>,

    /// Next pieces that are shown [default: the rules']
    #[arg(long, value_name = "N", value_parser = within(0..=MAX_PREVIEW))]
    pub preview: Option<u32>,

    /// Which pieces there are: a set by name, or drawings, as in "A=X./XX B=XX" [default: the rules']
    #[arg(long, value_name = "SET")]
    pub piece_set: Option<String>,

    /// How pieces are dealt [default: the rules']
    #[arg(long, value_name = "NAME", value_parser = value::<Randomizer>())]
    #[serde(with = "as_name")]
    pub randomizer: Option<Randomizer>,

    /// What a step is [default: the rules']
    #[arg(long, value_name = "NAME", value_parser = value::<ActionModel>())]
    #[serde(with = "as_name")]
    pub action_model: Option<ActionModel>,

    /// What ends a game [default: the rules']
    #[arg(long, value_name = "NAME", value_parser = value::<TopOut>())]
    #[serde(with = "as_name")]
    pub top_out: Option<TopOut>,

    /// How orientations are numbered [default: the rules']
    #[arg(long, value_name = "NAME", value_parser = value::<OrientationTable>())]
    #[serde(with = "as_name")]
    pub orientation_table: Option<OrientationTable>,

    /// Where a piece may come down [default: the rules']
    #[arg(long, value_name = "NAME", value_parser = value::<Reach>())]
    #[serde(with = "as_name")]
    pub reach: Option<Reach>,

    /// How turns are kicked [default: the rules']
    #[arg(long, value_name = "NAME", value_parser = value::<RotationSystem>())]
    #[serde(with = "as_name")]
    pub rotation: Option<RotationSystem>,

    /// Turns by 180 degrees [default: the rules']
    #[arg(long, value_name = "NAME", value_parser = value::<HalfTurns>())]
    #[serde(with = "as_name")]
    pub half_turns: Option<HalfTurns>,

    /// Which spins are told apart [default: the rules']
    #[arg(long, value_name = "NAME", value_parser = value::<SpinRule>())]
    #[serde(with = "as_name")]
    pub spins: Option<SpinRule>,

    /// The row in which pieces appear that turn on their way [default: the highest visible one, or one higher]
    #[arg(long, value_name = "ROW", value_parser = within(0..=*HEIGHTS.end()))]
    pub spawn_row: Option<u32>,

    /// Whether the current piece can be held [default: the rules']
    #[arg(long, value_name = "BOOL")]
    pub hold: Option<bool>,

    /// Points for a piece [default: the rules']
    #[arg(long, value_name = "POINTS")]
    pub scoring_piece: Option<f64>,

    /// Points for 1, 2, 3 and 4 lines at once, separated by commas [default: the rules']
    #[arg(long, value_name = "POINTS", value_delimiter = ',', allow_hyphen_values = true)]
    pub scoring_lines: Vec<f64>,

    /// Points for the end of a game [default: the rules']
    #[arg(long, value_name = "POINTS")]
    pub scoring_game_end: Option<f64>,

    /// Which points clears make [default: the rules']
    #[arg(long, value_name = "NAME", value_parser = value::<ClearPoints>())]
    #[serde(with = "as_name")]
    pub clear_points: Option<ClearPoints>,

    /// Which lines clears send [default: the rules']
    #[arg(long, value_name = "NAME", value_parser = value::<AttackTable>())]
    #[serde(with = "as_name")]
    pub attack: Option<AttackTable>,

    /// Steps in the air after which a piece falls by a row, 1 to 255, where keys steer it [default: the rules']
    #[arg(long, value_name = "STEPS", value_parser = within(1..=u8::MAX))]
    pub gravity: Option<u32>,

    /// Steps on the ground after which it locks, 1 to 255 [default: the rules']
    #[arg(long, value_name = "STEPS", value_parser = within(1..=u8::MAX))]
    pub lock_delay: Option<u32>,

    /// How often a step or a turn on the ground lets that delay begin anew, 0 to 255; after that, the piece locks when
    /// the rest of the delay is over [default: the rules']
    #[arg(long, value_name = "N", value_parser = within(0..=u8::MAX))]
    pub lock_resets: Option<u32>,

    /// Rows of garbage that rise a piece, on average, 0 to 4 [default: the rules']
    #[arg(long, value_name = "LINES")]
    pub garbage: Option<f64>,

    /// The chance that the hole of a row of garbage is in another column than the one before [default: 0.05]
    #[arg(long, value_name = "CHANCE")]
    pub garbage_hole_moves: Option<f64>,

    /// How many more pieces land before dealt lines may rise, 0 to 7 [default: 1]
    #[arg(long, value_name = "PIECES", value_parser = within(0..=Garbage::MAX_DELAY))]
    pub garbage_delay: Option<u32>,
}

impl RulesArgs {
    /// The ids of all of them.
    pub fn ids() -> Vec<clap::Id> {
        let flags = RulesArgs::augment_args(clap::Command::new("rules"));
        flags.get_arguments().map(|flag| flag.get_id().clone()).collect()
    }

    /// Whether they ask for nothing.
    pub fn is_empty(&self) -> bool {
        *self == RulesArgs::default()
    }

    /// The rules as a request names them. Fields that the flags leave open are those of `others`.
    pub fn choice(&self, others: RulesChoice) -> RulesChoice {
        let RulesArgs {
            rules,
            width,
            height,
            rows_above,
            preview,
            piece_set,
            randomizer,
            action_model,
            top_out,
            orientation_table,
            reach,
            rotation,
            half_turns,
            spins,
            spawn_row,
            hold,
            scoring_piece,
            scoring_lines,
            scoring_game_end,
            clear_points,
            attack,
            gravity,
            lock_delay,
            lock_resets,
            garbage,
            garbage_hole_moves,
            garbage_delay,
        } = self.clone();
        RulesChoice {
            preset: rules.unwrap_or(others.preset),
            width: width.or(others.width),
            height: height.or(others.height),
            rows_above: rows_above.or(others.rows_above),
            piece_set: piece_set.unwrap_or(others.piece_set),
            randomizer: randomizer.or(others.randomizer),
            action_model: action_model.or(others.action_model),
            top_out: top_out.or(others.top_out),
            orientation_table: orientation_table.or(others.orientation_table),
            reach: reach.or(others.reach),
            rotation: rotation.or(others.rotation),
            half_turns: half_turns.or(others.half_turns),
            spins: spins.or(others.spins),
            spawn_row: spawn_row.or(others.spawn_row),
            hold: hold.or(others.hold),
            scoring_piece: scoring_piece.or(others.scoring_piece),
            scoring_lines: if scoring_lines.is_empty() { others.scoring_lines } else { scoring_lines },
            scoring_game_end: scoring_game_end.or(others.scoring_game_end),
            clear_points: clear_points.or(others.clear_points),
            attack: attack.or(others.attack),
            preview: preview.or(others.preview),
            gravity: gravity.or(others.gravity),
            lock_delay: lock_delay.or(others.lock_delay),
            lock_resets: lock_resets.or(others.lock_resets),
            garbage_lines: garbage.or(others.garbage_lines),
            garbage_hole_moves: garbage_hole_moves.or(others.garbage_hole_moves),
            garbage_delay: garbage_delay.or(others.garbage_delay),
        }
    }

    /// The same, with at least this many next pieces shown unless the flags say how many.
    pub fn choice_that_shows(&self, least: u32, others: RulesChoice) -> RulesChoice {
        let mut choice = self.choice(others);
        if self.preview.is_none() {
            let of_preset = Rules::preset(&choice.preset).unwrap_or_default().preview.into();
            let shown = choice.preview.unwrap_or(of_preset);
            if shown < least {
                choice.preview = Some(least);
            }
        }
        choice
    }
}

/// What rules change of a preset besides its size: fields and values. Nothing if the preset is one that only the server knows.
pub fn changes(preset: &str, rules: &Rules) -> Map<String, Value> {
    fn fields(rules: &Rules) -> [(&'static str, Value); 24] {
        let Rules {
            width: _,
            height: _,
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
        } = *rules;
        let part = |part: fn(&Timing) -> u8| json!(timing.as_ref().map(part));
        let dealt = |part: fn(&Garbage) -> Value| garbage.as_ref().map_or(Value::Null, part);
        let Scoring { piece, lines, game_end } = scoring;
        [
            ("piece_set", json!(pieces.to_string())),
            (Randomizer::FIELD, json!(randomizer.name())),
            (ActionModel::FIELD, json!(action_model.name())),
            (TopOut::FIELD, json!(top_out.name())),
            (OrientationTable::FIELD, json!(orientations.name())),
            (Reach::FIELD, json!(reach.name())),
            (RotationSystem::FIELD, json!(rotation.name())),
            (HalfTurns::FIELD, json!(half_turns.name())),
            (SpinRule::FIELD, json!(spins.name())),
            ("spawn_row", json!(spawn_row)),
            ("hold", json!(hold)),
            (ClearPoints::FIELD, json!(clear_points.name())),
            (AttackTable::FIELD, json!(attack.name())),
            ("rows_above", json!(rows_above)),
            ("preview", json!(preview)),
            ("scoring_piece", json!(piece)),
            ("scoring_lines", json!(lines)),
            ("scoring_game_end", json!(game_end)),
            ("gravity", part(|timing| timing.gravity)),
            ("lock_delay", part(|timing| timing.lock_delay)),
            ("lock_resets", part(|timing| timing.lock_resets)),
            ("garbage", dealt(|garbage| json!(garbage.lines_per_piece))),
            ("garbage_hole_moves", dealt(|garbage| json!(garbage.hole_moves))),
            ("garbage_delay", dealt(|garbage| json!(garbage.delay))),
        ]
    }
    let Some(preset) = PRESETS.iter().find(|row| row.name == preset) else { return Map::new() };
    let pairs = fields(rules).into_iter().zip(fields(&preset.rules));
    pairs.filter(|(new, old)| new != old).map(|((field, value), _)| (field.to_owned(), value)).collect()
}

/// A preset and its [`changes`], in words.
pub fn in_words(preset: &str, rules: &Rules) -> String {
    let changes = changes(preset, rules);
    let changes = changes.iter().map(|(field, value)| match value {
        Value::String(name) => format!("{field} {name}"),
        number => format!("{field} {number}"),
    });
    let changes: Vec<String> = changes.collect();
    if changes.is_empty() { preset.to_owned() } else { format!("{preset} with {}", changes.join(", ")) }
}

/// The parser of a number of a range.
fn within(range: RangeInclusive<u8>) -> RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(i64::from(*range.start())..=i64::from(*range.end()))
}

/// The parser of a choice: its values by name, with their meanings in `--help`.
fn value<C: NamedChoice>() -> impl TypedValueParser<Value = C> {
    let values = C::ALL
        .iter()
        .map(|value| PossibleValue::new(value.name()).help(value.meaning().trim_end_matches('.')));
    PossibleValuesParser::new(values).map(|name| C::from_name(&name).expect("one of them"))
}

/// A choice in a file, by the name of its value.
mod as_name {
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use crate::engine::NamedChoice;
    use crate::wire::rules::by_name;

    pub fn serialize<C: NamedChoice, S: Serializer>(
        value: &Option<C>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(NamedChoice::name).serialize(serializer)
    }

    pub fn deserialize<'de, C: NamedChoice, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<C>, D::Error> {
        let name = Option::<String>::deserialize(deserializer)?;
        name.map(|name| by_name(&name)).transpose().map_err(D::Error::custom)
    }
}
