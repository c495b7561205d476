//! The program as a person starts it: what it prints, and the code it ends with.

use std::process::{Command, Output};

fn tetrion(args: &[&str], environment: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tetrion"));
    command.args(args).envs(environment.iter().copied()).output().unwrap()
}

#[track_caller]
fn stdout(output: &Output) -> &str {
    assert!(output.status.success(), "{output:?}");
    std::str::from_utf8(&output.stdout).unwrap()
}

/// The first columns of a table, without its head.
fn rows(table: &str, columns: usize) -> Vec<Vec<&str>> {
    let lines = table.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
    lines.map(|line| line.split_whitespace().take(columns).collect()).collect()
}

#[test]
fn perft_prints_the_counts_that_others_made() {
    let known = include_str!("../data/standard.perft");
    let expected: Vec<Vec<&str>> = rows(known, 6).into_iter().filter(|row| row[0] == "10x20").collect();
    assert!(expected.len() >= 6);
    let sequences = expected.iter().map(|row| row[1]);
    let args: Vec<&str> = ["perft", "--size", "10x20"].into_iter().chain(sequences).collect();
    let output = tetrion(&args, &[]);
    assert_eq!(rows(stdout(&output), 6), expected);
}

#[test]
fn perft_prints_json() {
    let output = tetrion(&["perft", "--size", "4x6", "--json", "OOOOOO", "O"], &[]);
    let json: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
    let counts =
        |i: usize| ["leaves", "distinct", "lines", "holes"].map(|key| json[i][key].as_u64().unwrap());
    assert_eq!(counts(0), [158, 8, 672, 164]);
    assert_eq!(counts(1), [3, 3, 0, 0]);
    assert_eq!((json[0]["width"].as_u64(), json[0]["sequence"].as_str()), (Some(4), Some("OOOOOO")));
}

#[test]
fn options_come_from_flags_then_the_environment_then_a_file() {
    let file = std::env::temp_dir().join(format!("tetrion-{}.toml", std::process::id()));
    std::fs::write(&file, "[perft]\nsize = '4x4'\njson = true\n").unwrap();
    let file_name = file.to_str().unwrap();
    let width = |flags: &[&str], environment: &[(&str, &str)]| {
        let args: Vec<&str> =
            ["perft", "O", "--config", file_name].into_iter().chain(flags.iter().copied()).collect();
        let output = tetrion(&args, environment);
        let json: serde_json::Value = serde_json::from_str(stdout(&output)).unwrap();
        json[0]["width"].as_u64().unwrap()
    };
    let environment = [("TETRION_PERFT_SIZE", "5x4")];
    assert_eq!(width(&[], &[]), 4);
    assert_eq!(width(&[], &environment), 5);
    assert_eq!(width(&["--size", "6x4"], &environment), 6);
    let by_environment = tetrion(&["perft", "O"], &[("TETRION_CONFIG", file_name)]);
    assert!(stdout(&by_environment).starts_with('['), "{by_environment:?}");
    std::fs::remove_file(&file).unwrap();
}

#[test]
fn what_makes_no_sense_ends_with_code_2_and_what_fails_with_code_1() {
    #[track_caller]
    fn check(args: &[&str], environment: &[(&str, &str)], code: i32, why: &str) {
        let output = tetrion(args, environment);
        assert_eq!(output.status.code(), Some(code), "{output:?}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(why), "{stderr}");
    }
    check(&["perft"], &[], 2, "SEQUENCE");
    check(&["perft", "O", "--size", "10"], &[], 2, "expected WIDTHxHEIGHT");
    check(&["perft", "O"], &[("TETRION_PERFT_SIZE", "ten")], 2, "expected WIDTHxHEIGHT");
    check(&["perft", "O"], &[("TETRION_CONFIG", "/nowhere.toml")], 2, "cannot read /nowhere.toml");
    check(&["paint"], &[], 2, "unrecognized subcommand");
    check(&["perft", "OX"], &[], 1, "'X' at position 1 names no tetromino");
    check(&["perft", "O", "--size", "3x20"], &[], 1, "width is 3");
    check(&["perft", "O", "--rules", "chess"], &[], 1, "there are no rules named chess");
}
