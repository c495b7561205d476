//! The flags for how controllers choose: how far they look ahead, what they weigh, how they value the end of a game.
//!
//! Every subcommand that lets a controller play has these flags. A player ignores the flags that it does not support; commands
//! that should refuse them do.

use clap::Args;

use super::expectation::ExpectationArgs;
use crate::agents::{Agent, AgentRow, CONTROLLER_PARAMETERS, Controller, Expectation, Parameter};
use crate::client::{NamedPolicy, Policies};
use crate::engine::{MAX_PREVIEW, Rules};
use crate::input::UsageError;
use crate::trainer::found::{self, Found};

/// How controllers choose.
#[derive(Clone, Debug, Default, PartialEq, Args)]
pub struct ThinkingArgs {
    /// Number of next pieces to search, 0 to 6, for linear controllers; 0 turns off a controller's own expectation too
    /// [default: 0, or the expectation of the controller or the weights]
    #[arg(long, value_name = "N", conflicts_with = "expectation",
        value_parser = clap::value_parser!(u32).range(..=i64::from(MAX_PREVIEW)))]
    pub lookahead: Option<u32>,

    /// Whether and how they weigh what the next pieces can reach.
    #[command(flatten)]
    pub expectation: ExpectationArgs,

    /// Value of a game-ending placement, for linear controllers [default: as in the weights or the controller; avoid for
    /// plain numbers]
    #[arg(long, value_name = "HOW")]
    pub terminal: Option<Terminal>,
}

/// Value of a game-ending placement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Terminal {
    /// The score of its features, as for any other placement
    Score,
    /// Lower than any other placement
    Avoid,
}

impl ThinkingArgs {
    /// What they say about placements that end the game, if they do.
    pub fn avoid_terminal(&self) -> Option<bool> {
        self.terminal.map(|terminal| terminal == Terminal::Avoid)
    }

    /// The expectation that they ask for, if they do.
    pub fn expectation(&self) -> Option<Expectation> {
        self.expectation.note().map(|note| note.expectation())
    }

    /// The expectation of a player that has this one of its own: the flags' if they ask for one, its own unless they say how far it
    /// looks ahead.
    pub fn expectation_or(&self, own: Option<Expectation>) -> Option<Expectation> {
        self.expectation().or(own.filter(|_| self.lookahead.is_none()))
    }

    /// The next pieces that must be shown to a player with this expectation of its own.
    pub fn pieces_shown(&self, own: Option<Expectation>) -> u32 {
        let weighed = self.expectation_or(own).map_or(0, |one| one.pieces_shown().into());
        weighed.max(self.lookahead.unwrap_or(0))
    }

    /// The agent or the controller of a name, with those of the flags that it takes.
    pub fn policy(&self, name: &str) -> NamedPolicy {
        NamedPolicy {
            name: name.to_owned(),
            playouts: None,
            lookahead: self.lookahead.filter(|_| takes(name, Parameter::Lookahead)),
            expectation: self.expectation().filter(|_| takes(name, Parameter::Expectation)),
            avoid_terminal: self.avoid_terminal().filter(|_| takes(name, Parameter::Terminal)),
        }
    }

    /// The agent that a server would play for this name.
    ///
    /// # Errors
    /// [`UsageError`] if there is none of that name, or it cannot play by these rules.
    pub fn agent(&self, name: &str, rules: &Rules) -> Result<Agent, UsageError> {
        let needed = AgentRow::named(name).map_or(&[][..], |row| row.parameters);
        let needed: Vec<_> = needed.iter().filter(|needed| needed.default_value().is_empty()).collect();
        if !needed.is_empty() {
            let needed: Vec<&str> = needed.into_iter().map(|needed| needed.name()).collect();
            let problem = format!("{name} needs {}", needed.join(" and "));
            return Err(UsageError(format!(
                "{problem}, expected an agent or a controller that needs nothing"
            )));
        }
        let agent = found::agent(Policies::Named(vec![self.policy(name)]), rules);
        agent.map_err(|UsageError(error)| match error.strip_prefix("name: ") {
            Some(names_it) => UsageError(names_it.to_owned()),
            None => UsageError(format!("{name}: {error}")),
        })
    }

    /// The agent that a server would play with these weights.
    ///
    /// # Errors
    /// [`UsageError`] if it cannot play by these rules.
    pub fn agent_of(&self, found: &Found, rules: &Rules) -> Result<Agent, UsageError> {
        let expectation = self.expectation_or(found.expectation());
        found.agent(rules, self.avoid_terminal(), self.lookahead.unwrap_or(0), expectation)
    }

    /// What the player of a name is called: with how it chooses, if the flags say so.
    pub fn title(&self, name: &str) -> String {
        let own = Controller::named(name).ok().and_then(|controller| controller.expectation);
        let NamedPolicy { lookahead, expectation, .. } = self.policy(name);
        format!("{name}{}", how(lookahead, expectation.is_some(), own.is_some()).unwrap_or_default())
    }

    /// What a player is called whose weights, with this expectation of their own, are in a file of this name: its name says nothing
    /// of how it chooses.
    pub fn title_of_weights(&self, name: &str, own: Option<Expectation>) -> String {
        let weighs = self.expectation_or(own).is_some();
        let how = how(self.lookahead, weighs, own.is_some());
        format!("{name}{}", how.unwrap_or_default())
    }
}

/// How a player chooses, as it is said behind its name; none if it is asked for nothing.
fn how(lookahead: Option<u32>, weighs: bool, has_own: bool) -> Option<String> {
    match lookahead {
        Some(0) if has_own => Some(" (greedy)".to_owned()),
        None | Some(0) => weighs.then(|| " + expectation".to_owned()),
        Some(pieces) => Some(format!(" + lookahead {pieces}")),
    }
}

/// Whether an agent takes a parameter; a name that is not an agent's is a controller's.
pub fn takes(name: &str, parameter: Parameter) -> bool {
    let row = AgentRow::named(name);
    row.map_or(CONTROLLER_PARAMETERS, |row| row.parameters).contains(&parameter)
}
