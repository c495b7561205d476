//! RFC 9113 and RFC 7541 case by case: the questions of h2spec, asked with frames written by hand.
//!
//! Each case has a connection of its own. After its frames comes an ordinary call, which shows the state of the connection:
//! if it is answered, the connection goes on; otherwise it was ended, with the code of a GOAWAY or without one.
//!
//! Where the library behind the server answers otherwise than the standard prescribes first, the case holds the actual
//! answer, and [`Case::because`] says why that is as good: the peer has broken the rules, and the connection or the stream
//! ends either way.

use std::fmt;
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use tokio::time::timeout;

use crate::arena::Arena;
use crate::http2::{
    ACK, CONTINUATION, Connection, DATA, ENABLE_PUSH, END_HEADERS, END_STREAM, Frame, GOAWAY,
    HEADER_TABLE_SIZE, HEADERS, INITIAL_WINDOW_SIZE, MAX_FRAME_SIZE, PADDED, PING, PREFACE, PRIORITY,
    PUSH_PROMISE, RST_STREAM, SETTINGS, WINDOW_UPDATE, WITH_PRIORITY, begin, block, call, fields, frame,
    number, settings,
};
use crate::messages::INFO;

/// The call that comes after the frames of a case.
const LAST: u32 = 4001;
/// How long a case waits for a reaction.
const PATIENCE: Duration = Duration::from_secs(10);

/// Error codes (RFC 9113, section 7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
enum Code {
    ProtocolError = 1,
    FlowControlError = 3,
    StreamClosed = 5,
    FrameSizeError = 6,
    RefusedStream = 7,
}

use Code::*;

/// The reaction of a server to the frames of a case.
#[derive(Clone, Copy, Debug)]
enum Reaction {
    /// The connection ends with this code.
    Ends(Code),
    /// This stream ends with this code, and the connection goes on.
    Resets(u32, Code),
    /// This stream and all later ones are refused, and the connection goes on.
    Refuses(u32),
    /// This stream is answered, and the connection goes on.
    Answers(u32),
    /// This frame comes, with these flags and this length, and the connection goes on.
    Sends(u8, u8, usize),
    /// Nothing, and the connection goes on.
    Nothing,
}

use Reaction::*;

struct Case {
    /// Where the standard says it.
    section: &'static str,
    what: &'static str,
    send: fn() -> Vec<u8>,
    reaction: Reaction,
    /// Where it is not what the standard prescribes first: why it will do.
    because: &'static str,
}

const fn case(section: &'static str, what: &'static str, send: fn() -> Vec<u8>, reaction: Reaction) -> Case {
    Case { section, what, send, reaction, because: "" }
}

const fn other(
    section: &'static str,
    what: &'static str,
    send: fn() -> Vec<u8>,
    reaction: Reaction,
    because: &'static str,
) -> Case {
    Case { section, what, send, reaction, because }
}

/// The code says less than it could.
const COARSE: &str =
    "the connection ends, as it must; PROTOCOL_ERROR is the code for all that has broken the protocol";
/// RFC 9113, 5.4.1.
const WHOLE: &str = "an endpoint may treat an error of a stream as one of the connection";

/// HEADERS of a call that goes on, on stream 1.
fn open() -> Vec<u8> {
    begin(1, INFO, &[])
}

/// A call on stream 1 that is complete.
fn done() -> Vec<u8> {
    call(1, INFO, &[])
}

/// A call without a message, with this block of fields.
fn with_block(block: &[u8]) -> Vec<u8> {
    frame(HEADERS, END_HEADERS | END_STREAM, 1, block)
}

/// A call without a message, with these additional fields.
fn with(more: &[(&str, &str)]) -> Vec<u8> {
    with_block(&block(&[&fields(INFO)[..], more].concat()))
}

/// A call without one of its fields.
fn without(name: &str) -> Vec<u8> {
    let fields: Vec<_> = fields(INFO).into_iter().filter(|field| field.0 != name).collect();
    with_block(&block(&fields))
}

/// A call with this at the end of its block.
fn block_and(end: &[u8]) -> Vec<u8> {
    with_block(&[&block(&fields(INFO))[..], end].concat())
}

/// The first frames of a call whose fields go on.
fn unfinished() -> Vec<u8> {
    frame(HEADERS, END_STREAM, 1, &block(&fields(INFO)))
}

fn after(first: Vec<u8>, then: Vec<u8>) -> Vec<u8> {
    [first, then].concat()
}

fn number_frame(kind: u8, stream: u32, value: u32) -> Vec<u8> {
    frame(kind, 0, stream, &value.to_be_bytes())
}

#[rustfmt::skip] // a table: one case a line
const CASES: &[Case] = &[
    // 4: frames.
    case("4.1", "a frame of an unknown kind", || frame(0xBB, 0, 0, b"what?"), Nothing),
    case("4.1", "flags that mean nothing", || frame(PING, 0x16, 0, b"12345678"), Sends(PING, ACK, 8)),
    case("4.1", "a reserved bit that is set", || frame(PING, 0, 0x8000_0000, b"12345678"), Sends(PING, ACK, 8)),
    case("4.2", "DATA of 16,384 bytes", || after(open(), frame(DATA, END_STREAM, 1, &[0; 16_384])), Answers(1)),
    case("4.2", "DATA of a byte more than may be", || after(open(), frame(DATA, END_STREAM, 1, &[0; 16_385])), Ends(FrameSizeError)),
    case("4.2", "HEADERS of a byte more than may be", || frame(HEADERS, END_HEADERS | END_STREAM, 1, &[0; 16_385]), Ends(FrameSizeError)),
    case("4.3", "PRIORITY within a block of fields", || after(unfinished(), frame(PRIORITY, 0, 1, &[0, 0, 0, 0, 1])), Ends(ProtocolError)),
    case("4.3", "another stream within a block of fields", || after(unfinished(), begin(3, INFO, &[])), Ends(ProtocolError)),
    // 5.1: states of streams.
    case("5.1", "DATA on an idle stream", || frame(DATA, END_STREAM, 1, b"x"), Ends(ProtocolError)),
    case("5.1", "RST_STREAM on an idle stream", || number_frame(RST_STREAM, 1, 8), Ends(ProtocolError)),
    case("5.1", "WINDOW_UPDATE on an idle stream", || number_frame(WINDOW_UPDATE, 1, 100), Ends(ProtocolError)),
    case("5.1", "CONTINUATION on an idle stream", || frame(CONTINUATION, END_HEADERS, 1, &block(&fields(INFO))), Ends(ProtocolError)),
    other("5.1", "DATA after the end of a stream", || after(done(), frame(DATA, END_STREAM, 1, b"x")), Ends(ProtocolError), WHOLE),
    other("5.1", "HEADERS after the end of a stream", || after(done(), done()), Resets(1, ProtocolError), "the stream ends, as it must; the code is the general one"),
    case("5.1", "CONTINUATION after the end of a stream", || after(done(), frame(CONTINUATION, END_HEADERS, 1, &[])), Ends(ProtocolError)),
    case("5.1", "DATA after RST_STREAM", || [open(), number_frame(RST_STREAM, 1, 8), frame(DATA, 0, 1, b"x")].concat(), Resets(1, StreamClosed)),
    other("5.1", "HEADERS after RST_STREAM", || [open(), number_frame(RST_STREAM, 1, 8), done()].concat(), Ends(ProtocolError), WHOLE),
    case("5.1", "CONTINUATION after RST_STREAM", || [open(), number_frame(RST_STREAM, 1, 8), frame(CONTINUATION, END_HEADERS, 1, &[])].concat(), Ends(ProtocolError)),
    // 5.1.1: numbers of streams.
    case("5.1.1", "an even number", || call(2, INFO, &[]), Ends(ProtocolError)),
    case("5.1.1", "a number below an earlier one", || after(call(5, INFO, &[]), call(3, INFO, &[])), Ends(ProtocolError)),
    case("5.1.2", "more streams than may be open", || (0..1100).flat_map(|at| begin(2 * at + 1, INFO, &[])).collect(), Refuses(2199)),
    // 5.3: priorities, which RFC 9113 has given up.
    case("5.3.1", "a stream that depends on itself", || frame(HEADERS, END_HEADERS | END_STREAM | WITH_PRIORITY, 1, &[&[0, 0, 0, 1, 16], &block(&fields(INFO))[..]].concat()), Resets(1, ProtocolError)),
    case("5.3.1", "PRIORITY on itself", || after(open(), frame(PRIORITY, 0, 1, &[0, 0, 0, 1, 16])), Resets(1, ProtocolError)),
    case("5.5", "an unknown frame on a stream", || [open(), frame(0xBB, 0, 1, b"what?"), frame(DATA, END_STREAM, 1, &[0; 5])].concat(), Answers(1)),
    case("5.5", "an unknown frame within a block of fields", || after(unfinished(), frame(0xBB, 0, 0, b"what?")), Ends(ProtocolError)),
    // 6.1: DATA.
    case("6.1", "DATA on stream 0", || frame(DATA, 0, 0, b"x"), Ends(ProtocolError)),
    case("6.1", "DATA with more padding than bytes", || after(open(), frame(DATA, END_STREAM | PADDED, 1, &[6, 0, 0, 0])), Ends(ProtocolError)),
    case("6.1", "DATA with padding", || after(open(), frame(DATA, END_STREAM | PADDED, 1, &[2, 0, 0, 0, 0, 0, 9, 9])), Answers(1)),
    // 6.2: HEADERS.
    case("6.2", "HEADERS on stream 0", || frame(HEADERS, END_HEADERS | END_STREAM, 0, &block(&fields(INFO))), Ends(ProtocolError)),
    case("6.2", "HEADERS with more padding than bytes", || frame(HEADERS, END_HEADERS | PADDED, 1, &[200, 0, 0]), Ends(ProtocolError)),
    case("6.2", "HEADERS with padding", || after(frame(HEADERS, END_HEADERS | PADDED, 1, &[&[3], &block(&fields(INFO))[..], &[0; 3]].concat()), frame(DATA, END_STREAM, 1, &[0; 5])), Answers(1)),
    case("6.2", "HEADERS with a priority", || after(frame(HEADERS, END_HEADERS | WITH_PRIORITY, 1, &[&[0, 0, 0, 0, 16], &block(&fields(INFO))[..]].concat()), frame(DATA, END_STREAM, 1, &[0; 5])), Answers(1)),
    // 6.3 to 6.4: PRIORITY and RST_STREAM.
    case("6.3", "PRIORITY on stream 0", || frame(PRIORITY, 0, 0, &[0, 0, 0, 3, 16]), Ends(ProtocolError)),
    other("6.3", "PRIORITY of 4 bytes", || after(open(), frame(PRIORITY, 0, 1, &[0; 4])), Ends(ProtocolError), COARSE),
    case("6.4", "RST_STREAM on stream 0", || number_frame(RST_STREAM, 0, 8), Ends(ProtocolError)),
    other("6.4", "RST_STREAM of 3 bytes", || after(open(), frame(RST_STREAM, 0, 1, &[0; 3])), Ends(ProtocolError), COARSE),
    // 6.5: SETTINGS.
    case("6.5", "SETTINGS", || settings(&[]), Sends(SETTINGS, ACK, 0)),
    other("6.5", "an acknowledgement with values", || frame(SETTINGS, ACK, 0, &[0; 6]), Ends(ProtocolError), COARSE),
    case("6.5", "SETTINGS on a stream", || frame(SETTINGS, 0, 1, &[]), Ends(ProtocolError)),
    other("6.5", "SETTINGS of 5 bytes", || frame(SETTINGS, 0, 0, &[0; 5]), Ends(ProtocolError), COARSE),
    case("6.5.2", "ENABLE_PUSH of 2", || settings(&[(ENABLE_PUSH, 2)]), Ends(ProtocolError)),
    other("6.5.2", "INITIAL_WINDOW_SIZE of 2^31", || settings(&[(INITIAL_WINDOW_SIZE, 1 << 31)]), Ends(ProtocolError), COARSE),
    case("6.5.2", "MAX_FRAME_SIZE of 16,383", || settings(&[(MAX_FRAME_SIZE, 16_383)]), Ends(ProtocolError)),
    case("6.5.2", "MAX_FRAME_SIZE of 2^24", || settings(&[(MAX_FRAME_SIZE, 1 << 24)]), Ends(ProtocolError)),
    case("6.5.2", "a setting that there is not", || settings(&[(0xFF, 1)]), Sends(SETTINGS, ACK, 0)),
    case("6.5.3", "the table's size at its largest", || settings(&[(HEADER_TABLE_SIZE, u32::MAX)]), Sends(SETTINGS, ACK, 0)),
    // 6.6 to 6.8: PUSH_PROMISE, PING and GOAWAY.
    case("6.6", "PUSH_PROMISE of a client", || after(open(), frame(PUSH_PROMISE, END_HEADERS, 1, &[0, 0, 0, 2])), Ends(ProtocolError)),
    case("6.7", "PING", || frame(PING, 0, 0, b"12345678"), Sends(PING, ACK, 8)),
    case("6.7", "an answer to no PING", || frame(PING, ACK, 0, b"12345678"), Nothing),
    case("6.7", "PING on a stream", || frame(PING, 0, 1, b"12345678"), Ends(ProtocolError)),
    other("6.7", "PING of 6 bytes", || frame(PING, 0, 0, b"123456"), Ends(ProtocolError), COARSE),
    case("6.8", "GOAWAY on a stream", || frame(GOAWAY, 0, 1, &[0; 8]), Ends(ProtocolError)),
    // 6.9: windows.
    case("6.9", "a window that grows by 0", || number_frame(WINDOW_UPDATE, 0, 0), Ends(ProtocolError)),
    other("6.9", "a stream's window that grows by 0", || after(open(), number_frame(WINDOW_UPDATE, 1, 0)), Ends(ProtocolError), WHOLE),
    other("6.9", "WINDOW_UPDATE of 3 bytes", || frame(WINDOW_UPDATE, 0, 0, &[0, 0, 1]), Ends(ProtocolError), COARSE),
    case("6.9.1", "a window past 2^31 - 1", || number_frame(WINDOW_UPDATE, 0, 0x7FFF_FFFF), Ends(FlowControlError)),
    case("6.9.1", "a stream's window past 2^31 - 1", || after(open(), number_frame(WINDOW_UPDATE, 1, 0x7FFF_FFFF)), Resets(1, FlowControlError)),
    case("6.9.2", "a window of one byte", || after(settings(&[(INITIAL_WINDOW_SIZE, 1)]), done()), Sends(DATA, 0, 1)),
    case("6.9.2", "windows past 2^31 - 1 by SETTINGS", || [open(), number_frame(WINDOW_UPDATE, 1, 1), settings(&[(INITIAL_WINDOW_SIZE, 0x7FFF_FFFF)])].concat(), Ends(FlowControlError)),
    // 6.10: CONTINUATION.
    case("6.10", "fields in three frames", || { let block = block(&fields(INFO)); [frame(HEADERS, 0, 1, &block[..9]), frame(CONTINUATION, 0, 1, &block[9..20]), frame(CONTINUATION, END_HEADERS, 1, &block[20..]), frame(DATA, END_STREAM, 1, &[0; 5])].concat() }, Answers(1)),
    case("6.10", "DATA between CONTINUATIONs", || after(unfinished(), frame(DATA, 0, 1, b"x")), Ends(ProtocolError)),
    case("6.10", "CONTINUATION on stream 0", || after(unfinished(), frame(CONTINUATION, END_HEADERS, 0, &[])), Ends(ProtocolError)),
    case("6.10", "CONTINUATION after END_HEADERS", || after(open(), frame(CONTINUATION, END_HEADERS, 1, &[])), Ends(ProtocolError)),
    case("6.10", "CONTINUATION after DATA", || [open(), frame(DATA, 0, 1, &[0]), frame(CONTINUATION, END_HEADERS, 1, &[])].concat(), Ends(ProtocolError)),
    case("7", "RST_STREAM with an unknown code", || after(open(), number_frame(RST_STREAM, 1, 0xFF)), Nothing),
    // 8: requests.
    case("8.1", "trailers without an end", || after(open(), frame(HEADERS, END_HEADERS, 1, &block(&[("x-t", "t")]))), Resets(1, ProtocolError)),
    other("8.2.1", "a name in capitals", || with(&[("X-Name", "v")]), Ends(ProtocolError), WHOLE),
    other("8.2.1", "a value with a line break", || with(&[("x-name", "a\r\nb")]), Ends(ProtocolError), WHOLE),
    case("8.2.2", "a field of the connection", || with(&[("connection", "keep-alive")]), Resets(1, ProtocolError)),
    case("8.2.2", "te other than trailers", || with(&[("te", "gzip")]), Resets(1, ProtocolError)),
    other("8.3", "a pseudo field that there is not", || with_block(&block(&[&[(":test", "x")], &fields(INFO)[..]].concat())), Ends(ProtocolError), WHOLE),
    case("8.3", "a pseudo field of answers", || with_block(&block(&[&[(":status", "200")], &fields(INFO)[..]].concat())), Resets(1, ProtocolError)),
    case("8.3", "a pseudo field after another field", || with(&[(":path", "/")]), Resets(1, ProtocolError)),
    other("8.3", "a pseudo field in trailers", || after(open(), frame(HEADERS, END_HEADERS | END_STREAM, 1, &block(&[(":method", "POST")]))), Answers(1), "the field is dropped, and no method here reads the trailers of a request"),
    case("8.3.1", "no path", || without(":path"), Resets(1, ProtocolError)),
    case("8.3.1", "an empty path", || with_block(&block(&[(":method", "POST"), (":scheme", "http"), (":path", "")])), Resets(1, ProtocolError)),
    case("8.3.1", "no method", || without(":method"), Resets(1, ProtocolError)),
    case("8.3.1", "no scheme", || without(":scheme"), Resets(1, ProtocolError)),
    case("8.3.1", "two methods", || with_block(&block(&[&[(":method", "GET")], &fields(INFO)[..]].concat())), Resets(1, ProtocolError)),
    case("8.3.1", "two paths", || with_block(&block(&[&[(":path", "/")], &fields(INFO)[..]].concat())), Resets(1, ProtocolError)),
    case("8.1.1", "less data than content-length", || after(begin(1, INFO, &[("content-length", "9")]), frame(DATA, END_STREAM, 1, &[0; 5])), Resets(1, ProtocolError)),
    case("8.1.1", "more data than content-length", || after(begin(1, INFO, &[("content-length", "3")]), frame(DATA, END_STREAM, 1, &[0; 5])), Resets(1, ProtocolError)),
    // RFC 7541: compression of fields.
    other("HPACK 2.3.3", "an index past both tables", || block_and(&[0xFF, 0x80, 0x01]), Ends(ProtocolError), COARSE),
    other("HPACK 6.1", "an index of 0", || block_and(&[0x80]), Ends(ProtocolError), COARSE),
    other("HPACK 5.1", "a number without an end", || block_and(&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), Ends(ProtocolError), COARSE),
    other("HPACK 5.2", "a text longer than its block", || block_and(&[0x00, 0x7F, 0x10, b'a']), Ends(ProtocolError), COARSE),
    other("HPACK 5.2", "padding of a byte", || block_and(b"\x00\x85\xf2\xb2\x4a\x84\xff\x84\x49\x50\x9f\xff"), Ends(ProtocolError), COARSE),
    other("HPACK 5.2", "padding with zeros", || block_and(b"\x00\x85\xf2\xb2\x4a\x84\xff\x83\x49\x50\x90"), Ends(ProtocolError), COARSE),
    other("HPACK 5.2", "a text with its end in it", || block_and(b"\x00\x85\xf2\xb2\x4a\x87\xff\xff\xff\xff\xfa\x87\xff"), Ends(ProtocolError), COARSE),
    other("HPACK 4.2", "a table's size at the end of a block", || block_and(&[0x21]), Ends(ProtocolError), COARSE),
    other("HPACK 6.3", "a table larger than may be", || { let mut head = Vec::new(); number(0x20, 5, 4097, &mut head); with_block(&[&head[..], &block(&fields(INFO))].concat()) }, Ends(ProtocolError), COARSE),
    other("4.3", "a block that ends in the middle of a field", || with_block(&[0x00, 0x05, b'x']), Ends(ProtocolError), COARSE),
];

/// The frames that came after those of a case, and whether the connection ended.
#[derive(Debug, Default)]
struct Seen {
    frames: Vec<Frame>,
    closed: bool,
}

impl Seen {
    fn goaway(&self) -> Option<u32> {
        self.frames.iter().find(|frame| frame.kind == GOAWAY).map(Frame::code)
    }

    fn reset(&self, stream: u32) -> Option<u32> {
        let reset = |frame: &&Frame| frame.kind == RST_STREAM && frame.stream == stream;
        self.frames.iter().find(reset).map(Frame::code)
    }

    /// Whether `:status 200` came, by its number in the table.
    fn answered(&self, stream: u32) -> bool {
        let answer = |frame: &Frame| frame.kind == HEADERS && frame.stream == stream;
        self.frames.iter().any(|frame| answer(frame) && frame.payload.first() == Some(&0x88))
    }

    fn is(&self, reaction: Reaction) -> bool {
        let goes_on = self.answered(LAST) && !self.closed;
        match reaction {
            Ends(code) => self.goaway() == Some(code as u32),
            Resets(stream, code) => self.reset(stream) == Some(code as u32) && goes_on,
            Refuses(stream) => {
                let refused = |stream| self.reset(stream) == Some(RefusedStream as u32);
                refused(stream) && refused(LAST) && !self.closed
            }
            Answers(stream) => self.answered(stream) && goes_on,
            Sends(kind, flags, length) => {
                let that =
                    |frame: &Frame| (frame.kind, frame.flags, frame.payload.len()) == (kind, flags, length);
                self.frames.iter().any(that) && goes_on
            }
            Nothing => goes_on && self.reset(1).is_none(),
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for frame in self.frames.iter().filter(|frame| matches!(frame.kind, GOAWAY | RST_STREAM | HEADERS)) {
            let what = ["answer", "", "RST_STREAM", "", "", "", "GOAWAY"][usize::from(frame.kind - 1)];
            write!(f, "{what} {} code {}, ", frame.stream, frame.code())?;
        }
        write!(f, "{}", if self.closed { "closed" } else { "open" })
    }
}

pub async fn conformance(arena: &Arena) -> Result<()> {
    let mut differing = Vec::new();
    for Case { section, what, send, reaction, because } in CASES {
        let mut connection = Connection::open(arena.address, &[]).await?;
        let seen = see(&mut connection, &send(), *reaction).await;
        if !seen.is(*reaction) {
            let because =
                if because.is_empty() { "" } else { "not the standard's own: " }.to_owned() + because;
            differing.push(format!("{section}, {what}: expected {reaction:?} ({because}), saw {seen}"));
        }
    }
    // What is not HTTP/2 at all.
    let mut connection = Connection::silent(arena.address).await?;
    connection.send(&PREFACE.to_ascii_lowercase()).await?;
    ensure!(connection.closes_within(PATIENCE).await, "a preface that is none is waited on");
    if !differing.is_empty() {
        bail!("{} of {} cases:\n    {}", differing.len(), CASES.len(), differing.join("\n    "));
    }
    Ok(())
}

/// Sends, and reads until the reaction has been seen, the connection has ended, or nothing more comes.
async fn see(connection: &mut Connection, bytes: &[u8], reaction: Reaction) -> Seen {
    let mut seen = Seen::default();
    let _ = connection.send(&[bytes, &call(LAST, INFO, &[])].concat()).await;
    let reading = async {
        while !seen.is(reaction) {
            match connection.next().await {
                Ok(Some(frame)) => seen.frames.push(frame),
                _ => {
                    seen.closed = true;
                    break;
                }
            }
        }
    };
    let _ = timeout(Duration::from_secs(1), reading).await;
    seen
}
