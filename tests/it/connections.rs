//! What clients can make a server hold by connecting and calling: hostile clients over real sockets.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::pin::Pin;
use std::process::{Child, Stdio};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body::Frame;
use tetrion::protocol::pb;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::server::ServerConfig;
use tetrion::service::ServerLimits;
use tetrion::service::limits::LIMITS;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::{Interval, timeout};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::DropGuard;
use tonic::body::Body;
use tonic::codegen::http;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Status};
use tower::{Service, ServiceExt};

#[cfg(target_os = "linux")]
use crate::evaluate::tetrion;
use crate::support::Command;
use tetrion_service_testing::Client;
use tetrion_service_testing::servers::{connect, listen_with};
use tetrion_service_testing::slow::{announced, call};

/// How long a test watches a call that must not end.
const WATCHED: Duration = Duration::from_millis(300);
/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// A request that takes no work.
const INFO: pb::GetServerInfoRequest = pb::GetServerInfoRequest {};
/// A deadline short enough to wait for.
const SHORT: Duration = Duration::from_millis(200);

async fn start(limits: ServerLimits) -> (SocketAddr, DropGuard) {
    listen_with(ServerConfig { limits, num_threads: 1, ..ServerConfig::default() }).await
}

async fn client(address: SocketAddr) -> Client {
    EnvironmentServiceClient::new(connect(address).await)
}

/// Reads until the server closes the connection.
fn read_to_the_end(mut stream: &TcpStream) -> Vec<u8> {
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let (mut all, mut some) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut some) {
            Ok(0) => return all,
            Ok(read) => all.extend_from_slice(&some[..read]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return all,
            Err(error) => panic!("the connection is still open: {error}"),
        }
    }
}

#[tokio::test]
async fn connections_beyond_the_limit_are_closed_at_once() {
    let limits =
        ServerLimits { max_connections: 3, max_connections_per_address: Some(3), ..Default::default() };
    let (address, _guard) = start(limits).await;
    let mut open = Vec::new();
    for _ in 0..3 {
        let mut client = client(address).await;
        client.get_server_info(INFO).await.expect("within the limit");
        open.push(client);
    }
    let excess = TcpStream::connect(address).unwrap();
    let read = tokio::task::spawn_blocking(move || read_to_the_end(&excess)).await.unwrap();
    assert_eq!(read, b"");
    open[0].get_server_info(INFO).await.expect("the others go on");
    open.pop();
    let let_in = async {
        let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
        loop {
            if let Ok(channel) = endpoint.connect().await
                && EnvironmentServiceClient::new(channel).get_server_info(INFO).await.is_ok()
            {
                break;
            }
        }
    };
    timeout(PATIENCE, let_in).await.expect("the place of a connection that has ended");
}

/// A connection from this address of the loopback, every one of which is this machine's.
#[cfg(target_os = "linux")]
async fn connect_from(last: u8, port: u16) -> TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, last], 0).into()).unwrap();
    let stream = socket.connect(([127, 0, 0, 1], port).into()).await.unwrap().into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Whether the server answers on this connection, which then stays open.
#[cfg(target_os = "linux")]
fn is_served(mut stream: &TcpStream) -> bool {
    let mut begin = [0; 12];
    let _ = stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    stream.read_exact(&mut begin).is_ok() && &begin == b"HTTP/1.1 200"
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_connections_of_an_address_are_limited_and_leave_room_for_others() {
    // The system writes addresses of IPv4 as addresses of IPv6 here.
    let mut server = tetrion(&["serve", "--listen", "[::]:0", "--insecure"]);
    server.args(["--max-connections", "6", "--max-connections-per-address", "2"]);
    let server = crate::server::Process::spawn(server.stderr(Stdio::piped()));
    let port = server.address.port();
    let mut open = Vec::new();
    for last in [1, 2] {
        for _ in 0..2 {
            let stream = connect_from(last, port).await;
            assert!(is_served(&stream), "within the limit of 127.0.0.{last}");
            open.push(stream);
        }
        assert_eq!(read_to_the_end(&connect_from(last, port).await), b"", "the third of 127.0.0.{last}");
    }
    let mut third = connect_from(3, port).await;
    third.write_all(b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n").unwrap();
    let metrics = String::from_utf8(read_to_the_end(&third)).unwrap();
    let refused = "tetrion_connections_refused_total{reason=\"address_limit\"} 2\n";
    assert!(metrics.contains(refused), "{metrics}");
    // The place of a connection that has ended.
    drop(open.remove(0));
    let start = Instant::now();
    while !is_served(&connect_from(1, port).await) {
        assert!(start.elapsed() < PATIENCE, "the place does not come back");
    }
}

#[tokio::test]
async fn calls_beyond_the_limit_of_a_connection_wait_in_the_client() {
    let limits = ServerLimits { max_calls_per_connection: 3, ..Default::default() };
    let (address, _guard) = start(limits).await;
    let channel = connect(address).await;
    // The client learns the limit with the first answer.
    EnvironmentServiceClient::new(channel.clone()).get_server_info(INFO).await.unwrap();
    let (mut calls, mut open) = (JoinSet::new(), Vec::new());
    for _ in 0..3 {
        let (end, answer) = call(&channel, "GetServerInfo", &[announced(false, 0, 0)]);
        open.push(end);
        calls.spawn(answer);
    }
    assert!(timeout(WATCHED, calls.join_next()).await.is_err(), "three have places");
    let mut fourth = EnvironmentServiceClient::new(channel.clone());
    let mut fourth = std::pin::pin!(fourth.get_server_info(INFO));
    assert!(timeout(WATCHED, fourth.as_mut()).await.is_err(), "three are in progress");
    client(address).await.get_server_info(INFO).await.expect("a call on another connection");
    open.pop().unwrap().send(()).unwrap();
    timeout(PATIENCE, fourth).await.expect("the place of the one that has ended").unwrap();
    drop(open);
    while let Some(code) = timeout(PATIENCE, calls.join_next()).await.expect("an end of each") {
        assert_eq!(code.unwrap(), Code::Ok);
    }
}

#[tokio::test]
async fn begun_calls_have_limited_places_and_end() {
    let request_timeout = Duration::from_secs(2);
    let (address, _guard) =
        start(ServerLimits { max_calls: 10, request_timeout, ..Default::default() }).await;
    let mut other = client(address).await;
    let hostile = connect(address).await;
    let (mut calls, mut open) = (JoinSet::new(), Vec::new());
    let mut begin = |calls: &mut JoinSet<Code>| {
        let (end, answer) = call(&hostile, "RestoreState", &[announced(false, 1000, 10)]);
        open.push(end);
        calls.spawn(answer);
    };
    // Eight are its own; of the ten for all, it takes no more than it leaves.
    (0..20).for_each(|_| begin(&mut calls));
    for _ in 13..20 {
        let code = timeout(PATIENCE, calls.join_next()).await.expect("it leaves as many places as it takes");
        assert_eq!(code.unwrap().unwrap(), Code::ResourceExhausted);
    }
    assert!(timeout(WATCHED, calls.join_next()).await.is_err(), "thirteen have places");
    other.get_server_info(INFO).await.expect("a place for another connection");
    while let Some(code) = timeout(PATIENCE, calls.join_next()).await.expect("an end of each") {
        assert_eq!(code.unwrap(), Code::DeadlineExceeded);
    }
    other.get_server_info(INFO).await.expect("a place that was given back");
}

#[tokio::test]
async fn requests_have_limited_room_in_all() {
    let (address, _guard) = start(ServerLimits { request_memory: 192 << 20, ..Default::default() }).await;
    let (mut calls, mut open) = (JoinSet::new(), Vec::new());
    let mut announce = async |bytes: u32| {
        let (end, answer) = call(&connect(address).await, "RestoreState", &[announced(false, bytes, 10)]);
        open.push(end);
        calls.spawn(answer);
        timeout(WATCHED, calls.join_next()).await.ok().map(|code| code.unwrap().unwrap())
    };
    assert_eq!(announce(64 << 20).await, None);
    assert_eq!(announce((64 << 20) + 1).await, Some(Code::ResourceExhausted), "too long for any");
    assert_eq!(announce(64 << 20).await, None);
    assert_eq!(announce(64 << 20).await, Some(Code::ResourceExhausted));
    assert_eq!(announce(1 << 20).await, None, "there is room for those that want little");
    calls.shutdown().await;
    let mut other = client(address).await;
    let given_back = async {
        while other.get_catalog(pb::GetCatalogRequest { width: 10 }).await.is_err() {
            tokio::task::yield_now().await;
        }
    };
    timeout(PATIENCE, given_back).await.expect("the room of calls that have been left");
}

/// A message that comes in parts, one every 20 ms.
struct Trickle {
    prefix: Option<Bytes>,
    interval: Interval,
    left: usize,
    at_a_time: usize,
}

impl http_body::Body for Trickle {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if let Some(prefix) = self.prefix.take() {
            return Poll::Ready(Some(Ok(Frame::data(prefix))));
        }
        if self.left == 0 {
            return Poll::Ready(None);
        }
        ready!(self.interval.poll_tick(cx));
        let here = self.left.min(self.at_a_time);
        self.left -= here;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![0xff; here])))))
    }
}

/// The code of a RestoreState whose message of this many bytes comes in parts of this many.
async fn trickled(channel: &Channel, bytes: u32, at_a_time: usize) -> Code {
    let body = Body::new(Trickle {
        prefix: Some(announced(false, bytes, 0)),
        interval: tokio::time::interval(Duration::from_millis(20)),
        left: bytes as usize,
        at_a_time,
    });
    let request = http::Request::post("/tetrion.v1.EnvironmentService/RestoreState")
        .header("content-type", "application/grpc")
        .body(body)
        .unwrap();
    let response = channel.clone().ready().await.unwrap().call(request).await.unwrap();
    response.headers().get("grpc-status").map_or(Code::Ok, |code| Code::from_bytes(code.as_bytes()))
}

#[tokio::test]
async fn a_request_that_trickles_is_ended_and_one_that_is_only_large_is_not() {
    let (address, _guard) = start(ServerLimits { request_timeout: 3 * SHORT, ..Default::default() }).await;
    let channel = connect(address).await;
    let start = Instant::now();
    let trickled_in = timeout(PATIENCE, trickled(&channel, 1 << 20, 1)).await.expect("an end");
    assert_eq!(trickled_in, Code::DeadlineExceeded);
    assert!(start.elapsed() >= 3 * SHORT, "{:?}", start.elapsed());
    // Forty parts of 64 KiB take 800 ms.
    let start = Instant::now();
    assert_eq!(trickled(&channel, 40 << 16, 1 << 16).await, Code::InvalidArgument, "it was read");
    assert!(start.elapsed() > 3 * SHORT, "{:?}", start.elapsed());
}

#[tokio::test]
async fn a_connection_without_a_request_is_closed() {
    let (address, _guard) = start(ServerLimits { first_request_timeout: SHORT, ..Default::default() }).await;
    let beginnings: [&[u8]; 4] =
        [b"", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HT", b"GET / HTTP/1.1\r\nhost: lo"];
    for beginning in beginnings {
        let silent = TcpStream::connect(address).unwrap();
        (&silent).write_all(beginning).unwrap();
        tokio::task::spawn_blocking(move || read_to_the_end(&silent)).await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_without_a_call_is_closed_and_clients_connect_again() {
    let (address, _guard) = start(ServerLimits { idle_timeout: SHORT, ..Default::default() }).await;
    let mut client = client(address).await;
    for _ in 0..2 {
        client.get_server_info(INFO).await.expect("on a new connection");
        // Once the server has closed a later connection, that of the client has been idle for too long as well. A call at the
        // very moment in which it is closed may fail, so some time more goes by.
        let idle = TcpStream::connect(address).unwrap();
        (&idle).write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
        let answer = tokio::task::spawn_blocking(move || read_to_the_end(&idle)).await.unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
        tokio::time::sleep(SHORT).await;
    }
}

#[tokio::test]
async fn a_connection_that_leaves_an_answer_unread_is_closed() {
    let limits = ServerLimits { answer_timeout: SHORT, idle_timeout: SHORT, ..Default::default() };
    let (address, _guard) = start(limits).await;
    let endpoint = Endpoint::from_shared(format!("http://{address}")).unwrap();
    let closed_window = endpoint.initial_stream_window_size(0).connect().await.unwrap();
    let mut hostile = EnvironmentServiceClient::new(closed_window);
    let info = hostile.get_server_info(INFO);
    timeout(PATIENCE, info).await.expect("the end of the connection").unwrap_err();
    // A client that reads stays connected, however long its call lasts.
    let mut patient = client(address).await;
    let (requests, receiver) = mpsc::channel(1);
    let mut stream = patient.step_stream(ReceiverStream::new(receiver)).await.unwrap().into_inner();
    for _ in 0..2 {
        assert!(timeout(2 * SHORT, stream.message()).await.is_err(), "there is nothing to say");
        requests.send(pb::StepStreamRequest::default()).await.unwrap();
        stream.message().await.unwrap().expect("an answer");
    }
}

/// A server as a process, started by a shell after these commands, with these flags.
struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start(commands: &str, flags: &[&str]) -> Process {
        let program = env!("CARGO_BIN_EXE_tetrion");
        let mut child = Command::new("sh")
            .args(["-c", &format!("{commands} exec {program} serve --listen 127.0.0.1:0 \"$@\""), "sh"])
            .args(flags)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("tetrion listening on ").expect("its line");
        Process { address: address.parse().unwrap(), child }
    }

    /// Ends it, and returns what it has logged.
    fn end(mut self) -> String {
        self.child.kill().unwrap();
        let mut log = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut log).unwrap();
        log
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[tokio::test]
async fn limits_are_set_by_flag_by_environment_and_by_file() {
    let file = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("limits.toml");
    std::fs::write(
        &file,
        "[serve]\nmax-connections-per-address = 9\nmax-calls = 12\nanswer-memory = 300\nidle-timeout = 1.5\n",
    )
    .unwrap();
    let environment = "TETRION_SERVE_MAX_CONNECTIONS=34 TETRION_SERVE_MAX_CALLS=56";
    let flags = ["--config", file.to_str().unwrap(), "--session-memory", "78"];
    let log = Process::start(&format!("export {environment};"), &flags).end();
    // The environment comes before the file.
    for limit in [
        "max_connections=34",
        "max_calls=56",
        "max_connections_per_address=9",
        "answer_memory_mib=300",
        "session_memory_mib=78",
        "idle_timeout=1.5s",
    ] {
        assert!(log.split_whitespace().any(|word| word == limit), "{limit} is not in {log}");
    }
    for limit in &LIMITS {
        let names = [format!(" {}=", limit.name), format!(" {}_mib=", limit.name)];
        assert!(names.iter().any(|name| log.contains(name)), "{} is not in {log}", limit.name);
    }
}

#[test]
fn limits_that_would_serve_no_client_are_refused() {
    for flags in [
        ["--max-connections", "0"],
        ["--max-connections-per-address", "0"],
        ["--max-calls", "0"],
        ["--max-calls-per-connection", "0"],
        ["--request-memory", "31"],
        ["--answer-memory", "31"],
        ["--session-memory", "0"],
        ["--first-request-timeout", "0"],
        ["--idle-timeout", "0.09"],
        ["--answer-timeout", "nan"],
    ] {
        let program = env!("CARGO_BIN_EXE_tetrion");
        let output = Command::new(program).args(["serve", "--listen", "127.0.0.1:0"]).args(flags).output();
        let output = output.unwrap();
        assert_eq!(output.status.code(), Some(2), "{flags:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains(flags[0]) && said.contains(flags[1]), "{said}");
    }
}

#[test]
fn a_tls_handshake_that_does_not_go_on_is_ended() {
    let file = |name: &str| format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let (cert, key) = (file("cert.pem"), file("key.pem"));
    let flags = ["--tls-cert", &cert, "--tls-key", &key, "--first-request-timeout", "0.2"];
    let process = Process::start("", &flags);
    // Nothing; a part of a record's head; the head of a ClientHello and no more.
    for beginning in [&b""[..], b"\x16\x03", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"] {
        let silent = TcpStream::connect(process.address).unwrap();
        (&silent).write_all(beginning).unwrap();
        assert_eq!(read_to_the_end(&silent), b"", "{beginning:?}");
    }
    let log = process.end();
    assert_eq!(log.matches("connection closed").count(), 3, "{log}");
}

/// Whether the server has closed this connection. Does not wait.
fn is_closed(mut connection: &TcpStream) -> bool {
    let open = |error: &std::io::Error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut);
    !connection.read(&mut [0; 1]).is_err_and(|error| open(&error))
}

#[test]
fn without_descriptors_connections_are_closed_and_the_log_says_so() {
    let process = Process::start("ulimit -n 40;", &[]);
    let connections: Vec<TcpStream> =
        (0..100).map(|_| TcpStream::connect(process.address).unwrap()).collect();
    for connection in &connections {
        connection.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    }
    // Some are open; the server closes all that have no descriptor in the end.
    let start = Instant::now();
    let mut closed = vec![false; connections.len()];
    while closed.iter().filter(|closed| **closed).count() < 60 {
        assert!(start.elapsed() < PATIENCE, "{closed:?}");
        for (connection, closed) in connections.iter().zip(&mut closed).filter(|(_, closed)| !**closed) {
            *closed = is_closed(connection);
        }
    }
    drop(connections);
    // It serves again.
    let mut answer = String::new();
    while !answer.starts_with("HTTP/1.1 200") {
        assert!(start.elapsed() < PATIENCE, "{answer:?}");
        answer.clear();
        let mut stream = TcpStream::connect(process.address).unwrap();
        let _ = stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        let _ = stream.read_to_string(&mut answer);
    }
    let log = process.end();
    let lines = log.lines().filter(|line| line.contains("connections refused")).count();
    assert!((1..=20).contains(&lines), "{lines} lines:\n{log}");
    assert!(log.contains("no_descriptors"), "{log}");
}
