//! Secrets on the command line: where they may come from, and that no help, log or error shows one.

use std::fs;

use tetrion::protocol::pb::environment_service_client::EnvironmentServiceClient;
use tonic::Code;

use super::{ALICE, BOB, Logged, NEW, code, create, private, said, tls, tokens};
use crate::evaluate::tetrion;
use crate::server::Process;

#[test]
fn what_other_machines_can_reach_needs_a_certificate_and_tokens() {
    let (certificate, key) = (tls("cert.pem"), tls("key.pem"));
    let tokens = private("beyond.toml", &tokens(ALICE, BOB));
    let (tls, tokens) = (["--tls-cert", &certificate, "--tls-key", &key], ["--tokens", tokens.as_str()]);
    #[track_caller]
    fn refused(flags: &[&str], parts: &[&str], not: &[&str]) {
        let (code, said) = said(tetrion(&["serve", "--listen", "0.0.0.0:0"]).args(flags));
        assert_eq!(code, Some(2), "{said}");
        for part in [&["0.0.0.0:0", "--insecure"], parts].concat() {
            assert!(said.contains(part), "{part:?} is not in {said}");
        }
        not.iter().for_each(|part| assert!(!said.contains(part), "{part:?} is in {said}"));
    }
    let (no_tls, no_tokens) = ("no certificate (--tls-cert", "no tokens (--tokens FILE");
    refused(&[], &[no_tls, no_tokens], &[]);
    refused(&tls, &[no_tokens], &[no_tls]);
    refused(&tokens, &[no_tls], &[no_tokens]);
    Process::spawn(tetrion(&["serve", "--listen", "0.0.0.0:0"]).args(tls).args(tokens));
    Process::spawn(&mut tetrion(&["serve", "--listen", "[::]:0", "--insecure"]));
    let loopback = Process::spawn(&mut tetrion(&["serve", "--listen", "[::1]:0"]));
    assert!(loopback.address.ip().is_loopback());
}

#[test]
fn one_way_to_give_tokens_excludes_the_others() {
    let table = private("excluded.toml", &tokens(ALICE, BOB));
    let one = private("excluded", &format!("{NEW}\n"));
    for flags in [
        ["--tokens", &table, "--token", NEW],
        ["--tokens", &table, "--token-file", &one],
        ["--token", NEW, "--token-file", &one],
    ] {
        let (code, said) = said(tetrion(&["serve", "--listen", "127.0.0.1:0"]).args(flags));
        assert_eq!(code, Some(2), "{said}");
        assert!(said.contains("--tokens, --token-file and --token exclude each other"), "{said}");
        assert!(!said.contains("needle"), "{said}");
    }
    let both = ["evaluate", "bcts", "--server", "127.0.0.1:1", "--token", NEW, "--token-file", &one];
    let (code, said) = said(&mut tetrion(&both));
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("--token and --token-file exclude each other") && !said.contains("needle"),
        "{said}"
    );
}

#[test]
fn a_token_comes_from_a_file_on_both_sides() {
    let file = private("one", &format!("{NEW}\r\n"));
    let server = Process::spawn(&mut tetrion(&["serve", "--listen", "127.0.0.1:0", "--token-file", &file]));
    let address = server.address.to_string();
    let games = ["evaluate", "bcts", "--height", "7", "--games", "3", "--server", &address];
    let (code, reported) = said(tetrion(&games).args(["--token-file", &file]));
    assert_eq!(code, Some(0), "{reported}");
    assert!(!reported.contains("warning"), "{reported}");
    let (code, reported) = said(tetrion(&games).env("TETRION_TOKEN", NEW));
    assert_eq!(code, Some(0), "{reported}");
    assert!(!reported.contains("warning"), "{reported}");
    let (code, reported) = said(&mut tetrion(&games));
    assert_eq!(code, Some(1), "{reported}");
    assert!(reported.contains("the call has no token"), "{reported}");
    let (code, reported) = said(tetrion(&games).args(["--token", ALICE]));
    assert_eq!(code, Some(1), "{reported}");
    assert!(
        reported.contains("does not know the call's token") && !reported.contains("needle"),
        "{reported}"
    );
    assert!(reported.contains("warning: other users of this machine can see a --token"), "{reported}");

    for (text, problem) in
        [("", "holds no token"), ("needle\nneedle", "holds no token"), ("needle ä", "holds no token")]
    {
        let file = private("wrong", text);
        for command in [&["serve", "--listen", "127.0.0.1:0"][..], &games] {
            let (code, reported) = said(tetrion(command).args(["--token-file", &file]));
            assert_eq!(code, Some(1), "{reported}");
            assert!(
                reported.contains(problem) && reported.contains(&file) && !reported.contains("needle"),
                "{reported}"
            );
        }
    }
    let (code, reported) = said(&mut tetrion(&["serve", "--listen", "127.0.0.1:0", "--token", "needle ä"]));
    assert_eq!(code, Some(2), "{reported}");
    assert!(reported.contains("--token cannot be sent") && !reported.contains("needle"), "{reported}");
    let (code, reported) = said(tetrion(&games).args(["--token", "needle\tä"]));
    assert_eq!(code, Some(1), "{reported}");
    assert!(reported.contains("the token cannot be sent") && !reported.contains("needle"), "{reported}");
}

#[test]
#[cfg(unix)]
fn a_file_of_secrets_that_others_can_read_is_warned_of() {
    let file = private("open.toml", &tokens(ALICE, BOB));
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let log = Logged::start(&["--tokens", &file]).end();
    assert!(
        log.contains(&format!("other users of this machine can read {file}: `chmod 600 {file}`")),
        "{log}"
    );
    fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).unwrap();
    let log = Logged::start(&["--tokens", &file]).end();
    assert!(!log.contains("other users"), "{log}");
}

#[tokio::test]
async fn no_log_shows_a_secret() {
    let file = private("traced.toml", &tokens(ALICE, BOB));
    for format in ["text", "json"] {
        let flags = ["--tokens", &file, "--log", "trace,h2=trace", "--log-format", format];
        let mut server = Logged::start(&flags);
        let mut client = EnvironmentServiceClient::new(server.process.channel().await);
        assert_eq!(code(&mut client, ALICE).await, Code::Ok);
        assert_eq!(code(&mut client, NEW).await, Code::Unauthenticated);
        create(&mut client, BOB, 1).await;
        for token in [ALICE, NEW] {
            let get =
                "GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\nauthorization: Bearer ";
            server.process.http(format!("{get}{token}\r\n\r\n").as_bytes());
        }
        fs::write(&file, tokens(ALICE, NEW)).unwrap();
        server.wait_for("tokens read again");
        fs::write(&file, format!("secret = {ALICE}")).unwrap();
        server.wait_for("cannot be used");
        fs::write(&file, tokens(ALICE, BOB)).unwrap();
        server.wait_for("tokens read again");
        let log = server.end();
        assert!(log.lines().count() > 50, "little was logged: {log}");
        let shown: Vec<&str> = log.lines().filter(|line| line.contains("needle")).collect();
        assert!(shown.is_empty(), "{shown:#?}");
    }
}

/// Each URL is no URL of a collector, because of what its password has or for another reason.
#[test]
fn the_url_of_a_collector_is_refused_without_its_password() {
    for (url, shown) in [
        ("http://user:needle/1@host:4317", "http://...@host:4317"),
        ("http://user:needle#1@host:4317", "http://...@host:4317"),
        ("http://user:nee?dle@host:4317?key=needle", "http://...@host:4317?..."),
        ("user:needle@host:4317", "...@host:4317"),
        ("host:4317?key=needle", "host:4317?..."),
        ("ftp://host", "ftp://host"),
    ] {
        for source in ["--otlp", "TETRION_SERVE_OTLP", "OTEL_EXPORTER_OTLP_ENDPOINT"] {
            let mut command = tetrion(&["serve", "--listen", "127.0.0.1:0"]);
            let command =
                if source == "--otlp" { command.args([source, url]) } else { command.env(source, url) };
            let (code, reported) = said(command);
            let source = if source.starts_with("OTEL") { source } else { "--otlp" };
            let expected = format!(
                "error: {source}: {shown:?} is not a URL of a collector, expected http://HOST:PORT or https://HOST:PORT\n"
            );
            assert_eq!((code, reported), (Some(2), expected), "{url}");
        }
    }
}

#[test]
fn no_help_shows_a_secret_of_the_environment() {
    for (command, variable) in
        [("serve", "TETRION_SERVE_TOKEN"), ("train", "TETRION_TOKEN"), ("evaluate", "TETRION_TOKEN")]
    {
        let (code, reported) = said(tetrion(&[command, "--help"]).env(variable, NEW));
        assert_eq!(code, Some(0), "{reported}");
        assert!(reported.contains("--token-file") && !reported.contains("needle"), "{reported}");
    }
}
