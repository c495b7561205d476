//! The call that a task works for, for errors and log lines.
//!
//! The server puts a context around every call. A service that starts a task passes the context on.
//!
//! The surprising decision: calls have no open `tracing` span. A span costs as much as stepping a dozen environments,
//! and most calls log nothing. The span is created when there is something to log ([`CallContext::log`]). If debug
//! lines are on, it is always open, so that lines of libraries show it too.

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

/// A call, as logs, errors and traces show it, and the memory of its request.
#[derive(Debug, Default)]
pub struct CallContext {
    request_id: String,
    method: Arc<str>,
    /// Digest of the session's name; 0 while it is unknown.
    session: AtomicU64,
    /// Reason of the refusal, if the call is refused.
    reason: OnceLock<&'static str>,
    /// Bytes of the request received so far.
    received: AtomicU64,
    /// Memory reserved for the request, until the call is answered.
    request: Mutex<Option<RequestRoom>>,
}

/// Memory reserved for a request, from its headers to its decoded messages.
#[derive(Debug)]
struct RequestRoom {
    share: Share,
    /// Bytes of the largest decoded message.
    read: u64,
}

impl CallContext {
    /// A call of this method. The id comes from the caller or the server.
    pub fn new(request_id: String, method: Arc<str>) -> CallContext {
        CallContext { request_id, method, ..Default::default() }
    }

    /// The id in the answer, the errors and the log.
    pub fn request_id(&self) -> &str {
        &self.request_id
    }

    /// The session of the call, as logs and traces show it: a digest of the name, equal for all calls on the session.
    /// The name itself would grant access.
    pub fn session(&self) -> Option<String> {
        let session = self.session.load(Ordering::Relaxed);
        (session != 0).then(|| format!("{session:016x}"))
    }

    /// Reason of the refusal, if the call was refused.
    pub fn reason(&self) -> Option<&'static str> {
        self.reason.get().copied()
    }

    /// Bytes of the request received so far.
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

    /// Keeps the reservation of the request's body, because decoded messages may refer to its bytes, until
    /// [`CallContext::close_request`].
    pub fn keep_request(&self, share: Share) {
        if let Some(room) = &mut *self.request() {
            room.share.add(share);
        }
    }

    /// Releases the reservation of the request, once the call is answered.
    pub fn close_request(&self) {
        self.request().take();
    }

    /// Reserves memory for a message of the current call that takes `bytes` once decoded.
    ///
    /// # Errors
    /// [`Spent`] if less memory is left.
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

    /// Notes the reason why the current call is refused.
    pub fn note_reason(reason: &'static str) {
        let _ = CURRENT.try_with(|call| call.reason.set(reason));
    }

    /// Runs `work` in this call's context.
    pub fn scope<T>(self: &Arc<CallContext>, work: impl FnOnce() -> T) -> T {
        let _open = tracing::enabled!(Level::DEBUG).then(|| self.span().entered());
        CURRENT.sync_scope(self.clone(), work)
    }

    /// Runs a future in the context of a call, if given.
    pub async fn follow<F: Future>(call: Option<Arc<CallContext>>, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|cx| match &call {
            Some(call) => call.scope(|| work.as_mut().poll(cx)),
            None => work.as_mut().poll(cx),
        })
        .await
    }

    /// Runs a function that writes log lines. They show the current call, if any.
    pub fn log(lines: impl FnOnce()) {
        CallContext::current_span().in_scope(lines);
    }

    /// A span that shows the current call. Without a current call, the open span.
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
