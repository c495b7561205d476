//! Callers that leave in the middle of a request: their calls are cancelled, and are no faults of the server.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use tonic::Code;

use super::Process;
use super::traces::{collect, spans};

const METHOD: &str = "tetrion.v1.EnvironmentService/Step";
/// The beginning of a message of 95 bytes.
const BEGINNING: &[u8] = b"\0\0\0\0\x5f\x0a\x04";

/// The ends of a connection or of a call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    /// The client closes its connection.
    Closed,
    /// The client's system has no process for the connection any more.
    Reset,
    /// The client ends the HTTP/2 stream with this code.
    Stream(u32),
}

/// Waits until a condition holds for the metrics.
#[track_caller]
fn wait(process: &Process, holds: impl Fn(&str) -> bool) -> String {
    let begun = Instant::now();
    loop {
        let metrics = process.metrics();
        if holds(&metrics) {
            return metrics;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{metrics}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The sample of a metric of the method; 0 if it is not there.
fn sample(metrics: &str, start: &str) -> u64 {
    let method = format!("\"{METHOD}\""); // not the beginning of another method
    let line = metrics.lines().find(|line| line.starts_with(start) && line.contains(&method));
    line.map_or(0, |line| line.rsplit_once(' ').unwrap().1.parse().unwrap())
}

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// The beginning of a call over HTTP/2. The fields of its headers are literals in no table.
fn http2(encoding: &str) -> Vec<u8> {
    let path = format!("/{METHOD}");
    let mut fields = vec![
        (":method", "POST"),
        (":scheme", "http"),
        (":path", &path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ];
    if !encoding.is_empty() {
        fields.push(("grpc-encoding", encoding));
    }
    let text = |text: &str| [&[text.len() as u8], text.as_bytes()].concat();
    let block: Vec<u8> =
        fields.iter().flat_map(|(name, value)| [vec![0], text(name), text(value)].concat()).collect();
    let settings = frame(4, 0, 0, &[]);
    let (headers, data) = (frame(1, 4, 1, &block), frame(0, 0, 1, BEGINNING));
    [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &settings[..], &headers, &data].concat()
}

/// The beginning of a call from a page, over HTTP/1.1.
fn web(content_type: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST /{METHOD} HTTP/1.1\r\nhost: localhost\r\ncontent-type: {content_type}\r\ncontent-length: 100\r\n\r\n"
    );
    [head.as_bytes(), body].concat()
}

/// Begins a call, and leaves when the server has its bytes.
fn leave(process: &Process, request: &[u8], end: End) {
    let received = sample(&process.metrics(), "tetrion_received_bytes_total");
    let mut stream = TcpStream::connect(process.address).unwrap();
    stream.write_all(request).unwrap();
    wait(process, |metrics| sample(metrics, "tetrion_received_bytes_total") > received);
    assert_eq!(sample(&process.metrics(), "tetrion_calls_in_flight"), 1);
    match end {
        End::Closed => {
            stream.shutdown(Shutdown::Write).unwrap();
            stream.read_to_end(&mut Vec::new()).unwrap();
        }
        End::Reset => {
            // A socket that is closed while it has unread bytes resets its connection.
            stream.peek(&mut [0]).unwrap();
        }
        End::Stream(code) => {
            stream.write_all(&frame(3, 0, 1, &code.to_be_bytes())).unwrap();
            wait(process, |metrics| sample(metrics, "tetrion_calls_in_flight") == 0);
            // The connection goes on.
            stream.write_all(&frame(6, 0, 0, b"question")).unwrap();
            let mut answer = Vec::<u8>::new();
            while !answer.windows(8).any(|part| part == b"question") {
                let mut some = [0; 1024];
                let len = stream.read(&mut some).unwrap();
                assert!(len > 0, "the connection has ended");
                answer.extend(&some[..len]);
            }
        }
    }
    drop(stream);
    wait(process, |metrics| sample(metrics, "tetrion_calls_in_flight") == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_that_leaves_is_no_fault_of_the_server() {
    let (collector, mut exports) = collect();
    let process = Process::start(&["--log", "debug", "--otlp", &format!("http://{collector}")]);
    let mut calls = 0;
    for (request, ends) in [
        // CANCEL, INTERNAL_ERROR. NO_ERROR is the end of a request.
        (http2(""), &[End::Closed, End::Reset, End::Stream(8), End::Stream(2)][..]),
        (http2("gzip"), &[End::Closed, End::Reset, End::Stream(8)]),
        (web("application/grpc-web", BEGINNING), &[End::Closed]),
        (web("application/grpc-web-text", b"AAAAAF8K"), &[End::Closed]),
    ] {
        for end in ends {
            leave(&process, &request, *end);
            calls += 1;
            let metrics = process.metrics();
            let cancelled = format!("tetrion_calls_total{{method=\"{METHOD}\",code=\"CANCELLED\"}}");
            let ended = sample(&metrics, &cancelled);
            assert_eq!(ended, calls, "{end:?} of {}: {metrics}", String::from_utf8_lossy(&request));
            let mut refusals = metrics.lines().filter(|line| line.starts_with("tetrion_refusals_total{"));
            assert!(refusals.all(|line| line.ends_with(" 0")), "{metrics}");
        }
    }
    let stopped = tokio::task::spawn_blocking(|| process.stop());
    let spans = spans(&mut exports, calls as usize).await;
    assert_eq!(spans.len() as u64, calls);
    for span in &spans {
        assert_eq!(span.number("rpc.grpc.status_code"), Code::Cancelled as i64, "{span:?}");
        assert_eq!(span.status_code(), 0, "{span:?}");
    }
    let log = stopped.await.unwrap();
    let ours = |line: &&serde_json::Value| line["target"].as_str().unwrap().starts_with("tetrion");
    let failed: Vec<_> =
        log.iter().filter(ours).filter(|line| line["fields"]["message"] == "a call failed").collect();
    assert_eq!(failed.len() as u64, calls, "{failed:?}");
    for line in failed {
        assert_eq!(
            (&line["level"], &line["fields"]["code"]),
            (&"DEBUG".into(), &"CANCELLED".into()),
            "{line}"
        );
    }
    assert!(!log.iter().any(|line| line["level"] == "ERROR" || line["level"] == "WARN"), "{log:?}");
}
