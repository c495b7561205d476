//! Messages as JSON and back, by their descriptors.
//!
//! The form is protobuf's own JSON, with three exceptions: a `Tensor` is a [text](super::tensor), a `google.rpc.Status`
//! is an object without texts for people, and a field that the protocol does not have appears as `#NUMBER`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use prost_reflect::prost::Message;
use prost_reflect::{
    DescriptorPool, DeserializeOptions, DynamicMessage, MessageDescriptor, MethodDescriptor,
    ReflectMessage as _, Value as Content,
};
use serde_json::{Map, Value, json};

use super::tensor::Tensor;
use tetrion_client::code_name;
use tetrion_protocol::FILE_DESCRIPTOR_SET;

const TENSOR: &str = "tetrion.v1.Tensor";
const STATUS: &str = "google.rpc.Status";
/// `ErrorInfo.domain` of every error of the protocol.
const DOMAIN: &str = "tetrion.dev";

/// The messages and calls of the protocol.
static POOL: LazyLock<DescriptorPool> =
    LazyLock::new(|| DescriptorPool::decode(FILE_DESCRIPTOR_SET).expect("the descriptors of this program"));

/// The calls of the kit: all of `tetrion.v1`.
pub fn methods() -> impl Iterator<Item = MethodDescriptor> {
    let services = POOL.services().filter(|service| service.package_name() == "tetrion.v1");
    services.flat_map(|service| service.methods().collect::<Vec<_>>())
}

/// Decodes an answer.
///
/// # Errors
/// Why the bytes are not such a message.
pub fn decode(descriptor: MessageDescriptor, bytes: &[u8]) -> Result<DynamicMessage, String> {
    DynamicMessage::decode(descriptor, bytes).map_err(|error| error.to_string())
}

/// The value of a message.
///
/// # Errors
/// Why the message has no JSON form: a time out of range, or an `Any` of an unknown type.
pub fn to_value(message: &DynamicMessage) -> Result<Value, String> {
    completed(message, serde_json::to_value(message).map_err(|error| error.to_string())?)
}

/// Replaces the exceptions in a message's JSON.
fn completed(message: &DynamicMessage, mut value: Value) -> Result<Value, String> {
    match message.descriptor().full_name() {
        TENSOR => {
            if let Some(text) = tensor(message).and_then(|tensor| tensor.to_text()) {
                return Ok(text.into());
            }
        }
        STATUS => return refusal(message),
        _ => {}
    }
    let Some(fields) = value.as_object_mut() else { return Ok(value) }; // a time
    for (field, content) in message.fields() {
        let Some(value) = fields.get_mut(field.json_name()) else { continue };
        match (content, value) {
            (Content::Message(message), value) => *value = completed(message, value.take())?,
            (Content::List(list), Value::Array(values)) => {
                for (content, value) in list.iter().zip(values) {
                    let Content::Message(message) = content else { break };
                    *value = completed(message, value.take())?;
                }
            }
            _ => {}
        }
    }
    fields.extend(unknown_fields(message));
    Ok(value)
}

/// The fields of a message that the protocol does not have.
fn unknown_fields(message: &DynamicMessage) -> impl Iterator<Item = (String, Value)> {
    let entry = |number| (format!("#{number}"), "a field that the protocol does not have".into());
    message.unknown_fields().map(move |field| entry(field.number()))
}

/// The tensor of a message that has only its type, its shape and its data.
fn tensor(message: &DynamicMessage) -> Option<Tensor> {
    let field = |name| message.get_field_by_name(name);
    let is_plain = message.unknown_fields().next().is_none() && field("values")?.as_list()?.is_empty();
    let shape = field("shape")?.as_list()?.iter().map(Content::as_u32).collect::<Option<_>>()?;
    let data = field("data")?.as_bytes()?.to_vec();
    is_plain.then_some(Tensor { dtype: field("dtype")?.as_enum_number()?, shape, data })
}

/// The value of a `google.rpc.Status`: everything that programs can rely on.
fn refusal(status: &DynamicMessage) -> Result<Value, String> {
    let code = status.get_field_by_name("code").and_then(|code| code.as_i32()).unwrap_or_default();
    let mut refusal = Map::from_iter([("code".to_owned(), code_name(code).into())]);
    refusal.extend(unknown_fields(status));
    let mut names = BTreeSet::new();
    let details = status.get_field_by_name("details");
    let details = details.iter().filter_map(|details| details.as_list()).flatten();
    for any in details.filter_map(Content::as_message) {
        let message = payload(any)?;
        let (name, detail) = (message.descriptor().name().to_owned(), to_value(&message)?);
        let unknown = unknown_fields(any).chain(unknown_fields(&message));
        refusal.extend(unknown.map(|(field, value)| (format!("{name}.{field}"), value)));
        if !names.insert(name.clone()) {
            refusal.insert(format!("#{name}"), "more than one".into());
        }
        let list = |list: &str, field: &str| -> Value {
            let is_known = |entry: &Value| {
                entry.as_object().is_some_and(|fields| fields.keys().all(|key| !key.starts_with('#')))
            };
            let value = |entry: &Value| if is_known(entry) { entry[field].clone() } else { entry.clone() };
            detail[list].as_array().into_iter().flatten().map(value).collect()
        };
        let (key, value) = match &*name {
            "ErrorInfo" => {
                refusal.insert("reason".to_owned(), detail["reason"].clone());
                if detail["domain"] != DOMAIN {
                    refusal.insert("domain".to_owned(), detail["domain"].clone());
                }
                match &detail["metadata"] {
                    Value::Null => continue,
                    metadata => ("metadata", metadata.clone()),
                }
            }
            "BadRequest" => ("fields", list("fieldViolations", "field")),
            "ResourceInfo" => {
                ("resource", json!({"type": detail["resourceType"], "name": detail["resourceName"]}))
            }
            "QuotaFailure" => ("quota", list("violations", "subject")),
            "RetryInfo" => ("retry", true.into()),
            "RequestInfo" => ("requestId", detail["requestId"].clone()),
            other => (other, detail.clone()),
        };
        refusal.insert(key.to_owned(), value);
    }
    Ok(refusal.into())
}

/// The message in a `google.protobuf.Any`.
fn payload(any: &DynamicMessage) -> Result<DynamicMessage, String> {
    let (url, bytes) = (any.get_field_by_name("type_url"), any.get_field_by_name("value"));
    let url = url.as_ref().and_then(|url| url.as_str()).unwrap_or_default();
    let descriptor = url.rsplit_once('/').and_then(|(_, name)| POOL.get_message_by_name(name));
    let descriptor = descriptor.ok_or_else(|| format!("{url:?}, expected the type of a detail"))?;
    let bytes = bytes.as_ref().and_then(|bytes| bytes.as_bytes()).cloned().unwrap_or_default();
    decode(descriptor, &bytes)
}

/// The value of a failed call from its encoded status, or from its code alone if the status is empty.
///
/// # Errors
/// Why the bytes are not a status, or a status without a JSON form.
pub fn to_refusal(code: i32, details: &[u8]) -> Result<Value, String> {
    if details.is_empty() {
        return Ok(json!({"code": code_name(code)}));
    }
    let descriptor = POOL.get_message_by_name(STATUS).expect("the descriptors have it");
    let status = decode(descriptor, details)?;
    let mut value = to_value(&status)?;
    let inner = status.get_field_by_name("code").and_then(|code| code.as_i32());
    if inner != Some(code) {
        value["code"] = format!("{}, and {} in the details", code_name(code), value["code"]).into();
    }
    Ok(value)
}

/// The message of a value.
///
/// # Errors
/// The problem, if a field or a value does not exist.
pub fn from_value(descriptor: MessageDescriptor, value: &Value) -> Result<DynamicMessage, String> {
    let options = DeserializeOptions::new().deny_unknown_fields(true);
    let plain = without_tensors(&descriptor, value);
    let mut message = DynamicMessage::deserialize_with_options(descriptor, plain, &options)
        .map_err(|error| error.to_string())?;
    fill(&mut message, value)?;
    Ok(message)
}

/// The value with empty messages for the texts of tensors.
fn without_tensors(descriptor: &MessageDescriptor, value: &Value) -> Value {
    match value {
        Value::String(_) if descriptor.full_name() == TENSOR => json!({}),
        Value::Object(fields) => {
            let field = |(name, value): (&String, &Value)| {
                let kind = descriptor.get_field_by_json_name(name).map(|field| field.kind());
                let value = match (kind.as_ref().and_then(|kind| kind.as_message()), value) {
                    (Some(descriptor), Value::Array(list)) => {
                        list.iter().map(|value| without_tensors(descriptor, value)).collect()
                    }
                    (Some(descriptor), value) => without_tensors(descriptor, value),
                    (None, value) => value.clone(),
                };
                (name.clone(), value)
            };
            fields.iter().map(field).collect()
        }
        value => value.clone(),
    }
}

/// Fills in the tensors whose texts a value has.
fn fill(message: &mut DynamicMessage, value: &Value) -> Result<(), String> {
    if message.descriptor().full_name() == TENSOR
        && let Value::String(text) = value
    {
        let Tensor { dtype, shape, data } = Tensor::from_text(text)?;
        message.set_field_by_name("dtype", Content::EnumNumber(dtype));
        message.set_field_by_name("shape", Content::List(shape.into_iter().map(Content::U32).collect()));
        message.set_field_by_name("data", Content::Bytes(data.into()));
        return Ok(());
    }
    for (field, content) in message.fields_mut() {
        let value = &value[field.json_name()];
        match (content, value) {
            (Content::Message(message), value) => fill(message, value)?,
            (Content::List(list), Value::Array(values)) => {
                for (content, value) in list.iter_mut().zip(values) {
                    let Content::Message(message) = content else { break };
                    fill(message, value)?;
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// The bytes of a message.
pub fn encode(message: &DynamicMessage) -> Vec<u8> {
    message.encode_to_vec()
}
