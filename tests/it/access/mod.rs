//! Tokens with names and limits of their own, certificates of both sides, and secrets that are shown nowhere.

/// Secrets on the command line.
mod secrets;

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use tetrion::protocol::pb;
use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tetrion::protocol::pb::evaluation_service_client::EvaluationServiceClient;
use tetrion::server::TokenFile;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Identity};
use tonic::{Code, Request};

use crate::evaluate::tetrion;
use crate::server::Process;
use crate::support::Command;
use tetrion_service_testing::evaluations::endless;
use tetrion_service_testing::{Client, config, refused, reset, step};

const ALICE: &str = "needle-of-alice-1234";

const BOB: &str = "needle-of-bob-567890";

const NEW: &str = "needle-that-is-new-0";

fn tokens(alice: &str, bob: &str) -> String {
    format!(
        "max_evaluations = 2\n\n[[token]]\nname = \"alice\"\nsecret = \"{alice}\"\n\n[[token]]\nname = \"bob\"\n\
         secret = \"{bob}\"\nmax_sessions = 2\nmax_envs = 5\nmax_evaluations = 1\n"
    )
}

/// A test's own file, which only its owner can read.
pub fn private(name: &str, text: &str) -> String {
    let path = format!("{}/access_{name}", env!("CARGO_TARGET_TMPDIR"));
    fs::write(&path, text).unwrap();
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    path
}

pub fn tls(name: &str) -> String {
    format!("{}/tests/data/tls/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// A server whose log a test reads.
pub struct Logged {
    pub process: Process,
    lines: Receiver<String>,
    log: String,
}

impl Logged {
    pub fn start(flags: &[&str]) -> Logged {
        let mut process =
            Process::spawn(tetrion(&["serve", "--listen", "127.0.0.1:0"]).args(flags).stderr(Stdio::piped()));
        let stderr = BufReader::new(process.child.stderr.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            stderr.lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Logged { process, lines, log: String::new() }
    }

    /// Waits for a line of the log that contains this.
    pub fn wait_for(&mut self, part: &str) -> String {
        loop {
            let line = self.lines.recv_timeout(Duration::from_secs(60));
            let line = line.unwrap_or_else(|_| panic!("no {part:?} in {}", self.log));
            self.log += &line;
            self.log += "\n";
            if line.contains(part) {
                return line;
            }
        }
    }

    #[cfg(unix)]
    pub fn hang_up(&self) {
        let id = self.process.child.id().to_string();
        assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    }

    /// Ends the server; returns all of its log.
    pub fn end(mut self) -> String {
        self.process.child.kill().unwrap();
        self.log.extend(self.lines.iter().map(|line| line + "\n"));
        self.log
    }
}

/// A request with a token.
fn with<T>(token: &str, message: T) -> Request<T> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
    request
}

fn new_session(num_envs: u32) -> pb::CreateSessionRequest {
    pb::CreateSessionRequest { config: Some(config(num_envs, 1)), ..Default::default() }
}

async fn create(client: &mut Client, token: &str, num_envs: u32) -> String {
    let created = client.create_session(with(token, new_session(num_envs))).await.unwrap();
    created.into_inner().session.unwrap().name
}

async fn list(client: &mut Client, token: &str) -> Vec<String> {
    let list = client.list_sessions(with(token, pb::ListSessionsRequest::default())).await.unwrap();
    list.into_inner().sessions.into_iter().map(|session| session.name).collect()
}

async fn limits(client: &mut Client, token: &str) -> pb::Limits {
    let info = client.get_server_info(with(token, pb::GetServerInfoRequest::default())).await.unwrap();
    info.into_inner().limits.unwrap()
}

async fn code(client: &mut Client, token: &str) -> Code {
    let answer = client.get_server_info(with(token, pb::GetServerInfoRequest::default())).await;
    answer.map_or_else(|status| status.code(), |_| Code::Ok)
}

/// What a command that ends by itself says.
fn said(command: &mut Command) -> (Option<i32>, String) {
    let output = command.output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[tokio::test]
async fn each_token_has_its_own_sessions_and_limits() {
    let file = private("own.toml", &tokens(ALICE, BOB));
    let server = Logged::start(&["--tokens", &file, "--max-sessions", "100"]);
    let channel = server.process.channel().await;
    let mut client = EnvironmentServiceClient::new(channel.clone());
    let alice = create(&mut client, ALICE, 3).await;
    let bob = create(&mut client, BOB, 3).await;
    assert_eq!(list(&mut client, ALICE).await, [alice.as_str()]);
    assert_eq!(list(&mut client, BOB).await, [bob.as_str()]);
    refused(client.reset(with(BOB, reset(&alice))).await, Code::NotFound, "SESSION_NOT_FOUND");

    let reported =
        refused(client.create_session(with(BOB, new_session(3))).await, Code::ResourceExhausted, "ENV_LIMIT");
    assert_eq!(
        reported.message,
        "the token \"bob\" has 3 environments of at most 5; the request needs 3 more"
    );
    create(&mut client, BOB, 2).await;
    let reported = refused(
        client.create_session(with(BOB, new_session(1))).await,
        Code::ResourceExhausted,
        "SESSION_LIMIT",
    );
    assert_eq!(reported.message, "the token \"bob\" has reached its limit on sessions, 2");
    create(&mut client, ALICE, 10).await;

    let mut evaluations = EvaluationServiceClient::new(channel);
    let _running = evaluations.evaluate_policies(with(BOB, endless())).await.unwrap();
    let reported = refused(
        evaluations.evaluate_policies(with(BOB, endless())).await,
        Code::ResourceExhausted,
        "EVALUATION_LIMIT",
    );
    assert_eq!(reported.message, "the token \"bob\" has reached its limit on evaluations, 1");
    // The default of the file.
    let mut others = Vec::new();
    for _ in 0..2 {
        others.push(evaluations.evaluate_policies(with(ALICE, endless())).await.unwrap());
    }
    let reported = refused(
        evaluations.evaluate_policies(with(ALICE, endless())).await,
        Code::ResourceExhausted,
        "EVALUATION_LIMIT",
    );
    assert_eq!(reported.message, "the token \"alice\" has reached its limit on evaluations, 2");

    let of = |limits: pb::Limits| {
        let (sessions, evaluations) = (limits.sessions.unwrap(), limits.evaluations.unwrap());
        [
            sessions.max_sessions_per_caller,
            sessions.max_envs_per_caller,
            evaluations.max_evaluations_per_caller,
        ]
    };
    assert_eq!(of(limits(&mut client, BOB).await), [2, 5, 1]);
    assert_eq!(of(limits(&mut client, ALICE).await), [100, 262_144, 2]);
}

#[tokio::test]
async fn a_call_without_a_token_that_the_server_knows_is_refused_and_says_why() {
    let file = private("unknown.toml", &tokens(ALICE, BOB));
    let server = Logged::start(&["--tokens", &file]);
    let mut client = EnvironmentServiceClient::new(server.process.channel().await);
    let reason = "INVALID_TOKEN";
    let without = client.get_server_info(pb::GetServerInfoRequest::default()).await;
    let reported = refused(without, Code::Unauthenticated, reason);
    let expected = "this server expects the metadata `authorization: Bearer TOKEN`";
    assert_eq!(reported.message, format!("the call has no token: {expected}"));
    let longer = format!("{ALICE}5");
    for wrong in ["x", &ALICE[1..], &longer, "", NEW] {
        let refusal = client.get_server_info(with(wrong, pb::GetServerInfoRequest::default())).await;
        let reported = refused(refusal, Code::Unauthenticated, reason);
        assert_eq!(reported.message, format!("the server does not know the call's token: {expected}"));
    }
    let mut basic = with(ALICE, pb::GetServerInfoRequest::default());
    basic.metadata_mut().insert("authorization", format!("Basic {ALICE}").parse().unwrap());
    let reported = refused(client.get_server_info(basic).await, Code::Unauthenticated, reason);
    assert_eq!(reported.message, format!("the call's authorization is not a bearer token: {expected}"));

    let metrics = |token: &str| {
        let get = "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer ";
        let answer = server.process.http(format!("{get}{token}\r\n\r\n").as_bytes());
        String::from_utf8(answer).unwrap()
    };
    assert!(metrics(BOB).starts_with("HTTP/1.1 200"));
    assert!(metrics(NEW).starts_with("HTTP/1.1 401"));
    let page = server.process.get("/");
    assert!(page.starts_with("HTTP/1.1 200") && page.contains("<title>Tetrion</title>"), "{page}");
}

#[tokio::test]
async fn a_changed_file_of_tokens_is_taken_up_while_the_server_runs() {
    let file = private("changing.toml", &tokens(ALICE, BOB));
    let mut server = Logged::start(&["--tokens", &file]);
    let channel = server.process.channel().await;
    let mut client = EnvironmentServiceClient::new(channel.clone());
    let session = create(&mut client, BOB, 1).await;
    client.reset(with(BOB, reset(&session))).await.unwrap();
    create(&mut client, ALICE, 1).await;

    // A stream that waits, and an evaluation that would go on for hours.
    let (requests, receiver) = tokio::sync::mpsc::channel(1);
    let ask = || pb::step_stream_request::Request::Step(step(&session, &[0]));
    requests.send(pb::StepStreamRequest { request: Some(ask()) }).await.unwrap();
    let receiver = tokio_stream::wrappers::ReceiverStream::new(receiver);
    let mut steps = client.step_stream(with(BOB, receiver)).await.unwrap().into_inner();
    assert!(steps.message().await.unwrap().is_some());
    let watch = pb::WatchSessionRequest { session: session.clone(), ..Default::default() };
    let mut frames = client.watch_session(with(BOB, watch)).await.unwrap().into_inner();
    assert!(frames.message().await.unwrap().is_some());
    let mut evaluations = EvaluationServiceClient::new(channel);
    let mut bobs = evaluations.evaluate_policies(with(BOB, endless())).await.unwrap().into_inner();
    let mut alices = evaluations.evaluate_policies(with(ALICE, endless())).await.unwrap().into_inner();
    assert!(bobs.message().await.unwrap().is_some());
    assert!(alices.message().await.unwrap().is_some());

    // A text that cannot be used changes nothing.
    fs::write(&file, "[[token]]\nname = \"bob\"\n").unwrap();
    let line = server.wait_for("cannot be used");
    assert!(line.contains("line 1") && line.contains("the token has no secret"), "{line}");
    assert_eq!(code(&mut client, BOB).await, Code::Ok);

    // Bob has another secret, and alice other limits.
    let changed = tokens(ALICE, NEW).replace("max_evaluations = 2", "max_evaluations = 7");
    fs::write(&file, changed).unwrap();
    let line = server.wait_for("tokens read again");
    assert!(line.contains("tokens=2") && line.contains("added=1") && line.contains("removed=1"), "{line}");
    assert_eq!(code(&mut client, BOB).await, Code::Unauthenticated);
    assert_eq!(code(&mut client, ALICE).await, Code::Ok);
    assert_eq!(limits(&mut client, ALICE).await.evaluations.unwrap().max_evaluations_per_caller, 7);
    let expected = "the token of this stream has been removed";
    let reported = refused(steps.message().await, Code::Unauthenticated, "INVALID_TOKEN");
    assert!(reported.message.starts_with(expected), "{}", reported.message);
    async fn end<T>(messages: &mut tonic::Streaming<T>) -> tonic::Status {
        loop {
            match messages.message().await {
                Ok(message) => assert!(message.is_some(), "no end without an error"),
                Err(status) => return status,
            }
        }
    }
    for end in [end(&mut bobs).await, end(&mut frames).await] {
        assert!(end.message().starts_with(expected), "{end}");
    }
    assert!(alices.message().await.unwrap().is_some(), "hers goes on");
    // A session stays with the name that made it.
    assert_eq!(list(&mut client, NEW).await, [session]);
    assert_eq!(list(&mut client, ALICE).await.len(), 1);
}

#[test]
#[cfg(unix)]
fn sighup_reads_the_tokens_at_once_and_a_file_that_is_gone_keeps_them() {
    let file = private("hangup.toml", &tokens(ALICE, BOB));
    let mut server = Logged::start(&["--tokens", &file]);
    server.hang_up();
    let line = server.wait_for("tokens read again");
    assert!(line.contains("tokens=2") && line.contains("added=0") && line.contains("removed=0"), "{line}");
    fs::remove_file(&file).unwrap();
    server.hang_up();
    let line = server.wait_for("cannot be used");
    assert!(line.contains("cannot read"), "{line}");
    let get = format!(
        "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer {BOB}\r\n\r\n"
    );
    assert!(server.process.http(get.as_bytes()).starts_with(b"HTTP/1.1 200"));
}

#[test]
fn what_a_file_of_tokens_says_is_checked_and_never_quoted() {
    #[track_caller]
    fn wrong(text: &str, line: usize, problem: &str) {
        let error = TokenFile::parse(text).unwrap_err();
        assert_eq!(error.line, line, "{error}");
        assert!(error.problem.contains(problem), "{error}");
        let shown = format!("{error} {error:?}");
        assert!(!shown.contains("needle") && !shown.contains("short"), "{shown}");
    }
    let token = |name: &str, secret: &str, more: &str| {
        format!("[[token]]\nname = \"{name}\"\nsecret = \"{secret}\"\n{more}\n")
    };
    let alice = token("alice", ALICE, "");
    wrong("", 1, "the file has no [[token]]");
    wrong("max_sessions = 5\n", 1, "the file has no [[token]]");
    wrong("token = 5", 1, "expected [[token]]");
    wrong("token = [5]", 1, "expected [[token]]");
    wrong("[[token]]\nname = \"alice\"\n", 1, "the token has no secret");
    wrong(&format!("\n[[token]]\nsecret = \"{ALICE}\"\n"), 2, "the token has no name");
    wrong(&format!("[[token]]\nname = \"alice\"\nsecret = {ALICE}\n"), 3, "is not TOML");
    wrong(&format!("[[token]]\nname = \"alice\"\nsecret = \"{ALICE}\n"), 3, "is not TOML");
    wrong(&format!("{alice}{ALICE}"), 5, "is not TOML");
    wrong(
        &format!("{alice}\"{ALICE}\" = 3\n"),
        5,
        "an unknown key of a token, expected name, secret, max_sessions",
    );
    wrong(
        &format!("{ALICE} = 3\n{alice}"),
        1,
        "an unknown key, expected max_sessions, max_envs, max_evaluations, max_watches",
    );
    wrong(
        "[[token]]\nname = \"alice\"\nsecret = 12345678901234567\n",
        3,
        "secret: expected 16 to 512 printable",
    );
    // Name and secret swapped.
    wrong(&token(&format!("{ALICE} "), "bob-but-short", ""), 2, "name: expected 1 to 64 letters");
    wrong(&token(ALICE, "bob-but-short-1", ""), 3, "secret: expected 16 to 512");
    TokenFile::parse(&token("a", "bob-but-short-16", "")).unwrap();
    wrong(&token("a", &"needle".repeat(86)[..513], ""), 3, "secret: expected 16 to 512");
    TokenFile::parse(&token("a", &"needle".repeat(86)[..512], "")).unwrap();
    wrong(&token("a", &format!("{ALICE} "), ""), 3, "no space at either end");
    wrong(&token("a", &format!("{ALICE}ä"), ""), 3, "printable ASCII");
    wrong(&token("", ALICE, ""), 2, "name: expected 1 to 64");
    wrong(&token(&"a".repeat(65), ALICE, ""), 2, "name: expected 1 to 64");
    TokenFile::parse(&token(&"a".repeat(64), ALICE, "")).unwrap();
    for limit in ["max_sessions", "max_envs", "max_evaluations", "max_watches"] {
        for value in ["-1", "4294967296", "1.5", "\"needle\"", "true"] {
            let expected = format!("{limit}: expected a whole number from 0 to 4294967295");
            wrong(&token("a", ALICE, &format!("{limit} = {value}")), 4, &expected);
            wrong(&format!("{limit} = {value}\n{alice}"), 1, &expected);
        }
        TokenFile::parse(&token("a", ALICE, &format!("{limit} = 4294967295"))).unwrap();
        TokenFile::parse(&token("a", ALICE, &format!("{limit} = 0"))).unwrap();
    }
    wrong(&format!("{alice}{}", token("alice", BOB, "")), 5, "the token on line 1 has the same name");
    wrong(&format!("{alice}{}", token("bob", ALICE, "")), 5, "the token on line 1 has the same secret");
    let many = |number: usize| {
        let token = |i| token(&format!("t{i}"), &format!("{ALICE}{i}"), "");
        (0..number).map(token).collect::<String>()
    };
    assert_eq!(TokenFile::parse(&many(1000)).unwrap().num_tokens(), 1000);
    wrong(&many(1001), 4001, "more than 1000 tokens");
}

/// A connection to a server that requires certificates of its clients.
async fn encrypted(
    process: &Process,
    identity: Option<[&str; 2]>,
) -> Result<Channel, tonic::transport::Error> {
    let authority = Certificate::from_pem(fs::read(tls("ca.pem")).unwrap());
    let mut settings = ClientTlsConfig::new().ca_certificate(authority).domain_name("localhost");
    if let Some([certificate, key]) = identity {
        let read = |name| fs::read(tls(name)).unwrap();
        settings = settings.identity(Identity::from_pem(read(certificate), read(key)));
    }
    let endpoint = Channel::from_shared(format!("https://{}", process.address)).unwrap();
    endpoint.tls_config(settings).unwrap().connect().await
}

#[tokio::test]
async fn with_an_authority_for_clients_those_without_its_certificate_stay_outside() {
    let tokens = private("mutual.toml", &tokens(ALICE, BOB));
    let files = [
        "cert.pem",
        "key.pem",
        "client-ca.pem",
        "ca.pem",
        "client.pem",
        "client-key.pem",
        "stranger.pem",
        "stranger-key.pem",
    ];
    let [certificate, key, authority, ca, client, client_key, stranger, stranger_key] = files.map(tls);
    let serve =
        ["--tls-cert", &certificate, "--tls-key", &key, "--tls-client-ca", &authority, "--tokens", &tokens];
    let server = Logged::start(&serve);
    let call = async |identity| {
        let mut client = EnvironmentServiceClient::new(
            encrypted(&server.process, identity).await.map_err(|_| Code::Unavailable)?,
        );
        Ok::<_, Code>(code(&mut client, ALICE).await)
    };
    assert_eq!(call(Some(["client.pem", "client-key.pem"])).await, Ok(Code::Ok));
    for outside in [None, Some(["stranger.pem", "stranger-key.pem"])] {
        let got = call(outside).await;
        assert!(!matches!(got, Ok(Code::Ok | Code::Unauthenticated)), "{got:?}");
    }

    let address = format!("https://localhost:{}", server.process.address.port());
    let games = ["evaluate", "bcts", "--height", "7", "--games", "3", "--server", &address, "--ca-cert", &ca];
    let evaluate = |flags: &[&str]| said(tetrion(&games).args(flags).env("TETRION_TOKEN", ALICE));
    let (code, reported) = evaluate(&["--client-cert", &client, "--client-key", &client_key]);
    assert_eq!(code, Some(0), "{reported}");
    let (code, reported) = evaluate(&[]);
    assert_eq!(code, Some(1), "{reported}");
    assert!(
        reported.contains("no server answers at https://") && reported.contains("ertificate"),
        "{reported}"
    );
    let (code, reported) = evaluate(&["--client-cert", &stranger, "--client-key", &stranger_key]);
    assert_eq!(code, Some(1), "{reported}");
    assert!(reported.contains(&stranger), "{reported}");
    let (code, reported) = evaluate(&["--client-cert", &client]);
    assert_eq!(code, Some(2), "{reported}");
    assert!(reported.contains("--client-key"), "{reported}");
    let (code, reported) = evaluate(&["--client-cert", &client, "--client-key", &client]);
    assert_eq!(code, Some(1), "{reported}");
    assert!(reported.contains("holds no PRIVATE KEY"), "{reported}");

    // A file that holds no authority.
    let nothing = private("nothing.pem", "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n");
    let broken = ["--tls-cert", &certificate, "--tls-key", &key, "--tls-client-ca", &nothing];
    let (code, reported) = said(tetrion(&["serve", "--listen", "127.0.0.1:0"]).args(broken));
    assert_eq!(code, Some(1), "{reported}");
    assert!(reported.contains(&nothing), "{reported}");
    let (code, reported) = said(&mut tetrion(&["serve", "--tls-client-ca", &authority]));
    assert_eq!(code, Some(2), "{reported}");
    assert!(reported.contains("--tls-cert"), "{reported}");
}

#[cfg(unix)]
fn pipe(name: &str) -> String {
    let path = format!("{}/access_{name}", env!("CARGO_TARGET_TMPDIR"));
    let _ = fs::remove_file(&path);
    assert!(Command::new("mkfifo").args(["-m", "600", &path]).status().unwrap().success());
    path
}

/// Opening a pipe waits until something writes to it.
#[cfg(unix)]
#[test]
fn no_server_waits_for_a_pipe_in_place_of_one_of_its_files() {
    let (pipe, certificate, key) = (pipe("in_place"), tls("cert.pem"), tls("key.pem"));
    for flags in [
        &["--tokens", pipe.as_str()][..],
        &["--token-file", &pipe],
        &["--config", &pipe],
        &["--tls-cert", &pipe, "--tls-key", &key],
        &["--tls-cert", &certificate, "--tls-key", &pipe],
        &["--tls-cert", &certificate, "--tls-key", &key, "--tls-client-ca", &pipe],
    ] {
        let (code, said) = said(tetrion(&["serve", "--listen", "127.0.0.1:0"]).args(flags));
        assert_eq!(code, Some(if flags[0] == "--config" { 2 } else { 1 }), "{flags:?}: {said}");
        assert!(said.contains(&format!("cannot read {pipe}: it is not a regular file")), "{flags:?}: {said}");
    }
    for (flag, long) in [("--tokens", "# ".repeat(1 << 19) + "\n"), ("--config", "#\n".repeat(1 << 19) + "#")]
    {
        let long = private("long", &long);
        let (_, said) = said(tetrion(&["serve", "--listen", "127.0.0.1:0"]).args([flag, &long]));
        assert!(
            said.contains(&format!("cannot read {long}: it has more than 1048576 bytes")),
            "{flag}: {said}"
        );
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_pipe_in_place_of_the_tokens_holds_up_no_later_change() {
    let path = private("replaced_by_pipe", &tokens(ALICE, BOB));
    let mut server = Logged::start(&["--tokens", &path]);
    let mut client = EnvironmentServiceClient::new(server.process.channel().await);
    fs::rename(pipe("replacement"), &path).unwrap();
    let line = server.wait_for("the file of tokens cannot be used; the previous ones stay");
    assert!(line.contains("it is not a regular file"), "{line}");
    assert_eq!(code(&mut client, BOB).await, Code::Ok);
    let new = private("replaced_again", &tokens(ALICE, NEW));
    fs::rename(new, &path).unwrap();
    server.wait_for("tokens read again");
    assert_eq!(code(&mut client, NEW).await, Code::Ok);
    assert_eq!(code(&mut client, BOB).await, Code::Unauthenticated);
}
