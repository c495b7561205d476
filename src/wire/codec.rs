//! Encodes and decodes messages like prost, but weighs them before it decodes them.
//!
//! Two bytes on the wire can become a message of two hundred bytes in memory, so a request within the size limit can
//! ask for gigabytes: 64 MiB of empty `agents` took 5.6 GB. So the codec first walks the bytes once with the
//! descriptors, without allocating, and adds up the memory that the message would take; only then it decodes. It
//! skips long fields, the tensors that make up large messages. A program that limits the memory of its callers sets a
//! function with [`set_charge`] that reserves memory for messages.
//!
//! The codec measures an answer first, and writes an answer of megabytes into memory allocated once.
//!
//! Reading or writing a large message occupies a thread for tens of milliseconds. A program whose threads must stay
//! free sets with [`set_aside`] how to do such work.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::OnceLock;

use bytes::Buf;
use prost::encoding::{WireType, decode_varint};
use prost::{Message, Name};
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{DescriptorProto, FileDescriptorProto, FileDescriptorSet};
use tonic::Status;
use tonic::codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder};
use tonic_prost::{ProstCodec, ProstDecoder, ProstEncoder};

use super::FILE_DESCRIPTOR_SET;
use super::limits::MAX_DECODED_BYTES;

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

/// Encodes messages into a buffer that is large enough before the first byte.
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

/// Decodes messages that are not too heavy.
#[derive(Debug)]
pub struct WeighedDecoder<U> {
    inner: ProstDecoder<U>,
    plan: Option<&'static Plan>,
}

impl<U: Message + Default> Decoder for WeighedDecoder<U> {
    type Item = U;
    type Error = Status;

    fn decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        with_room(buf.remaining(), || self.weigh_and_decode(buf))
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.inner.buffer_settings()
    }
}

impl<U: Message + Default> WeighedDecoder<U> {
    fn weigh_and_decode(&mut self, buf: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        // The message is in one piece.
        let bytes = buf.chunk();
        if let Some(plan) = self.plan
            && bytes.len() as u64 * plan.most_per_byte > LIGHT
        {
            let weight = plan.weigh(bytes, 0);
            if weight > MAX_DECODED_BYTES {
                let problem = format!(
                    "the message of {} bytes would take {weight} bytes, the limit is {MAX_DECODED_BYTES}",
                    bytes.len()
                );
                return Err(Status::out_of_range(problem));
            }
            if let Some(charge) = CHARGE.get() {
                charge(weight)?;
            }
        }
        self.inner.decode(buf)
    }
}

/// Bytes of a decoded message, without tensors, that are not charged to a budget.
const LIGHT: u64 = 8 << 10;

/// Reserves memory for a message that decodes to this many bytes, without tensors, or refuses it.
pub type Charge = fn(bytes: u64) -> Result<(), Status>;

static CHARGE: OnceLock<Charge> = OnceLock::new();

/// Sets how this process reserves memory for messages before it decodes them. The first call decides.
pub fn set_charge(charge: Charge) {
    let _ = CHARGE.set(charge);
}

/// A way to do work that occupies its thread for long.
pub type Aside = fn(work: &mut dyn FnMut());

/// The size of a large message, in bytes: a few milliseconds, unless it is made of tensors.
const LARGE: usize = 4 << 20;

static ASIDE: OnceLock<Aside> = OnceLock::new();

/// Sets how this process reads and writes large messages from now on. The first call decides.
pub fn set_aside(aside: Aside) {
    let _ = ASIDE.set(aside);
}

/// Reads or writes a message of `bytes`.
fn with_room<T>(bytes: usize, work: impl FnOnce() -> T) -> T {
    let Some(aside) = ASIDE.get().filter(|_| bytes >= LARGE) else { return work() };
    let (mut work, mut done) = (Some(work), None);
    aside(&mut || done = work.take().map(|work| work()));
    done.expect("work that is done when it is called")
}

/// How deep messages may be nested, as in prost.
const MAX_DEPTH: usize = 100;

/// Memory of the fields of a message type, by field number.
#[derive(Debug, Default)]
struct Plan {
    fields: HashMap<u32, FieldWeight>,
    /// Most bytes in memory per byte of a message.
    most_per_byte: u64,
}

/// Memory of a field per occurrence, in addition to the size of its message.
#[derive(Clone, Copy, Debug)]
enum FieldWeight {
    /// A message: `own` bytes for itself if it is in a list, plus its content.
    Message { own: u64, name: &'static str },
    /// A text: `own` bytes if it is in a list, plus its length.
    Text { own: u64 },
    /// Bytes, which are not copied: `own` bytes if they are in a list.
    Bytes { own: u64 },
    /// A list of numbers with `each` bytes per number. Numbers of fixed width take as many bytes in a message.
    Numbers { each: u64, fixed: bool },
    /// A number, included in the size of its message.
    Number,
}

impl Plan {
    /// Bytes of memory that a message would take. Unreadable bytes weigh nothing, because decoding will fail.
    fn weigh(&self, mut bytes: &[u8], depth: usize) -> u64 {
        let mut weight = 0;
        while !bytes.is_empty() && depth < MAX_DEPTH {
            let Ok(key) = decode_varint(&mut bytes) else { break };
            let Ok(wire_type) = WireType::try_from(key & 7) else { break };
            let field = self.fields.get(&((key >> 3) as u32)).copied();
            let length = match wire_type {
                WireType::Varint if decode_varint(&mut bytes).is_ok() => 0,
                WireType::LengthDelimited => match decode_varint(&mut bytes) {
                    Ok(length) => length,
                    Err(_) => break,
                },
                WireType::ThirtyTwoBit => 4,
                WireType::SixtyFourBit => 8,
                _ => break,
            };
            let Some((inside, rest)) = usize::try_from(length).ok().and_then(|at| bytes.split_at_checked(at))
            else {
                break;
            };
            bytes = rest;
            weight += match (field, wire_type) {
                (Some(FieldWeight::Message { own, name }), WireType::LengthDelimited) => {
                    own + plan_of(name).map_or(0, |plan| plan.weigh(inside, depth + 1))
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
        weight
    }
}

/// Bytes of memory that a decoded message would take in addition to the message itself; `None` for a message type
/// outside our files. Unreadable bytes weigh nothing.
pub fn weight(full_name: &str, bytes: &[u8]) -> Option<u64> {
    plan_of(full_name).map(|plan| plan.weigh(bytes, 0))
}

/// Most bytes of memory per byte of a message of this type.
pub fn most_per_byte_of(full_name: &str) -> Option<u64> {
    plan_of(full_name).map(|plan| plan.most_per_byte)
}

/// The plan of a message type by its full name; `None` for types outside our files.
fn plan_of(name: &str) -> Option<&'static Plan> {
    static PLANS: OnceLock<HashMap<String, Plan>> = OnceLock::new();
    PLANS.get_or_init(plans).get(name)
}

fn plans() -> HashMap<String, Plan> {
    // They live as long as the process, and refer to each other by name.
    static SET: OnceLock<FileDescriptorSet> = OnceLock::new();
    let set = SET.get_or_init(|| {
        FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).expect("a descriptor set written by build.rs")
    });
    let mut messages = HashMap::new();
    for file in &set.file {
        let FileDescriptorProto { message_type, .. } = file;
        collect(file.package(), message_type, &mut messages);
    }
    let plan = |(name, message): (&String, &&'static DescriptorProto)| {
        let most_per_byte = most_per_byte(message, &messages, 0);
        (name.clone(), Plan { fields: fields(message, &messages), most_per_byte })
    };
    messages.iter().map(plan).collect()
}

/// Most bytes in memory per byte of a message: an item of a list takes two bytes or more.
fn most_per_byte(
    message: &DescriptorProto,
    all: &HashMap<String, &'static DescriptorProto>,
    depth: usize,
) -> u64 {
    let most = |field: &prost_types::FieldDescriptorProto| {
        let list = field.label() == Label::Repeated;
        let inner = all.get(field.type_name().trim_start_matches('.'));
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

/// Memory of each field of a message.
fn fields(
    message: &'static DescriptorProto,
    all: &HashMap<String, &'static DescriptorProto>,
) -> HashMap<u32, FieldWeight> {
    let mut fields = HashMap::new();
    for field in &message.field {
        let list = field.label() == Label::Repeated;
        let one_of_list = |bytes| if list { bytes } else { 0 };
        let planned = match field.r#type() {
            Type::Message | Type::Group => {
                let name = field.type_name().trim_start_matches('.');
                let own = all.get(name).map_or(0, |message| size(message, all, 0));
                FieldWeight::Message { own: one_of_list(own), name }
            }
            Type::String => FieldWeight::Text { own: one_of_list(TEXT + BLOCK) },
            Type::Bytes => FieldWeight::Bytes { own: one_of_list(BYTES) },
            numeric if list => FieldWeight::Numbers { each: number_size(numeric), fixed: is_fixed(numeric) },
            _ => FieldWeight::Number,
        };
        fields.insert(field.number() as u32, planned);
    }
    fields
}

/// Size of a `String` or a `Vec`.
const TEXT: u64 = 24;
/// Overhead of the allocator for a short text.
const BLOCK: u64 = 24;
/// Size of a `Bytes`.
const BYTES: u64 = 32;

/// Bytes of a message in memory, rounded up: every field with its presence flag.
fn size(message: &DescriptorProto, all: &HashMap<String, &'static DescriptorProto>, depth: usize) -> u64 {
    let field = |field: &prost_types::FieldDescriptorProto| match (field.label(), field.r#type()) {
        (Label::Repeated, Type::Message) => 2 * TEXT, // a map takes two
        (Label::Repeated, _) | (_, Type::String) => TEXT,
        (_, Type::Bytes) => BYTES,
        (_, Type::Message | Type::Group) => match all.get(field.type_name().trim_start_matches('.')) {
            Some(inner) if depth < MAX_DEPTH => 8 + size(inner, all, depth + 1),
            _ => 8,
        },
        (_, numeric) => 8 + number_size(numeric),
    };
    message.field.iter().map(field).sum()
}

/// Whether a number takes the same bytes in every message.
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
