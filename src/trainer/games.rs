//! Games of an evaluation, as recordings.
//!
//! A game is identified by its seed, so the server replays the chosen games and records them. Each replay must have the
//! same lines and pieces as the original.

use std::collections::BTreeSet;

use tetrion_client::{Client, ClientError, Evaluated, EvaluationRequest};
use tetrion_protocol::limits::MAX_RECORDED_STEPS;
use tetrion_toolkit::recording::{Outcome, Recording};

/// The reason why a game cannot be recorded.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The game has more steps than a recording may have.
    #[error(
        "game {index} has {steps} steps, a recording at most {MAX_RECORDED_STEPS}; --max-pieces makes games shorter"
    )]
    TooLong { index: u32, steps: u64 },
    /// The server refused or failed the replay.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The replay has other lines or pieces than the original.
    #[error(
        "{origin} has {} lines and {} pieces when it is played again, expected {} and {}",
        found.0, found.1, expected.0, expected.1
    )]
    Different {
        /// Index and seed of the game.
        origin: String,
        /// Lines and pieces of the replay.
        found: (u64, u64),
        /// Lines and pieces of the original.
        expected: (u64, u64),
    },
    /// The controller played no games.
    #[error("it has played no game")]
    NoGame,
}

/// Replays and records a controller's game with the most lines; the first of equals.
///
/// # Errors
/// If the replay differs from the original, or the game is too long for a recording.
pub async fn best_game(
    client: &Client,
    request: &EvaluationRequest,
    evaluated: &Evaluated,
    name: &str,
) -> Result<Recording, RecordError> {
    let games = evaluated.games(0);
    let most = games.iter().map(|game| game.lines).max().unwrap_or(0);
    let best = games.iter().filter(|game| game.lines == most).min_by_key(|game| game.pieces);
    let best: Vec<u32> = best.map(|game| game.seed_index).into_iter().collect();
    let recorded = recorded(client, request, evaluated, name, &best).await?;
    recorded.into_iter().next().ok_or(RecordError::NoGame)
}

/// Replays and records the listed games of one controller.
///
/// # Errors
/// If a replay differs from its original, or a game is too long for a recording.
pub async fn recorded(
    client: &Client,
    request: &EvaluationRequest,
    evaluated: &Evaluated,
    name: &str,
    indices: &[u32],
) -> Result<Vec<Recording>, RecordError> {
    let games = evaluated.games(0);
    let too_long = |index: &&u32| games[**index as usize].steps > MAX_RECORDED_STEPS;
    if let Some(&index) = indices.iter().find(too_long) {
        return Err(RecordError::TooLong { index, steps: games[index as usize].steps });
    }
    let pairs: BTreeSet<(u32, u32)> = indices.iter().map(|index| (0, *index)).collect();
    let pairs: Vec<(u32, u32)> = pairs.into_iter().collect();
    let played = client.record(request, &pairs).await?;
    let recording = |index: &u32| {
        let at = pairs.binary_search(&(0, *index)).expect("it was asked for");
        let game = &games[*index as usize];
        let origin = format!("game {index} of {} with seed {}", games.len(), game.seed);
        let recording = Recording { player: name.to_owned(), origin, ..played[at].clone() };
        let Outcome { pieces, lines, .. } = recording.outcome;
        let (found, expected) = ((lines, pieces), (game.lines, game.pieces));
        let origin = recording.origin.clone();
        if found == expected {
            Ok(recording)
        } else {
            Err(RecordError::Different { origin, found, expected })
        }
    };
    indices.iter().map(recording).collect()
}
