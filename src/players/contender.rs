//! The players that a user names: an agent, a controller, a training run or a file of weights.

use std::path::Path;

use super::named::{agent, named_policy, title, title_of_weights};
use super::pilot::Pilot;
use super::player::Player;
use crate::agents::{Controller, Play, PlayChoice};
use crate::engine::Rules;
use crate::input::UsageError;
use crate::recording::Setup;
use crate::trainer::rules::RulesNote;
use crate::trainer::trained_weights::{self, TrainedWeights};
use crate::trainer::weights::WeightsError;
use crate::wire::policies::Policy;

/// A player before its game.
#[derive(Clone, Debug)]
pub enum Contender {
    /// An agent or a controller, by name.
    Named(String),
    /// A training run or a file of weights.
    Run(Box<Run>),
}

/// A training run or a file of weights, with its current result.
#[derive(Clone, Debug)]
pub struct Run {
    /// The weights that play this game.
    weights: TrainedWeights,
    /// Newer weights for the next game, if the run has progressed.
    newer: Option<TrainedWeights>,
}

impl Contender {
    /// Finds the agent, controller, training run or file of weights that `name` names.
    ///
    /// # Errors
    /// [`UsageError`] for a folder without a run, or a file that holds no weights. An unknown name is an error of
    /// [`Contender::player`].
    pub fn new(name: &str) -> Result<Contender, UsageError> {
        if !trained_weights::is_place(name) {
            return Ok(Contender::Named(name.to_owned()));
        }
        Ok(Contender::Run(Box::new(Run { weights: TrainedWeights::read(Path::new(name))?, newer: None })))
    }

    /// Rules of the training run; `None` for a name.
    pub fn rules(&self) -> Option<&RulesNote> {
        match self {
            Contender::Named(_) => None,
            Contender::Run(run) => Some(run.weights.rules()),
        }
    }

    /// Way of playing, unless a caller chooses another.
    pub fn play(&self) -> Play {
        match self {
            Contender::Named(name) => Controller::named(name).map_or(Play::default(), |named| named.play),
            Contender::Run(run) => run.weights.play(),
        }
    }

    /// The policy of a request.
    ///
    /// # Errors
    /// A model that has no shape.
    pub fn policy(&self, choice: PlayChoice) -> Result<Policy, WeightsError> {
        match self {
            Contender::Named(name) => Ok(named_policy(name, choice)),
            Contender::Run(run) => run.weights.weights().policy(choice),
        }
    }

    /// The player at the beginning of a game. The seed also determines its random choices.
    ///
    /// # Errors
    /// [`UsageError`] for an unknown name, or a player that cannot play under these rules.
    pub fn player(&self, setup: &Setup, choice: PlayChoice, seed: u64) -> Result<Player, UsageError> {
        let (name, agent) = match self {
            Contender::Named(name) => (title(name, choice), agent(name, choice, &setup.rules)?),
            Contender::Run(run) => {
                let weights = &run.weights;
                let name = title_of_weights(weights.name(), choice, weights.play());
                (name, weights.agent(&setup.rules, choice)?)
            }
        };
        Player::new(Pilot::new(name, agent, seed), setup)
    }

    /// Progress of the training run in short; `None` without a run.
    pub fn stage(&self) -> Option<String> {
        match self {
            Contender::Named(_) => None,
            Contender::Run(run) => run.weights.stage().map(|stage| stage.to_string()),
        }
    }

    /// Progress of the training run in full, with newer weights for the next game.
    pub fn stage_in_words(&self) -> Option<String> {
        let Contender::Run(run) = self else { return None };
        let newer = run.newer.as_ref().and_then(TrainedWeights::stage);
        let newer = newer.map_or(String::new(), |stage| format!("; next: {stage}"));
        Some(run.weights.stage_in_words()? + &newer)
    }

    /// Full name of the player, with the progress of its run.
    pub fn title(&self, player: &Player) -> String {
        let name = player.name();
        self.stage().map_or(name.to_owned(), |stage| format!("{name}, {stage}"))
    }

    /// Reads newer weights if the training run has progressed.
    ///
    /// # Errors
    /// If the files can no longer be read, or their weights cannot play under these rules; the previous weights stay.
    pub fn look(&mut self, rules: &Rules, choice: PlayChoice) -> Result<(), UsageError> {
        let Contender::Run(run) = self else { return Ok(()) };
        let last = run.newer.as_ref().unwrap_or(&run.weights);
        if let Some(newer) = last.read_newer()? {
            newer.agent(rules, choice)?;
            run.newer = Some(newer);
        }
        Ok(())
    }

    /// Switches to the newer weights, if there are any.
    pub fn take_up(&mut self) {
        if let Contender::Run(run) = self
            && let Some(newer) = run.newer.take()
        {
            run.weights = newer;
        }
    }
}
