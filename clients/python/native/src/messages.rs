//! Messages of the protocol for Python: values whose fields are attributes, by the descriptors of the proto files.
//!
//! A message belongs to whoever made it, and only that one may change it: what an attribute returns is a copy. The copy
//! refuses changes, which would be lost, and lists are tuples for the same reason.

use std::collections::HashMap;
use std::sync::OnceLock;

use bytes::Bytes;
use prost::Message as _;
use prost_reflect::{
    Cardinality, DescriptorPool, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor,
    ReflectMessage as _, Value,
};
use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use tetrion::protocol::FILE_DESCRIPTOR_SET;

use super::evaluations::AnswerError;

const PACKAGE: &str = "tetrion.v1";

fn pool() -> &'static DescriptorPool {
    static POOL: OnceLock<DescriptorPool> = OnceLock::new();
    POOL.get_or_init(|| DescriptorPool::decode(FILE_DESCRIPTOR_SET).expect("the build has written it"))
}

/// The classes of messages by their full names, for values that attributes return.
static CLASSES: PyOnceLock<HashMap<String, Py<PyType>>> = PyOnceLock::new();

/// A message. Each kind is a subclass with the attribute `NAME`, the full name in the proto files.
#[pyclass(subclass, weakref, name = "Message", module = "tetrion._native")]
pub(crate) struct PyMessage {
    message: DynamicMessage,
    /// Whether it is a copy of a part of another message.
    is_copy: bool,
}

impl PyMessage {
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
    /// A message with these fields; None leaves a field absent.
    #[new]
    #[classmethod]
    #[pyo3(signature = (**fields))]
    fn new(class: &Bound<'_, PyType>, fields: Option<&Bound<'_, PyDict>>) -> PyResult<PyMessage> {
        let mut message = PyMessage { message: DynamicMessage::new(descriptor_of(class)?), is_copy: false };
        for (name, value) in fields.into_iter().flatten() {
            message.set(name.extract()?, &value)?;
        }
        Ok(message)
    }

    /// Reads an encoded message.
    #[classmethod]
    fn decode<'py>(class: &Bound<'py, PyType>, encoded: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let message = DynamicMessage::decode(descriptor_of(class)?, encoded)
            .map_err(|error| AnswerError::new_err(error.to_string()))?;
        instance(class, PyMessage { message, is_copy: false })
    }

    /// The encoded message.
    fn encode<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.message.encode_to_vec())
    }

    /// The message in protobuf's JSON.
    fn to_json(&self) -> PyResult<String> {
        serde_json::to_string(&self.message).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Reads protobuf's JSON.
    ///
    /// # Errors
    /// `ValueError` if it is none of this kind of message.
    #[classmethod]
    fn from_json<'py>(class: &Bound<'py, PyType>, json: &str) -> PyResult<Bound<'py, PyAny>> {
        let mut reader = serde_json::Deserializer::from_str(json);
        let message = DynamicMessage::deserialize(descriptor_of(class)?, &mut reader)
            .and_then(|message| reader.end().map(|()| message))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        instance(class, PyMessage { message, is_copy: false })
    }

    /// The value of a field, or what stands for an absent one: 0, an empty text, an empty message.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let field = self.field(name)?;
        to_python(py, &field, &self.message.get_field(&field))
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
    fn changed<'py>(
        this: &Bound<'py, Self>,
        fields: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut message = PyMessage { message: this.borrow().message.clone(), is_copy: false };
        for (name, value) in fields.into_iter().flatten() {
            message.set(name.extract()?, &value)?;
        }
        instance(&this.get_type(), message)
    }

    /// A message like this one, with the fields of another one of its kind that are present there.
    fn merged<'py>(this: &Bound<'py, Self>, other: PyRef<'_, PyMessage>) -> PyResult<Bound<'py, PyAny>> {
        let mut message = this.borrow().message.clone();
        message
            .merge(other.message.encode_to_vec().as_slice())
            .map_err(|error| PyTypeError::new_err(error.to_string()))?;
        instance(&this.get_type(), PyMessage { message, is_copy: false })
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyMessage>().is_ok_and(|other| self.message == other.borrow().message)
    }

    fn __repr__(&self) -> String {
        format!("{} {{{}}}", self.message.descriptor().name(), self.message)
    }

    fn __reduce__<'py>(this: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let read = this.get_type().getattr("decode")?;
        Ok((read, (this.borrow().encode(this.py()),)))
    }
}

fn descriptor_of(class: &Bound<'_, PyType>) -> PyResult<MessageDescriptor> {
    let name: String = class.getattr("NAME")?.extract()?;
    let found = pool().get_message_by_name(&name);
    found.ok_or_else(|| PyTypeError::new_err(format!("there is no message {name:?}")))
}

/// An object of a class with this content.
fn instance<'py>(class: &Bound<'py, PyType>, content: PyMessage) -> PyResult<Bound<'py, PyAny>> {
    let made = class.call0()?;
    *made.cast::<PyMessage>()?.borrow_mut() = content;
    Ok(made)
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
            let name = message.descriptor().full_name().to_owned();
            let classes = CLASSES.get(py).and_then(|classes| classes.get(&name));
            let class = classes.ok_or_else(|| PyTypeError::new_err(format!("{name} has no class")))?;
            instance(class.bind(py), PyMessage { message: message.clone(), is_copy: true })?
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

/// Makes the classes of all messages, and tells the extension module which they are. Returns them by the names that the
/// proto files give them, without their package.
#[pyfunction]
pub(crate) fn message_classes<'py>(py: Python<'py>, module: &str) -> PyResult<Bound<'py, PyDict>> {
    let (classes, by_name) = (PyDict::new(py), &mut HashMap::new());
    let (types, base) = (py.get_type::<PyType>(), py.get_type::<PyMessage>());
    for message in pool().all_messages() {
        let attributes = PyDict::new(py);
        attributes.set_item("NAME", message.full_name())?;
        attributes.set_item("__module__", module)?;
        attributes.set_item("__slots__", PyTuple::empty(py))?;
        let class = types.call1((message.name(), (&base,), attributes))?.cast_into::<PyType>()?;
        if [PACKAGE, "google.rpc", "google.protobuf"].contains(&message.package_name()) {
            by_name.insert(message.full_name().to_owned(), class.clone().unbind());
        }
        if message.package_name() != "google.protobuf" || ["Duration", "Timestamp"].contains(&message.name())
        {
            classes.set_item(message.name(), class)?;
        }
    }
    let _ = CLASSES.set(py, std::mem::take(by_name)); // Python imports a module once
    Ok(classes)
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
    let found = pool().get_message_by_name(message);
    let message = found.ok_or_else(|| PyValueError::new_err(format!("there is no message {message:?}")))?;
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
