//! Tensors of dm_env_rpc: conversion to and from numbers and texts.

use std::borrow::Cow;

use bytes::Bytes;

use super::super::error::{DecodeError, Fault};
use super::super::limits::check_name;
use super::super::tensor::Element;
use super::pb;
use super::pb::tensor::Payload;
use tetrion_core::env::DataType;

/// Reads one `i32`. Other element types are refused, not converted.
///
/// # Errors
/// [`Fault::Tensor`] with an empty path, like every reader of this module.
pub fn int32(tensor: &pb::Tensor) -> Result<i32, DecodeError> {
    let Some(Payload::Int32s(int32s)) = &tensor.payload else {
        return Err(wrong_type(tensor, "INT32"));
    };
    scalar(tensor, &int32s.array).copied()
}

/// Reads one integer of any type that is within the range of `T`.
///
/// # Errors
/// [`Fault::Tensor`] with an empty path.
pub fn integer<T: TryFrom<i128>>(tensor: &pb::Tensor) -> Result<T, DecodeError> {
    let number: i128 = match &tensor.payload {
        Some(Payload::Int8s(int8s)) => i128::from(*scalar(tensor, &int8s.array)? as i8),
        Some(Payload::Int32s(int32s)) => i128::from(*scalar(tensor, &int32s.array)?),
        Some(Payload::Int64s(int64s)) => i128::from(*scalar(tensor, &int64s.array)?),
        Some(Payload::Uint8s(uint8s)) => i128::from(*scalar(tensor, &uint8s.array)?),
        Some(Payload::Uint32s(uint32s)) => i128::from(*scalar(tensor, &uint32s.array)?),
        Some(Payload::Uint64s(uint64s)) => i128::from(*scalar(tensor, &uint64s.array)?),
        _ => return Err(wrong_type(tensor, "an integer")),
    };
    T::try_from(number).map_err(|_| invalid(format!("is {number}, which is out of range")))
}

/// Reads one number of any numeric type.
///
/// # Errors
/// [`Fault::Tensor`] with an empty path.
pub fn number(tensor: &pb::Tensor) -> Result<f64, DecodeError> {
    Ok(numbers(tensor, &[])?[0])
}

/// Reads a row of `length` numbers of any numeric type; a single element stands for all of them.
///
/// # Errors
/// [`Fault::Tensor`] with an empty path.
pub fn number_row(tensor: &pb::Tensor, length: u32) -> Result<Vec<f64>, DecodeError> {
    numbers(tensor, &[length])
}

/// Reads one text, no longer than a name.
///
/// # Errors
/// [`Fault::Tensor`] with an empty path.
pub fn name(tensor: &pb::Tensor) -> Result<&str, DecodeError> {
    let name = text(tensor)?;
    check_name("", name)?;
    Ok(name)
}

/// Reads one text.
///
/// # Errors
/// [`Fault::Tensor`] with an empty path.
pub fn text(tensor: &pb::Tensor) -> Result<&str, DecodeError> {
    let Some(Payload::Strings(strings)) = &tensor.payload else {
        return Err(wrong_type(tensor, "STRING"));
    };
    scalar(tensor, &strings.array).map(String::as_str)
}

/// Reads one text, or a row of texts.
///
/// # Errors
/// [`Fault::Tensor`] with an empty path.
pub fn texts(tensor: &pb::Tensor) -> Result<&[String], DecodeError> {
    let Some(Payload::Strings(strings)) = &tensor.payload else {
        return Err(wrong_type(tensor, "STRING"));
    };
    let count = strings.array.len();
    match tensor.shape.as_slice() {
        [] => scalar(tensor, &strings.array).map(std::slice::from_ref),
        [-1] => Ok(&strings.array),
        [size] if usize::try_from(*size) == Ok(count) => Ok(&strings.array),
        shape => Err(wrong_shape(shape, count, "a text or a row of them")),
    }
}

/// A tensor of little-endian bytes. 16-bit numbers become 32-bit ones, because this protocol has no 16-bit type.
pub fn from_bytes(dtype: DataType, shape: &[u32], data: Vec<u8>) -> pb::Tensor {
    fn all<T: Element, U>(data: &[u8], convert: impl Fn(T) -> U) -> Vec<U> {
        data.chunks_exact(T::SIZE).map(|bytes| convert(T::from_le(bytes))).collect()
    }
    let payload = match dtype {
        DataType::Uint8 => Payload::Uint8s(pb::tensor::Uint8Array { array: Bytes::from(data) }),
        DataType::Int8 => Payload::Int8s(pb::tensor::Int8Array { array: Bytes::from(data) }),
        DataType::Uint16 => uint32s(all(&data, |number: u16| number.into())),
        DataType::Int32 => {
            Payload::Int32s(pb::tensor::Int32Array { array: all(&data, |number: i32| number) })
        }
        DataType::Uint32 => uint32s(all(&data, |number: u32| number)),
        DataType::Int64 => {
            Payload::Int64s(pb::tensor::Int64Array { array: all(&data, |number: i64| number) })
        }
        DataType::Uint64 => {
            Payload::Uint64s(pb::tensor::Uint64Array { array: all(&data, |number: u64| number) })
        }
        DataType::Float32 => {
            Payload::Floats(pb::tensor::FloatArray { array: all(&data, |number: f32| number) })
        }
        DataType::Float64 => {
            Payload::Doubles(pb::tensor::DoubleArray { array: all(&data, |number: f64| number) })
        }
        DataType::Bool => Payload::Bools(pb::tensor::BoolArray { array: all(&data, |byte: u8| byte != 0) }),
    };
    pb::Tensor { shape: shape.iter().map(|&size| size as i32).collect(), payload: Some(payload) }
}

/// A scalar tensor of one `f32`.
pub fn float(number: f32) -> pb::Tensor {
    let payload = Payload::Floats(pb::tensor::FloatArray { array: vec![number] });
    pb::Tensor { shape: vec![], payload: Some(payload) }
}

fn uint32s(array: Vec<u32>) -> Payload {
    Payload::Uint32s(pb::tensor::Uint32Array { array })
}

/// Numbers of a tensor with at most one dimension.
fn numbers(tensor: &pb::Tensor, expected: &[u32]) -> Result<Vec<f64>, DecodeError> {
    fn widen<T: Copy>(array: &[T], to: impl Fn(T) -> f64) -> Cow<'static, [f64]> {
        // One element more than the longest row shows that there are too many.
        array.iter().take(MAX_ROW + 1).map(|&number| to(number)).collect()
    }
    let (count, array) = match &tensor.payload {
        Some(Payload::Floats(floats)) => (floats.array.len(), widen(&floats.array, f64::from)),
        Some(Payload::Doubles(doubles)) => (doubles.array.len(), widen(&doubles.array, |number| number)),
        Some(Payload::Int8s(int8s)) => (int8s.array.len(), widen(&int8s.array, |byte| f64::from(byte as i8))),
        Some(Payload::Int32s(int32s)) => (int32s.array.len(), widen(&int32s.array, f64::from)),
        Some(Payload::Int64s(int64s)) => (int64s.array.len(), widen(&int64s.array, |number| number as f64)),
        Some(Payload::Uint8s(uint8s)) => (uint8s.array.len(), widen(&uint8s.array, f64::from)),
        Some(Payload::Uint32s(uint32s)) => (uint32s.array.len(), widen(&uint32s.array, f64::from)),
        Some(Payload::Uint64s(uint64s)) => {
            (uint64s.array.len(), widen(&uint64s.array, |number| number as f64))
        }
        _ => return Err(wrong_type(tensor, "numbers")),
    };
    let length = expected.iter().product::<u32>() as usize;
    debug_assert!(expected.len() <= 1 && length <= MAX_ROW);
    let fits = match (tensor.shape.as_slice(), expected) {
        ([], []) => count == 1,
        // The sender may leave one dimension unspecified, as -1.
        ([-1], [_]) => count == length,
        ([size], [wanted]) => i64::from(*size) == i64::from(*wanted) && (count == length || count == 1),
        _ => false,
    };
    if !fits {
        return Err(wrong_shape(&tensor.shape, count, &format!("shape {expected:?}")));
    }
    Ok(if count == length { array.into_owned() } else { vec![array[0]; length] })
}

/// The longest row of numbers that a setting takes.
const MAX_ROW: usize = 16;

/// The only element of an array.
fn scalar<'a, T>(tensor: &pb::Tensor, array: &'a [T]) -> Result<&'a T, DecodeError> {
    match (tensor.shape.as_slice(), array) {
        ([], [element]) => Ok(element),
        (shape, array) => Err(wrong_shape(shape, array.len(), "a scalar")),
    }
}

fn wrong_shape(shape: &[i32], count: usize, expected: &str) -> DecodeError {
    // A hostile shape can be as long as a request, so the message shows only its beginning.
    let shown = &shape[..shape.len().min(8)];
    let more = if shown.len() < shape.len() { " and more" } else { "" };
    invalid(format!("has shape {shown:?}{more} and {count} elements, expected {expected}"))
}

fn wrong_type(tensor: &pb::Tensor, expected: &str) -> DecodeError {
    let got = match &tensor.payload {
        None => "no elements",
        Some(Payload::Floats(_)) => "FLOAT elements",
        Some(Payload::Doubles(_)) => "DOUBLE elements",
        Some(Payload::Int8s(_)) => "INT8 elements",
        Some(Payload::Int32s(_)) => "INT32 elements",
        Some(Payload::Int64s(_)) => "INT64 elements",
        Some(Payload::Uint8s(_)) => "UINT8 elements",
        Some(Payload::Uint32s(_)) => "UINT32 elements",
        Some(Payload::Uint64s(_)) => "UINT64 elements",
        Some(Payload::Bools(_)) => "BOOL elements",
        Some(Payload::Strings(_)) => "STRING elements",
        Some(Payload::Protos(_)) => "PROTO elements",
    };
    invalid(format!("has {got}, expected {expected}"))
}

fn invalid(problem: impl Into<String>) -> DecodeError {
    DecodeError::invalid(Fault::Tensor, "", problem)
}
