//! A server that tells the program that started it when it serves and when it stops, as systemd wants to know.

#![cfg(unix)]

use std::ffi::OsStr;
use std::net::TcpStream;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::evaluate::tetrion;
use crate::server::Process;

/// Room for a path that is short enough for a socket.
fn path(test: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("tetrion-{}-{test}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

/// Waits for the next datagram on the socket.
#[track_caller]
fn told(socket: &UnixDatagram) -> String {
    let mut bytes = [0; 100];
    let length = socket.recv(&mut bytes).expect("a datagram in time");
    String::from_utf8(bytes[..length].to_vec()).unwrap()
}

fn start(socket: &OsStr) -> Process {
    Process::spawn(tetrion(&["serve", "--listen", "127.0.0.1:0"]).env("NOTIFY_SOCKET", socket))
}

#[track_caller]
fn check_course(socket: &UnixDatagram, name: &OsStr) {
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let server = start(name);
    assert_eq!(told(socket), "READY=1");
    TcpStream::connect(server.address).unwrap();
    server.terminate();
    assert_eq!(told(socket), "STOPPING=1");
    let (status, _, _) = server.wait();
    assert!(status.success(), "{status}");
    socket.set_nonblocking(true).unwrap();
    assert!(socket.recv(&mut [0; 100]).is_err(), "it says each of them once");
}

#[test]
fn a_server_says_when_it_serves_and_when_it_stops() {
    let path = path("course");
    let socket = UnixDatagram::bind(&path).unwrap();
    check_course(&socket, path.as_os_str());
    std::fs::remove_file(path).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn the_socket_may_have_an_abstract_name() {
    use std::os::linux::net::SocketAddrExt;
    let name = format!("tetrion-{}", std::process::id());
    let address = std::os::unix::net::SocketAddr::from_abstract_name(&name).unwrap();
    let socket = UnixDatagram::bind_addr(&address).unwrap();
    check_course(&socket, OsStr::new(&format!("@{name}")));
}

#[test]
fn a_server_that_cannot_start_never_says_that_it_serves() {
    let path = path("refused");
    let socket = UnixDatagram::bind(&path).unwrap();
    let mut command = tetrion(&["serve", "--listen", "127.0.0.1:0", "--tokens", "no such file"]);
    assert_eq!(command.env("NOTIFY_SOCKET", &path).output().unwrap().status.code(), Some(1));
    socket.set_nonblocking(true).unwrap();
    assert!(socket.recv(&mut [0; 100]).is_err());
    std::fs::remove_file(path).unwrap();
}

#[test]
fn a_socket_that_leads_nowhere_stops_no_server() {
    for socket in ["", "@", "/no/such/socket", "relative", &"long".repeat(100)] {
        let server = start(Path::new(socket).as_os_str());
        server.terminate();
        assert!(server.wait().0.success(), "{socket:?}");
    }
}
