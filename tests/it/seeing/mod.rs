//! What an operator sees of a server: its metrics, its log, its traces.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::thread::JoinHandle;

use serde_json::Value;
use tetrion::protocol::pb;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonic_types::StatusExt;

use crate::evaluate::tetrion;
use crate::support::Command;
use tetrion_service_testing::Client;

mod departures;
mod metrics;
mod requests;
mod traces;

/// A running `tetrion serve` whose log is read.
struct Process {
    child: Child,
    address: SocketAddr,
    log: Option<JoinHandle<Vec<String>>>,
}

impl Process {
    fn start(flags: &[&str]) -> Process {
        let mut child = tetrion(&["serve", "--listen", "127.0.0.1:0", "--log-format", "json"])
            .args(flags)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let log = std::thread::spawn(move || log.lines().map(Result::unwrap).collect());
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("tetrion listening on ").unwrap().parse().unwrap();
        Process { child, address, log: Some(log) }
    }

    async fn channel(&self) -> Channel {
        Channel::from_shared(format!("http://{}", self.address)).unwrap().connect().await.unwrap()
    }

    async fn client(&self) -> Client {
        EnvironmentServiceClient::new(self.channel().await)
    }

    fn http(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    /// The metrics as Prometheus reads them.
    fn metrics(&self) -> String {
        let answer = self.http("GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    fn terminate(&self) {
        let killed = Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status();
        assert!(killed.unwrap().success());
    }

    /// Asks the process to stop, waits for that, and returns its log line by line.
    fn stop(mut self) -> Vec<Value> {
        self.terminate();
        assert!(self.child.wait().unwrap().success());
        let lines = self.log.take().unwrap().join().unwrap();
        lines.iter().map(|line| serde_json::from_str(line).expect(line)).collect()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A request under an id.
fn under<T>(id: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("x-request-id", id.parse().unwrap());
    request
}

/// A call that is refused.
fn missing() -> pb::GetSessionRequest {
    pb::GetSessionRequest { name: NO_SESSION.to_owned() }
}

/// A name that could open a session.
const NO_SESSION: &str = "sessions/0123456789abcdef0123456789abcdef";

/// The id that an error shows.
#[track_caller]
fn request_id(status: &Status) -> String {
    status.get_details_request_info().unwrap_or_else(|| panic!("no RequestInfo in {status:?}")).request_id
}
