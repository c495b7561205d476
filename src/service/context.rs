//! The call that a task works for, as errors and log lines show it.
//!
//! The server puts a context around every call. A service that starts a task passes the context on.
//!
//! The surprising decision: a call has no open `tracing` span. A span costs as much as stepping a dozen environments,
//! and most calls log nothing. The span is made when there is something to log ([`CallContext::log`]); with debug
//! lines on it is always open, so that lines of libraries show it too.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tracing::{Level, Span};
use xxhash_rust::xxh3::xxh3_64;

use super::budget::{Share, Spent};

tokio::task_local! {
    static CURRENT: Arc<CallContext>;
}

/// A call, as logs, errors and traces show it, with the memory of its request.
#[derive(Debug, Default)]
pub struct CallContext {
    request_id: String,
    method: Arc<str>,
    /// A digest of the session's name, once it is known; 0 before.
    session: AtomicU64,
    /// Why the call was refused.
    reason: OnceLock<&'static str>,
    /// Bytes of the request that have arrived.
    received: AtomicU64,
    /// Memory reserved for the request, until the call is answered.
    request: Mutex<Option<RequestRoom>>,
}

/// Memory reserved for a request, from its headers to its decoded messages.
#[derive(Debug)]
struct RequestRoom {
    share: Share,
    /// Bytes of the largest message after decoding.
    read: u64,
}

impl CallContext {
    /// A call of this method, under the id that its caller or the server gave it.
    pub fn new(request_id: String, method: Arc<str>) -> CallContext {
        CallContext { request_id, method, ..Default::default() }
    }

    /// The id that the answer, the errors and the log show.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The session of the call, as logs and traces show it: a digest of the name, equal for all calls on the session,
    /// because the name itself gives access.
    pub fn session(&self) -> Option<String> {
        let session = self.session.load(Ordering::Relaxed);
        (session != 0).then(|| format!("{session:016x}"))
    }

    /// Why the call was refused, if it was.
    pub fn reason(&self) -> Option<&'static str> {
        self.reason.get().copied()
    }

    /// Bytes of the request that have arrived.
    pub fn received(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }

    /// Counts `bytes` more of the request as received.
    pub fn note_received(&self, bytes: usize) {
        self.received.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Starts the reservation of the request with the bytes of its headers.
    pub fn open_request(&self, share: Share) {
        *self.request() = Some(RequestRoom { share, read: 0 });
    }

    /// Keeps the reservation of the request's body, because decoded messages may refer to its bytes. After
    /// [`CallContext::close_request`] it is released.
    pub fn keep_request(&self, share: Share) {
        if let Some(room) = &mut *self.request() {
            room.share.add(share);
        }
    }

    /// Releases the reservation of the request, because the call is answered.
    pub fn close_request(&self) {
        self.request().take();
    }

    /// Reserves memory for a message of the current call that decodes to `bytes`.
    ///
    /// # Errors
    /// [`Spent`] if less is left.
    pub fn read_request(bytes: u64) -> Result<(), Spent> {
        let Some(call) = CallContext::current() else { return Ok(()) };
        match &mut *call.request() {
            Some(RequestRoom { share, read }) if bytes > *read => {
                share.grow_to(share.amount() - *read + bytes)?;
                *read = bytes;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn request(&self) -> MutexGuard<'_, Option<RequestRoom>> {
        self.request.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The call that this task works for.
    pub fn current() -> Option<Arc<CallContext>> {
        CURRENT.try_with(Arc::clone).ok()
    }

    /// Notes the session of the current call.
    pub(super) fn note_session(id: u128) {
        let _ = CURRENT.try_with(|call| call.session.store(xxh3_64(&id.to_le_bytes()), Ordering::Relaxed));
    }

    /// Notes why the current call is refused.
    pub fn note_reason(reason: &'static str) {
        let _ = CURRENT.try_with(|call| call.reason.set(reason));
    }

    /// Runs `work` for this call.
    pub fn scope<T>(self: &Arc<CallContext>, work: impl FnOnce() -> T) -> T {
        let _open = tracing::enabled!(Level::DEBUG).then(|| self.span().entered());
        CURRENT.sync_scope(self.clone(), work)
    }

    /// Runs a future for a call, if there is one.
    pub async fn follow<F: Future>(call: Option<Arc<CallContext>>, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|cx| match &call {
            Some(call) => call.scope(|| work.as_mut().poll(cx)),
            None => work.as_mut().poll(cx),
        })
        .await
    }

    /// Logs lines that show the current call, if there is one.
    pub fn log(lines: impl FnOnce()) {
        CallContext::current_span().in_scope(lines);
    }

    /// A span that shows the current call; without a current call, the open span.
    pub fn current_span() -> Span {
        match CallContext::current() {
            Some(call) if !tracing::enabled!(Level::DEBUG) => call.span(),
            _ => Span::current(),
        }
    }

    fn span(&self) -> Span {
        let CallContext { request_id, method, .. } = self;
        let span = tracing::error_span!("call", request_id, %method, session = tracing::field::Empty);
        if let Some(session) = self.session() {
            span.record("session", session);
        }
        span
    }
}
