//! The tests of `tetrion-lab`, as one program.

/// Results of the benchmark, and players that are refused.
mod benchmark;
/// The programs that tests start.
#[allow(dead_code)] // these tests need less of it than others
#[path = "../../../../tests/it/support.rs"]
mod command;
/// Statements of the documents about the experiments.
mod documents;
/// Exact values on small playfields, compared with played games.
mod optimum;
/// The tables of documents and papers, from the command line.
mod reproduce;

use std::path::Path;

use crate::command::Command;

/// The root of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .and_then(Path::parent)
        .expect("the package lies in src/lab")
}

/// The program with these arguments.
fn lab(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetrion-lab"));
    command.args(args);
    command
}

#[test]
fn options_that_make_no_sense_are_refused() {
    for (args, why) in [
        (&["reproduce"][..], "<NAME>"),
        (&["reproduce", "leiden-9"], "leiden-9"),
        (&["reproduce", "leiden-1", "--games", "4294967295"], "expected 1 to 1048576"),
        (&["paint"], "unrecognized subcommand"),
    ] {
        let output = lab(args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(2) && stderr.contains(why), "{args:?}: {stderr}");
    }
    let output = lab(&["reproduce", "leiden-1"]).env("TETRION_REPRODUCE_GAMES", "0").output().unwrap();
    assert!(String::from_utf8(output.stderr).unwrap().contains("expected 1 to 1048576"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_no_panic() {
    for args in [&["reproduce", "--list"][..], &["reproduce", "leiden-1", "--row", "10x1", "--games", "5"]] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = lab(args).stdout(full).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.code() == Some(1) && !stderr.contains("panicked"), "{args:?}: {stderr}");
    }
}
