//! Every limit on memory at once: what the server holds for sessions, evaluations, requests, answers, calls, headers and
//! connections, each at its most.

use anyhow::Result;

use crate::arena::Arena;
use crate::http2::{Connection, begin};
use crate::messages::RESET;
use crate::{answers, connections, evaluations, requests};

/// Answers that are not read, evaluations whose results are not read, sessions full of piece sequences, messages that come nearly
/// whole and others that become large, headers that never end, and calls that are begun and not made. All of it is held until
/// the server has stopped.
pub async fn at_once(arena: &Arena) -> Result<()> {
    answers::with_a_full_socket(arena).await?;
    requests::sequences(arena).await?;
    requests::withheld(arena).await?;
    requests::compressed_streams(arena).await?;
    requests::sessions(arena).await?;
    evaluations::unread(arena).await?;
    answers::pages(arena, 20).await?;
    requests::headers(arena, 8).await?;
    requests::windows(arena, 30).await?;
    connections::unfinished(arena, 30).await?;
    let frames: Vec<u8> = (0..1000).flat_map(|number| begin(2 * number + 1, RESET, &[])).collect();
    // All of these together have as many connections as there may be, but for a few.
    for _ in 0..40 {
        let mut connection = Connection::open(arena.address, &[]).await?;
        connection.send(&frames).await?;
        arena.hold(connection);
    }
    Ok(())
}
