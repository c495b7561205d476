//! Resources that a call, or a request for a page, holds: its place, and the memory of its answers until the connection
//! has written them.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tonic::Status;
use tonic::body::Body;

use super::connection::{Calling, Peer};
use tetrion_service::answers::Answers;
use tetrion_service::budget::{Share, Spent};
use tetrion_service::status::Refusal;

/// Resources that a call holds until it ends.
#[derive(Debug)]
pub(super) struct Held {
    pub answers: Answers,
    /// Memory of the answer that was passed to the connection last.
    leaving: Option<Arc<Share>>,
    calling: Calling,
    _place: Share,
}

impl Held {
    /// Takes a place among the calls in progress, and `room` bytes for small answers.
    ///
    /// # Errors
    /// If no place is free or too little memory is left.
    pub fn take(peer: &Peer, room: u64) -> Result<Held, Status> {
        let full = |spent: Spent| Refusal::spent(spent, |limit, _| Refusal::CallLimit { limit });
        let place = peer.calls().take(1).map_err(full)?;
        let answers = Answers::new(peer.answers(), room)?;
        Ok(Held { answers, leaving: None, calling: peer.begin(), _place: place })
    }

    /// Notes that the call waits until the client has read the answers sent so far.
    pub fn waits_for_reader(&mut self) {
        self.answers.waits_for_reader();
        self.calling.waits_for_reader();
    }

    /// Notes that the connection asks for more, so the client has read the answers sent so far.
    pub fn is_read(&mut self) {
        if self.answers.is_read() {
            self.calling.is_read();
            self.leaving = None;
        }
    }

    /// Attaches memory to data, which releases it once the connection has written the last byte. If gRPC-Web converts
    /// the data to text on the way, the call keeps the memory until the connection asks for more.
    pub fn leave(&mut self, frame: Frame<Bytes>) -> Frame<Bytes> {
        frame.map_data(|data| {
            self.leaving = self.answers.leave(data.len() as u64).map(Arc::new);
            match (self.leaving.clone(), self.answers.evaluation()) {
                (None, None) => data,
                rooms => Bytes::from_owner(Leaving { data, _rooms: rooms }),
            }
        })
    }
}

/// The answer to a request that is not a call, with its memory and its place.
#[derive(Debug)]
pub(super) struct PlainAnswer {
    body: Body,
    held: Arc<(Share, Share)>,
}

impl PlainAnswer {
    /// Reserves the memory of an answer.
    ///
    /// # Errors
    /// If too little memory is left.
    pub fn new(body: Body, peer: &Peer, place: Share) -> Result<PlainAnswer, Spent> {
        let bytes = http_body::Body::size_hint(&body).exact().unwrap_or(0);
        let room = peer.answers().take(bytes)?;
        Ok(PlainAnswer { body, held: Arc::new((place, room)) })
    }
}

impl http_body::Body for PlainAnswer {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        let held = self.held.clone();
        frame.map_ok(|frame| frame.map_data(|data| Bytes::from_owner(Leaving { data, _rooms: held })))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Bytes of an answer on their way from the call to the connection.
struct Leaving<R> {
    data: Bytes,
    _rooms: R,
}

impl<R> AsRef<[u8]> for Leaving<R> {
    fn as_ref(&self) -> &[u8] {
        &self.data
    }
}
