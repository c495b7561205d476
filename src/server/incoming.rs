//! New connections: the limits on them, in total and per address, and how to survive a lack of file descriptors.
//!
//! The server accepts a connection beyond a limit and closes it at once, so that its client does not wait in vain.
//! Without free descriptors it cannot accept any connection, not even to close it, so it keeps one descriptor in
//! reserve. Log lines about refused connections are limited.

use std::fs::File;
use std::future::Future;
use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::net::TcpListener;
use tokio::time::{Sleep, sleep};
use tokio_stream::Stream;
use tracing::warn;

use super::connection::{Connections, TcpConnection};
use super::tls::{PeerConnection, Tls};
use tetrion_service::metrics::CONNECTIONS_REFUSED;

/// Time until the server tries to accept again after the system has refused.
const PAUSE: Duration = Duration::from_millis(50);
/// Most connections closed between two pauses.
const SHED: usize = 64;
/// Shortest time between two log lines about refused connections.
const LOG_INTERVAL: Duration = Duration::from_secs(5);

const LIMIT: &str = "limit";
const ADDRESS_LIMIT: &str = "address_limit";
const NO_DESCRIPTORS: &str = "no_descriptors";
/// Reasons for refusing a connection, as labels of the metrics.
pub(super) const REFUSED_FOR: [&str; 3] = [LIMIT, ADDRESS_LIMIT, NO_DESCRIPTORS];

/// The stream of new connections of a listener. It has no end and no errors: a broken connection is no reason to stop,
/// and missing resources may become available again.
#[derive(Debug)]
pub(super) struct IncomingConnections {
    listener: TcpListener,
    network: Arc<Connections>,
    tls: Option<Tls>,
    reserve: Option<File>,
    pause: Option<Pin<Box<Sleep>>>,
    /// Number of refused connections since the last log line, and the time of that line.
    refused: u64,
    logged: Option<Instant>,
}

impl IncomingConnections {
    pub(super) fn new(
        listener: TcpListener,
        network: Arc<Connections>,
        tls: Option<Tls>,
    ) -> IncomingConnections {
        IncomingConnections {
            listener,
            network,
            tls,
            reserve: reserve(),
            pause: None,
            refused: 0,
            logged: None,
        }
    }

    /// Notes a refused connection, and its address if that is the reason.
    fn refuse(&mut self, reason: &'static str, address: Option<IpAddr>, error: Option<&io::Error>) {
        metrics::counter!(CONNECTIONS_REFUSED, "reason" => reason).increment(1);
        self.refused += 1;
        if self.logged.is_none_or(|logged| logged.elapsed() >= LOG_INTERVAL) {
            let (refused, open) = (self.refused, self.network.connections.taken());
            let error = error.map(tracing::field::display);
            let address = address.map(tracing::field::display);
            warn!(reason, refused, open, address, error, "connections refused");
            (self.refused, self.logged) = (0, Some(Instant::now()));
        }
    }

    /// Releases the reserve for a moment to close waiting connections.
    fn shed(&mut self, error: &io::Error, cx: &mut Context<'_>) {
        self.refuse(NO_DESCRIPTORS, None, Some(error));
        if self.reserve.take().is_some() {
            for _ in 0..SHED {
                match self.listener.poll_accept(cx) {
                    Poll::Ready(Ok((stream, _))) => drop(stream),
                    _ => break,
                }
                self.refuse(NO_DESCRIPTORS, None, None);
            }
        }
        self.reserve = reserve();
        self.pause = Some(Box::pin(sleep(PAUSE)));
    }
}

impl Stream for IncomingConnections {
    type Item = PeerConnection;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<PeerConnection>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(cx));
                self.pause = None;
            }
            // Another thread may have taken the descriptor while `shed` had released it. The reserve comes first then: with
            // one more connection instead, the server could close none of those that wait.
            if self.reserve.is_none() {
                self.reserve = reserve();
            }
            match ready!(self.listener.poll_accept(cx)) {
                Ok((stream, peer)) => {
                    let Ok(place) = self.network.connections.take(1) else {
                        self.refuse(LIMIT, None, None);
                        continue;
                    };
                    let Some(of_address) = self.network.addresses.take(peer.ip()) else {
                        self.refuse(ADDRESS_LIMIT, Some(peer.ip()), None);
                        continue;
                    };
                    // Without this, the system delays small answers by 40 ms.
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "a connection that has ended already");
                    }
                    let connection = TcpConnection::new(stream, &self.network, (place, of_address));
                    return Poll::Ready(Some(PeerConnection::new(connection, self.tls.as_ref())));
                }
                Err(error) if is_of_one_connection(&error) => {}
                Err(error) => self.shed(&error, cx),
            }
        }
    }
}

/// Whether the error affected only a single connection before it was accepted, and others may follow.
fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

fn reserve() -> Option<File> {
    File::open("/dev/null").ok()
}
