//! `tetrion-lab reproduce`: the tables are consistent, verdicts follow from the numbers, and the output is readable.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tetrion::agents::{AgentRow, Controller};
use tetrion::engine::Rules;
use tetrion::features::FeatureSet;
use tetrion_lab::reproduce::experiments::{ExperimentRow, Quantity, RowPlayer, experiments};
use tetrion_lab::reproduce::verdict::{
    Cuts, Decimals, Origin, OverallVerdict, Printed, Reference, Verdict, balances,
};

use crate::lab;

fn reproduce(args: &[&str]) -> Output {
    lab(&["reproduce"]).args(args).output().unwrap()
}

#[track_caller]
fn printed(args: &[&str]) -> String {
    let output = reproduce(args);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[track_caller]
fn json(args: &[&str]) -> Value {
    serde_json::from_str(&printed(&[args, &["--json"]].concat())).unwrap()
}

/// The figures of a report: row, number, ours, verdict.
fn figures(report: &Value) -> Vec<(String, String, Option<f64>, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = report["rows"].as_array().unwrap().iter();
    let figures_of = |row: &Value| {
        let figures = row["figures"].as_array().unwrap().iter();
        let figure = |figure: &Value| {
            (text(&row["row"]), text(&figure["number"]), figure["ours"].as_f64(), text(&figure["verdict"]))
        };
        figures.map(figure).collect::<Vec<_>>()
    };
    rows.flat_map(figures_of).collect()
}

#[test]
fn the_tables_name_what_exists_and_show_what_is_wrong() {
    let experiments = experiments();
    let names: Vec<&str> = experiments.iter().map(|experiment| experiment.name).collect();
    assert_eq!(
        names,
        [
            "leiden-1",
            "leiden-2",
            "leiden-3",
            "leiden-4",
            "leiden-weights",
            "lab",
            "genetic",
            "survey",
            "controllers-10x10",
            "controllers-10x20",
            "cem-szita-lorincz",
            "expectation",
            "records"
        ]
    );
    for experiment in &experiments {
        assert!(!experiment.rows.is_empty() && !experiment.title.is_empty() && !experiment.source.is_empty());
        for row in &experiment.rows {
            let what = format!("{}, {}", experiment.name, row.label);
            let preset = Rules::preset(&row.rules.preset).unwrap_or_else(|| panic!("{what}: no such rules"));
            let width = row.rules.changes.count("width").map_or(preset.width, |width| width as u8);
            match &row.player {
                RowPlayer::Named(name) => {
                    let controller = Controller::named(name).ok();
                    assert!(controller.is_some() || AgentRow::named(name).is_some(), "{what}");
                    assert!(controller.is_none_or(|controller| controller.features(width).is_ok()), "{what}");
                }
                RowPlayer::Expectation { name, pieces, .. } => {
                    assert!(
                        Controller::named(name).is_ok_and(|found| found.features(width).is_ok()),
                        "{what}"
                    );
                    assert!(
                        u32::from(*pieces) <= row.rules.changes.count("preview").unwrap_or(0) + 1,
                        "{what}"
                    );
                }
                RowPlayer::Search(plan) => assert!(FeatureSet::named(plan.features, width).is_ok(), "{what}"),
                RowPlayer::MonteCarlo(_) | RowPlayer::Linear(_) => {}
            }
            assert!(row.quick_games <= row.games && row.games > 0 && !row.figures.is_empty(), "{what}");
            let said = |quantity| {
                let figure = row.figures.iter().find(|figure| figure.quantity == quantity)?;
                Some((figure.document?.value()?, figure.wrong.is_some()))
            };
            // Figures that cannot be true are marked.
            if let (Some(lines), Some(pieces)) = (said(Quantity::Lines), said(Quantity::Pieces)) {
                let height = row.rules.changes.count("height").unwrap();
                if !balances(width.into(), height, lines.0, pieces.0) {
                    assert!(pieces.1, "{what}");
                }
            }
        }
    }
    let list = printed(&["--list"]);
    let named = [&names[..], &["optimum"]].concat();
    assert_eq!(list.lines().count(), named.len());
    assert!(list.lines().zip(&named).all(|(line, name)| line.starts_with(name)), "{list}");
}

/// Numbers with this mean and this sample standard deviation.
fn sample(mean: f64, std: f64, games: usize) -> Vec<f64> {
    assert!(games.is_multiple_of(2));
    let off = std * ((games - 1) as f64 / games as f64).sqrt();
    (0..games).map(|n| if n % 2 == 0 { mean - off } else { mean + off }).collect()
}

/// This many games lost of this many.
fn lost(count: usize, games: usize) -> Vec<f64> {
    (0..games).map(|n| if n < count { 1.0 } else { 0.0 }).collect()
}

fn up_to(games: usize) -> Vec<f64> {
    (0..games).map(|n| n as f64).collect()
}

#[track_caller]
fn check(printed: Printed, ours: Vec<f64>, expected: Verdict) {
    assert_eq!(Reference { printed, origin: Origin::Document }.compare(&ours, Cuts::default()), expected);
}

#[track_caller]
fn check_cut(printed: Printed, ours: Vec<f64>, expected: Verdict) {
    let cuts = Cuts { early: true, ..Cuts::default() };
    assert_eq!(Reference { printed, origin: Origin::Document }.compare(&ours, cuts), expected);
}

/// Games that were all cut where the figure's were, of which one of forty was lost.
#[test]
fn games_that_were_all_cut_do_not_show_how_lost_ones_vary() {
    let check = |value, games, ours: Vec<f64>, expected| {
        let printed = Printed::Mean { value, decimals: Decimals::Kept, games };
        let cuts = Cuts { cut: ours.len() as u64, ..Cuts::default() };
        assert_eq!(Reference { printed, origin: Origin::Rerun }.compare(&ours, cuts), expected);
    };
    // 15 % of the games may be lost, and none is with probability 0.00135: (1 - 0.152)^40.
    check(481.0, 40, sample(490.0, 2.0, 40), Verdict::Agrees);
    check(420.0, 40, sample(490.0, 2.0, 40), Verdict::Agrees);
    check(400.0, 40, sample(490.0, 2.0, 40), Verdict::Differs);
    check(495.0, 40, sample(490.0, 2.0, 40), Verdict::Differs);
    // With ten it may be half of them.
    check(7_997.0, 10, sample(7_998.5, 1.0, 10), Verdict::Agrees);
    check(5_000.0, 10, sample(7_998.5, 1.0, 10), Verdict::TooFew);
}

/// One game that was lost just before the cut says as little of other lost games as none.
#[test]
fn a_few_lost_games_do_not_show_how_lost_ones_vary() {
    let check = |value, cut, expected| {
        let printed = Printed::Mean { value, decimals: Decimals::Kept, games: 40 };
        let compared = Reference { printed, origin: Origin::Rerun }
            .compare(&sample(486.0, 2.0, 40), Cuts { cut, ..Cuts::default() });
        assert_eq!(compared, expected, "{value} with {cut} cut");
    };
    // Of 40 games at most one is lost with probability 0.00135 where 21 % are lost, which is 18.5 % more than one.
    check(481.0, 39, Verdict::Agrees);
    check(400.0, 39, Verdict::Agrees);
    check(390.0, 39, Verdict::Differs);
    // Ten lost games are enough.
    check(481.0, 30, Verdict::Differs);
    check(481.0, 0, Verdict::Differs);
}

#[test]
fn means_agree_within_three_standard_errors_that_could_refute_half_or_double() {
    use Verdict::{Agrees, Cut, Differs, TooFew};
    let mean = |games, value| Printed::Mean { value, decimals: Decimals::Kept, games };
    // A hundred games each, of standard deviation 10: three times the root of 2 is 4.24.
    check(mean(100, 50.0), sample(54.2, 10.0, 100), Agrees);
    check(mean(100, 50.0), sample(54.3, 10.0, 100), Differs);
    // Below, games would vary more at the figure than they do at ours: 4.24 x 50 / 45.2 is 4.69.
    check(mean(100, 50.0), sample(45.5, 10.0, 100), Agrees);
    check(mean(100, 50.0), sample(45.2, 10.0, 100), Differs);
    // Games as long as they vary. A hundred of each tell half from the whole, and twenty of theirs do not.
    check(mean(100, 50.0), sample(50.0, 50.0, 100), Agrees);
    check(mean(20, 50.0), sample(50.0, 50.0, 100), TooFew);
    check(mean(20, 50.0), sample(10.0, 10.0, 100), Differs);
    // Nine games or fewer show nothing, whatever they are; nor do none, or values that are not numbers.
    check(mean(100, 50.0), sample(50.0, 1.0, 8), TooFew);
    check(mean(100, 50.0), sample(500.0, 1.0, 8), TooFew);
    check(mean(100, 50.0), vec![50.0], TooFew);
    check(mean(100, 50.0), vec![], TooFew);
    check(mean(100, 50.0), vec![f64::NAN; 100], TooFew);
    check(mean(100, f64::NAN), sample(50.0, 10.0, 100), TooFew);
    check(mean(0, 50.0), sample(50.0, 10.0, 100), TooFew);
    // Games without a line are 0 lines give or take three in as many as they are.
    check(mean(100, 0.02), vec![0.0; 100], TooFew);
    check(mean(100, 0.04), vec![0.0; 100], Differs);
    check(mean(100, 5.0), vec![0.0; 100], Differs);

    let cut_off = |games, value| Printed::Mean { value, decimals: Decimals::CutOff, games };
    // Anything from 6 to 7 is a 6.
    check(cut_off(100, 6.0), sample(6.9, 0.1, 100), Agrees);
    check(cut_off(100, 6.0), sample(5.9, 0.1, 100), Differs);
    check(cut_off(100, 0.0), vec![0.0; 100], Agrees);
    check(cut_off(100, 0.0), sample(1.5, 0.5, 100), Differs);
    let rounded = Printed::Mean { value: 11.2, decimals: Decimals::Rounded(0.05), games: 100 };
    check(rounded, sample(11.25, 0.001, 100), Agrees);
    check(rounded, sample(11.26, 0.001, 100), Agrees); // our own error is never below 1/100
    check(rounded, sample(11.29, 0.001, 100), Differs);

    // An interval of 1.96 standard errors of 1, and ours of 1.
    let interval = Printed::Interval { value: 50.0, low: 48.04, high: 51.96 };
    check(interval, sample(54.2, 10.0, 100), Agrees);
    check(interval, sample(54.3, 10.0, 100), Differs);
    let wide = Printed::Interval { value: 50.0, low: 25.0, high: 75.0 };
    check(wide, sample(50.0, 10.0, 100), TooFew);

    let factor = Printed::Factor { value: 50.0, factor: 2.0 };
    check(factor, sample(26.0, 1.0, 100), Agrees);
    check(factor, sample(104.0, 1.0, 100), Differs);
    check(factor, sample(50.0, 1.0, 8), TooFew);

    // A lower bound says nothing about what is above it, and something about what is below.
    check_cut(mean(100, 50.0), sample(20.0, 1.0, 100), Cut);
    check_cut(mean(100, 50.0), sample(50.0, 1.0, 100), Cut);
    check_cut(mean(100, 50.0), sample(80.0, 1.0, 100), Differs);
    check_cut(mean(100, 50.0), vec![f64::NAN; 100], TooFew);
}

#[test]
fn figures_from_a_lowest_to_a_highest_are_accepted() {
    #[track_caller]
    fn check(printed: Printed, ours: Vec<f64>, estimated: bool, expected: (f64, f64)) {
        let cuts = Cuts { estimated, ..Cuts::default() };
        let accepted = Reference { printed, origin: Origin::Document }.accepted(&ours, cuts).unwrap();
        let rounded = |number: f64| (number * 100.0).round() / 100.0;
        assert_eq!((rounded(accepted.low), rounded(accepted.high)), expected);
    }
    let mean = |games, value| Printed::Mean { value, decimals: Decimals::Kept, games };
    check(mean(100, 50.0), sample(54.2, 10.0, 100), false, (49.96, 58.44)); // three times the root of 2
    // Games vary by their mean of 50, so 49 of them by a seventh; estimates by a tenth of 1.
    check(mean(49, 40.0), sample(50.0, 1.0, 100), true, (28.57, 71.43));
    check(mean(49, 40.0), sample(50.0, 1.0, 100), false, (49.48, 50.52)); // a seventh of 1, and a tenth
    // A game is above all of a thousand, or below, once in 1,001 times.
    check(Printed::BestOf { value: 5.0, games: 1 }, up_to(1000), false, (0.0, 999.0));
    check(Printed::Words { words: "", low: 5.0, high: 6.0 }, up_to(23), false, (0.0, 22.0));
    // With 12 of 12 lost here, none of four there is 1 way of 1,820, and one of four 4 ways of 560.
    check(Printed::Share { count: 0, games: 4 }, lost(12, 12), false, (0.25, 1.0));
}

#[test]
fn shares_are_compared_by_fishers_test() {
    use Verdict::{Agrees, Differs, TooFew};
    let share = |count, games| Printed::Share { count, games };
    check(share(0, 20), lost(4, 4), Differs); // 1 of the 10,626 ways to choose 4 of 24
    check(share(0, 20), lost(0, 4), TooFew); // 2 of 4 would be 6 ways in 276
    check(share(0, 20), lost(0, 20), Agrees);
    check(share(0, 20), lost(10, 20), Differs);
    check(share(0, 20), lost(4, 20), Agrees);
    check(share(0, 20), lost(1, 1), TooFew);
    check(share(0, 20), vec![], TooFew);
    check(share(0, 20), vec![f64::NAN; 20], TooFew);
    check(share(17, 20), lost(90, 100), Agrees);
    check(share(17, 20), lost(100, 100), Agrees); // 1 in 246: three survivors of twenty are no wonder
    check(share(17, 20), lost(45, 100), Differs);
    check(share(193, 200), lost(193, 200), Agrees);
    check(share(0, 10), lost(0, 10), TooFew); // 5 of 10 would be 252 ways in 15,504
    check_cut(share(0, 20), lost(0, 20), Verdict::Cut);
    check_cut(share(0, 20), lost(20, 20), Differs);
}

#[test]
fn the_best_of_some_games_is_placed_among_ours() {
    use Verdict::{Agrees, Differs, TooFew};
    let best = |games, value| Printed::BestOf { value, games };
    check(best(1, 500.0), up_to(1000), Agrees);
    check(best(1, 998.5), up_to(1000), Agrees); // one of ours is larger: 2 in 1,001
    check(best(1, 1000.0), up_to(1000), Differs); // none is: 1 in 1,001
    check(best(1, -1.0), up_to(1000), Differs);
    // A hundred games never set one apart at that level.
    check(best(1, 50.0), up_to(100), TooFew);
    check(best(1, 1e9), up_to(100), TooFew);
    check(best(1, 45_000.0), vec![35_079.0], TooFew);
    check(best(1, f64::NAN), up_to(1000), TooFew);
    check(best(1, 5.0), vec![], TooFew);
    // The best of a hundred is not in the middle of a thousand, and could be above them all by chance.
    check(best(100, 500.0), up_to(1000), Differs);
    check(best(100, 995.0), up_to(1000), TooFew);
    check(best(100, 99_500.0), up_to(100_000), Agrees);
    check(best(100, 100_000.0), up_to(100_000), Differs);
    check_cut(best(1, 1e9), up_to(1000), Verdict::Cut);
}

#[test]
fn words_speak_of_the_middle_half_of_games() {
    use Verdict::{Agrees, Differs, TooFew};
    let words = |low, high| Printed::Words { words: "", low, high };
    check(words(20.0, 30.0), up_to(100), Agrees);
    check(words(1.0, 5.0), up_to(100), Differs);
    check(words(95.0, 99.0), up_to(100), Differs);
    // Three quarters to the power of 23 are less than half of 0.0027.
    check(words(5.0, 6.0), up_to(22), TooFew);
    check(words(5.0, 6.0), up_to(23), Agrees);
    check(words(30.0, 40.0), up_to(23), Differs);
    check(words(f64::NAN, 30.0), up_to(100), TooFew);
    check_cut(words(95.0, 99.0), up_to(100), Verdict::Cut);
    check_cut(words(1.0, 5.0), up_to(100), Differs);
}

#[test]
fn a_figure_has_one_verdict() {
    use Verdict::{Agrees, Cut, Differs, TooFew};
    #[track_caller]
    fn judged(document: Option<Verdict>, since: Option<Verdict>, is_wrong: bool, expected: OverallVerdict) {
        assert_eq!(OverallVerdict::of(document, since, is_wrong), expected);
    }
    judged(None, None, false, OverallVerdict::None);
    judged(None, None, true, OverallVerdict::None);
    for (verdict, expected) in [
        (Agrees, OverallVerdict::Agrees),
        (Differs, OverallVerdict::Differs),
        (TooFew, OverallVerdict::TooFew),
        (Cut, OverallVerdict::Cut),
    ] {
        judged(Some(verdict), None, false, expected);
        judged(None, Some(verdict), false, expected);
        judged(Some(verdict), Some(verdict), false, expected);
    }
    judged(Some(Differs), Some(Agrees), false, OverallVerdict::DiffersFromDocument);
    judged(Some(Agrees), Some(Differs), false, OverallVerdict::Differs);
    judged(Some(TooFew), Some(Agrees), false, OverallVerdict::Agrees);
    judged(Some(Agrees), Some(TooFew), false, OverallVerdict::Agrees);
    judged(Some(Differs), Some(TooFew), false, OverallVerdict::Differs);
    judged(Some(Differs), Some(Cut), false, OverallVerdict::Differs);
    // A document that is wrong differs for that reason, and agrees by accident.
    judged(Some(Differs), Some(Agrees), true, OverallVerdict::DocumentWrong);
    judged(Some(Agrees), Some(Agrees), true, OverallVerdict::DocumentWrong);
    judged(Some(Differs), None, true, OverallVerdict::DocumentWrong);
    judged(Some(Agrees), None, true, OverallVerdict::DocumentWrong);
    judged(Some(Differs), Some(TooFew), true, OverallVerdict::TooFew);
    judged(Some(Agrees), Some(TooFew), true, OverallVerdict::TooFew);
    judged(Some(Agrees), Some(Differs), true, OverallVerdict::Differs);
}

#[test]
fn cells_balance_or_a_document_is_wrong() {
    assert!(balances(10, 10, 0.0, 6.0), "24 cells lie on the playfield");
    assert!(balances(15, 15, 48_257.0, 180_964.0) && balances(15, 15, 48_257.0, 181_000.0));
    assert!(!balances(15, 15, 48_257.0, 442_115.0), "more cells left than there is room for");
    assert!(!balances(20, 15, 1_228_724.0, 6_143_600.0), "fewer cells than went");
}

/// Texts about the rows whose name contains `row`.
fn said(experiment: &str, row: &str, of: impl Fn(&ExperimentRow) -> Vec<String>) -> Vec<String> {
    let all = experiments();
    let experiment = all.iter().find(|other| other.name == experiment).unwrap();
    experiment.rows.iter().filter(|other| other.label(false).contains(row)).flat_map(of).collect()
}

#[test]
fn the_documents_figures_are_those_that_stand_there() {
    let documents = |experiment: &str, row: &str| {
        said(experiment, row, |row| {
            let documents = row.figures.iter().filter_map(|figure| Some((figure.quantity, figure.document?)));
            let documents = documents.filter(|(_, said)| said.origin == Origin::Document);
            documents.map(|(quantity, said)| said.text(quantity.unit())).collect()
        })
    };
    // The report's four tables: lines and pieces, means over 100 games and in two rows over 20.
    let tables = [
        ("leiden-1", "0 6 0 8 0 9 0 15 0 18"),
        ("leiden-2", "5 25 2 30 0 32 4 20 1 55"),
        ("leiden-3", "14 47 6 44 4 53 12 79 8 91"),
        // The lines of the two long rows are compared with estimates too.
        ("leiden-4", "68 186 342 1,307 1,466 7,366 48,257 442,115 48,257 1,228,724 5,868,939 1,228,724"),
    ];
    for (experiment, table) in tables {
        let printed = documents(experiment, "");
        let games = |n: usize| if experiment == "leiden-4" && n >= 6 { 20 } else { 100 };
        let expected = table.split(' ').enumerate();
        let expected: Vec<String> =
            expected.map(|(n, figure)| format!("{figure} ({} games, decimals cut off)", games(n))).collect();
        assert_eq!(printed, expected, "{experiment}");
    }
    // The notebook prints one number, and says two more things: one of them of its search.
    assert_eq!(documents("lab", "weights 1, 1000 keys"), ["58 (one game)", "probably 20-30 (in words)"]);
    assert_eq!(documents("lab", "10 candidates, 1000 keys, 50 generations"), ["around 80 (in words)"]);
    assert_eq!(documents("lab", "").len(), 3);
    // The largest score of the write-up is that of its third run, of 12 generations.
    assert_eq!(documents("genetic", ""), ["45,000 (one run)"]);
    assert_eq!(documents("genetic", "50 individuals, 12 generations"), ["45,000 (one run)"]);
    assert_eq!(documents("survey", ""), ["16,000,000 (to a factor of 1.3)"]);
    for experiment in ["controllers-10x10", "controllers-10x20", "cem-szita-lorincz"] {
        assert_eq!(documents(experiment, ""), [""; 0], "{experiment}");
    }
    // Papers are not documents, and figures cited from memory say so.
    let papers = |experiment: &str, row: &str| {
        said(experiment, row, |row| {
            row.figures.iter().filter_map(|figure| Some(figure.document?.text("game"))).collect()
        })
    };
    assert_eq!(papers("controllers-10x10", "dt-10"), ["5,000 (recalled, 10,000 games)"]);
    assert_eq!(papers("controllers-10x10", "rv-ce"), ["5,379 (published, 100,000 games)"]);
    assert_eq!(papers("controllers-10x20", "bcts-r"), ["35,000,000 (published, 28,000,000 to 42,000,000)"]);
    // What was measured since is a re-run.
    for experiment in experiments() {
        for figure in experiment.rows.iter().flat_map(|row| &row.figures) {
            assert!(figure.since.is_none_or(|said| said.origin == Origin::Rerun), "{}", experiment.name);
            assert!(figure.document.is_none_or(|said| said.origin != Origin::Rerun), "{}", experiment.name);
        }
    }
}

#[test]
fn tables_of_the_leiden_report_come_out() {
    let report = json(&["leiden-1", "--games", "1500"]);
    let found = figures(&report);
    assert_eq!(found.len(), 10);
    for (row, number, ours, verdict) in found {
        assert_eq!(verdict, "agrees", "{row}, {number}: {ours:?}");
    }
    for row in report["rows"].as_array().unwrap() {
        let note = row["notes"][0].as_str().unwrap();
        assert!(note.starts_with("cells balance in every game"), "{note}");
    }

    let report = json(&["leiden-4", "--games", "150", "--row", "10x1"]);
    let verdicts: Vec<String> = figures(&report).into_iter().map(|figure| figure.3).collect();
    assert_eq!(verdicts, ["agrees"; 4], "{report}");
    let report = json(&["leiden-4", "--games", "4", "--row", "15x15"]);
    let verdicts: Vec<String> = figures(&report).into_iter().map(|figure| figure.3).collect();
    assert_eq!(verdicts, ["too_few"; 3], "{report}");
    let remark = report["rows"][0]["figures"][1]["remark"].as_str().unwrap();
    assert!(remark.starts_with("too few games to tell; document wrong: impossible"), "{remark}");
    let notes = report["rows"][0]["notes"].to_string();
    assert!(notes.contains("cannot be true together"), "{notes}");
    let report = json(&["leiden-2", "--games", "12", "--row", "15x15"]);
    assert_eq!(figures(&report)[1].3, "document_wrong", "{report}");
}

#[test]
fn every_form_of_a_report_has_the_same_verdicts() {
    for args in [
        ["leiden-4", "--games", "60", "--row", "10x10"],
        ["leiden-1", "--games", "5", "--row", "10x10"],
        ["survey", "--games", "100", "--row", "dummy"],
    ] {
        let (report, text, markdown) =
            (json(&args), printed(&args), printed(&[&args[..], &["--markdown"]].concat()));
        let figures = report["rows"][0]["figures"].as_array().unwrap();
        assert!(!figures.is_empty());
        for figure in figures {
            let (number, remark) = (figure["number"].as_str().unwrap(), figure["remark"].as_str().unwrap());
            let in_text = text.lines().any(|line| line.contains(number) && line.ends_with(remark));
            let in_markdown = markdown.lines().any(|line| line.ends_with(&format!("| {remark} |")));
            assert!(in_text && in_markdown, "{figure} is not in {text}{markdown}");
            // The word is the first of what people read.
            let word = figure["verdict"].as_str().unwrap().replace('_', " ");
            assert!(remark.starts_with(&word), "{word}: {remark}");
        }
    }
}

#[test]
fn a_verdict_names_what_it_compared_where_the_interval_does_not_show_it() {
    let report = json(&["lab", "--games", "1000", "--row", "weights 1, 1000 keys"]);
    let remark = |figure: usize| report["rows"][0]["figures"][figure]["remark"].as_str().unwrap().to_owned();
    assert!(remark(0).starts_with("agrees; document within our single games, "), "{}", remark(0));
    assert!(remark(1).starts_with("agrees; document within the middle half of our games, "), "{}", remark(1));
    assert!(remark(2).starts_with("agrees; later figure within the shares that fit, "), "{}", remark(2));
}

#[test]
fn a_quick_search_is_named_by_its_length_and_not_judged_as_the_long_one() {
    let report = json(&["genetic", "--quick", "--games", "30", "--row", "6 generations"]);
    assert_eq!(report["rows"][0]["row"], "a run with 50 individuals, 6 generations");
    assert_eq!(figures(&report)[0].3, "cut", "{report}");
    let report = json(&["lab", "--quick", "--games", "30", "--row", "10 candidates"]);
    assert_eq!(report["rows"][0]["row"], "search with 10 candidates, 1000 keys, 50 generations");
    assert_ne!(figures(&report)[0].3, "cut", "it is as long as the figures' own: {report}");
}

#[test]
fn long_games_are_cut_in_a_quick_look_and_say_so() {
    let report = json(&["controllers-10x20", "--quick", "--games", "2", "--row", "dt-20"]);
    assert_eq!(figures(&report)[0].3, "cut", "{report}");
    assert_eq!(report["rows"][0]["truncated_games"], 2);
    assert_eq!(report["rows"][0]["figures"][0]["lower_bound"], true);
    let rows = json(&["controllers-10x10", "--games", "40", "--row", "yiyuan-lee"]);
    assert_eq!(figures(&rows)[0].3, "agrees", "{rows}");
}

#[test]
fn searches_report_every_generation() {
    let report = json(&["cem-szita-lorincz", "--quick", "--row", "no noise"]);
    let found = figures(&report);
    let numbers: Vec<&str> = found.iter().map(|figure| figure.1.as_str()).collect();
    assert_eq!(numbers[..3], ["lines after 1", "lines after 5", "lines after 10"]);
    let ours: Vec<Option<f64>> = found.iter().map(|figure| figure.2).collect();
    assert!(ours[2] > ours[0] && ours[3].is_none(), "it learns, and is not played to the end: {ours:?}");
    assert_eq!(found[3].3, "none");
    let notes = report["rows"][0]["notes"].to_string();
    assert!(notes.contains("generation 10: best") && notes.contains("deviation"), "{notes}");
    assert_eq!(
        json(&["cem-szita-lorincz", "--quick", "--row", "no noise"]),
        report,
        "a function of its seed"
    );
}

#[test]
fn a_table_can_be_read_printed_and_kept() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("reproduce");
    let _ = fs::remove_dir_all(&folder);
    let args = ["survey", "--games", "300", "--row", "dummy", "--write", folder.to_str().unwrap()];
    let text = printed(&args);
    assert!(text.starts_with("survey: the players of the survey"), "{text}");
    assert!(
        text.contains("dummy") && text.contains("11.2 (10,000 games)") && text.contains("dummy: 300 games"),
        "{text}"
    );
    let markdown = fs::read_to_string(folder.join("survey.md")).unwrap();
    assert_eq!(markdown, printed(&["survey", "--games", "300", "--row", "dummy", "--markdown"]));
    assert!(
        markdown.starts_with("### survey: ") && markdown.contains("| dummy | pieces but the last |"),
        "{markdown}"
    );
    let kept: Value = serde_json::from_str(&fs::read_to_string(folder.join("survey.json")).unwrap()).unwrap();
    assert_eq!(kept, json(&["survey", "--games", "300", "--row", "dummy"]));
    assert_eq!(figures(&kept)[0].3, "agrees");
}

#[test]
fn unknown_names_are_refused_with_those_that_exist() {
    #[track_caller]
    fn refused(args: &[&str], code: i32, part: &str) {
        let output = reproduce(args);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(code), &b""[..]), "{stderr}");
        assert!(stderr.contains(part), "{part:?} is not in {stderr}");
    }
    refused(&[], 2, "NAME");
    refused(&["leiden-5"], 2, "leiden-4");
    refused(&["leiden-5"], 2, "did you mean \"leiden-1\"?");
    refused(&["leiden-1", "--row", "9x9"], 2, "height x width 15x20");
    refused(&["leiden-1", "--json", "--markdown"], 2, "--markdown");
}
