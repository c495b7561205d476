//! Encodes and decodes messages like prost, but inspects them before it decodes them.
//!
//! Two bytes on the wire can become a message of two hundred bytes in memory, so a request within the size limit can
//! ask for gigabytes: 64 MiB of empty `agents` took 5.6 GB. Also, prost silently ignores unknown fields, so a newer
//! client would play a different game than it wants. So the codec first walks the bytes of a message once with the
//! descriptors, without allocating. The walk adds up the memory that the message would take, and finds unknown fields
//! in requests of `tetrion.v1`. It skips bytes fields, the tensors that make up large messages. A server sets with
//! [`set_gate`] how to refuse requests and how to reserve memory for them.
//!
//! The codec measures an answer first, and writes an answer of megabytes into memory allocated once.
//!
//! Reading or writing a large message occupies a thread for tens of milliseconds. A program whose threads must stay
//! free sets with [`set_aside`] how to do such work.

use std::collections::{HashMap, HashSet};
use std::marker::PhantomData;
use std::sync::OnceLock;

use bytes::{Buf, Bytes};
use prost::encoding::{WireType, decode_varint};
use prost::{Message, Name};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FileDescriptorSet};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};

use super::FILE_DESCRIPTOR_SET;
use super::limits::MAX_DECODED_BYTES;
use super::revision::PROTOCOL_REVISION;

/// The codec of the generated clients and servers.
#[derive(Debug)]
pub struct WeighedCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for WeighedCodec<T, U> {
    fn default() -> WeighedCodec<T, U> {
        WeighedCodec(PhantomData)
    }
}

impl<T, U> Codec for WeighedCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Name + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = SizedEncoder<T>;
    type Decoder = WeighedDecoder<U>;

    fn encoder(&mut self) -> SizedEncoder<T> {
        SizedEncoder { inner: ProstCodec::<T, U>::default().encoder() }
    }

    fn decoder(&mut self) -> WeighedDecoder<U> {
        WeighedDecoder { inner: ProstCodec::<T, U>::default().decoder(), plan: plan_of(&U::full_name()) }
    }
}

/// Encodes messages into a buffer whose final size is allocated before the first byte.
#[derive(Debug)]
pub struct SizedEncoder<T> {
    inner: ProstEncoder<T>,
}

impl<T: Message> Encoder for SizedEncoder<T> {
    type Item = T;
    type Error = Status;

    fn encode(&mut self, message: T, buf: &mut EncodeBuf<'_>) -> Result<(), Status> {
        let length = message.encoded_len();
        buf.reserve(length);
        with_room(length, || self.inner.encode(message, buf))
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.inner.buffer_settings()
    }
}

/// Decodes messages, but refuses those that are too heavy and requests with unknown fields.
#[derive(Debug)]
pub struct WeighedDecoder<U> {
    inner: ProstDecoder<U>,
    plan: Option<&'static MessageWeights>,
}

impl<U: Message + Default> Decoder for WeighedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        with_room(buf.remaining(), || {
            if let Some(plan) = self.plan {
                plan.admit(buf.chunk())?; // the message is in one piece
            }
            self.inner.decode(buf)
        })
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.inner.buffer_settings()
    }
}

/// Largest memory of a decoded message, without tensors, that is not charged to a budget.
const LIGHT: u64 = 8 << 10;

/// The reason why a message is not decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    /// The message has a field that this program does not know.
    #[error(
        "{message} has a field {number}, which this server does not know: its protocol_revision is {PROTOCOL_REVISION}"
    )]
    UnknownField {
        /// Full name of the message that contains the field.
        message: &'static str,
        number: u32,
    },
    /// The message would take too much memory.
    #[error(
        "the message of {bytes} bytes would take {weight} bytes once decoded, expected at most {MAX_DECODED_BYTES}"
    )]
    TooHeavy {
        /// Size of the encoded message.
        bytes: usize,
        /// Memory of the decoded message, without tensors.
        weight: u64,
    },
}

/// A server's handling of incoming requests.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    /// The status for a request that the codec refuses to decode.
    pub refuse: fn(Unfit) -> Status,
    /// Reserves memory for a message that takes this many bytes once decoded, without tensors, or refuses it.
    pub charge: fn(bytes: u64) -> Result<(), Status>,
}

static GATE: OnceLock<Gate> = OnceLock::new();

/// Sets this process's handling of incoming requests. Later calls have no effect.
pub fn set_gate(gate: Gate) {
    let _ = GATE.set(gate);
}

/// A function that runs work that occupies its thread for a long time.
pub type Aside = fn(work: &mut dyn FnMut());

/// Bytes of a large message. Reading one takes a few milliseconds, unless it consists of tensors.
const LARGE: usize = 4 << 20;

static ASIDE: OnceLock<Aside> = OnceLock::new();

/// Sets how this process reads and writes large messages. Later calls have no effect.
pub fn set_aside(aside: Aside) {
    let _ = ASIDE.set(aside);
}

/// Reads or writes a message of `bytes`, aside if it is large.
fn with_room<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let Some(aside) = ASIDE.get().filter(|_| bytes >= LARGE) else { return work() };
    let (mut work, mut done) = (Some(work), None);
    aside(&mut || done = work.take().map(|work| work()));
    done.expect("work that is done when it is called")
}

/// Deepest nesting of messages, as in prost.
const MAX_DEPTH: usize = 100;

/// The fields of a message type, and the memory that they take.
#[derive(Debug)]
struct MessageWeights {
    name: &'static str,
    /// Memory of each field, by field number.
    fields: Vec<Option<FieldWeight>>,
    /// Most bytes in memory per byte of a message.
    most_per_byte: u64,
    /// Whether servers read messages of this type. They refuse unknown fields; answers may come from a newer server.
    is_request: bool,
}

/// Memory of a field per occurrence, in addition to the size of its message.
#[derive(Clone, Copy, Debug)]
enum FieldWeight {
    /// A message: its content and, in a list, `own` bytes for the item.
    Message { own: u64, plan: usize },
    /// A text: its length and, in a list, `own` bytes for the item.
    Text { own: u64 },
    /// Bytes, which are not copied: in a list, `own` bytes for the item.
    Bytes { own: u64 },
    /// A list of numbers with `each` bytes per number in memory. `fixed` numbers have this width in a message too.
    Numbers { each: u64, fixed: bool },
    /// A number, counted in the size of its message.
    Number,
}

impl MessageWeights {
    /// Refuses a message that is too heavy or has an unknown field, and reserves memory for a heavy one.
    fn admit(&self, bytes: &[u8]) -> Result<(), Status> {
        let is_light = bytes.len() as u64 * self.most_per_byte <= LIGHT;
        if is_light && !self.is_request {
            return Ok(());
        }
        let weight = self.walk(bytes, self.is_request, 0).and_then(|weight| match weight {
            0..=MAX_DECODED_BYTES => Ok(weight),
            _ => Err(Unfit::TooHeavy { bytes: bytes.len(), weight }),
        });
        match (weight, GATE.get().filter(|_| self.is_request)) {
            (Ok(weight), Some(gate)) if !is_light => (gate.charge)(weight),
            (Ok(_), _) => Ok(()),
            (Err(error), Some(gate)) => Err((gate.refuse)(error)),
            // Like tonic for messages that are too long.
            (Err(error), None) => Err(Status::out_of_range(error.to_string())),
        }
    }

    /// Memory that a message would take. Malformed bytes add nothing, because decoding will fail.
    ///
    /// # Errors
    /// If the walk is strict, the first unknown field.
    fn walk(&self, mut bytes: &[u8], is_strict: bool, depth: usize) -> Result<u64, Unfit> {
        let mut weight = 0;
        while !bytes.is_empty() && depth < MAX_DEPTH {
            let Ok(key) = decode_varint(&mut bytes) else { break };
            let (Ok(number), Ok(wire_type)) = (u32::try_from(key >> 3), WireType::try_from(key & 7)) else {
                break;
            };
            let field = self.fields.get(number as usize).copied().flatten();
            let length = match wire_type {
                WireType::Varint if decode_varint(&mut bytes).is_ok() => 0,
                WireType::LengthDelimited => match decode_varint(&mut bytes) {
                    Ok(length) => length,
                    Err(_) => break,
                },
                WireType::ThirtyTwoBit => 4,
                WireType::SixtyFourBit => 8,
                // Prost skips an unknown group; our messages have no groups.
                WireType::StartGroup if field.is_none() && is_strict => 0,
                _ => break,
            };
            let Some((inside, rest)) = usize::try_from(length).ok().and_then(|at| bytes.split_at_checked(at))
            else {
                break;
            };
            bytes = rest;
            weight += match (field, wire_type) {
                (None, _) if number > 0 && is_strict => {
                    return Err(Unfit::UnknownField { message: self.name, number });
                }
                (Some(FieldWeight::Message { own, plan }), WireType::LengthDelimited) => {
                    own + plans().all[plan].walk(inside, is_strict, depth + 1)?
                }
                (Some(FieldWeight::Text { own }), WireType::LengthDelimited) => own + length,
                (Some(FieldWeight::Bytes { own }), WireType::LengthDelimited) => own,
                // Packed: each varint ends with a byte without a continuation mark.
                (Some(FieldWeight::Numbers { fixed: true, .. }), WireType::LengthDelimited) => length,
                (Some(FieldWeight::Numbers { each, .. }), WireType::LengthDelimited) => {
                    each * inside.iter().filter(|byte| **byte < 0x80).count() as u64
                }
                (Some(FieldWeight::Numbers { each, .. }), _) => each,
                _ => 0,
            };
        }
        Ok(weight)
    }
}

/// Decodes a message, unless it would take too much memory.
///
/// # Errors
/// `OUT_OF_RANGE` if it would, and `INTERNAL` if the bytes are no such message.
pub fn decode<T: Message + Name + Default>(bytes: Bytes) -> Result<T, Status> {
    if let Some(plan) = plan_of(&T::full_name()) {
        plan.admit(&bytes)?;
    }
    T::decode(bytes).map_err(|error| Status::internal(error.to_string()))
}

/// Memory that a decoded message would take in addition to the message struct; `None` for a message type outside our
/// files. Malformed bytes add nothing.
pub fn weight(full_name: &str, bytes: &[u8]) -> Option<u64> {
    plan_of(full_name).map(|plan| plan.walk(bytes, false, 0).unwrap_or(0))
}

/// Most memory per byte of a message of this type.
pub fn most_per_byte_of(full_name: &str) -> Option<u64> {
    plan_of(full_name).map(|plan| plan.most_per_byte)
}

/// The plan of a message type by its full name; `None` for types outside our files.
fn plan_of(name: &str) -> Option<&'static MessageWeights> {
    let plans = plans();
    plans.by_name.get(name).map(|&at| &plans.all[at])
}

/// The plans of all message types. They live as long as the process, and refer to each other by index.
struct Plans {
    all: Vec<MessageWeights>,
    by_name: HashMap<&'static str, usize>,
}

fn plans() -> &'static Plans {
    static PLANS: OnceLock<Plans> = OnceLock::new();
    PLANS.get_or_init(|| {
        static SET: OnceLock<FileDescriptorSet> = OnceLock::new();
        static NAMES: OnceLock<Vec<String>> = OnceLock::new();
        let set = SET.get_or_init(|| {
            FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("a descriptor set written by build.rs")
        });
        let mut messages = HashMap::new();
        for file in &set.file {
            collect(file.package(), &file.message_type, &mut messages);
        }
        let names = NAMES.get_or_init(|| messages.keys().cloned().collect());
        let by_name = names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
        let methods = set.file.iter().flat_map(|file| &file.service).flat_map(|service| &service.method);
        let requests: HashSet<&str> = methods.map(|method| bare(method.input_type())).collect();
        let plan = |name: &'static String| MessageWeights {
            name,
            fields: fields(messages[name], &messages, &by_name),
            most_per_byte: most_per_byte(messages[name], &messages, 0),
            is_request: requests.contains(name.as_str()),
        };
        Plans { all: names.iter().map(plan).collect(), by_name }
    })
}

/// A type's name without the dot that descriptors put before it.
fn bare(type_name: &str) -> &str {
    type_name.trim_start_matches('.')
}

/// Most memory per byte of a message: an item of a list takes at least two bytes.
fn most_per_byte(
    message: &DescriptorProto,
    all: &HashMap<String, &'static DescriptorProto>,
    depth: usize,
) -> u64 {
    let most = |field: &prost_types::FieldDescriptorProto| {
        let list = field.label() == Label::Repeated;
        let inner = all.get(bare(field.type_name()));
        match (field.r#type(), inner) {
            (Type::Message | Type::Group, Some(inner)) if depth < MAX_DEPTH => {
                let own = if list { size(inner, all, 0).div_ceil(2) } else { 0 };
                own.max(most_per_byte(inner, all, depth + 1))
            }
            (Type::String, _) if list => (TEXT + BLOCK).div_ceil(2),
            (Type::Bytes, _) if list => BYTES.div_ceil(2),
            (numeric, _) if list && !is_fixed(numeric) => number_size(numeric),
            _ => 1,
        }
    };
    message.field.iter().map(most).max().unwrap_or(1)
}

fn collect<'a>(
    prefix: &str,
    messages: &'a [DescriptorProto],
    all: &mut HashMap<String, &'a DescriptorProto>,
) {
    for message in messages {
        let name = format!("{prefix}.{}", message.name());
        collect(&name, &message.nested_type, all);
        all.insert(name, message);
    }
}

/// Memory of each field of a message, by its number.
fn fields(
    message: &DescriptorProto,
    all: &HashMap<String, &'static DescriptorProto>,
    plans: &HashMap<&str, usize>,
) -> Vec<Option<FieldWeight>> {
    let mut fields = vec![];
    for field in &message.field {
        let list = field.label() == Label::Repeated;
        let one_of_list = |bytes| if list { bytes } else { 0 };
        let planned = match field.r#type() {
            Type::Message | Type::Group => {
                let name = bare(field.type_name());
                FieldWeight::Message { own: one_of_list(size(all[name], all, 0)), plan: plans[name] }
            }
            Type::String => FieldWeight::Text { own: one_of_list(TEXT + BLOCK) },
            Type::Bytes => FieldWeight::Bytes { own: one_of_list(BYTES) },
            numeric if list => FieldWeight::Numbers { each: number_size(numeric), fixed: is_fixed(numeric) },
            _ => FieldWeight::Number,
        };
        let number = field.number() as usize;
        fields.resize(fields.len().max(number + 1), None);
        fields[number] = Some(planned);
    }
    fields
}

/// Size of a `String` or a `Vec`.
const TEXT: u64 = 24;
/// Overhead of the allocator for a short text.
const BLOCK: u64 = 24;
/// Size of a `Bytes`, without its content.
const BYTES: u64 = 32;

/// Bytes of a message in memory, rounded up: every field with its presence flag, and of a choice of fields the largest.
fn size(message: &DescriptorProto, all: &HashMap<String, &'static DescriptorProto>, depth: usize) -> u64 {
    let field = |field: &prost_types::FieldDescriptorProto| match (field.label(), field.r#type()) {
        (Label::Repeated, Type::Message) => 2 * TEXT, // a map takes two
        (Label::Repeated, _) | (_, Type::String) => TEXT,
        (_, Type::Bytes) => BYTES,
        (_, Type::Message | Type::Group) => match all.get(bare(field.type_name())) {
            Some(inner) if depth < MAX_DEPTH => 8 + size(inner, all, depth + 1),
            _ => 8,
        },
        (_, numeric) => 8 + number_size(numeric),
    };
    let mut choices = vec![0; message.oneof_decl.len()];
    let mut alone = 0;
    for inner in &message.field {
        match inner.oneof_index {
            None => alone += field(inner),
            Some(choice) => choices[choice as usize] = choices[choice as usize].max(field(inner)),
        }
    }
    alone + choices.into_iter().sum::<u64>()
}

/// Whether a number has the same width in every message.
fn is_fixed(numeric: Type) -> bool {
    matches!(
        numeric,
        Type::Double | Type::Float | Type::Fixed64 | Type::Sfixed64 | Type::Fixed32 | Type::Sfixed32
    )
}

fn number_size(numeric: Type) -> u64 {
    match numeric {
        Type::Double | Type::Int64 | Type::Uint64 | Type::Fixed64 | Type::Sfixed64 | Type::Sint64 => 8,
        Type::Bool => 1,
        _ => 4,
    }
}
