//! `tetrion evaluate`, as a person starts it: its numbers are those of the engine, whichever servers play the games.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use tetrion::agents::{Agent, Controller, Kernel};
use tetrion::engine::rng::{Tag, word};
use tetrion::engine::{EpisodeEnd, FieldValue, PRESETS, Rules, RulesField};
use tetrion::features::FeatureSet;
use tetrion::rollout::{Deal, Evaluation, PlayedGame};

use crate::support::Command;

/// All tests of this file play the same games: low playfields end soon.
const GAMES: u64 = 50;
const SEED: u64 = 7;
const SMALL: [&str; 8] = ["--width", "10", "--height", "7", "--games", "50", "--seed", "7"];

pub fn tetrion(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetrion"));
    command.args(args);
    command
}

fn evaluate(args: &[&str]) -> Output {
    tetrion(&["evaluate"]).args(SMALL).args(args).output().unwrap()
}

#[track_caller]
fn json(args: &[&str]) -> Value {
    let output = evaluate(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 1, "one object on one line: {text}");
    serde_json::from_str(&text).unwrap()
}

/// What the command says when it fails.
#[track_caller]
fn refused(args: &[&str], code: i32) -> String {
    let output = evaluate(args);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(code), &b""[..]), "{stderr}");
    stderr
}

/// The games of a controller, played by the engine itself.
fn played(controller: &str, max_pieces: u64) -> Vec<PlayedGame> {
    let agent = Controller::named(controller).unwrap().agent(10).unwrap();
    let evaluation = Evaluation {
        rules: Rules::simplified(10, 7),
        policies: vec![Agent::Linear(agent)],
        deal: Deal::Common((0..GAMES).map(|j| word(SEED, Tag::Game, j)).collect()),
        episodes_per_seed: 1,
        pairs: None,
        max_pieces,
        max_steps: u64::MAX,
        loss_trials: 0,
        opponent: None,
        kernel: Kernel::best(),
    };
    let stop = AtomicBool::new(false);
    (0..GAMES).map(|game| evaluation.play(game, &stop).unwrap()).collect()
}

fn mean(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    numbers.clone().sum::<f64>() / numbers.count() as f64
}

/// Mean, sample standard deviation and 95 % interval, as an object of the answer should have them.
#[track_caller]
fn check_lines(object: &Value, lines: &[f64]) {
    let average = mean(lines.iter().copied());
    let squares: f64 = lines.iter().map(|lines| (lines - average).powi(2)).sum();
    let std = (squares / (GAMES - 1) as f64).sqrt();
    let half = 1.96 * std / (GAMES as f64).sqrt();
    let near = |value: &Value, expected: f64| {
        let value = value.as_f64().unwrap_or_else(|| panic!("{value} is not a number"));
        assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{value}, expected {expected}");
    };
    near(&object["lines"]["mean"], average);
    near(&object["lines"]["std"], std);
    near(&object["lines"]["ci95_low"], average - half);
    near(&object["lines"]["ci95_high"], average + half);
    assert_eq!(object["num_games"], GAMES);
}

fn lines(games: &[PlayedGame]) -> Vec<f64> {
    games.iter().map(|game| game.lines as f64).collect()
}

#[test]
fn the_numbers_are_those_of_the_engine() {
    let answer = json(&["bcts", "--max-pieces", "300"]);
    let result = &answer["results"][0];
    let games = played("bcts", 300);
    check_lines(result, &lines(&games));
    assert_eq!(result["name"], "bcts");
    assert_eq!(result["pieces"]["mean"], mean(games.iter().map(|game| game.pieces as f64)));
    let cut = games.iter().filter(|game| game.is_truncated()).count();
    assert!(cut > 0 && cut < games.len(), "{cut} games are cut: the limit of this test is a bad one");
    assert_eq!(result["num_truncated"], cut);
    assert!(result["pieces_per_second"].as_f64().unwrap() > 0.0);
    assert_eq!(answer["paired_differences"], Value::Array(vec![]));
    assert_eq!(
        (&answer["rules"], &answer["width"], &answer["height"]),
        (&"simplified".into(), &10.into(), &7.into())
    );
}

#[test]
fn controllers_are_compared_game_by_game() {
    let answer = json(&["bcts", "yiyuan-lee", "bcts"]);
    let (bcts, lee) = (lines(&played("bcts", u64::MAX)), lines(&played("yiyuan-lee", u64::MAX)));
    check_lines(&answer["results"][0], &bcts);
    check_lines(&answer["results"][1], &lee);
    let differences = &answer["paired_differences"];
    let expected: Vec<f64> = lee.iter().zip(&bcts).map(|(lee, bcts)| lee - bcts).collect();
    check_lines(&differences[0], &expected);
    assert_eq!(
        (&differences[0]["name"], &differences[0]["baseline"]),
        (&"yiyuan-lee".into(), &"bcts".into())
    );
    check_lines(&differences[1], &vec![0.0; GAMES as usize]); // itself, on the same pieces
}

/// JavaScript and jq round such a number.
#[test]
fn seeds_are_text_in_json() {
    let seed = ((1u64 << 53) + 1).to_string();
    let output = tetrion(&["evaluate", "random", "--height", "5", "--games", "3", "--json", "--seed", &seed]);
    let output = { output }.output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["seed"], Value::String(seed));
}

#[test]
fn plain_numbers_play_with_the_features_they_belong_to() {
    let path = file("plain.txt");
    let bcts = Controller::named("bcts").unwrap();
    fs::write(&path, format!("{:?}\n", bcts.weights)).unwrap();
    let answer = json(&["--weights", path.to_str().unwrap(), "--features", "bcts8"]);
    check_lines(&answer["results"][0], &lines(&played("bcts", u64::MAX)));

    let list = FeatureSet::named("bcts8", 10).unwrap().names().join(", ");
    let answer = json(&["--weights", path.to_str().unwrap(), "--features", &list]);
    check_lines(&answer["results"][0], &lines(&played("bcts", u64::MAX)));

    let error = refused(&["--weights", path.to_str().unwrap()], 2);
    assert!(error.contains("name their features with --features"), "{error}");
    let error = refused(&["bcts", "--features", "bcts8"], 2);
    assert!(error.contains("--features is for the plain numbers of --weights"), "{error}");
    let error = refused(&["--weights", path.to_str().unwrap(), "--features", "holes,gaps"], 2);
    assert!(error.contains("gaps"), "{error}");
    let error = refused(&["--weights", path.to_str().unwrap(), "--features", "lab4"], 2);
    assert!(error.contains("has shape [1, 8], expected [any, 4]"), "{error}");
}

#[test]
fn weights_that_are_all_positive_are_explained() {
    let path = file("positive.txt");
    let said = |weights: &str| {
        fs::write(&path, weights).unwrap();
        let output = evaluate(&["--weights", path.to_str().unwrap(), "--features", "lab4", "--json"]);
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
        let lines = answer["results"][0]["lines"]["mean"].as_f64().unwrap();
        (lines, String::from_utf8(output.stderr).unwrap().contains("every weight is positive"))
    };
    let (lines, is_explained) = said("1 1 1 1");
    assert!(lines < 0.1 && is_explained, "{lines}");
    let (lines, is_explained) = said("-1 1 -1 -1");
    assert!(lines > 1.0 && !is_explained, "{lines}");
}

/// `best_weights.txt` of the genetic-algorithm write-up: its player scores placements that end the game like any other.
#[test]
fn the_write_ups_four_numbers_play_as_they_did() {
    let path = file("best_weights.txt");
    fs::write(&path, "0.06346301632540774\n0.2653280714475912\n-1.2246601893643692\n-0.27134621659306046\n")
        .unwrap();
    let weights = ["--weights", path.to_str().unwrap(), "--features", "lab4"];
    let rules = ["--rules", "genetic"];
    let mean = |args: &[&str]| {
        let answer = json(&[args, &rules].concat());
        answer["results"][0]["pieces"]["mean"].as_f64().unwrap()
    };
    let named = mean(&["genetic"]);
    assert_eq!(mean(&[&weights[..], &["--terminal-value", "score"]].concat()), named);
    let avoiding = mean(&[&weights[..], &["--terminal-value", "avoid"]].concat());
    assert_eq!(mean(&["genetic", "--terminal-value", "avoid"]), avoiding);
    assert_eq!(mean(&weights), avoiding, "what plain numbers do without --terminal-value");
    assert!(avoiding > named, "{avoiding} pieces, {named} where the end is scored");
}

#[test]
fn numbers_beyond_what_a_server_plays_are_refused_before_anything_is_played() {
    for games in ["4294967295", "100000000", "1048577", "0"] {
        let output = tetrion(&["evaluate", "bcts", "--games", games]).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains("expected 1 to 1048576"), "{stderr}");
    }
    let many = tetrion(&["evaluate", "--games", "1048576"]).args(["bcts"; 17]).output().unwrap();
    let stderr = String::from_utf8(many.stderr).unwrap();
    assert_eq!(many.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("17 controllers make 17825792 games, expected at most 16777216"), "{stderr}");
    let too_much = [
        ("--max-pieces", "1000000001"),
        ("--max-steps", "18446744073709551615"),
        ("--preview", "4294967295"),
    ];
    for (flag, value) in too_much {
        let error = refused(&["bcts", flag, value], 2);
        assert!(error.contains(value), "{flag}: {error}");
    }
    let error = refused(&["bcts", "--search", "lookahead,pieces=3"], 2);
    assert!(error.contains("search.lookahead.pieces: is 3, expected 1 to 2"), "{error}");
    let error = refused(&["monte_carlo", "--playouts", "4294967295"], 2);
    assert!(error.contains("playouts") && error.contains("expected 1 to 100000"), "{error}");
}

#[test]
fn every_game_is_in_the_table() {
    let path = file("games.csv");
    let path = path.to_str().unwrap();
    json(&["bcts", "dt-10", "--games-csv", path, "--max-pieces", "300"]);
    let text = fs::read_to_string(path).unwrap();
    let mut rows = text.lines();
    assert_eq!(rows.next(), Some("name,game,seed,lines,pieces,steps,score,end"));
    for name in ["bcts", "dt-10"] {
        for PlayedGame { seed_index, seed, lines, pieces, steps, score, end, .. } in played(name, 300) {
            let end = match end {
                Some(EpisodeEnd::ToppedOut) => "topped_out",
                Some(EpisodeEnd::PieceLimit) => "piece_limit",
                other => panic!("{other:?} under these rules"),
            };
            let row = format!("{name},{seed_index},{seed},{lines},{pieces},{steps},{score},{end}");
            assert_eq!(rows.next(), Some(row.as_str()));
        }
    }
    assert!(text.contains(",topped_out\n") && text.contains(",piece_limit\n"), "{text}");
    assert_eq!(rows.next(), None);
}

#[test]
fn points_are_told_by_the_game_and_by_the_piece_where_they_are_not_lines() {
    let path = file("points.csv");
    let args = ["evaluate", "bcts", "dt-10", "--rules", "genetic", "--width", "10", "--height", "7"];
    let args = [&args[..], &["--games", "30", "--games-csv", path.to_str().unwrap()]].concat();
    let text = String::from_utf8(tetrion(&args).output().unwrap().stdout).unwrap();
    let object = tetrion(&args).arg("--json").output().unwrap().stdout;
    let answer = serde_json::from_slice::<Value>(&object).unwrap();
    let result = &answer["results"][0];

    let table = fs::read_to_string(&path).unwrap();
    let of = |name: &str| -> Vec<[f64; 3]> {
        let rows = table.lines().map(|row| row.split(',').collect::<Vec<_>>()).filter(|row| row[0] == name);
        rows.map(|row| [row[3], row[4], row[6]].map(|number| number.parse().unwrap())).collect()
    };
    let games = of("bcts");
    let sum = |i: usize| games.iter().map(|game| game[i]).sum::<f64>();
    for (name, i) in [("lines_per_piece", 0), ("score_per_piece", 2)] {
        let ratio = sum(i) / sum(1);
        assert!((result[name]["mean"].as_f64().unwrap() - ratio).abs() < 1e-12, "{name} of {result}");
        // The interval by the games left out one at a time, which the formula is close to.
        let without: Vec<f64> = games.iter().map(|game| (sum(i) - game[i]) / (sum(1) - game[1])).collect();
        let around = mean(without.iter().copied());
        let n = games.len() as f64;
        let variance = (n - 1.0) / n * without.iter().map(|other| (other - around).powi(2)).sum::<f64>();
        let [low, high] = ["ci95_low", "ci95_high"].map(|end| result[name][end].as_f64().unwrap());
        let half = (high - low) / 2.0;
        assert!((half / (1.96 * variance.sqrt()) - 1.0).abs() < 0.1, "{name}: {half}, {variance}");
        assert!(text.contains(&format!("{ratio:.3}")), "{text}");
    }
    let points = sum(2) / games.len() as f64;
    assert!((result["score"]["mean"].as_f64().unwrap() - points).abs() < 1e-9, "{result}");
    assert!(text.contains("points per piece") && text.contains("lines per piece"), "{text}");
    let more: Vec<f64> = of("dt-10").iter().zip(&games).map(|(dt, bcts)| dt[2] - bcts[2]).collect();
    let difference = answer["paired_differences"][0]["score"]["mean"].as_f64().unwrap();
    assert!((difference - mean(more.iter().copied())).abs() < 1e-9, "{answer}");
    assert!(text.contains("more points than bcts per game, on the same pieces"), "{text}");
    // A point is a line: there is nothing more to tell.
    let lines = String::from_utf8(evaluate(&["bcts"]).stdout).unwrap();
    assert!(!lines.contains("points"), "{lines}");
}

#[test]
fn controllers_of_modern_tetris_send_lines() {
    let names = ["tetrion-guideline-preview", "tetrion-guideline", "dt-10"];
    let rules = ["--rules", "guideline,clear_points=attack", "--height", "24", "--seed", "3"];
    let args = ["evaluate", "--games", "20", "--max-pieces", "200", "--json"];
    let output = tetrion(&[&args[..], &rules, &names].concat()).output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sent = |i: usize| answer["results"][i]["score_per_piece"]["mean"].as_f64().unwrap();
    // Of 1,000 longer games they send 0.587, 0.489 and 0.061 lines per piece.
    assert!(sent(0) > sent(1) && sent(1) > 0.42 && sent(2) < 0.1, "{answer}");
}

#[test]
fn controllers_weigh_the_pieces_to_come() {
    let answer = json(&["dt-10", "random", "--search", "expectation,placements=4"]);
    let (result, random) = (&answer["results"][0], &answer["results"][1]);
    assert_eq!(
        (result["name"].as_str(), random["name"].as_str()),
        (Some("dt-10 + expectation"), Some("random"))
    );
    let lines = result["lines"]["mean"].as_f64().unwrap();
    let greedy = json(&["dt-10"])["results"][0]["lines"]["mean"].as_f64().unwrap();
    assert!(lines > greedy, "{lines} lines against {greedy}");
    // The second piece is shown, because it is asked for.
    let two = json(&["dt-10", "--search", "expectation,pieces=2", "--max-pieces", "300"]);
    assert_eq!(two["rules_changes"]["preview"], 1, "{two}");
    // Rules that show more go on showing it.
    let modern = ["dt-10", "--rules", "guideline,rows_above=3", "--max-pieces", "5"];
    let modern = json(&[&modern[..], &["--search", "lookahead,pieces=1"]].concat());
    assert_eq!(modern["rules_changes"], serde_json::json!({"rows_above": 3}));
    assert_eq!(modern["results"][0]["name"], "dt-10 + lookahead 1");
}

#[test]
fn cut_games_estimate_whole_ones() {
    let whole = json(&["dt-10"]);
    let cut = json(&["dt-10", "--max-pieces", "300"]);
    let (whole, cut) = (&whole["results"][0], &cut["results"][0]);
    assert_eq!(whole["lines_per_loss"]["mean"], whole["lines"]["mean"], "a loss each");
    assert!(cut["num_truncated"].as_u64().unwrap() > 5, "{cut}");
    assert!(cut["lines"]["mean"].as_f64() < whole["lines"]["mean"].as_f64());
    let interval = ["ci95_low", "ci95_high"].map(|end| cut["lines_per_loss"][end].as_f64().unwrap());
    let lines = whole["lines"]["mean"].as_f64().unwrap();
    assert!(interval[0] < lines && lines < interval[1], "{lines} lines, estimated {interval:?}");
    let output = evaluate(&["dt-10", "--max-pieces", "10"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("games were cut; over ") && text.contains(" lines per loss (95 %)"), "{text}");
}

/// What the documents promise of kernels and threads, as a person can check it.
#[test]
fn games_are_the_same_on_every_kernel_and_any_number_of_threads() {
    let play = |kernel: &str, threads: &str| {
        let path = file(&format!("games-{kernel}-{threads}.csv"));
        let with = ["--kernel", kernel, "--threads", threads, "--games-csv", path.to_str().unwrap()];
        let json = json(&[&["dt-10", "random"], &with[..]].concat());
        let games = fs::read(&path).unwrap();
        fs::remove_file(path).unwrap();
        (games, json["results"][0]["lines"]["mean"].clone())
    };
    let kernels = Kernel::ALL.into_iter().filter(|kernel| kernel.is_available());
    let all: Vec<_> =
        kernels.flat_map(|kernel| ["1", "3"].map(|threads| play(kernel.name(), threads))).collect();
    assert!(all[0].0.len() > 1_000);
    all.iter().for_each(|games| assert_eq!(*games, all[0]));
    let server = ["--server", "127.0.0.1:1", "dt-10"];
    for flag in [["--threads", "2"], ["--kernel", "portable"]] {
        let error = refused(&[&server[..], &flag[..]].concat(), 2);
        assert!(error.contains(&format!("{} is for games that this process plays", flag[0])), "{error}");
    }
    assert!(refused(&["dt-10", "--kernel", "sse"], 2).contains("portable, avx2, avx512"));
}

#[test]
fn people_get_a_table() {
    let output = evaluate(&["bcts", "yiyuan-lee"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let games = lines(&played("bcts", u64::MAX));
    let row = text.lines().find(|line| line.starts_with("bcts")).unwrap_or_else(|| panic!("{text}"));
    let average = mean(games.iter().copied());
    let average = if average < 100.0 { format!("{average:.2}") } else { format!("{average:.0}") };
    assert!(row.contains(&average), "{average} is not in {row}");
    assert!(text.contains("more lines than bcts per game, on the same pieces"), "{text}");
    assert!(!text.contains('█'), "bars are for terminals");
}

#[test]
fn what_cannot_be_played_is_refused_with_a_way_out() {
    #[track_caller]
    fn says(error: &str, parts: &[&str]) {
        parts.iter().for_each(|part| assert!(error.contains(part), "{part:?} is not in {error}"));
    }
    says(&refused(&[], 2), &["nothing to evaluate", "dt-10", "--weights"]);
    says(&refused(&["deep-blue"], 2), &["deep-blue", "expected one of", "dt-10"]);
    says(&refused(&["dt10"], 2), &["\"dt10\", did you mean \"dt-10\"? expected one of"]);
    says(&refused(&["bcts", "--rules", "chess"], 2), &["chess", "expected one of", "simplified"]);
    says(&refused(&["bcts", "--rules", "simple"], 2), &["did you mean \"simplified\"?"]);
    says(&refused(&["random_keys"], 2), &["random_keys", "presses keys"]);
    says(&refused(&["bcts", "--playouts", "5"], 2), &["--playouts", "monte_carlo_coded"]);
    says(&refused(&["random", "--search", "lookahead"], 2), &["--search", "linear"]);
    says(&refused(&["random", "--search", "expectation"], 2), &["--search", "linear"]);
    says(
        &refused(&["bcts", "--search", "lookahead,discount=0.5"], 2),
        &["discount", "expected one of pieces"],
    );
    says(
        &refused(&["bcts", "--search", "greedy,pieces=1"], 2),
        &["\"pieces\" is no setting of greedy, which has none"],
    );
    says(&refused(&["bcts", "--search", "expectation,placments=4"], 2), &["did you mean \"placements\"?"]);
    says(&refused(&["bcts", "--search", "expectation,4"], 2), &["\"4\" is no setting, expected NAME=VALUE"]);
    says(&refused(&["bcts", "--search", "expectaton"], 2), &["did you mean \"expectation\"?"]);
    says(&refused(&["bcts", "--expectation"], 2), &["--search expectation"]);
    says(&refused(&["bcts", "--search", "expectation,discount=2"], 2), &["discount: is 2, expected 0 to 1"]);
    says(&refused(&["bcts", "--search", "expectation,caution=-1"], 2), &["caution: is -1, expected 0 to 10"]);
    says(&refused(&["bcts", "--search", "expectation,pieces=3"], 2), &["3", "expected 1 to 2"]);
    says(
        &refused(&["bcts", "--search", "expectation", "--search", "lookahead,pieces=1"], 2),
        &["cannot be used multiple times"],
    );
    says(&refused(&["random", "--terminal-value", "score"], 2), &["--terminal-value", "linear"]);
    says(&refused(&["bcts", "--terminal-value", "never"], 2), &["never", "score", "avoid"]);
    says(&refused(&["bcts", "--rules", "randomizer=bag"], 2), &["--rules", "randomizer", "bag7", "balanced"]);
    says(&refused(&["bcts", "--search", "lookahead,pieces=2", "--preview", "1"], 2), &["lookahead", "1"]);
    says(&refused(&["no/such/file"], 2), &["no/such/file"]);
    says(&refused(&["--weights", "no/such/file", "--features", "bcts8"], 2), &["no/such/file"]);
    says(&refused(&["bcts", "--server", "127.0.0.1:1"], 1), &["127.0.0.1:1", "tetrion serve"]);
    says(&refused(&["bcts", "--server", "a b"], 1), &["a b", "HOST:PORT"]);
    says(&refused(&["bcts", "--token", "x"], 2), &["--server"]);
    for (args, said) in [
        ("bcts --sweep width", "'--sweep <SETTING=VALUE,...>': expected a setting and its values"),
        (
            "bcts --sweep width=8",
            "--sweep: \"width\" is no setting of greedy, which has none; choose a search",
        ),
        ("random --sweep width=8", "--sweep: \"width\" is no setting of random, which has none"),
        ("monte_carlo --sweep playout=8", "no setting of monte_carlo is called \"playout\", did you mean"),
        ("monte_carlo --sweep playouts=8,0", "--sweep playouts: is \"0\", expected 1 to 100000"),
        ("bcts --search beam --sweep widht=8", "did you mean \"width\"? expected one of width, "),
        ("bcts --search beam --sweep width=8,", "--sweep width: is \"\", expected 1 to "),
        ("bcts --search expectation --sweep discount=1,2", "--sweep discount: is 2, expected 0 to 1"),
        ("monte-carlo --sweep playouts=8", "did you mean \"monte_carlo\"?"),
    ] {
        says(&refused(&args.split(' ').collect::<Vec<_>>(), 2), &[said]);
    }
}

#[test]
fn agents_play_beside_controllers_each_with_its_own_flags() {
    let everybody = ["dummy", "random", "random_survey", "flat_stacking", "monte_carlo", "yiyuan-lee"];
    let answer = json(&[&everybody[..], &["--playouts", "20", "--search", "lookahead,pieces=1"]].concat());
    let lines = |n: usize| answer["results"][n]["lines"]["mean"].as_f64().unwrap();
    assert_eq!(answer["results"].as_array().unwrap().len(), 6);
    assert!(lines(4) > lines(1) && lines(3) > lines(4) && lines(5) > lines(4), "{answer}");
    let alone = json(&["yiyuan-lee"]);
    assert!(lines(5) > 2.0 * alone["results"][0]["lines"]["mean"].as_f64().unwrap(), "with a look ahead");

    let keys = json(&["lab-uniform", "random_keys", "--rules", "lab", "--max-steps", "12"]);
    assert_eq!(keys["max_steps"], 12);
    assert!(keys["results"][0]["num_truncated"].as_u64().unwrap() > 0, "{keys}");
    let bags = json(&["bcts", "--rules", "randomizer=bag7"]);
    let draws = json(&["bcts"]);
    assert_ne!(bags["results"][0]["lines"]["mean"], draws["results"][0]["lines"]["mean"]);
}

/// The names in an answer.
fn names(answer: &Value) -> Vec<&str> {
    let results = answer["results"].as_array().unwrap();
    results.iter().map(|result| result["name"].as_str().unwrap()).collect()
}

#[test]
fn a_sweep_plays_once_per_value_as_the_flags_do() {
    for [players, sweep, second, expected] in [
        [
            "monte_carlo random",
            "playouts=2,20",
            "--playouts 20",
            "monte_carlo playouts=2, monte_carlo playouts=20, random",
        ],
        [
            "dt-10 --search expectation,placements=9",
            "placements=1,4",
            "--search expectation,placements=4",
            "dt-10 + expectation placements=1, dt-10 + expectation placements=4",
        ],
        [
            "tetrion-10x10-expectation",
            "terms=all,landing",
            "--search expectation",
            "tetrion-10x10-expectation terms=all, tetrion-10x10-expectation terms=landing",
        ],
    ] {
        let (players, second) =
            (players.split(' ').collect::<Vec<_>>(), second.split(' ').collect::<Vec<_>>());
        let swept = json(&[&players[..], &["--sweep", sweep, "--max-pieces", "300"]].concat());
        assert_eq!(names(&swept).join(", "), expected);
        let one = json(&[&players[..1], &second, &["--max-pieces", "300"]].concat());
        let (first, second) = (&swept["results"][0]["lines"], &swept["results"][1]["lines"]);
        assert_eq!(*second, one["results"][0]["lines"], "{sweep}");
        assert_ne!(first, second, "{sweep}");
    }
    // As many pieces are shown as one of the values needs.
    let shown = json(&["dt-10", "--search", "lookahead", "--sweep", "pieces=1,2", "--max-pieces", "20"]);
    assert_eq!(shown["rules_changes"]["preview"], 2, "{shown}");
    assert_eq!(names(&shown), ["dt-10 + lookahead 1 pieces=1", "dt-10 + lookahead 2 pieces=2"]);
}

#[test]
fn bars_are_drawn_in_a_file() {
    let path = file("bars.svg");
    let output = evaluate(&["bcts", "dt-10", "--chart", path.to_str().unwrap()]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let svg = fs::read_to_string(path).unwrap();
    for text in ["50 games each on 10 x 7, rules simplified, seed 7", "lines per game", "bcts", "dt-10"] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    assert!(refused(&["bcts", "--chart", "no/such/folder/bars.svg"], 1).contains("no/such/folder/bars.svg"));
}

#[test]
fn a_controller_with_an_expectation_of_its_own_can_be_asked_to_be_greedy() {
    let of = |controllers: &str, flags: &[&str]| {
        let names: Vec<&str> = controllers.split(' ').collect();
        json(&[&["--max-pieces", "1000"], &names[..], flags].concat())
    };
    let mean = |answer: &Value, n: usize| answer["results"][n]["lines"]["mean"].as_f64().unwrap();
    let own = "tetrion-10x10-expectation";
    let (as_it_plays, greedy) =
        (of(own, &[]), of("tetrion-10x10-expectation dt-10", &["--search", "greedy"]));
    assert_eq!(as_it_plays["results"][0]["name"], own);
    assert_eq!(greedy["results"][0]["name"], format!("{own} (greedy)"));
    assert_eq!(greedy["results"][1]["name"], "dt-10", "it is greedy anyway");
    assert!(mean(&as_it_plays, 0) > 1.4 * mean(&greedy, 0), "{as_it_plays} {greedy}");
    // Its weights are those of the other one, which are for rules that show a piece.
    let preview = "tetrion-10x10-preview";
    assert_eq!(of(preview, &[])["rules_changes"], serde_json::json!({"preview": 1}));
    let same = of(preview, &["--search", "greedy"]);
    assert_eq!((&same["rules_changes"], mean(&same, 0)), (&serde_json::json!({}), mean(&greedy, 0)));
}

#[test]
fn changes_to_a_preset_are_shown_with_the_results() {
    let flags = ["bcts", "--rules", "randomizer=bag7,scoring.piece=1,top_out=overflow"];
    let changes = serde_json::json!({"randomizer": "bag7", "scoring": {"piece": 1.0}});
    assert_eq!(json(&flags)["rules_changes"], changes, "the top-out is the preset's own");
    let text = String::from_utf8(evaluate(&flags).stdout).unwrap();
    assert!(text.contains(", rules simplified with randomizer bag7, scoring.piece 1, seed "), "{text}");
    assert_eq!(json(&["bcts"])["rules_changes"], serde_json::json!({}));
}

#[test]
fn garbage_is_shown_by_what_is_not_usual() {
    let controller = ["bcts", "--max-pieces", "100"];
    let changes = |flags: &[&str]| json(&[&controller[..], flags].concat())["rules_changes"].clone();
    let usual = serde_json::json!({"garbage": {"lines_per_piece": 0.25}});
    assert_eq!(changes(&["--rules", "garbage.lines_per_piece=0.25"]), usual);
    let all = ["--rules", "garbage.lines_per_piece=2,garbage.hole_move_chance=1,garbage.delay_pieces=0"];
    let named =
        serde_json::json!({"garbage": {"lines_per_piece": 2.0, "hole_move_chance": 1.0, "delay_pieces": 0}});
    assert_eq!(changes(&all), named);
    assert_eq!(changes(&["--rules", "garbage.lines_per_piece=0"]), serde_json::json!({}));
    let error = refused(&[&controller[..], &["--rules", "garbage.lines_per_piece=5"]].concat(), 2);
    assert!(error.contains("is 5, expected 0 to 4"), "{error}");
    let error = refused(&[&controller[..], &["--rules", "garbage.delay_pieces=3"]].concat(), 2);
    assert!(error.contains("is 3, expected none"), "{error}");
}

#[test]
fn flags_can_turn_a_preset_into_any_other() {
    for preset in &PRESETS {
        let rows_above = format!("--rules=rows_above={}", preset.rules.rows_above.min(3));
        // The size is that of all tests of this file, and a spawn row comes with no preset.
        let fields = preset.rules.fields();
        let fields =
            fields.iter().filter(|(field, _)| !["width", "height", "rows_above"].contains(&field.name));
        let flag = |(field, value): (&RulesField, FieldValue)| {
            let value = value.to_string().replace(['[', ']', ' '], "");
            format!("--rules={}={value}", field.name)
        };
        let other = if preset.name == "survey" { "leiden" } else { "survey" };
        let flags = [format!("--rules={other}"), rows_above.clone()];
        let flags: Vec<String> = flags.into_iter().chain(fields.map(flag)).collect();
        let player = ["lab-uniform", "--max-steps", "200"];
        let flags: Vec<&str> = player.into_iter().chain(flags.iter().map(String::as_str)).collect();
        let named = json(&[&player[..], &["--rules", preset.name, &rows_above]].concat());
        let changed = json(&flags);
        for field in ["lines", "pieces", "score"] {
            assert_eq!(changed["results"][0][field], named["results"][0][field], "{}: {field}", preset.name);
        }
    }
    let player = ["bcts"];
    let end = json(&[&player[..], &["--rules", "scoring.game_end=-5"]].concat())["results"][0].clone();
    let (score, lines) = (end["score"]["mean"].as_f64().unwrap(), end["lines"]["mean"].as_f64().unwrap());
    assert!((score - (lines - 5.0)).abs() < 1e-9, "{end}");
    let error = refused(&[&player[..], &["--rules", "scoring.lines=1,2,3"]].concat(), 2);
    assert!(error.contains("expected four numbers"), "{error}");
}

/// A place for a file of this module.
fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("evaluate");
    fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

#[test]
fn how_long_games_last_is_estimated() {
    let estimated = json(&["bcts", "dt-10", "--loss-trials", "64"]);
    assert_eq!(
        (estimated["loss_trials"].as_u64(), &estimated["paired_differences"]),
        (Some(64), &Value::Array(vec![]))
    );
    let played = json(&["bcts", "dt-10"]);
    for at in 0..2 {
        let (ours, theirs) = (&estimated["results"][at], &played["results"][at]);
        assert_eq!((ours["num_estimates"].as_u64(), theirs["num_games"].as_u64()), (Some(50), Some(50)));
        assert_eq!((&ours["num_games"], &theirs["num_estimates"]), (&Value::Null, &Value::Null));
        let (ours, whole) =
            (ours["lines"]["mean"].as_f64().unwrap(), theirs["lines"]["mean"].as_f64().unwrap());
        assert!((0.6..1.6).contains(&(ours / whole)), "{ours} lines, {whole} in 50 whole games");
    }
    let again = json(&["bcts", "dt-10", "--loss-trials", "64"]);
    for at in 0..2 {
        assert_eq!(again["results"][at]["lines"]["mean"], estimated["results"][at]["lines"]["mean"]);
    }

    let output = evaluate(&["bcts", "--loss-trials", "64"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("50 estimates each, of 64 trials per height, on 10 x 7"), "{text}");
    // Too few pieces for any trial.
    let cut = evaluate(&["bcts", "--loss-trials", "64", "--max-pieces", "100"]);
    let text = String::from_utf8(cut.stdout).unwrap();
    assert!(text.contains("a lower bound: no loss in 50 of the estimates"), "{text}");

    let stderr = refused(&["bcts", "--loss-trials", "3"], 2);
    assert!(stderr.contains("--loss-trials"), "{stderr}");
    let stderr = refused(&["bcts", "--loss-trials", "64", "--record", "best", "--record-dir", "games"], 2);
    assert!(stderr.contains("--record"), "{stderr}");
}

#[test]
fn formulas_play_as_their_weights_and_by_their_file() {
    let folder = std::env::temp_dir().join(format!("tetrion-formulas-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("mine.formula");
    fs::write(&file, "# a square\n-holes^2 - landing_height\n").unwrap();
    let set = Controller::named("bcts").unwrap().features(10).unwrap();
    let weights = Controller::named("bcts").unwrap().weights;
    let terms: Vec<String> =
        set.names().iter().zip(weights).map(|(name, weight)| format!("{weight:?}*{name}")).collect();
    let sum = terms.join(" + ");
    let square = "-holes^2 - landing_height";
    let file = file.to_str().unwrap();
    let all = json(&["bcts", file, "--formula", &sum, "--formula", square, "--search", "lookahead,pieces=1"]);
    let players = all["results"].as_array().unwrap();
    let names = names(&all);
    assert_eq!(names[1], "mine + lookahead 1");
    assert_eq!(names[3], "-holes^2 - landing_height + lookahead 1");
    assert_eq!(players[0]["lines"], players[2]["lines"]);
    assert_eq!(players[1]["lines"], players[3]["lines"]);
    let steep =
        |slope: u8| format!("-4.5*holes - 3.2*cumulative_wells - {slope} * max_height + lines_cleared/7");
    let two = json(&["--formula", &steep(1), "--formula", &steep(2), "--search", "lookahead,pieces=1"]);
    let parts = [1, 2].map(|slope| format!("... cumulative_wells - {slope} * max_height ... + lookahead 1"));
    assert_eq!(self::names(&two), parts);
    let said = refused(&["--formula", "-4*hole"], 2);
    assert!(said.contains("did you mean \"holes\"? (line 1, column 4):\n"), "{said}");
    let said = refused(&[folder.join("none.formula").to_str().unwrap()], 2);
    assert!(said.contains("cannot read"), "{said}");
    fs::remove_dir_all(&folder).unwrap();
}
