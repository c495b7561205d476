//! `tetrion train`, as a person starts it: a run ends with the same bytes, whatever happens to it or to its servers.

/// Searches of every kind, and what they begin from.
mod searches;

/// What is refused, what is damaged, and a disk that fills up.
mod refusals;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Output, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;
use tetrion::client::Features;
use tetrion::engine::rng::{Tag, word};
use tetrion::recording::Replay;
use tetrion::trainer::run_folder::{BEST, CHECKPOINT, CONFIG, CURVE, GENERATIONS, WEIGHTS};
use tetrion::trainer::weights::Weights;

use crate::evaluate::tetrion;
use crate::support::Command;

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

pub fn start(command: &mut Command) -> Running {
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
    Command::new("kill").args(args).status().unwrap().success()
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
    assert!(
        stderr.contains(&format!("resume with:\ntetrion train --resume {}", folder.display())),
        "{stderr}"
    );

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
    let args = ["--settings", "lab", "--rules", "simplified", "--height", "8", "--generations", "2"];
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
    let Weights { seeds, score, policy, .. } = Weights::read(&path).unwrap();
    let score = score.unwrap();
    assert!(matches!(&policy.features, Features::Set { name, .. } if name == "thiery9"), "{policy:?}");
    assert_eq!(policy.row.len(), 9);
    assert_eq!((&result["lines"]["mean"], &result["num_games"]), (&score.mean.into(), &8.into()));

    let output = tetrion(&["evaluate", "--json", "--max-pieces", "3000", "--games", "8"])
        .args(["--seed", &seeds.evaluation.to_string()])
        .arg(&path)
        .output()
        .unwrap();
    let evaluated: Value = serde_json::from_str(&succeeded(output)).unwrap();
    assert_eq!(evaluated["height"], 8, "the size is that of the run");
    for field in ["num_games", "num_truncated", "lines", "pieces", "score"] {
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
        .args(["--seed", &seeds.evaluation.to_string()])
        .arg(folder.join(WEIGHTS))
        .arg("--games-csv")
        .arg(&games)
        .output();
    succeeded(output.unwrap());
    let games = fs::read_to_string(games).unwrap();
    let lines = |game: &str| game.split(',').nth(3).unwrap().parse::<u64>().unwrap();
    let most = games.lines().skip(1).map(lines).max().unwrap();

    let path = folder.join(BEST);
    let recording = tetrion::protocol::recording::read(&fs::read(&path).unwrap()).unwrap();
    assert_eq!((recording.outcome.lines, &recording.player[..]), (most, "thiery9"));
    assert!(most > 100, "{most}: nothing was learned");
    assert_eq!(Replay::new(recording).unwrap().difference(), None);
    assert!(
        printed.contains(&format!("lines, is in {}; export its end as a GIF", path.display())),
        "{printed}"
    );
    let path = path.to_str().unwrap();
    let result: Value = serde_json::from_str(&succeeded(resume(&folder, &["--json"]).output())).unwrap();
    assert_eq!(result["best"], path);
    succeeded(tetrion(&["replay", path]).output().unwrap());
    check_same(&folder);
}
