//! Who plays on a screen: an agent or a controller by name, or what a run of `train` has found so far, or a file of weights.

use std::path::Path;

use super::named::{agent, title, title_of_weights};
use super::pilot::Pilot;
use super::player::Player;
use crate::agents::{Controller, Play, PlayChoice};
use crate::engine::Rules;
use crate::input::UsageError;
use crate::recording::Setup;
use crate::trainer::found::{self, Found};
use crate::trainer::rules::RulesNote;

/// A player before its game.
#[derive(Clone, Debug)]
pub enum Contender {
    /// An agent or a controller.
    Named(String),
    /// A run.
    Run(Box<Run>),
}

/// What a run has found so far.
#[derive(Clone, Debug)]
pub struct Run {
    /// What plays.
    found: Found,
    /// What plays the next game, if the run has gone on.
    newer: Option<Found>,
}

impl Contender {
    /// The agent or the controller of a name, the run in a folder, or the weights in a file.
    ///
    /// # Errors
    /// [`UsageError`] for a folder without a run, or a file of something else; a name that is unknown is an error of [`Contender::player`].
    pub fn new(name: &str) -> Result<Contender, UsageError> {
        if !found::is_place(name) {
            return Ok(Contender::Named(name.to_owned()));
        }
        Ok(Contender::Run(Box::new(Run { found: Found::read(Path::new(name))?, newer: None })))
    }

    /// The rules that a run was trained under; `None` for a name.
    pub fn rules(&self) -> Option<&RulesNote> {
        match self {
            Contender::Named(_) => None,
            Contender::Run(run) => Some(run.found.rules()),
        }
    }

    /// How the contender plays unless a caller chose otherwise.
    pub fn play(&self) -> Play {
        match self {
            Contender::Named(name) => Controller::named(name).map_or(Play::default(), |named| named.play),
            Contender::Run(run) => run.found.play(),
        }
    }

    /// The player at the beginning of a game, whose seed is that of its draws too.
    ///
    /// # Errors
    /// [`UsageError`] if there is none of that name, or it cannot play by these rules.
    pub fn player(&self, setup: &Setup, choice: PlayChoice, seed: u64) -> Result<Player, UsageError> {
        let (name, agent) = match self {
            Contender::Named(name) => (title(name, choice), agent(name, choice, &setup.rules)?),
            Contender::Run(run) => {
                let found = &run.found;
                let name = title_of_weights(found.name(), choice, found.play());
                (name, found.agent(&setup.rules, choice)?)
            }
        };
        Player::new(Pilot::new(name, agent, seed), setup)
    }

    /// How far its run was, in few words; nothing where there is no run.
    pub fn stage(&self) -> Option<String> {
        match self {
            Contender::Named(_) => None,
            Contender::Run(run) => run.found.stage().map(|stage| stage.to_string()),
        }
    }

    /// The same, with how far the run goes, and what would play the next game.
    pub fn stage_in_words(&self) -> Option<String> {
        let Contender::Run(run) = self else { return None };
        let newer = run.newer.as_ref().and_then(Found::stage);
        let newer = newer.map_or(String::new(), |stage| format!("; {stage} is there"));
        Some(run.found.stage_in_words()? + &newer)
    }

    /// What its player is called in full.
    pub fn title(&self, player: &Player) -> String {
        let name = player.name();
        self.stage().map_or(name.to_owned(), |stage| format!("{name}, {stage}"))
    }

    /// Looks whether its run has gone on.
    ///
    /// # Errors
    /// Files that cannot be read any more, or that hold what cannot play by these rules; what there was stands.
    pub fn look(&mut self, rules: &Rules, choice: PlayChoice) -> Result<(), UsageError> {
        let Contender::Run(run) = self else { return Ok(()) };
        let last = run.newer.as_ref().unwrap_or(&run.found);
        if let Some(newer) = last.read_newer()? {
            newer.agent(rules, choice)?;
            run.newer = Some(newer);
        }
        Ok(())
    }

    /// Takes up what the run has found since.
    pub fn take_up(&mut self) {
        if let Contender::Run(run) = self
            && let Some(newer) = run.newer.take()
        {
            run.found = newer;
        }
    }
}
