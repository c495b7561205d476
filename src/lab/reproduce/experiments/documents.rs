//! The tables of the documents that this project started from.

use super::row::{
    Experiment, ExperimentRow, Linear, Quantity, RowPlayer, SearchMethod, SearchPlan, cut_off, document,
    give_or_take, mean_of, one_game, rerun,
};
use crate::reproduce::verdict::{Decimals, Printed};
use tetrion::agents::{Controller, TerminalValue};
use tetrion::client::{Features, MonteCarlo};
use tetrion::engine::Randomizer;
use tetrion::optimizers::CemPreset;

const LEIDEN: &str = "report with Monte-Carlo and heuristic agents, Leiden";
const NOTEBOOK: &str = "course notebook";
const GENETIC: &str = "genetic-algorithm write-up";
const SURVEY: &str = "Tetris AI survey notebook";

/// The report's five playfields in its own notation: height x width, including the three rows above the field.
const LEIDEN_SIZES: [(&str, u32, u32); 5] =
    [("10x10", 10, 10), ("10x15", 15, 10), ("10x20", 20, 10), ("15x15", 15, 15), ("15x20", 20, 15)];

/// A row of the report on one of its sizes, with its means of lines and pieces over this many games.
fn leiden(size: usize, player: RowPlayer, games: u32, lines: f64, pieces: f64) -> ExperimentRow {
    let (label, width, height) = LEIDEN_SIZES[size];
    let row = ExperimentRow::new(format!("height x width {label}"), "leiden", width, height, player);
    ExperimentRow { balances: true, ..row }
        .figure(Quantity::Lines, document(cut_off(games, lines)), None)
        .figure(Quantity::Pieces, document(cut_off(games, pieces)), None)
}

impl ExperimentRow {
    /// Adds the lines and pieces of a later measurement.
    fn found(self, games: u32, lines: f64, pieces: f64) -> ExperimentRow {
        self.found_lines(mean_of(games, lines), games, pieces)
    }

    fn found_lines(mut self, lines: Printed, games: u32, pieces: f64) -> ExperimentRow {
        self.figures[0].since = rerun(lines);
        self.figures[1].since = rerun(mean_of(games, pieces));
        self
    }

    /// A variant of the row with another name and without the document's figures.
    fn variant(mut self, what: &str) -> ExperimentRow {
        self.label = format!("{}, {what}", self.label);
        for figure in &mut self.figures {
            (figure.document, figure.wrong) = (None, None);
        }
        self
    }
}

/// `leiden-1`: the report's random agent.
pub fn leiden_random() -> Experiment {
    let row = |size, pieces, found| {
        let mut row = leiden(size, RowPlayer::Named("random"), 100, 0.0, pieces).games(10_000, 2_000);
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

/// Games of the measurements of the report's Monte-Carlo program with 50 playouts, and of its corrected form: thousands.
const THOUSANDS: u32 = 2_000;

/// `leiden-2`: the report's Monte-Carlo agent with 50 playouts, as its program plays and with one record.
pub fn leiden_monte_carlo_50() -> Experiment {
    let row = |agent, size, lines, pieces| {
        leiden(size, RowPlayer::MonteCarlo(agent), 100, lines, pieces).games(1_000, 60)
    };
    let coded = |size, lines, pieces| row(MonteCarlo::as_coded(50), size, lines, pieces);
    let mended = |size| row(MonteCarlo::new(50), size, 0.0, 0.0).variant("one record");
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

/// `leiden-3`: the report's Monte-Carlo agent with 1,000 playouts, and with more, which the report expects to gain nothing.
pub fn leiden_monte_carlo_1000() -> Experiment {
    // Ties are rare here, so the report's two records play like one.
    let player = RowPlayer::MonteCarlo(MonteCarlo::new(1_000));
    let row = |size, lines, pieces| leiden(size, player.clone(), 100, lines, pieces);
    let more = RowPlayer::MonteCarlo(MonteCarlo::new(10_000));
    Experiment {
        name: "leiden-3",
        title: "the Monte-Carlo agent with 1,000 playouts and more",
        source: LEIDEN,
        rows: vec![
            row(0, 14.0, 47.0).found(100, 12.2, 43.3).games(100, 10),
            row(1, 6.0, 44.0).found(100, 6.2, 43.3).games(100, 10),
            row(2, 4.0, 53.0).found(71, 5.4, 55.8).games(100, 10),
            row(3, 12.0, 79.0).found(47, 12.9, 81.4).games(100, 10),
            row(4, 8.0, 91.0).games(100, 10),
            leiden(0, more, 100, 0.0, 0.0).variant("10,000 playouts").games(20, 1),
        ],
    }
}

/// `leiden-4`: the report's agent that stacks flat.
pub fn leiden_smart() -> Experiment {
    let row =
        |size, games, lines, pieces| leiden(size, RowPlayer::Named("flat_stacking"), games, lines, pieces);
    let mut last = row(4, 20, 1_228_724.0, 5_868_939.0).games(20, 2);
    last.quick_cut = 300_000;
    for (figure, found) in last.figures.iter_mut().zip([1_876_256.0, 9_381_335.0]) {
        figure.since = rerun(one_game(found));
        figure.wrong = Some("impossible together: so many lines need 6,143,620 pieces at least");
    }
    let mut fourth = row(3, 20, 48_257.0, 442_115.0).found(49, 40_108.0, 150_446.0).games(100, 20);
    fourth.figures[1].wrong = Some("impossible: so many lines need 180,964 pieces and 56 more at most");
    let (fourth_estimated, last_estimated) = (fourth.estimated(), last.estimated());
    Experiment {
        name: "leiden-4",
        title: "the smart agent, which is called flat_stacking here",
        source: LEIDEN,
        rows: vec![
            row(0, 100, 68.0, 186.0).found(1000, 70.2, 190.6).games(1000, 300),
            row(1, 100, 342.0, 1_307.0).found(1000, 312.0, 1_194.0).games(1000, 100),
            row(2, 100, 1_466.0, 7_366.0).found(1000, 1_411.0, 7_086.0).games(1000, 50),
            fourth,
            fourth_estimated,
            last,
            last_estimated,
        ],
    }
}

/// Weights of the smart agent's features that a short search found on the first three sizes; docs/results.md has the command.
const LEIDEN_WEIGHTS: [[f64; 4]; 3] = [
    [0.2394, -0.3437, -0.8690, -0.2580],
    [0.3147, -0.2669, -0.8804, -0.2151],
    [0.2742, -0.2664, -0.8975, -0.2043],
];

/// `leiden-weights`: the report's future work, weights per playfield, and the ties of its whole-number weights.
pub fn leiden_weights() -> Experiment {
    let row = |size, what: &str, weights: [f64; 4]| {
        let linear = Linear::of_set("flatstack", weights.to_vec(), TerminalValue::Avoid);
        leiden(size, RowPlayer::Linear(linear), 100, 0.0, 0.0)
            .variant(what)
            .games([1000, 1000, 200, 100, 100][size], 40)
    };
    let found = (0..3).map(|size| row(size, "weights found there", LEIDEN_WEIGHTS[size]));
    let wide = (3..5).map(|size| row(size, "weights found on 10x15", LEIDEN_WEIGHTS[1]).estimated());
    let ties = [0.99, 1.0, 1.01]
        .map(|shafts| row(2, &format!("the report's weights, shafts {shafts}"), [1.0, -1.0, -4.0, -shafts]));
    Experiment {
        name: "leiden-weights",
        title: "the smart agent with weights found for a playfield, and without ties",
        source: LEIDEN,
        rows: found.chain(wide).chain(ties).collect(),
    }
}

/// The course notebook: its controllers with keys and with placements, and its searches.
pub fn lab() -> Experiment {
    let keys = |label: &str, name, max_steps| ExperimentRow {
        max_steps,
        ..ExperimentRow::new(label, "lab", 10, 20, RowPlayer::Named(name)).games(1000, 100)
    };
    // The notebook's listing without gravity equals the genetic preset's, at the notebook's height.
    let placements = |label: &str, name| {
        ExperimentRow::new(label, "genetic", 10, 20, RowPlayer::Named(name)).games(1000, 100)
    };
    let plan = |population, generations, quick_generations| SearchPlan {
        method: SearchMethod::Cem(CemPreset::Lab, None),
        features: "lab4",
        population,
        generations,
        quick_generations,
        by_points: false,
        candidates_terminal_value: TerminalValue::Score,
        result_terminal_value: TerminalValue::Score,
        check_games: 0,
    };
    let searched = |label: &str, plan, said, lines| ExperimentRow {
        max_steps: 1000,
        // Results of single searches differ by more than their games do.
        ..ExperimentRow::new(label, "lab", 10, 20, RowPlayer::Search(plan)).games(200, 50).figure(
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
                // This is about the search's result, not about the weights in the notebook.
                document(Printed::Words { words: "around 80", low: 75.0, high: 85.0 }),
                68.5,
            ),
            searched("search with 100 candidates, 1000 keys", plan(100, 100, 15), None, 70.0),
        ],
    }
}

/// The genetic-algorithm write-up: its controller, and its search.
pub fn genetic() -> Experiment {
    let handed_in = Controller::named("genetic").expect("a controller of the table");
    let weights = handed_in.weights.to_vec();
    let after_clearing = RowPlayer::Linear(Linear::of_set("height4", weights, TerminalValue::Score));
    let plan = SearchPlan {
        method: SearchMethod::Genetic,
        features: "lab4",
        population: 50,
        generations: 0,
        quick_generations: 0,
        by_points: true,
        candidates_terminal_value: TerminalValue::Score,
        result_terminal_value: TerminalValue::Score,
        check_games: 0,
    };
    let row = |label: &str, player| ExperimentRow::new(label, "genetic", 10, 22, player).games(1000, 200);
    // The write-up's runs, shortest first, and a longer one to see a plateau. Its figure belongs to the run of 12.
    let runs = [8, 10, 12, 15, 30].map(|generations| {
        let plan = SearchPlan { generations, quick_generations: generations / 2, ..plan };
        let said = if generations == 12 { document(one_game(45_000.0)) } else { None };
        row("a run with 50 individuals", RowPlayer::Search(plan))
            .figure(Quantity::BestSeen, said, None)
            .figure(Quantity::LastAverage, None, None)
            .figure(Quantity::Points, None, None)
    });
    Experiment {
        name: "genetic",
        title: "the weights handed in, and runs of the genetic algorithm",
        source: GENETIC,
        rows: [
            row("weights handed in", RowPlayer::Named("genetic"))
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
        ]
        .into_iter()
        .chain(runs)
        .collect(),
    }
}

/// The survey notebook: its agents, as written and mended.
pub fn survey() -> Experiment {
    let row = |label: &str, player| ExperimentRow::new(label, "survey", 10, 20, player).games(20, 20);
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
        terminal_value: TerminalValue::Avoid,
    };
    let capped = |row: ExperimentRow, quick_games| ExperimentRow {
        cut: 100_000,
        quick_cut: 100_000,
        quick_games,
        ..row
    };
    Experiment {
        name: "survey",
        title: "the players of the survey, its El-Tetris as coded and mended",
        source: SURVEY,
        rows: vec![
            row("dummy", RowPlayer::Named("dummy"))
                .games(10_000, 2_000)
                .figure(
                    Quantity::PiecesBefore,
                    None,
                    rerun(Printed::Mean { value: 11.2, decimals: Decimals::Rounded(0.05), games: 10_000 }),
                )
                // The game of the notebook's cell, whose picture is not printed.
                .figure(Quantity::PiecesBefore, None, rerun(one_game(11.0))),
            row("random", RowPlayer::Named("random_survey")).games(10_000, 2_000).figure(
                Quantity::PiecesBefore,
                None,
                rerun(Printed::Mean { value: 19.1, decimals: Decimals::Rounded(0.05), games: 10_000 }),
            ),
            row("El-Tetris as coded", RowPlayer::Named("el-tetris-coded")).games(100, 20).figure(
                Quantity::Lines,
                None,
                rerun(mean_of(20, 1_124.0)),
            ),
            row("El-Tetris as coded, uniform pieces", RowPlayer::Named("el-tetris-coded"))
                .games(100, 20)
                .dealt_by(Randomizer::Uniform)
                .figure(Quantity::Lines, None, rerun(mean_of(20, 524.0))),
            capped(
                row("only the holes mended, 100,000 pieces", RowPlayer::Linear(mended)).games(100, 20),
                20,
            )
            .figure(Quantity::Lines, None, rerun(mean_of(20, 20_689.0)))
            .figure(Quantity::Lost, None, rerun(Printed::Share { count: 17, games: 20 })),
            capped(row("all mended, 100,000 pieces", RowPlayer::Named("el-tetris")), 20).figure(
                Quantity::Lost,
                None,
                rerun(Printed::Share { count: 0, games: 20 }),
            ),
            // The notebook quotes the author of El-Tetris, whose rules are not said, nor the number of games: about 100.
            row("all mended, uniform pieces", RowPlayer::Named("el-tetris"))
                .dealt_by(Randomizer::Uniform)
                .figure(Quantity::Lines, document(Printed::Factor { value: 16_000_000.0, factor: 1.3 }), None)
                .estimated(),
            // Losses are so rare that fewer trials often see none.
            ExperimentRow {
                loss_trials: 1_024,
                ..row("all mended", RowPlayer::Named("el-tetris"))
                    .figure(Quantity::Lines, None, None)
                    .estimated()
            },
        ],
    }
}
