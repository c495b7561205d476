//! `weights.json`: a controller, with all that is needed to play it again and to doubt its score.
//!
//! Weights mean nothing without the features they belong to, and a score means nothing without the rules, the seeds
//! and the number of games. So they travel together, and a reader checks them together. Numbers come back with every bit.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::expectation::ExpectationNote;
use super::model::ModelNote;
use super::numbers::count;
use super::options::{UsageError, read_utf8};
use super::rules::RulesArgs;
use crate::client::{Expectation, Features, Policies, RulesChoice, Started};
use crate::engine::{Garbage, NamedChoice, Rules, Scoring, Timing};
use crate::wire::limits::MAX_MODEL_PARAMETERS;
use crate::wire::rules::by_name;

/// The format this program writes, and the only one it reads.
pub const WEIGHTS_FORMAT: u32 = 1;

/// Bytes of a file of weights: twice what the largest model takes, with a line of 32 bytes for each parameter.
const MAX_FILE_BYTES: u64 = 64 * MAX_MODEL_PARAMETERS as u64;

/// A linear controller, with a model beside its sum if there is one, and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// [`WEIGHTS_FORMAT`].
    pub format: u32,
    /// What the weights belong to.
    pub feature_set: FeatureSetNote,
    /// One name a weight, in the order of the weights.
    pub feature_names: Vec<String>,
    /// Signed and finite, at most 1e300 in size.
    pub weights: Vec<f64>,
    /// What is added to the sum of weight times feature, if anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelNote>,
    /// How a game-ending placement is valued: `avoid` (last choice) or `score` (by its features).
    pub terminal: String,
    /// How they weigh what the next pieces can reach, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expectation: Option<ExpectationNote>,
    /// What was played.
    pub rules: RulesNote,
    /// Where the weights, and the games of the score, come from.
    pub seeds: SeedsNote,
    /// Their score; absent if it was not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<ScoreNote>,
}

/// A feature set by name and version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureSetNote {
    /// As the server lists it; empty for a list of the caller's own.
    pub name: String,
    /// Changes whenever the meaning, the order or the number of its columns changes; empty for a list of the caller's own.
    pub version: String,
}

/// The rules of the games, every field written out, in the words of the protocol.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesNote {
    /// The rule set they started from.
    pub preset: String,
    /// Equal seeds and actions give equal games while this stays the same.
    pub rules_version: String,
    /// Columns of the playfield.
    pub width: u32,
    /// Rows of the playfield.
    pub height: u32,
    /// Which pieces there are, if not the tetrominoes: a name, or drawings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub piece_set: Option<String>,
    /// How pieces are dealt.
    pub randomizer: String,
    /// What a step is.
    pub action_model: String,
    /// What ends a game.
    pub top_out: String,
    /// How orientations are numbered.
    pub orientation_table: String,
    /// Where a piece may come down.
    pub reach: String,
    /// What is more than in the games of the literature, if anything is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modern: Option<ModernNote>,
    /// The garbage, if there is any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub garbage: Option<GarbageNote>,
    /// Next pieces shown.
    pub preview: u32,
    /// Points for a piece.
    pub piece_points: f64,
    /// Points for 1, 2, 3 and 4 lines at once.
    pub line_points: [f64; 4],
    /// Points for the end of a game.
    pub game_end_points: f64,
}

/// The choices that only games with kicks, a held piece, or other points for clears have. Files for other games do not name them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModernNote {
    /// Rows above the visible field.
    pub rows_above: u32,
    /// How turns are kicked.
    pub rotation: String,
    /// Turns by 180 degrees.
    pub half_turns: String,
    /// Which spins are told apart.
    pub spins: String,
    /// The row in which pieces appear, if the rules name one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spawn_row: Option<u32>,
    /// Whether a piece can be held.
    pub hold: bool,
    /// Which points clears make.
    pub clear_points: String,
    /// Which lines clears send.
    pub attack: String,
    /// How time passes where keys steer pieces.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timing: Option<TimingNote>,
}

/// How time passes where keys steer pieces, in steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimingNote {
    /// Steps in the air after which a piece falls by a row.
    pub gravity: u8,
    /// Steps on the ground after which it locks.
    pub lock_delay: u8,
    /// How often that delay begins anew.
    pub lock_resets: u8,
}

impl From<Timing> for TimingNote {
    fn from(Timing { gravity, lock_delay, lock_resets }: Timing) -> TimingNote {
        TimingNote { gravity, lock_delay, lock_resets }
    }
}

/// The garbage of a game.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GarbageNote {
    /// Lines dealt a piece, on average.
    pub lines_per_piece: f64,
    /// The chance that the hole of a row is in another column than that of the row before.
    pub hole_moves: f64,
    /// How many more pieces land before dealt lines may rise.
    pub delay: u8,
}

impl From<Garbage> for GarbageNote {
    fn from(Garbage { lines_per_piece, hole_moves, delay }: Garbage) -> GarbageNote {
        GarbageNote { lines_per_piece, hole_moves, delay }
    }
}

/// Seeds, kept apart because a controller must not be judged by the games it was chosen by.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeedsNote {
    /// Of the run that found the weights.
    pub training: u64,
    /// Of the games of the score.
    pub evaluation: u64,
}

/// A measured score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScoreNote {
    /// What was counted: `lines`, `pieces` or `points`.
    pub unit: String,
    /// Mean over the games.
    pub mean: f64,
    /// Standard deviation over the games, divided by n - 1.
    pub std: f64,
    /// mean - and + 1.96 std / sqrt(games).
    pub ci95: [f64; 2],
    /// Games played.
    pub games: u64,
    /// Games among them that a limit cut short; if there are any, the mean is a lower bound.
    pub truncated: u64,
}

/// Why a file of weights cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WeightsError {
    /// The file cannot be read.
    #[error("cannot read it: {0}")]
    Io(std::io::Error),
    /// It is not JSON, or a field is missing, unknown or of another type.
    #[error("it is not a file of weights: {0}")]
    Json(serde_json::Error),
    /// Written by another version.
    #[error("its format is {0}, not {WEIGHTS_FORMAT}")]
    Format(u32),
    /// Rules that this program does not know.
    #[error("its rules cannot be played: {0}")]
    Rules(String),
    /// Not one name a weight.
    #[error("it has {} and {}", count(*names as u64, "feature name"), count(*weights as u64, "weight"))]
    Length {
        /// Feature names.
        names: usize,
        /// Weights.
        weights: usize,
    },
    /// A weight no controller can use.
    #[error("the weight of {name} is {value:?}, not a number of at most 1e300")]
    Weight {
        /// Its feature.
        name: String,
        /// The weight.
        value: f64,
    },
    /// A model that cannot be: its shape, or a parameter.
    #[error("its model cannot be played: {0}")]
    Model(String),
}

impl FeatureSetNote {
    /// The features as a request names them: the set, or these features if there is none.
    pub fn features(&self, names: &[String]) -> Features {
        match self.name.as_str() {
            "" => Features::List(names.to_vec()),
            name => Features::Set { name: name.to_owned(), version: self.version.clone() },
        }
    }
}

impl RulesNote {
    /// What a server plays.
    pub fn of(Started { preset, rules, rules_version, .. }: &Started) -> RulesNote {
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
        } = *rules;
        let Scoring { piece, lines, game_end } = scoring;
        RulesNote {
            preset: preset.clone(),
            rules_version: rules_version.clone(),
            width: width.into(),
            height: height.into(),
            piece_set: (!pieces.is_tetrominoes()).then(|| pieces.to_string()),
            randomizer: randomizer.name().to_owned(),
            action_model: action_model.name().to_owned(),
            top_out: top_out.name().to_owned(),
            orientation_table: orientations.name().to_owned(),
            reach: reach.name().to_owned(),
            modern: (rules.names_spots() || hold || rules.keeps_chain()).then(|| ModernNote {
                rows_above: rows_above.into(),
                rotation: rotation.name().to_owned(),
                half_turns: half_turns.name().to_owned(),
                spins: spins.name().to_owned(),
                spawn_row: spawn_row.map(u32::from),
                hold,
                clear_points: clear_points.name().to_owned(),
                attack: attack.name().to_owned(),
                timing: timing.map(TimingNote::from),
            }),
            garbage: garbage.map(GarbageNote::from),
            preview: preview.into(),
            piece_points: piece,
            line_points: lines,
            game_end_points: game_end,
        }
    }

    /// The rules as a request names them, with every field.
    ///
    /// # Errors
    ///
    /// A value of a choice that this program does not know.
    pub fn choice(&self) -> Result<RulesChoice, WeightsError> {
        fn value<C: NamedChoice>(name: &str) -> Result<Option<C>, WeightsError> {
            by_name(name).map(Some).map_err(WeightsError::Rules)
        }
        let mut choice = RulesChoice {
            preset: self.preset.clone(),
            width: Some(self.width),
            height: Some(self.height),
            piece_set: self.piece_set.clone().unwrap_or_default(),
            randomizer: value(&self.randomizer)?,
            action_model: value(&self.action_model)?,
            top_out: value(&self.top_out)?,
            orientation_table: value(&self.orientation_table)?,
            reach: value(&self.reach)?,
            scoring_piece: Some(self.piece_points),
            scoring_lines: self.line_points.to_vec(),
            scoring_game_end: Some(self.game_end_points),
            preview: Some(self.preview),
            garbage_lines: self.garbage.map(|garbage| garbage.lines_per_piece),
            garbage_hole_moves: self.garbage.map(|garbage| garbage.hole_moves),
            garbage_delay: self.garbage.map(|garbage| garbage.delay.into()),
            ..RulesChoice::default()
        };
        if let Some(modern) = &self.modern {
            let ModernNote {
                rows_above,
                rotation,
                half_turns,
                spins,
                spawn_row,
                hold,
                clear_points,
                attack,
                timing,
            } = modern;
            choice.rows_above = Some(*rows_above);
            choice.rotation = value(rotation)?;
            choice.half_turns = value(half_turns)?;
            choice.spins = value(spins)?;
            choice.spawn_row = *spawn_row;
            choice.hold = Some(*hold);
            choice.clear_points = value(clear_points)?;
            choice.attack = value(attack)?;
            choice.gravity = timing.map(|timing| timing.gravity.into());
            choice.lock_delay = timing.map(|timing| timing.lock_delay.into());
            choice.lock_resets = timing.map(|timing| timing.lock_resets.into());
        }
        Ok(choice)
    }

    /// The rules of flags, which these rules complete unless the flags name another preset.
    ///
    /// # Errors
    /// As [`choice`](Self::choice).
    pub fn changed_by(&self, flags: &RulesArgs) -> Result<RulesChoice, WeightsError> {
        let is_same = flags.rules.as_ref().is_none_or(|preset| *preset == self.preset);
        Ok(flags.choice(if is_same { self.choice()? } else { RulesChoice::default() }))
    }
}

/// Reads the text of a file of weights, whatever its format.
///
/// # Errors
/// A file that cannot be read, or is larger than any with weights.
pub fn read_text(path: &Path) -> Result<String, WeightsError> {
    read_utf8(path, MAX_FILE_BYTES).map_err(WeightsError::Io)
}

/// The numbers of a text that is no file of this format: between spaces, commas, lines or brackets.
///
/// # Errors
/// The first word that is no finite number.
pub fn plain_numbers(text: &str) -> Result<Vec<f64>, UsageError> {
    let words = text.split(|c: char| c.is_whitespace() || ",;[]".contains(c)).filter(|word| !word.is_empty());
    let number = |word: &str| word.parse().ok().filter(|number: &f64| number.is_finite());
    let problem = |word: &str| {
        let expected = "expected a weights.json of `tetrion train`, or plain numbers";
        UsageError(format!("it holds {word:?}, which is no finite number: {expected}"))
    };
    let numbers = words.map(|word| number(word).ok_or_else(|| problem(word)));
    let numbers: Vec<f64> = numbers.collect::<Result<_, _>>()?;
    if numbers.is_empty() {
        return Err(UsageError("it is empty, expected weights".to_owned()));
    }
    Ok(numbers)
}

impl Weights {
    /// Reads and checks a file.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, or that [`check`](Self::check) refuses.
    pub fn read(path: &Path) -> Result<Self, WeightsError> {
        Self::from_json(&read_text(path)?)
    }

    /// The same for text at hand.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read).
    pub fn from_json(text: &str) -> Result<Self, WeightsError> {
        #[derive(Deserialize)]
        struct Format {
            format: u32,
        }
        // The format first: a file of another one need not have anything else we know.
        let Format { format } = serde_json::from_str(text).map_err(WeightsError::Json)?;
        if format != WEIGHTS_FORMAT {
            return Err(WeightsError::Format(format));
        }
        let weights: Self = serde_json::from_str(text).map_err(WeightsError::Json)?;
        weights.check()?;
        Ok(weights)
    }

    /// Indented, for people to read; ends with a newline.
    pub fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).expect("strings and numbers can be written") + "\n"
    }

    /// Whether a controller can be made of it.
    ///
    /// # Errors
    ///
    /// Another format, not one name a weight, a weight that is not a number of at most 1e300, or a model without a shape or
    /// with a parameter that is not finite.
    pub fn check(&self) -> Result<(), WeightsError> {
        if self.format != WEIGHTS_FORMAT {
            return Err(WeightsError::Format(self.format));
        }
        let (names, weights) = (self.feature_names.len(), self.weights.len());
        if names != weights {
            return Err(WeightsError::Length { names, weights });
        }
        if let Some(index) = self.weights.iter().position(|weight| !(-1e300..=1e300).contains(weight)) {
            let (name, value) = (self.feature_names[index].clone(), self.weights[index]);
            return Err(WeightsError::Weight { name, value });
        }
        let Some(model) = &self.model else { return Ok(()) };
        model.shape().map_err(WeightsError::Model)?;
        match model.parameters.iter().position(|parameter| !parameter.is_finite()) {
            Some(index) => {
                let problem =
                    format!("parameter {index} is {:?}, expected a float32", model.parameters[index]);
                Err(WeightsError::Model(problem))
            }
            None => Ok(()),
        }
    }

    /// The controller as a request takes it: it weighs the pieces to come by this expectation, or looks ahead.
    ///
    /// # Errors
    /// A model that has no shape.
    pub fn policies(
        &self,
        avoid_terminal: Option<bool>,
        lookahead: u32,
        expectation: Option<Expectation>,
    ) -> Result<Policies, WeightsError> {
        let model = self.model.as_ref().map(ModelNote::shape).transpose().map_err(WeightsError::Model)?;
        Ok(Policies::Matrix {
            features: self.feature_set.features(&self.feature_names),
            rows: vec![self.row()],
            model,
            avoid_terminal: avoid_terminal.unwrap_or(self.terminal != "score"),
            lookahead,
            expectation,
        })
    }

    /// The numbers of a row of a matrix: the weights, then the parameters of the model.
    pub fn row(&self) -> Vec<f64> {
        let parameters = self.model.iter().flat_map(|model| &model.parameters);
        self.weights.iter().copied().chain(parameters.map(|parameter| f64::from(*parameter))).collect()
    }
}
