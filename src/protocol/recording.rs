//! Recordings, as messages and as files: JSON or the bytes of the message.
//!
//! A file may come from an untrusted source. This module limits its size to [`MAX_RECORDING_BYTES`], checks every
//! field, and never takes more than a few times the file's size in memory. [`Replay`](tetrion_toolkit::recording::Replay) checks
//! whether the game matches the file.

use prost::{Message, Name};

use tetrion_core::engine::{EpisodeEnd, Playfield, RULES_VERSION, Rules};
use tetrion_toolkit::recording::{Outcome, Pieces, RecordedOpponent, Recording, Setup};

use super::codec;
use super::episode_end;
use super::error::{DecodeError, Fault, InField};
use super::limits::{MAX_DECODED_BYTES, MAX_RECORDING_BYTES, MAX_RECORDING_TEXT, check_name};
use super::pb;
use super::positions::{decode_drawing, drawn_rows, encode_drawing};
use super::rules::ResolvedRules;
use super::seeding::decode_columns;
use super::session::{decode_invalid_actions, invalid_action_reward};

/// The reason why a file is not a recording.
#[derive(Debug, thiserror::Error)]
pub enum RecordingFileError {
    #[error("the file is empty, expected a recording")]
    Empty,
    #[error("it has {0} bytes, expected at most {MAX_RECORDING_BYTES}")]
    TooLong(usize),
    /// The file has more texts and numbers than any recording.
    #[error("it would take {0} bytes of memory, expected at most {MAX_DECODED_BYTES}")]
    TooHeavy(u64),
    /// The file starts like JSON but is not a recording in JSON.
    #[error("it is not a recording in JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The file is not a recording in binary form.
    #[error("it is neither a recording in JSON, which begins with {{, nor one in binary form: {0}")]
    Binary(#[from] prost::DecodeError),
    #[error(transparent)]
    Field(#[from] DecodeError),
}

/// Reads a recording file, in JSON or in binary form.
///
/// # Errors
/// [`RecordingFileError`], with the wrong field.
pub fn read(bytes: &[u8]) -> Result<Recording, RecordingFileError> {
    if bytes.len() > MAX_RECORDING_BYTES as usize {
        return Err(RecordingFileError::TooLong(bytes.len()));
    }
    if bytes.is_empty() {
        return Err(RecordingFileError::Empty);
    }
    let message = if bytes.trim_ascii_start().starts_with(b"{") {
        serde_json::from_slice(bytes)?
    } else {
        // Empty texts take more memory than they have bytes; no recording has many of them.
        let weight = codec::weight(&pb::Recording::full_name(), bytes);
        if let Some(weight) = weight.filter(|weight| *weight > MAX_DECODED_BYTES) {
            return Err(RecordingFileError::TooHeavy(weight));
        }
        pb::Recording::decode(bytes)?
    };
    Ok(decode(&message)?)
}

/// A recording as JSON, for a file that people can read.
pub fn to_json(recording: &Recording) -> String {
    let mut json = serde_json::to_string(&encode(recording)).expect("every field is written");
    json.push('\n');
    json
}

/// A recording in binary form, for a file.
pub fn to_bytes(recording: &Recording) -> Vec<u8> {
    encode(recording).encode_to_vec()
}

/// A recording as a message.
pub fn encode(recording: &Recording) -> pb::Recording {
    use pb::recording::Pieces as Message;
    let Recording { setup, player, origin, actions, landing_lines, outcome, opponent } = recording;
    let Setup { rules, invalid_actions, pieces, hole_columns, start } = setup;
    let [holes, their_holes] =
        hole_columns.each_ref().map(|columns| columns.iter().copied().map(u32::from).collect());
    pb::Recording {
        rules_version: RULES_VERSION.to_owned(),
        rules: Some((&ResolvedRules::from(*rules)).into()),
        invalid_action_policy: pb::InvalidActionPolicy::from(*invalid_actions).into(),
        invalid_action_reward: invalid_action_reward(*invalid_actions),
        pieces: Some(match pieces {
            Pieces::Seed(seed) => Message::Seed(*seed),
            Pieces::Sequence(pieces) => Message::PieceSequence(rules.pieces.written(pieces.iter())),
        }),
        start: start.as_ref().map(|start| encode_drawing(start, &rules.pieces)),
        actions: actions.iter().copied().map(u32::from).collect(),
        landing_lines: landing_lines.clone().into(),
        outcome: Some(encode_outcome(outcome)),
        player: player.clone(),
        origin: origin.clone(),
        opponent: opponent.as_ref().map(|side| pb::RecordedOpponent {
            actions: side.actions.iter().copied().map(u32::from).collect(),
            landing_lines: side.landing_lines.clone().into(),
            outcome: Some(encode_outcome(&side.outcome)),
            player: side.player.clone(),
            hole_columns: their_holes,
        }),
        hole_columns: holes,
    }
}

fn encode_outcome(outcome: &Outcome) -> pb::RecordedOutcome {
    pb::RecordedOutcome {
        pieces: outcome.pieces,
        lines: outcome.lines,
        score: outcome.score,
        end: pb::EpisodeEnd::from(outcome.end).into(),
        rows: drawn_rows(&outcome.playfield),
    }
}

/// Reads a message.
///
/// # Errors
/// [`DecodeError`] with the fields of `Recording`.
pub fn decode(message: &pb::Recording) -> Result<Recording, DecodeError> {
    use pb::recording::Pieces as Message;
    check_rules_version(&message.rules_version)?;
    let rules = message.rules.as_ref().ok_or_else(|| DecodeError::missing("rules"))?;
    let rules = ResolvedRules::try_from(rules).in_field("rules")?.rules;
    let pieces = match message.pieces.as_ref().ok_or_else(|| DecodeError::missing("pieces"))? {
        Message::Seed(seed) => Pieces::Seed(*seed),
        Message::PieceSequence(letters) => {
            let wrong = |problem| DecodeError::field("piece_sequence", problem);
            let pieces = rules.pieces.parse_sequence(letters).map_err(|error| wrong(error.to_string()))?;
            if pieces.is_empty() {
                return Err(wrong("has no letters, expected at least one".to_owned()));
            }
            Pieces::Sequence(pieces.into())
        }
    };
    let start = message.start.as_ref().map(|start| decode_drawing(start, &rules)).transpose();
    let invalid_actions =
        decode_invalid_actions(message.invalid_action_policy, message.invalid_action_reward)?;
    let opponent = message.opponent.as_ref();
    let their_holes = opponent.map_or(&[][..], |side| &side.hole_columns);
    let decode_holes = |columns| decode_columns("hole_columns", columns, &rules);
    let hole_columns =
        [decode_holes(&message.hole_columns)?, decode_holes(their_holes).in_field("opponent")?];
    let setup = Setup { rules, invalid_actions, pieces, hole_columns, start: start.in_field("start")? };
    if let Some(start) = &setup.start {
        let impossible = |error| DecodeError::invalid(Fault::Position, "start", format!("{error}"));
        start.check(&rules).map_err(impossible)?;
    }
    let outcome = message.outcome.as_ref().ok_or_else(|| DecodeError::missing("outcome"))?;
    let opponent = opponent.map(|side| decode_opponent(side, &rules)).transpose();
    let recording = Recording {
        setup,
        player: decode_text("player", &message.player)?,
        origin: decode_text("origin", &message.origin)?,
        actions: decode_actions(&message.actions)?,
        landing_lines: message.landing_lines.to_vec(),
        outcome: decode_outcome(outcome, &rules).in_field("outcome")?,
        opponent: opponent.in_field("opponent")?,
    };
    Ok(recording)
}

fn decode_opponent(message: &pb::RecordedOpponent, rules: &Rules) -> Result<RecordedOpponent, DecodeError> {
    let outcome = message.outcome.as_ref().ok_or_else(|| DecodeError::missing("outcome"))?;
    Ok(RecordedOpponent {
        player: decode_text("player", &message.player)?,
        actions: decode_actions(&message.actions)?,
        landing_lines: message.landing_lines.to_vec(),
        outcome: decode_outcome(outcome, rules).in_field("outcome")?,
    })
}

/// Reads action numbers. A replay checks whether its rules have these actions.
fn decode_actions(actions: &[u32]) -> Result<Vec<u16>, DecodeError> {
    let decode = |(step, &action): (usize, &u32)| {
        let problem = || format!("is {action}, expected at most {}", u16::MAX);
        u16::try_from(action).map_err(|_| DecodeError::field(format!("actions[{step}]"), problem()))
    };
    actions.iter().enumerate().map(decode).collect()
}

fn check_rules_version(version: &str) -> Result<(), DecodeError> {
    check_name("rules_version", version)?;
    match version {
        "" => Err(DecodeError::missing("rules_version")),
        RULES_VERSION => Ok(()),
        other => {
            let problem =
                format!("is {other:?}, expected {RULES_VERSION:?}: other rules may make another game");
            Err(DecodeError::field("rules_version", problem))
        }
    }
}

fn decode_text(field: &str, text: &str) -> Result<String, DecodeError> {
    if text.len() > MAX_RECORDING_TEXT {
        let problem = format!("has {} bytes, expected at most {MAX_RECORDING_TEXT}", text.len());
        return Err(DecodeError::field(field, problem));
    }
    // Terminals show this text.
    if let Some(character) = text.chars().find(|character| character.is_control()) {
        return Err(DecodeError::field(field, format!("has the control character {character:?}")));
    }
    Ok(text.to_owned())
}

fn decode_outcome(message: &pb::RecordedOutcome, rules: &Rules) -> Result<Outcome, DecodeError> {
    let pb::RecordedOutcome { pieces, lines, score, end, rows } = message;
    if !score.is_finite() {
        return Err(DecodeError::field("score", format!("is {score}, expected a finite number")));
    }
    let playfield = Playfield::from_drawn_rows(rules.width, rules.height, rows)
        .map_err(|error| DecodeError::invalid(Fault::Position, "rows", error.to_string()))?;
    Ok(Outcome { pieces: *pieces, lines: *lines, score: *score, end: decode_end(*end)?, playfield })
}

/// Reads the end of a game.
fn decode_end(number: i32) -> Result<Option<EpisodeEnd>, DecodeError> {
    let end = episode_end::decode(number)?;
    match end {
        Some(EpisodeEnd::StepLimit | EpisodeEnd::PieceLimit) => {
            let name = pb::EpisodeEnd::from(end).as_str_name();
            let problem = format!("is {name}, expected EPISODE_END_NOT_ENDED: a replay knows no limits");
            Err(DecodeError::field("end", problem))
        }
        _ => Ok(end),
    }
}
