//! Servers that stop and start again with the same `--state` folder, as processes.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tonic::Code;

use crate::evaluate::tetrion;
use crate::server::Process;
use crate::support::Command;
use tetrion_service_testing::{config, create, refused, reset, step};

/// An empty folder for the sessions of a test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("restart").join(test);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn start(folder: &Path) -> Process {
    // The client of a test does not close its connection while the test waits.
    Process::start(&["--state", folder.to_str().unwrap(), "--drain-timeout", "1"])
}

fn stop(server: Process) {
    server.terminate();
    let (status, _, _) = server.wait();
    assert!(status.success(), "{status}");
}

/// What a server that cannot start says.
fn refusal(folder: &Path) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_tetrion"))
        .args(["serve", "--listen", "127.0.0.1:0", "--state", folder.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn a_session_goes_on_with_the_next_server_and_with_that_one_only() {
    let folder = folder("goes_on");
    let first = start(&folder);
    let mut client = EnvironmentServiceClient::new(first.channel().await);
    let session = create(&mut client, config(2, 5)).await.name;
    let twin = create(&mut client, config(2, 5)).await.name;
    for session in [&session, &twin] {
        client.reset(reset(session)).await.unwrap();
    }
    let expected = client.step(step(&twin, &[1, 2])).await.unwrap().into_inner();
    stop(first);

    let second = start(&folder);
    let mut client = EnvironmentServiceClient::new(second.channel().await);
    assert_eq!(client.step(step(&session, &[1, 2])).await.unwrap().into_inner(), expected);
    assert!(!folder.join("sessions").exists(), "what has changed since must not be taken up again");
    drop(second); // killed

    let third = start(&folder);
    let mut client = EnvironmentServiceClient::new(third.channel().await);
    refused(client.step(step(&session, &[1, 2])).await, Code::NotFound, "SESSION_NOT_FOUND");
    stop(third);
    stop(start(&folder));
}

/// Which signals end the server, while a call is open that never ends: with the second one, the server writes its sessions.
#[cfg(unix)]
#[tokio::test]
async fn a_second_signal_drops_open_calls_and_keeps_the_sessions() {
    for signal in ["TERM", "INT", "HUP", "QUIT"] {
        let folder = folder(&format!("second_{signal}"));
        let mut command = tetrion(&["serve", "--listen", "127.0.0.1:0", "--state", folder.to_str().unwrap()]);
        let mut first = Process::spawn(command.args(["--drain-timeout", "3600"]).stderr(Stdio::piped()));
        let mut log = BufReader::new(first.child.stderr.take().unwrap()).lines();
        let mut wait_for = |text: &str| {
            assert!(log.any(|line| line.unwrap().contains(text)), "no {text:?} after {signal}");
        };
        let name = create(&mut EnvironmentServiceClient::new(first.channel().await), config(1, 5)).await.name;
        let _call = first.endless_call();
        first.signal(signal);
        wait_for("draining");
        first.signal(signal);
        wait_for("open calls are dropped");
        let (status, took, _) = first.wait();
        assert!(status.success() && took < Duration::from_secs(60), "{signal}: {status} after {took:?}");

        let second = start(&folder);
        let mut client = EnvironmentServiceClient::new(second.channel().await);
        client.reset(reset(&name)).await.unwrap();
    }
}

/// Tests that send signals end under `nohup`, and in the background of a script.
#[cfg(target_os = "linux")]
#[test]
fn programs_have_the_signals_that_the_tests_ignore() {
    let this = std::env::current_exe().unwrap();
    let output = Command::new("sh")
        .args(["-c", "trap '' HUP INT QUIT TERM; exec \"$@\"", "sh"])
        .arg(this)
        .args(["--exact", "restart::a_second_signal_drops_open_calls_and_keeps_the_sessions"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && said.contains("1 passed"), "{said}");
}

/// A server under `nohup` goes on when its terminal closes.
#[cfg(unix)]
#[test]
fn a_server_that_was_started_to_ignore_the_end_of_its_terminal_goes_on() {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' HUP; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_tetrion")]);
    let mut server =
        Process::spawn(command.args(["serve", "--listen", "127.0.0.1:0"]).stderr(Stdio::piped()));
    let mut stderr = server.child.stderr.take().unwrap();
    let call = server.endless_call();
    server.signal("HUP");
    server.get("/");
    server.terminate();
    drop(call);
    let mut log = String::new();
    stderr.read_to_string(&mut log).unwrap();
    assert!(server.wait().0.success());
    assert!(log.contains("asked to stop") && !log.contains("asked again"), "{log}");
}

#[tokio::test]
async fn what_cannot_be_taken_up_is_kept_for_a_person() {
    let folder = folder("kept");
    let first = start(&folder);
    let mut client = EnvironmentServiceClient::new(first.channel().await);
    let whole = create(&mut client, config(1, 5)).await.name;
    create(&mut client, config(1, 6)).await;
    stop(first);
    let file = fs::read(folder.join("sessions")).unwrap();
    fs::write(folder.join("sessions"), &file[..file.len() - 20]).unwrap();

    let second = start(&folder);
    let mut client = EnvironmentServiceClient::new(second.channel().await);
    client.reset(reset(&whole)).await.unwrap();
    assert_eq!(fs::read(folder.join("sessions.left")).unwrap(), file[..file.len() - 20]);
    stop(second);
    assert!(folder.join("sessions").exists());
}

#[cfg(unix)]
#[test]
fn only_the_owner_may_read_what_opens_sessions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("owner");
    stop(start(&folder));
    for (path, mode) in [(folder.clone(), 0o700), (folder.join("sessions"), 0o600)] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    }
}

#[test]
fn a_folder_that_cannot_be_used_is_named() {
    let used = folder("used");
    let server = start(&used);
    let problem = refusal(&used);
    assert!(problem.contains(used.to_str().unwrap()) && problem.contains("another server"), "{problem}");
    stop(server);
    let file = folder("file");
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, "").unwrap();
    let problem = refusal(&file);
    assert!(
        problem.contains(file.to_str().unwrap()) && problem.ends_with(": not a directory\n"),
        "{problem}"
    );
    fs::remove_file(&file).unwrap();
}

#[test]
fn a_server_that_cannot_write_its_sessions_says_so() {
    let folder = folder("unwritable");
    let server = start(&folder);
    fs::create_dir(folder.join("sessions.new")).unwrap();
    server.terminate();
    let (status, _, _) = server.wait();
    assert_eq!(status.code(), Some(1));
    assert!(!folder.join("sessions").exists());
    fs::remove_dir(folder.join("sessions.new")).unwrap();
    // A server that was killed while it wrote has left this much.
    fs::write(folder.join("sessions.new"), b"TTRNSESS").unwrap();
    stop(start(&folder));
    assert!(!folder.join("sessions.new").exists());
}

/// Runs a command of a shell.
#[cfg(unix)]
fn shell(command: &str, argument: &Path) {
    let status = Command::new("sh").args(["-c", command, "sh"]).arg(argument).status().unwrap();
    assert!(status.success(), "{command}: {status}");
}

#[tokio::test]
async fn no_file_that_was_kept_for_a_person_is_replaced() {
    let folder = folder("kept_twice");
    fs::create_dir_all(&folder).unwrap();
    let damaged = ["first", "second", "third"];
    for file in damaged {
        fs::write(folder.join("sessions"), file).unwrap();
        stop(start(&folder));
    }
    for (name, file) in ["sessions.left", "sessions.left.2", "sessions.left.3"].iter().zip(damaged) {
        assert_eq!(fs::read_to_string(folder.join(name)).unwrap(), file, "{name}");
    }
}

/// A pipe that nothing writes to could hold up the start for ever.
#[cfg(unix)]
#[test]
fn pipes_in_the_folder_are_refused_or_passed_over() {
    for file in ["sessions", "lock"] {
        let folder = folder(&format!("pipe_{file}"));
        fs::create_dir_all(&folder).unwrap();
        shell("mkfifo \"$1\"", &folder.join(file));
        let problem = refusal(&folder);
        assert!(problem.contains(folder.join(file).to_str().unwrap()), "{problem}");
    }
    for file in ["sessions.new", "sessions.reserve", "sessions.left"] {
        let folder = folder(&format!("pipe_{file}"));
        fs::create_dir_all(&folder).unwrap();
        shell("mkfifo \"$1\"", &folder.join(file));
        stop(start(&folder));
        assert!(folder.join("sessions").is_file(), "{file}");
    }
}

/// Files of at most 64 KiB, or half of that where the shell counts in smaller blocks.
#[cfg(unix)]
#[tokio::test]
async fn sessions_for_which_there_is_no_room_are_counted_and_the_others_go_on() {
    let folder = folder("full");
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -f 64; exec \"$@\"", "sh", env!("CARGO_BIN_EXE_tetrion")]);
    command.args(["serve", "--listen", "127.0.0.1:0", "--state", folder.to_str().unwrap()]);
    let server = Process::spawn(command.stderr(Stdio::piped()));
    let mut client = EnvironmentServiceClient::new(server.channel().await);
    let mut sessions = Vec::new();
    for num_envs in [3, 1000, 1, 1000, 2] {
        let name = create(&mut client, config(num_envs, 5)).await.name;
        client.reset(reset(&name)).await.unwrap();
        sessions.push((name, num_envs));
    }
    let mut server = server;
    let mut stderr = server.child.stderr.take().unwrap();
    server.terminate();
    let mut said = String::new();
    stderr.read_to_string(&mut said).unwrap();
    let (status, _, _) = server.wait();
    assert_eq!(status.code(), Some(1), "{said}");
    assert!(said.contains("2 of 5 sessions could not be written: File too large"), "{said}");
    let warning = said.lines().find(|line| line.contains("little room for the sessions"));
    let warning = warning.unwrap_or_else(|| panic!("{said}"));
    assert!(warning.contains("WARN") && warning.contains("most_mib=960"), "{warning}");
    assert!(said.find("little room") < said.find("asked to stop"), "{said}");

    let next = start(&folder);
    let mut client = EnvironmentServiceClient::new(next.channel().await);
    for (name, num_envs) in &sessions {
        let answer = client.reset(reset(name)).await;
        if *num_envs < 1000 {
            answer.unwrap();
        } else {
            refused(answer, Code::NotFound, "SESSION_NOT_FOUND");
        }
    }
    assert!(!folder.join("sessions.left").exists(), "what could be written is a whole file");
    stop(next);
}

/// The room is taken before the disk fills up.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn room_for_the_sessions_is_kept() {
    let folder = folder("reserve");
    let server = start(&folder);
    let mut client = EnvironmentServiceClient::new(server.channel().await);
    let name = create(&mut client, config(5000, 5)).await.name;
    client.reset(reset(&name)).await.unwrap();
    let reserve = || fs::metadata(folder.join("sessions.reserve")).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    while reserve().len() < 1 << 20 {
        assert!(Instant::now() < deadline, "{} bytes are reserved", reserve().len());
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let reserved = reserve().len();
    stop(server);
    let written = fs::metadata(folder.join("sessions")).unwrap().len();
    assert!(written <= reserved && written > 500_000, "{written} bytes, {reserved} reserved");
    assert!(!folder.join("sessions.reserve").exists());
}
