//! A series of games under equal rules, numbered from 0, whose pieces follow from one seed.

use crate::input::UsageError;
use crate::text::numbers::count;
use crate::trainer::rules::in_words;
use tetrion_client::RulesChoice;
use tetrion_core::engine::rng::{Tag, word};
use tetrion_core::engine::{EpisodeEnd, Rules};
use tetrion_protocol::rules::ResolvedRules;
use tetrion_toolkit::recording::{Outcome, Pieces, Setup};

/// Rules and seed of the games.
#[derive(Clone, Copy, Debug)]
pub struct GameSeries {
    pub preset: &'static str,
    pub rules: Rules,
    /// Seed from which the seeds of the games are drawn.
    pub seed: u64,
}

impl GameSeries {
    /// A series under these rules with this seed.
    ///
    /// # Errors
    /// [`UsageError`] for rules that cannot be played.
    pub fn new(rules: &RulesChoice, seed: u64) -> Result<GameSeries, UsageError> {
        let resolved = ResolvedRules::try_from(rules);
        let ResolvedRules { preset, rules } = resolved.map_err(|error| UsageError(error.to_string()))?;
        Ok(GameSeries { preset, rules, seed })
    }

    /// The seed of the random choices on a side of a game, which are those of an evaluation.
    pub fn choices_seed(&self, game: u64, side: u64) -> u64 {
        let seed = self.episode_seed(game);
        if self.rules.is_match() { word(seed, Tag::Side, side) } else { seed }
    }

    /// Seed of a game's episode, equal to the game's seed in an evaluation.
    pub fn episode_seed(&self, game: u64) -> u64 {
        word(self.seed, Tag::Game, game)
    }

    /// A game before its first action.
    pub fn setup(&self, game: u64) -> Setup {
        Setup::new(self.rules, Pieces::Seed(self.episode_seed(game)))
    }

    /// Origin of a recorded game.
    pub fn origin(&self, game: u64) -> String {
        format!("game {game} with seed {}", self.seed)
    }

    /// Rules, seed and number of a game, in words.
    pub fn game_in_words(&self, game: u64) -> String {
        let Rules { width, height, .. } = self.rules;
        format!(
            "{} on {width} x {height}, seed {}, game {game}",
            in_words(self.preset, &self.rules),
            self.seed
        )
    }
}

/// Result of a game so far, as a line.
pub fn result(name: &str, outcome: &Outcome) -> String {
    let Outcome { pieces, lines, score, end, .. } = outcome;
    let end = end.map_or("not over".to_owned(), |end: EpisodeEnd| end.to_string());
    let (lines, pieces) = (count(*lines, "line"), count(*pieces, "piece"));
    let points = if *score == 1.0 { "point" } else { "points" };
    format!("{name}: {lines}, {pieces}, {score} {points}, {end}\n")
}
