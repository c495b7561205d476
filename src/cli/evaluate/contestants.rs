//! The policies of an evaluation (controllers and agents by name, training runs, weights from files, formulas) and their
//! common rules.

use std::iter;

use super::args::EvaluateArgs;
use super::names::unique;
use super::sweep::{check_sweep, variants};
use crate::input::UsageError;
use crate::players::{Contender, monte_carlo, on_one_line, title_of_weights};
use crate::trainer::trained_weights;
use tetrion_client::{Policy, RulesChoice};
use tetrion_core::agents::{Controller, PlayChoice};
use tetrion_protocol::limits::MAX_GAMES;

/// Default size of the playfield under the literature's rules. On 10 x 20, a single game of a good controller takes
/// minutes or hours.
const DEFAULT_SIZE: (u32, u32) = (10, 10);
/// Most games of all controllers together. Each takes 64 bytes until the end, 1 GiB in total.
const MAX_ALL_GAMES: u64 = 16 * MAX_GAMES;
/// Most characters of a formula or a path that is a name in full.
const MAX_FULL_NAME: usize = 200;

/// An agent or a controller to evaluate.
pub struct Contestant {
    /// Name in the results, which no other contestant has.
    pub name: String,
    /// The policy of the request.
    pub policy: Policy,
}

/// The contestants and the rules of their games.
pub fn contestants(args: &EvaluateArgs) -> anyhow::Result<(Vec<Contestant>, RulesChoice)> {
    check_parameters(args)?;
    let (mut contestants, mut noted, mut shown) = (Vec::new(), None, 0);
    let mut full_names = Vec::new();
    let named = args.players.iter().map(|player| Contender::new(player));
    let formulas = Contender::from_formulas(&args.formula).into_iter().map(Ok);
    let numbers = args.numbers.contenders()?.into_iter().map(Ok);
    let contenders = named.chain(formulas).chain(numbers).collect::<Result<Vec<_>, _>>()?;
    let sweep = args.sweep.as_ref();
    check_sweep(sweep, &contenders, args.search.choice())?;
    // Plain numbers bring their own name.
    let names = args.players.iter().chain(&args.formula).map(String::as_str).chain(iter::repeat(""));
    for (contender, player) in contenders.iter().zip(names) {
        for variant in variants(sweep, contender, args.search.choice(), args.playouts)? {
            let (choice, own) = (variant.choice, contender.play());
            shown = shown.max(choice.or(own).search.pieces_shown());
            // A value of the player's own search names no search.
            let choice = PlayChoice { search: args.search.search.and(choice.search), ..choice };
            let name = contender.name(player, choice);
            let full_name = match contender {
                Contender::Formula { .. } => &title_of_weights(&on_one_line(player), choice, own),
                _ => &name,
            };
            full_names.push(variant.title(full_name));
            let policy = variant.policy(contender, player);
            contestants.push(Contestant { name: variant.title(&name), policy });
        }
        noted = noted.or_else(|| contender.rules().cloned());
    }
    if contestants.is_empty() {
        let problem = "nothing to evaluate: name a controller such as dt-10, a training run or a weights.json, or give --weights or --formula";
        return Err(UsageError(problem.to_owned()).into());
    }
    let all_games = contestants.len() as u64 * u64::from(args.games);
    if all_games > MAX_ALL_GAMES {
        let problem = format!("{} controllers make {all_games} games", contestants.len());
        return Err(UsageError(format!("{problem}, expected at most {MAX_ALL_GAMES}: lower --games")).into());
    }
    let preset =
        args.rules.rules.clone().or_else(|| noted.as_ref().map(|rules: &RulesChoice| rules.preset.clone()));
    let preset = preset.unwrap_or_default();
    // The changes in a file belong to the rules of that file.
    let mut others = match noted.filter(|rules: &RulesChoice| rules.preset == preset) {
        Some(rules) => rules,
        None if preset.is_empty() || preset == "simplified" => {
            RulesChoice::of_size(DEFAULT_SIZE.0, DEFAULT_SIZE.1)
        }
        None => RulesChoice::default(),
    };
    others.preset = preset;
    distinguish(&mut contestants, &full_names);
    Ok((contestants, args.rules.choice_that_shows(shown, others)))
}

/// Gives different names to contestants of one name: the full text or path of a formula, then numbers.
fn distinguish(contestants: &mut [Contestant], full_names: &[String]) {
    let names: Vec<String> = contestants.iter().map(|contestant| contestant.name.clone()).collect();
    let comes_once = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let better = names.iter().zip(full_names).map(|(name, full)| {
        let is_short = full.chars().count() <= MAX_FULL_NAME;
        if comes_once(name) || !is_short { name.clone() } else { full.clone() }
    });
    let names = unique(better, |name, number| format!("{name} ({number})"), str::to_owned);
    contestants.iter_mut().zip(names).for_each(|(contestant, name)| contestant.name = name);
}

/// Refuses flags that apply to no contestant.
fn check_parameters(args: &EvaluateArgs) -> Result<(), UsageError> {
    if args.playouts.is_some() && !args.players.iter().any(|name| monte_carlo(name).is_some()) {
        return Err(UsageError(
            "--playouts is for the agents monte_carlo and monte_carlo_coded; name one".to_owned(),
        ));
    }
    let searches = |name: &String| Controller::named(name).is_ok() || trained_weights::is_place(name);
    if args.players.iter().any(searches) || !args.numbers.weights.is_empty() || !args.formula.is_empty() {
        return Ok(());
    }
    let search = &args.search;
    for (flag, given) in
        [("--search", search.search.is_some()), ("--terminal-value", search.terminal_value.is_some())]
    {
        if given {
            return Err(UsageError(format!(
                "{flag} is for linear controllers and formulas; name one, or give --weights or --formula"
            )));
        }
    }
    Ok(())
}
