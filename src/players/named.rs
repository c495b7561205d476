//! Agents and controllers by name: the policy that a server would play, and the name of the player.

use crate::input::UsageError;
use tetrion_core::agents::{Agent, AgentRow, Controller, LinearAgent, MonteCarlo, Play, PlayChoice, Search};
use tetrion_core::engine::Rules;
use tetrion_protocol::DecodeError;
use tetrion_protocol::policies::{Policy, PolicyKind};

/// The policy with this name. A controller plays as the caller chose; other agents do not search.
pub fn named_policy(name: &str, choice: PlayChoice) -> Policy {
    let play = if Controller::named(name).is_ok() { choice } else { PlayChoice::default() };
    Policy { play, ..Policy::named(name) }
}

/// The policy of a formula, which avoids the end of the game and is greedy unless the caller chose otherwise.
pub fn formula_policy(text: &str, choice: PlayChoice) -> Policy {
    Policy { kind: PolicyKind::Formula(text.to_owned()), play: choice }
}

/// The agent with this name, if it plays random games.
pub fn monte_carlo(name: &str) -> Option<MonteCarlo> {
    match AgentRow::named(name)?.agent {
        Agent::MonteCarlo(agent) => Some(agent),
        _ => None,
    }
}

/// The agent with this name, as a server would play it, with default parameters.
///
/// # Errors
/// [`UsageError`] for an unknown name, or rules that it cannot play.
pub fn agent(name: &str, choice: PlayChoice, rules: &Rules) -> Result<Agent, UsageError> {
    let agents = named_policy(name, choice).agents(rules).map_err(|error| match error {
        DecodeError::Invalid { field, problem, .. } if field == "name" => UsageError(problem),
        error => UsageError(format!("{name}: {error}")),
    })?;
    Ok(agents.into_iter().next().expect("one agent for a name"))
}

/// The controller with this name, which can score single placements.
///
/// # Errors
/// [`UsageError`] for an unknown name, or rules that the controller cannot play under.
pub fn controller(name: &str, rules: &Rules) -> Result<LinearAgent, UsageError> {
    let named = Controller::named(name).and_then(|controller| controller.agent(rules.width));
    named.map_err(|error| UsageError(error.to_string()))
}

/// Name of a player: the name of the agent or controller, and the search that a caller chose.
pub fn title(name: &str, choice: PlayChoice) -> String {
    match Controller::named(name) {
        Ok(controller) => match choice.search {
            Some(search) => format!("{name}{}", in_words(search, controller.play)),
            None => name.to_owned(),
        },
        Err(_) => name.to_owned(),
    }
}

/// Name of a player with weights from a file: the file's name and the search, which the name does not show.
pub fn title_of_weights(name: &str, choice: PlayChoice, own: Play) -> String {
    format!("{name}{}", in_words(choice.or(own).search, own))
}

/// The search, for a player's name; empty for a player that is greedy by default.
fn in_words(search: Search, own: Play) -> String {
    match search {
        Search::Greedy if own.search == Search::Greedy => String::new(),
        Search::Greedy => " (greedy)".to_owned(),
        Search::Lookahead { pieces } => format!(" + lookahead {pieces}"),
        Search::Expectation(_) => " + expectation".to_owned(),
        Search::Beam(_) => " + beam".to_owned(),
    }
}
