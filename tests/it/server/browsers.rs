//! The server as browsers see it: a page, metrics over plain HTTP, gRPC-Web, and which pages may call.

use super::{Process, health};
use crate::support::Command;

#[tokio::test]
async fn plain_http_shows_a_page_and_the_metrics() {
    let process = Process::start(&[]);
    health(process.channel().await, "").await.unwrap();
    health(process.channel().await, "nobody").await.unwrap_err();

    let page = process.get("/");
    assert!(page.starts_with("HTTP/1.1 200"), "{page}");
    assert!(page.contains("<h1>Tetrion</h1>"), "{page}");
    assert!(process.get("/nothing").starts_with("HTTP/1.1 404"));

    let metrics = process.get("/metrics");
    assert!(metrics.starts_with("HTTP/1.1 200"), "{metrics}");
    for line in [
        r#"tetrion_calls_total{method="grpc.health.v1.Health/Check",code="OK"} 1"#,
        r#"tetrion_calls_total{method="grpc.health.v1.Health/Check",code="NOT_FOUND"} 1"#,
        r#"tetrion_call_seconds_count{method="grpc.health.v1.Health/Check"} 2"#,
        r#"tetrion_calls_in_flight{method="grpc.health.v1.Health/Check"} 0"#,
    ] {
        assert!(metrics.contains(line), "no line {line} in:\n{metrics}");
    }
}

/// What a browser learns when it asks whether a page of this origin may call: the origin that may, or a refusal.
fn preflight(process: &Process, origin: &str) -> Option<String> {
    let request = format!(
        "OPTIONS /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\nconnection: close\r\n\
         access-control-request-method: POST\r\naccess-control-request-headers: authorization,x-grpc-web\r\n\r\n"
    );
    let answer = String::from_utf8(process.http(request.as_bytes())).unwrap();
    if answer.starts_with("HTTP/1.1 403") {
        return None;
    }
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("access-control-allow-headers: authorization,x-grpc-web\r\n"), "{answer}");
    let allowed = answer.lines().find_map(|line| line.strip_prefix("access-control-allow-origin: "));
    allowed.map(str::to_owned)
}

#[test]
fn browsers_reach_it_over_grpc_web() {
    let process = Process::start(&[]);
    // An empty message: no compression, no bytes.
    let answer = process.http(
        b"POST /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: localhost\r\norigin: http://localhost:8080\r\nconnection: close\r\n\
          content-type: application/grpc-web+proto\r\ncontent-length: 5\r\n\r\n\0\0\0\0\0",
    );
    let text = String::from_utf8_lossy(&answer).to_lowercase();
    assert!(text.starts_with("http/1.1 200"), "{text}");
    assert!(text.contains("access-control-allow-origin: http://localhost:8080\r\n"), "{text}");
    let exposed =
        "access-control-expose-headers: grpc-status,grpc-message,grpc-status-details-bin,x-request-id\r\n";
    assert!(text.contains(exposed), "{text}");
    // A message of two bytes: field 1, SERVING. Then the trailers, as a message of their own.
    assert!(answer.windows(7).any(|bytes| bytes == b"\0\0\0\0\x02\x08\x01"), "{text}");
    assert!(text.contains("grpc-status:0"), "{text}");
}

#[test]
fn pages_of_other_machines_may_call_where_they_are_allowed() {
    let process = Process::start(&[]);
    for origin in ["http://localhost", "http://localhost:3000", "https://127.0.0.1:1", "http://[::1]:80"] {
        assert_eq!(preflight(&process, origin).as_deref(), Some(origin));
    }
    for origin in [
        "http://page.example",
        "http://localhost.page.example",
        "http://127.0.0.1.page.example",
        "null",
        "localhost",
    ] {
        assert_eq!(preflight(&process, origin), None, "{origin}");
    }
    let process = Process::start(&["--allow-origin", "https://lab.example", "--allow-origin", "http://a:8"]);
    for origin in ["https://lab.example", "http://a:8"] {
        assert_eq!(preflight(&process, origin).as_deref(), Some(origin));
    }
    for origin in ["http://lab.example", "https://lab.example:8443", "http://localhost", "http://a"] {
        assert_eq!(preflight(&process, origin), None, "{origin}");
    }
    // The page of a server may always call it.
    assert_eq!(foreign_call(&process, "http://localhost", "localhost", WEB), 200);
    let process = Process::start(&["--allow-origin", "*"]);
    assert_eq!(foreign_call(&process, "http://page.example", "localhost", WEB), 200);
    assert_eq!(preflight(&process, "http://page.example").as_deref(), Some("*"));
    let output = Command::new(env!("CARGO_BIN_EXE_tetrion"))
        .args(["serve", "--allow-origin", "https://lab.example/"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "an origin has no path");
}

const WEB: &str = "application/grpc-web+proto";

/// The status of a call from a page of this origin that creates a session.
fn foreign_call(process: &Process, origin: &str, host: &str, kind: &str) -> u16 {
    let mut request = format!(
        "POST /tetrion.v1.EnvironmentService/CreateSession HTTP/1.1\r\nhost: {host}\r\norigin: {origin}\r\n\
         connection: close\r\ncontent-type: {kind}\r\ncontent-length: 5\r\n\r\n"
    )
    .into_bytes();
    request.extend([0; 5]);
    let answer = String::from_utf8_lossy(&process.http(&request)).into_owned();
    answer.split(' ').nth(1).unwrap_or_else(|| panic!("{answer}")).parse().unwrap()
}

fn num_sessions(process: &Process) -> u32 {
    let metrics = process.get("/metrics");
    let sessions = metrics.lines().find_map(|line| line.strip_prefix("tetrion_sessions_created_total "));
    sessions.unwrap_or("0").parse().unwrap()
}

#[test]
fn calls_of_pages_from_elsewhere_are_refused_before_they_do_anything() {
    let process = Process::start(&[]);
    let port = process.address.port();
    for origin in [
        "http://page.example",
        "https://page.example:443",
        "http://localhost.page.example",
        "http://10.0.0.1",
        "http://user@page.example",
        "localhost",
        "null",
        "",
        "http://localhost http://page.example",
        "http://localhost\r\norigin: http://page.example",
    ] {
        for kind in [WEB, "application/grpc-web-text", "application/grpc", "text/plain"] {
            assert_eq!(foreign_call(&process, origin, "localhost", kind), 403, "{origin} as {kind}");
        }
    }
    for path in ["/", "/page.js", "/metrics", "/nothing", "/grpc.health.v1.Health/Check"] {
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\norigin: null\r\nconnection: close\r\n\r\n");
        let answer = String::from_utf8(process.http(request.as_bytes())).unwrap();
        assert!(answer.starts_with("HTTP/1.1 403 Forbidden\r\n"), "{path}: {answer}");
        assert!(answer.contains("--allow-origin"), "{answer}");
    }
    assert_eq!(num_sessions(&process), 0, "a foreign page has created a session");
    let refused = r#"tetrion_refusals_total{reason="UNKNOWN_ORIGIN"} 45"#;
    assert!(process.get("/metrics").contains(refused));
    for origin in ["http://localhost", &format!("http://127.0.0.1:{port}"), "https://[::1]:8443"] {
        assert_eq!(foreign_call(&process, origin, "localhost", WEB), 200, "{origin}");
    }
    assert_eq!(num_sessions(&process), 3);
}

#[test]
fn the_page_of_a_server_with_any_name_may_call_it() {
    let process = Process::start(&["--allow-host", "*"]);
    for (origin, host) in [
        ("https://lab.example", "lab.example"),
        ("https://lab.example", "LAB.example:443"),
        ("http://lab.example:80", "lab.example"),
        ("http://lab.example:50451", "lab.example:50451"),
        ("https://[2001:db8::1]:50451", "[2001:db8::1]:50451"),
    ] {
        assert_eq!(foreign_call(&process, origin, host, WEB), 200, "{origin} at {host}");
    }
    for (origin, host) in [
        ("https://lab.example", "lab.example:80"),
        ("http://lab.example:50451", "lab.example"),
        ("https://lab.example", "other.lab.example"),
        ("https://evil.example", "lab.example"),
    ] {
        assert_eq!(foreign_call(&process, origin, host, WEB), 403, "{origin} at {host}");
    }
}
