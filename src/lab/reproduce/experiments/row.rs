//! What an experiment is made of: rows, their players, and the figures that are compared.

use crate::reproduce::verdict::{Decimals, Origin, Printed, Said};
use tetrion::client::{Features, Play, Policies, RulesChoice, TerminalPolicy, WeightedPolicies};
use tetrion::engine::{FieldValue, Randomizer};
use tetrion::optimizers::cem::Noise;
use tetrion::optimizers::{CemPreset, Config, GeneticConfig};

/// A table of a document or of the literature.
#[derive(Clone, Debug)]
pub struct Experiment {
    /// Its name on the command line.
    pub name: &'static str,
    /// What is played, in a sentence.
    pub title: &'static str,
    /// Where its figures come from.
    pub source: &'static str,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// One player under one set of rules.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its name, without the length of a search.
    pub label: String,
    /// The rules.
    pub rules: RulesChoice,
    /// The player.
    pub player: Player,
    /// Games.
    pub games: u32,
    /// Games of a quick look.
    pub quick_games: u32,
    /// A game is cut after this many pieces; 0 for never.
    pub cut: u64,
    /// The same in a quick look.
    pub quick_cut: u64,
    /// A game is cut after this many keys; 0 for never.
    pub max_steps: u64,
    /// The trials with which the length of each game is estimated; 0 to play the games.
    pub loss_trials: u32,
    /// What is compared.
    pub figures: Vec<ComparedFigure>,
    /// Whether every piece leaves four cells, so that pieces, lines and what is left must balance.
    pub balances: bool,
}

/// A player.
#[derive(Clone, Debug)]
pub enum Player {
    /// An agent or a controller by name.
    Named(&'static str),
    /// Monte-Carlo under one of its names, with this many playouts.
    MonteCarlo {
        /// The name.
        name: &'static str,
        /// Playouts.
        playouts: u32,
    },
    /// A controller that weighs what this many of the next pieces can reach.
    Expectation {
        /// The controller.
        name: &'static str,
        /// Pieces; those that the rules do not show by their mean.
        pieces: u8,
        /// Placements looked at for each piece that another one follows.
        placements: u8,
    },
    /// Weights without a name.
    Linear(Linear),
    /// What a search finds.
    Search(SearchPlan),
}

/// A linear controller without a name.
#[derive(Clone, Debug)]
pub struct Linear {
    pub(super) features: Features,
    pub(super) weights: Vec<f64>,
    pub(super) terminal: TerminalPolicy,
}

/// A search for a player.
#[derive(Clone, Copy, Debug)]
pub struct SearchPlan {
    /// How.
    pub method: SearchMethod,
    /// The feature set.
    pub features: &'static str,
    /// Candidates a generation.
    pub population: u32,
    /// How long.
    pub generations: u32,
    /// How long for a quick look.
    pub quick_generations: u32,
    /// Whether candidates are scored by points rather than by lines.
    pub by_points: bool,
    /// Value of a game-ending placement for the candidates.
    pub candidates_terminal: TerminalPolicy,
    /// Value of a game-ending placement for the result.
    pub result_terminal: TerminalPolicy,
    /// Games of the result so far after each generation.
    pub check_games: u32,
}

/// How a player is searched for.
#[derive(Clone, Copy, Debug)]
pub enum SearchMethod {
    /// The cross-entropy method with the settings of this name, and another noise if one is given.
    Cem(CemPreset, Option<Noise>),
    /// The genetic algorithm.
    Genetic,
}

/// A number of a row, and what is printed of it.
#[derive(Clone, Debug)]
pub struct ComparedFigure {
    /// Which number.
    pub quantity: Quantity,
    /// What the document says.
    pub document: Option<Said>,
    /// What was measured since.
    pub since: Option<Said>,
    /// What is wrong with the document's figure.
    pub wrong: Option<&'static str>,
}

/// A number of a game, or of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Lines a game.
    Lines,
    /// Lines a game, estimated.
    EstimatedLines,
    /// Pieces a game, the one that ends it included.
    Pieces,
    /// Pieces a game without the one that ends it.
    PiecesBefore,
    /// Points a game.
    Points,
    /// Points of the best of this many games: half of such bests are below it.
    BestPoints(u32),
    /// How many of the games end by the rules before they are cut.
    Lost,
    /// The largest score of a candidate in the whole search.
    BestSeen,
    /// Lines a game of the result after this many generations.
    After(u32),
}

impl Linear {
    /// A controller on a set with a name.
    pub fn of_set(set: &str, weights: Vec<f64>, terminal: TerminalPolicy) -> Linear {
        let features = Features::Set { name: set.to_owned(), version: String::new() };
        Linear { features, weights, terminal }
    }

    /// The controller, as a request names it.
    pub fn policies(&self) -> Policies {
        Policies::Weighted(WeightedPolicies {
            features: self.features.clone(),
            rows: vec![self.weights.clone()],
            model: None,
            play: Play { terminal: self.terminal, ..Play::default() },
        })
    }
}

impl SearchPlan {
    /// How long it is.
    pub fn generations(&self, quick: bool) -> u32 {
        if quick { self.quick_generations } else { self.generations }
    }

    /// What the search begins with.
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
    /// What it is called in a table.
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
            Quantity::After(generation) => format!("lines after {generation}"),
        }
    }

    /// What one number belongs to: a game, or a run of a search.
    pub fn unit(self) -> &'static str {
        if self == Quantity::BestSeen { "run" } else { "game" }
    }

    /// Whether it is known on the way of a search, or not at all.
    pub fn is_of_search(self) -> bool {
        self == Quantity::BestSeen || self.is_after()
    }

    /// Whether it is known on the way of a search, however long that is.
    pub fn is_after(self) -> bool {
        matches!(self, Quantity::After(_))
    }
}

impl Row {
    /// Its name: of a search, with the generations that are played.
    pub fn label(&self, quick: bool) -> String {
        match &self.player {
            Player::Search(plan) => format!("{}, {} generations", self.label, plan.generations(quick)),
            _ => self.label.clone(),
        }
    }

    /// Whether a quick look searches for a shorter time than the figures are of.
    pub fn is_another_search(&self, quick: bool) -> bool {
        matches!(&self.player, Player::Search(plan) if plan.generations(quick) != plan.generations)
    }

    /// A game is cut after this many pieces; 0 for never.
    pub fn max_pieces(&self, quick: bool) -> u64 {
        if quick { self.quick_cut } else { self.cut }
    }

    pub(super) fn new(
        label: impl Into<String>,
        preset: &str,
        width: u32,
        height: u32,
        player: Player,
    ) -> Row {
        let mut rules = RulesChoice::preset(preset);
        rules.resize(width, height);
        Row {
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

    pub(super) fn games(self, games: u32, quick_games: u32) -> Row {
        Row { games, quick_games, ..self }
    }

    pub(super) fn dealt_by(self, randomizer: Randomizer) -> Row {
        self.with("randomizer", randomizer)
    }

    pub(super) fn showing(self, preview: u32) -> Row {
        self.with("preview", preview)
    }

    fn with(mut self, field: &str, value: impl Into<FieldValue>) -> Row {
        self.rules.changes.set(field, value).expect("it is a field of the rules");
        self
    }

    pub(super) fn figure(mut self, quantity: Quantity, document: Option<Said>, since: Option<Said>) -> Row {
        self.figures.push(ComparedFigure { quantity, document, since, wrong: None });
        self
    }
}

/// As a document prints it.
pub(super) const fn document(printed: Printed) -> Option<Said> {
    Some(Said { printed, origin: Origin::Document })
}

/// As a re-run gave it.
pub(super) const fn rerun(printed: Printed) -> Option<Said> {
    Some(Said { printed, origin: Origin::Rerun })
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
