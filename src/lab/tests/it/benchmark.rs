//! `tetrion-lab benchmark`: what it writes passes `tetrion verify`, and a player that did not play its games does not.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use clap::{Args, FromArgMatches};
use serde_json::{Value, json};
use tetrion::agents::Search;
use tetrion::benchmark::{BenchmarkResult, CLASSES, Class, GameNumbers, NAME, RESULT, SEED, Summary};
use tetrion::cli::verify::{VerifyArgs, verify};
use tetrion::protocol::recording::to_json;
use tetrion::recording::{Pieces, Recorder, Recording, Setup};

use crate::{lab, root};

/// A player that loses after a hundred pieces.
const LOW: &str = "-max_height - holes\n";

/// An empty folder for a test.
fn empty(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("benchmark").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn benchmark(folder: &Path, words: &str) -> Output {
    lab(&["benchmark"]).args(words.split_whitespace()).current_dir(folder).output().unwrap()
}

#[track_caller]
fn done(folder: &Path, words: &str) -> String {
    let output = benchmark(folder, words);
    assert!(output.status.success(), "{words}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Everything that `tetrion verify` finds wrong, as text.
fn problems(folder: &Path, flags: &[&str]) -> Vec<String> {
    let command = VerifyArgs::augment_args(clap::Command::new("verify"));
    let words = ["verify", folder.to_str().unwrap()].into_iter().chain(flags.iter().copied());
    let args = VerifyArgs::from_arg_matches(&command.get_matches_from(words)).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let verdict = runtime.block_on(verify(&args)).unwrap();
    verdict.problems.iter().map(ToString::to_string).collect()
}

/// All files of a folder and their bytes.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(files_of(&path));
        } else {
            files.push((path.file_name().unwrap().into(), fs::read(&path).unwrap()));
        }
    }
    files.sort();
    files
}

fn files_of(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.map(|path| (path.file_name().unwrap().into(), fs::read(&path).unwrap())).collect()
}

fn result(folder: &Path) -> BenchmarkResult {
    serde_json::from_slice(&fs::read(folder.join(RESULT)).unwrap()).unwrap()
}

fn forge(folder: &Path, change: impl FnOnce(&mut BenchmarkResult)) {
    let mut result = result(folder);
    change(&mut result);
    fs::write(folder.join(RESULT), result.to_json()).unwrap();
}

/// A game of the class `text` whose player takes the first placement until the game ends.
fn leftmost(number: u32) -> Recording {
    let class = Class::named("text").unwrap();
    let setup = Setup {
        invalid_actions: class.invalid_actions,
        ..Setup::new(class.rules(), Pieces::Seed(class.seed(number)))
    };
    let mut recorder = Recorder::new(setup).unwrap();
    while recorder.course().end().is_none() {
        let action = (0..).find(|action| recorder.course().led_to(*action).is_some()).unwrap();
        recorder.play(action).unwrap();
    }
    recorder.recording("", "")
}

/// A file of weights with these seeds.
fn weights(training: u64) -> String {
    let names = ["max_height", "holes"];
    let features = json!({"names": {"names": names}});
    json!({
        "format": 2, "feature_names": names, "rules_version": "tetrion-rules-1",
        "policy": {"weights": {"features": features, "weights": {"values": [-1, -1]}}},
        "rules": {"preset": "simplified", "width": 10, "height": 10},
        "seeds": {"training": training, "evaluation": 2},
    })
    .to_string()
}

#[test]
fn a_result_passes_and_does_not_depend_on_threads() {
    let folder = empty("honest");
    fs::write(folder.join("low.formula"), LOW).unwrap();
    let table = done(&folder, "low.formula --class formula --out one --threads 1");
    done(&folder, "low.formula --class formula --out three --threads 3");
    assert_eq!(files(&folder.join("one")), files(&folder.join("three")));
    assert_eq!(problems(&folder.join("one"), &["--all"]), Vec::<String>::new());
    // What evaluate measures in the same games.
    let summary = &result(&folder.join("one")).summary;
    assert_eq!((&summary["num_games"], &summary["num_cut"]), (&json!(10_000), &json!(0)));
    let (low, high) =
        (summary["lines"]["ci95_low"].as_f64().unwrap(), summary["lines"]["ci95_high"].as_f64().unwrap());
    assert!(low < summary["lines"]["mean"].as_f64().unwrap() && low > 1.0 && high < low * 1.1, "{summary}");
    assert!(table.contains("| `low` | tetrion-benchmark-2 | formula | 10 x 10 | "), "{table}");
    assert!(table.contains("`tetrion-lab benchmark low.formula --class formula --out FOLDER`"), "{table}");
    let citation = fs::read_to_string(folder.join("one/CITATION.md")).unwrap();
    for part in [
        NAME,
        "class formula",
        "61803398",
        "tetrion-rules-1",
        "@misc{tetrion_benchmark_2_formula_low_",
        "low.formula",
    ] {
        assert!(citation.contains(part), "{part}: {citation}");
    }
}

/// A name may begin like an option, and have the letters that mean something to a shell, to Markdown and to LaTeX.
#[cfg(unix)]
#[test]
fn the_command_of_a_result_runs_and_its_key_is_its_own() {
    let folder = empty("names");
    fs::write(folder.join("-low.formula"), LOW).unwrap();
    let citation = |out: &str| fs::read_to_string(folder.join(out).join("CITATION.md")).unwrap();
    let mut keys = Vec::new();
    for (number, name) in ["-x", "--json", "x", "a`b", "`", "it's", "{"].into_iter().enumerate() {
        let (out, again) = (format!("out-{number}"), format!("again-{number}"));
        let table = done(&folder, &format!("./-low.formula --class formula --name={name} --out {out}"));
        let fence = if name.contains('`') { "``" } else { "`" };
        let command = table.lines().last().unwrap().strip_prefix(fence).unwrap().strip_suffix(fence).unwrap();
        assert!(!command.contains(fence), "{table}");
        let space = if name == "`" { " " } else { "" };
        assert!(table.contains(&format!("\n| {fence}{space}{name}{space}{fence} | {NAME} | ")), "{table}");
        let command = command.replace("FOLDER", &again);
        let program = command.replacen("tetrion-lab", "\"$LAB\"", 1);
        let mut shell = crate::command::Command::new("sh");
        let shell = shell.args(["-c", &program]).env("LAB", env!("CARGO_BIN_EXE_tetrion-lab"));
        let output = shell.current_dir(&folder).output().unwrap();
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(files(&folder.join(&out)), files(&folder.join(&again)), "{command}");
        let entry = citation(&out);
        let entry = entry.split("```").nth(1).unwrap();
        let (key, fields) = entry.strip_prefix("bibtex\n@misc{").unwrap().split_once(',').unwrap();
        assert!(key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_'), "{key}");
        assert!(fields.contains("\n  year = {20"), "{entry}");
        let count = |brace| entry.matches(brace).count();
        assert_eq!(count('{'), count('}'), "{entry}");
        keys.push(key.to_owned());
    }
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 7, "{keys:?}");
}

#[test]
fn weights_and_names_play_as_a_formula_with_the_same_score() {
    let folder = empty("kinds");
    fs::write(folder.join("low.formula"), LOW).unwrap();
    fs::write(folder.join("low.json"), weights(1)).unwrap();
    done(&folder, "low.formula --class greedy --out formula");
    done(&folder, "./low.json --class greedy --out weights --name mine");
    let [formula, of_weights] = ["formula", "weights"].map(|name| result(&folder.join(name)));
    assert_eq!(formula.games, of_weights.games);
    let player = &of_weights.player;
    assert_eq!((player.name.as_str(), player.play.search), ("mine", Some(Search::Greedy)));
    let json: Value =
        serde_json::from_str(&done(&folder, "random --class greedy --out random --json")).unwrap();
    assert_eq!(
        (&json["player"], json.get("games")),
        (&json!({"name": "random", "source": {"named": "random"}, "play": {}}), None)
    );
    for name in ["formula", "weights", "random"] {
        assert_eq!(problems(&folder.join(name), &[]), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn a_player_that_did_not_play_the_games_is_found_out() {
    let folder = empty("forged");
    fs::write(folder.join("low.formula"), LOW).unwrap();
    fs::write(folder.join("other.formula"), "-holes").unwrap();
    let make = |name: &str, formula: &str| {
        let _ = fs::remove_dir_all(folder.join(name));
        done(&folder, &format!("{formula}.formula --class formula --out {name}"));
        folder.join(name)
    };
    let other = make("other", "other");
    let check = |forgery: fn(&Path, &Path), flags: &[&str], file: &str, part: &str| {
        let forged = make("low", "low");
        forgery(&forged, &other);
        let problems = problems(&forged, flags);
        assert!(!problems.is_empty(), "{part}");
        for problem in &problems {
            assert!(
                problem.starts_with(file) && problem.contains(part),
                "{problem}, expected {file}: {part}"
            );
        }
    };
    // Another player's games: each is a game of the class, but not one of this player.
    let swap_game = |low: &Path, other: &Path| {
        let game = "recordings/game-00003.tetrion";
        fs::copy(other.join(game), low.join(game)).unwrap();
        let games = result(other).games;
        forge(low, |result| {
            result.games[3] = games[3];
            result.summary = Summary::of(Class::named("formula").unwrap(), &result.games).to_json();
        });
    };
    check(swap_game, &[], "recordings/game-00003.tetrion: actions[", "the choice of low");
    check(
        |low, _| fs::write(low.join("player.formula"), "-holes").unwrap(),
        &[],
        "recordings/game-0000",
        "the choice of low",
    );
    check(
        |low, _| fs::remove_file(low.join("player.formula")).unwrap(),
        &[],
        "result.json: player: ",
        "player.formula",
    );
    check(
        |low, _| fs::write(low.join("player.formula"), "-hole").unwrap(),
        &[],
        "result.json: player: ",
        "did you mean",
    );
    check(
        |low, _| forge(low, |result| result.player.play.search = Some(Search::Lookahead { pieces: 1 })),
        &[],
        "result.json: player: ",
        "search is lookahead 1, expected greedy in class formula",
    );
    check(
        |low, _| forge(low, |result| result.player.name = "a|b".to_owned()),
        &[],
        "result.json: player: ",
        "name is \"a|b\", expected 1 to 100 bytes",
    );
    // Without a recording a forged game is plausible; the player knows better.
    let raise = |low: &Path, _: &Path| {
        forge(low, |result| {
            result.games[5_000] = GameNumbers { lines: 390_000, pieces: 1_000_000 };
            result.summary = Summary::of(Class::named("formula").unwrap(), &result.games).to_json();
        });
    };
    check(
        raise,
        &["--all"],
        "result.json: games[5000].lines is 390000, expected ",
        "when low plays it again",
    );
    // More lines than the pieces have cells for.
    check(
        |low, _| forge(low, |result| result.games[5_000] = GameNumbers { lines: 41, pieces: 100 }),
        &[],
        "result.json: games[5000].lines is 41, expected at most 40",
        "with 100 pieces",
    );
}

#[test]
fn recordings_of_an_outside_player_are_scored() {
    let folder = empty("outside");
    fs::create_dir_all(folder.join("games")).unwrap();
    for number in 0..20 {
        fs::write(folder.join(format!("games/{number:02}.json")), to_json(&leftmost(number))).unwrap();
    }
    done(&folder, "--recordings games --class text --name reader --out text");
    assert_eq!(problems(&folder.join("text"), &["--all"]), Vec::<String>::new());
    assert_eq!(files_of(&folder.join("text/recordings")).len(), 20);
    let refused = |words: &str, part: &str| {
        let output = benchmark(&folder, words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(part), "{words}: {stderr}");
        assert!(!folder.join("no").exists(), "{words}");
    };
    let of_games = "--recordings games --class text --out no --name";
    refused("--recordings games --class text --out no", "--name");
    refused("--recordings games --class greedy --out no --name a", "rules.preview is 1, expected 0");
    refused("--recordings none --class text --out no --name a", "cannot read none: ");
    refused(&format!("{of_games} a|b"), "--name is \"a|b\", expected 1 to 100 bytes");
    refused(&format!("{of_games} a --search expectation"), "remove the flags of the search");
    refused(&format!("{of_games} a random"), "cannot be used with");
    fs::copy(folder.join("games/00.json"), folder.join("games/19.json")).unwrap();
    refused(&format!("{of_games} a"), "19.json: it is game 0, as games/00.json");
    fs::remove_file(folder.join("games/19.json")).unwrap();
    refused(&format!("{of_games} a"), "games: has no recording of game 19, expected seed ");
    for number in 20..22 {
        fs::write(folder.join(format!("games/{number}.json")), "").unwrap();
    }
    refused(&format!("{of_games} a"), "games: has more than 20 files, expected one per game");
}

#[test]
fn players_of_another_class_are_refused() {
    let folder = empty("refused");
    fs::write(folder.join("low.formula"), LOW).unwrap();
    fs::write(folder.join("next.formula"), "if next == I then 1 else 0").unwrap();
    fs::write(folder.join("peeked.json"), weights(SEED)).unwrap();
    fs::create_dir_all(folder.join("full")).unwrap();
    fs::write(folder.join("full/notes"), "").unwrap();
    for (words, part) in [
        (
            "dt-10 --class greedy --search lookahead,pieces=1",
            "dt-10: search is lookahead 1, expected greedy in class greedy",
        ),
        (
            "dt-10 --class greedy-10x20 --search expectation",
            "search is expectation 1, expected greedy in class greedy-10x20",
        ),
        ("tetrion-10x10-expectation --class greedy", "search is expectation 1, expected greedy"),
        ("monte_carlo --class greedy", "plays hidden pieces at random, expected no search in class greedy"),
        (
            "dt-10 --class mean --search lookahead,pieces=1",
            "needs 1 of the next pieces, expected at most 0 in class mean",
        ),
        ("dt-10 --class mean --search expectation,pieces=2", "expected at most 0 in class mean"),
        ("dt-10 --class shown --search lookahead,pieces=2", "expected at most 1 in class shown"),
        ("next.formula --class formula", "next"),
        ("dt-10 --class formula", "dt-10: is no formula, expected a file my.formula in class formula"),
        ("low.formula --class formula --search expectation", "expected greedy in class formula"),
        ("dt-10 --class text", "dt-10: class text takes recordings: give --recordings"),
        ("./peeked.json --class greedy", "seeds.training is 61803398, the benchmark's seed"),
        ("random --class mean --search expectation", "random: scores no placements"),
        ("dt-11 --class greedy", "did you mean"),
        ("dt-10 --class gready", "invalid value 'gready'"),
        ("--class greedy", "<PLAYER>"),
        ("random --class greedy --out full", "full: it is not empty, expected a new folder"),
    ] {
        let words = if words.contains("--out") { words.to_owned() } else { format!("{words} --out no") };
        let output = benchmark(&folder, &words);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(part), "{words}: {stderr}");
        assert!(!folder.join("no").exists() && files(&folder.join("full")).len() == 1, "{words}");
    }
}

/// No document trains on the benchmark's seed.
#[test]
fn no_document_trains_on_the_seed() {
    for entry in fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        let Ok(text) = fs::read_to_string(&path) else { continue };
        assert!(!text.contains(&format!("--seed {SEED}")), "{}", path.display());
    }
    assert_eq!(CLASSES.iter().filter(|class| class.games == 0).count(), 0);
}
