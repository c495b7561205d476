//! Incoming requests: limits how much one connection can make the server hold before any request is complete.
//!
//! tonic allocates a message as soon as its length is known, and a caller need not send the rest. On one connection,
//! 1,024 calls with unfinished messages of 64 MiB would hold 64 GiB. HTTP/2 does not prevent this, because its windows
//! limit only unread bytes. So the body of every request passes through [`Reception`], which reads the length before
//! each message and
//!
//! * refuses a message that is too long for its method;
//! * takes its length from the budgets of the connection and of the server, and refuses the message if too little is
//!   left. It does not wait: unread bytes would fill the connection's window, and the messages that it waits for would
//!   never be complete;
//! * ends a call whose client stops in the middle of a message, or before its only message has ended: each [`STRETCH`]
//!   must arrive within [`ServerLimits::request_timeout`](tetrion_service::ServerLimits::request_timeout);
//! * holds back the end of a call's only message until the request has ended, because from then on the message takes
//!   more memory, decompressed and decoded, and a thread.
//!
//! The call keeps its reservation until it is answered, because tensors are parts of the encoded message. Decompressed
//! messages count where the server [decompresses](super::decompress) them; decoded messages count before decoding
//! ([`charge`]).

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body::Frame;
use tokio::time::{Sleep, sleep};
use tonic::Status;
use tonic::body::Body;

use super::connection::Peer;
use tetrion_service::CallContext;
use tetrion_service::budget::{Share, Spent};
use tetrion_service::status::Refusal;

/// Bytes before every message: a compression flag and the length.
pub(super) const PREFIX: usize = 5;

/// Bytes of a request that must arrive within the deadline; a telephone line is fast enough.
const STRETCH: usize = 64 << 10;

/// Bytes of a message whose reservation ends as soon as the message is decoded, because every call reserves as much
/// from its start to its end.
pub(super) const LIGHT: u64 = 4 << 10;

/// The requests that a method takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Takes {
    /// Whether the request may have several messages.
    pub stream: bool,
    /// Most bytes of a message after decompression.
    pub max_bytes: u32,
}

impl Takes {
    /// These limits, but with at most so many bytes per message.
    pub(super) fn at_most(self, max_bytes: u32) -> Takes {
        Takes { max_bytes: self.max_bytes.min(max_bytes), ..self }
    }
}

/// The body of a request, which reserves memory before tonic reads it.
#[derive(Debug)]
pub(super) struct Reception {
    inner: Body,
    takes: Takes,
    share: Share,
    call: Arc<CallContext>,
    /// Longest wait for the next stretch of a request.
    patience: Duration,
    /// Timer, started when the server begins to wait.
    overdue: Option<Pin<Box<Sleep>>>,
    /// Bytes that have arrived since the timer started. A message starts with a whole stretch.
    in_stretch: usize,
    prefix: [u8; PREFIX],
    /// Bytes of the current prefix that have arrived.
    in_prefix: usize,
    /// Bytes of the message that have yet to arrive.
    missing: usize,
    /// Whether a message has started.
    begun: bool,
    /// End of the only message, held back until the request has ended.
    held: Option<Bytes>,
    ended: bool,
}

impl Reception {
    pub(super) fn new(inner: Body, takes: Takes, peer: &Peer, call: Arc<CallContext>) -> Reception {
        Reception {
            inner,
            takes,
            share: peer.requests().share(),
            call,
            patience: peer.limits().request_timeout,
            overdue: None,
            in_stretch: 0,
            prefix: [0; PREFIX],
            in_prefix: 0,
            missing: 0,
            begun: false,
            held: None,
            ended: false,
        }
    }

    /// Whether the bytes so far end with a complete message.
    fn is_complete(&self) -> bool {
        self.begun && self.missing == 0 && self.in_prefix == 0
    }

    /// Follows the message boundaries in newly arrived bytes.
    fn follow(&mut self, mut data: &[u8]) -> Result<(), Status> {
        while !data.is_empty() {
            if self.missing > 0 {
                let here = self.missing.min(data.len());
                self.missing -= here;
                data = &data[here..];
                continue;
            }
            if self.is_complete() && !self.takes.stream {
                return Err(Status::internal("a second message in a call that takes one"));
            }
            self.prefix[self.in_prefix] = data[0];
            self.in_prefix += 1;
            data = &data[1..];
            if self.in_prefix == PREFIX {
                self.begin()?;
            }
        }
        Ok(())
    }

    /// Starts the message that the prefix announces.
    fn begin(&mut self) -> Result<(), Status> {
        let [_, length @ ..] = self.prefix;
        let (length, max_bytes) = (u32::from_be_bytes(length), self.takes.max_bytes);
        if length > max_bytes {
            return Err(too_long(length, max_bytes));
        }
        self.share.grow_to(length.into()).map_err(|spent| no_room(length.into(), spent))?;
        self.begun = true;
        self.in_prefix = 0;
        self.missing = length as usize;
        self.in_stretch = STRETCH;
        Ok(())
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        if self.share.amount() > LIGHT {
            self.call.keep_request(self.share.take_out());
        }
    }
}

/// Reserves memory for a message of the current call that takes `bytes` once decoded.
pub(super) fn charge(bytes: u64) -> Result<(), Status> {
    CallContext::read_request(bytes).map_err(|spent| no_room(bytes, spent))
}

/// The refusal of a message that is too long for its method.
pub(super) fn too_long(length: impl std::fmt::Display, max_bytes: u32) -> Status {
    Refusal::RequestTooLarge { length: length.to_string(), max_bytes }.into()
}

/// The refusal of a message of `bytes` for which too little memory is left.
pub(super) fn no_room(bytes: u64, spent: Spent) -> Status {
    Refusal::spent(spent, |limit, taken| Refusal::RequestLimit { bytes, limit, taken }).into()
}

impl http_body::Body for Reception {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        while !this.ended {
            let frame = match Pin::new(&mut this.inner).poll_frame(cx)? {
                Poll::Ready(frame) => frame,
                // Between two messages a stream may be silent for any time.
                Poll::Pending if this.takes.stream && this.missing == 0 && this.in_prefix == 0 => {
                    this.overdue = None;
                    return Poll::Pending;
                }
                Poll::Pending => {
                    let patience = this.patience;
                    let overdue = this.overdue.get_or_insert_with(|| Box::pin(sleep(patience)));
                    if overdue.as_mut().poll(cx).is_pending() {
                        return Poll::Pending;
                    }
                    return Poll::Ready(Some(Err(Refusal::SlowRequest { patience }.into())));
                }
            };
            let Some(frame) = frame else {
                this.ended = true;
                break;
            };
            let Ok(data) = frame.into_data() else { continue }; // trailers have no meaning in a request
            this.in_stretch += data.len();
            this.follow(&data)?;
            if this.in_stretch >= STRETCH {
                (this.overdue, this.in_stretch) = (None, 0);
            }
            if this.takes.stream || !this.is_complete() {
                return Poll::Ready(Some(Ok(Frame::data(data))));
            }
            if !data.is_empty() {
                this.held = Some(data);
            }
        }
        Poll::Ready(this.held.take().map(|data| Ok(Frame::data(data))))
    }
}
