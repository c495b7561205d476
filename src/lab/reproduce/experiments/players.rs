//! Gains from averaging over the next piece: the same weights in classes of players that must not be compared directly.

use super::row::{Experiment, ExperimentRow, Quantity, RowPlayer};

/// Published weights on 10 x 10.
const CONTROLLERS: [&str; 5] = ["dellacherie", "bcts", "dt-20", "rv-ce", "dt-10"];
/// Most pieces of a game with the next piece shown; such games last for hours.
const SHOWN_CUT: u64 = 1_000_000;

/// The controllers of this project, each with the best published controller of its class, on the same pieces.
pub fn records() -> Experiment {
    let row = |label: &str, height, player| {
        ExperimentRow::new(label, "simplified", 10, height, player).figure(Quantity::Lines, None, None)
    };
    let mut rows = Vec::new();
    for name in ["rv-ce", "tetrion-10x10"] {
        rows.push(row(&format!("{name}, greedy"), 10, RowPlayer::Named(name)).games(10_000, 500));
    }
    // Whole games would take hours.
    for name in ["dt-20", "tetrion-10x20"] {
        let label = format!("{name}, greedy, estimated");
        let long = ExperimentRow::new(label, "simplified", 10, 20, RowPlayer::Named(name)).games(100, 10);
        let long = ExperimentRow { loss_trials: 400, ..long };
        rows.push(long.figure(Quantity::EstimatedLines, None, None));
    }
    for (name, player) in [
        ("dt-10", RowPlayer::Expectation { name: "dt-10", pieces: 1, placements: 8 }),
        ("tetrion-10x10-expectation", RowPlayer::Named("tetrion-10x10-expectation")),
    ] {
        let mean = row(&format!("{name}, mean over the hidden piece"), 10, player).games(400, 10);
        rows.push(ExperimentRow { quick_cut: 20_000, ..mean });
    }
    for (name, player) in [
        ("dt-10", RowPlayer::Expectation { name: "dt-10", pieces: 2, placements: 4 }),
        ("tetrion-10x10-preview", RowPlayer::Named("tetrion-10x10-preview")),
    ] {
        let label = format!("{name}, next piece shown, mean over the one after it");
        let shown = ExperimentRow::new(label, "simplified", 10, 10, player).showing(1).games(40, 4);
        let shown = ExperimentRow { cut: SHOWN_CUT, quick_cut: 5_000, ..shown };
        rows.push(shown.figure(Quantity::Lost, None, None));
    }
    Experiment {
        name: "records",
        title: "the controllers of this project and the best published ones of their class, on the same pieces",
        source: "docs/results.md has the figures and the commands",
        rows,
    }
}

/// Published weights, played greedily, with the exact mean over the hidden piece, and with the next piece shown.
pub fn expectation() -> Experiment {
    let row = |label: String, player| {
        ExperimentRow::new(label, "simplified", 10, 10, player).figure(Quantity::Lines, None, None)
    };
    let weighing = |name, pieces, placements| RowPlayer::Expectation { name, pieces, placements };
    let mut rows = Vec::new();
    for name in CONTROLLERS {
        rows.push(row(format!("{name}, greedy"), RowPlayer::Named(name)).games(10_000, 500));
        let mean = row(format!("{name}, mean over the hidden piece"), weighing(name, 1, 8));
        rows.push(ExperimentRow { quick_cut: 20_000, ..mean.games(400, 10) });
    }
    for (label, player) in [
        ("dt-10, next piece shown", weighing("dt-10", 1, 8)),
        ("dt-10, next piece shown, mean over the one after it", weighing("dt-10", 2, 4)),
    ] {
        let shown = row(label.to_owned(), player).showing(1).games(40, 4);
        let shown = ExperimentRow { cut: SHOWN_CUT, quick_cut: 5_000, ..shown };
        rows.push(shown.figure(Quantity::Lost, None, None));
    }
    Experiment {
        name: "expectation",
        title: "published weights on 10 x 10, greedy and with expectation over the next piece",
        source: "no published figure was found",
        rows,
    }
}
