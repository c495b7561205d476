//! A connection: the state that its calls share, and its deadlines.
//!
//! A client can hold a connection and send nothing, in the middle of a TLS handshake or after a request. It can also
//! leave an answer unread forever and still answer HTTP/2's pings. No call notices that, because HTTP/2 asks a call for
//! more only when the client has room for more. So the connection itself checks its deadlines at every read and
//! write, and when the next deadline is due.

use std::collections::BTreeMap;
use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::http::Extensions;
use metrics::{Gauge, counter, gauge};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep_until};
use tonic::transport::server::Connected;

use super::addresses::{AddressPlace, Addresses};
use tetrion_core::pool::Party;
use tetrion_protocol::limits::{CONNECTION_MEMORY, OWN_CALLS, OWN_MEMORY};
use tetrion_service::brake::Brake;
use tetrion_service::budget::{Budget, Share};
use tetrion_service::metrics::{CONNECTIONS, CONNECTIONS_ACCEPTED, CONNECTIONS_CLOSED};
use tetrion_service::{Pressure, ServerLimits};

/// Limit on log lines about closed connections.
static LINES: Brake = Brake::new(20);

/// Reasons for closing a connection, as labels of the metrics.
pub(super) const CLOSED_FOR: [&str; 3] = ["no_request", "idle", "unread_answer"];

/// State shared by all connections of a server.
#[derive(Debug)]
pub(super) struct Connections {
    limits: ServerLimits,
    pub connections: Arc<Budget>,
    pub addresses: Arc<Addresses>,
    pub calls: Arc<Budget>,
    requests: Arc<Budget>,
    answers: Arc<Budget>,
}

/// A TCP connection, whose calls find their shared state in the extensions.
#[derive(Debug)]
pub(super) struct TcpConnection {
    stream: TcpStream,
    peer: Peer,
    /// Wakes the task when the next deadline is due.
    alarm: Pin<Box<Sleep>>,
    /// Places among all connections, and among those of the address.
    _places: (Share, AddressPlace),
    _counted: ConnectionGauge,
}

/// Counts a connection in the metrics as long as it is open.
#[derive(Debug)]
struct ConnectionGauge(Gauge);

/// State shared by the calls of a connection.
#[derive(Clone, Debug)]
pub(super) struct Peer(Arc<PeerState>);

#[derive(Debug)]
struct PeerState {
    party: Party,
    /// Calls of this connection in progress.
    calls: Arc<Budget>,
    /// Bytes of request messages in transit, by their announced lengths.
    requests: Arc<Budget>,
    /// Bytes of answers that the client has not read.
    answers: Arc<Budget>,
    limits: ServerLimits,
    life: Mutex<Life>,
}

impl ConnectionGauge {
    fn new() -> ConnectionGauge {
        counter!(CONNECTIONS_ACCEPTED).increment(1);
        let open = gauge!(CONNECTIONS);
        open.increment(1);
        ConnectionGauge(open)
    }
}

impl Drop for ConnectionGauge {
    fn drop(&mut self) {
        self.0.decrement(1);
    }
}

/// Recent activity of a connection.
#[derive(Debug)]
struct Life {
    /// Whether a request has arrived.
    greeted: bool,
    /// Time when the connection opened, or when its last call ended.
    quiet_since: Instant,
    num_calls: u32,
    next_id: u64,
    /// Calls that wait for the client to read, and the start of each wait.
    unread: BTreeMap<u64, Instant>,
}

/// A call in progress. While it exists, the connection is not idle.
#[derive(Debug)]
pub(super) struct Calling {
    peer: Peer,
    id: u64,
}

/// The reason for closing a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Overdue {
    FirstRequest,
    Idle,
    Answer,
}

impl Connections {
    pub(super) fn new(mut limits: ServerLimits, pressure: &Pressure) -> Arc<Connections> {
        // A deadline of zero would always be due.
        limits.max_unread_time = limits.max_unread_time.max(Duration::from_millis(100));
        Arc::new(Connections {
            limits,
            connections: Budget::new(limits.max_connections.into()),
            addresses: Addresses::new(limits.connections_per_address()),
            calls: Budget::new(limits.max_calls.into()),
            requests: Budget::of_bytes(limits.request_memory, pressure),
            answers: Budget::of_bytes(limits.answer_memory, pressure),
        })
    }

    pub(super) fn peer(&self) -> Peer {
        let life = Life {
            greeted: false,
            quiet_since: Instant::now(),
            num_calls: 0,
            next_id: 0,
            unread: BTreeMap::new(),
        };
        Peer(Arc::new(PeerState {
            party: Party::new_connection(),
            calls: self.calls.part(u64::MAX, OWN_CALLS),
            requests: self.requests.part(CONNECTION_MEMORY, OWN_MEMORY),
            answers: self.answers.part(CONNECTION_MEMORY, OWN_MEMORY),
            limits: self.limits,
            life: Mutex::new(life),
        }))
    }

    /// Bytes held for requests and for answers.
    pub(super) fn memory(&self) -> (u64, u64) {
        (self.requests.taken(), self.answers.taken())
    }
}

impl TcpConnection {
    pub(super) fn new(
        stream: TcpStream,
        network: &Connections,
        places: (Share, AddressPlace),
    ) -> TcpConnection {
        let peer = network.peer();
        // The first poll sets the alarm.
        let alarm = Box::pin(sleep_until(Instant::now().into()));
        TcpConnection { stream, peer, alarm, _places: places, _counted: ConnectionGauge::new() }
    }

    /// Fails if a deadline has passed. Otherwise sets the alarm to the next one.
    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        while self.alarm.as_mut().poll(cx).is_ready() {
            let next = self.peer.check(Instant::now()).map_err(|overdue| {
                counter!(CONNECTIONS_CLOSED, "reason" => overdue.name()).increment(1);
                if let Some(withheld) = LINES.pass() {
                    let peer = self.stream.peer_addr().ok();
                    tracing::info!(reason = overdue.name(), ?peer, withheld, "connection closed");
                }
                io::Error::new(io::ErrorKind::TimedOut, overdue.name())
            })?;
            self.alarm.as_mut().reset(next.into());
        }
        Ok(())
    }
}

impl Peer {
    /// The connection of a request.
    ///
    /// # Panics
    /// If the request did not come over a connection of this server.
    pub(super) fn of(extensions: &Extensions) -> &Peer {
        extensions.get::<Peer>().expect("the server serves its own connections")
    }

    /// The party of this connection's calls.
    pub(super) fn party(&self) -> Party {
        self.0.party.clone()
    }

    /// Budget for concurrent calls on this connection.
    pub(super) fn calls(&self) -> &Arc<Budget> {
        &self.0.calls
    }

    /// Budget for bytes of request messages in transit.
    pub(super) fn requests(&self) -> &Arc<Budget> {
        &self.0.requests
    }

    /// Budget for bytes of answers that the client has not read.
    pub(super) fn answers(&self) -> &Arc<Budget> {
        &self.0.answers
    }

    /// The limits of the server.
    pub(super) fn limits(&self) -> &ServerLimits {
        &self.0.limits
    }

    /// Notes a request that is not a call, such as one for a page.
    pub(super) fn touch(&self) {
        let mut life = self.life();
        (life.greeted, life.quiet_since) = (true, Instant::now());
    }

    /// Registers a call in progress.
    pub(super) fn begin(&self) -> Calling {
        let mut life = self.life();
        life.greeted = true;
        life.num_calls += 1;
        life.next_id += 1;
        Calling { peer: self.clone(), id: life.next_id }
    }

    /// The time of the next check, or the deadline that has passed.
    fn check(&self, now: Instant) -> Result<Instant, Overdue> {
        let limits = self.limits();
        let (idle, soonest) = (limits.idle_timeout, limits.answer_timeout.min(limits.max_unread_time));
        let answer = if self.0.answers.is_scarce() { soonest } else { limits.answer_timeout };
        let life = self.life();
        // No wait that starts later can be due before this time, even if room becomes scarce.
        let mut next = now + soonest.min(idle);
        if life.num_calls == 0 {
            let (patience, overdue) = if life.greeted {
                (idle, Overdue::Idle)
            } else {
                (limits.first_request_timeout, Overdue::FirstRequest)
            };
            let due = life.quiet_since + patience;
            if due <= now {
                return Err(overdue);
            }
            next = next.min(due);
        }
        if let Some(oldest) = life.unread.values().min() {
            let due = *oldest + answer;
            if due <= now {
                return Err(Overdue::Answer);
            }
            next = next.min(due);
        }
        Ok(next)
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.0.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Calling {
    /// Notes that the call waits until the client has read the answers sent so far.
    pub(super) fn waits_for_reader(&self) {
        self.peer.life().unread.insert(self.id, Instant::now());
    }

    /// Notes that the client has read the answers of the call.
    pub(super) fn is_read(&self) {
        self.peer.life().unread.remove(&self.id);
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        let mut life = self.peer.life();
        life.unread.remove(&self.id);
        life.num_calls -= 1;
        if life.num_calls == 0 {
            life.quiet_since = Instant::now();
        }
    }
}

impl Overdue {
    fn name(self) -> &'static str {
        CLOSED_FOR[self as usize]
    }
}

impl Connected for TcpConnection {
    type ConnectInfo = Peer;

    fn connect_info(&self) -> Peer {
        self.peer.clone()
    }
}

impl AsyncRead for TcpConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for TcpConnection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
