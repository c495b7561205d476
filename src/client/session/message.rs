//! The calls of a session as encoded messages. The table [`KINDS`] has what they have in common, so that no other file tells
//! them apart, and a message passes through without being read.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::encoding::{
    DecodeContext, WireType, decode_key, decode_varint, encode_key, encode_varint, skip_field,
};
use prost::{DecodeError, Message, Name};
use tonic::client::Grpc;
use tonic::codegen::http::uri::PathAndQuery;
use tonic::{Request, Response, Status};

use crate::connection::MAX_MESSAGE;
use crate::{ClientError, Link, RawBytes};
use tetrion_protocol::{codec, rpc};

/// A kind of call: its names, and the numbers of the fields by which it is addressed.
#[derive(Debug, PartialEq, Eq)]
pub struct CallKind {
    /// Name of the field in `StepStreamRequest` and in `StepStreamResponse`.
    pub name: &'static str,
    /// Path of the call with one answer.
    pub path: &'static str,
    /// Number of that field in both.
    pub in_stream: u32,
    /// Numbers of the fields that lead to the name of the session in a request.
    pub session: &'static [u32],
    /// Number of `sequence_number` in a request; `None` for a call that changes nothing.
    pub number: Option<u32>,
    /// Number of `sequence_number` in an answer.
    pub answer_number: u32,
}

const fn kind(
    (name, path): (&'static str, &'static str),
    in_stream: u32,
    session: &'static [u32],
    number: Option<u32>,
    answer_number: u32,
) -> CallKind {
    CallKind { name, path, in_stream, session, number, answer_number }
}

/// Performs actions.
pub static STEP: CallKind = kind(("step", "/tetrion.v1.EnvironmentService/Step"), 1, &[1], Some(4), 8);
/// Starts episodes.
pub static RESET: CallKind = kind(("reset", "/tetrion.v1.EnvironmentService/Reset"), 2, &[1], Some(4), 4);
/// Lists placements.
pub static ENUMERATE_PLACEMENTS: CallKind = kind(
    ("enumerate_placements", "/tetrion.v1.EnvironmentService/EnumeratePlacements"),
    3,
    &[1, 1],
    None,
    11,
);
/// Takes snapshots.
pub static SAVE_STATE: CallKind =
    kind(("save_state", "/tetrion.v1.EnvironmentService/SaveState"), 4, &[1], None, 2);
/// Restores environments from positions.
pub static RESTORE_STATE: CallKind =
    kind(("restore_state", "/tetrion.v1.EnvironmentService/RestoreState"), 5, &[1], Some(5), 4);
/// All kinds of calls.
pub static KINDS: [&CallKind; 5] = [&STEP, &RESET, &ENUMERATE_PLACEMENTS, &SAVE_STATE, &RESTORE_STATE];

/// Number of the field in `StepStreamResponse` that refuses a request.
const REFUSED: u32 = 15;

/// A call without the name of the session and without its number.
#[derive(Clone, Debug)]
pub struct Asked {
    pub kind: &'static CallKind,
    /// The encoded request.
    pub message: Bytes,
}

/// The answer to a call.
#[derive(Clone, Debug)]
pub struct Answered {
    pub kind: &'static CallKind,
    /// The encoded answer.
    pub message: Bytes,
}

/// A message of a stream to the client.
pub(super) enum FromStream {
    Answer(Answered),
    Refusal(Box<Status>),
    /// None of the known kinds.
    Nothing,
}

impl Asked {
    /// A call by its request.
    pub fn new(kind: &'static CallKind, request: &impl Message) -> Asked {
        Asked { kind, message: request.encode_to_vec().into() }
    }

    /// Whether it changes the session, so that it has a number.
    pub fn is_numbered(&self) -> bool {
        self.kind.number.is_some()
    }

    /// The request with the name of a session and, unless it is 0, a number.
    pub(super) fn addressed(&self, session: &str, number: u64) -> Bytes {
        let mut message = BytesMut::with_capacity(self.message.len() + session.len() + 32);
        message.put_slice(&self.message);
        let (&name, around) = self.kind.session.split_last().expect("a way to the name");
        let mut field = BytesMut::with_capacity(session.len() + 8);
        put_bytes(name, session.as_bytes(), &mut field);
        for &outer in around.iter().rev() {
            let inner = field.split();
            put_bytes(outer, &inner, &mut field);
        }
        message.put_slice(&field);
        if let (Some(field), 1..) = (self.kind.number, number) {
            put_number(field, number, &mut message);
        }
        message.freeze()
    }

    /// A message of a stream with this request, which is addressed.
    pub(super) fn in_stream(&self, addressed: &[u8]) -> Bytes {
        let mut message = BytesMut::with_capacity(addressed.len() + 8);
        put_bytes(self.kind.in_stream, addressed, &mut message);
        message.freeze()
    }

    /// Makes the call once, with an addressed request.
    pub(super) async fn call(&self, link: Link, request: Request<Bytes>) -> Result<Response<Bytes>, Status> {
        let mut calls = Grpc::new(link).max_decoding_message_size(MAX_MESSAGE);
        calls.ready().await.map_err(Status::from_error)?;
        calls.unary(request, PathAndQuery::from_static(self.kind.path), RawBytes).await
    }
}

impl Answered {
    /// Reads the answer.
    ///
    /// # Errors
    /// [`ClientError::Answer`] if it cannot be read.
    pub fn decode<M: Message + Name + Default>(&self) -> Result<M, ClientError> {
        codec::decode(self.message.clone()).map_err(|status| ClientError::Answer(status.message().to_owned()))
    }

    /// The sequence number in the answer.
    pub(super) fn number(&self) -> Result<u64, ClientError> {
        number_in(&self.message, self.kind.answer_number).map_err(unreadable)
    }

    /// The answer with another sequence number.
    pub(super) fn with_number(self, number: u64) -> Answered {
        // Of a field that comes twice, the last one counts.
        let mut message = BytesMut::with_capacity(self.message.len() + 16);
        message.put_slice(&self.message);
        put_number(self.kind.answer_number, number, &mut message);
        Answered { message: message.freeze(), ..self }
    }
}

/// Reads a message of a stream.
pub(super) fn read_stream(mut message: Bytes) -> Result<FromStream, ClientError> {
    let mut read = FromStream::Nothing;
    while message.has_remaining() {
        let (field, wire) = decode_key(&mut message).map_err(unreadable)?;
        if wire != WireType::LengthDelimited {
            skip_field(wire, field, &mut message, DecodeContext::default()).map_err(unreadable)?;
            continue;
        }
        let length = decode_varint(&mut message).map_err(unreadable)?;
        let length = usize::try_from(length).ok().filter(|length| *length <= message.len());
        let Some(length) = length else {
            return Err(ClientError::Answer("a message of a stream ends too early".to_owned()));
        };
        let part = message.split_to(length);
        if field == REFUSED {
            let refused = rpc::Status::decode(part.clone()).map_err(unreadable)?;
            read = FromStream::Refusal(Box::new(Status::with_details(
                refused.code.into(),
                refused.message,
                part,
            )));
        } else if let Some(kind) = KINDS.into_iter().find(|kind| kind.in_stream == field) {
            read = FromStream::Answer(Answered { kind, message: part });
        }
    }
    Ok(read)
}

/// The number in a field of a message; 0 without it.
fn number_in(message: &[u8], wanted: u32) -> Result<u64, DecodeError> {
    let (mut rest, mut number) = (message, 0);
    while rest.has_remaining() {
        let (field, wire) = decode_key(&mut rest)?;
        if field == wanted && wire == WireType::Varint {
            number = decode_varint(&mut rest)?;
        } else {
            skip_field(wire, field, &mut rest, DecodeContext::default())?;
        }
    }
    Ok(number)
}

fn put_number(field: u32, number: u64, message: &mut BytesMut) {
    encode_key(field, WireType::Varint, message);
    encode_varint(number, message);
}

fn put_bytes(field: u32, bytes: &[u8], message: &mut BytesMut) {
    encode_key(field, WireType::LengthDelimited, message);
    encode_varint(bytes.len() as u64, message);
    message.put_slice(bytes);
}

fn unreadable(error: DecodeError) -> ClientError {
    ClientError::Answer(error.to_string())
}
