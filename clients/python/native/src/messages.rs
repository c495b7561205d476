//! Messages of the protocol for Python: values whose fields are attributes, by the descriptors of the proto files.
//!
//! Only the code that has made a message may change it: what an attribute returns is a copy. The copy refuses changes, which would be lost, and lists are tuples for the same reason. All kinds have one Python type, because
//! an object of a type that Python has made takes ten times as long to make.

use std::collections::HashMap;
use std::sync::OnceLock;

use bytes::Bytes;
use prost::Message as _;
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor,
    ReflectMessage as _, Value,
};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyTuple, PyType};
use tetrion::protocol::FILE_DESCRIPTOR_SET;

use super::failure::AnswerError;

const PACKAGE: &str = "tetrion.v1";

fn pool() -> &'static DescriptorPool {
    static POOL: OnceLock<DescriptorPool> = OnceLock::new();
    POOL.get_or_init(|| DescriptorPool::decode(FILE_DESCRIPTOR_SET).expect("the build has written it"))
}

/// What pickle stores of a message: the function that reads it, and its arguments.
type PickledMessage<'py> = (Bound<'py, PyAny>, (String, Bound<'py, PyBytes>));

/// A kind of message, which makes messages from their fields.
#[pyclass(frozen, name = "MessageKind", module = "tetrion._native")]
pub(crate) struct PyMessageKind(MessageDescriptor);

#[pymethods]
impl PyMessageKind {
    /// The full name in the proto files.
    #[getter(NAME)]
    fn name(&self) -> &str {
        self.0.full_name()
    }

    /// A message with these fields; None leaves a field absent.
    #[pyo3(signature = (**fields))]
    fn __call__(&self, fields: Option<&Bound<'_, PyDict>>) -> PyResult<PyMessage> {
        PyMessage::own(DynamicMessage::new(self.0.clone())).with(fields)
    }

    /// Reads an encoded message.
    fn decode(&self, encoded: &[u8]) -> PyResult<PyMessage> {
        let message = DynamicMessage::decode(self.0.clone(), encoded);
        message.map(PyMessage::own).map_err(|error| AnswerError::new_err(error.to_string()))
    }

    /// Reads protobuf's JSON.
    ///
    /// # Errors
    /// `ValueError` if it is none of this kind of message.
    #[pyo3(name = "from_json")]
    fn read_json(&self, json: &str) -> PyResult<PyMessage> {
        let mut reader = serde_json::Deserializer::from_str(json);
        DynamicMessage::deserialize(self.0.clone(), &mut reader)
            .and_then(|message| reader.end().map(|()| message))
            .map(PyMessage::own)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    fn __repr__(&self) -> String {
        format!("<message {}>", self.0.full_name())
    }
}

/// A message. Its fields are attributes, which hide methods of their names.
#[pyclass(name = "Message", module = "tetrion._native")]
pub(crate) struct PyMessage {
    message: DynamicMessage,
    /// Whether it is a copy of a part of another message.
    is_copy: bool,
}

impl PyMessage {
    fn own(message: DynamicMessage) -> PyMessage {
        PyMessage { message, is_copy: false }
    }

    /// The message with other values of these fields.
    fn with(mut self, fields: Option<&Bound<'_, PyDict>>) -> PyResult<PyMessage> {
        for (name, value) in fields.into_iter().flatten() {
            self.set(name.cast::<PyString>()?.to_str()?, &value)?;
        }
        Ok(self)
    }

    fn field(&self, name: &str) -> PyResult<FieldDescriptor> {
        let descriptor = self.message.descriptor();
        descriptor
            .get_field_by_name(name)
            .ok_or_else(|| PyAttributeError::new_err(format!("{} has no field {name:?}", descriptor.name())))
    }

    fn set(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let field = self.field(name)?;
        if value.is_none() {
            self.message.clear_field(&field);
            return Ok(());
        }
        let value = match field.is_list() {
            true => {
                let items = value.try_iter()?.map(|item| scalar(&field, &item?)).collect::<PyResult<_>>()?;
                Value::List(items)
            }
            false => scalar(&field, value)?,
        };
        self.message.set_field(&field, value);
        Ok(())
    }
}

#[pymethods]
impl PyMessage {
    /// The full name of its kind in the proto files.
    #[getter(NAME)]
    fn name(&self) -> String {
        self.message.descriptor().full_name().to_owned()
    }

    /// The encoded message.
    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.message.encode_to_vec())
    }

    /// The message in protobuf's JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.message).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The value of a field, or what stands for an absent one: 0, an empty text, an empty message. Else a method.
    fn __getattribute__<'py>(
        this: &Bound<'py, Self>,
        name: &Bound<'py, PyString>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let message = &this.borrow().message;
        match message.descriptor().get_field_by_name(name.to_str()?) {
            Some(field) => to_python(this.py(), &field, &message.get_field(&field)),
            None => py_object(this.py()).call_method1(intern!(this.py(), "__getattribute__"), (this, name)),
        }
    }

    fn __setattr__(&mut self, name: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if self.is_copy {
            let kind = self.message.descriptor().name().to_owned();
            return Err(PyAttributeError::new_err(format!(
                "this {kind} is a copy of a part of another message; change a message that you have made"
            )));
        }
        self.set(name, value)
    }

    /// Whether a message, an optional number or a member of a oneof is present.
    fn has(&self, name: &str) -> PyResult<bool> {
        Ok(self.message.has_field(&self.field(name)?))
    }

    /// The name of the member of a oneof that is present, if any.
    fn which(&self, name: &str) -> PyResult<Option<String>> {
        let oneof = self.message.descriptor().oneofs().find(|oneof| oneof.name() == name);
        let oneof = oneof.ok_or_else(|| PyValueError::new_err(format!("there is no oneof {name:?}")))?;
        let present = oneof.fields().find(|field| self.message.has_field(field));
        Ok(present.map(|field| field.name().to_owned()))
    }

    /// A message like this one that can be changed, with other values of these fields.
    #[pyo3(signature = (**fields))]
    fn changed(&self, fields: Option<&Bound<'_, PyDict>>) -> PyResult<PyMessage> {
        PyMessage::own(self.message.clone()).with(fields)
    }

    /// A message like this one, with the fields of another one of its kind that are present there.
    fn merged(&self, other: PyRef<'_, PyMessage>) -> PyResult<PyMessage> {
        let mut message = self.message.clone();
        let merged = message.merge(other.message.encode_to_vec().as_slice());
        merged.map_err(|error| PyTypeError::new_err(error.to_string()))?;
        Ok(PyMessage::own(message))
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyMessage>().is_ok_and(|other| self.message == other.borrow().message)
    }

    fn __repr__(&self) -> String {
        format!("{} {{{}}}", self.message.descriptor().name(), self.message)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<PickledMessage<'py>> {
        let read = py.import("tetrion._native")?.getattr("decoded_message")?;
        Ok((read, (self.name(), self.encode(py))))
    }
}

/// Python's type `object`, whose methods all types have.
fn py_object(py: Python<'_>) -> Bound<'_, PyType> {
    py.get_type::<PyAny>()
}

/// Reads an encoded message of a kind, by its full name.
#[pyfunction]
pub(crate) fn decoded_message(name: &str, encoded: &[u8]) -> PyResult<PyMessage> {
    kind(name)?.decode(encoded)
}

fn kind(name: &str) -> PyResult<PyMessageKind> {
    let found = pool().get_message_by_name(name);
    found.map(PyMessageKind).ok_or_else(|| PyValueError::new_err(format!("there is no message {name:?}")))
}

fn to_python<'py>(py: Python<'py>, field: &FieldDescriptor, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Value::I32(value) | Value::EnumNumber(value) => value.into_pyobject(py)?.into_any(),
        Value::I64(value) => value.into_pyobject(py)?.into_any(),
        Value::U32(value) => value.into_pyobject(py)?.into_any(),
        Value::U64(value) => value.into_pyobject(py)?.into_any(),
        Value::F32(value) => value.into_pyobject(py)?.into_any(),
        Value::F64(value) => value.into_pyobject(py)?.into_any(),
        Value::String(value) => value.into_pyobject(py)?.into_any(),
        Value::Bytes(value) => PyBytes::new(py, value).into_any(),
        Value::List(items) => {
            let items = items.iter().map(|item| to_python(py, field, item)).collect::<PyResult<Vec<_>>>()?;
            PyTuple::new(py, items)?.into_any()
        }
        Value::Message(message) => {
            Bound::new(py, PyMessage { message: message.clone(), is_copy: true })?.into_any()
        }
        Value::Map(_) => {
            return Err(PyTypeError::new_err(format!(
                "{} is a map, which no message here has",
                field.name()
            )));
        }
    })
}

/// A single value for a field.
fn scalar(field: &FieldDescriptor, value: &Bound<'_, PyAny>) -> PyResult<Value> {
    Ok(match field.kind() {
        Kind::Bool => Value::Bool(value.extract()?),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => Value::I32(value.extract()?),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => Value::I64(value.extract()?),
        Kind::Uint32 | Kind::Fixed32 => Value::U32(value.extract()?),
        Kind::Uint64 | Kind::Fixed64 => Value::U64(value.extract()?),
        Kind::Float => Value::F32(value.extract()?),
        Kind::Double => Value::F64(value.extract()?),
        Kind::String => Value::String(value.extract()?),
        Kind::Bytes => Value::Bytes(Bytes::copy_from_slice(value.extract::<&[u8]>()?)),
        Kind::Enum(_) => Value::EnumNumber(value.extract()?),
        Kind::Message(expected) => {
            let message = value.cast::<PyMessage>()?.borrow();
            if message.message.descriptor() != expected {
                let (got, expected) = (message.message.descriptor().name().to_owned(), expected.name());
                return Err(PyTypeError::new_err(format!(
                    "{} is a {got}, expected a {expected}",
                    field.name()
                )));
            }
            Value::Message(message.message.clone())
        }
    })
}

/// The kinds of messages by the names that the proto files give them, without their package.
#[pyfunction]
pub(crate) fn message_kinds() -> HashMap<String, PyMessageKind> {
    let of_protobuf = ["google.protobuf.Duration", "google.protobuf.Timestamp"];
    let kinds = pool().all_messages().filter(|message| {
        message.package_name() != "google.protobuf" || of_protobuf.contains(&message.full_name())
    });
    kinds.map(|message| (message.name().to_owned(), PyMessageKind(message))).collect()
}

/// The values of every enum of the protocol: names and numbers, in order.
#[pyfunction]
pub(crate) fn enums() -> HashMap<String, Vec<(String, i32)>> {
    let enums = pool().all_enums().filter(|one| one.package_name() == PACKAGE);
    enums
        .map(|one| {
            (
                one.name().to_owned(),
                one.values().map(|value| (value.name().to_owned(), value.number())).collect(),
            )
        })
        .collect()
}

/// A field: its name, the name of its type or, for a message or an enum, of its kind; whether it is a list, and whether it
/// can be absent.
type MessageField = (String, String, bool, bool);

/// The fields of a message, in the order of the proto files.
#[pyfunction]
pub(crate) fn fields(message: &str) -> PyResult<Vec<MessageField>> {
    let PyMessageKind(message) = kind(message)?;
    let declared = message.descriptor_proto().field.iter();
    let fields = declared.filter_map(|field| message.get_field_by_name(field.name()));
    let described = |field: FieldDescriptor| {
        let kind = match field.kind() {
            Kind::Message(message) => message.name().to_owned(),
            Kind::Enum(one) => one.name().to_owned(),
            kind => format!("{kind:?}").to_lowercase(),
        };
        let is_list = field.cardinality() == Cardinality::Repeated;
        (field.name().to_owned(), kind, is_list, field.supports_presence())
    };
    Ok(fields.map(described).collect())
}

/// The calls of all services: name, path, request and answer.
#[pyfunction]
pub(crate) fn methods() -> Vec<(String, String, String, String)> {
    let services = pool().services().filter(|service| service.package_name() == PACKAGE);
    let methods = services.flat_map(|service| service.methods().collect::<Vec<_>>());
    let described = |method: prost_reflect::MethodDescriptor| {
        let path = format!("/{}/{}", method.parent_service().full_name(), method.name());
        (method.name().to_owned(), path, method.input().name().to_owned(), method.output().name().to_owned())
    };
    methods.map(described).collect()
}
