//! The whole program on a terminal that closes: it draws, obeys keys and restores the terminal.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Child;

use rustix::fs::OFlags;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tetrion::client::Features;

use crate::evaluate::tetrion;
use crate::run_folder::bcts_like;
use crate::support::Command;

/// Opens and closes the screen of its own that a program draws on; shows the cursor again.
const OPENED: &str = "\x1b[?1049h";
const CLOSED: &str = "\x1b[?1049l";
const CURSOR_SHOWN: &str = "\x1b[?25h";

/// A program on a terminal, which closes when this value is dropped.
pub struct Terminal {
    program: Program,
    /// The side of the window.
    window: File,
    written: Vec<u8>,
    screen: vt100::Parser,
}

/// A process that ends with this value.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Terminal {
    /// Starts the program on a terminal of this many columns and lines.
    pub fn open(size: (u16, u16), args: &str, environment: &[(&str, &str)]) -> Terminal {
        Terminal::start(size, &format!("exec '{}' {args}", env!("CARGO_BIN_EXE_tetrion")), environment)
    }

    /// Starts a line of a shell on a terminal.
    fn start(size: (u16, u16), line: &str, environment: &[(&str, &str)]) -> Terminal {
        let window = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&window).unwrap();
        unlockpt(&window).unwrap();
        set_size(window.as_fd(), size);
        let name = ptsname(&window, Vec::new()).unwrap().into_string().unwrap();
        let no_control = OFlags::NOCTTY.bits() as i32;
        let terminal = OpenOptions::new().read(true).write(true).custom_flags(no_control).open(name).unwrap();
        let program = Command::new("setsid")
            .args(["--ctty", "bash", "-c", line])
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .envs(environment.iter().copied())
            .stdin(terminal.try_clone().unwrap())
            .stdout(terminal.try_clone().unwrap())
            .stderr(terminal)
            .spawn()
            .unwrap();
        // Some tests have the largest terminal that there can be.
        let screen = vt100::Parser::new(size.1.min(500), size.0.min(1_000), 0);
        Terminal { program: Program(program), window: window.into(), written: Vec::new(), screen }
    }

    /// Changes the number of columns and lines.
    fn resize(&mut self, (columns, lines): (u16, u16)) {
        set_size(self.window.as_fd(), (columns, lines));
        self.screen.screen_mut().set_size(lines, columns);
    }

    /// What the program has written so far.
    pub fn written(&self) -> String {
        String::from_utf8_lossy(&self.written).into_owned()
    }

    /// Reads some of what the program writes; false once it has ended.
    fn read(&mut self) -> bool {
        let mut some = [0; 4096];
        // After the program has ended, reading fails.
        let len = self.window.read(&mut some).unwrap_or(0);
        self.written.extend(&some[..len]);
        self.screen.process(&some[..len]);
        len > 0
    }

    /// Reads until a condition holds for what was written.
    #[track_caller]
    fn read_until(&mut self, what: &str, holds: impl Fn(&Terminal) -> bool) {
        while !holds(self) {
            assert!(self.read(), "it ended without {what:?}: {}", self.written());
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

    /// The lines of the screen as they are now, without the blanks at their ends.
    pub fn screen(&self) -> String {
        let screen = self.screen.screen();
        screen.rows(0, screen.size().1).map(|line| line.trim_end().to_owned() + "\n").collect()
    }

    /// Types the bytes that a keyboard would send for these keys.
    pub fn press(&mut self, keys: &str) {
        self.window.write_all(keys.as_bytes()).unwrap();
    }

    /// Sends a signal such as TERM to the program.
    pub fn signal(&self, name: &str) {
        let process = self.program.0.id().to_string();
        assert!(Command::new("kill").args([&format!("-{name}"), &process]).status().unwrap().success());
    }

    /// Waits for the end. Returns what the program wrote, and its exit code.
    pub fn end(mut self) -> (String, Option<i32>) {
        while self.read() {}
        (self.written(), self.program.0.wait().unwrap().code())
    }

    /// Closes the window, and waits for the program's exit code.
    fn close(self) -> Option<i32> {
        let Terminal { mut program, window, .. } = self;
        drop(window);
        program.0.wait().unwrap().code()
    }
}

fn set_size(window: BorrowedFd<'_>, (columns, lines): (u16, u16)) {
    tcsetwinsize(window, Winsize { ws_col: columns, ws_row: lines, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
}

/// A file or folder for a test, which does not exist.
fn fresh(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_file(&path);
    let _ = std::fs::remove_dir_all(&path);
    path
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

/// Under `nohup` no signal says that the window has closed.
#[test]
fn a_window_that_is_closed_leaves_a_recording() {
    for ignored in ["", "env --ignore-signal=HUP"] {
        for (args, shown) in [("play --rules lab --rows-per-second 0", "you"), ("watch dt-10", "dt-10")] {
            let path = fresh("closed.json");
            let program = env!("CARGO_BIN_EXE_tetrion");
            let line = format!("exec {ignored} '{program}' {args} --record '{}'", path.display());
            let mut terminal = Terminal::start((80, 24), &line, &[]);
            terminal.wait_to_see("q quit");
            assert!(terminal.screen().contains(shown));
            assert_eq!(terminal.close(), Some(129), "{ignored} {args}");
            let replayed = tetrion(&["replay", path.to_str().unwrap()]).output().unwrap();
            assert!(replayed.status.success(), "{args}: {replayed:?}");
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// The shell of a closed window repeats the signal of the system.
#[test]
fn a_second_hangup_loses_no_recording() {
    let path = fresh("hung-up-twice.json");
    let mut terminal = Terminal::open((80, 24), &format!("play --record '{}'", path.display()), &[]);
    terminal.wait_to_see("q quit");
    terminal.signal("HUP");
    terminal.signal("HUP");
    let (written, code) = terminal.end();
    assert_eq!(code, Some(129), "{written:?}");
    std::fs::remove_file(path).unwrap();
}

#[test]
fn ctrl_z_gives_the_terminal_to_the_shell_and_fg_takes_it_back() {
    for (args, seen) in [("play --rules lab --rows-per-second 0", "you"), ("watch dt-10 --paused", "dt-10")] {
        let program = env!("CARGO_BIN_EXE_tetrion");
        let line = format!("set -m; '{program}' {args}; echo state $?; stty -a; read; fg; exit $?");
        let mut terminal = Terminal::start((80, 24), &line, &[]);
        terminal.wait_to_see("q quit");
        terminal.press("\x1a");
        // Stopped by SIGTSTP, on the shell's screen, in the shell's mode.
        terminal.wait_to_see("state 148");
        terminal.wait_to_see(" icanon ");
        let written = terminal.written();
        assert!(written.contains(CLOSED) && written.contains(CURSOR_SHOWN), "{args}: {written:?}");
        assert!(!terminal.screen().contains("q quit"), "{args}: {}", terminal.screen());
        terminal.press("\n");
        terminal.wait_to_see("q quit");
        assert!(terminal.screen().contains(seen), "{args}: {}", terminal.screen());
        terminal.press("q");
        let (written, code) = terminal.end();
        afterwards(&written);
        assert_eq!(code, Some(0), "{args}: {written:?}");
    }
}

/// These would turn the piece, start a new game, take back a piece, leave, and drop the piece.
#[test]
fn combinations_do_nothing() {
    let recorded = |keys: &str| {
        let path = fresh("combinations.json");
        let args = format!("play --seed 7 --record '{}'", path.display());
        let (written, code) = typed(&args, &[], "q quit", &format!("{keys}q"));
        assert_eq!(code, Some(0), "{written:?}");
        let recording = std::fs::read_to_string(&path).unwrap();
        std::fs::remove_file(path).unwrap();
        recording
    };
    assert_eq!(recorded(" \x1b[1;5A\x1a\x0e\x15\x11\x1bq\x1bn\x1b \x1b[1;3D "), recorded("  "));
    assert_ne!(recorded("   "), recorded("  "));
}

/// What is left of a training that was stopped: its curve, its numbers, and how it goes on.
#[test]
fn ctrl_c_leaves_the_curve_and_how_to_resume() {
    let folder = fresh("interrupted");
    let args = "train --height 6 --generations 500 --population 20 --games 5";
    let mut terminal = Terminal::open((80, 40), &format!("{args} --out '{}'", folder.display()), &[]);
    // A generation's number may never be drawn: a fast machine plays several between two drawings.
    terminal.wait_to_see("best candidate");
    terminal.press("\x03");
    while terminal.read() {}
    let screen = terminal.screen();
    let resume = format!("tetrion train --resume {}", folder.display());
    let seen = screen.replace('\n', "");
    assert!(seen.contains(&resume) && screen.contains("; resume with:\n"), "{screen}");
    assert!(screen.contains('┤') && screen.contains("\nresult so far "), "{screen}");
    assert!(screen.contains("the run is in"), "{screen}");
    assert_eq!(terminal.end().1, Some(130));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A terminal breaks the lines of the curve when it becomes narrower.
#[test]
fn a_training_is_drawn_again_on_a_terminal_of_another_size() {
    let folder = fresh("resized");
    let args = "train --height 6 --generations 5000 --population 20 --games 5";
    let mut terminal = Terminal::open((100, 40), &format!("{args} --out '{}'", folder.display()), &[]);
    terminal.wait_to_see("best candidate");
    for size in [(60, 40), (90, 30), (50, 24)] {
        terminal.resize(size);
        terminal.read_until("one curve", |terminal| {
            let screen = terminal.screen();
            let once = |text| screen.matches(text).count() == 1;
            let axis = screen.lines().find(|line| line.contains('└')).unwrap_or_default();
            let width = usize::from(size.0 - 1).min(76);
            once(" of 5000") && once("└") && once("best candidate") && axis.chars().count() == width
        });
    }
    terminal.press("\x03");
    assert_eq!(terminal.end().1, Some(130));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// No number is cut, and no table is wider than the terminal.
#[test]
fn lines_are_broken_between_words() {
    let folder = fresh("broken");
    let train = format!("train --height 6 --generations 2 --population 8 --out '{}'", folder.display());
    let formula = "-4*holes - 2*max_height + lines_cleared - landing_height/7";
    let evaluate = format!("evaluate dt-10 --formula='{formula}' --games 20 --max-pieces 100");
    for (args, words) in [
        (train.as_str(), &["over 1,000 fresh games", "95 % interval"][..]),
        (evaluate.as_str(), &[formula, "mean pieces", "pieces/s", "lines per game, with 95 % intervals"]),
        (&format!("{evaluate} --rules nes"), &[formula, "points per piece", "lines per piece"]),
        ("perft IOTS", &["88434", "pieces/s"]),
    ] {
        let mut terminal = Terminal::open((80, 60), args, &[]);
        while terminal.read() {}
        let screen = terminal.screen.screen();
        let wrapped = (0..60).filter(|line| screen.row_wrapped(*line)).count();
        let contents = screen.contents();
        // Commands are for copying: only the terminal breaks them.
        let commands =
            contents.lines().filter(|line| line.starts_with("tetrion ") && line.len() > 80).count();
        assert!(wrapped == 0 || commands > 0, "{contents}");
        let text = contents.split_whitespace().collect::<Vec<_>>().join(" ");
        words.iter().for_each(|words| assert!(text.contains(words), "{words:?} in {contents}"));
        assert_eq!(terminal.end().1, Some(0), "{args}: {contents}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_catalog_on_a_terminal_is_no_markdown() {
    let mut terminal = Terminal::open((80, 24), "catalog", &[]);
    while terminal.read() {}
    let written = terminal.written();
    assert!(!written.contains(['`', '|']) && !written.contains("](") && !written.contains("##"), "{written}");
    for text in ["\x1b[1mPresets\x1b[0m", "\r\nsimplified       10 x 20; simplified Tetris", "landing_height"]
    {
        assert!(written.contains(text), "{text:?} in {written}");
    }
    let width = |line: &str| line.replace("\x1b[1m", "").replace("\x1b[0m", "").chars().count();
    assert!(written.lines().all(|line| width(line) <= 80), "{written}");
    assert_eq!(terminal.end().1, Some(0));
}

#[test]
fn a_large_terminal_shows_large_cells_and_the_reasons() {
    let mut terminal = Terminal::open((200, 60), "watch dt-10 --paused", &[]);
    terminal.wait_to_see("q quit");
    let screen = terminal.screen();
    let lines: Vec<&str> = screen.lines().collect();
    assert!(lines[0].contains(&"─".repeat(30)) && lines[41].starts_with('└'), "{screen}");
    assert!(screen.contains("landing_height") && screen.contains("every placement"), "{screen}");
    terminal.press("q");
    assert_eq!(terminal.end().1, Some(0));
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
    weights.policy.features = Features::List(weights.feature_names.clone());
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
