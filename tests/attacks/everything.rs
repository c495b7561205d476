//! Every limit on memory at once: what the server holds for sessions, requests, answers and calls, each at its most.

use anyhow::Result;

use crate::arena::Arena;
use crate::http2::{Connection, begin};
use crate::messages::RESET;
use crate::{answers, requests};

/// Answers that are not read, sessions full of piece sequences, messages that come nearly whole and others that become large,
/// and calls that are begun and not made. All of it is held until the server has stopped.
pub async fn at_once(arena: &Arena) -> Result<()> {
    answers::with_a_full_socket(arena).await?;
    requests::sequences(arena).await?;
    requests::withheld(arena).await?;
    requests::compressed_streams(arena).await?;
    requests::sessions(arena).await?;
    let frames: Vec<u8> = (0..1000).flat_map(|number| begin(2 * number + 1, RESET, &[])).collect();
    for _ in 0..arena.times(40, 100) {
        let mut connection = Connection::open(arena.address, &[]).await?;
        connection.send(&frames).await?;
        arena.hold(connection);
    }
    Ok(())
}
