//! A connection, and the room that the requests on their way over it share.

use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::http::Extensions;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonic::transport::server::{Connected, TlsConnectInfo};

use crate::pool::Party;
use crate::wire::limits::MAX_REQUEST_BYTES;

/// Bytes of messages that the calls of a connection may have announced and not ended: four of the largest, and dozens of those
/// that programs send. What a connection can make the server hold without one complete request is this, the 16 MiB of its
/// window that nobody has read, and 24 KiB of headers and first buffers for each call.
pub(super) const ROOM: usize = 4 * MAX_REQUEST_BYTES as usize;

/// A connection over TCP, encrypted or not, whose calls find its room in their extensions.
#[derive(Debug)]
pub(super) struct Connection {
    stream: TcpStream,
    room: Room,
}

/// The room of a connection, in bytes, and the party that the connection is.
#[derive(Clone, Debug)]
pub(super) struct Room {
    bytes: Arc<Semaphore>,
    party: Party,
}

/// What one call has taken of it, and gives back when it is dropped.
#[derive(Debug)]
pub(super) struct Share {
    room: Room,
    taken: Option<OwnedSemaphorePermit>,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Connection {
        Connection { stream, room: Room::new() }
    }
}

impl Room {
    pub(super) fn new() -> Room {
        Room { bytes: Arc::new(Semaphore::new(ROOM)), party: Party::new_connection() }
    }

    /// Whose calls come over the connection.
    pub(super) fn party(&self) -> Party {
        self.party.clone()
    }

    /// The room of the connection that a request came on.
    ///
    /// # Panics
    /// If it came on none of ours.
    pub(super) fn of(extensions: &Extensions) -> &Room {
        let encrypted = || extensions.get::<TlsConnectInfo<Room>>().map(TlsConnectInfo::get_ref);
        extensions.get::<Room>().or_else(encrypted).expect("the server serves connections with a room")
    }

    /// A share of nothing yet.
    pub(super) fn share(&self) -> Share {
        Share { room: self.clone(), taken: None }
    }
}

impl Share {
    /// Makes it so many bytes, unless it has them. Whether there is room for that.
    pub(super) fn grow_to(&mut self, bytes: usize) -> bool {
        let taken = self.taken.as_ref().map_or(0, OwnedSemaphorePermit::num_permits);
        if bytes <= taken {
            return true;
        }
        let Ok(more) = self.room.bytes.clone().try_acquire_many_owned((bytes - taken) as u32) else {
            return false;
        };
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            None => self.taken = Some(more),
        }
        true
    }
}

impl Connected for Connection {
    type ConnectInfo = Room;

    fn connect_info(&self) -> Room {
        self.room.clone()
    }
}

impl AsyncRead for Connection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Connection {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
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
