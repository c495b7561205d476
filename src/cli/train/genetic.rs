//! `tetrion train genetic`: the options of the genetic algorithm.

use clap::Args;

use super::run::{CandidateArgs, RunArgs};
use super::settings::{Defaults, LITERATURE, of_search};
use crate::cli::rules::rules_by_default;
use crate::trainer::rounds::GameSeeds;
use crate::trainer::settings::Settings;
use crate::trainer::unit::Unit;
use tetrion_client::{Client, TerminalValue};
use tetrion_toolkit::optimizers::{Config, GeneticConfig};

/// The options of `tetrion train genetic`.
#[derive(Debug, Args)]
#[command(mut_arg("rules", |arg| rules_by_default(arg, "genetic")))]
pub struct GeneticArgs {
    #[command(flatten)]
    pub run: RunArgs,

    #[command(flatten)]
    pub candidates: CandidateArgs,

    /// Tournament size for selecting a parent [default: 3]
    #[arg(long, value_name = "N")]
    pub tournament: Option<u32>,

    /// Crossover probability [default: 0.5]
    #[arg(long, value_name = "P")]
    pub crossover: Option<f64>,

    /// Blend crossover alpha: how far children may lie beyond their parents, 0 for not at all [default: 0.5]
    #[arg(long, value_name = "ALPHA")]
    pub blend: Option<f64>,

    /// Mutation probability per weight [default: 0.2]
    #[arg(long, value_name = "P")]
    pub mutation: Option<f64>,

    /// Standard deviation of a mutation [default: 0.2]
    #[arg(long, value_name = "SIZE")]
    pub mutation_std: Option<f64>,

    /// Number of elite individuals that survive unchanged [default: 1]
    #[arg(long, value_name = "N")]
    pub keep: Option<u32>,
}

/// Settings of the report on a genetic algorithm: one full game per individual, with one point per piece and ten per
/// line.
const DEFAULTS: Defaults = Defaults {
    features: "lab4",
    rules: "genetic",
    size: None,
    generations: 15,
    game_seeds: GameSeeds::PerSlot,
    score_by: Unit::Points,
    terminal_value: TerminalValue::Score,
    ..LITERATURE
};

impl GeneticArgs {
    /// The settings of a run with these options.
    ///
    /// # Errors
    /// If the server does not know a name, or a parameter is invalid.
    pub async fn settings(&self, client: &Client) -> anyhow::Result<Settings> {
        let optimizer = |_: &[String], _, _| Ok(Config::Genetic(self.config()));
        of_search(&self.run, &self.candidates, DEFAULTS, client, optimizer).await
    }

    fn config(&self) -> GeneticConfig {
        let config = GeneticConfig::default();
        GeneticConfig {
            individuals: self.candidates.population.unwrap_or(config.individuals),
            tournament: self.tournament.unwrap_or(config.tournament),
            crossover_probability: self.crossover.unwrap_or(config.crossover_probability),
            blend_alpha: self.blend.unwrap_or(config.blend_alpha),
            mutation_probability: self.mutation.unwrap_or(config.mutation_probability),
            mutation_std: self.mutation_std.unwrap_or(config.mutation_std),
            keep: self.keep.unwrap_or(config.keep),
            ..config
        }
    }
}
