//! `tetrion train td`: it learns, and ends with the same bytes whatever happens to it.

use std::path::Path;
use std::sync::OnceLock;

use serde_json::Value;
use tetrion::protocol::files::WeightPolicy;
use tetrion::trainer::learning::LearningRecord;
use tetrion::trainer::run_folder::{CHECKPOINT, CURVE, GENERATIONS, WEIGHTS};
use tetrion::trainer::weights::Weights;

use crate::evaluate::tetrion;
use crate::train::{Running, empty_folder, files, resume, start, succeeded};

/// A run of some seconds.
const SMALL: [&str; 18] = [
    "train",
    "td",
    "--height",
    "8",
    "--generations",
    "4",
    "--parallel-games",
    "12",
    "--rounds",
    "150",
    "--check-games",
    "8",
    "--final-games",
    "8",
    "--max-pieces",
    "500",
    "--seed",
    "5",
];

fn begin(folder: &Path, args: &[&str]) -> Running {
    start(tetrion(&SMALL).arg("--out").arg(folder).args(args))
}

/// The files of an undisturbed run, and what it printed.
fn undisturbed() -> &'static (Vec<(&'static str, String)>, Value) {
    static RUN: OnceLock<(Vec<(&'static str, String)>, Value)> = OnceLock::new();
    RUN.get_or_init(|| {
        let folder = empty_folder("td_undisturbed");
        let output = succeeded(begin(&folder, &["--json"]).output());
        (files(&folder), serde_json::from_str(&output).unwrap())
    })
}

#[track_caller]
fn check_same(folder: &Path) {
    for ((name, expected), (_, found)) in undisturbed().0.iter().zip(files(folder)) {
        assert!(found == *expected, "{name} is another one than that of an undisturbed run");
    }
}

fn records() -> Vec<LearningRecord> {
    let (_, lines) = undisturbed().0.iter().find(|(name, _)| *name == GENERATIONS).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_thousand_pieces_are_enough_to_play_better() {
    let records = records();
    assert_eq!(records.len(), 4);
    // 12 games of 150 pieces, less those that were lost.
    assert!(records.iter().all(|record| record.pieces + record.games == 1800), "{records:?}");
    let [first, .., last] = &records[..] else { unreachable!() };
    assert!(first.games > 2 * last.games && last.check.mean > 2.0 * first.lines.unwrap(), "{records:?}");
}

#[test]
fn killed_and_resumed_and_made_longer_it_ends_with_the_same_bytes() {
    let folder = empty_folder("td_killed");
    let mut run = begin(&folder, &[]);
    for generations in [0, 1, 2] {
        run.wait_for(&folder, generations);
        run.kill();
        run = resume(&folder, &[]);
    }
    succeeded(run.output());
    check_same(&folder);
    succeeded(resume(&folder, &[]).output());
    check_same(&folder);

    let folder = empty_folder("td_longer");
    let shorter: Vec<&str> = SMALL.iter().map(|&arg| if arg == "4" { "1" } else { arg }).collect();
    succeeded(tetrion(&shorter).arg("--out").arg(&folder).output().unwrap());
    succeeded(resume(&folder, &["--generations", "4"]).output());
    check_same(&folder);
    let refused = resume(&folder, &["--generations", "3"]).output();
    assert!(String::from_utf8_lossy(&refused.stderr).contains("has 4 generations already"));
}

#[test]
fn its_weights_have_a_model_and_play_as_it_says() {
    let (_, result) = undisturbed();
    let path = empty_folder("td_undisturbed_weights.json");
    let weights = &undisturbed().0.iter().find(|(name, _)| *name == WEIGHTS).unwrap().1;
    std::fs::write(&path, weights).unwrap();
    let Weights { seeds, feature_names, policy, .. } = Weights::read(&path).unwrap();
    // Seven features; four steps of -3 to 3 in one table, two heights up to 8 in the other.
    assert_eq!((feature_names.len(), policy.row.len()), (7, 7 + 7 * 7 * 7 * 7 + 9 * 9));
    let evaluated = tetrion(&["evaluate", "--json", "--max-pieces", "500", "--games", "8"])
        .args(["--seed", &seeds.evaluation.to_string()])
        .arg(&path)
        .output()
        .unwrap();
    let evaluated: Value = serde_json::from_str(&succeeded(evaluated)).unwrap();
    for field in ["num_games", "num_truncated", "lines", "pieces", "score"] {
        assert_eq!(evaluated["results"][0][field], result[field], "{field}");
    }

    let refused = tetrion(&["train", "--features", "dellacherie6", "--start"]).arg(&path).output().unwrap();
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(stderr.contains("has a model in addition to its weights"), "{stderr}");
}

#[test]
fn without_tables_it_learns_weights_alone() {
    let folder = empty_folder("td_linear");
    let args = ["--slope-tuple", "0", "--height-tuple", "0", "--features", "bcts8", "--generations", "1"];
    let args: Vec<&str> =
        SMALL.iter().filter(|arg| !["--generations", "4"].contains(arg)).chain(&args).copied().collect();
    succeeded(tetrion(&args).arg("--out").arg(&folder).output().unwrap());
    let weights = Weights::read(&folder.join(WEIGHTS)).unwrap();
    assert_eq!((weights.policy.row.len(), weights.policy.model.is_none()), (8, true));
    assert!(weights.policy.row.iter().any(|weight| *weight != 0.0));
    assert!(folder.join(CURVE).exists());
}

#[test]
fn a_checkpoint_of_another_run_is_refused() {
    let (one, other) = (empty_folder("td_one"), empty_folder("td_other"));
    let args: Vec<&str> = SMALL.iter().map(|&arg| if arg == "4" { "1" } else { arg }).collect();
    for (folder, seed) in [(&one, "5"), (&other, "6")] {
        let args: Vec<&str> = args[..16].iter().chain(&["--seed", seed]).copied().collect();
        succeeded(tetrion(&args).arg("--out").arg(folder).output().unwrap());
    }
    std::fs::copy(one.join(CHECKPOINT), other.join(CHECKPOINT)).unwrap();
    let refused = resume(&other, &[]).output();
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(stderr.contains("made with seed = \"5\", the settings say \"6\""), "{stderr}");
}

/// A run of some seconds that learns a network.
const NETWORK: [&str; 20] = [
    "train",
    "td",
    "--hidden-units",
    "4",
    "--width",
    "6",
    "--height",
    "6",
    "--generations",
    "3",
    "--parallel-games",
    "12",
    "--rounds",
    "200",
    "--check-games",
    "8",
    "--final-games",
    "8",
    "--seed",
    "5",
];

#[test]
fn a_network_ends_with_the_same_bytes_whatever_happens() {
    let (whole, killed) = (empty_folder("td_network"), empty_folder("td_network_killed"));
    // Checks and the result weigh what the hidden piece can reach; what is learned does not depend on it.
    let expectation = ["--search", "expectation,placements=2"];
    let begin = |folder: &Path| start(tetrion(&NETWORK).args(expectation).arg("--out").arg(folder));
    succeeded(begin(&whole).output());
    let mut run = begin(&killed);
    for generations in [0, 1] {
        run.wait_for(&killed, generations);
        run.kill();
        run = resume(&killed, &[]);
    }
    succeeded(run.output());
    for ((name, expected), (_, found)) in files(&whole).iter().zip(files(&killed)) {
        assert!(found == *expected, "{name} is another one than that of an undisturbed run");
    }

    let lines = std::fs::read_to_string(whole.join(GENERATIONS)).unwrap();
    let records: Vec<LearningRecord> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(records.iter().all(|record| record.lines.is_none()), "{records:?}");
    assert!(records[2].error < records[0].error, "{records:?}");

    // Weights of 0 for the features; a network of 4 units, and tables of rows of 4: heights of three columns, mirror images
    // in one table, four steps, the cells of three columns, mirror images in one table, and of six rows.
    let WeightPolicy { row, .. } = Weights::read(&whole.join(WEIGHTS)).unwrap().policy;
    let entries = 2 * 7 * 7 * 7 + 2 * 7 * 7 * 7 * 7 + 3 * 64 + 6 * 64;
    assert_eq!(row[..7], [0.0; 7]);
    assert_eq!(row.len(), 7 + 7 * 4 + 4 + 4 + 1 + 4 * entries);
}

#[test]
fn what_a_network_cannot_be_learned_with_is_refused() {
    for (args, problem) in [
        (&["--hidden-units", "4", "--height", "20"][..], "--hidden-units: 4, expected none on 10 x 20"),
        (&["--hidden-units", "65"], "expected 2 to 64"),
        (&["--hidden-units", "1"], "expected 2 to 64"),
        (&["--hidden-units", "64", "--width", "12", "--height", "12"], "expected at most 4194304"),
        (&["--hidden-units", "4", "--feature-rate", "0.1"], "'--feature-rate <RATE>'"),
        (&["--hidden-units", "4", "--table-rate", "2"], "table_rate is 2.0, not between 0.0 and 1.9"),
        (&["--hidden-units", "4", "--start", "nobody"], "nobody"),
        (&["--start", "dt-10"], "--hidden-units <N>"),
        (&["--rate-ratio", "3"], "--hidden-units <N>"),
    ] {
        let refused = tetrion(&["train", "td"]).args(args).output().unwrap();
        let stderr = String::from_utf8_lossy(&refused.stderr);
        assert!(!refused.status.success() && stderr.contains(problem), "{args:?}: {stderr}");
    }
}
