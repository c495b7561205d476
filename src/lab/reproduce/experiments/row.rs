//! The parts of an experiment: rows, players, and figures to compare.

use crate::reproduce::verdict::{Decimals, Origin, Printed, Reference};
use tetrion::client::{
    Features, MonteCarlo, Play, Policy, PolicyKind, RulesChoice, TerminalValue, WeightRows,
};
use tetrion::engine::{FieldValue, Randomizer};
use tetrion::optimizers::cem::Noise;
use tetrion::optimizers::{CemPreset, Config, GeneticConfig};

/// A table of a document or of the literature.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Name on the command line.
    pub name: &'static str,
    pub title: &'static str,
    /// Document or publication that the figures come from.
    pub source: &'static str,
    pub rows: Vec<ExperimentRow>,
}

/// One player under one set of rules.
#[derive(Clone, Debug)]
pub struct ExperimentRow {
    /// Name of the row, without the length of a search.
    pub label: String,
    pub rules: RulesChoice,
    pub player: RowPlayer,
    pub games: u32,
    /// Number of games in a quick look.
    pub quick_games: u32,
    /// Most pieces per game; 0 for no limit.
    pub cut: u64,
    /// Most pieces per game in a quick look; 0 for no limit.
    pub quick_cut: u64,
    /// Most keys per game; 0 for no limit.
    pub max_steps: u64,
    /// Trials for estimating the length of each game; 0 to play the games.
    pub loss_trials: u32,
    pub figures: Vec<ComparedFigure>,
    /// Whether every piece leaves four cells, so that pieces, lines and remaining cells must balance.
    pub balances: bool,
}

/// The player of a row: an agent, weights, or the result of a search.
#[derive(Clone, Debug)]
pub enum RowPlayer {
    /// An agent or a controller by name.
    Named(&'static str),
    MonteCarlo(MonteCarlo),
    /// A controller with expectation over next pieces.
    Expectation {
        name: &'static str,
        /// Search depth in pieces; hidden pieces count by their mean.
        pieces: u8,
        /// Placements to expand per piece except the last.
        placements: u8,
    },
    /// Weights that no controller has.
    Linear(Linear),
    Search(SearchPlan),
}

/// A linear controller without a name: features, weights, and the value of lost games.
#[derive(Clone, Debug)]
pub struct Linear {
    pub(super) features: Features,
    pub(super) weights: Vec<f64>,
    pub(super) terminal_value: TerminalValue,
}

/// A search for a player.
#[derive(Clone, Copy, Debug)]
pub struct SearchPlan {
    pub method: SearchMethod,
    /// Feature set of the candidates.
    pub features: &'static str,
    pub population: u32,
    pub generations: u32,
    /// Number of generations in a quick look.
    pub quick_generations: u32,
    /// Whether candidates are scored by points instead of lines.
    pub by_points: bool,
    /// Value of a game-ending placement for the candidates.
    pub candidates_terminal_value: TerminalValue,
    /// Value of a game-ending placement for the result.
    pub result_terminal_value: TerminalValue,
    /// Games that check the result after each generation.
    pub check_games: u32,
}

/// The method of a search, with its settings.
#[derive(Clone, Copy, Debug)]
pub enum SearchMethod {
    /// The cross-entropy method with named settings, and with another noise if given.
    Cem(CemPreset, Option<Noise>),
    /// The genetic algorithm with its default parameters.
    Genetic,
}

/// A number of a row with its printed figures.
#[derive(Clone, Debug)]
pub struct ComparedFigure {
    pub quantity: Quantity,
    /// Figure that the document prints.
    pub document: Option<Reference>,
    /// Figure of a later measurement.
    pub since: Option<Reference>,
    /// The reason why the document's figure is wrong.
    pub wrong: Option<&'static str>,
}

/// A number of a game, or of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    Lines,
    EstimatedLines,
    /// Pieces per game, including the one that ends it.
    Pieces,
    /// Pieces per game, without the one that ends it.
    PiecesBefore,
    Points,
    /// Median points of the best of this many games.
    BestPoints(u32),
    /// Number of games that end by the rules before they are cut.
    Lost,
    /// Best score of a candidate in the whole search.
    BestSeen,
    /// Mean score of the candidates in the last generation of the search.
    LastAverage,
    /// Lines per game of the result after this many generations.
    After(u32),
}

impl Linear {
    /// A controller on a named feature set.
    pub fn of_set(set: &str, weights: Vec<f64>, terminal_value: TerminalValue) -> Linear {
        let features = Features::Set { name: set.to_owned(), version: String::new() };
        Linear { features, weights, terminal_value }
    }

    /// The policy of a request.
    pub fn policy(&self) -> Policy {
        let (features, rows) = (self.features.clone(), vec![self.weights.clone()]);
        let play = Play { terminal_value: self.terminal_value, ..Play::default() };
        Policy { kind: PolicyKind::Weights(WeightRows { features, rows, model: None }), play: play.into() }
    }
}

impl SearchPlan {
    /// Number of generations, in a quick look if `quick`.
    pub fn generations(&self, quick: bool) -> u32 {
        if quick { self.quick_generations } else { self.generations }
    }

    /// Configuration of the optimizer for a search of this length.
    pub fn config(&self, generations: u32) -> Config {
        match self.method {
            SearchMethod::Cem(preset, noise) => {
                let mut config = preset.config(generations);
                config.population = self.population;
                config.noise = noise.unwrap_or(config.noise);
                Config::Cem(config)
            }
            SearchMethod::Genetic => {
                Config::Genetic(GeneticConfig { individuals: self.population, ..Default::default() })
            }
        }
    }
}

impl Quantity {
    /// Name of the number in a table.
    pub fn name(self) -> String {
        match self {
            Quantity::Lines => "lines".to_owned(),
            Quantity::EstimatedLines => "lines, estimated".to_owned(),
            Quantity::Pieces => "pieces".to_owned(),
            Quantity::PiecesBefore => "pieces but the last".to_owned(),
            Quantity::Points => "points".to_owned(),
            Quantity::BestPoints(games) => format!("points of the best of {games}"),
            Quantity::Lost => "games lost".to_owned(),
            Quantity::BestSeen => "best seen".to_owned(),
            Quantity::LastAverage => "average of the last generation".to_owned(),
            Quantity::After(generation) => format!("lines after {generation}"),
        }
    }

    /// Unit of one sample: a game, or a run of a search.
    pub fn unit(self) -> &'static str {
        if matches!(self, Quantity::BestSeen | Quantity::LastAverage) { "run" } else { "game" }
    }

    /// Whether the number comes from the generations of a search.
    pub fn is_of_search(self) -> bool {
        self.unit() == "run" || self.is_after()
    }

    /// Whether the number belongs to one generation of a search, whatever the length of the search.
    pub fn is_after(self) -> bool {
        matches!(self, Quantity::After(_))
    }
}

impl ExperimentRow {
    /// Name of the row, with the number of generations of a search.
    pub fn label(&self, quick: bool) -> String {
        match &self.player {
            RowPlayer::Search(plan) => format!("{}, {} generations", self.label, plan.generations(quick)),
            _ => self.label.clone(),
        }
    }

    /// Whether a quick look shortens the row's search.
    pub fn is_another_search(&self, quick: bool) -> bool {
        matches!(&self.player, RowPlayer::Search(plan) if plan.generations(quick) != plan.generations)
    }

    /// Most pieces per game; 0 for no limit.
    pub fn max_pieces(&self, quick: bool) -> u64 {
        if quick { self.quick_cut } else { self.cut }
    }

    pub(super) fn new(
        label: impl Into<String>,
        preset: &str,
        width: u32,
        height: u32,
        player: RowPlayer,
    ) -> ExperimentRow {
        let mut rules = RulesChoice::preset(preset);
        rules.resize(width, height);
        ExperimentRow {
            label: label.into(),
            rules,
            player,
            games: 100,
            quick_games: 10,
            cut: 0,
            quick_cut: 0,
            max_steps: 0,
            figures: Vec::new(),
            loss_trials: 0,
            balances: false,
        }
    }

    pub(super) fn games(self, games: u32, quick_games: u32) -> ExperimentRow {
        ExperimentRow { games, quick_games, ..self }
    }

    pub(super) fn dealt_by(self, randomizer: Randomizer) -> ExperimentRow {
        self.with("randomizer", randomizer)
    }

    pub(super) fn showing(self, preview: u32) -> ExperimentRow {
        self.with("preview", preview)
    }

    /// The row with estimates of its first figure, the lines, instead of games.
    pub(super) fn estimated(&self) -> ExperimentRow {
        let label = format!("{}, estimated", self.label);
        let mut row =
            ExperimentRow { label, loss_trials: 400, quick_cut: 0, balances: false, ..self.clone() };
        row.figures.truncate(1);
        row.figures[0].quantity = Quantity::EstimatedLines;
        row.games(100, 10)
    }

    fn with(mut self, field: &str, value: impl Into<FieldValue>) -> ExperimentRow {
        self.rules.changes.set(field, value).expect("it is a field of the rules");
        self
    }

    pub(super) fn figure(
        mut self,
        quantity: Quantity,
        document: Option<Reference>,
        since: Option<Reference>,
    ) -> ExperimentRow {
        self.figures.push(ComparedFigure { quantity, document, since, wrong: None });
        self
    }
}

/// A figure in the experiment's document.
pub(super) const fn document(printed: Printed) -> Option<Reference> {
    Some(Reference { printed, origin: Origin::Document })
}

/// A figure of a later measurement.
pub(super) const fn rerun(printed: Printed) -> Option<Reference> {
    Some(Reference { printed, origin: Origin::Rerun })
}

pub(super) const fn mean_of(games: u32, value: f64) -> Printed {
    Printed::Mean { value, decimals: Decimals::Kept, games }
}

pub(super) const fn cut_off(games: u32, value: f64) -> Printed {
    Printed::Mean { value, decimals: Decimals::CutOff, games }
}

pub(super) const fn one_game(value: f64) -> Printed {
    Printed::BestOf { value, games: 1 }
}

pub(super) const fn give_or_take(half: f64, value: f64) -> Printed {
    Printed::Interval { value, low: value - half, high: value + half }
}
