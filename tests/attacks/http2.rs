//! HTTP/2 by hand: frames as bytes, so that a caller can send what no library would.
//!
//! Header fields leave as literals without an index and without Huffman's code, which need no table on either side. What
//! comes back is cut into frames and not read further, but for the one byte that stands for `:status 200`.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpSocket;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::timeout;

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

/// Of DATA and HEADERS.
pub const END_STREAM: u8 = 0x1;
/// Of SETTINGS and PING.
pub const ACK: u8 = 0x1;
pub const END_HEADERS: u8 = 0x4;
pub const PADDED: u8 = 0x8;
/// Of HEADERS: a priority stands before the fields.
pub const WITH_PRIORITY: u8 = 0x20;

/// Settings, by their numbers in the standard.
pub const HEADER_TABLE_SIZE: u16 = 1;
pub const ENABLE_PUSH: u16 = 2;
pub const INITIAL_WINDOW_SIZE: u16 = 4;
pub const MAX_FRAME_SIZE: u16 = 5;

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// How long a test waits for anything that should come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A frame as its bytes.
pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(9 + payload.len());
    bytes.extend(&(payload.len() as u32).to_be_bytes()[1..]);
    bytes.extend([kind, flags]);
    bytes.extend(stream.to_be_bytes());
    bytes.extend(payload);
    bytes
}

/// A SETTINGS frame with these settings and their values.
pub fn settings(values: &[(u16, u32)]) -> Vec<u8> {
    let each = |&(id, value): &(u16, u32)| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
    frame(SETTINGS, 0, 0, &values.iter().flat_map(each).collect::<Vec<u8>>())
}

/// A number with a prefix of this many bits, whose upper bits are `first` (RFC 7541, 5.1).
pub fn number(first: u8, bits: u32, value: usize, block: &mut Vec<u8>) {
    let most = (1 << bits) - 1;
    if value < most {
        return block.push(first | value as u8);
    }
    block.push(first | most as u8);
    let mut rest = value - most;
    while rest >= 0x80 {
        block.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    block.push(rest as u8);
}

/// Header fields as a block: literals that no table keeps.
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            number(0, 7, text.len(), &mut block);
            block.extend(text.as_bytes());
        }
    }
    block
}

/// The header fields of a call.
pub fn fields(path: &str) -> Vec<(&str, &str)> {
    vec![
        (":method", "POST"),
        (":scheme", "http"),
        (":path", path),
        (":authority", "localhost"),
        ("content-type", "application/grpc"),
        ("te", "trailers"),
    ]
}

/// HEADERS that begin a call, with these additional fields.
pub fn begin(stream: u32, path: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let fields = [&fields(path)[..], more].concat();
    frame(HEADERS, END_HEADERS, stream, &block(&fields))
}

/// A message with its prefix, in as many DATA frames as it takes, the last of which ends the stream or does not.
pub fn message(stream: u32, compressed: bool, bytes: &[u8], ends: bool) -> Vec<u8> {
    let mut prefixed = vec![compressed.into()];
    prefixed.extend((bytes.len() as u32).to_be_bytes());
    prefixed.extend(bytes);
    let last = prefixed.chunks(16_384).count() - 1;
    let data = |(at, chunk)| frame(DATA, if ends && at == last { END_STREAM } else { 0 }, stream, chunk);
    prefixed.chunks(16_384).enumerate().flat_map(data).collect()
}

/// A whole call with one message.
pub fn call(stream: u32, path: &str, bytes: &[u8]) -> Vec<u8> {
    [begin(stream, path, &[]), message(stream, false, bytes, true)].concat()
}

/// A frame from the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

impl Frame {
    /// The code of RST_STREAM, or of GOAWAY.
    pub fn code(&self) -> u32 {
        let at = if self.kind == GOAWAY { 4 } else { 0 };
        self.payload.get(at..at + 4).map_or(u32::MAX, |code| u32::from_be_bytes(code.try_into().unwrap()))
    }

    /// The code of GOAWAY, and the server's words after it.
    fn reason(&self) -> String {
        let words = String::from_utf8_lossy(self.payload.get(8..).unwrap_or_default());
        format!("code {} {words:?}", self.code())
    }
}

/// A connection whose frames we write.
#[derive(Debug)]
pub struct Connection {
    write: OwnedWriteHalf,
    read: OwnedReadHalf,
}

impl Connection {
    /// Connects to the server, and sends nothing, not even the preface.
    pub async fn silent(address: SocketAddr) -> io::Result<Connection> {
        Connection::silent_from(Ipv4Addr::LOCALHOST, address).await
    }

    /// The same from this address of the loopback.
    pub async fn silent_from(source: Ipv4Addr, address: SocketAddr) -> io::Result<Connection> {
        let socket = TcpSocket::new_v4()?;
        socket.bind((source, 0).into())?;
        let stream = timeout(PATIENCE, socket.connect(address)).await??;
        stream.set_nodelay(true)?;
        let (read, write) = stream.into_split();
        Ok(Connection { write, read })
    }

    /// Connects, sends the preface and these settings, and takes those of the server and its larger window for the
    /// connection: who sends more than 65,535 bytes before that breaks the rules of HTTP/2.
    pub async fn open(address: SocketAddr, values: &[(u16, u32)]) -> io::Result<Connection> {
        let mut connection = Connection::silent(address).await?;
        connection.send(&[PREFACE, &settings(values)].concat()).await?;
        let (mut has_settings, mut has_window) = (false, false);
        while !(has_settings && has_window) {
            match connection.next().await? {
                Some(Frame { kind: SETTINGS, flags: 0, .. }) => {
                    connection.send(&frame(SETTINGS, ACK, 0, &[])).await?;
                    has_settings = true;
                }
                Some(Frame { kind: WINDOW_UPDATE, stream: 0, .. }) => has_window = true,
                Some(_) => {}
                None => return Err(io::ErrorKind::UnexpectedEof.into()),
            }
        }
        Ok(connection)
    }

    /// Sends bytes. It is an error if the server does not take them.
    pub async fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        let sent = timeout(PATIENCE, self.write.write_all(bytes)).await?;
        match sent {
            Ok(()) => Ok(()),
            Err(error) => Err(self.closed(&error.to_string()).await),
        }
    }

    /// The error of a connection that the server has closed, with the reason that it gave.
    async fn closed(&mut self, seen: &str) -> io::Error {
        let mut reason = "none".to_owned();
        while let Ok(Some(frame)) = self.next().await {
            if frame.kind == GOAWAY {
                reason = frame.reason();
            }
        }
        io::Error::other(format!("{seen}; the server's reason: {reason}"))
    }

    /// Sends bytes until the server takes no more for this long. Whether it took all of them.
    pub async fn push(&mut self, bytes: &[u8], patience: Duration) -> bool {
        matches!(timeout(patience, self.write.write_all(bytes)).await, Ok(Ok(())))
    }

    /// The next frame; none at the end of the connection.
    pub async fn next(&mut self) -> io::Result<Option<Frame>> {
        timeout(PATIENCE, read_frame(&mut self.read)).await?
    }

    /// Reads until the server has answered a PING, and so has seen everything before it; returns the frames up to there.
    pub async fn settle(&mut self) -> io::Result<Vec<Frame>> {
        const MARK: [u8; 8] = *b"settled?";
        self.send(&frame(PING, 0, 0, &MARK)).await?;
        let mut frames = Vec::new();
        loop {
            match self.next().await? {
                Some(frame) if frame.kind == PING && frame.payload == MARK => return Ok(frames),
                Some(frame) if frame.kind == GOAWAY => {
                    return Err(io::Error::other(format!("the server closes it: {}", frame.reason())));
                }
                Some(frame) => frames.push(frame),
                None => return Err(self.closed("no more frames").await),
            }
        }
    }

    /// Both directions, for callers that read on while they write.
    pub fn split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        (self.read, self.write)
    }

    /// Waits until the server closes the connection. Whether it does so in time.
    pub async fn closes_within(&mut self, patience: Duration) -> bool {
        let drained = async {
            let mut buffer = [0; 4096];
            while self.read.read(&mut buffer).await.is_ok_and(|read| read > 0) {}
        };
        timeout(patience, drained).await.is_ok()
    }
}

/// Reads a frame; none at the end, also at one in the middle of a frame.
async fn read_frame(read: &mut OwnedReadHalf) -> io::Result<Option<Frame>> {
    let mut head = [0; 9];
    if !filled(read, &mut head).await {
        return Ok(None);
    }
    let [a, b, c, kind, flags, stream @ ..] = head;
    let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
    if !filled(read, &mut payload).await {
        return Ok(None);
    }
    let stream = u32::from_be_bytes(stream) & 0x7FFF_FFFF;
    Ok(Some(Frame { kind, flags, stream, payload }))
}

/// Whether all of it came before the end. A connection that is reset has ended too.
async fn filled(read: &mut OwnedReadHalf, buffer: &mut [u8]) -> bool {
    read.read_exact(buffer).await.is_ok()
}
