//! `tetrion train cem`: the options of the cross-entropy method.

use clap::Args;
use clap::builder::PossibleValuesParser;

use super::run::{CandidateArgs, RunArgs};
use super::settings::{Defaults, LITERATURE, of_search};
use super::start::start_weights;
use crate::cli::rules::rules_by_default;
use crate::trainer::rounds::GameSeeds;
use crate::trainer::settings::Settings;
use tetrion_client::{Client, TerminalValue};
use tetrion_toolkit::optimizers::cem::{CEM_PRESETS, CemConfig, Covariance};
use tetrion_toolkit::optimizers::{CemPreset, Config};

/// The options of `tetrion train cem`.
#[derive(Debug, Args)]
#[command(mut_arg("rules", |arg| rules_by_default(arg, "as in --settings")))]
pub struct CemArgs {
    #[command(flatten)]
    pub run: RunArgs,

    #[command(flatten)]
    pub candidates: CandidateArgs,

    /// Named settings: `tetrion` is this project's, the others are from publications [default: tetrion]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(CEM_PRESETS.map(|(name, _)| name)))]
    pub settings: Option<String>,

    /// Initial mean: a controller, or a file of weights; features that it lacks start at 0 [default: 0]
    #[arg(long, value_name = "NAME|FILE")]
    pub start: Option<String>,

    /// Initial standard deviation of each weight [default: as in --settings]
    #[arg(long, value_name = "SIZE")]
    pub initial_std: Option<f64>,

    /// Initial extra variance; later generations follow the schedule of --settings [default: as in --settings]
    #[arg(long, value_name = "VARIANCE")]
    pub noise: Option<f64>,

    /// Covariance of the distribution [default: as in --settings]
    #[arg(long, value_name = "KIND")]
    pub covariance: Option<CovarianceKind>,

    /// Share of the population that forms the next distribution [default: as in --settings]
    #[arg(long, value_name = "SHARE")]
    pub elites: Option<f64>,

    /// Share of the population that plays again with more games, 0 or at least --elites [default: as in --settings]
    #[arg(long, value_name = "SHARE")]
    pub second_look: Option<f64>,
}

/// Form of the covariance matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum CovarianceKind {
    /// Independent weights
    Diagonal,
    /// Full covariance matrix of the elites
    Full,
}

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
            // The notebook derives the seed of a candidate's game from its position in the generation, so all
            // generations play with equal seeds. Here every generation has new seeds, so that no search can memorise
            // the pieces.
            game_seeds: GameSeeds::PerSlot,
            max_steps: 1000,
            terminal_value: TerminalValue::Score,
            ..LITERATURE
        },
    }
}

impl CemArgs {
    /// The settings of a run with these options.
    ///
    /// # Errors
    /// If the server does not know a name, or a parameter is invalid.
    pub async fn settings(&self, client: &Client) -> anyhow::Result<Settings> {
        let preset: CemPreset = self.settings.as_deref().unwrap_or("tetrion").parse()?;
        let optimizer = |features: &[String], width, generations| {
            let mut config = Config::preset(preset, generations);
            if let Config::Cem(config) = &mut config {
                self.change(config, features, width)?;
            }
            Ok(config)
        };
        of_search(&self.run, &self.candidates, defaults(preset), client, optimizer).await
    }

    /// Applies the options to a preset. `features` are the names of the features at this width.
    fn change(&self, config: &mut CemConfig, features: &[String], width: u32) -> anyhow::Result<()> {
        if let Some(start) = &self.start {
            config.start = Some(start_weights(start, features, width)?);
        }
        config.population = self.candidates.population.unwrap_or(config.population);
        config.initial_std = self.initial_std.unwrap_or(config.initial_std);
        if let Some(variance) = self.noise {
            config.noise = config.noise.with_variance(variance);
        }
        config.elite_fraction = self.elites.unwrap_or(config.elite_fraction);
        config.second_look = self.second_look.unwrap_or(config.second_look);
        if let Some(covariance) = self.covariance {
            config.covariance = match covariance {
                CovarianceKind::Diagonal => Covariance::Diagonal,
                CovarianceKind::Full => Covariance::Full,
            };
        }
        Ok(())
    }
}
