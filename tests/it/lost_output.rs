//! The reader of the program's output has left, or the disk behind it is full: work goes on, and nothing panics.

use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use tetrion::cli::output::READER_LEFT;
use tetrion::trainer::run_folder::WEIGHTS;

use crate::evaluate::tetrion;
use crate::support::Command;

/// A pipe whose reader has left.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

/// A stdout that refuses every write, like a full disk.
#[cfg(target_os = "linux")]
fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").unwrap().into()
}

#[cfg(not(target_os = "linux"))]
use closed as full;

/// A command of each kind that prints a result, as short as it can be; each test has a folder of its own for its training
/// run.
fn commands(test: &str) -> Vec<Command> {
    let small = ["--height", "6", "--generations", "2", "--population", "4", "--games", "1"];
    let short = ["--check-games", "2", "--final-games", "2", "--max-pieces", "50"];
    let folder = folder(test);
    let _ = fs::remove_dir_all(&folder);
    let mut train = tetrion(&["train"]);
    train.args(small).args(short).arg("--out").arg(&folder);
    vec![
        tetrion(&["perft", "IO"]),
        tetrion(&["evaluate", "bcts", "--height", "5", "--games", "3"]),
        tetrion(&["bench", "--quick", "--only", "startup"]),
        train,
    ]
}

fn folder(test: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("lost_output").join(test)
}

#[track_caller]
fn check(command: &mut Command, code: i32) -> Output {
    let output = command.output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{command:?}: {stderr}");
    assert!(!stderr.contains("panicked"), "{command:?}: {stderr}");
    output
}

#[test]
fn without_stderr_every_command_prints_its_result() {
    for stderr in [closed, full] {
        for mut command in commands("stderr") {
            let output = check(command.stderr(stderr()), 0);
            assert!(!output.stdout.is_empty(), "{command:?}");
        }
    }
    check(tetrion(&["perft", "OX"]).stderr(closed()), 2);
}

#[test]
fn a_reader_that_leaves_ends_every_command_silently() {
    for mut command in commands("stdout") {
        let output = check(command.stdout(closed()), READER_LEFT.into());
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(!stderr.contains("error") && !stderr.contains("resume"), "{stderr}");
    }
    assert!(folder("stdout").join(WEIGHTS).exists());
    for mut command in commands("stdout") {
        check(command.stdout(closed()).stderr(closed()), READER_LEFT.into());
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_behind_stdout_is_an_error_that_says_so() {
    for mut command in commands("full") {
        let output = check(command.stdout(full()), 1);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains("cannot write to stdout: No space left on device"), "{stderr}");
        assert!(!stderr.contains("resume"), "the run is complete: {stderr}");
    }
}

fn serve() -> Command {
    let mut command = tetrion(&["serve", "--listen", "127.0.0.1:0", "--exit-on-stdin-eof", "--log", "debug"]);
    command.stdin(Stdio::piped());
    command
}

/// Calls of which each leaves lines in the log.
fn call(address: &str) {
    for _ in 0..3 {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}

#[test]
fn a_server_without_its_log_goes_on_serving() {
    for stderr in [closed, full] {
        let mut server = serve().stdout(Stdio::piped()).stderr(stderr()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        call(line.trim_end().strip_prefix("tetrion listening on ").unwrap());
        drop(server.stdin.take());
        assert!(server.wait().unwrap().success());
    }
}

#[test]
fn a_server_whose_line_cannot_be_written_serves_anyway() {
    for stdout in [closed, full] {
        let mut server = serve().stdout(stdout()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(server.stderr.take().unwrap()).lines().map(Result::unwrap);
        let listening = log.find(|line| line.contains("address=")).unwrap();
        let address = listening.split("address=").nth(1).unwrap().split_whitespace().next().unwrap();
        assert!(log.any(|line| line.contains("serving anyway")));
        call(address);
        drop(server.stdin.take());
        log.for_each(drop);
        assert!(server.wait().unwrap().success());
    }
    let mut server = serve().stdout(closed()).stderr(closed()).spawn().unwrap();
    drop(server.stdin.take());
    assert!(server.wait().unwrap().success());
}

#[test]
#[cfg(target_os = "linux")]
fn games_that_cannot_be_written_are_refused_before_play_or_still_summarised() {
    let evaluate = ["evaluate", "bcts", "--height", "5", "--games", "3", "--games-csv"];
    let refused = |path: &str| check(tetrion(&evaluate).arg(path), 1);
    for path in ["/no/such/folder/games.csv", "/"] {
        let output = refused(path);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.stdout.is_empty() && stderr.contains(&format!("cannot write {path}: ")), "{stderr}");
    }
    let output = refused("/dev/full");
    let (stdout, stderr) =
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(stdout.contains("mean lines"), "{stdout}");
    assert!(stderr.contains("cannot write /dev/full: No space left on device"), "{stderr}");

    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kept.csv");
    File::create(&path).unwrap().write_all(b"kept").unwrap();
    check(tetrion(&evaluate).arg(&path).args(["--rules", "chess"]), 2);
    assert_eq!(fs::read_to_string(&path).unwrap(), "kept", "a refusal changes nothing");
}
