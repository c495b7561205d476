//! Who plays on a screen: an agent or a controller by name, or what a run of `train` has found so far, or a file of weights.

use std::path::Path;

use super::pilot::Pilot;
use super::player::Player;
use super::rules::RulesArgs;
use super::thinking::ThinkingArgs;
use crate::agents::Controller;
use crate::client::RulesChoice;
use crate::engine::Rules;
use crate::input::UsageError;
use crate::recording::Setup;
use crate::trainer::found::{self, Found};

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

    /// The rules of flags, completed by those of the first run among these players, unless the flags name another preset; with as
    /// many pieces shown as the players look at, unless the flags say how many.
    ///
    /// # Errors
    /// [`UsageError`] for a run whose rules this program does not know.
    pub fn rules(
        contenders: &[Contender],
        flags: &RulesArgs,
        thinking: &ThinkingArgs,
    ) -> Result<RulesChoice, UsageError> {
        let mut runs = contenders.iter().filter_map(|contender| match contender {
            Contender::Named(_) => None,
            Contender::Run(run) => Some(run.found.rules()),
        });
        let choice = match runs.next() {
            None => flags.choice(RulesChoice::default()),
            Some(noted) => flags.completed_by(noted),
        };
        let own = contenders.iter().map(|contender| match contender {
            Contender::Named(name) => Controller::named(name).ok()?.expectation,
            Contender::Run(run) => run.found.expectation(),
        });
        let shown = own.map(|own| thinking.pieces_shown(own)).max().unwrap_or(0);
        Ok(flags.choice_that_shows(shown, choice))
    }

    /// The player at the beginning of a game, whose seed is that of its draws too.
    ///
    /// # Errors
    /// [`UsageError`] if there is none of that name, or it cannot play by these rules.
    pub fn player(&self, setup: &Setup, thinking: &ThinkingArgs, seed: u64) -> Result<Player, UsageError> {
        let (name, agent) = match self {
            Contender::Named(name) => (thinking.title(name), thinking.agent(name, &setup.rules)?),
            Contender::Run(run) => {
                let found = &run.found;
                let name = thinking.title_of_weights(found.name(), found.expectation());
                (name, thinking.agent_of(found, &setup.rules)?)
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
    pub fn look(&mut self, rules: &Rules, thinking: &ThinkingArgs) -> Result<(), UsageError> {
        let Contender::Run(run) = self else { return Ok(()) };
        let last = run.newer.as_ref().unwrap_or(&run.found);
        if let Some(newer) = last.read_newer()? {
            thinking.agent_of(&newer, rules)?;
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
