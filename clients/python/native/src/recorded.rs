//! Recordings: read from files, and made of games that were played somewhere.
//!
//! A game is known by where it began and by its actions. It is played again here, which the rules of the server must allow: the
//! caller compares their version with `rules_version`.

use prost::Message;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::engine::{ActionModel, Rules};
use tetrion::env::{AutoresetMode, EnvBatch, EnvConfig, EnvState, Restored, Seeding, StartPosition};
use tetrion::protocol::recording::{self, RecordingFileError};
use tetrion::protocol::session::{self, SessionConfig};
use tetrion::protocol::{DecodeError, colors, pb};
use tetrion::recording::{Course, Pieces, Recorder, Recording, Setup};

pyo3::create_exception!(
    tetrion._native,
    RecordingError,
    pyo3::exceptions::PyException,
    "Something that is no recording, or a game that cannot be recorded: the field that is wrong, and the problem."
);

/// The exception for a wrong field.
pub(crate) fn wrong(error: DecodeError) -> PyErr {
    match error {
        DecodeError::Invalid { field, problem, .. } => RecordingError::new_err((field, problem)),
        other => RecordingError::new_err((String::new(), other.to_string())),
    }
}

fn unplayable(error: impl std::error::Error) -> PyErr {
    RecordingError::new_err((String::new(), error.to_string()))
}

/// Reads the content of a file, in JSON or in binary form. Returns the message.
#[pyfunction]
pub(crate) fn read_recording<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let recording = py.detach(|| recording::read(data)).map_err(|error| match error {
        RecordingFileError::Field(error) => wrong(error),
        other => RecordingError::new_err((String::new(), other.to_string())),
    })?;
    Ok(PyBytes::new(py, &recording::to_bytes(&recording)))
}

/// Reads the side of a match, 0 or 1, of which this is a snapshot; 0 in a game of one player.
#[pyfunction]
pub(crate) fn snapshot_side(state: &[u8]) -> PyResult<u8> {
    let (snapshot, _) = colors::split(state).map_err(wrong)?;
    Ok(EnvState::from_bytes(snapshot).map_err(unplayable)?.incoming().side.unwrap_or(0))
}

/// Records a game of a session with this configuration: from a seed, explicit pieces with columns of holes for each side, or a
/// snapshot, and its actions; in a match, also the actions of the other side. Returns the message; None if nothing of the game
/// can be recorded.
#[pyfunction]
#[pyo3(signature = (config, actions, players, origin, *, opponent=None, seed=None, sequence=None, holes=Vec::new(), state=None))]
#[allow(clippy::too_many_arguments)] // Python has them by name
pub(crate) fn record<'py>(
    py: Python<'py>,
    config: &[u8],
    actions: Vec<u16>,
    players: (String, String),
    origin: &str,
    opponent: Option<Vec<u16>>,
    seed: Option<u64>,
    sequence: Option<&str>,
    holes: Vec<Vec<u8>>,
    state: Option<&[u8]>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let recorded = py.detach(|| {
        let config = pb::SessionConfig::decode(config).map_err(unplayable)?;
        let (SessionConfig { env, .. }, _) = session::decode(&config, || 0).map_err(wrong)?;
        let rules = env.rules;
        let dealt = match (seed, sequence) {
            (Some(seed), _) => Some(Pieces::Seed(seed)),
            (None, Some(letters)) => {
                Some(Pieces::Sequence(rules.pieces.parse_sequence(letters).map_err(unplayable)?.into()))
            }
            (None, None) => None,
        };
        if let Some(pieces) = dealt {
            let mut holes = holes.into_iter();
            let setup = Setup {
                invalid_actions: env.invalid_action_policy,
                hole_columns: [(); 2].map(|()| holes.next().unwrap_or_default()),
                ..Setup::new(rules, pieces)
            };
            return played(setup, &actions, opponent.as_deref(), &players, origin);
        }
        let Some(state) = state else { return Ok(None) };
        let (snapshot, _) = colors::split(state).map_err(wrong)?;
        let state = EnvState::from_bytes(snapshot).map_err(unplayable)?;
        from_snapshot(&env, state, &actions, &players, origin)
    });
    Ok(recorded?.map(|recording| PyBytes::new(py, &recording::to_bytes(&recording))))
}

/// The recording of a game, unless it has actions after its end.
fn played(
    setup: Setup,
    actions: &[u16],
    opponent: Option<&[u16]>,
    players: &(String, String),
    origin: &str,
) -> PyResult<Option<Recording>> {
    if setup.rules.is_match() != opponent.is_some()
        || opponent.is_some_and(|theirs| theirs.len() != actions.len())
    {
        return Ok(None);
    }
    let mut recorder = Recorder::new(setup).map_err(unplayable)?;
    for (step, &action) in actions.iter().enumerate() {
        if recorder.course().end().is_some() {
            return Ok(None);
        }
        let theirs = opponent.and_then(|actions| actions.get(step)).copied();
        recorder.play_turn([action, theirs.unwrap_or(0)]).map_err(|(_, refused)| unplayable(refused))?;
    }
    let mut recording = recorder.recording(&players.0, origin);
    if let Some(opponent) = &mut recording.opponent {
        opponent.player.clone_from(&players.1);
    }
    Ok(Some(recording))
}

/// The recording of a game that goes on from a snapshot. It begins with a drawing of the position, and with the pieces that were
/// seen. What waits of garbage, and what its seed deals, cannot be drawn.
fn from_snapshot(
    env: &EnvConfig,
    state: EnvState,
    actions: &[u16],
    players: &(String, String),
    origin: &str,
) -> PyResult<Option<Recording>> {
    let rules = env.rules;
    if rules.garbage.is_some() {
        return Ok(None);
    }
    let Some((state, actions)) = from_the_top(env, state, actions)? else { return Ok(None) };
    let Some(start) = position(&state) else { return Ok(None) };
    // Each action brings two pieces at most: the next one, and one for a piece that is held.
    let all = state.deal(1 + usize::from(rules.preview) + 2 * actions.len());
    let is_plain = start.playfield.rows().all(|row| row == 0) && start.held.is_none();
    let held = start.held;
    let setup = Setup {
        invalid_actions: env.invalid_action_policy,
        start: (!is_plain).then_some(start),
        ..Setup::new(rules, Pieces::Sequence(all.clone().into()))
    };
    let Some(mut recording) = played(setup, actions, None, players, origin)? else { return Ok(None) };
    let mut course = Course::new(&recording.setup).map_err(unplayable)?;
    for &action in actions {
        course.play(action).map_err(unplayable)?;
    }
    let first_hold = usize::from(held.is_none() && course.held().is_some());
    let seen = 1 + usize::from(rules.preview) + recording.outcome.pieces as usize + first_hold;
    recording.setup.pieces = Pieces::Sequence(all[..seen.min(all.len())].into());
    Ok(Some(recording))
}

/// A game at the first position that can be drawn, and the actions from there. That is its beginning, unless keys have moved its
/// first piece already.
fn from_the_top<'a>(
    env: &EnvConfig,
    state: EnvState,
    actions: &'a [u16],
) -> PyResult<Option<(EnvState, &'a [u16])>> {
    let rules: Rules = env.rules;
    let Some(start) = position(&state) else { return Ok(None) };
    if rules.action_model == ActionModel::Placement {
        return Ok(Some((state, actions)));
    }
    let pieces = Pieces::Sequence(state.deal(1 + usize::from(rules.preview)).into());
    let setup = Setup { start: Some(start), ..Setup::new(rules, pieces) };
    let drawn = Course::new(&setup).map_err(unplayable)?;
    if drawn.moving() == state.falling() {
        return Ok(Some((state, actions)));
    }
    let config = EnvConfig {
        num_envs: 1,
        autoreset_mode: AutoresetMode::Disabled,
        max_episode_steps: 0,
        features: None,
        ..env.clone()
    };
    let mut batch = EnvBatch::new(config, &Seeding::Seed(0)).map_err(unplayable)?;
    batch.restore(None, Restored::States(&[state]), None).map_err(unplayable)?;
    for (step, &action) in actions.iter().enumerate() {
        let pieces = batch.statistics(0).pieces;
        batch.step(&[action.into()], None).map_err(unplayable)?;
        if batch.has_ended(0) {
            return Ok(None);
        }
        if batch.statistics(0).pieces > pieces {
            return Ok(Some((batch.state(0), &actions[step + 1..])));
        }
    }
    Ok(None)
}

/// Where a game stands, as a position to begin from; None if it is over.
fn position(state: &EnvState) -> Option<StartPosition> {
    let pieces = state.pieces();
    let (&piece, queue) = pieces.split_first().filter(|_| !state.has_ended())?;
    Some(StartPosition { playfield: *state.playfield(), piece, queue: queue.to_vec(), held: state.held() })
}
