//! What a call holds of the shared budgets: its place, and the room of its answers until the connection has written them.

use std::sync::Arc;

use bytes::Bytes;
use http_body::Frame;
use tonic::Status;

use super::connection::{Calling, Peer};
use crate::service::answers::Answers;
use crate::service::budget::{Share, Spent};
use crate::service::status::Refusal;

/// What a call holds until it ends.
#[derive(Debug)]
pub(super) struct Held {
    pub answers: Answers,
    /// The room of the answer that left last.
    leaving: Option<Arc<Share>>,
    /// Whether the client must read before the connection asks for more.
    unread: bool,
    calling: Calling,
    _place: Share,
}

impl Held {
    /// Takes a place among the calls in progress, and `room` bytes for answers that take none of their own.
    ///
    /// # Errors
    /// If there is no place or no room.
    pub fn take(peer: &Peer, room: u64) -> Result<Held, Status> {
        let full = |spent: Spent| Refusal::CallLimit { limit: spent.limit };
        let place = peer.calls().take(1).map_err(full)?;
        let answers = Answers::new(peer.answers(), room)?;
        Ok(Held { answers, leaving: None, unread: false, calling: peer.begin(), _place: place })
    }

    /// The call now waits until the client has read the answers sent so far.
    pub fn waits_for_reader(&mut self) {
        self.unread = true;
        self.calling.waits_for_reader();
    }

    /// The connection asks for more, so the client has read the answers sent so far.
    pub fn is_read(&mut self) {
        if std::mem::take(&mut self.unread) {
            self.calling.is_read();
            self.leaving = None;
        }
    }

    /// Data takes its room along and returns it when the connection has written the last byte. Where gRPC-Web turns the data
    /// into text on the way, the call keeps the room until the connection asks for more.
    pub fn leave(&mut self, frame: Frame<Bytes>) -> Frame<Bytes> {
        frame.map_data(|data| {
            self.leaving = self.answers.leave(data.len() as u64).map(Arc::new);
            match &self.leaving {
                Some(room) => Bytes::from_owner(Leaving { data, _room: room.clone() }),
                None => data,
            }
        })
    }
}

/// Bytes of an answer between the call and the connection.
struct Leaving {
    data: Bytes,
    _room: Arc<Share>,
}

impl AsRef<[u8]> for Leaving {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}
