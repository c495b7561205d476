//! Connections that are opened and say nothing, or not enough, encrypted or not: they cost their opener a port, and the
//! server no more.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore};

use crate::arena::Arena;
use crate::bystander::connect;
use crate::http2::{Connection, END_STREAM, HEADERS, PREFACE, begin, block, call, fields, frame, settings};
use crate::messages::INFO;

/// An address of the loopback that is not that of other callers.
const ELSEWHERE: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 2);

/// Every way of beginning and not going on.
fn beginnings() -> Vec<Vec<u8>> {
    let preface = [PREFACE, &settings(&[])].concat();
    let half = &begin(1, INFO, &[])[..30];
    vec![
        b"".to_vec(),
        b"PRI * HT".to_vec(),
        PREFACE.to_vec(),
        preface.clone(),
        [&preface[..], half].concat(),
        [&preface[..], &frame(HEADERS, END_STREAM, 1, &block(&fields(INFO)))].concat(),
        b"GET / HT".to_vec(),
        b"GET / HTTP/1.1\r\nhost: localhost\r\nx-slow: ".to_vec(),
        b"POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 1000000\r\n\r\nx".to_vec(),
        b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(),
    ]
}

/// Connections that begin in every way that exists, and do not go on: as many as one address may have, and more than there
/// may be in all. The server closes those that are too many; callers elsewhere find a place.
pub async fn silent(arena: &Arena) -> Result<()> {
    for bytes in beginnings().iter().cycle().take(arena.times(3000, 15_000)) {
        let mut connection = Connection::silent_from(ELSEWHERE, arena.address).await?;
        connection.push(bytes, Duration::from_secs(5)).await;
        arena.hold(connection);
    }
    arena.serves_newcomers().await
}

/// The server ends connections that do not go on, each by its deadline.
pub async fn abandoned(arena: &Arena) -> Result<()> {
    end(arena, beginnings()).await
}

/// So it does with handshakes of TLS that begin in every way, and do not go on.
pub async fn handshakes(arena: &Arena) -> Result<()> {
    let server = ServerName::try_from("localhost")?;
    let settings = ClientConfig::builder().with_root_certificates(RootCertStore::empty());
    let mut client = ClientConnection::new(Arc::new(settings.with_no_client_auth()), server)?;
    let mut hello = Vec::new();
    client.write_tls(&mut hello)?;
    let half = hello[..hello.len() / 2].to_vec();
    let beginnings = [Vec::new(), b"\x16\x03".to_vec(), half, hello, b"GET / HT".to_vec()];
    let number = arena.times(400, 900);
    end(arena, beginnings.into_iter().cycle().take(number)).await
}

/// Begins connections like this, and waits for their ends. Meanwhile the server serves others.
async fn end(arena: &Arena, beginnings: impl IntoIterator<Item = Vec<u8>>) -> Result<()> {
    let mut waiting = tokio::task::JoinSet::new();
    for bytes in beginnings {
        let mut connection = Connection::silent(arena.address).await?;
        connection.send(&bytes).await?;
        waiting.spawn(async move { (bytes, connection.closes_within(Duration::from_secs(6)).await) });
    }
    arena.serves_newcomers().await?;
    while let Some(waited) = waiting.join_next().await {
        let (bytes, closed) = waited?;
        ensure!(closed, "still open after {:?}", String::from_utf8_lossy(&bytes));
    }
    Ok(())
}

/// Requests over HTTP/1.1 whose headers never end, of as many bytes as the server takes.
pub async fn endless_headers(arena: &Arena) -> Result<()> {
    unfinished(arena, arena.times(400, 2000)).await
}

/// The same over this many connections.
pub async fn unfinished(arena: &Arena, connections: usize) -> Result<()> {
    let mut bytes = b"GET / HTTP/1.1\r\nhost: localhost\r\n".to_vec();
    for number in 0..50 {
        bytes.extend(format!("x-more-{number}: {}\r\n", "a".repeat(8000)).bytes());
    }
    for _ in 0..connections {
        let mut connection = Connection::silent(arena.address).await?;
        connection.push(&bytes[..390_000], Duration::from_millis(100)).await;
        arena.hold(connection);
    }
    Ok(())
}

/// Thousands of connections that do everything right: each makes a call, and keeps the connection.
pub async fn thousands(arena: &Arena) -> Result<()> {
    let request = call(1, INFO, &[]);
    for _ in 0..arena.times(1000, 15_000) {
        let mut connection = Connection::open(arena.address, &[]).await?;
        connection.send(&request).await?;
        arena.hold(connection);
    }
    Ok(())
}

/// More connections than the server has descriptors: it goes on with those that it has, does not spin, does not fill its
/// log, and takes new ones when there is room again.
pub async fn out_of_descriptors(arena: &Arena) -> Result<()> {
    let mut connections = Vec::new();
    for _ in 0..200 {
        connections.push(Connection::silent(arena.address).await?);
    }
    tokio::time::sleep(Duration::from_millis(200)).await;
    let (begun, before) = (Instant::now(), arena.victim.cpu_time());
    tokio::time::sleep(Duration::from_secs(1)).await;
    let used = arena.victim.cpu_time() - before;
    ensure!(used < begun.elapsed() / 3, "{used:?} of work in {:?}, out of descriptors", begun.elapsed());
    drop(connections);
    tokio::time::sleep(Duration::from_secs(1)).await;
    connect(arena.address).await?;
    Ok(())
}

/// No reader reads the log, which would have much to say.
pub async fn without_a_log(arena: &Arena) -> Result<()> {
    for bytes in beginnings() {
        let mut connection = Connection::silent(arena.address).await?;
        connection.send(&bytes).await?;
    }
    for _ in 0..200 {
        let mut connection = Connection::open(arena.address, &[]).await?;
        connection.send(&[call(1, INFO, &[]), call(3, "/no.such.Service/Method", b"\xff")].concat()).await?;
    }
    Ok(())
}
