//! Turns flags and defaults into the settings of a run.

use super::features;
use super::run::{CandidateArgs, RunArgs};
use crate::input::UsageError;
use crate::trainer::rounds::GameSeeds;
use crate::trainer::rounds::SECOND_LOOK;
use crate::trainer::settings::Settings;
use crate::trainer::unit::Unit;
use tetrion_client::{Client, ModelShape, Play, RulesChoice, Search, TerminalValue};
use tetrion_core::names::unknown;
use tetrion_protocol::files::WeightPolicy;
use tetrion_toolkit::optimizers::Config;

/// Default settings other than the optimizer's. They follow the authors' training games, reduced to fit one machine.
#[derive(Debug)]
pub struct Defaults {
    pub features: &'static str,
    pub rules: &'static str,
    /// Columns and rows; `None` for the preset's.
    pub size: Option<(u32, u32)>,
    pub generations: u32,
    pub games: u32,
    pub game_seeds: GameSeeds,
    pub max_steps: u64,
    pub score_by: Unit,
    pub terminal_value: TerminalValue,
}

/// The settings of most publications.
pub const LITERATURE: Defaults = Defaults {
    features: "thiery9",
    rules: "simplified",
    size: Some((10, 10)),
    generations: 50,
    games: 1,
    game_seeds: GameSeeds::Common,
    max_steps: 0,
    score_by: Unit::Lines,
    terminal_value: TerminalValue::Avoid,
};

/// The settings of a run: flags that all methods share, then defaults, then the server's values. `method` receives the
/// features, the width and height, and the number of generations; it returns its settings, and the model that it learns.
///
/// # Errors
/// If the server does not know a name, or an error of `method`.
pub async fn of_run<M>(
    args: &RunArgs,
    defaults: Defaults,
    client: &Client,
    method: impl FnOnce(&[String], (u32, u32), u32) -> anyhow::Result<(M, Option<ModelShape>)>,
) -> anyhow::Result<Settings<M>> {
    let rules = args.rules.rules.as_deref().unwrap_or(defaults.rules);
    let catalog = client.catalog(None).await?;
    let Some(known) = catalog.rules_presets.iter().find(|known| known.name == rules) else {
        let presets = catalog.rules_presets.iter().map(|known| known.name.as_str());
        return Err(UsageError(unknown("preset", rules, presets)).into());
    };
    // The literature's small playfield applies only to the literature's rules.
    let size = defaults.size.filter(|_| rules == defaults.rules).unwrap_or((known.width, known.height));
    let chosen = |field| args.rules.changes.count(field);
    let (width, height) = (chosen("width").unwrap_or(size.0), chosen("height").unwrap_or(size.1));

    let name = args.features.as_deref().unwrap_or(defaults.features);
    let catalog = client.catalog(Some(width)).await?;
    let (features, feature_names) = features::resolve(name, width, &catalog.feature_sets)?;
    let generations = args.generations.unwrap_or(defaults.generations);
    let (optimizer, model) = method(&feature_names, (width, height), generations)?;
    let own = Play { terminal_value: defaults.terminal_value, search: Search::Greedy };
    let play = args.search.choice().or(own);
    let mut choice = RulesChoice { preset: rules.to_owned(), changes: args.rules.changes.clone() };
    choice.resize(width, height);
    Ok(Settings {
        seed: args.seed,
        generations,
        games: defaults.games,
        game_seeds: defaults.game_seeds,
        second_games: defaults.games.saturating_mul(SECOND_LOOK),
        check_games: args.check_games,
        final_games: args.final_games,
        max_pieces: args.max_pieces,
        max_steps: args.max_steps.unwrap_or(defaults.max_steps),
        loss_trials: args.loss_trials.unwrap_or(0),
        score_by: args.score_by.unwrap_or(defaults.score_by),
        rules_version: client.server_info().await?.rules_version,
        feature_names,
        rules: choice,
        policy: WeightPolicy { features, row: Vec::new(), model, play },
        optimizer,
    })
}

/// The settings of a search. `optimizer` receives the features, the width and the number of generations.
///
/// # Errors
/// If the server does not know a name, or a parameter is invalid.
pub async fn of_search(
    args: &RunArgs,
    candidates: &CandidateArgs,
    defaults: Defaults,
    client: &Client,
    optimizer: impl FnOnce(&[String], u32, u32) -> anyhow::Result<Config>,
) -> anyhow::Result<Settings> {
    let defaults = Defaults {
        games: candidates.games.unwrap_or(defaults.games),
        game_seeds: candidates.game_seeds.unwrap_or(defaults.game_seeds),
        ..defaults
    };
    let search = |features: &[String], (width, _): (u32, u32), generations| {
        let config = optimizer(features, width, generations)?;
        if let Err(error) = config.start(features.len() as u32, args.seed) {
            return Err(UsageError(format!("the search cannot begin with these options: {error}")).into());
        }
        Ok((config, None))
    };
    of_run(args, defaults, client, search).await
}
