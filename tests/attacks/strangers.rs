//! Pages in a browser: what a page of another origin makes a visitor's browser send must change nothing here.
//!
//! A browser sends `text/plain` without asking first, and anything to a name that now resolves to 127.0.0.1.

use anyhow::{Context, Result, ensure};
use prost::Message;
use tetrion::protocol::pb;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::arena::Arena;
use crate::http2::{Connection, END_HEADERS, HEADERS, block, frame, message};
use crate::messages::CREATE;

/// Calls that make sessions, as a page elsewhere could have them sent: header fields, over HTTP/2 and over HTTP/1.1.
const SENT: &[(&str, &[(&str, &str)])] = &[
    ("localhost", &[("content-type", "text/plain"), ("origin", "http://page.example")]),
    ("localhost", &[("content-type", "text/plain;charset=utf-8"), ("origin", "null")]),
    ("localhost", &[("content-type", "text/plain"), ("sec-fetch-site", "cross-site")]),
    (
        "localhost",
        &[("content-type", "application/x-www-form-urlencoded"), ("origin", "http://page.example")],
    ),
    ("localhost", &[("content-type", "multipart/form-data; boundary=x"), ("origin", "http://page.example")]),
    ("localhost", &[("origin", "http://page.example")]),
    // A name of the attacker's that resolves to this machine: to the browser, the page is of this origin.
    ("page.example", &[("content-type", "application/grpc-web+proto"), ("origin", "http://page.example")]),
    ("page.example:80", &[("content-type", "application/grpc-web+proto")]),
    ("page.example", &[("content-type", "application/grpc"), ("origin", "http://page.example")]),
    ("localhost.page.example", &[("content-type", "application/grpc-web+proto")]),
    ("127.0.0.1.page.example", &[("content-type", "application/grpc-web+proto")]),
];

/// The number of sessions that the bystander has.
const OWN_SESSIONS: u32 = 1;

pub async fn pages(arena: &Arena) -> Result<()> {
    let request = pb::CreateSessionRequest {
        config: Some(pb::SessionConfig { num_envs: 1, ..Default::default() }),
        ..Default::default()
    };
    let bytes = request.encode_to_vec();
    for (host, fields) in SENT {
        let head = [(":method", "POST"), (":scheme", "http"), (":path", CREATE), (":authority", host)];
        let head = frame(HEADERS, END_HEADERS, 1, &block(&[&head[..], fields].concat()));
        let mut connection = Connection::open(arena.address, &[]).await?;
        connection.send(&[head, message(1, false, &bytes, true)].concat()).await?;
        connection.settle().await?;
        check(arena, host, fields, "HTTP/2").await?;

        let mut head = format!("POST {CREATE} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        fields.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        head += &format!("content-length: {}\r\n\r\n\0\0\0\0{}", bytes.len() + 5, bytes.len() as u8 as char);
        exchange(arena, &[head.as_bytes(), &bytes].concat()).await?;
        check(arena, host, fields, "HTTP/1.1").await?;
    }
    // The server does not show its pages under a name that is not its own.
    for path in ["/", "/metrics"] {
        let ask = format!("GET {path} HTTP/1.1\r\nhost: page.example\r\nconnection: close\r\n\r\n");
        let answer = exchange(arena, ask.as_bytes()).await?;
        ensure!(!answer.starts_with("HTTP/1.1 200"), "{path} is shown to page.example");
    }
    Ok(())
}

async fn exchange(arena: &Arena, request: &[u8]) -> Result<String> {
    let mut stream = TcpStream::connect(arena.address).await?;
    stream.write_all(request).await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

async fn check(arena: &Arena, host: &str, fields: &[(&str, &str)], over: &str) -> Result<()> {
    let ask = b"GET /metrics HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    let metrics = exchange(arena, ask).await?;
    let sessions = metrics.lines().find_map(|line| line.strip_prefix("tetrion_sessions "));
    let sessions: u32 = sessions.context("a number of sessions")?.parse()?;
    ensure!(sessions == OWN_SESSIONS, "a page has made a session: to {host} over {over} with {fields:?}");
    Ok(())
}
