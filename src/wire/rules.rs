//! Rules: a preset and the changes to it, to and from the wire.

use crate::engine::rules::{HEIGHTS, WIDTHS};
use crate::engine::{
    ActionModel, OrientationTable, PRESETS, Randomizer, Reach, Rules, RulesError, Scoring, TopOut,
};
use crate::names;

use super::error::{DecodeError, Fault};
use super::limits::check_name;
use super::pb;

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
        check_name("preset", &message.preset)?;
        let preset = match message.preset.as_str() {
            "" => &PRESETS[0],
            name => PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| unknown_preset(name))?,
        };
        let mut rules = preset.rules;
        if let Some(width) = message.width {
            rules.width = u8::try_from(width)
                .ok()
                .filter(|width| WIDTHS.contains(width))
                .ok_or(RulesError::Width(width))?;
        }
        if let Some(height) = message.height {
            rules.height = u8::try_from(height)
                .ok()
                .filter(|height| HEIGHTS.contains(height))
                .ok_or(RulesError::Height(height))?;
        }
        if message.randomizer.is_some() {
            rules.randomizer = message.randomizer().try_into()?;
        }
        if message.action_model.is_some() {
            rules.action_model = message.action_model().try_into()?;
        }
        if message.top_out.is_some() {
            rules.top_out = message.top_out().try_into()?;
        }
        if message.orientation_table.is_some() {
            rules.orientations = message.orientation_table().try_into()?;
        }
        if message.reach.is_some() {
            rules.reach = message.reach().try_into()?;
        }
        if let Some(scoring) = &message.scoring {
            change_scoring(&mut rules.scoring, scoring)?;
        }
        if let Some(preview) = message.preview {
            rules.preview = u8::try_from(preview).map_err(|_| RulesError::Preview(preview))?;
        }
        rules.check()?;
        Ok(ResolvedRules { preset: preset.name, rules })
    }
}

impl From<&ResolvedRules> for pb::Rules {
    fn from(&ResolvedRules { preset, rules }: &ResolvedRules) -> pb::Rules {
        pb::Rules {
            preset: preset.to_owned(),
            width: Some(rules.width.into()),
            height: Some(rules.height.into()),
            randomizer: Some(pb::Randomizer::from(rules.randomizer).into()),
            action_model: Some(pb::ActionModel::from(rules.action_model).into()),
            top_out: Some(pb::TopOut::from(rules.top_out).into()),
            orientation_table: Some(pb::OrientationTable::from(rules.orientations).into()),
            reach: Some(pb::Reach::from(rules.reach).into()),
            scoring: Some(pb::Scoring {
                piece: Some(rules.scoring.piece),
                lines: rules.scoring.lines.to_vec(),
                game_end: Some(rules.scoring.game_end),
            }),
            preview: Some(rules.preview.into()),
        }
    }
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

/// The values of an enum as people write them, `bag7` for `RANDOMIZER_BAG7`; without zero, which is refused.
pub fn words<T: TryFrom<i32>>(prefix: &str, name: fn(&T) -> &'static str) -> Vec<String> {
    let values = (1..).map_while(|number| T::try_from(number).ok());
    values.map(|value| name(&value).trim_start_matches(prefix).to_lowercase()).collect()
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
            RulesError::Preview(_) => DecodeError::field("preview", problem),
            RulesError::Points { field, .. } => DecodeError::field(field, problem),
            RulesError::Contradiction(_) => DecodeError::invalid(Fault::Rules, "", problem),
        }
    }
}

/// Both directions of an enum that refuses zero and every number without a name.
///
/// prost reads a number without a name as the zero.
macro_rules! choice {
    ($field:literal, $domain:ident: $($ours:ident = $theirs:ident),+ $(,)?) => {
        impl TryFrom<pb::$domain> for $domain {
            type Error = DecodeError;

            fn try_from(message: pb::$domain) -> Result<$domain, DecodeError> {
                match message {
                    pb::$domain::Unspecified => {
                        Err(DecodeError::field($field, "is unspecified or unknown"))
                    }
                    $(pb::$domain::$theirs => Ok($domain::$ours),)+
                }
            }
        }

        impl From<$domain> for pb::$domain {
            fn from(choice: $domain) -> pb::$domain {
                match choice {
                    $($domain::$ours => pb::$domain::$theirs,)+
                }
            }
        }
    };
}
choice!("randomizer", Randomizer: Uniform = Uniform, Bag7 = Bag7, Balanced = Balanced);
choice!("action_model", ActionModel: Placement = Placement, Keypress = Keypress);
choice!("top_out", TopOut:
    Overflow = Overflow, SpawnBlocked = SpawnBlocked, TopRow = TopRow, AboveField = AboveField);
choice!("orientation_table", OrientationTable:
    Literature = Literature, Lab = Lab, Survey = Survey, Leiden = Leiden);
choice!("reach", Reach: StraightDrop = StraightDrop, SidewaysWalk = SidewaysWalk);
