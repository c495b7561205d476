//! `tetrion reproduce`: its tables are sound, its verdicts are those that the numbers deserve, and what it prints can be read.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;
use tetrion::agents::{AgentRow, Controller};
use tetrion::cli::reproduce::experiments::{Player, Quantity, experiments};
use tetrion::cli::reproduce::verdict::{Margin, Said, Verdict, balances};
use tetrion::engine::Rules;
use tetrion::features::FeatureSet;
use tetrion::summary::{Spread, Statistics};

use crate::evaluate::tetrion;

fn reproduce(args: &[&str]) -> Output {
    tetrion(&["reproduce"]).args(args).output().unwrap()
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
            "lab",
            "genetic",
            "survey",
            "controllers-10x10",
            "controllers-10x20",
            "cem-szita-lorincz"
        ]
    );
    for experiment in &experiments {
        assert!(!experiment.rows.is_empty() && !experiment.title.is_empty() && !experiment.source.is_empty());
        for row in &experiment.rows {
            let what = format!("{}, {}", experiment.name, row.label);
            let preset = Rules::preset(&row.rules.preset).unwrap_or_else(|| panic!("{what}: no such rules"));
            let width = row.rules.width.map_or(preset.width, |width| width as u8);
            match &row.player {
                Player::Named(name) => {
                    let controller = Controller::named(name).ok();
                    assert!(controller.is_some() || AgentRow::named(name).is_some(), "{what}");
                    assert!(controller.is_none_or(|controller| controller.features(width).is_ok()), "{what}");
                }
                Player::Search(plan) => assert!(FeatureSet::named(plan.features, width).is_ok(), "{what}"),
                Player::MonteCarlo(_) | Player::Linear(_) => {}
            }
            assert!(row.quick_games <= row.games && row.games > 0 && !row.figures.is_empty(), "{what}");
            let said = |quantity| {
                let figure = row.figures.iter().find(|figure| figure.quantity == quantity)?;
                Some((figure.document?.value, figure.wrong.is_some()))
            };
            // What cannot be true is marked.
            if let (Some(lines), Some(pieces)) = (said(Quantity::Lines), said(Quantity::Pieces)) {
                let height = row.rules.height.unwrap();
                if !balances(width.into(), height, lines.0, pieces.0) {
                    assert!(pieces.1, "{what}");
                }
            }
        }
    }
    let list = printed(&["--list"]);
    assert_eq!(list.lines().count(), names.len());
    assert!(list.lines().zip(&names).all(|(line, name)| line.starts_with(name)), "{list}");
}

#[test]
fn figures_agree_within_three_standard_errors() {
    let ours = |mean: f64, std: f64| Statistics {
        mean,
        spread: Some(Spread { std, ci95: (0.0, 0.0) }),
        min: 0.0,
        max: 0.0,
    };
    #[track_caller]
    fn check(margin: Margin, value: f64, ours: Statistics, cut: bool, expected: Verdict) {
        assert_eq!(Said { value, margin }.compare(&ours, 100, cut), expected);
    }
    // A hundred games each, of standard deviation 10: a standard error of the difference of the root of 2.
    check(Margin::Games(100), 50.0, ours(54.2, 10.0), false, Verdict::Agrees);
    check(Margin::Games(100), 50.0, ours(54.3, 10.0), false, Verdict::Differs);
    check(Margin::Games(100), 50.0, ours(45.7, 10.0), false, Verdict::Differs);
    check(Margin::Games(1), 50.0, ours(79.0, 10.0), false, Verdict::Agrees);
    // Cut decimals: anything from 6 to 7 is a 6.
    check(Margin::CutOff(100), 6.0, ours(6.9, 0.1), false, Verdict::Agrees);
    check(Margin::CutOff(100), 6.0, ours(5.9, 0.1), false, Verdict::Differs);
    // An interval of 1.96 standard errors of 1, and ours of 1.
    check(Margin::Interval(48.04, 51.96), 50.0, ours(54.2, 10.0), false, Verdict::Agrees);
    check(Margin::Interval(48.04, 51.96), 50.0, ours(54.3, 10.0), false, Verdict::Differs);
    // Nineteen of twenty say little against all of a hundred.
    check(Margin::Share(20), 0.95, ours(1.0, 0.0), false, Verdict::Agrees);
    check(Margin::Share(20), 0.5, ours(1.0, 0.0), false, Verdict::Differs);
    check(Margin::Factor(2.0), 50.0, ours(26.0, 1.0), false, Verdict::Agrees);
    check(Margin::Factor(2.0), 50.0, ours(104.0, 1.0), false, Verdict::Differs);
    // A lower bound says nothing of what is above it, and something of what is below.
    check(Margin::Games(100), 50.0, ours(20.0, 1.0), true, Verdict::Cut);
    check(Margin::Games(100), 50.0, ours(80.0, 1.0), true, Verdict::Differs);

    assert!(balances(10, 10, 0.0, 6.0), "24 cells lie on the playfield");
    assert!(balances(15, 15, 48_257.0, 180_964.0) && balances(15, 15, 48_257.0, 181_000.0));
    assert!(!balances(15, 15, 48_257.0, 442_115.0), "more cells left than there is room for");
    assert!(!balances(20, 15, 1_228_724.0, 6_143_600.0), "fewer cells than went");
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
    assert_eq!(verdicts, ["agrees", "document_wrong"], "{report}");
    let notes = report["rows"][0]["notes"].to_string();
    assert!(notes.contains("cannot be true together"), "{notes}");
    let report = json(&["leiden-2", "--games", "12", "--row", "15x15"]);
    assert_eq!(figures(&report)[1].3, "document_wrong", "{report}");
}

#[test]
fn long_games_are_cut_in_a_quick_look_and_that_is_told() {
    let report = json(&["controllers-10x20", "--quick", "--games", "2", "--row", "dt-20"]);
    assert_eq!(figures(&report)[0].3, "cut", "{report}");
    assert_eq!(report["rows"][0]["truncated_games"], 2);
    let rows = json(&["controllers-10x10", "--games", "40", "--row", "yiyuan-lee"]);
    assert_eq!(figures(&rows)[0].3, "agrees", "{rows}");
}

#[test]
fn searches_tell_of_every_generation() {
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
    assert!(text.contains("dummy") && text.contains("11.20") && text.contains("dummy: 300 games"), "{text}");
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
fn what_does_not_exist_is_told_with_what_does() {
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
