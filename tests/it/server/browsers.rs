//! The server as browsers see it: a page, metrics over plain HTTP, gRPC-Web, and which pages may call.

use std::process::Command;

use super::{Process, health};

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

/// What a browser learns when it asks whether a page of this origin may call: the origin that may, if any.
fn preflight(process: &Process, origin: &str) -> Option<String> {
    let request = format!(
        "OPTIONS /grpc.health.v1.Health/Check HTTP/1.1\r\nhost: localhost\r\norigin: {origin}\r\nconnection: close\r\n\
         access-control-request-method: POST\r\naccess-control-request-headers: authorization,x-grpc-web\r\n\r\n"
    );
    let answer = String::from_utf8(process.http(request.as_bytes())).unwrap();
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
    let process = Process::start(&["--allow-origin", "*"]);
    assert_eq!(preflight(&process, "http://page.example").as_deref(), Some("*"));
    let output = Command::new(env!("CARGO_BIN_EXE_tetrion"))
        .args(["serve", "--allow-origin", "https://lab.example/"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2), "an origin has no path");
}
