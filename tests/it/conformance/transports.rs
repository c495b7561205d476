//! Our server passes the kit over everything that carries its calls, through `tetrion conformance`.

use serde_json::{Value, json};

use crate::access::{private, tls};
use crate::evaluate::tetrion;
use crate::server::Process;

/// Runs the command; returns its exit code and its output.
fn conformance(flags: &[&str]) -> (Option<i32>, String) {
    let output = tetrion(&["conformance"]).args(flags).output().unwrap();
    (output.status.code(), String::from_utf8([output.stdout, output.stderr].concat()).unwrap())
}

#[track_caller]
fn passes(flags: &[&str]) {
    let (code, text) = conformance(flags);
    assert!(
        code == Some(0) && text.contains(" files") && text.contains(": nothing differs\n"),
        "{flags:?}: {text}"
    );
}

#[test]
fn in_process() {
    passes(&[]);
}

#[test]
fn over_tcp_and_over_grpc_web() {
    let server = Process::start(&["--threads", "3", "--max-sessions", "20", "--session-memory", "64"]);
    let address = server.address.to_string();
    passes(&["--server", &address]);
    let (code, text) = conformance(&["--server", &address, "--grpc-web", "--json"]);
    let report: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((code, &report["passes"], &report["differences"]), (Some(0), &json!(true), &json!([])));
    assert!(report["num_lines_left_out"].as_u64() > Some(10), "{text}");
}

#[test]
fn over_tls_with_a_token_and_a_certificate() {
    let secret = "needle-of-conformance";
    let tokens = private("conformance.toml", &format!("[[token]]\nname = \"kit\"\nsecret = \"{secret}\"\n"));
    let token = private("conformance", &format!("{secret}\n"));
    let file = |name| tls(name);
    let server = Process::start(&[
        "--tls-cert",
        &file("cert.pem"),
        "--tls-key",
        &file("key.pem"),
        "--tls-client-ca",
        &file("client-ca.pem"),
        "--tokens",
        &tokens,
    ]);
    let address = format!("https://localhost:{}", server.address.port());
    let (authority, certificate, key) = (file("ca.pem"), file("client.pem"), file("client-key.pem"));
    let way =
        ["--server", &address, "--ca-cert", &authority, "--client-cert", &certificate, "--client-key", &key];
    passes(&[&way[..], &["--token-file", &token]].concat());
    passes(&[&way[..], &["--token-file", &token, "--grpc-web", "--only", "seeds,streams"]].concat());
    // Without a token every call is refused, which is said once.
    for flags in [&["--only", "seeds"][..], &["--only", "seeds", "--grpc-web"]] {
        let (code, text) = conformance(&[&way[..], flags].concat());
        assert!(code == Some(1) && text.lines().count() == 1 && text.contains("token"), "{text}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn over_a_unix_socket() {
    let server = Process::start(&[]);
    let path = std::env::temp_dir().join(format!("tetrion-conformance-{}", std::process::id()));
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    let to = server.address;
    let forwarding = tokio::spawn(async move {
        loop {
            let (mut caller, _) = listener.accept().await.unwrap();
            let mut server = tokio::net::TcpStream::connect(to).await.unwrap();
            tokio::spawn(async move { tokio::io::copy_bidirectional(&mut caller, &mut server).await });
        }
    });
    let address = format!("unix:{}", path.display());
    tokio::task::spawn_blocking(move || passes(&["--server", &address])).await.unwrap();
    forwarding.abort();
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn what_is_asked_of_it_is_checked() {
    let (code, text) = conformance(&["--only", "seed"]);
    assert!(code == Some(2) && text.contains("--only: no file of the kit is called \"seed\""), "{text}");
    let (code, text) = conformance(&["--server", "localhost:1,localhost:2"]);
    assert!(code == Some(2) && text.contains("--server names 2 servers, expected one"), "{text}");
    let (code, text) = conformance(&["--server", "127.0.0.1:1"]);
    assert!(code == Some(1) && text.contains("no server answers at 127.0.0.1:1"), "{text}");
    let (code, text) = conformance(&["--only", "seeds"]);
    assert!(code == Some(0) && text.contains(" of 1 file: nothing differs"), "{text}");
}
