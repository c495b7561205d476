//! The body of an answer. Counts its bytes, ends it at the call's deadline and when the server drains, and turns a
//! panic of the service into a status.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::http::HeaderMap;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use tokio::time::{Sleep, sleep_until};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tonic::Status;
use tonic::body::Body;

use super::codes::code_of;
use super::held::Held;
use super::panics::drop_caught;
use super::record::CallRecord;
use super::statuses::{complete, deadline_passed, draining, internal, token_removed};
use tetrion_service::Busy;

/// The body of an answer, message by message.
pub(super) struct CallBody {
    inner: Body,
    record: CallRecord,
    held: Held,
    ending: Ending,
    /// Created when the body first has nothing to send; calls with a single answer never need it.
    ends: Option<Ends>,
    ended: bool,
}

/// Events that end an answer from outside.
pub(super) struct Ending {
    /// Cancelled when the server stops.
    pub drain: Arc<CancellationToken>,
    pub deadline: Option<Instant>,
    /// Cancelled when the token of a stream is removed.
    pub removed: Option<CancellationToken>,
    /// Whether a stream that answers request by request is working on one.
    pub busy: Option<Busy>,
}

/// The events of [`Ending`] as futures, for an answer that has nothing to send at the moment.
struct Ends {
    drained: Pin<Box<WaitForCancellationFutureOwned>>,
    removed: Option<Pin<Box<WaitForCancellationFutureOwned>>>,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl Ending {
    /// Whether the call is working on a request. If so, the request still gets its answer.
    fn is_busy(&self) -> bool {
        self.busy.as_ref().is_some_and(Busy::is_busy)
    }

    /// Whether the token of the stream was removed and no request is in progress.
    fn is_removed(&self) -> bool {
        self.removed.as_ref().is_some_and(CancellationToken::is_cancelled) && !self.is_busy()
    }

    fn futures(&self) -> Ends {
        Ends {
            drained: Box::pin(CancellationToken::clone(&self.drain).cancelled_owned()),
            removed: self.removed.clone().map(|removed| Box::pin(removed.cancelled_owned())),
            deadline: self.deadline.map(|deadline| Box::pin(sleep_until(deadline.into()))),
        }
    }
}

impl CallBody {
    /// Wraps the body of an answer: counts its bytes, holds its memory, and ends it when `ending` says so.
    pub fn new(inner: Body, record: CallRecord, mut held: Held, ending: Ending) -> CallBody {
        held.waits_for_reader();
        CallBody { inner, record, held, ending, ends: None, ended: false }
    }

    /// Checks for events that end the answer, whether or not it has more to send.
    fn poll_ends(&mut self, cx: &mut Context<'_>) -> Poll<Status> {
        let ends = self.ends.get_or_insert_with(|| self.ending.futures());
        // A request in progress still gets its answer, and its end wakes this task again.
        let is_busy = self.ending.is_busy();
        if ends.drained.as_mut().poll(cx).is_ready() && !is_busy {
            return Poll::Ready(draining().into());
        }
        let removed = ends.removed.as_mut().map(|removed| removed.as_mut().poll(cx));
        if removed.is_some_and(|removed| removed.is_ready()) && !is_busy {
            return Poll::Ready(token_removed().into());
        }
        match ends.deadline.as_mut().map(|deadline| deadline.as_mut().poll(cx)) {
            Some(Poll::Ready(())) => Poll::Ready(deadline_passed()),
            _ => Poll::Pending,
        }
    }

    /// Ends the answer with this status.
    fn end(&mut self, status: Status) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.record.end(Some(status.code()));
        self.let_go();
        let mut trailers = HeaderMap::new();
        match status.add_header(&mut trailers) {
            Ok(()) => {
                complete(&mut trailers);
                Poll::Ready(Some(Ok(Frame::trailers(trailers))))
            }
            Err(status) => Poll::Ready(Some(Err(status))),
        }
    }

    /// Drops the content of the body now, before the connection gets to it.
    fn let_go(&mut self) {
        self.ended = true;
        drop_caught(std::mem::replace(&mut self.inner, Body::empty()));
        self.record.call.close_request();
    }

    /// The next frame of the answer, or its end.
    fn poll_answer(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        self.held.is_read();
        if self.ending.is_removed() {
            return self.end(token_removed().into());
        }
        match catch_unwind(AssertUnwindSafe(|| http_body::Body::poll_frame(Pin::new(&mut self.inner), cx))) {
            Ok(Poll::Ready(mut frame)) => {
                if let Some(Ok(frame)) = &mut frame {
                    if let Some(trailers) = frame.trailers_mut() {
                        complete(trailers);
                        self.record.end(code_of(trailers));
                    } else if let Some(data) = frame.data_ref() {
                        self.record.sent(data.len());
                    }
                }
                self.held.waits_for_reader();
                Poll::Ready(frame.map(|frame| frame.map(|frame| self.held.leave(frame))))
            }
            Ok(Poll::Pending) => match self.poll_ends(cx) {
                Poll::Ready(status) => self.end(status),
                Poll::Pending => Poll::Pending,
            },
            Err(panic) => self.end(internal(panic)),
        }
    }
}

impl http_body::Body for CallBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        if self.ended {
            return Poll::Ready(None);
        }
        let call = self.record.call.clone();
        call.scope(|| self.poll_answer(cx))
    }

    fn is_end_stream(&self) -> bool {
        self.ended || self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        if self.ended { SizeHint::with_exact(0) } else { self.inner.size_hint() }
    }
}

impl Drop for CallBody {
    fn drop(&mut self) {
        let call = self.record.call.clone();
        call.scope(|| self.let_go());
    }
}
