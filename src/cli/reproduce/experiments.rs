//! The experiments: what was played, and the figures that were printed for it.
//!
//! `document` is what the document or paper says, and nothing else; `since` is what its program, or another one by its rules,
//! gave when it was run again, which is what our figures are held to. Each figure says where it comes from ([`Origin`]) and
//! how many games are behind it. Where a re-run is kept without the number of its games, that of its neighbours in the same
//! table is taken. Where a document is wrong, the figure says why; that its lines and pieces cannot be true together is not
//! written here but worked out.
//!
//! Sizes are width x height, as everywhere; the Leiden report's own names of them, height first, are in the rows' names.

use super::verdict::{Decimals, Origin, Printed, Said};
use crate::agents::{CONTROLLERS, Controller, TerminalPolicy};
use crate::client::{Features, Policies, RulesChoice};
use crate::engine::Randomizer;
use crate::optimizers::cem::Noise;
use crate::optimizers::{Config, GeneticConfig, Preset};

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
    /// What is compared.
    pub figures: Vec<Figure>,
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
    /// Weights without a name.
    Linear(Linear),
    /// What a search finds.
    Search(SearchPlan),
}

/// A linear controller without a name.
#[derive(Clone, Debug)]
pub struct Linear {
    features: Features,
    weights: Vec<f64>,
    score_terminal: bool,
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
    /// Whether a placement that ends the game is scored like any other by the candidates.
    pub candidates_score_the_end: bool,
    /// The same of the result.
    pub result_scores_the_end: bool,
    /// Games of the result so far after each generation.
    pub check_games: u32,
}

/// How a player is searched for.
#[derive(Clone, Copy, Debug)]
pub enum SearchMethod {
    /// The cross-entropy method with the settings of this name, and another noise if one is given.
    Cem(Preset, Option<Noise>),
    /// The genetic algorithm.
    Genetic,
}

/// A number of a row, and what is printed of it.
#[derive(Clone, Debug)]
pub struct Figure {
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
    /// Lines a game of what the search would hand in after this many generations.
    After(u32),
}

impl Linear {
    /// A controller on a set with a name.
    pub fn of_set(set: &str, weights: Vec<f64>, score_terminal: bool) -> Linear {
        let features = Features::Set { name: set.to_owned(), version: String::new() };
        Linear { features, weights, score_terminal }
    }

    /// The controller, as a request names it.
    pub fn policies(&self) -> Policies {
        Policies::Matrix {
            features: self.features.clone(),
            rows: vec![self.weights.clone()],
            avoid_terminal: !self.score_terminal,
            lookahead: 0,
            expectation: None,
        }
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

    fn new(label: impl Into<String>, preset: &str, width: u32, height: u32, player: Player) -> Row {
        let (width, height) = (Some(width), Some(height));
        Row {
            label: label.into(),
            rules: RulesChoice { preset: preset.to_owned(), width, height, ..RulesChoice::default() },
            player,
            games: 100,
            quick_games: 10,
            cut: 0,
            quick_cut: 0,
            max_steps: 0,
            figures: Vec::new(),
            balances: false,
        }
    }

    fn games(self, games: u32, quick_games: u32) -> Row {
        Row { games, quick_games, ..self }
    }

    fn dealt_by(mut self, randomizer: Randomizer) -> Row {
        self.rules.randomizer = Some(randomizer);
        self
    }

    fn figure(mut self, quantity: Quantity, document: Option<Said>, since: Option<Said>) -> Row {
        self.figures.push(Figure { quantity, document, since, wrong: None });
        self
    }
}

/// As a document prints it.
const fn document(printed: Printed) -> Option<Said> {
    Some(Said { printed, origin: Origin::Document })
}

/// As a re-run gave it.
const fn rerun(printed: Printed) -> Option<Said> {
    Some(Said { printed, origin: Origin::Rerun })
}

const fn mean_of(games: u32, value: f64) -> Printed {
    Printed::Mean { value, decimals: Decimals::Kept, games }
}

const fn cut_off(games: u32, value: f64) -> Printed {
    Printed::Mean { value, decimals: Decimals::CutOff, games }
}

const fn one_game(value: f64) -> Printed {
    Printed::BestOf { value, games: 1 }
}

const fn give_or_take(half: f64, value: f64) -> Printed {
    Printed::Interval { value, low: value - half, high: value + half }
}

/// All of them.
pub fn experiments() -> Vec<Experiment> {
    vec![
        leiden_random(),
        leiden_monte_carlo_50(),
        leiden_monte_carlo_1000(),
        leiden_smart(),
        lab(),
        genetic(),
        survey(),
        controllers("controllers-10x10", 10),
        controllers("controllers-10x20", 20),
        cem_szita_lorincz(),
    ]
}

const LEIDEN: &str = "report with Monte-Carlo and heuristic agents, Leiden";
const NOTEBOOK: &str = "course notebook";
const GENETIC: &str = "genetic-algorithm write-up";
const SURVEY: &str = "Tetris AI survey notebook";

/// The report's five playfields, as it writes them: height x width, the three rows above the field included.
const LEIDEN_SIZES: [(&str, u32, u32); 5] =
    [("10x10", 10, 10), ("10x15", 15, 10), ("10x20", 20, 10), ("15x15", 15, 15), ("15x20", 20, 15)];

/// A row of the report on one of its sizes, with its means of lines and pieces over this many games.
fn leiden(size: usize, player: Player, games: u32, lines: f64, pieces: f64) -> Row {
    let (label, width, height) = LEIDEN_SIZES[size];
    let row = Row::new(format!("height x width {label}"), "leiden", width, height, player);
    Row { balances: true, ..row }.figure(Quantity::Lines, document(cut_off(games, lines)), None).figure(
        Quantity::Pieces,
        document(cut_off(games, pieces)),
        None,
    )
}

impl Row {
    /// What a re-run found for the lines and pieces of the report.
    fn found(self, games: u32, lines: f64, pieces: f64) -> Row {
        self.found_lines(mean_of(games, lines), games, pieces)
    }

    fn found_lines(mut self, lines: Printed, games: u32, pieces: f64) -> Row {
        self.figures[0].since = rerun(lines);
        self.figures[1].since = rerun(mean_of(games, pieces));
        self
    }

    /// The same under another name, without the document's figures.
    fn beside(mut self, what: &str) -> Row {
        self.label = format!("{}, {what}", self.label);
        for figure in &mut self.figures {
            (figure.document, figure.wrong) = (None, None);
        }
        self
    }
}

fn leiden_random() -> Experiment {
    let row = |size, pieces, found| {
        let mut row = leiden(size, Player::Named("random"), 100, 0.0, pieces).games(10_000, 2_000);
        row.figures[1].since = rerun(mean_of(100_000, found));
        row
    };
    Experiment {
        name: "leiden-1",
        title: "the random agent on five playfields",
        source: LEIDEN,
        rows: vec![
            row(0, 6.0, 6.72),
            row(1, 8.0, 8.51),
            row(2, 9.0, 10.13),
            row(3, 15.0, 15.72),
            row(4, 18.0, 19.31),
        ],
    }
}

/// Games behind what was measured of the report's Monte-Carlo program and its mended form with 50 playouts: thousands.
const THOUSANDS: u32 = 2_000;

fn leiden_monte_carlo_50() -> Experiment {
    let row = |name, size, lines, pieces| {
        leiden(size, Player::MonteCarlo { name, playouts: 50 }, 100, lines, pieces).games(1_000, 60)
    };
    let coded = |size, lines, pieces| row("monte_carlo_coded", size, lines, pieces);
    let mended = |size| row("monte_carlo", size, 0.0, 0.0).beside("one record");
    let mut fourth = coded(3, 4.0, 20.0).found(THOUSANDS, 4.71, 51.5);
    fourth.figures[1].wrong = Some("50 pieces are meant: after 20 pieces no game is lost there");
    Experiment {
        name: "leiden-2",
        title: "the Monte-Carlo agent with 50 playouts, with the report's two records and with one",
        source: LEIDEN,
        rows: vec![
            coded(0, 5.0, 25.0).found_lines(give_or_take(0.11, 5.51), THOUSANDS, 26.5),
            coded(1, 2.0, 30.0).found(THOUSANDS, 2.56, 30.2),
            coded(2, 0.0, 32.0).found(100, 1.1, 33.3),
            fourth,
            coded(4, 1.0, 55.0).found(100, 1.7, 54.6),
            mended(0).found_lines(give_or_take(0.13, 6.56), THOUSANDS, 29.3),
            mended(1).found(THOUSANDS, 2.87, 31.5),
            mended(3).found(THOUSANDS, 5.39, 54.3),
        ],
    }
}

fn leiden_monte_carlo_1000() -> Experiment {
    // Ties are rare here: the report's two records play like one.
    let player = Player::MonteCarlo { name: "monte_carlo", playouts: 1_000 };
    let row = |size, lines, pieces| leiden(size, player.clone(), 100, lines, pieces);
    Experiment {
        name: "leiden-3",
        title: "the Monte-Carlo agent with 1,000 playouts",
        source: LEIDEN,
        rows: vec![
            row(0, 14.0, 47.0).found(100, 12.2, 43.3).games(100, 10),
            row(1, 6.0, 44.0).found(100, 6.2, 43.3).games(100, 10),
            row(2, 4.0, 53.0).found(71, 5.4, 55.8).games(100, 10),
            row(3, 12.0, 79.0).found(47, 12.9, 81.4).games(100, 10),
            row(4, 8.0, 91.0).games(100, 10),
        ],
    }
}

fn leiden_smart() -> Experiment {
    let row = |size, games, lines, pieces| leiden(size, Player::Named("flat_stacking"), games, lines, pieces);
    let mut last = row(4, 20, 1_228_724.0, 5_868_939.0).games(20, 2);
    last.quick_cut = 300_000;
    for (figure, found) in last.figures.iter_mut().zip([1_876_256.0, 9_381_335.0]) {
        figure.since = rerun(one_game(found));
        figure.wrong = Some("impossible together: so many lines need 6,143,620 pieces at least");
    }
    let mut fourth = row(3, 20, 48_257.0, 442_115.0).found(49, 40_108.0, 150_446.0).games(100, 20);
    fourth.figures[1].wrong = Some("impossible: so many lines need 180,964 pieces and 56 more at most");
    Experiment {
        name: "leiden-4",
        title: "the smart agent, which is called flat_stacking here",
        source: LEIDEN,
        rows: vec![
            row(0, 100, 68.0, 186.0).found(1000, 70.2, 190.6).games(1000, 300),
            row(1, 100, 342.0, 1_307.0).found(1000, 312.0, 1_194.0).games(1000, 100),
            row(2, 100, 1_466.0, 7_366.0).found(1000, 1_411.0, 7_086.0).games(1000, 50),
            fourth,
            last,
        ],
    }
}

fn lab() -> Experiment {
    let keys = |label: &str, name, max_steps| Row {
        max_steps,
        ..Row::new(label, "lab", 10, 20, Player::Named(name)).games(1000, 100)
    };
    // The notebook's enumeration without gravity is that of the genetic preset, at the notebook's height.
    let placements =
        |label: &str, name| Row::new(label, "genetic", 10, 20, Player::Named(name)).games(1000, 100);
    let plan = |population, generations, quick_generations| SearchPlan {
        method: SearchMethod::Cem(Preset::Lab, None),
        features: "lab4",
        population,
        generations,
        quick_generations,
        by_points: false,
        candidates_score_the_end: true,
        result_scores_the_end: true,
        check_games: 0,
    };
    let searched = |label: &str, plan, said, lines| Row {
        max_steps: 1000,
        // Single searches differ by more than their games do.
        ..Row::new(label, "lab", 10, 20, Player::Search(plan)).games(200, 50).figure(
            Quantity::Lines,
            said,
            rerun(Printed::Factor { value: lines, factor: 1.15 }),
        )
    };
    let lost = |count, games| rerun(Printed::Share { count, games });
    let mut endless = placements("eight features, by placement, 20,000 pieces", "lab8").games(100, 10);
    (endless.cut, endless.quick_cut) = (20_000, 20_000);
    Experiment {
        name: "lab",
        title: "the notebook's agents with key presses, and its search",
        source: NOTEBOOK,
        rows: vec![
            keys("weights 1, 1000 keys", "lab-uniform", 1000)
                .figure(Quantity::Lines, document(one_game(58.0)), rerun(mean_of(200, 39.0)))
                .figure(
                    Quantity::Lines,
                    document(Printed::Words { words: "probably 20-30", low: 20.0, high: 30.0 }),
                    None,
                )
                .figure(Quantity::Lost, None, lost(193, 200)),
            keys("weights 1, 1000 keys, bags of seven", "lab-uniform", 1000)
                .dealt_by(Randomizer::Bag7)
                .figure(Quantity::Lines, None, rerun(mean_of(200, 44.0))),
            keys("weights 1, 1000 keys, balanced", "lab-uniform", 1000)
                .dealt_by(Randomizer::Balanced)
                .figure(Quantity::Lines, None, rerun(mean_of(200, 38.0))),
            keys("optimised weights, 1000 keys", "lab-optimised", 1000)
                .figure(Quantity::Lines, None, rerun(mean_of(200, 71.0)))
                .figure(Quantity::Lost, None, lost(93, 200)),
            keys("optimised weights, 5000 keys", "lab-optimised", 5000).figure(
                Quantity::Lines,
                None,
                rerun(mean_of(200, 133.0)),
            ),
            keys("eight features, 5000 keys", "lab8", 5000)
                .games(200, 40)
                .figure(Quantity::Lines, None, rerun(mean_of(40, 481.0)))
                .figure(Quantity::Lost, None, lost(1, 40)),
            placements("weights 1, by placement", "lab-uniform")
                .figure(Quantity::Lines, None, rerun(mean_of(200, 54.0)))
                .figure(Quantity::Pieces, None, rerun(mean_of(200, 172.0))),
            placements("optimised weights, by placement", "lab-optimised")
                .figure(Quantity::Lines, None, rerun(mean_of(200, 190.0)))
                .figure(Quantity::Pieces, None, rerun(mean_of(200, 504.0))),
            endless.figure(Quantity::Lines, None, rerun(mean_of(10, 7_997.0))).figure(
                Quantity::Lost,
                None,
                lost(0, 10),
            ),
            searched(
                "search with 10 candidates, 1000 keys",
                plan(10, 50, 50),
                // Said of what this search finds, not of the weights that the notebook gives.
                document(Printed::Words { words: "around 80", low: 75.0, high: 85.0 }),
                68.5,
            ),
            searched("search with 100 candidates, 1000 keys", plan(100, 100, 15), None, 70.0),
        ],
    }
}

fn genetic() -> Experiment {
    let handed_in = Controller::named("genetic").expect("a controller of the table");
    let weights = handed_in.weights.to_vec();
    let after_clearing = Player::Linear(Linear::of_set("height4", weights, true));
    let plan = SearchPlan {
        method: SearchMethod::Genetic,
        features: "lab4",
        population: 50,
        generations: 12,
        quick_generations: 8,
        by_points: true,
        candidates_score_the_end: true,
        result_scores_the_end: true,
        check_games: 0,
    };
    let row = |label: &str, player| Row::new(label, "genetic", 10, 22, player).games(1000, 200);
    Experiment {
        name: "genetic",
        title: "the weights handed in, and a run of the genetic algorithm",
        source: GENETIC,
        rows: vec![
            row("weights handed in", Player::Named("genetic"))
                .figure(Quantity::Lines, None, rerun(mean_of(100, 558.0)))
                .figure(Quantity::Pieces, None, rerun(mean_of(100, 1_433.0)))
                .figure(Quantity::Points, None, rerun(mean_of(100, 7_000.0)))
                .figure(
                    Quantity::BestPoints(100),
                    None,
                    rerun(Printed::BestOf { value: 37_800.0, games: 100 }),
                ),
            row("the same, features after clearing", after_clearing).figure(
                Quantity::Lines,
                None,
                rerun(mean_of(100, 60.0)),
            ),
            // The write-up's runs have 10, 15, 12 and 8 generations; the figure is of the third.
            row("a run with 50 individuals", Player::Search(plan))
                .figure(Quantity::BestSeen, document(one_game(45_000.0)), None)
                .figure(Quantity::Points, None, None),
        ],
    }
}

fn survey() -> Experiment {
    let row = |label: &str, player| Row::new(label, "survey", 10, 20, player).games(20, 20);
    let mended = Linear {
        features: Features::List(
            [
                "landing_height_survey",
                "lines_cleared",
                "row_transitions_survey",
                "column_transitions_survey",
                "holes",
                "wells_survey",
            ]
            .map(str::to_owned)
            .to_vec(),
        ),
        weights: Controller::named("el-tetris-coded").expect("a controller of the table").weights.to_vec(),
        score_terminal: false,
    };
    let capped = |row: Row, quick_games| Row { cut: 100_000, quick_cut: 100_000, quick_games, ..row };
    Experiment {
        name: "survey",
        title: "the players of the survey, its El-Tetris as coded and mended",
        source: SURVEY,
        rows: vec![
            row("dummy", Player::Named("dummy"))
                .games(10_000, 2_000)
                .figure(
                    Quantity::PiecesBefore,
                    None,
                    rerun(Printed::Mean { value: 11.2, decimals: Decimals::Rounded(0.05), games: 10_000 }),
                )
                // The game of the notebook's cell, whose picture is not printed.
                .figure(Quantity::PiecesBefore, None, rerun(one_game(11.0))),
            row("random", Player::Named("random_survey")).games(10_000, 2_000).figure(
                Quantity::PiecesBefore,
                None,
                rerun(Printed::Mean { value: 19.1, decimals: Decimals::Rounded(0.05), games: 10_000 }),
            ),
            row("El-Tetris as coded", Player::Named("el-tetris-coded")).games(100, 20).figure(
                Quantity::Lines,
                None,
                rerun(mean_of(20, 1_124.0)),
            ),
            row("El-Tetris as coded, uniform pieces", Player::Named("el-tetris-coded"))
                .games(100, 20)
                .dealt_by(Randomizer::Uniform)
                .figure(Quantity::Lines, None, rerun(mean_of(20, 524.0))),
            capped(row("only the holes mended, 100,000 pieces", Player::Linear(mended)).games(100, 20), 20)
                .figure(Quantity::Lines, None, rerun(mean_of(20, 20_689.0)))
                .figure(Quantity::Lost, None, rerun(Printed::Share { count: 17, games: 20 })),
            capped(row("all mended, 100,000 pieces", Player::Named("el-tetris")), 20).figure(
                Quantity::Lost,
                None,
                rerun(Printed::Share { count: 0, games: 20 }),
            ),
        ],
    }
}

/// Means over 10,000 games on 10 x 10 in Gabillon, Ghavamzadeh and Scherrer 2013, from memory.
const RECALLED_10X10: [(&str, f64); 4] =
    [("bcts", 3_800.0), ("bdu", 4_200.0), ("dt-10", 5_000.0), ("dt-20", 4_300.0)];

/// What a paper says about a controller on 10 columns and this many rows; `published` is its figure as the table of
/// controllers has it.
fn paper(controller: &str, height: u8, published: Option<f64>) -> Option<Said> {
    let recalled = RECALLED_10X10.iter().find(|(name, _)| *name == controller && height == 10);
    if let Some((_, lines)) = recalled {
        return Some(Said { printed: mean_of(10_000, *lines), origin: Origin::Recalled });
    }
    let lines = published?;
    let printed = match (controller, height) {
        // The abstract of Thiery and Scherrer 2009 gives 20 % either way.
        ("bcts" | "bcts-rounded", 20) => give_or_take(0.2 * lines, lines),
        ("rv-ce", 10) => mean_of(100_000, lines),
        // Their games are not given; the literature plays about a hundred.
        _ => mean_of(100, lines),
    };
    Some(Said { printed, origin: Origin::Published })
}

/// The controllers of the table with figures of this height.
fn controllers(name: &'static str, height: u8) -> Experiment {
    let rows = CONTROLLERS.iter().flat_map(|controller| {
        let figure = controller.figures.iter().find(|figure| {
            (figure.preset, figure.width, figure.height, figure.max_steps) == ("simplified", 10, height, 0)
        })?;
        debug_assert_eq!(controller.terminal, TerminalPolicy::Avoid);
        let document = paper(controller.name, height, figure.published);
        let since = figure.measured.and_then(|measured| {
            rerun(match measured.interval {
                Some((low, high)) => Printed::Interval { value: measured.mean, low, high },
                None => mean_of(measured.games, measured.mean),
            })
        });
        let row = Row::new(controller.name, "simplified", 10, height.into(), Player::Named(controller.name));
        let row = Row { balances: true, ..row }.figure(Quantity::Lines, document, since);
        Some(match height {
            10 => row.games(10_000, 500),
            _ => Row { quick_cut: 100_000, ..row.games(100, 10) },
        })
    });
    Experiment {
        name,
        title: match height {
            10 => "the controllers of the literature on 10 x 10",
            _ => "the controllers of the literature on 10 x 20, where a game is up to 10^8 pieces long",
        },
        source: "MDPTetris; Thiery and Scherrer 2009; Gabillon, Ghavamzadeh and Scherrer 2013, whose figures stand here from \
                 memory and want a look at its pages",
        rows: rows.collect(),
    }
}

/// Ten runs for each noise by MDPTetris' own program: the means after these iterations.
const ITERATIONS: [u32; 8] = [1, 5, 10, 20, 30, 40, 60, 80];
const WITHOUT_NOISE: [f64; 8] = [7.0, 64.0, 214.0, 700.0, 593.0, 520.0, 664.0, 577.0];
const CONSTANT_NOISE: [f64; 8] = [7.0, 143.0, 666.0, 7_628.0, 34_250.0, 56_470.0, 74_060.0, 102_870.0];
const LINEAR_NOISE: [f64; 8] = [8.0, 74.0, 410.0, 5_085.0, 20_974.0, 40_420.0, 85_442.0, 73_400.0];

fn cem_szita_lorincz() -> Experiment {
    let row = |label: &str, noise, means: [f64; 8]| {
        let plan = SearchPlan {
            method: SearchMethod::Cem(Preset::SzitaLorincz, noise),
            features: "bertsekas",
            population: 100,
            generations: 80,
            quick_generations: 10,
            by_points: false,
            // The candidates of the program whose means these are score the end by the heights of what sticks out of the
            // playfield. Here it is cut off, so that its score says nothing, and candidates avoid the end.
            candidates_score_the_end: false,
            result_scores_the_end: false,
            check_games: 30,
        };
        let mut row = Row::new(label, "simplified", 10, 20, Player::Search(plan)).games(30, 30);
        for (iteration, mean) in ITERATIONS.into_iter().zip(means) {
            // One run against the mean of ten, on a way that climbs by a factor in a few steps.
            row = row.figure(
                Quantity::After(iteration),
                None,
                rerun(Printed::Factor { value: mean, factor: 5.0 }),
            );
        }
        row
    };
    Experiment {
        name: "cem-szita-lorincz",
        title: "the noisy cross-entropy method on 10 x 20 with the features of Bertsekas, one run each",
        source: "Szita and Lorincz 2006, as reproduced in MDPTetris by Thiery and Scherrer",
        rows: vec![
            row("no noise", Some(Noise::None), WITHOUT_NOISE),
            row("constant noise 4", Some(Noise::Constant { variance: 4.0 }), CONSTANT_NOISE),
            row("linear noise 5 - t/10", None, LINEAR_NOISE),
        ],
    }
}
