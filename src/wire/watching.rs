//! WatchSession: what a request asks for, and an environment as a frame shows it.

use crate::engine::{Key, Tetromino};
use crate::env::{EnvBatch, EpisodePhase};
use crate::recording::{Cell, Cells, CurrentPiece, remaining};

use super::error::DecodeError;
use super::limits::{DEFAULT_FRAMES_PER_SECOND, MAX_FRAMES_PER_SECOND, MAX_WATCHED_ENVS};
use super::pb;

/// Bytes of an environment in a frame besides its cells, at most: every number at its longest.
const ENV_BYTES: u64 = 320;

/// Bytes of a frame of this many environments with playfields of this many cells, at most.
pub fn frame_bytes(num_envs: usize, cells: u64) -> u64 {
    num_envs as u64 * (ENV_BYTES + cells) + 64
}

/// Reads which environments of a session of `num_envs` a caller wants to watch.
///
/// # Errors
/// If they are too many. Whether they exist is up to the session.
pub fn decode_env_ids(env_ids: &[u32], num_envs: u32) -> Result<Vec<u32>, DecodeError> {
    if env_ids.is_empty() {
        return Ok((0..num_envs.min(MAX_WATCHED_ENVS)).collect());
    }
    if env_ids.len() > MAX_WATCHED_ENVS as usize {
        let problem = format!("has {} entries, expected at most {MAX_WATCHED_ENVS}", env_ids.len());
        return Err(DecodeError::field("env_ids", problem));
    }
    Ok(env_ids.to_vec())
}

/// Reads how many frames a second a caller wants at most.
///
/// # Errors
/// If they are too many.
pub fn decode_rate(frames: u32) -> Result<u32, DecodeError> {
    match frames {
        0 => Ok(DEFAULT_FRAMES_PER_SECOND),
        1..=MAX_FRAMES_PER_SECOND => Ok(frames),
        _ => {
            let problem = format!("is {frames}, expected 1..={MAX_FRAMES_PER_SECOND}, or 0");
            Err(DecodeError::field("max_frames_per_second", problem))
        }
    }
}

/// An environment as it is now, in these colours.
pub fn encode_env(
    batch: &EnvBatch,
    env_id: u32,
    cells: &Cells,
    last_episode: Option<&pb::WatchedEpisode>,
) -> pb::WatchedEnv {
    let (rules, statistics) = (&batch.config().rules, batch.statistics(env_id));
    let phase = batch.phase(env_id);
    let pieces = batch.pieces(env_id);
    let falling = batch.falling(env_id).filter(|_| phase == EpisodePhase::Running);
    let current = pieces.first().filter(|_| phase == EpisodePhase::Running);
    let current = current.map(|&tetromino| match falling {
        Some(falling) => CurrentPiece { tetromino, cells: falling.cells() },
        None => CurrentPiece::appearing(tetromino, rules),
    });
    let ghost = falling.map(|falling| falling.step(Key::Drop, &batch.playfield(env_id)).piece.cells());
    let last = batch.last_landing(env_id);
    let last = last.map(|last| remaining(&last.cells, last.cleared_rows, rules.height));
    pb::WatchedEnv {
        env_id,
        phase: encode_phase(phase).into(),
        episode: batch.episode(env_id).index,
        seed: batch.episode_seed(env_id),
        lines: statistics.lines,
        pieces: statistics.pieces,
        length: statistics.length,
        episode_return: statistics.episode_return,
        cells: cells.rows().flatten().map(encode_cell).collect(),
        last_cells: encode_pairs(&last.unwrap_or_default()),
        piece: current.map(|current| current.tetromino.letter().to_string()).unwrap_or_default(),
        piece_cells: encode_pairs(current.as_ref().map_or(&[], |current| &current.cells)),
        ghost_cells: encode_pairs(ghost.as_ref().map_or(&[], |ghost| ghost)),
        queue: pieces.iter().skip(1).map(|piece| piece.letter()).collect(),
        last_episode: last_episode.copied(),
    }
}

fn encode_phase(phase: EpisodePhase) -> pb::EpisodePhase {
    match phase {
        EpisodePhase::NotStarted => pb::EpisodePhase::NotStarted,
        EpisodePhase::Running => pb::EpisodePhase::Running,
        EpisodePhase::Terminated => pb::EpisodePhase::Terminated,
        EpisodePhase::Truncated => pb::EpisodePhase::Truncated,
    }
}

fn encode_cell(cell: &Cell) -> u8 {
    match cell {
        Cell::Empty => 0,
        Cell::Of(tetromino) => 1 + *tetromino as u8,
        Cell::Given => 1 + Tetromino::ALL.len() as u8,
    }
}

fn encode_pairs(cells: &[(u8, u8)]) -> Vec<u32> {
    cells.iter().flat_map(|&(row, column)| [row.into(), column.into()]).collect()
}
