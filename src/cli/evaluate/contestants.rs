//! The policies of an evaluation: controllers and agents by name, training runs, weights from files, and the rules for all of them.

use std::path::Path;

use anyhow::Context;

use super::args::EvaluateArgs;
use crate::agents::{AgentRow, Controller, Parameter, Play, PlayChoice};
use crate::client::{Features, NamedPolicy, Policies, RulesChoice, WeightedPolicies};
use crate::input::UsageError;
use crate::players::{named_policy, title, title_of_weights};
use crate::trainer::rules::RulesNote;
use crate::trainer::trained_weights::{self, TrainedWeights};
use crate::trainer::weights::{plain_numbers, read_text};
use crate::wire::limits::MAX_GAMES;

/// Default size of the playfield under the literature's rules. On 10 x 20 a single game of a good controller takes minutes or
/// hours.
const DEFAULT_SIZE: (u32, u32) = (10, 10);
/// Most games of all controllers together. Each takes 64 bytes until the end, 1 GiB in total.
const MAX_ALL_GAMES: u64 = 16 * MAX_GAMES;

/// An agent or a controller to evaluate.
pub struct Contestant {
    /// Name in the results.
    pub name: String,
    /// The policies of the request.
    pub policies: Policies,
}

/// The contestants and the rules of their games.
pub fn contestants(args: &EvaluateArgs) -> anyhow::Result<(Vec<Contestant>, RulesChoice)> {
    check_parameters(args)?;
    let choice = args.search.choice();
    let (mut contestants, mut noted, mut plays) = (Vec::new(), None, Vec::new());
    for player in &args.players {
        if !trained_weights::is_place(player) {
            plays.push(Controller::named(player).map_or(Play::default(), |controller| controller.play));
            contestants.push(named(player, args));
            continue;
        }
        let weights = TrainedWeights::read(Path::new(player))?;
        let name = title_of_weights(player, choice, weights.play());
        let policies = weights.weights().policies(choice).with_context(|| player.clone())?;
        contestants.push(Contestant { name, policies: Policies::Weighted(policies) });
        plays.push(weights.play());
        noted = noted.or_else(|| Some(weights.rules().clone()));
    }
    if let Some(features) = &args.features {
        if args.weights.is_empty() {
            return Err(UsageError("--features is for the plain numbers of --weights".to_owned()).into());
        }
        for path in &args.weights {
            let contestant = read_numbers(path, features, choice).with_context(|| path.display().to_string());
            contestants.push(contestant?);
            plays.push(Play::default());
        }
    } else if !args.weights.is_empty() {
        let problem = "--weights holds plain numbers: name their features with --features";
        return Err(UsageError(format!("{problem}, such as --features bcts8")).into());
    }
    if contestants.is_empty() {
        let problem = "nothing to evaluate: name a controller such as dt-10, a training run or a weights.json, or give --weights";
        return Err(UsageError(problem.to_owned()).into());
    }
    let all_games = contestants.len() as u64 * u64::from(args.games);
    if all_games > MAX_ALL_GAMES {
        let problem = format!("{} controllers make {all_games} games", contestants.len());
        return Err(UsageError(format!("{problem}, expected at most {MAX_ALL_GAMES}: lower --games")).into());
    }
    let preset =
        args.rules.rules.clone().or_else(|| noted.as_ref().map(|rules: &RulesNote| rules.preset.clone()));
    let preset = preset.unwrap_or_default();
    // The changes in a file belong to that file's rules.
    let mut others = match noted.filter(|rules: &RulesNote| rules.preset == preset) {
        Some(rules) => rules.choice(),
        None if preset.is_empty() || preset == "simplified" => {
            RulesChoice::of_size(DEFAULT_SIZE.0, DEFAULT_SIZE.1)
        }
        None => RulesChoice::default(),
    };
    others.preset = preset;
    let shown = plays.into_iter().map(|own| choice.or(own).search.pieces_shown()).max().unwrap_or(0);
    Ok((contestants, args.rules.choice_that_shows(shown, others)))
}

/// The contestant with this name, with the flags that apply to it.
fn named(name: &str, args: &EvaluateArgs) -> Contestant {
    let choice = args.search.choice();
    let playouts = args.playouts.filter(|_| plays_out(name));
    let policy = NamedPolicy { playouts, ..named_policy(name, choice) };
    Contestant { name: title(name, choice), policies: Policies::Named(vec![policy]) }
}

/// Whether an agent plays random games.
fn plays_out(name: &str) -> bool {
    AgentRow::named(name).is_some_and(|row| row.parameters.contains(&Parameter::Playouts))
}

/// Refuses flags that apply to no contestant.
fn check_parameters(args: &EvaluateArgs) -> Result<(), UsageError> {
    if args.playouts.is_some() && !args.players.iter().any(|name| plays_out(name)) {
        return Err(UsageError(
            "--playouts is for the agents monte_carlo and monte_carlo_coded; name one".to_owned(),
        ));
    }
    let searches = |name: &String| Controller::named(name).is_ok() || trained_weights::is_place(name);
    if args.players.iter().any(searches) || !args.weights.is_empty() {
        return Ok(());
    }
    let search = &args.search;
    for (flag, given) in [
        ("--lookahead", search.lookahead.is_some()),
        ("--expectation", search.expectation),
        ("--terminal-value", search.terminal_value.is_some()),
    ] {
        if given {
            return Err(UsageError(format!("{flag} is for linear controllers; name one, or give --weights")));
        }
    }
    Ok(())
}

/// Reads a controller from a file of numbers, separated by spaces, commas, lines or brackets.
fn read_numbers(path: &Path, features: &str, choice: PlayChoice) -> anyhow::Result<Contestant> {
    let text = read_text(path)?;
    if text.trim_start().starts_with('{') {
        let problem = "--weights is for plain numbers; name a weights.json without the flag";
        return Err(UsageError(problem.to_owned()).into());
    }
    let name = title_of_weights(&path.display().to_string(), choice, Play::default());
    let (features, rows) = (Features::parse(features), vec![plain_numbers(&text)?]);
    let play = choice.or(Play::default());
    let policies = Policies::Weighted(WeightedPolicies { features, rows, model: None, play });
    Ok(Contestant { name, policies })
}
