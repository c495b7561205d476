//! A player of the benchmark: how a result names it, and how it plays again.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::class::{Class, Players, SEED};
use crate::input::UsageError;
use crate::players::{Contender, monte_carlo};
use tetrion_client::{EvaluationRequest, Policy};
use tetrion_core::agents::{Controller, PlayChoice};
use tetrion_core::engine::RULES_VERSION;
use tetrion_protocol::files::{read_play, write_play};
use tetrion_toolkit::files;

/// The file with a player's weights in a result's folder.
const WEIGHTS_FILE: &str = "weights.json";
/// The file with a player's formula in a result's folder.
const FORMULA_FILE: &str = "player.formula";
/// Most bytes of a player's name.
const MAX_NAME: usize = 100;

/// A player as a result names it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BenchmarkPlayer {
    pub name: String,
    /// Where the player comes from.
    pub source: Source,
    /// The search, and the value of a game-ending placement; empty for players that score no placements.
    #[serde(serialize_with = "write_play", deserialize_with = "read_play")]
    pub play: PlayChoice,
}

/// Where a player comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// An agent or a controller of this program, by name.
    Named(String),
    /// The weights in the folder.
    Weights,
    /// The formula in the folder.
    Formula,
    /// A player outside this program; all games are recorded.
    Recordings,
}

/// A player that this program can play.
#[derive(Clone, Debug)]
pub struct Entrant {
    /// The player as a result names it.
    pub player: BenchmarkPlayer,
    /// The file that a result's folder keeps of the player, and its text.
    pub file: Option<(&'static str, String)>,
    policy: Policy,
}

impl BenchmarkPlayer {
    /// A player outside this program.
    ///
    /// # Errors
    /// For a name that tables cannot show.
    pub fn recorded(name: &str) -> Result<BenchmarkPlayer, String> {
        let player = BenchmarkPlayer {
            name: name.to_owned(),
            source: Source::Recordings,
            play: PlayChoice::default(),
        };
        player.check_name().map(|()| player)
    }

    /// Checks that tables can show the name.
    ///
    /// # Errors
    /// With the name.
    pub fn check_name(&self) -> Result<(), String> {
        let is_wrong = |letter: char| letter.is_control() || letter == '|';
        if self.name.trim().is_empty() || self.name.len() > MAX_NAME || self.name.contains(is_wrong) {
            return Err(format!(
                "name is {:?}, expected 1 to {MAX_NAME} bytes without | and control characters",
                self.name
            ));
        }
        Ok(())
    }
}

impl Entrant {
    /// Enters the agent, controller, training run, file of weights or file with a formula that `player` names.
    ///
    /// # Errors
    /// [`UsageError`] for a player that cannot be read, or does not belong to the class.
    pub fn new(class: &Class, player: &str, choice: PlayChoice) -> Result<Entrant, UsageError> {
        let contender = Contender::new(player)?;
        let called = if let Contender::Run(run) = &contender { run.name() } else { player };
        let name = contender.name(called, choice);
        Entrant::enter(class, contender, name, choice)
            .map_err(|problem| UsageError(format!("{player}: {problem}")))
    }

    /// The player of a result in a folder; `None` for a player outside this program.
    ///
    /// # Errors
    /// The problem of a player that cannot be read, or does not belong to the class.
    pub fn of_result(
        class: &Class,
        player: &BenchmarkPlayer,
        folder: &Path,
    ) -> Result<Option<Entrant>, String> {
        player.check_name()?;
        let read = |file| {
            let path = folder.join(file);
            files::open(&path).map_err(|error| format!("{file} cannot be read: {error}"))?;
            Contender::new(&path.to_string_lossy()).map_err(|error| error.0)
        };
        let contender = match &player.source {
            Source::Named(name) => Contender::Named(name.clone()),
            Source::Weights => read(WEIGHTS_FILE)?,
            Source::Formula => read(FORMULA_FILE)?,
            Source::Recordings => return Ok(None),
        };
        let entrant = Entrant::enter(class, contender, player.name.clone(), player.play)?;
        if entrant.player != *player {
            let written = |player| serde_json::to_string(player).expect("texts and numbers");
            return Err(format!("is {}, expected {}", written(player), written(&entrant.player)));
        }
        Ok(Some(entrant))
    }

    fn enter(
        class: &Class,
        contender: Contender,
        name: String,
        choice: PlayChoice,
    ) -> Result<Entrant, String> {
        let play = choice.or(contender.play());
        let (source, file) = match &contender {
            Contender::Named(name) => (Source::Named(name.clone()), None),
            Contender::Run(run) => (Source::Weights, Some((WEIGHTS_FILE, run.weights().to_json()))),
            Contender::Formula { text, .. } => (Source::Formula, Some((FORMULA_FILE, text.clone()))),
            Contender::Numbers { .. } => {
                return Err("is a file of plain numbers, expected a weights.json".to_owned());
            }
        };
        match (class.players, &contender) {
            (Players::Readers, _) => {
                return Err(format!("class {} takes recordings: give --recordings", class.name));
            }
            (Players::Formulas, Contender::Named(_) | Contender::Run(_) | Contender::Numbers { .. }) => {
                return Err(format!("is no formula, expected a file my.formula in class {}", class.name));
            }
            (Players::Greedy, Contender::Named(name)) if monte_carlo(name).is_some() => {
                return Err(format!(
                    "plays hidden pieces at random, expected no search in class {}",
                    class.name
                ));
            }
            _ => class.check_search(play.search)?,
        }
        if let Contender::Run(run) = &contender {
            let seeds = &run.weights().seeds;
            let of_weights = [("training", seeds.training), ("evaluation", seeds.evaluation)];
            if let Some((field, seed)) = of_weights.into_iter().find(|(_, seed)| *seed == SEED) {
                return Err(format!("seeds.{field} is {seed}, the benchmark's seed: train on other games"));
            }
        }
        let scores = !matches!(&contender, Contender::Named(name) if Controller::named(name).is_err());
        if !scores && choice != PlayChoice::default() {
            return Err("scores no placements, expected no search and no terminal value".to_owned());
        }
        let play = if scores { play.into() } else { choice };
        let policy = contender.policy(play);
        policy.clone().agents(&class.rules()).map_err(|error| error.to_string())?;
        let player = BenchmarkPlayer { name, source, play };
        player.check_name()?;
        Ok(Entrant { player, file, policy })
    }

    /// The games of the class, for this player.
    pub fn request(&self, class: &Class) -> EvaluationRequest {
        let mut request = EvaluationRequest::new(vec![self.policy.clone()], class.seeds());
        request.rules = class.rules_choice();
        request.rules_version = RULES_VERSION.to_owned();
        request.max_pieces = class.max_pieces;
        request
    }
}
