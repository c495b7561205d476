//! Searches of every kind: by other optimizers, under other rules, over other features, from known weights.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tetrion::agents::{Controller, Search, TerminalValue};
use tetrion::client::Features;
use tetrion::engine::{ActionModel, FieldValue, Randomizer, TopOut};
use tetrion::protocol::files::WeightPolicy;
use tetrion::trainer::run_folder::{BEST, CHECKPOINT, CONFIG, CURVE, GENERATIONS, WEIGHTS};
use tetrion::trainer::weights::Weights;

use super::{SMALL, empty_folder, files, resume, succeeded};
use crate::evaluate::tetrion;

#[test]
fn a_genetic_search_leaves_the_same_files() {
    let folder = empty_folder("genetic");
    let args = ["--features", "height4", "--max-pieces", "200"];
    let run = tetrion(&["train", "genetic"])
        .args(&SMALL[1..13])
        .args(args)
        .arg("--out")
        .arg(&folder)
        .output()
        .unwrap();
    let text = succeeded(run);
    assert!(text.contains("height4 on 10 x 8 after 12 generations"), "{text}");
    assert_eq!(files(&folder)[1].1.lines().count(), 12);
    let features = Weights::read(&folder.join(WEIGHTS)).unwrap().policy.features;
    assert!(matches!(&features, Features::Set { name, .. } if name == "height4"), "{features:?}");
}

#[test]
fn a_genetic_search_is_that_of_its_report_unless_flags_say_otherwise() {
    let folder = empty_folder("report");
    let args = ["train", "genetic", "--generations", "3", "--population", "8", "--check-games", "4"];
    let rates = ["--final-games", "4", "--tournament", "2", "--keep", "2", "--mutation-std", "0.3"];
    let short = ["--max-pieces", "300"];
    let run = tetrion(&args).args(rates).args(short).arg("--out").arg(&folder).output().unwrap();
    let lines = String::from_utf8(run.stderr.clone()).unwrap();
    let text = succeeded(run);
    assert!(
        text.contains("lab4 on 10 x 22 after 3 generations") && text.contains("points per game"),
        "{text}"
    );
    assert_eq!(lines.matches("points per game; ").count(), 3, "{lines}");
    assert!(!lines.contains("lines per game"), "{lines}");
    let config: toml::Table = fs::read_to_string(folder.join(CONFIG)).unwrap().parse().unwrap();
    assert_eq!(config["rules"]["preset"].as_str(), Some("genetic"));
    assert_eq!(config["score_by"].as_str(), Some("points"));
    assert_eq!(config["game_seeds"].as_str(), Some("per_slot"));
    let genetic = &config["optimizer"];
    assert_eq!(genetic["tournament"].as_integer(), Some(2));
    assert_eq!((genetic["keep"].as_integer(), genetic["mutation_std"].as_float()), (Some(2), Some(0.3)));
    // The report's statistics of each generation: best, average and deviation of the fitness.
    for line in fs::read_to_string(folder.join(GENERATIONS)).unwrap().lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let number = |name: &str| line[name].as_f64().unwrap();
        assert!(number("best_score") >= number("mean_score") && number("std_score") > 0.0, "{line}");
        // A piece at least, and a point for each.
        assert!(number("mean_score") >= 1.0 && line["check"]["unit"] == "points", "{line}");
    }
    assert!(fs::read_to_string(folder.join(CURVE)).unwrap().contains("points per game"));
    let weights = Weights::read(&folder.join(WEIGHTS)).unwrap();
    assert_eq!((weights.policy.play.terminal_value, weights.policy.row.len()), (TerminalValue::Score, 4));
}

#[test]
fn the_notebooks_search_plays_with_keys_and_its_weights_are_played_again() {
    let folder = empty_folder("lab");
    let args = [
        "train",
        "cem",
        "--settings",
        "lab",
        "--generations",
        "3",
        "--population",
        "10",
        "--check-games",
        "4",
    ];
    let short = ["--final-games", "6", "--max-steps", "200"];
    let text = succeeded(tetrion(&args).args(short).arg("--out").arg(&folder).output().unwrap());
    assert!(
        text.contains("lab4 on 10 x 20 after 3 generations") && text.contains("--max-steps 200"),
        "{text}"
    );
    let config: toml::Table = fs::read_to_string(folder.join(CONFIG)).unwrap().parse().unwrap();
    assert_eq!(config["game_seeds"].as_str(), Some("per_slot"));
    let path = folder.join(WEIGHTS);
    let Weights { seeds, score, rules, .. } = Weights::read(&path).unwrap();
    assert_eq!(rules.preset, "lab");
    assert_eq!(rules.changes.get("action_model"), Some(ActionModel::Keypress.into()));
    let output = tetrion(&["evaluate", "--json", "--games", "6", "--max-steps", "200"])
        .args(["--seed", &seeds.evaluation.to_string()])
        .arg(&path)
        .output()
        .unwrap();
    let evaluated: Value = serde_json::from_str(&succeeded(output)).unwrap();
    assert_eq!(evaluated["results"][0]["lines"]["mean"], score.unwrap().mean);
}

#[test]
fn a_run_under_changed_rules_is_resumed_and_its_weights_are_played_under_them() {
    let folder = empty_folder("changed_rules");
    let args = ["--height", "8", "--rules", "randomizer=bag7,top_out=top_row,scoring.lines=1,3,5,8"];
    let short = ["--generations", "1", "--population", "4", "--check-games", "2", "--final-games", "6"];
    succeeded(tetrion(&["train"]).args(args).args(short).arg("--out").arg(&folder).output().unwrap());
    succeeded(resume(&folder, &["--generations", "2"]).output());
    let config: toml::Table = fs::read_to_string(folder.join(CONFIG)).unwrap().parse().unwrap();
    assert_eq!(config["rules"]["randomizer"].as_str(), Some("RANDOMIZER_BAG7"));
    let path = folder.join(WEIGHTS);
    let Weights { seeds, score, rules, .. } = Weights::read(&path).unwrap();
    assert_eq!(rules.changes.get("randomizer"), Some(Randomizer::Bag7.into()));
    assert_eq!(rules.changes.get("top_out"), Some(TopOut::TopRow.into()));
    assert_eq!(rules.changes.get("scoring.lines"), Some([1.0, 3.0, 5.0, 8.0].into()));
    let seed = seeds.evaluation.to_string();
    let again = tetrion(&["evaluate", "--json", "--games", "6", "--seed", &seed]).arg(&path).output();
    let evaluated: Value = serde_json::from_str(&succeeded(again.unwrap())).unwrap();
    assert_eq!(evaluated["results"][0]["lines"]["mean"], score.unwrap().mean);
}

/// Rows that rise, and pieces that appear in another row: in the settings, in the weights, and in what plays them again.
#[test]
fn a_run_with_garbage_and_a_spawn_row_is_resumed_and_its_weights_are_played_so() {
    let folder = empty_folder("garbage");
    let rules = ["--rules", "guideline,rows_above=4,spawn_row=11", "--height", "14"];
    let garbage = [
        "--rules",
        "garbage.lines_per_piece=0.25,garbage.hole_move_chance=0.5,garbage.delay_pieces=2",
        "--max-pieces",
        "60",
    ];
    let short = ["--generations", "1", "--population", "4", "--check-games", "2", "--final-games", "6"];
    let run = tetrion(&["train", "--features", "height4"])
        .args(rules)
        .args(garbage)
        .args(short)
        .arg("--out")
        .arg(&folder)
        .output();
    succeeded(run.unwrap());
    succeeded(resume(&folder, &["--generations", "2"]).output());
    let config: toml::Table = fs::read_to_string(folder.join(CONFIG)).unwrap().parse().unwrap();
    let change = |name: &str| config["rules"][name].clone();
    let garbage = change("garbage");
    assert_eq!(
        (garbage["linesPerPiece"].as_float(), garbage["delayPieces"].as_integer()),
        (Some(0.25), Some(2))
    );
    assert_eq!(change("spawnRow").as_integer(), Some(11));
    let path = folder.join(WEIGHTS);
    let Weights { seeds, score, rules, .. } = Weights::read(&path).unwrap();
    for (field, value) in [
        ("garbage.lines_per_piece", FieldValue::from(0.25)),
        ("garbage.hole_move_chance", 0.5.into()),
        ("garbage.delay_pieces", 2.into()),
        ("spawn_row", 11.into()),
    ] {
        assert_eq!(rules.changes.get(field), Some(value), "{field}");
    }
    let again = tetrion(&["evaluate", "--json", "--games", "6", "--max-pieces", "60"])
        .args(["--seed", &seeds.evaluation.to_string()])
        .arg(&path)
        .output();
    let evaluated: Value = serde_json::from_str(&succeeded(again.unwrap())).unwrap();
    assert_eq!(evaluated["results"][0]["lines"]["mean"], score.unwrap().mean);
    let changes = &evaluated["rules_changes"];
    assert_eq!((&changes["garbage"]["hole_move_chance"], &changes["spawn_row"]), (&0.5.into(), &11.into()));
}

#[test]
fn a_search_around_known_weights_that_weigh_the_pieces_to_come() {
    let folder = empty_folder("expectation");
    let args = ["--height", "7", "--search", "expectation,placements=3,discount=0.9,caution=0.4"];
    let around = ["--start", "dt-10", "--initial-std", "0.05", "--noise", "0", "--covariance", "full"];
    let short = ["--generations", "1", "--population", "4", "--check-games", "2", "--final-games", "6"];
    let run = tetrion(&["train"]).args(args).args(around).args(short).arg("--out").arg(&folder).output();
    succeeded(run.unwrap());
    succeeded(resume(&folder, &["--generations", "2"]).output());
    let path = folder.join(WEIGHTS);
    let Weights { seeds, score, policy: WeightPolicy { row: weights, play, .. }, .. } =
        Weights::read(&path).unwrap();
    let Search::Expectation(expectation) = play.search else {
        panic!("the file does not say how they are played")
    };
    assert_eq!((expectation.placements, expectation.discount, expectation.pieces), (3, 0.9, 1));
    assert_eq!(expectation.caution, 0.4);
    let dt_10 = Controller::named("dt-10").unwrap().weights;
    let (length, product) = dt_10
        .iter()
        .zip(&weights)
        .fold((0.0, 0.0), |(length, product), (one, other)| (length + one * one, product + one * other));
    assert!(product / length.sqrt() > 0.95, "unit vectors in about the direction of dt-10: {weights:?}");
    // The weights are played as they were found, unless the flags say otherwise.
    let play = |flags: &[&str]| -> Value {
        let seed = seeds.evaluation.to_string();
        let command =
            tetrion(&["evaluate", "--json", "--games", "6", "--seed", &seed]).arg(&path).args(flags).output();
        serde_json::from_str(&succeeded(command.unwrap())).unwrap()
    };
    let mean = |evaluated: &Value| evaluated["results"][0]["lines"]["mean"].as_f64().unwrap();
    assert_eq!(mean(&play(&[])), score.unwrap().mean);
    assert_ne!(mean(&play(&["--search", "expectation"])), mean(&play(&[])), "the defaults are others");
    assert!(2.0 * mean(&play(&["--search", "greedy"])) < mean(&play(&[])), "greedily");

    // A run starts from its own weights too; those of other features are refused.
    let again = empty_folder("expectation_again");
    let start = ["--start", path.to_str().unwrap()];
    let run = tetrion(&["train"]).args(args).args(start).args(short).arg("--out").arg(&again).output();
    succeeded(run.unwrap());
    let config: toml::Table = fs::read_to_string(again.join(CONFIG)).unwrap().parse().unwrap();
    let begun: Vec<f64> = config["optimizer"]["start"].clone().try_into().unwrap();
    assert_eq!(begun, weights);
}

#[test]
fn a_search_starts_from_plain_numbers_in_the_order_of_its_features() {
    let folder = empty_folder("numbers");
    let numbers = folder.with_extension("txt");
    let args =
        ["--width", "6", "--height", "8", "--features", "holes,steps", "--start", numbers.to_str().unwrap()];
    let short = ["--generations", "1", "--population", "4", "--check-games", "2", "--final-games", "2"];
    let run = |text: &str| {
        fs::write(&numbers, text).unwrap();
        tetrion(&["train"]).args(args).args(short).arg("--out").arg(&folder).output().unwrap()
    };
    let refused = run("[-1, 0.5]");
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(said.contains("--start: ") && said.contains("holds 2 numbers"), "{said}");
    assert!(said.contains("expected one for each of the 8 features"), "{said}");
    assert_eq!((refused.status.code(), folder.join(CONFIG).exists()), (Some(2), false));
    for wrong in ["abc", "nan", "1e400"] {
        let refused = run(&format!("[-1, {wrong}]"));
        let said = String::from_utf8(refused.stderr).unwrap();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(
            said.contains("--start: ") && said.contains(&format!("{wrong:?}, which is no finite number")),
            "{said}"
        );
    }
    succeeded(run("[-1, 0.5]\n0 0 0 0, 0\n-0.25\n"));
    let config: toml::Table = fs::read_to_string(folder.join(CONFIG)).unwrap().parse().unwrap();
    let begun: Vec<f64> = config["optimizer"]["start"].clone().try_into().unwrap();
    assert_eq!(begun, [-1.0, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0, -0.25]);
}

#[test]
fn a_search_over_a_list_of_features_that_starts_from_fewer() {
    let folder = empty_folder("list");
    let mut features = Controller::named("bcts").unwrap().features(6).unwrap().names();
    features.extend(["max_height", "height_difference"].map(str::to_owned));
    let args = ["--width", "6", "--height", "8", "--features", &features.join(","), "--start", "bcts"];
    let short = ["--generations", "4", "--population", "4", "--check-games", "2", "--final-games", "6"];
    let shares = ["--elites", "0.5", "--second-look", "0"];
    let run = tetrion(&["train"]).args(args).args(short).args(shares).arg("--out").arg(&folder).output();
    let said = succeeded(run.unwrap());
    assert!(said.contains("custom on 6 x 8 after 4 generations"), "{said}");
    let config: toml::Table = fs::read_to_string(folder.join(CONFIG)).unwrap().parse().unwrap();
    let begun: Vec<f64> = config["optimizer"]["start"].clone().try_into().unwrap();
    let share = |name| config["optimizer"][name].as_float().unwrap();
    assert_eq!([share("elite_fraction"), share("second_look")], [0.5, 0.0]);
    let bcts = Controller::named("bcts").unwrap().weights;
    assert_eq!(
        begun,
        [bcts, &[0.0; 6]].concat(),
        "a family stands for its members; what bcts has not begins at 0"
    );

    let path = folder.join(WEIGHTS);
    let Weights { seeds, score, feature_names, policy, .. } = Weights::read(&path).unwrap();
    assert_eq!((policy.features, feature_names.len()), (Features::List(feature_names.clone()), begun.len()));
    assert_eq!(feature_names[9], "height_difference[0]");
    let seed = seeds.evaluation.to_string();
    let again = tetrion(&["evaluate", "--json", "--games", "6", "--seed", &seed]).arg(&path).output();
    let evaluated: Value = serde_json::from_str(&succeeded(again.unwrap())).unwrap();
    assert_eq!(evaluated["results"][0]["lines"]["mean"], score.unwrap().mean);

    // The weights of a run are a result or a best candidate, or a mean of results: of all, or of the second half.
    let record = fs::read_to_string(folder.join(GENERATIONS)).unwrap();
    let generations: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let vectors = |of: &str| -> Vec<Vec<f64>> {
        generations.iter().map(|generation| serde_json::from_value(generation[of].clone()).unwrap()).collect()
    };
    let (results, mut choices) = (vectors("mean"), [vectors("mean"), vectors("best")].concat());
    for results in [&results[..], &results[2..]] {
        let mean = |at: usize| results.iter().map(|one| one[at]).sum::<f64>() / results.len() as f64;
        choices.push((0..policy.row.len()).map(mean).collect());
    }
    assert!(choices.contains(&policy.row), "{:?} is none of {choices:?}", policy.row);
}

#[test]
fn a_search_can_go_by_estimates() {
    let run =
        ["train", "--height", "8", "--population", "16", "--games", "1", "--check-games", "4", "--seed", "5"];
    let estimates = ["--final-games", "6", "--loss-trials", "16", "--generations"];
    let begin = |folder: &Path, generations: &str| {
        let mut command = tetrion(&run);
        succeeded(command.args(estimates).arg(generations).arg("--out").arg(folder).output().unwrap())
    };
    let folder = empty_folder("by-estimates");
    let text = begin(&folder, "4");
    assert!(text.contains("over 6 fresh estimates") && text.contains("--loss-trials 16"), "{text}");
    assert!(!folder.join(BEST).exists(), "an estimate is no game");
    let config = fs::read_to_string(folder.join(CONFIG)).unwrap();
    assert!(config.contains("loss_trials = 16"), "{config}");

    // One that goes on ends as one that was planned for as long.
    let halved = empty_folder("by-estimates-in-two");
    begin(&halved, "2");
    succeeded(tetrion(&["train", "--generations", "4", "--resume"]).arg(&halved).output().unwrap());
    for name in [CONFIG, GENERATIONS, CHECKPOINT, WEIGHTS] {
        let [one, other] = [&folder, &halved].map(|folder| fs::read_to_string(folder.join(name)).unwrap());
        assert_eq!(one, other, "{name}");
    }
}
