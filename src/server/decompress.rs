//! Compressed requests: limits on their size, and on how long a thread works on them.
//!
//! 65 KB can expand to 64 MiB, which takes a tenth of a second. So this file decompresses messages, not tonic. Large
//! messages are decompressed in slices, on the threads for long calls, which callers share fairly. Their memory is
//! reserved, as they grow, from the connection's budget for requests. Small messages, as learners send, are
//! decompressed where they arrive.

use std::future::Future;
use std::io::Read;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::http::HeaderMap;
use bytes::buf::Reader;
use bytes::{Buf, Bytes, BytesMut};
use flate2::read::GzDecoder;
use http_body::Frame;
use tokio::sync::oneshot;
use tonic::Status;

use super::reception::{LIGHT, PREFIX, Reception, no_room, too_long};
use tetrion_core::pool::Lane;
use tetrion_service::CallContext;
use tetrion_service::budget::{Budget, Share};
use tetrion_service::status::Refusal;

/// Bytes that are decompressed where they arrive, compressed or not. This takes a tenth of a millisecond.
const INLINE: usize = 64 << 10;
/// Bytes to decompress before other callers have a turn. This takes one or two milliseconds.
const SLICE: usize = 1 << 20;
/// Largest window of a zstd message, as a power of two: 8 MiB, which suffices for all levels except `--ultra`. The
/// decoder allocates this much before it reads a byte.
const MAX_WINDOW_LOG: u32 = 23;

/// Compression of a request's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Gzip,
    Zstd,
}

impl Encoding {
    /// Removes a supported encoding from the headers of a request and returns it. Leaves other encodings for tonic to
    /// refuse.
    pub(super) fn take(headers: &mut HeaderMap) -> Option<Encoding> {
        let encoding = match headers.get("grpc-encoding")?.as_bytes() {
            b"gzip" => Encoding::Gzip,
            b"zstd" => Encoding::Zstd,
            _ => return None,
        };
        headers.remove("grpc-encoding");
        Some(encoding)
    }
}

/// The decompressed body of a request.
#[derive(Debug)]
pub(super) struct Decompressed {
    inner: Reception,
    encoding: Encoding,
    lane: Lane,
    budget: Arc<Budget>,
    max_bytes: u32,
    /// Reserves twice the size of the largest decompressed message: once for this file, and once for tonic's buffer.
    largest: Share,
    call: Arc<CallContext>,
    /// Bytes that have arrived but are not passed on yet.
    arrived: BytesMut,
    /// Bytes to pass on unchanged.
    plain: usize,
    /// The rest of a decompressed message. The next field tells whether other calls had a turn since the last part.
    rest: Bytes,
    rested: bool,
    working: Option<oneshot::Receiver<Result<Decompression, Status>>>,
    ended: bool,
}

impl Decompressed {
    pub(super) fn new(
        inner: Reception,
        encoding: Encoding,
        lane: Lane,
        budget: &Arc<Budget>,
        max_bytes: u32,
        call: Arc<CallContext>,
    ) -> Decompressed {
        Decompressed {
            inner,
            encoding,
            lane,
            budget: budget.clone(),
            max_bytes,
            largest: budget.share(),
            call,
            arrived: BytesMut::new(),
            plain: 0,
            rest: Bytes::new(),
            rested: false,
            working: None,
            ended: false,
        }
    }

    /// The next part of the arrived bytes; `None` if more must arrive or a message is being decompressed.
    fn next(&mut self) -> Result<Option<Bytes>, Status> {
        loop {
            if self.plain > 0 && !self.arrived.is_empty() {
                let here = self.plain.min(self.arrived.len());
                self.plain -= here;
                return Ok(Some(self.arrived.split_to(here).freeze()));
            }
            let Some(&[compressed, ref length @ ..]) = self.arrived.first_chunk::<PREFIX>() else {
                return Ok(None);
            };
            let length = u32::from_be_bytes(*length) as usize;
            if compressed == 0 {
                self.plain = PREFIX + length;
                continue;
            }
            if self.arrived.len() < PREFIX + length {
                return Ok(None);
            }
            self.arrived.advance(PREFIX);
            let message = self.arrived.split_to(length).freeze();
            let mut work = Decompression::new(self.encoding, message, self.max_bytes, &self.budget)?;
            if length <= INLINE && work.go_on(INLINE)? {
                return Ok(Some(self.finish(work)));
            }
            work.hold(0)?;
            let (sender, receiver) = oneshot::channel();
            work.run(self.lane.clone(), sender);
            self.working = Some(receiver);
            return Ok(None);
        }
    }

    /// The message in the form of an uncompressed one.
    fn finish(&mut self, work: Decompression) -> Bytes {
        let Decompression { mut message, share, .. } = work;
        let length = message.len() - PREFIX;
        message[1..PREFIX].copy_from_slice(&(length as u32).to_be_bytes());
        let kept = self.largest.amount().max(2 * length as u64);
        self.largest.add(share);
        self.largest.set(kept);
        message.into()
    }
}

impl http_body::Body for Decompressed {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        loop {
            if !this.rest.is_empty() {
                // tonic copies each part, which occupies the thread, so let other tasks run between two parts.
                this.rested = !this.rested;
                if this.rested {
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                let part = this.rest.split_to(this.rest.len().min(SLICE));
                return Poll::Ready(Some(Ok(Frame::data(part))));
            }
            if let Some(working) = &mut this.working {
                let lost = |_| Refusal::internal("a message was lost while it was decompressed").into();
                let work = ready!(Pin::new(working).poll(cx)).map_err(lost).flatten();
                this.working = None;
                this.rest = this.finish(work?);
                continue;
            }
            if let Some(part) = this.next()? {
                return Poll::Ready(Some(Ok(Frame::data(part))));
            }
            if this.working.is_some() {
                continue;
            }
            if this.ended {
                // The rest is the start of a message, which tonic refuses.
                let rest = std::mem::take(&mut this.arrived).freeze();
                return Poll::Ready((!rest.is_empty()).then(|| Ok(Frame::data(rest))));
            }
            match ready!(Pin::new(&mut this.inner).poll_frame(cx)?) {
                Some(frame) => this.arrived.extend_from_slice(&frame.into_data().unwrap_or_default()),
                None => this.ended = true,
            }
        }
    }
}

impl Drop for Decompressed {
    fn drop(&mut self) {
        if self.largest.amount() > LIGHT {
            self.call.keep_request(self.largest.take_out());
        }
    }
}

/// A message that is decompressed a piece at a time, off the async threads.
#[derive(Debug)]
struct Decompression {
    source: Decompressor,
    /// Prefix of the message, and its decompressed bytes so far.
    message: Vec<u8>,
    max_bytes: usize,
    share: Share,
}

enum Decompressor {
    Gzip(GzDecoder<Reader<Bytes>>),
    Zstd(zstd::stream::read::Decoder<'static, Reader<Bytes>>),
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Decompressor::Gzip(_) => "Gzip",
            Decompressor::Zstd(_) => "Zstd",
        })
    }
}

impl Decompression {
    fn new(
        encoding: Encoding,
        compressed: Bytes,
        max_bytes: u32,
        budget: &Arc<Budget>,
    ) -> Result<Decompression, Status> {
        let source = match encoding {
            Encoding::Gzip => Decompressor::Gzip(GzDecoder::new(compressed.reader())),
            Encoding::Zstd => {
                let decoder = zstd::stream::read::Decoder::with_buffer(compressed.reader());
                // Any number of empty frames could follow.
                let mut decoder = decoder.map_err(damaged)?.single_frame();
                decoder.window_log_max(MAX_WINDOW_LOG).map_err(damaged)?;
                Decompressor::Zstd(decoder)
            }
        };
        Ok(Decompression {
            source,
            message: vec![0; PREFIX],
            max_bytes: max_bytes as usize,
            share: budget.share(),
        })
    }

    /// Decompresses up to `bytes` more. Returns whether the message is complete.
    fn go_on(&mut self, bytes: usize) -> Result<bool, Status> {
        let aim = (self.message.len() + bytes).min(PREFIX + self.max_bytes + 1);
        if self.message.capacity() < aim {
            // Doubles the capacity, like a vector, but reserves it first.
            let wanted = aim.max(2 * self.message.capacity()).min(PREFIX + self.max_bytes + 1);
            if wanted > INLINE + PREFIX {
                // Copying needs the old memory and the new one at the same time.
                self.hold(wanted)?;
            }
            self.message.reserve_exact(wanted - self.message.len());
        }
        let missing = aim - self.message.len();
        let read = match &mut self.source {
            Decompressor::Gzip(source) => source.take(missing as u64).read_to_end(&mut self.message),
            Decompressor::Zstd(source) => source.take(missing as u64).read_to_end(&mut self.message),
        };
        let is_rest = read.map_err(damaged)? < missing;
        if self.message.len() - PREFIX > self.max_bytes {
            return Err(too_long(format_args!("more than {}", self.max_bytes), self.max_bytes as u32));
        }
        Ok(is_rest)
    }

    /// Reserves memory for `bytes` more and for the decoder's window, so that the budget limits the number of active
    /// decoders.
    fn hold(&mut self, bytes: usize) -> Result<(), Status> {
        let all = (self.message.capacity() + bytes) as u64 + (1 << MAX_WINDOW_LOG);
        self.share.grow_to(all).map_err(|spent| no_room(all, spent))
    }

    /// Decompresses slice by slice until the message is done or its call has ended.
    fn run(mut self, lane: Lane, sender: oneshot::Sender<Result<Decompression, Status>>) {
        let next = lane.clone();
        lane.spawn(move || {
            if sender.is_closed() {
                return;
            }
            let done = match self.go_on(SLICE) {
                Ok(false) => return self.run(next, sender),
                Ok(true) => Ok(self),
                Err(refusal) => Err(refusal),
            };
            let _ = sender.send(done);
        });
    }
}

fn damaged(error: std::io::Error) -> Status {
    Refusal::Unreadable(format!("a message cannot be decompressed: {error}")).into()
}
