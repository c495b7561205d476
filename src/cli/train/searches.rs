//! What the flags say of a search: the numbers of its method, and the weights that it starts from.

use std::path::Path;

use anyhow::Context;

use super::args::{CovarianceKind, Method, TrainArgs};
use crate::agents::Controller;
use crate::input::UsageError;
use crate::optimizers::GeneticConfig;
use crate::optimizers::cem::{CemConfig, Covariance};
use crate::text::numbers::count;
use crate::trainer::weights::{Weights, plain_numbers, read_text};

/// The genetic algorithm's own numbers: its defaults, and what the flags say.
pub fn genetic(args: &TrainArgs) -> GeneticConfig {
    let config = GeneticConfig::default();
    GeneticConfig {
        tournament: args.tournament.unwrap_or(config.tournament),
        crossover_probability: args.crossover.unwrap_or(config.crossover_probability),
        blend_alpha: args.blend.unwrap_or(config.blend_alpha),
        mutation_probability: args.mutation.unwrap_or(config.mutation_probability),
        mutation_std: args.mutation_std.unwrap_or(config.mutation_std),
        keep: args.keep.unwrap_or(config.keep),
        ..config
    }
}

/// The numbers of the cross-entropy method that flags change. `features` are those of the weights, at this width.
///
/// # Errors
/// Weights to start from that do not exist, or that belong to a feature which is not among these.
pub fn change(
    config: &mut CemConfig,
    args: &TrainArgs,
    features: &[String],
    width: u32,
) -> anyhow::Result<()> {
    if let Some(start) = &args.start {
        config.start = Some(start_weights(start, features, width)?);
    }
    config.initial_std = args.initial_std.unwrap_or(config.initial_std);
    if let Some(variance) = args.noise {
        config.noise = config.noise.with_variance(variance);
    }
    config.elite_fraction = args.elites.unwrap_or(config.elite_fraction);
    config.second_look = args.second_look.unwrap_or(config.second_look);
    if let Some(covariance) = args.covariance {
        config.covariance = match covariance {
            CovarianceKind::Diagonal => Covariance::Diagonal,
            CovarianceKind::Full => Covariance::Full,
        };
    }
    Ok(())
}

/// The weights of a controller by name, or else of a file; 0 for the features that it does not have.
fn start_weights(start: &str, features: &[String], width: u32) -> anyhow::Result<Vec<f64>> {
    let (names, weights) = named_weights(start, features, width)?;
    if let Some(other) = names.iter().find(|name| !features.contains(name)) {
        let problem = format!(
            "--start: {start} has a weight for {other}, which is not among the features of the search; see --features"
        );
        return Err(UsageError(problem).into());
    }
    Ok(in_order(features, &names, &weights))
}

/// The weights of these features in a controller or a file, without the weights of other features.
pub fn common_weights(start: &str, features: &[String], width: u32) -> anyhow::Result<Vec<f64>> {
    let (names, weights) = named_weights(start, features, width)?;
    Ok(in_order(features, &names, &weights))
}

fn in_order(features: &[String], names: &[String], weights: &[f64]) -> Vec<f64> {
    let weight = |feature| names.iter().position(|name| name == feature).map_or(0.0, |at| weights[at]);
    features.iter().map(weight).collect()
}

/// The weights of a controller or of a file, and the features that they belong to.
fn named_weights(start: &str, features: &[String], width: u32) -> anyhow::Result<(Vec<String>, Vec<f64>)> {
    match Controller::named(start) {
        Ok(controller) => {
            let set = controller.features(u8::try_from(width)?);
            let set = set.map_err(|error| UsageError(format!("--start: {error}")))?;
            Ok((set.names(), controller.weights.to_vec()))
        }
        Err(unknown) => {
            let path = Path::new(start);
            if !path.exists() {
                return Err(
                    UsageError(format!("--start: {unknown}; nor is there a file of that name")).into()
                );
            }
            read_start(path, features).with_context(|| format!("--start: {start}"))
        }
    }
}

/// The weights of a file and the features that they belong to: plain numbers belong to those of the search, in order.
fn read_start(path: &Path, features: &[String]) -> anyhow::Result<(Vec<String>, Vec<f64>)> {
    let text = read_text(path)?;
    if text.trim_start().starts_with('{') {
        let weights = Weights::from_json(&text)?;
        if weights.model.is_some() {
            let problem = "it has a model beside its weights, which a search has not";
            return Err(UsageError(problem.to_owned()).into());
        }
        return Ok((weights.feature_names, weights.weights));
    }
    let numbers = plain_numbers(&text)?;
    if numbers.len() != features.len() {
        let (found, expected) = (numbers.len(), features.len());
        let problem = format!(
            "it holds {}, expected one for each of the {expected} features of the search",
            count(found as u64, "number")
        );
        return Err(UsageError(problem).into());
    }
    Ok((features.to_vec(), numbers))
}

/// Refuses options of one method that were given to another.
///
/// # Errors
/// The first of them.
pub fn check_options(args: &TrainArgs) -> Result<(), UsageError> {
    let genetic = [
        ("--tournament", args.tournament.is_some()),
        ("--crossover", args.crossover.is_some()),
        ("--blend", args.blend.is_some()),
        ("--mutation", args.mutation.is_some()),
        ("--mutation-std", args.mutation_std.is_some()),
        ("--keep", args.keep.is_some()),
    ];
    let cem = [
        ("--preset", args.preset.is_some()),
        ("--start", args.start.is_some() && args.units.unwrap_or(0) == 0),
        ("--initial-std", args.initial_std.is_some()),
        ("--noise", args.noise.is_some()),
        ("--covariance", args.covariance.is_some()),
        ("--elites", args.elites.is_some()),
        ("--second-look", args.second_look.is_some()),
    ];
    let td = [
        ("--rounds", args.rounds.is_some()),
        ("--exploration", args.exploration.is_some()),
        ("--td-discount", args.td_discount.is_some()),
        ("--feature-step", args.feature_step.is_some()),
        ("--entry-step", args.entry_step.is_some()),
        ("--step-half", args.step_half.is_some()),
        ("--step-tuple", args.step_tuple.is_some()),
        ("--step-clip", args.step_clip.is_some()),
        ("--height-tuple", args.height_tuple.is_some()),
        ("--units", args.units.is_some()),
        ("--unit-share", args.unit_share.is_some()),
        ("--start-scale", args.start_scale.is_some()),
        ("--stretch", args.stretch.is_some()),
    ];
    let searches = [("--population", args.population.is_some()), ("--game-seeds", args.game_seeds.is_some())];
    let first =
        |flags: &[(&'static str, bool)]| flags.iter().find(|(_, given)| *given).map(|(flag, _)| *flag);
    let of_genetic = first(&genetic)
        .map(|flag| format!("{flag} is of the genetic algorithm; leave it out, or add --optimizer genetic"));
    let method = match args.optimizer {
        Method::Genetic => "genetic",
        _ => "td",
    };
    let of_cem = first(&cem)
        .map(|flag| format!("{flag} is of the cross-entropy method; leave it out with --optimizer {method}"));
    let of_td = first(&td).map(|flag| {
        format!("{flag} is of temporal-difference learning; leave it out, or add --optimizer td")
    });
    let of_searches = first(&searches)
        .map(|flag| format!("{flag} is of searches that score candidates; leave it out with --optimizer td"));
    let problem = match args.optimizer {
        Method::Cem => of_genetic.or(of_td),
        Method::Genetic => of_cem.or(of_td),
        Method::Td => of_genetic.or(of_cem).or(of_searches),
    };
    problem.map_or(Ok(()), |problem| Err(UsageError(problem)))
}
