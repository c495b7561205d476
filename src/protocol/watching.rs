//! WatchSession: its request, and the environments in its frames, which the server writes and a viewer reads.

use std::collections::BTreeSet;

pub use tetrion_core::env::EpisodePhase;

use tetrion_core::engine::{Incoming, PieceSet, Rules};
use tetrion_core::env::EnvBatch;
use tetrion_toolkit::recording::{Cells, CurrentPiece, Scene, SceneCells};

use super::episode_end;
use super::error::DecodeError;
use super::limits::{DEFAULT_FRAMES_PER_SECOND, MAX_FRAMES_PER_SECOND, MAX_WATCHED_ENVS};
use super::{colors, envs, pb};

/// Most bytes of an environment in a frame in addition to its cells, with every number at its longest.
const ENV_BYTES: u64 = 320;

/// Most bytes of a frame with this many environments and this many cells per playfield.
pub fn frame_bytes(num_envs: usize, cells: u64) -> u64 {
    num_envs as u64 * (ENV_BYTES + cells) + 64
}

/// Reads the environments to watch in a session of `num_envs`.
///
/// # Errors
/// If there are too many. The session checks whether they exist.
pub fn decode_envs(envs: Option<&pb::EnvIds>, num_envs: u32) -> Result<Vec<u32>, DecodeError> {
    let Some(env_ids) = envs::decode(envs) else {
        return Ok((0..num_envs.min(MAX_WATCHED_ENVS)).collect());
    };
    if env_ids.len() > MAX_WATCHED_ENVS as usize {
        let problem = format!("has {} entries, expected at most {MAX_WATCHED_ENVS}", env_ids.len());
        return Err(DecodeError::field("envs.ids", problem));
    }
    Ok(env_ids.to_vec())
}

/// Reads the highest frame rate that a caller wants.
///
/// # Errors
/// If the rate is too high.
pub fn decode_rate(frames: u32) -> Result<u32, DecodeError> {
    match frames {
        0 => Ok(DEFAULT_FRAMES_PER_SECOND),
        1..=MAX_FRAMES_PER_SECOND => Ok(frames),
        _ => {
            let problem = format!("is {frames}, expected 1 to {MAX_FRAMES_PER_SECOND}, or 0");
            Err(DecodeError::field("max_frames_per_second", problem))
        }
    }
}

/// An environment as a viewer draws it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct WatchedEnv {
    /// Number of the environment in the session.
    pub env_id: u32,
    pub phase: EpisodePhase,
    /// Number of the environment's episode under its seed, from 0.
    pub episode: u64,
    /// The game. Its steps are the steps of the episode, and its score is the sum of the rewards. The rows of the last
    /// landing and the end of an episode are unknown.
    pub scene: Scene,
    /// The last episode that ended while the environment was watched.
    pub last_episode: Option<WatchedEpisode>,
}

/// The outcome of a finished episode, for viewers.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct WatchedEpisode {
    pub lines: u64,
    pub pieces: u64,
    /// Sum of the episode's rewards.
    pub episode_return: f64,
}

/// The current state of an environment, with the colours of its cells.
pub fn encode_env(
    batch: &EnvBatch,
    env_id: u32,
    cells: &Cells,
    last_episode: Option<&pb::WatchedEpisode>,
) -> pb::WatchedEnv {
    let scene = Scene::from_env(batch, env_id, cells.clone());
    pb::WatchedEnv {
        env_id,
        end: encode_phase(batch.phase(env_id)).into(),
        episode: batch.episode(env_id).index,
        seed: batch.episode_seed(env_id),
        last_episode: last_episode.copied(),
        ..encode_scene(&scene, &batch.config().rules.pieces)
    }
}

/// A scene of a game with these pieces, which is of no session.
pub fn encode_scene(scene: &Scene, letters: &PieceSet) -> pb::WatchedEnv {
    let current = scene.current.as_ref();
    pb::WatchedEnv {
        end: pb::EpisodeEnd::from(scene.end).into(),
        lines: scene.lines,
        pieces: scene.pieces,
        steps: scene.steps,
        episode_return: scene.score,
        colors: colors::encode(&scene.cells, letters).into(),
        last_cells: encode_pairs(&scene.last),
        piece: letters.written(&current.map(|current| current.piece)),
        piece_cells: encode_pairs(current.map_or(&[], |current| &current.cells)),
        ghost_cells: encode_pairs(scene.ghost.as_ref().map_or(&[], |ghost| ghost)),
        queue: letters.written(&scene.next),
        held: letters.written(&scene.held),
        garbage: scene.garbage.iter().map(|&lines| lines.into()).collect(),
        ..pb::WatchedEnv::default()
    }
}

fn encode_phase(phase: EpisodePhase) -> pb::EpisodeEnd {
    match phase {
        EpisodePhase::NotStarted => pb::EpisodeEnd::Unspecified,
        EpisodePhase::Running => pb::EpisodeEnd::NotEnded,
        EpisodePhase::Ended(end) => Some(end).into(),
    }
}

fn encode_pairs(cells: &[(u8, u8)]) -> Vec<u32> {
    cells.iter().flat_map(|&(row, column)| [row.into(), column.into()]).collect()
}

/// Reads an environment of a frame, played under these rules.
///
/// # Errors
/// If a server of this protocol would not send the environment, its first invalid field.
pub fn decode_env(env: &pb::WatchedEnv, rules: &Rules) -> Result<WatchedEnv, DecodeError> {
    let phase = if env.end == pb::EpisodeEnd::Unspecified as i32 {
        EpisodePhase::NotStarted
    } else {
        episode_end::decode(env.end)?.map_or(EpisodePhase::Running, EpisodePhase::Ended)
    };
    let letters = |field: &str, letters: &str| {
        rules.pieces.parse_sequence(letters).map_err(|error| DecodeError::field(field, error.to_string()))
    };
    let current = match letters("piece", &env.piece)?.first() {
        Some(&piece) => {
            let cells = decode_cells_of_piece("piece_cells", &env.piece_cells, rules)?;
            let cells = cells.ok_or_else(|| DecodeError::missing("piece_cells"))?;
            Some(CurrentPiece { piece, cells })
        }
        None => None,
    };
    Ok(WatchedEnv {
        env_id: env.env_id,
        phase,
        episode: env.episode,
        scene: Scene {
            cells: colors::decode("colors", &env.colors, rules)?,
            last: decode_pairs("last_cells", &env.last_cells)?,
            cleared: Vec::new(),
            current,
            ghost: decode_cells_of_piece("ghost_cells", &env.ghost_cells, rules)?,
            next: letters("queue", &env.queue)?,
            held: letters("held", &env.held)?.first().copied(),
            garbage: decode_garbage(&env.garbage, rules)?,
            steps: env.steps,
            pieces: env.pieces,
            lines: env.lines,
            score: env.episode_return,
            end: None,
        },
        last_episode: env.last_episode.as_ref().map(|episode| WatchedEpisode {
            lines: episode.lines,
            pieces: episode.pieces,
            episode_return: episode.episode_return,
        }),
    })
}

/// Reads the waiting lines of garbage.
fn decode_garbage(lines: &[u32], rules: &Rules) -> Result<Vec<u8>, DecodeError> {
    let places = Incoming::default().seen(rules).count();
    if lines.len() != places {
        let problem = format!("has {} numbers, expected {places}", lines.len());
        return Err(DecodeError::field("garbage", problem));
    }
    let decode = |&lines: &u32| u8::try_from(lines).ok().filter(|&lines| lines <= rules.height);
    let decoded: Option<Vec<u8>> = lines.iter().map(decode).collect();
    decoded.ok_or_else(|| DecodeError::field("garbage", "has more lines than there are rows"))
}

fn decode_pairs(field: &str, numbers: &[u32]) -> Result<Vec<(u8, u8)>, DecodeError> {
    let pair = |pair: &[u32]| match *pair {
        [row, column] => Some((u8::try_from(row).ok()?, u8::try_from(column).ok()?)),
        _ => None,
    };
    let pairs: Option<Vec<(u8, u8)>> = numbers.chunks(2).map(pair).collect();
    pairs.ok_or_else(|| DecodeError::field(field, "is not a list of pairs of row and column"))
}

/// Reads the cells of a piece under these rules, or of no piece.
fn decode_cells_of_piece(
    field: &str,
    numbers: &[u32],
    rules: &Rules,
) -> Result<Option<SceneCells>, DecodeError> {
    let cells = decode_pairs(field, numbers)?;
    let expected: BTreeSet<usize> =
        rules.pieces.iter().map(|piece| rules.shapes(piece)[0].num_cells().into()).collect();
    if cells.is_empty() || expected.contains(&cells.len()) {
        return Ok((!cells.is_empty()).then(|| cells.into_iter().collect()));
    }
    let expected: Vec<String> = expected.iter().map(usize::to_string).collect();
    let problem = format!("has {} cells, expected {}", cells.len(), expected.join(" or "));
    Err(DecodeError::field(field, problem))
}
