//! The whole program on a terminal, which `script` of util-linux makes: it draws, obeys keys and restores the terminal.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use crate::evaluate::tetrion;
use crate::run_folder::bcts_like;
use crate::support::Command;

/// Opens and closes the screen of its own that a program draws on; shows the cursor again.
const OPENED: &str = "\x1b[?1049h";
const CLOSED: &str = "\x1b[?1049l";
const CURSOR_SHOWN: &str = "\x1b[?25h";

/// A program on a terminal.
pub struct Terminal {
    script: Child,
    output: ChildStdout,
    input: ChildStdin,
    bytes: Vec<u8>,
    size: (u16, u16),
}

impl Terminal {
    /// Starts a program on a terminal of this many columns and lines.
    pub fn open(size: (u16, u16), args: &str, environment: &[(&str, &str)]) -> Terminal {
        let (columns, lines) = size;
        let program = env!("CARGO_BIN_EXE_tetrion");
        let line = format!("stty rows {lines} cols {columns}; echo process $$; exec '{program}' {args}");
        let mut script = Command::new("script")
            .args(["--quiet", "--flush", "--return", "--command", &line, "/dev/null"])
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // It stays open until the end: `script` ends the program when its input does.
        let input = script.stdin.take().unwrap();
        let output = script.stdout.take().unwrap();
        Terminal { script, output, input, bytes: Vec::new(), size }
    }

    /// What the program has written so far.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// Reads until a condition holds for what was written.
    #[track_caller]
    fn read_until(&mut self, what: &str, holds: impl Fn(&Terminal) -> bool) {
        let mut some = [0; 4096];
        while !holds(self) {
            let len = self.output.read(&mut some).unwrap();
            assert!(len > 0, "it ended without {what:?}: {}", self.written());
            self.bytes.extend(&some[..len]);
        }
    }

    /// Waits until this was written.
    #[track_caller]
    pub fn wait_for(&mut self, text: &str) {
        self.read_until(text, |terminal| terminal.written().contains(text));
    }

    /// Waits until this is on the screen, which the program changes cell by cell.
    #[track_caller]
    pub fn wait_to_see(&mut self, text: &str) {
        self.read_until(text, |terminal| terminal.screen().contains(text));
    }

    /// The screen as it is now: what was written, with the moves of the cursor obeyed and all else ignored.
    pub fn screen(&self) -> String {
        let (columns, lines) = (usize::from(self.size.0), usize::from(self.size.1));
        let mut cells = vec![vec![' '; columns]; lines];
        let (mut x, mut y) = (0, 0);
        let written = self.written();
        let mut letters = written.chars();
        while let Some(letter) = letters.next() {
            match letter {
                '\x1b' => {
                    let mut sequence = String::new();
                    while !sequence.ends_with(|c: char| c.is_ascii_alphabetic()) {
                        let Some(next) = letters.next() else { break };
                        sequence.push(next);
                    }
                    let numbers = sequence.trim_matches(|c: char| !c.is_ascii_digit());
                    if sequence.ends_with('H') {
                        let (row, column) = numbers.split_once(';').unwrap_or(("1", "1"));
                        (x, y) = (column.parse::<usize>().unwrap() - 1, row.parse::<usize>().unwrap() - 1);
                    } else if sequence.ends_with('J') || sequence == "[?1049h" {
                        cells = vec![vec![' '; columns]; lines];
                    }
                }
                '\r' => x = 0,
                '\n' => y += 1,
                letter => {
                    if let Some(cell) = cells.get_mut(y).and_then(|line| line.get_mut(x)) {
                        *cell = letter;
                    }
                    x += 1;
                }
            }
        }
        cells.iter().map(|line| line.iter().collect::<String>().trim_end().to_owned() + "\n").collect()
    }

    /// Types keys.
    pub fn press(&mut self, keys: &str) {
        self.input.write_all(keys.as_bytes()).unwrap();
        self.input.flush().unwrap();
    }

    /// Sends a signal such as TERM to the program.
    pub fn signal(&self, name: &str) {
        let written = self.written();
        let process = written.split_once("process ").unwrap().1.split_whitespace().next().unwrap();
        assert!(Command::new("kill").args([&format!("-{name}"), process]).status().unwrap().success());
    }

    /// Waits for the end. Returns what the program wrote, and its exit code.
    pub fn end(mut self) -> (String, Option<i32>) {
        self.output.read_to_end(&mut self.bytes).unwrap();
        (self.written(), self.script.wait().unwrap().code())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.script.kill();
        let _ = self.script.wait();
    }
}

/// Types `keys` at a program on a terminal of 80 x 24 as soon as it shows `awaited`. Returns what it wrote, and its exit code.
fn typed(args: &str, environment: &[(&str, &str)], awaited: &str, keys: &str) -> (String, Option<i32>) {
    let mut terminal = Terminal::open((80, 24), args, environment);
    terminal.wait_for(awaited);
    terminal.press(keys);
    terminal.end()
}

/// What follows the screen, once it has been closed.
#[track_caller]
pub fn afterwards(written: &str) -> &str {
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
    assert!(after.contains("simplified on 10 x 20, seed 7, game 0\r\nyou: 0 lines, 1 piece, "), "{after:?}");
    let drawn = &written[..written.len() - after.len()];
    // Bold and dim are no colours.
    assert!(!drawn.contains("\x1b[38;5;") && !drawn.contains("\x1b[48;5;"), "{drawn:?}");
    assert!(drawn.is_ascii());
}

#[test]
fn sigterm_restores_the_terminal() {
    for (args, player) in [("watch bcts --paused", "bcts"), ("play", "you")] {
        let mut terminal = Terminal::open((80, 24), args, &[]);
        terminal.wait_for("q quit");
        terminal.signal("TERM");
        let (written, code) = terminal.end();
        let after = afterwards(&written);
        assert_eq!(code, Some(143), "{args}: {after:?}");
        let report = format!("{player}: 0 lines, 0 pieces, 0 points, not over\r\n");
        assert!(after.ends_with(&report), "{args}: {after:?}");
    }
}

#[test]
fn a_window_that_is_closed_leaves_a_recording() {
    for (args, name) in
        [("play --rules lab --rows-per-second 0", "closed-play"), ("watch dt-10 --paused", "closed-watch")]
    {
        let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.json"));
        let _ = std::fs::remove_file(&path);
        let mut terminal = Terminal::open((80, 24), &format!("{args} --record '{}'", path.display()), &[]);
        terminal.wait_for("q quit");
        terminal.signal("HUP");
        let (written, code) = terminal.end();
        assert_eq!(code, Some(129), "{args}: {written:?}");
        let replayed = tetrion(&["replay", path.to_str().unwrap()]).output().unwrap();
        assert!(replayed.status.success(), "{args}: {replayed:?}");
        std::fs::remove_file(path).unwrap();
    }
}

/// Some terminals say that they are as large as can be said.
#[test]
fn a_terminal_of_any_size_is_drawn_on() {
    let mut terminal = Terminal::open((65_535, 65_535), "watch dt-10 --paused", &[]);
    terminal.wait_for("q quit");
    terminal.press("q");
    let (written, code) = terminal.end();
    afterwards(&written);
    assert_eq!(code, Some(0), "{written:?}");
}

#[test]
fn what_a_terminal_would_obey_is_not_on_the_screen() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("mine\u{202e}\u{9b}2J\u{1b}]0;title\u{7}.json");
    let mut weights = bcts_like();
    (weights.feature_set, weights.feature_set_version) = (String::new(), String::new());
    std::fs::write(&path, weights.to_json()).unwrap();
    let (written, code) = typed(&format!("watch '{}' --paused", path.display()), &[], "paused", "q");
    std::fs::remove_file(&path).unwrap();
    assert_eq!(code, Some(0), "{written:?}");
    assert!(
        afterwards(&written).contains(r"mine\u202e\u009b2J\u001b]0;title\u0007.json: 0 lines"),
        "{written:?}"
    );
    let obeyed = ['\u{202e}', '\u{9b}', '\u{7}'];
    assert!(written.contains("mine") && !written.contains(obeyed), "{written:?}");
    assert!(!written.contains("\u{1b}]"), "{written:?}");
}

/// The curve leaves room for the line that says how far the run is, or is left out.
#[test]
fn a_low_terminal_shows_how_far_a_training_is() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("low-terminal");
    for lines in [8, 15, 20] {
        let _ = std::fs::remove_dir_all(&folder);
        let args = "train --height 6 --generations 50 --population 20 --games 5";
        let mut terminal = Terminal::open((80, lines), &format!("{args} --out '{}'", folder.display()), &[]);
        terminal.read_until("generation N of 50", |terminal| {
            let written = terminal.written();
            (1..50).any(|generation| written.contains(&format!("generation {generation} of 50")))
        });
        assert_eq!(terminal.written().contains('┤'), lines > 8, "{}", terminal.written());
        terminal.press("\x03");
        assert_eq!(terminal.end().1, Some(130));
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_narrow_terminal_shows_all_keys() {
    for (args, keys) in [
        (
            "watch bcts --paused",
            "space pause  left/right step  q quit\nup/down speed  n next game  e to the end\nhome/end first/last  pgup/pgdn 100 steps\ntab whose reasons\n",
        ),
        ("play", "left/right move  up turn  space drop\nh hint  u undo  n new  q quit\n"),
    ] {
        let mut terminal = Terminal::open((40, 32), args, &[]);
        terminal.wait_to_see(keys);
        terminal.press("q");
        assert_eq!(terminal.end().1, Some(0), "{args}");
    }
}

#[test]
fn what_was_played_is_a_recording() {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("played.json");
    let args = format!("play --rules lab --seed 3 --rows-per-second 0 --record '{}'", path.display());
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
    // A flag overrides the environment.
    for (args, environment) in
        [("play --seed 7", &[("NO_COLOR", "")][..]), ("play --palette color-blind", &[("NO_COLOR", "1")])]
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
