//! The server as other programs start it: a process with a port, a line on stdout, and an end.

/// The server as browsers see it.
mod browsers;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tonic::Code;
use tonic::transport::{Certificate, Channel, ClientTlsConfig};
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;
use tonic_reflection::pb::v1::{ListServiceResponse, ServerReflectionRequest};
use tonic_types::StatusExt;

use crate::evaluate::tetrion;
use crate::support::Command;
use tetrion_service_testing::evaluations::endless;

/// A running `tetrion serve`, killed when a test is done with it.
pub struct Process {
    pub child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<std::process::ChildStdout>,
    /// Address that its line on stdout names.
    pub address: SocketAddr,
}

impl Process {
    /// Starts a server on a free port, with these flags, and waits for its line.
    pub fn start(flags: &[&str]) -> Process {
        Process::spawn(tetrion(&["serve", "--listen", "127.0.0.1:0"]).args(flags))
    }

    /// Starts a command that is a server, and waits for its line.
    pub fn spawn(command: &mut Command) -> Process {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let stdin = child.stdin.take();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        stdout.read_line(&mut line).unwrap();
        let address =
            line.strip_prefix("tetrion listening on ").unwrap_or_else(|| panic!("stdout says {line:?}"));
        let address = address.trim_end().parse().unwrap();
        Process { child, stdin, stdout, address }
    }

    /// Connects to the server without encryption.
    pub async fn channel(&self) -> Channel {
        Channel::from_shared(format!("http://{}", self.address)).unwrap().connect().await.unwrap()
    }

    pub fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends a signal such as TERM.
    pub fn signal(&self, name: &str) {
        let process = self.child.id().to_string();
        let killed = Command::new("kill").args([&format!("-{name}"), &process]).status().unwrap();
        assert!(killed.success());
    }

    /// Begins a call that never ends: a request that promises a message of 95 bytes and sends none of them. The call ends with
    /// the connection.
    pub fn endless_call(&self) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head = "POST /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/grpc-web\r\n\
                    content-length: 100\r\nexpect: 100-continue\r\n\r\n";
        stream.write_all(head.as_bytes()).unwrap();
        // The server answers this once the call waits for its message.
        let mut answer = [0; "HTTP/1.1 100 Continue\r\n\r\n".len()];
        stream.read_exact(&mut answer).unwrap();
        assert!(answer.starts_with(b"HTTP/1.1 100 "), "{answer:?}");
        stream.write_all(b"\0\0\0\0\x5f").unwrap();
        stream
    }

    /// Waits for the end; returns the status, how long it took, and what else was on stdout.
    pub fn wait(mut self) -> (ExitStatus, Duration, String) {
        let start = Instant::now();
        let mut rest = String::new();
        self.stdout.read_to_string(&mut rest).unwrap(); // ends with the process
        (self.child.wait().unwrap(), start.elapsed(), rest)
    }

    /// Sends a request of plain HTTP and reads the answer to its end.
    pub fn http(&self, request: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(request).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        answer
    }

    /// The answer to a GET.
    pub fn get(&self, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n");
        String::from_utf8(self.http(request.as_bytes())).unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

async fn health(channel: Channel, service: &str) -> Result<ServingStatus, Code> {
    let request = HealthCheckRequest { service: service.to_owned() };
    let answer = HealthClient::new(channel).check(request).await;
    answer.map(|answer| answer.into_inner().status()).map_err(|status| status.code())
}

#[tokio::test]
async fn it_says_where_it_listens_and_that_it_is_healthy() {
    let process = Process::start(&[]);
    assert!(process.address.ip().is_loopback());
    assert_ne!(process.address.port(), 0);
    let channel = process.channel().await;
    for service in ["", "tetrion.v1.EnvironmentService", "tetrion.v1.EvaluationService"] {
        assert_eq!(health(channel.clone(), service).await, Ok(ServingStatus::Serving), "{service}");
    }
    assert_eq!(health(channel, "no.such.Service").await, Err(Code::NotFound));
}

#[tokio::test]
async fn reflection_lists_every_service() {
    let process = Process::start(&[]);
    let question = MessageRequest::ListServices(String::new());
    let request = ServerReflectionRequest { host: String::new(), message_request: Some(question) };
    let mut client = ServerReflectionClient::new(process.channel().await);
    let mut answers = client.server_reflection_info(tokio_stream::once(request)).await.unwrap().into_inner();
    let answer = answers.message().await.unwrap().unwrap().message_response;
    let Some(MessageResponse::ListServicesResponse(ListServiceResponse { service })) = answer else {
        panic!("{answer:?}");
    };
    let mut names: Vec<&str> = service.iter().map(|service| service.name.as_str()).collect();
    names.sort_unstable();
    let expected = [
        "grpc.health.v1.Health",
        "grpc.reflection.v1.ServerReflection",
        "tetrion.v1.EnvironmentService",
        "tetrion.v1.EvaluationService",
    ];
    assert_eq!(names, expected);
}

#[tokio::test]
async fn sigterm_ends_open_streams_and_then_the_process() {
    let process = Process::start(&["--drain-timeout", "60"]);
    let request = HealthCheckRequest::default();
    let mut watch = HealthClient::new(process.channel().await).watch(request).await.unwrap().into_inner();
    assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::Serving);

    process.terminate();
    assert_eq!(watch.message().await.unwrap().unwrap().status(), ServingStatus::NotServing);
    let end = watch.message().await.unwrap_err();
    assert_eq!(end.code(), Code::Unavailable);
    assert_eq!(end.get_details_error_info().unwrap().reason, "DRAINING");

    // On another thread, so that this one can close its connection to the server.
    let (status, took, rest) = tokio::task::spawn_blocking(|| process.wait()).await.unwrap();
    assert!(status.success(), "{status}");
    assert!(took < Duration::from_secs(30), "the stream held it up for {took:?}");
    assert_eq!(rest, "", "one line on stdout and no more");
}

#[tokio::test]
async fn sigterm_ends_an_evaluation_that_would_go_on_for_hours() {
    let process = Process::start(&["--drain-timeout", "60"]);
    let mut client = EvaluationServiceClient::new(process.channel().await);
    let mut stream = client.evaluate_policies(endless()).await.unwrap().into_inner();
    stream.message().await.unwrap().expect("started");
    process.terminate();
    let end = loop {
        match stream.message().await {
            Ok(message) => assert!(message.is_some(), "no end without an error"),
            Err(status) => break status,
        }
    };
    assert_eq!(end.get_details_error_info().unwrap().reason, "DRAINING", "{end}");
    let (status, took, _) = tokio::task::spawn_blocking(|| process.wait()).await.unwrap();
    assert!(status.success(), "{status}");
    assert!(took < Duration::from_secs(30), "the games held it up for {took:?}");
}

/// A call to each of our two services: the codes of their answers to callers that they do not know.
async fn code_of_calls(channel: Channel, token: Option<&str>) -> [Code; 2] {
    fn request<T>(message: T, token: Option<&str>) -> tonic::Request<T> {
        let mut request = tonic::Request::new(message);
        if let Some(token) = token {
            let value = format!("Bearer {token}").parse().unwrap();
            request.metadata_mut().insert("authorization", value);
        }
        request
    }
    fn code<T>(answer: Result<T, tonic::Status>) -> Code {
        answer.map_or_else(|status| status.code(), |_| Code::Ok)
    }
    let mut environments = EnvironmentServiceClient::new(channel.clone());
    let mut evaluations = EvaluationServiceClient::new(channel);
    [
        code(environments.get_server_info(request(Default::default(), token)).await),
        code(evaluations.evaluate_policies(request(endless(), token)).await),
    ]
}

#[tokio::test]
async fn with_a_token_no_call_is_served_without_it() {
    let process = Process::start(&["--token", "open sesame"]);
    let channel = process.channel().await;
    assert_eq!(code_of_calls(channel.clone(), None).await, [Code::Unauthenticated; 2]);
    assert_eq!(code_of_calls(channel.clone(), Some("open barley")).await, [Code::Unauthenticated; 2]);
    assert_eq!(code_of_calls(channel.clone(), Some("open sesame")).await, [Code::Ok; 2]);
    assert_eq!(health(channel, "").await, Ok(ServingStatus::Serving), "health is for everyone");
    assert!(process.get("/metrics").starts_with("HTTP/1.1 401"));
    assert!(process.get("/").starts_with("HTTP/1.1 200"));
    let with_token = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer open sesame\r\n\r\n";
    assert!(process.http(with_token.as_bytes()).starts_with(b"HTTP/1.1 200"));
}

#[tokio::test]
async fn with_a_certificate_it_speaks_tls_and_nothing_else() {
    let file = |name: &str| format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let process = Process::start(&["--tls-cert", &file("cert.pem"), "--tls-key", &file("key.pem")]);
    let authority = Certificate::from_pem(std::fs::read(file("ca.pem")).unwrap());
    let tls = ClientTlsConfig::new().ca_certificate(authority).domain_name("localhost");
    let endpoint = Channel::from_shared(format!("https://{}", process.address)).unwrap();
    let channel = endpoint.tls_config(tls).unwrap().connect().await.unwrap();
    assert_eq!(code_of_calls(channel.clone(), None).await, [Code::Ok; 2]);
    assert_eq!(health(channel, "tetrion.v1.EvaluationService").await, Ok(ServingStatus::Serving));

    let plain = Channel::from_shared(format!("http://{}", process.address)).unwrap().connect().await.unwrap();
    assert_ne!(health(plain, "").await, Ok(ServingStatus::Serving));
}

#[test]
fn evaluate_and_train_speak_tls_with_those_that_they_trust() {
    let file = |name: &str| format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let (certificate, key, authority) = (file("cert.pem"), file("key.pem"), file("ca.pem"));
    let process = Process::start(&["--tls-cert", &certificate, "--tls-key", &key, "--token", "open sesame"]);
    let address = format!("https://localhost:{}", process.address.port());
    let there = ["--server", &address, "--token", "open sesame"];
    let evaluate = |flags: &[&str]| {
        let games = "evaluate bcts --height 7 --games 3 --seed 1 --json";
        tetrion(&games.split(' ').collect::<Vec<_>>()).args(flags).output().unwrap()
    };
    let mean = |output: std::process::Output| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        let reported: serde_json::Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{stderr}"));
        reported["results"][0]["lines"]["mean"].as_f64().unwrap_or_else(|| panic!("{reported}"))
    };
    let trusting = [&there[..], &["--ca-cert", &authority]].concat();
    assert_eq!(mean(evaluate(&trusting)), mean(evaluate(&[])), "the games are those of a server of its own");

    // This machine does not trust that authority.
    let refused = evaluate(&there);
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("no server answers at https://"), "{stderr}");

    let run = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("trained_over_tls");
    let _ = std::fs::remove_dir_all(&run);
    let search = "train --height 7 --generations 2 --population 6 --games 2 --check-games 2 --final-games 2 \
                  --max-pieces 200 --seed 1";
    let trained = tetrion(&search.split_whitespace().collect::<Vec<_>>())
        .args(there)
        .arg("--out")
        .arg(&run)
        .env("TETRION_CA_CERT", &authority)
        .output()
        .unwrap();
    assert!(trained.status.success(), "{}", String::from_utf8_lossy(&trained.stderr));
}

#[test]
fn a_key_without_a_certificate_is_refused() {
    let output =
        Command::new(env!("CARGO_BIN_EXE_tetrion")).args(["serve", "--tls-key", "x"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("--tls-cert"));
}

#[test]
fn errors_of_tls_name_the_file() {
    let file = |name: &str| format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"));
    let (certificate, key, readme) = (file("cert.pem"), file("key.pem"), file("README.md"));
    #[track_caller]
    fn refused(args: &[&str], parts: &[&str]) {
        let output = tetrion(args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        parts.iter().for_each(|part| assert!(stderr.contains(part), "{part:?} is not in {stderr}"));
    }
    let serve = ["serve", "--listen", "127.0.0.1:0", "--tls-cert"];
    let with = |certificate: &str, key: &str, parts: &[&str]| {
        refused(&[&serve[..], &[certificate, "--tls-key", key]].concat(), parts);
    };
    with("/nowhere.pem", &key, &["cannot read /nowhere.pem"]);
    with(&certificate, "/nowhere.pem", &["cannot read /nowhere.pem"]);
    with(&readme, &key, &[&readme, "holds no CERTIFICATE in PEM form"]);
    with(&certificate, &readme, &[&readme, "holds no PRIVATE KEY in PEM form"]);
    with(&key, &certificate, &[&key, "holds no CERTIFICATE in PEM form"]);
    let broken = format!("{}/broken.pem", env!("CARGO_TARGET_TMPDIR"));
    let text = std::fs::read_to_string(&certificate).unwrap();
    std::fs::write(
        &broken,
        text.lines().take(2).chain(["-----END CERTIFICATE-----"]).collect::<Vec<_>>().join("\n"),
    )
    .unwrap();
    with(&broken, &key, &[&broken, "the certificate cannot be used"]);
    let other = file("client-key.pem");
    with(&certificate, &other, &[&certificate, &other, "the key does not belong to the certificate"]);
    let evaluate = ["evaluate", "bcts", "--server", "https://127.0.0.1:1", "--ca-cert"];
    refused(&[&evaluate[..], &[&readme]].concat(), &[&readme, "holds no CERTIFICATE in PEM form"]);
    refused(&[&evaluate[..], &[&broken]].concat(), &[&broken]);
}

#[test]
fn the_most_threads_allowed_start_promptly_and_obey_sigterm() {
    let begin = Instant::now();
    let process = Process::start(&["--threads", "512", "--log", "error"]);
    process.terminate();
    let (status, _, _) = process.wait();
    assert!(status.success(), "{status}");
    println!("started and stopped within {:?}", begin.elapsed());
}

#[test]
fn a_call_that_never_ends_delays_the_exit_for_a_bounded_time() {
    let process = Process::start(&["--drain-timeout", "0.3"]);
    let _call = process.endless_call();
    process.terminate();
    let (status, took, _) = process.wait();
    assert!(status.success(), "{status}");
    assert!(took >= Duration::from_millis(250), "the call had {took:?} to end");
    assert!(took < Duration::from_secs(30), "it took {took:?}");
}

#[test]
fn the_end_of_stdin_stops_it_if_a_flag_says_so() {
    let mut process = Process::start(&["--exit-on-stdin-eof"]);
    process.stdin.take();
    let (status, ..) = process.wait();
    assert!(status.success(), "{status}");
}

#[test]
fn a_port_in_use_is_an_error_and_no_line() {
    let first = Process::start(&[]);
    let second = Command::new(env!("CARGO_BIN_EXE_tetrion"))
        .args(["serve", "--listen", &first.address.to_string()])
        .output()
        .unwrap();
    assert_eq!(second.status.code(), Some(1));
    assert_eq!(second.stdout, b"");
    let stderr = String::from_utf8(second.stderr).unwrap();
    assert!(stderr.contains(&format!("error: cannot listen on {}", first.address)), "{stderr}");
}

/// The most memory that the process has had, in bytes.
#[cfg(target_os = "linux")]
fn most_memory(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.child.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[cfg(target_os = "linux")]
#[test]
fn many_small_parts_do_not_make_a_request_of_gigabytes() {
    let process = Process::start(&[]);
    for (call, part, mib) in [
        ("EvaluationService/EvaluatePolicies", &b"\x1a\0"[..], 16), // policies
        ("EvaluationService/EvaluatePolicies", b"\x22\x04\x22\x02\x0a\0", 16), // seeding.piece_sequences.sequences
        ("EnvironmentService/EnumeratePlacements", b"\x12\x04\x1a\x02\x0a\0", 16), // positions.drawings.drawings
        ("EnvironmentService/CreateSession", b"\x0a\x04\x1a\x02\x0a\0", 2), // config.observation_fields.names
        ("EnvironmentService/Reset", b"\x1a\x04\x22\x02\x0a\0", 2), // seeding.piece_sequences.sequences
    ] {
        let message = part.repeat((mib << 20) / part.len());
        let mut request = format!(
            "POST /tetrion.v1.{call} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
             content-type: application/grpc-web+proto\r\ncontent-length: {}\r\n\r\n",
            message.len() + 5
        )
        .into_bytes();
        request.push(0);
        request.extend((message.len() as u32).to_be_bytes());
        request.extend(message);
        let answer = String::from_utf8_lossy(&process.http(&request)).to_lowercase();
        // RESOURCE_EXHAUSTED for what is too heavy, INVALID_ARGUMENT for what has too many parts.
        assert!(answer.contains("grpc-status: 8") || answer.contains("grpc-status: 3"), "{call}: {answer}");
    }
    let most = most_memory(&process);
    assert!(most < 512 << 20, "{} MiB", most >> 20);
}

#[tokio::test]
async fn headers_over_http_1_1_are_bounded() {
    let process = Process::start(&[]);
    let ask = |bytes: usize| {
        let more = format!("x-more: {}\r\n", "a".repeat(4000)).repeat(bytes / 4000);
        format!("GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n{more}\r\n")
    };
    let answer = process.http(ask(16_000).as_bytes());
    assert!(answer.starts_with(b"HTTP/1.1 200"), "{}", String::from_utf8_lossy(&answer));
    // Beyond the bound the server answers, or just closes the connection, and waits for no more.
    let mut stream = TcpStream::connect(process.address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    let asked = ask(88 * 4000);
    let _ = stream.write_all(&asked.as_bytes()[..asked.len() - 2]);
    let mut answer = Vec::new();
    match stream.read_to_end(&mut answer) {
        Ok(_) => assert!(answer.starts_with(b"HTTP/1.1 431"), "{}", String::from_utf8_lossy(&answer)),
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset, "{error}"),
    }
}

#[test]
fn limits_follow_from_the_memory_of_the_server() {
    let file = std::env::temp_dir().join(format!("tetrion-memory-{}.toml", std::process::id()));
    let limits = |text: &str, flags: &[&str]| {
        std::fs::write(&file, text).unwrap();
        let mut command = tetrion(&["serve", "--listen", "127.0.0.1:0", "--config", file.to_str().unwrap()]);
        let mut process = Process::spawn(command.args(flags).stderr(Stdio::piped()));
        let stderr = process.child.stderr.take().unwrap();
        let line =
            BufReader::new(stderr).lines().map_while(Result::ok).find(|line| line.contains(": limits "));
        let line = line.expect("a line with the limits");
        let limit = |name: &str| -> u64 {
            let (_, number) = line.split_once(&format!(" {name}=")).expect(name);
            number.split(' ').next().unwrap().parse().unwrap()
        };
        assert_eq!(limit("max_connections_per_address"), limit("max_connections") / 2);
        let memory = ["session", "evaluation", "request", "answer"];
        (
            memory.map(|of| limit(&format!("{of}_memory_mib"))),
            ["max_connections", "max_calls", "max_evaluations"].map(limit),
        )
    };
    let ordinary = ([768, 512, 512, 512], [1024, 8192, 64]);
    assert_eq!(limits("", &[]), ordinary);
    assert_eq!(limits("", &["--memory", "4096"]), ordinary);
    assert_eq!(limits("[serve]\nmemory = 1024", &[]), ([192, 128, 128, 128], [256, 2048, 16]));
    // What is given stays, wherever it is given.
    let text = "[serve]\nmemory = 1024\nsession-memory = 300\nmax-calls = 8192";
    let flags = ["--memory", "2048", "--request-memory", "512"];
    assert_eq!(limits(text, &flags), ([300, 256, 512, 256], [512, 8192, 32]));
    std::fs::remove_file(&file).unwrap();
}
