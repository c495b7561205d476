//! Flags and defaults made into the settings of a run.

use super::args::{Method, TrainArgs};
use super::features;
use super::searches::{change, genetic};
use crate::client::Client;
use crate::input::UsageError;
use crate::names::unknown;
use crate::optimizers::{CemPreset, Config};
use crate::trainer::settings::{GameSeeds, Settings};
use crate::trainer::unit::Unit;

/// How many times as many games a second look is worth.
const SECOND_LOOK: u32 = 4;

/// What a preset means besides its optimiser: what its authors learned on, made small enough for one machine.
#[derive(Debug)]
pub struct Defaults {
    pub features: &'static str,
    pub rules: &'static str,
    /// `None` for the rules' own.
    pub size: Option<(u32, u32)>,
    pub generations: u32,
    pub games: u32,
    pub game_seeds: GameSeeds,
    pub max_steps: u64,
    pub unit: Unit,
    pub score_terminal: bool,
}

/// The literature's.
pub const LITERATURE: Defaults = Defaults {
    features: "thiery9",
    rules: "simplified",
    size: Some((10, 10)),
    generations: 50,
    games: 1,
    game_seeds: GameSeeds::Common,
    max_steps: 0,
    unit: Unit::Lines,
    score_terminal: false,
};

/// The report on a genetic algorithm: a full game for each individual, a point a piece and ten a line.
const GENETIC: Defaults = Defaults {
    features: "lab4",
    rules: "genetic",
    size: None,
    generations: 15,
    game_seeds: GameSeeds::PerSlot,
    unit: Unit::Points,
    score_terminal: true,
    ..LITERATURE
};

fn defaults(preset: CemPreset) -> Defaults {
    match preset {
        CemPreset::Tetrion => Defaults { generations: 30, games: 5, ..LITERATURE },
        CemPreset::ThieryScherrer => LITERATURE,
        CemPreset::SzitaLorincz => Defaults { features: "bertsekas", ..LITERATURE },
        CemPreset::Lab => Defaults {
            features: "lab4",
            rules: "lab",
            size: None,
            generations: 100,
            // The notebook seeds the game of a candidate by its place in the generation, alike in all generations. Here the
            // pieces of a place are others each time, so that no search can learn them by heart.
            game_seeds: GameSeeds::PerSlot,
            max_steps: 1000,
            score_terminal: true,
            ..LITERATURE
        },
    }
}

/// Settings from flags; what the flags leave open, the defaults and the server decide. The method is made last: for these
/// features, this width and height, and this many generations.
///
/// # Errors
/// A name the server does not know, or what the method refuses.
pub async fn with<M>(
    args: &TrainArgs,
    defaults: Defaults,
    client: &Client,
    method: impl FnOnce(&[String], (u32, u32), u32) -> anyhow::Result<M>,
) -> anyhow::Result<Settings<M>> {
    let rules = args.rules.rules.as_deref().unwrap_or(defaults.rules);
    let info = client.server_info(0).await?;
    let Some(known) = info.rules_presets.iter().find(|known| known.name == rules) else {
        let presets = info.rules_presets.iter().map(|known| known.name.as_str());
        return Err(UsageError(unknown("preset", rules, presets)).into());
    };
    // The small playfield of the literature is for the literature's rules.
    let size = defaults.size.filter(|_| rules == defaults.rules).unwrap_or((known.width, known.height));
    let chosen = |field| args.rules.changes.count(field);
    let (width, height) = (chosen("width").unwrap_or(size.0), chosen("height").unwrap_or(size.1));

    let name = args.features.as_deref().unwrap_or(defaults.features);
    let info = client.server_info(width).await?;
    let (set, feature_names) = features::resolve(name, width, &info.feature_sets)?;
    let generations = args.generations.unwrap_or(defaults.generations);
    let optimizer = method(&feature_names, (width, height), generations)?;
    let games = args.games.unwrap_or(defaults.games);
    let mut changes = args.rules.changes.clone();
    for noted_apart in ["width", "height"] {
        changes.remove(noted_apart);
    }
    Ok(Settings {
        seed: args.seed,
        generations,
        games,
        game_seeds: args.game_seeds.unwrap_or(defaults.game_seeds),
        second_games: games.saturating_mul(SECOND_LOOK),
        check_games: args.check_games,
        final_games: args.final_games,
        max_pieces: args.max_pieces,
        max_steps: args.max_steps.unwrap_or(defaults.max_steps),
        loss_trials: args.loss_trials.unwrap_or(0),
        unit: args.unit.unwrap_or(defaults.unit),
        score_terminal: defaults.score_terminal,
        expectation: args.expectation.note(),
        rules: rules.to_owned(),
        rules_version: info.rules_version,
        width,
        height,
        features: set.name,
        features_version: set.version,
        feature_names,
        changes,
        optimizer,
    })
}

/// Settings of a search from flags; what the flags leave open, the preset and the server decide.
///
/// # Errors
/// A name the server does not know, or a parameter no search can run with.
pub async fn of_search(args: &TrainArgs, client: &Client) -> anyhow::Result<Settings> {
    let preset: CemPreset = args.preset.as_deref().unwrap_or("tetrion").parse()?;
    let defaults = if args.optimizer == Method::Genetic { GENETIC } else { defaults(preset) };
    let search = |features: &[String], (width, _): (u32, u32), generations: u32| {
        let mut optimizer = match args.optimizer {
            Method::Genetic => Config::Genetic(genetic(args)),
            _ => Config::preset(preset, generations),
        };
        if let Some(population) = args.population {
            match &mut optimizer {
                Config::Cem(config) => config.population = population,
                Config::Genetic(config) => config.individuals = population,
            }
        }
        if let Config::Cem(config) = &mut optimizer {
            change(config, args, features, width)?;
        }
        if let Err(error) = optimizer.start(features.len() as u32, args.seed) {
            let problem =
                format!("the search cannot begin; see --population and the flags of its method: {error}");
            return Err(UsageError(problem).into());
        }
        Ok(optimizer)
    };
    with(args, defaults, client, search).await
}
