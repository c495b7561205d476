//! `tetrion train`, as a person starts it: a run ends with the same bytes, whatever happens to it or to its servers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tetrion::agents::Controller;
use tetrion::cli::run_folder::{BEST, CHECKPOINT, CONFIG, CURVE, GENERATIONS, WEIGHTS};
use tetrion::cli::weights::Weights;
use tetrion::engine::rng::{Tag, word};
use tetrion::recording::Replay;

use crate::evaluate::tetrion;

/// A search that takes a second or so.
const SMALL: [&str; 17] = [
    "train",
    "--height",
    "8",
    "--generations",
    "12",
    "--population",
    "24",
    "--games",
    "2",
    "--check-games",
    "6",
    "--final-games",
    "8",
    "--max-pieces",
    "3000",
    "--seed",
    "5",
];
/// What must not depend on what happened on the way.
const FILES: [&str; 6] = [CONFIG, GENERATIONS, CHECKPOINT, WEIGHTS, BEST, CURVE];
/// Far longer than anything here takes.
const TIMEOUT: Duration = Duration::from_secs(120);

/// An empty place of its own for each test.
pub fn empty_folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("train").join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.parent().unwrap()).unwrap();
    folder
}

pub fn files(folder: &Path) -> Vec<(&'static str, String)> {
    FILES.iter().map(|name| (*name, fs::read_to_string(folder.join(name)).unwrap())).collect()
}

/// The files of an undisturbed run.
fn undisturbed() -> &'static Vec<(&'static str, String)> {
    static RUN: OnceLock<Vec<(&'static str, String)>> = OnceLock::new();
    RUN.get_or_init(|| {
        let folder = empty_folder("undisturbed");
        succeeded(tetrion(&SMALL).arg("--out").arg(&folder).output().unwrap());
        files(&folder)
    })
}

#[track_caller]
fn check_same(folder: &Path) {
    for ((name, expected), (_, found)) in undisturbed().iter().zip(files(folder)) {
        assert!(
            found == *expected,
            "{name} is another one than that of an undisturbed run:\n{found}\n{expected}"
        );
    }
}

#[track_caller]
pub fn succeeded(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn begin(folder: &Path, args: &[&str]) -> Running {
    start(tetrion(&SMALL).arg("--out").arg(folder).args(args))
}

pub fn resume(folder: &Path, args: &[&str]) -> Running {
    start(tetrion(&["train", "--resume"]).arg(folder).args(args))
}

pub fn start(command: &mut std::process::Command) -> Running {
    Running(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
}

/// A process that does not outlive its test.
pub struct Running(Option<Child>);

impl Running {
    fn child(&mut self) -> &mut Child {
        self.0.as_mut().unwrap()
    }

    /// Waits until this many generations are on disk.
    #[track_caller]
    pub fn wait_for(&mut self, folder: &Path, generations: usize) {
        let begun = Instant::now();
        let reached = || match fs::read_to_string(folder.join(GENERATIONS)) {
            Ok(text) => folder.join(CONFIG).exists() && text.lines().count() >= generations,
            Err(_) => false,
        };
        while !reached() {
            assert!(begun.elapsed() < TIMEOUT, "no generation {generations}");
            sleep(Duration::from_millis(1));
        }
        assert_eq!(self.child().try_wait().unwrap(), None, "it ended before anything could happen to it");
    }

    /// SIGKILL: the process cannot react to it.
    pub fn kill(&mut self) {
        self.child().kill().unwrap();
        self.child().wait().unwrap();
    }

    fn interrupt(&mut self) {
        let id = self.child().id().to_string();
        assert!(tetrion_kill(&["-INT", &id]));
    }

    pub fn output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

fn tetrion_kill(args: &[&str]) -> bool {
    std::process::Command::new("kill").args(args).status().unwrap().success()
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// A server in a process of its own, and its address.
fn serve() -> (Running, String) {
    let mut server = start(&mut tetrion(&["serve", "--listen", "127.0.0.1:0", "--threads", "1"]));
    let mut line = String::new();
    BufReader::new(server.child().stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim_end().strip_prefix("tetrion listening on ").unwrap().to_owned();
    (server, address)
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let folder = empty_folder("again");
    succeeded(begin(&folder, &[]).output());
    check_same(&folder);

    let folder = empty_folder("another_seed");
    succeeded(tetrion(&SMALL[..15]).args(["--seed", "6", "--out"]).arg(&folder).output().unwrap());
    for ((name, one), (_, other)) in undisturbed().iter().zip(files(&folder)) {
        assert!(other != *one, "{name} is the same for two seeds");
    }
}

#[test]
fn killed_ten_times_and_interrupted_and_resumed_it_ends_with_the_same_bytes() {
    let folder = empty_folder("killed");
    let mut run = begin(&folder, &[]);
    // Somewhere in a generation; each time at another place, and the same places every time this runs.
    for (n, generations) in [0, 0, 0, 1, 1, 2, 3, 4, 5, 6].into_iter().enumerate() {
        run.wait_for(&folder, generations);
        sleep(Duration::from_micros(word(5, Tag::Agent, n as u64) % 8000));
        run.kill();
        run = resume(&folder, &[]);
    }
    run.wait_for(&folder, 7);
    run.interrupt();
    let output = run.output();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{stderr}");
    assert!(stderr.contains(&format!("go on with: tetrion train --resume {}", folder.display())), "{stderr}");

    succeeded(resume(&folder, &[]).output());
    check_same(&folder);
    // There is nothing left to do but to print it again.
    succeeded(resume(&folder, &[]).output());
    check_same(&folder);
}

#[test]
fn a_run_made_longer_ends_with_the_bytes_of_one_planned_that_long() {
    let folder = empty_folder("longer");
    let shorter: Vec<&str> = SMALL.iter().map(|&arg| if arg == "12" { "4" } else { arg }).collect();
    succeeded(tetrion(&shorter).arg("--out").arg(&folder).output().unwrap());
    succeeded(resume(&folder, &["--generations", "12"]).output());
    check_same(&folder);

    let refused = resume(&folder, &["--generations", "11"]).output();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("has 12 generations already"), "{stderr}");
    check_same(&folder);
}

#[test]
fn a_run_whose_noise_ends_with_it_cannot_be_made_longer() {
    let folder = empty_folder("noise_ends");
    let args = ["--preset", "lab", "--rules", "simplified", "--height", "8", "--generations", "2"];
    let sizes = ["--population", "4", "--check-games", "2", "--final-games", "2", "--max-pieces", "100"];
    succeeded(tetrion(&["train"]).args(args).args(sizes).arg("--out").arg(&folder).output().unwrap());
    let before = files(&folder);
    let refused = resume(&folder, &["--generations", "3"]).output();
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("noise") && stderr.contains("begin a new one"), "{stderr}");
    assert_eq!(files(&folder), before);
}

#[test]
fn two_servers_give_the_bytes_of_one() {
    let folder = empty_folder("two_servers");
    let ((_one, one), (_two, two)) = (serve(), serve());
    succeeded(begin(&folder, &["--server", &one, "--server", &two]).output());
    check_same(&folder);
}

#[test]
fn pieces_per_slot_are_the_same_for_any_servers_and_after_a_stop() {
    let own = ["--game-seeds", "per_slot"];
    let alone = empty_folder("own_pieces");
    succeeded(begin(&alone, &own).output());
    let config = |files: &[(&str, String)]| files[0].1.parse::<toml::Table>().unwrap();
    let [common, per_slot] = [config(undisturbed()), config(&files(&alone))];
    let seeds = |config: &toml::Table| config["game_seeds"].as_str().unwrap().to_owned();
    assert_eq!((seeds(&common), seeds(&per_slot)), ("common".to_owned(), "per_slot".to_owned()));
    assert_ne!(files(&alone)[1], undisturbed()[1], "other pieces make another search");

    let folder = empty_folder("own_pieces_stopped");
    let ((mut one, first), (_two, second)) = (serve(), serve());
    let mut run = begin(&folder, &[&own[..], &["--server", &first, "--server", &second]].concat());
    run.wait_for(&folder, 1);
    one.kill();
    run.wait_for(&folder, 3);
    run.kill();
    succeeded(resume(&folder, &["--server", &second]).output());
    for ((name, expected), (_, found)) in files(&alone).iter().zip(files(&folder)) {
        assert!(found == *expected, "{name}: {found}\n{expected}");
    }
}

#[test]
fn a_run_goes_on_without_a_server_that_dies() {
    let folder = empty_folder("one_dies");
    let ((mut one, first), (_two, second)) = (serve(), serve());
    let mut run = begin(&folder, &["--server", &first, "--server", &second]);
    run.wait_for(&folder, 1);
    one.kill();
    succeeded(run.output());
    check_same(&folder);
}

#[test]
fn without_any_server_it_stops_and_can_be_resumed_elsewhere() {
    let folder = empty_folder("all_die");
    let (mut server, address) = serve();
    let mut run = begin(&folder, &["--server", &address, "--patience", "0.2"]);
    run.wait_for(&folder, 2);
    server.kill();
    let output = run.output();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("tetrion train --resume") && stderr.contains(&address), "{stderr}");

    let (_server, address) = serve();
    succeeded(resume(&folder, &["--server", &address]).output());
    check_same(&folder);
}

#[test]
fn the_score_can_be_checked_with_the_weights() {
    let folder = empty_folder("score");
    let output = succeeded(begin(&folder, &["--json"]).output());
    let result: Value = serde_json::from_str(&output).unwrap();
    let path = folder.join(WEIGHTS);
    let Weights { seeds, score, feature_set, weights, .. } = Weights::read(&path).unwrap();
    let score = score.unwrap();
    assert_eq!((feature_set.name.as_str(), weights.len()), ("thiery9", 9));
    assert_eq!((&result["mean_lines"], &result["games"]), (&score.mean.into(), &8.into()));

    let output = tetrion(&["evaluate", "--json", "--max-pieces", "3000", "--games", "8"])
        .args(["--seed", &seeds.evaluation.to_string(), "--weights"])
        .arg(&path)
        .output()
        .unwrap();
    let evaluated: Value = serde_json::from_str(&succeeded(output)).unwrap();
    assert_eq!(evaluated["height"], 8, "the size is that of the run");
    for field in ["mean_lines", "std_lines", "ci95", "mean_pieces", "truncated_games"] {
        assert_eq!(evaluated["results"][0][field], result[field], "{field}");
    }
}

#[test]
fn the_best_of_the_last_games_is_a_recording() {
    let folder = empty_folder("best");
    let printed = succeeded(begin(&folder, &[]).output());
    let Weights { seeds, .. } = Weights::read(&folder.join(WEIGHTS)).unwrap();
    let games = folder.join("games.csv");
    let output = tetrion(&["evaluate", "--max-pieces", "3000", "--games", "8", "--json"])
        .args(["--seed", &seeds.evaluation.to_string(), "--weights"])
        .arg(folder.join(WEIGHTS))
        .arg("--per-game")
        .arg(&games)
        .output();
    succeeded(output.unwrap());
    let games = fs::read_to_string(games).unwrap();
    let lines = |game: &str| game.split(',').nth(3).unwrap().parse::<u64>().unwrap();
    let most = games.lines().skip(1).map(lines).max().unwrap();

    let path = folder.join(BEST);
    let recording = tetrion::wire::recording::read(&fs::read(&path).unwrap()).unwrap();
    assert_eq!((recording.outcome.lines, &recording.player[..]), (most, "thiery9"));
    assert!(most > 100, "{most}: nothing was learned");
    assert_eq!(Replay::new(recording).unwrap().difference(), None);
    assert!(
        printed.contains(&format!("lines, is in {}; make a moving picture", path.display())),
        "{printed}"
    );
    let path = path.to_str().unwrap();
    let result: Value = serde_json::from_str(&succeeded(resume(&folder, &["--json"]).output())).unwrap();
    assert_eq!(result["best"], path);
    succeeded(tetrion(&["replay", path]).output().unwrap());
    check_same(&folder);
}

#[test]
fn a_genetic_search_leaves_the_same_files() {
    let folder = empty_folder("genetic");
    let args = ["--optimizer", "genetic", "--features", "height4", "--max-pieces", "200"];
    let run = tetrion(&SMALL[..13]).args(args).arg("--out").arg(&folder).output().unwrap();
    let text = succeeded(run);
    assert!(text.contains("height4 on 10 x 8 after 12 generations"), "{text}");
    assert_eq!(files(&folder)[1].1.lines().count(), 12);
    assert_eq!(Weights::read(&folder.join(WEIGHTS)).unwrap().feature_set.name, "height4");
}

#[test]
fn a_genetic_search_is_that_of_its_report_unless_flags_say_otherwise() {
    let folder = empty_folder("report");
    let args =
        ["train", "--optimizer", "genetic", "--generations", "3", "--population", "8", "--check-games", "4"];
    let rates = ["--final-games", "4", "--tournament", "2", "--keep", "2", "--mutation-std", "0.3"];
    let short = ["--max-pieces", "300"];
    let run = tetrion(&args).args(rates).args(short).arg("--out").arg(&folder).output().unwrap();
    let lines = String::from_utf8(run.stderr.clone()).unwrap();
    let text = succeeded(run);
    assert!(text.contains("lab4 on 10 x 22 after 3 generations") && text.contains("points a game"), "{text}");
    assert_eq!(lines.matches("points a game; ").count(), 3, "{lines}");
    assert!(!lines.contains("lines a game"), "{lines}");
    let config: toml::Table = fs::read_to_string(folder.join(CONFIG)).unwrap().parse().unwrap();
    assert_eq!((config["rules"].as_str(), config["unit"].as_str()), (Some("genetic"), Some("points")));
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
    assert!(fs::read_to_string(folder.join(CURVE)).unwrap().contains("points a game"));
    let weights = Weights::read(&folder.join(WEIGHTS)).unwrap();
    assert_eq!((weights.terminal.as_str(), weights.weights.len()), ("score", 4));
}

#[test]
fn the_notebooks_search_plays_with_keys_and_its_weights_are_played_again() {
    let folder = empty_folder("lab");
    let args = ["train", "--preset", "lab", "--generations", "3", "--population", "10", "--check-games", "4"];
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
    assert_eq!((rules.preset.as_str(), rules.action_model.as_str()), ("lab", "keypress"));
    let output = tetrion(&["evaluate", "--json", "--games", "6", "--max-steps", "200"])
        .args(["--seed", &seeds.evaluation.to_string(), "--weights"])
        .arg(&path)
        .output()
        .unwrap();
    let evaluated: Value = serde_json::from_str(&succeeded(output)).unwrap();
    assert_eq!(evaluated["results"][0]["mean_lines"], score.unwrap().mean);
}

#[test]
fn a_run_under_changed_rules_is_resumed_and_its_weights_are_played_under_them() {
    let folder = empty_folder("changed_rules");
    let args =
        ["--height", "8", "--randomizer", "bag7", "--top-out", "top_row", "--scoring-lines", "1,3,5,8"];
    let short = ["--generations", "1", "--population", "4", "--check-games", "2", "--final-games", "6"];
    succeeded(tetrion(&["train"]).args(args).args(short).arg("--out").arg(&folder).output().unwrap());
    succeeded(resume(&folder, &["--generations", "2"]).output());
    let config: toml::Table = fs::read_to_string(folder.join(CONFIG)).unwrap().parse().unwrap();
    assert_eq!(config["changes"]["randomizer"].as_str(), Some("bag7"));
    let path = folder.join(WEIGHTS);
    let Weights { seeds, score, rules, .. } = Weights::read(&path).unwrap();
    assert_eq!((rules.randomizer.as_str(), rules.top_out.as_str()), ("bag7", "top_row"));
    assert_eq!(rules.line_points, [1.0, 3.0, 5.0, 8.0]);
    let seed = seeds.evaluation.to_string();
    let again =
        tetrion(&["evaluate", "--json", "--games", "6", "--seed", &seed, "--weights"]).arg(&path).output();
    let evaluated: Value = serde_json::from_str(&succeeded(again.unwrap())).unwrap();
    assert_eq!(evaluated["results"][0]["mean_lines"], score.unwrap().mean);
}

#[test]
fn a_search_around_known_weights_that_weigh_the_pieces_to_come() {
    let folder = empty_folder("expectation");
    let args = ["--height", "7", "--expectation", "--expectation-placements", "3", "--discount", "0.9"];
    let around = ["--start", "dt-10", "--initial-std", "0.05", "--noise", "0", "--covariance", "full"];
    let short = ["--generations", "1", "--population", "4", "--check-games", "2", "--final-games", "6"];
    let run = tetrion(&["train"]).args(args).args(around).args(short).arg("--out").arg(&folder).output();
    succeeded(run.unwrap());
    succeeded(resume(&folder, &["--generations", "2"]).output());
    let path = folder.join(WEIGHTS);
    let Weights { seeds, score, expectation, weights, .. } = Weights::read(&path).unwrap();
    let expectation = expectation.expect("the file says how they are played");
    assert_eq!((expectation.placements, expectation.discount, expectation.pieces), (3, 0.9, 1));
    let dt_10 = Controller::named("dt-10").unwrap().weights;
    let (length, product) = dt_10
        .iter()
        .zip(&weights)
        .fold((0.0, 0.0), |(length, product), (one, other)| (length + one * one, product + one * other));
    assert!(product / length.sqrt() > 0.95, "unit vectors in about the direction of dt-10: {weights:?}");
    // The weights are played as they were found, unless the flags say otherwise.
    let play = |flags: &[&str]| -> Value {
        let seed = seeds.evaluation.to_string();
        let command = tetrion(&["evaluate", "--json", "--games", "6", "--seed", &seed, "--weights"])
            .arg(&path)
            .args(flags)
            .output();
        serde_json::from_str(&succeeded(command.unwrap())).unwrap()
    };
    let mean = |evaluated: &Value| evaluated["results"][0]["mean_lines"].as_f64().unwrap();
    assert_eq!(mean(&play(&[])), score.unwrap().mean);
    assert_ne!(mean(&play(&["--expectation"])), mean(&play(&[])), "the defaults are others");
    assert!(2.0 * mean(&play(&["--lookahead", "0"])) < mean(&play(&[])), "greedily");

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
    let Weights { seeds, score, feature_set, feature_names, weights, .. } = Weights::read(&path).unwrap();
    assert_eq!((feature_set.name.as_str(), feature_names.len()), ("", begun.len()));
    assert_eq!(feature_names[9], "height_difference[0]");
    let seed = seeds.evaluation.to_string();
    let again =
        tetrion(&["evaluate", "--json", "--games", "6", "--seed", &seed, "--weights"]).arg(&path).output();
    let evaluated: Value = serde_json::from_str(&succeeded(again.unwrap())).unwrap();
    assert_eq!(evaluated["results"][0]["mean_lines"], score.unwrap().mean);

    // The weights of a run are a result or a best candidate, or a mean of results: of all, or of the second half.
    let record = fs::read_to_string(folder.join(GENERATIONS)).unwrap();
    let generations: Vec<Value> = record.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let vectors = |of: &str| -> Vec<Vec<f64>> {
        generations.iter().map(|generation| serde_json::from_value(generation[of].clone()).unwrap()).collect()
    };
    let (results, mut choices) = (vectors("mean"), [vectors("mean"), vectors("best")].concat());
    for results in [&results[..], &results[2..]] {
        let mean = |at: usize| results.iter().map(|one| one[at]).sum::<f64>() / results.len() as f64;
        choices.push((0..weights.len()).map(mean).collect());
    }
    assert!(choices.contains(&weights), "{weights:?} is none of {choices:?}");
}

#[test]
fn what_cannot_be_done_is_refused_with_a_way_out() {
    #[track_caller]
    fn refused(args: &[&str], code: i32, parts: &[&str]) {
        let output = tetrion(&["train"]).args(args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{stderr}");
        parts.iter().for_each(|part| assert!(stderr.contains(part), "{part:?} is not in {stderr}"));
    }
    let folder = empty_folder("refused");
    let out = folder.to_str().unwrap();
    refused(&["--out", out, "--features", "all"], 2, &["all", "thiery9"]);
    refused(&["--out", out, "--rules", "chess"], 2, &["chess", "simplified"]);
    refused(&["--out", out, "--preset", "lab", "--optimizer", "genetic"], 2, &["--preset", "cross-entropy"]);
    refused(&["--out", out, "--optimizer", "genetic", "--mutation", "2"], 2, &["mutation_probability is 2"]);
    refused(&["--out", out, "--crossover", "0.3"], 2, &["--crossover is of the genetic algorithm"]);
    refused(&["--out", out, "--optimizer", "genetic", "--start", "bcts"], 2, &["--start", "cross-entropy"]);
    let fewer = ["--out", out, "--features", "bcts8", "--start", "dt-10"];
    refused(&fewer, 2, &["--start", "dt-10 has a weight for pattern_diversity", "--features"]);
    refused(&["--out", out, "--features", "holes,hole"], 2, &["--features", "did you mean \"holes\""]);
    refused(&["--out", out, "--features", "holes,column_height[10]"], 2, &["expected 0..=9 at width 10"]);
    refused(&["--out", out, "--features", ","], 2, &["--features", "empty"]);
    refused(&["--out", out, "--start", "dt10"], 2, &["--start", "did you mean \"dt-10\"", "file"]);
    refused(&["--out", out, "--initial-std", "0"], 2, &["initial_std is 0"]);
    refused(&["--out", out, "--noise", "-1"], 2, &["noise"]);
    refused(&["--out", out, "--elites", "0"], 2, &["elite_fraction is 0"]);
    refused(&["--out", out, "--elites", "0.5"], 2, &["second_look is 0.33"]);
    refused(&["--out", out, "--lost-piece", "-1"], 2, &["--expectation"]);
    refused(&["--out", out, "--expectation", "--lost-piece", "1"], 2, &["lost_piece", "is 1, expected"]);
    refused(&["--resume", out, "--expectation"], 2, &["--resume", "--expectation"]);
    refused(&["--out", out, "--height", "41"], 2, &["height is 41"]);
    refused(&["--out", out, "--width", "4294967295"], 2, &["width"]);
    refused(&["--out", out, "--max-pieces", "1000000001"], 2, &["--max-pieces", "0..=1000000000"]);
    refused(&["--out", out, "--max-steps", "1000000001"], 2, &["--max-steps", "0..=1000000000"]);
    for flag in ["--games", "--check-games", "--final-games"] {
        refused(&["--out", out, flag, "4294967295"], 2, &[flag, "1048576"]);
        refused(&["--out", out, flag, "1048577"], 2, &[flag, "1048576"]);
    }
    let many = ["--out", out, "--population", "16384", "--games", "65"];
    refused(&many, 2, &["--population times --games", "1064960", "at most 1048576"]);
    refused(&["--out", out, "--final-games", "300000"], 2, &["--final-games", "1800000"]);
    refused(&["--out", out, "--games", "20000"], 2, &["--games"]);
    refused(&["--out", out, "--population", "0"], 2, &["--population"]);
    refused(&["--out", out, "--population", "16385"], 2, &["--population", "16384"]);
    refused(&["--out", out, "--preset", "none"], 2, &["szita-lorincz", "thiery-scherrer", "tetrion"]);
    refused(&["--out", out, "--population", "1"], 2, &["population"]);
    refused(&["--out", out, "--server", "127.0.0.1:1"], 1, &["127.0.0.1:1", "tetrion serve"]);
    refused(&["--resume", out], 1, &["holds no run"]);
    refused(&["--out", out, "--rounds", "3"], 2, &["--rounds", "add --optimizer td"]);
    let td = |args: &[&str], parts: &[&str]| {
        refused(&[&["--out", out, "--optimizer", "td"], args].concat(), 2, parts);
    };
    td(&["--population", "9"], &["--population", "leave it out with --optimizer td"]);
    td(&["--expectation"], &["--expectation", "leave it out with --optimizer td"]);
    td(&["--start", "bcts"], &["--start", "cross-entropy"]);
    td(&["--keep", "1"], &["--keep", "genetic"]);
    td(&["--games", "1"], &["--games: 1, expected 2 to 1024"]);
    td(&["--td-discount", "1"], &["discount is 1.0, not between 0.001 and 0.999999"]);
    td(&["--exploration", "2"], &["--exploration: 2, expected 0 to 1"]);
    td(&["--step-tuple", "10"], &["--step-tuple: 10, expected at most 9 at width 10"]);
    td(
        &["--step-tuple", "9", "--step-clip", "9"],
        &["--step-clip", "tables of 322687697900", "at most 1048576"],
    );
    td(&["--randomizer", "bag7"], &["--randomizer: bag7, expected uniform"]);
    td(&["--action-model", "keypress", "--rules", "lab"], &["--action-model: keypress, expected placement"]);
    refused(&["--resume", out, "--step-half", "5"], 2, &["--resume", "--step-half"]);
    refused(&["--resume", out, "--seed", "3"], 2, &["--resume", "--seed"]);
    refused(
        &["--resume", out, "--reach", "sideways_walk"],
        2,
        &["--resume <RUN>' cannot be used with '--reach"],
    );
    assert!(!folder.exists(), "a refusal leaves no folder behind");
    undisturbed();
    let taken = Path::new(env!("CARGO_TARGET_TMPDIR")).join("train/undisturbed");
    refused(&["--out", taken.to_str().unwrap()], 1, &["already holds a run"]);
}

/// A copy of these files of a run, as another run.
fn copy(from: &Path, test: &str, names: &[&str]) -> PathBuf {
    let folder = empty_folder(test);
    fs::create_dir(&folder).unwrap();
    for name in names {
        fs::copy(from.join(name), folder.join(name)).unwrap();
    }
    folder
}

#[track_caller]
fn refused_to_resume(folder: &Path, code: i32, parts: &[&str]) {
    let output = resume(folder, &[]).output();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{stderr}");
    parts.iter().for_each(|part| assert!(stderr.contains(part), "{part:?} is not in {stderr}"));
    assert!(!stderr.contains("go on with"), "there is no way on: {stderr}");
}

#[test]
fn a_checkpoint_that_belongs_to_another_run_is_refused() {
    undisturbed();
    let all = FILES;
    let run = Path::new(env!("CARGO_TARGET_TMPDIR")).join("train/undisturbed");
    let other = empty_folder("other_run");
    let args = ["--seed", "6", "--generations", "12"];
    succeeded(tetrion(&SMALL[..3]).args(&SMALL[5..15]).args(args).arg("--out").arg(&other).output().unwrap());

    let folder = copy(&run, "no_checkpoint", &[CONFIG, GENERATIONS, WEIGHTS]);
    refused_to_resume(&folder, 1, &["checkpoint is gone"]);

    let folder = copy(&run, "other_checkpoint", &all);
    fs::copy(other.join(CHECKPOINT), folder.join(CHECKPOINT)).unwrap();
    refused_to_resume(&folder, 1, &["checkpoint does not belong to the run of", "it was made with seed = 6"]);

    let edit = |test: &str, name: &str, from: &str, to: &str| {
        let folder = copy(&run, test, &all);
        let text = fs::read_to_string(folder.join(name)).unwrap();
        assert!(text.contains(from), "{text}");
        fs::write(folder.join(name), text.replacen(from, to, 1)).unwrap();
        folder
    };
    let folder = edit("other_settings", CONFIG, "max_pieces = 3000", "max_pieces = 3001");
    refused_to_resume(&folder, 1, &["it was made with max_pieces = 3000, the settings say 3001"]);
    let folder = edit("other_generation", CHECKPOINT, "\"generation\":12", "\"generation\":11");
    refused_to_resume(&folder, 1, &["its search is at generation 11, its number is 12"]);
    let folder = edit("other_mean", CHECKPOINT, "\"mean\":[", "\"mean\":[1e-3,");
    refused_to_resume(&folder, 1, &["checkpoint does not belong to the run of"]);
    let folder = edit("cut", CHECKPOINT, "}}", "");
    refused_to_resume(&folder, 1, &["checkpoint is not what this program writes"]);

    // A record whose last generation is another one than that of the checkpoint.
    let folder = copy(&run, "other_record", &all);
    let lines = |folder: &Path| fs::read_to_string(folder.join(GENERATIONS)).unwrap();
    fs::write(folder.join(GENERATIONS), lines(&other)).unwrap();
    refused_to_resume(&folder, 1, &["its search has another result than generation 12"]);

    // A checkpoint of a version that did not keep the settings in it.
    let folder = copy(&run, "older_checkpoint", &all);
    let mut checkpoint: Value = serde_json::from_str(&files(&folder)[2].1).unwrap();
    assert!(checkpoint["state"].as_object_mut().unwrap().remove("settings").is_some());
    fs::write(folder.join(CHECKPOINT), checkpoint.to_string()).unwrap();
    succeeded(resume(&folder, &[]).output());

    let folder = copy(&run, "nothing_complete", &[CONFIG]);
    let output = resume(&folder, &[]).output();
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(stderr.contains("no generation of") && stderr.contains("it begins again"), "{stderr}");
    succeeded(output);
    check_same(&folder);
}

/// The line of a generation is on the disk, its checkpoint is not: there is one number of generations, and one way on.
#[test]
fn a_disk_that_fills_up_is_reported_once_with_how_far_the_run_is() {
    let folder = empty_folder("full_disk");
    let short: Vec<&str> = SMALL.iter().map(|&arg| if arg == "12" { "2" } else { arg }).collect();
    succeeded(tetrion(&short).arg("--out").arg(&folder).output().unwrap());
    fs::create_dir(folder.join(".checkpoint.tmp")).unwrap();
    let output = resume(&folder, &["--generations", "12"]).output();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let advice =
        format!("stopped after generation 2; go on with: tetrion train --resume {}\n", folder.display());
    let error = format!("error: cannot write {}: ", folder.join(CHECKPOINT).display());
    let reasons = stderr.matches("os error").count();
    assert!(stderr.contains(&error) && reasons <= 1 && stderr.ends_with(&advice), "{stderr}");
    assert_eq!(fs::read_to_string(folder.join(GENERATIONS)).unwrap().lines().count(), 3, "a line beyond it");
    fs::remove_dir(folder.join(".checkpoint.tmp")).unwrap();
    succeeded(resume(&folder, &[]).output());
    check_same(&folder);
}
