//! Whose games are played: controllers and agents by name, weights from files, and the rules for all of them.

use std::path::Path;

use anyhow::Context;

use super::args::EvaluateArgs;
use crate::agents::{Controller, Parameter};
use crate::cli::thinking::takes;
use crate::client::{Features, NamedPolicy, Policies, RulesChoice};
use crate::input::UsageError;
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
    let own = args.controller.iter().map(|name| Controller::named(name).ok()?.expectation);
    let shown = own.chain([None]).map(|own| args.thinking.pieces_shown(own)).max().unwrap_or(0);
    Ok((contestants, args.rules.choice_that_shows(shown, others)))
}

/// The contestant of this name, with those of the flags that apply to it.
fn named(name: &str, args: &EvaluateArgs) -> Contestant {
    let playouts = args.playouts.filter(|_| takes(name, Parameter::Playouts));
    let policy = NamedPolicy { playouts, ..args.thinking.policy(name) };
    Contestant { name: args.thinking.title(name), policies: Policies::Named(vec![policy]) }
}

/// Refuses parameters that none of the contestants takes.
fn check_parameters(args: &EvaluateArgs) -> Result<(), UsageError> {
    let linear = "linear controllers; name one with --controller, or give --weights";
    for (flag, given, parameter, whose) in [
        (
            "--playouts",
            args.playouts.is_some(),
            Parameter::Playouts,
            "the agents monte_carlo and monte_carlo_coded; name one with --controller",
        ),
        ("--lookahead", args.thinking.lookahead.is_some(), Parameter::Lookahead, linear),
        ("--expectation", args.thinking.expectation.expectation, Parameter::Expectation, linear),
        ("--terminal", args.thinking.terminal.is_some(), Parameter::Terminal, linear),
    ] {
        let of_weights = !args.weights.is_empty() && parameter != Parameter::Playouts;
        if given && !of_weights && !args.controller.iter().any(|name| takes(name, parameter)) {
            return Err(UsageError(format!("{flag} is for {whose}")));
        }
    }
    Ok(())
}

/// A controller from a file: `weights.json`, or numbers between spaces, commas, lines or brackets.
fn read_weights(path: &Path, args: &EvaluateArgs) -> anyhow::Result<(Contestant, Option<RulesNote>)> {
    let text = read_text(path)?;
    let name = path.display().to_string();
    let thinking = &args.thinking;
    let lookahead = thinking.lookahead.unwrap_or(0);
    if text.trim_start().starts_with('{') {
        let weights = Weights::from_json(&text)?;
        // The way of playing that the weights were found for, unless the flags ask for another one.
        let own = weights.expectation.map(|note| note.expectation());
        let name = thinking.title_of_weights(&name, own);
        let policies =
            weights.policies(thinking.avoid_terminal(), lookahead, thinking.expectation_or(own))?;
        return Ok((Contestant { name, policies }, Some(weights.rules)));
    }
    let rows = vec![plain_numbers(&text)?];
    let Some(features) = &args.features else {
        let problem =
            "it holds plain numbers: say with --features what they belong to, such as --features bcts8";
        return Err(UsageError(problem.to_owned()).into());
    };
    let avoid_terminal = thinking.avoid_terminal().unwrap_or(true);
    let (features, expectation) = (Features::parse(features), thinking.expectation());
    let name = thinking.title_of_weights(&name, None);
    let policies = Policies::Matrix { features, rows, model: None, avoid_terminal, lookahead, expectation };
    Ok((Contestant { name, policies }, None))
}
