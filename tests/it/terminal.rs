//! The whole program on a terminal, which `script` of util-linux makes: it draws, obeys keys and puts the terminal back.

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use crate::evaluate::tetrion;

/// Opens and closes the screen of its own that a program draws on; shows the cursor again.
const OPENED: &str = "\x1b[?1049h";
const CLOSED: &str = "\x1b[?1049l";
const CURSOR_SHOWN: &str = "\x1b[?25h";

/// Types `keys` at a program on a terminal of 80 x 24 as soon as it shows `awaited`. Returns what it wrote, and its exit code.
fn typed(args: &str, environment: &[(&str, &str)], awaited: &str, keys: &str) -> (String, Option<i32>) {
    let program = env!("CARGO_BIN_EXE_tetrion");
    let line = format!("stty rows 24 cols 80; exec '{program}' {args}");
    let mut script = Command::new("script")
        .args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"])
        .env("TERM", "xterm-256color")
        .env_remove("NO_COLOR")
        .envs(environment.iter().copied())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut output, mut bytes) = (script.stdout.take().unwrap(), Vec::new());
    let has_come = |bytes: &[u8]| String::from_utf8_lossy(bytes).contains(awaited);
    let mut some = [0; 4096];
    while !has_come(&bytes) {
        let len = output.read(&mut some).unwrap();
        assert!(len > 0, "it ended without {awaited:?}: {}", String::from_utf8_lossy(&bytes));
        bytes.extend(&some[..len]);
    }
    // It stays open until the end: `script` ends the program when its input does.
    let mut input = script.stdin.take().unwrap();
    input.write_all(keys.as_bytes()).unwrap();
    input.flush().unwrap();
    output.read_to_end(&mut bytes).unwrap();
    (String::from_utf8_lossy(&bytes).into_owned(), script.wait().unwrap().code())
}

/// What follows the screen, once it has been closed.
#[track_caller]
fn afterwards(written: &str) -> &str {
    assert!(written.contains(OPENED), "{written:?}");
    let (_, after) =
        written.rsplit_once(CLOSED).unwrap_or_else(|| panic!("the screen stays open: {written:?}"));
    assert!(written.contains(CURSOR_SHOWN), "{written:?}");
    after
}

#[test]
fn a_game_is_watched_and_left() {
    let (written, code) = typed("watch dt-10 --paused", &[], "paused", "q");
    let after = afterwards(&written);
    assert_eq!(code, Some(0));
    let report = "simplified on 10 x 20, seed 1, game 0\r\ndt-10: 0 lines, 0 pieces, 0 points, not over\r\n";
    assert!(after.ends_with(report), "{after:?}");
}

#[test]
fn a_piece_is_dropped_and_ctrl_c_leaves() {
    let environment = [("NO_COLOR", "1"), ("TETRION_PLAY_SEED", "7")];
    let (written, code) = typed("play --against bcts", &environment, "q quit", " \x03");
    let after = afterwards(&written);
    assert_eq!(code, Some(130));
    assert!(after.contains("simplified on 10 x 20, seed 7, game 0\r\nyou: 0 lines, 1 pieces, "), "{after:?}");
    let drawn = &written[..written.len() - after.len()];
    // Bold and dim are no colours.
    assert!(!drawn.contains("\x1b[38;5;") && !drawn.contains("\x1b[48;5;"), "{drawn:?}");
    assert!(drawn.is_ascii());
}

#[test]
fn what_was_played_is_a_recording() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("played.json");
    let args = format!("play --rules lab --seed 3 --speed 0 --record '{}'", path.display());
    let (written, code) = typed(&args, &[], "q quit", " a  q");
    let after = afterwards(&written);
    assert_eq!(code, Some(0), "{after:?}");
    let replayed = tetrion(&["replay", "--json", path.to_str().unwrap()]).output().unwrap();
    assert!(replayed.status.success(), "{replayed:?}");
    let replayed: serde_json::Value = serde_json::from_slice(&replayed.stdout).unwrap();
    let pieces = after.split_once(" pieces, ").unwrap().0.rsplit(' ').next().unwrap();
    assert_eq!((replayed["pieces"].to_string().as_str(), pieces), ("3", "3"), "{replayed}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn colours_are_among_the_256() {
    // What is asked for goes before what the environment wishes.
    for (args, environment) in
        [("play --seed 7", &[][..]), ("play --palette colour-blind", &[("NO_COLOR", "1")])]
    {
        let (written, _) = typed(args, environment, "q quit", "q");
        assert!(written.contains("48;5;"), "{written:?}");
        assert!(!written.contains("48;2;"), "{written:?}");
    }
}

#[test]
fn a_terminal_whose_cursor_does_not_move_is_refused() {
    let environment = [("TERM", "dumb")];
    let (written, code) = typed("watch dt-10", &environment, "TERM is dumb", "");
    assert_eq!((code, written.contains(OPENED)), (Some(2), false), "{written:?}");
}
