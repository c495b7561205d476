//! Whose games are played: controllers and agents by name, weights from files, and the rules for all of them.

use std::path::Path;

use anyhow::Context;

use super::args::EvaluateArgs;
use crate::agents::{AgentRow, Controller, Parameter, Play};
use crate::client::{Features, NamedPolicy, Policies, RulesChoice, WeightedPolicies};
use crate::input::UsageError;
use crate::players::{named_policy, title, title_of_weights};
use crate::trainer::rules::RulesNote;
use crate::trainer::weights::{Weights, plain_numbers, read_text};
use crate::wire::limits::MAX_GAMES;

/// The playfield where neither a flag nor a file of weights names one, under the rules of the literature. On 10 x 20 a good
/// controller plays a single game for minutes or hours.
const DEFAULT_SIZE: (u32, u32) = (10, 10);
/// Games of all controllers together. Each takes 64 bytes until the end: 1 GiB of them.
const MAX_ALL_GAMES: u64 = 16 * MAX_GAMES;
/// An agent or a controller whose games are played.
pub struct Contestant {
    /// Its name in the results.
    pub name: String,
    /// The same as a request says it.
    pub policies: Policies,
}

/// The contestants, and the rules they play under.
pub fn contestants(args: &EvaluateArgs) -> anyhow::Result<(Vec<Contestant>, RulesChoice)> {
    let mut contestants: Vec<Contestant> = args.controller.iter().map(|name| named(name, args)).collect();
    check_parameters(args)?;
    let mut noted: Option<RulesNote> = None;
    let mut plain_numbers = false;
    for path in &args.weights {
        let name = path.display().to_string();
        let (contestant, rules) = read_weights(path, args).context(name)?;
        plain_numbers |= rules.is_none();
        noted = noted.or(rules);
        contestants.push(contestant);
    }
    if args.features.is_some() && !plain_numbers {
        let problem = "--features is for plain numbers; a weights.json names its features itself";
        return Err(UsageError(problem.to_owned()).into());
    }
    if contestants.is_empty() {
        let problem = "nothing to evaluate: name a controller, such as --controller dt-10, or --weights FILE";
        return Err(UsageError(problem.to_owned()).into());
    }
    let all_games = contestants.len() as u64 * u64::from(args.games);
    if all_games > MAX_ALL_GAMES {
        let problem = format!("{} controllers make {all_games} games", contestants.len());
        return Err(UsageError(format!("{problem}, expected at most {MAX_ALL_GAMES}: lower --games")).into());
    }
    let preset = args.rules.rules.clone().or_else(|| noted.as_ref().map(|rules| rules.preset.clone()));
    let preset = preset.unwrap_or_default();
    // What a file says is for the rules of that file.
    let mut others = match noted.filter(|rules| rules.preset == preset) {
        Some(rules) => rules.choice(),
        None if preset.is_empty() || preset == "simplified" => {
            RulesChoice::of_size(DEFAULT_SIZE.0, DEFAULT_SIZE.1)
        }
        None => RulesChoice::default(),
    };
    others.preset = preset;
    let named = args.controller.iter().filter_map(|name| Controller::named(name).ok());
    let own = named.map(|controller| controller.play).chain([Play::default()]);
    let shown = own.map(|own| args.search.choice().or(own).search.pieces_shown()).max().unwrap_or(0);
    Ok((contestants, args.rules.choice_that_shows(shown, others)))
}

/// The contestant of this name, with those of the flags that apply to it.
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

/// Refuses flags that apply to none of the contestants.
fn check_parameters(args: &EvaluateArgs) -> Result<(), UsageError> {
    if args.playouts.is_some() && !args.controller.iter().any(|name| plays_out(name)) {
        let whose = "the agents monte_carlo and monte_carlo_coded; name one with --controller";
        return Err(UsageError(format!("--playouts is for {whose}")));
    }
    let has_controller = args.controller.iter().any(|name| Controller::named(name).is_ok());
    if has_controller || !args.weights.is_empty() {
        return Ok(());
    }
    let search = &args.search;
    for (flag, given) in [
        ("--lookahead", search.lookahead.is_some()),
        ("--expectation", search.expectation),
        ("--terminal", search.terminal.is_some()),
    ] {
        if given {
            let whose = "linear controllers; name one with --controller, or give --weights";
            return Err(UsageError(format!("{flag} is for {whose}")));
        }
    }
    Ok(())
}

/// A controller from a file: `weights.json`, or numbers between spaces, commas, lines or brackets.
fn read_weights(path: &Path, args: &EvaluateArgs) -> anyhow::Result<(Contestant, Option<RulesNote>)> {
    let text = read_text(path)?;
    let name = path.display().to_string();
    let choice = args.search.choice();
    if text.trim_start().starts_with('{') {
        let weights = Weights::from_json(&text)?;
        let name = title_of_weights(&name, choice, weights.play());
        let policies = Policies::Weighted(weights.policies(choice)?);
        return Ok((Contestant { name, policies }, Some(weights.rules)));
    }
    let rows = vec![plain_numbers(&text)?];
    let Some(features) = &args.features else {
        let problem =
            "it holds plain numbers: say with --features what they belong to, such as --features bcts8";
        return Err(UsageError(problem.to_owned()).into());
    };
    let features = Features::parse(features);
    let name = title_of_weights(&name, choice, Play::default());
    let play = choice.or(Play::default());
    let policies = Policies::Weighted(WeightedPolicies { features, rows, model: None, play });
    Ok((Contestant { name, policies }, None))
}
