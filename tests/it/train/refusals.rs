//! Runs that do not begin, runs that cannot go on, and a disk that fills up.

use std::fs;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tetrion::trainer::run_folder::{CHECKPOINT, CONFIG, GENERATIONS, WEIGHTS};

use super::{FILES, SMALL, check_same, empty_folder, files, resume, succeeded, undisturbed};
use crate::evaluate::tetrion;

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
    refused(&["genetic", "--out", out, "--settings", "lab"], 2, &["unexpected argument '--settings'"]);
    refused(&["genetic", "--out", out, "--mutation", "2"], 2, &["mutation_probability is 2"]);
    refused(&["--out", out, "--crossover", "0.3"], 2, &["unexpected argument '--crossover'"]);
    refused(&["cem", "--out", out, "--crossover", "0.3"], 2, &["unexpected argument '--crossover'"]);
    refused(&["genetic", "--out", out, "--elites", "0.1"], 2, &["unexpected argument '--elites'"]);
    refused(&["--out", out, "genetic"], 2, &["the subcommand 'genetic' cannot be used with '--out"]);
    refused(&["tabu"], 2, &["unrecognized subcommand 'tabu'"]);
    let fewer = ["--out", out, "--features", "bcts8", "--start", "dt-10"];
    refused(&fewer, 2, &["--start", "dt-10 has a weight for pattern_diversity", "--features"]);
    refused(&["--out", out, "--features", "holes,hole"], 2, &["--features", "did you mean \"holes\""]);
    refused(&["--out", out, "--features", "holes,column_height[10]"], 2, &["expected 0 to 9 at width 10"]);
    refused(&["--out", out, "--features", ","], 2, &["--features", "empty"]);
    refused(&["--out", out, "--start", "dt10"], 2, &["--start", "did you mean \"dt-10\"", "file"]);
    refused(&["--out", out, "--initial-std", "0"], 2, &["initial_std is 0"]);
    refused(&["--out", out, "--noise", "-1"], 2, &["noise"]);
    refused(&["--out", out, "--elites", "0"], 2, &["elite_fraction is 0"]);
    refused(&["--out", out, "--elites", "0.5"], 2, &["second_look is 0.33"]);
    refused(&["--out", out, "--search", "expectation,lost_piece=1"], 2, &["lost_piece", "is 1, expected"]);
    refused(&["--resume", out, "--search", "expectation"], 2, &["--resume", "--search"]);
    refused(&["--out", out, "--height", "41"], 2, &["--height", "expected 4 to 40"]);
    refused(&["--out", out, "--width", "4294967295"], 2, &["width"]);
    refused(&["--out", out, "--max-pieces", "1000000001"], 2, &["--max-pieces", "expected 0 to 1000000000"]);
    refused(&["--out", out, "--max-steps", "1000000001"], 2, &["--max-steps", "expected 0 to 1000000000"]);
    for flag in ["--games", "--check-games", "--final-games"] {
        refused(&["--out", out, flag, "4294967295"], 2, &[flag, "1048576"]);
        refused(&["--out", out, flag, "1048577"], 2, &[flag, "1048576"]);
    }
    let many = ["--out", out, "--population", "16384", "--games", "65"];
    refused(&many, 2, &["population times games", "1064960", "at most 1048576"]);
    refused(&["--out", out, "--final-games", "300000"], 2, &["final_games", "1800000"]);
    refused(&["--out", out, "--games", "20000"], 2, &["population times games"]);
    refused(&["--out", out, "--population", "0"], 2, &["--population"]);
    refused(&["--out", out, "--population", "16385"], 2, &["--population", "16384"]);
    refused(&["--out", out, "--settings", "none"], 2, &["szita-lorincz", "thiery-scherrer", "tetrion"]);
    refused(&["--out", out, "--population", "1"], 2, &["population"]);
    refused(&["--out", out, "--server", "127.0.0.1:1"], 1, &["127.0.0.1:1", "tetrion serve"]);
    refused(&["--resume", out], 1, &["holds no run"]);
    refused(&["--resume", out, "td"], 2, &["'--resume <RUN>'"]);
    refused(&["--out", out, "--rounds", "3"], 2, &["unexpected argument '--rounds'"]);
    let td = |args: &[&str], parts: &[&str]| {
        refused(&[&["td", "--out", out], args].concat(), 2, parts);
    };
    td(&["--population", "9"], &["unexpected argument '--population'"]);
    td(&["--start", "bcts"], &["not provided", "--hidden-units"]);
    td(&["--keep", "1"], &["unexpected argument '--keep'"]);
    td(&["--parallel-games", "1"], &["--parallel-games", "expected 2 to 1024"]);
    td(&["--gamma", "1"], &["gamma is 1.0, not between 0.001 and 0.999999"]);
    td(&["--exploration", "2"], &["--exploration: 2, expected 0 to 1"]);
    td(&["--slope-tuple", "10"], &["--slope-tuple: 10, expected at most 9 at width 10"]);
    td(
        &["--slope-tuple", "9", "--slope-clip", "9"],
        &["--slope-clip", "tables of 322687697779", "at most 4194304"],
    );
    td(&["--rules", "randomizer=bag7"], &["randomizer: bag7, expected uniform"]);
    td(&["--rules", "lab,action_model=keypress"], &["action_model: keypress, expected placement"]);
    refused(&["--resume", out, "--elites", "0.2"], 2, &["--resume", "--elites"]);
    refused(&["--resume", out, "--seed", "3"], 2, &["--resume", "--seed"]);
    refused(
        &["--resume", out, "--rules", "reach=sideways_walk"],
        2,
        &["--resume <RUN>' cannot be used with '--rules"],
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
    assert!(!stderr.contains("resume with"), "there is no way on: {stderr}");
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
    refused_to_resume(
        &folder,
        1,
        &["checkpoint does not belong to the run of", "it was made with seed = \"6\""],
    );

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

    let folder = copy(&run, "no_settings", &all);
    let mut checkpoint: Value = serde_json::from_str(&files(&folder)[2].1).unwrap();
    assert!(checkpoint["state"].as_object_mut().unwrap().remove("settings").is_some());
    fs::write(folder.join(CHECKPOINT), checkpoint.to_string()).unwrap();
    refused_to_resume(&folder, 1, &["checkpoint is not what this program writes: missing field `settings`"]);

    let folder = copy(&run, "nothing_complete", &[CONFIG]);
    let output = resume(&folder, &[]).output();
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert!(stderr.contains("has no complete generation: starting again"), "{stderr}");
    succeeded(output);
    check_same(&folder);
}

/// The line of a generation is on the disk, its checkpoint is not: there is one number of generations, and one way on.
#[cfg(target_os = "linux")]
#[test]
fn a_disk_that_fills_up_is_reported_once_with_how_far_the_run_is() {
    let folder = empty_folder("full_disk");
    let short: Vec<&str> = SMALL.iter().map(|&arg| if arg == "12" { "2" } else { arg }).collect();
    succeeded(tetrion(&short).arg("--out").arg(&folder).output().unwrap());
    // A file that can be read and not be replaced: it has no name any more.
    let (path, aside) = (folder.join(CHECKPOINT), folder.join("aside"));
    fs::copy(&path, &aside).unwrap();
    let nameless = fs::File::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let open = format!("/proc/{}/fd/{}", std::process::id(), nameless.as_raw_fd());
    std::os::unix::fs::symlink(open, &path).unwrap();
    let output = resume(&folder, &["--generations", "12"]).output();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let advice =
        format!("stopped after generation 2; resume with:\ntetrion train --resume {}\n", folder.display());
    let error = format!("error: cannot write {}: ", folder.join(CHECKPOINT).display());
    let reasons = stderr.matches("os error").count();
    assert!(stderr.contains(&error) && reasons <= 1 && stderr.ends_with(&advice), "{stderr}");
    assert_eq!(fs::read_to_string(folder.join(GENERATIONS)).unwrap().lines().count(), 3, "a line beyond it");
    fs::rename(aside, path).unwrap();
    succeeded(resume(&folder, &[]).output());
    check_same(&folder);
}
