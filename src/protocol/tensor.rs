//! Tensors: conversion to and from slices of numbers.
//!
//! Every length is compared with the available bytes before memory is allocated, so decoding a tensor never allocates
//! more than its size. Element types are never converted: a tensor of another type is refused.

use bytes::Bytes;

use super::error::{DecodeError, Fault, InField};
use super::pb;

/// A number that a tensor can hold.
pub trait Element: Copy {
    /// Element type on the wire.
    const DTYPE: pb::DataType;
    /// Bytes of an element on the wire.
    const SIZE: usize;
    /// Reads an element from exactly [`Element::SIZE`] bytes.
    fn from_le(bytes: &[u8]) -> Self;
    /// Appends the bytes of an element.
    fn put_le(self, out: &mut Vec<u8>);
    /// Converts a number written by a person, if this type holds it without loss (floating-point types round it).
    fn from_written(value: f64) -> Option<Self>;
}

/// Beyond this size doubles skip whole numbers, so the received number may differ from the written one.
const MAX_WRITTEN: f64 = 9_007_199_254_740_992.0;

macro_rules! element {
    ($type:ty, $dtype:ident, $from_written:expr) => {
        impl Element for $type {
            const DTYPE: pb::DataType = pb::DataType::$dtype;
            const SIZE: usize = size_of::<$type>();
            fn from_le(bytes: &[u8]) -> $type {
                let mut buffer = [0; size_of::<$type>()];
                buffer.copy_from_slice(bytes);
                <$type>::from_le_bytes(buffer)
            }
            fn put_le(self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_le_bytes());
            }
            fn from_written(value: f64) -> Option<$type> {
                $from_written(value)
            }
        }
    };
}

macro_rules! integer {
    ($type:ty, $dtype:ident) => {
        element!($type, $dtype, |value: f64| {
            let range = <$type>::MIN as f64..=<$type>::MAX as f64;
            let fits = value.fract() == 0.0 && value.abs() <= MAX_WRITTEN && range.contains(&value);
            fits.then_some(value as $type)
        });
    };
}
integer!(u8, Uint8);
integer!(i8, Int8);
integer!(u16, Uint16);
integer!(i32, Int32);
integer!(i64, Int64);
integer!(u32, Uint32);
integer!(u64, Uint64);

element!(f32, Float32, |value: f64| Some(value as f32).filter(|number| number.is_finite()));
element!(f64, Float64, |value: f64| Some(value).filter(|number| number.is_finite()));

/// A tensor decoded into numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Array<T> {
    /// The size of each dimension.
    pub shape: Vec<u32>,
    /// The elements, row-major; their number is the product of the sizes.
    pub elements: Vec<T>,
}

/// The size that a field requires of a dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimSize {
    Exactly(u32),
    Any,
}

/// Reads a tensor that must have this element type and these dimensions.
///
/// Plain `values` without a shape are one row, or as many whole rows as they fill.
///
/// # Errors
/// [`Fault::Tensor`] under the empty path; the caller adds the field.
pub fn decode<T: Element>(tensor: &pb::Tensor, dims: &[DimSize]) -> Result<Array<T>, DecodeError> {
    if tensor.values.is_empty() { decode_data(tensor, dims) } else { decode_values(tensor, dims) }
}

/// Reads a required tensor, like [`decode`].
///
/// # Errors
/// Returns the errors of [`decode`], or [`Fault::Field`] if the tensor is absent; with the path `name`.
pub fn decode_field<T: Element>(
    tensor: Option<&pb::Tensor>,
    name: &str,
    dims: &[DimSize],
) -> Result<Array<T>, DecodeError> {
    let tensor = tensor.ok_or_else(|| DecodeError::missing(name))?;
    decode(tensor, dims).in_field(name)
}

/// Most bytes of the numbers that [`decode`] reads from a tensor.
pub fn decoded_bytes<T>(tensor: &pb::Tensor) -> u64 {
    // Written numbers are checked one by one, in a list of at most twice their length.
    let written = 2 * tensor.values.len() * size_of::<T>();
    (if written > 0 { written } else { tensor.data.len() }) as u64
}

/// Writes numbers as a tensor.
///
/// # Panics
/// In debug builds, if the shape and the number of elements do not match.
pub fn encode<T: Element>(shape: Vec<u32>, elements: &[T]) -> pb::Tensor {
    let mut data = Vec::with_capacity(elements.len() * T::SIZE);
    for element in elements {
        element.put_le(&mut data);
    }
    from_bytes(T::DTYPE, shape, data)
}

/// Writes offsets as a tensor of `int32`.
pub fn encode_offsets(offsets: &[u32]) -> pb::Tensor {
    let data = offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect();
    from_bytes(pb::DataType::Int32, vec![offsets.len() as u32], data)
}

/// Writes booleans as a tensor.
pub fn encode_bools(shape: Vec<u32>, elements: &[bool]) -> pb::Tensor {
    from_bytes(pb::DataType::Bool, shape, elements.iter().map(|&truth| u8::from(truth)).collect())
}

/// Reads a required tensor of this many booleans.
///
/// # Errors
/// Returns the errors of [`decode_field`].
pub fn decode_bools(tensor: Option<&pb::Tensor>, name: &str, count: usize) -> Result<Vec<bool>, DecodeError> {
    let data = data_field(tensor, name, pb::DataType::Bool, &[DimSize::Exactly(count as u32)])?;
    Ok(data.iter().map(|&byte| byte != 0).collect())
}

/// Playfields as rows of cells: one integer per row, as wide as the playfield needs.
pub fn cell_rows(width: u8, shape: Vec<u32>, data: Vec<u8>) -> pb::Tensor {
    from_bytes(if width > 16 { pb::DataType::Uint32 } else { pb::DataType::Uint16 }, shape, data)
}

/// A tensor of little-endian bytes.
///
/// # Panics
/// In debug builds, if the shape and the number of bytes do not match.
pub fn from_bytes(dtype: pb::DataType, shape: Vec<u32>, data: Vec<u8>) -> pb::Tensor {
    debug_assert_eq!(
        shape.iter().map(|&size| u64::from(size)).product::<u64>() * element_size(dtype) as u64,
        data.len() as u64,
        "{dtype:?} {shape:?}"
    );
    pb::Tensor { dtype: dtype.into(), shape, data: Bytes::from(data), values: Vec::new() }
}

/// Bytes of one element; 0 for an unspecified type.
pub const fn element_size(dtype: pb::DataType) -> usize {
    match dtype {
        pb::DataType::Unspecified => 0,
        pb::DataType::Uint8 | pb::DataType::Int8 | pb::DataType::Bool => 1,
        pb::DataType::Int16 | pb::DataType::Uint16 | pb::DataType::Float16 | pb::DataType::Bfloat16 => 2,
        pb::DataType::Int32 | pb::DataType::Uint32 | pb::DataType::Float32 => 4,
        pb::DataType::Int64 | pb::DataType::Uint64 | pb::DataType::Float64 => 8,
    }
}

/// The bytes of a tensor that must have this element type and these dimensions, as servers send them.
///
/// # Errors
/// [`Fault::Tensor`] under the empty path; the caller adds the field.
pub fn data<'a>(
    tensor: &'a pb::Tensor,
    dtype: pb::DataType,
    dims: &[DimSize],
) -> Result<&'a [u8], DecodeError> {
    if tensor.dtype != dtype as i32 {
        return Err(wrong_dtype(tensor.dtype, dtype));
    }
    check_shape(&tensor.shape, dims)?;
    let size = element_size(dtype);
    let length = num_elements(&tensor.shape).and_then(|count| count.checked_mul(size as u64));
    if length != Some(tensor.data.len() as u64) {
        let problem = format!(
            "has {} bytes of data, expected {size} bytes for each element of shape {:?}",
            tensor.data.len(),
            tensor.shape
        );
        return Err(invalid(problem));
    }
    Ok(&tensor.data)
}

/// The bytes of a required tensor, like [`data`].
///
/// # Errors
/// The errors of [`data`], or [`Fault::Field`] if the tensor is absent; with the path `name`.
pub fn data_field<'a>(
    tensor: Option<&'a pb::Tensor>,
    name: &str,
    dtype: pb::DataType,
    dims: &[DimSize],
) -> Result<&'a [u8], DecodeError> {
    let tensor = tensor.ok_or_else(|| DecodeError::missing(name))?;
    data(tensor, dtype, dims).in_field(name)
}

fn decode_data<T: Element>(tensor: &pb::Tensor, dims: &[DimSize]) -> Result<Array<T>, DecodeError> {
    let data = data(tensor, T::DTYPE, dims)?;
    let elements = data.chunks_exact(T::SIZE).map(T::from_le).collect();
    Ok(Array { shape: tensor.shape.clone(), elements })
}

fn decode_values<T: Element>(tensor: &pb::Tensor, dims: &[DimSize]) -> Result<Array<T>, DecodeError> {
    if !tensor.data.is_empty() {
        return Err(invalid("has both data and values"));
    }
    if tensor.dtype != pb::DataType::Unspecified as i32 && tensor.dtype != T::DTYPE as i32 {
        return Err(wrong_dtype(tensor.dtype, T::DTYPE));
    }
    let count = tensor.values.len();
    let shape = if tensor.shape.is_empty() { shape_of_rows(count, dims) } else { tensor.shape.clone() };
    check_shape(&shape, dims)?;
    if num_elements(&shape) != Some(count as u64) {
        return Err(invalid(format!("has {count} values, which do not fill shape {shape:?}")));
    }
    let parse = |(i, &value): (usize, &f64)| {
        let problem = || format!("values[{i}] is {value}, which is not a {} number", dtype_name(T::DTYPE));
        T::from_written(value).ok_or_else(|| invalid(problem()))
    };
    let elements = tensor.values.iter().enumerate().map(parse).collect::<Result<_, _>>()?;
    Ok(Array { shape, elements })
}

/// The shape of numbers that came without one: one row, or as many whole rows as they fill.
fn shape_of_rows(count: usize, dims: &[DimSize]) -> Vec<u32> {
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    match dims {
        [] => vec![],
        [_] => vec![count],
        [_, rest @ ..] => {
            let known: Option<u32> = rest.iter().try_fold(1u32, |product, dim| match dim {
                DimSize::Exactly(size) => product.checked_mul(*size),
                DimSize::Any => None,
            });
            let row: Vec<u32> = rest
                .iter()
                .map(|dim| match dim {
                    DimSize::Exactly(size) => *size,
                    DimSize::Any => count,
                })
                .collect();
            let rows = match known {
                Some(size) if size > 0 => count.div_ceil(size),
                _ => 1,
            };
            [vec![rows], row].concat()
        }
    }
}

fn check_shape(shape: &[u32], dims: &[DimSize]) -> Result<(), DecodeError> {
    let fits = shape.len() == dims.len()
        && shape.iter().zip(dims).all(|(size, dim)| match dim {
            DimSize::Exactly(expected) => size == expected,
            DimSize::Any => true,
        });
    if fits {
        return Ok(());
    }
    let expected: Vec<String> = dims
        .iter()
        .map(|dim| match dim {
            DimSize::Exactly(size) => size.to_string(),
            DimSize::Any => "any".to_owned(),
        })
        .collect();
    // A hostile shape can be as long as a request, so the message shows only its beginning.
    let shown = &shape[..shape.len().min(8)];
    let more = if shown.len() < shape.len() { " and more" } else { "" };
    Err(invalid(format!("has shape {shown:?}{more}, expected [{}]", expected.join(", "))))
}

fn num_elements(shape: &[u32]) -> Option<u64> {
    shape.iter().try_fold(1u64, |product, &size| product.checked_mul(size.into()))
}

fn wrong_dtype(dtype: i32, expected: pb::DataType) -> DecodeError {
    let got = match pb::DataType::try_from(dtype) {
        Ok(pb::DataType::Unspecified) => "no element type".to_owned(),
        Ok(dtype) => format!("element type {}", dtype_name(dtype)),
        Err(_) => format!("unknown element type {dtype}"),
    };
    invalid(format!("has {got}, expected {}", dtype_name(expected)))
}

/// Name in the proto file, without its prefix: `INT32`.
pub fn dtype_name(dtype: pb::DataType) -> &'static str {
    dtype.as_str_name().trim_start_matches("DATA_TYPE_")
}

fn invalid(problem: impl Into<String>) -> DecodeError {
    DecodeError::invalid(Fault::Tensor, "", problem)
}
