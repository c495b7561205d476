//! A pair of matches: one seed, sides exchanged.

use tetrion_client::PlayedGame;
use tetrion_core::engine::EpisodeEnd;
use tetrion_toolkit::ratings::MatchOutcome;
use tetrion_toolkit::recording::Recording;

/// A pair of matches.
#[derive(Clone, Debug)]
pub struct PlayedPair {
    pub seed: u64,
    /// The match on the first and that on the second side, as the first player saw them.
    pub games: [PlayedGame; 2],
    /// The recordings of both, if they were played here.
    pub recordings: Vec<Recording>,
}

impl PlayedPair {
    /// How both matches ended for the first player. One that a limit cut is a draw.
    pub fn outcomes(&self) -> [MatchOutcome; 2] {
        self.games.each_ref().map(|game| match EpisodeEnd::won(game.end) {
            1 => MatchOutcome::Win,
            -1 => MatchOutcome::Loss,
            _ => MatchOutcome::Draw,
        })
    }
}
