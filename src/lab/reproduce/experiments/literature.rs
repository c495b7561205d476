//! The tables of the literature.

use super::row::{
    Experiment, ExperimentRow, Quantity, RowPlayer, SearchMethod, SearchPlan, give_or_take, mean_of, rerun,
};
use crate::reproduce::verdict::{Origin, Printed, Reference};
use tetrion::agents::{CONTROLLERS, Search, TerminalValue};
use tetrion::optimizers::CemPreset;
use tetrion::optimizers::cem::Noise;

/// Means over 10,000 games on 10 x 10 in Gabillon, Ghavamzadeh and Scherrer 2013, from memory.
const RECALLED_10X10: [(&str, f64); 4] =
    [("bcts", 3_800.0), ("bdu", 4_200.0), ("dt-10", 5_000.0), ("dt-20", 4_300.0)];

/// The published figure of a controller on 10 columns and this many rows; `published` comes from the table of controllers.
fn paper(controller: &str, height: u8, published: Option<f64>) -> Option<Reference> {
    let recalled = RECALLED_10X10.iter().find(|(name, _)| *name == controller && height == 10);
    if let Some((_, lines)) = recalled {
        return Some(Reference { printed: mean_of(10_000, *lines), origin: Origin::Recalled });
    }
    let lines = published?;
    let printed = match (controller, height) {
        // The abstract of Thiery and Scherrer 2009 gives 20 % either way.
        ("bcts" | "bcts-rounded", 20) => give_or_take(0.2 * lines, lines),
        ("rv-ce", 10) => mean_of(100_000, lines),
        // The number of their games is unknown; about a hundred is usual.
        _ => mean_of(100, lines),
    };
    Some(Reference { printed, origin: Origin::Published })
}

/// The controllers of the table that have figures for this height.
pub fn controllers(name: &'static str, height: u8) -> Experiment {
    // Greedy players only: those with expectation are a separate class.
    let greedy = CONTROLLERS.iter().filter(|controller| controller.play.search == Search::Greedy);
    let rows = greedy.flat_map(|controller| {
        let figure = controller.figures.iter().find(|figure| {
            (figure.preset, figure.width, figure.height, figure.max_steps) == ("simplified", 10, height, 0)
        })?;
        debug_assert_eq!(controller.play.terminal_value, TerminalValue::Avoid);
        let document = paper(controller.name, height, figure.published);
        let since = figure.measured.and_then(|measured| {
            rerun(match measured.interval {
                Some((low, high)) => Printed::Interval { value: measured.mean, low, high },
                None => mean_of(measured.games, measured.mean),
            })
        });
        let row = ExperimentRow::new(
            controller.name,
            "simplified",
            10,
            height.into(),
            RowPlayer::Named(controller.name),
        );
        let row = ExperimentRow { balances: true, ..row }.figure(Quantity::Lines, document, since);
        Some(match height {
            10 => row.games(10_000, 500),
            _ => ExperimentRow { quick_cut: 100_000, ..row.games(100, 10) },
        })
    });
    Experiment {
        name,
        title: match height {
            10 => "the controllers of the literature on 10 x 10",
            _ => "the controllers of the literature on 10 x 20, where a game is up to 10^8 pieces long",
        },
        source: "MDPTetris; Thiery and Scherrer 2009; Gabillon, Ghavamzadeh and Scherrer 2013, whose figures are cited \
                 from memory and need checking",
        rows: rows.collect(),
    }
}

/// Means after these iterations of ten runs per noise, by MDPTetris' own program.
const ITERATIONS: [u32; 8] = [1, 5, 10, 20, 30, 40, 60, 80];
const WITHOUT_NOISE: [f64; 8] = [7.0, 64.0, 214.0, 700.0, 593.0, 520.0, 664.0, 577.0];
const CONSTANT_NOISE: [f64; 8] = [7.0, 143.0, 666.0, 7_628.0, 34_250.0, 56_470.0, 74_060.0, 102_870.0];
const LINEAR_NOISE: [f64; 8] = [8.0, 74.0, 410.0, 5_085.0, 20_974.0, 40_420.0, 85_442.0, 73_400.0];

/// The noisy cross-entropy method: one search per kind of noise, compared with means of ten.
pub fn cem_szita_lorincz() -> Experiment {
    let row = |label: &str, noise, means: [f64; 8]| {
        let plan = SearchPlan {
            method: SearchMethod::Cem(CemPreset::SzitaLorincz, noise),
            features: "bertsekas",
            population: 100,
            generations: 80,
            quick_generations: 10,
            by_points: false,
            // In the original program, candidates value the end of a game by the heights of cells above the playfield. These
            // are cut off here, so that value is meaningless, and candidates avoid the end.
            candidates_terminal_value: TerminalValue::Avoid,
            result_terminal_value: TerminalValue::Avoid,
            check_games: 30,
        };
        let mut row = ExperimentRow::new(label, "simplified", 10, 20, RowPlayer::Search(plan)).games(30, 30);
        for (iteration, mean) in ITERATIONS.into_iter().zip(means) {
            // One run is compared with the mean of ten, while scores grow by a factor within a few steps.
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
