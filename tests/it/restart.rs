//! Servers that stop and start again with the same `--state` folder, as processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tetrion::wire::pb::environment_service_client::EnvironmentServiceClient;
use tonic::Code;

use crate::server::Process;
use crate::support::{config, create, refused, reset, step};

/// An empty folder for the sessions of a test.
fn folder(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("restart").join(test);
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn start(folder: &Path) -> Process {
    Process::start(&["--state", folder.to_str().unwrap()])
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
    assert!(refusal(&file).contains(file.to_str().unwrap()));
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
