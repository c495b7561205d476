//! Tensors as text: `float32[2] 0 -0.5` instead of base64.
//!
//! The element type and the shape, then the elements: numbers in the shortest form that gives the same bits, `0` and `1`
//! for bool, and `7*40` for forty sevens in a row. A text is only written for bytes that it gives back, so equal texts
//! are equal bytes.

use std::fmt::Display;
use std::str::FromStr;

/// A tensor as a message holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tensor {
    /// Number of `DataType`.
    pub dtype: i32,
    pub shape: Vec<u32>,
    /// The elements in row-major order, each little-endian.
    pub data: Vec<u8>,
}

/// Names of the element types that have a text, with their numbers in `DataType`.
const TYPES: [(&str, i32); 11] = [
    ("bool", 1),
    ("int8", 2),
    ("uint8", 3),
    ("int16", 4),
    ("uint16", 5),
    ("int32", 6),
    ("uint32", 7),
    ("int64", 8),
    ("uint64", 9),
    ("float32", 11),
    ("float64", 12),
];

/// Most elements of a tensor with a text.
const MAX_ELEMENTS: usize = 1 << 16;

/// Length from which equal elements in a row are written once.
const RUN: usize = 4;

impl Tensor {
    /// The text, unless the bytes have none.
    pub fn to_text(&self) -> Option<String> {
        let (name, _) = TYPES.iter().find(|(_, number)| *number == self.dtype)?;
        let shape: Vec<String> = self.shape.iter().map(u32::to_string).collect();
        let mut text = format!("{name}[{}]", shape.join(","));
        for run in self.elements()?.chunk_by(|one, other| one == other) {
            match run.len() {
                length if length < RUN => run.iter().for_each(|word| text += &format!(" {word}")),
                length => text += &format!(" {}*{length}", run[0]),
            }
        }
        (Tensor::from_text(&text).as_ref() == Ok(self)).then_some(text)
    }

    /// Reads a text.
    ///
    /// # Errors
    /// Why the text is not a tensor.
    pub fn from_text(text: &str) -> Result<Tensor, String> {
        let head = text.split(' ').next().unwrap_or_default();
        let named = head.strip_suffix(']').and_then(|head| head.split_once('['));
        let known = named.and_then(|(name, shape)| Some((TYPES.iter().find(|row| row.0 == name)?.1, shape)));
        let (dtype, shape) =
            known.ok_or_else(|| format!("{head:?}, expected a type and a shape: int8[2]"))?;
        let shape: Vec<u32> = match shape {
            "" => Vec::new(),
            shape => shape.split(',').map(number).collect::<Result<_, _>>()?,
        };
        let mut words = Vec::new();
        for word in text.split(' ').skip(1) {
            let (word, length) = match word.split_once('*') {
                Some((word, length)) => (word, number(length)?),
                None => (word, 1),
            };
            if length > MAX_ELEMENTS - words.len() {
                return Err(format!("more than {MAX_ELEMENTS} elements"));
            }
            words.extend(std::iter::repeat_n(word, length));
        }
        let num_elements =
            shape.iter().try_fold(1_usize, |product, size| product.checked_mul(*size as usize));
        if num_elements != Some(words.len()) {
            return Err(format!("{} elements, expected those of the shape {shape:?}", words.len()));
        }
        let data = match dtype {
            1 if words.iter().any(|word| !["0", "1"].contains(word)) => return Err("a bool is 0 or 1".into()),
            1 | 3 => bytes(&words, u8::to_le_bytes),
            2 => bytes(&words, i8::to_le_bytes),
            4 => bytes(&words, i16::to_le_bytes),
            5 => bytes(&words, u16::to_le_bytes),
            6 => bytes(&words, i32::to_le_bytes),
            7 => bytes(&words, u32::to_le_bytes),
            8 => bytes(&words, i64::to_le_bytes),
            9 => bytes(&words, u64::to_le_bytes),
            11 => bytes(&words, f32::to_le_bytes),
            _ => bytes(&words, f64::to_le_bytes),
        };
        Ok(Tensor { dtype, shape, data: data? })
    }

    /// The elements as words, unless the bytes are no array of the type.
    pub fn elements(&self) -> Option<Vec<String>> {
        let data = &self.data;
        if data.len() > MAX_ELEMENTS * 8 {
            return None;
        }
        match self.dtype {
            1 | 3 => words(data, u8::from_le_bytes),
            2 => words(data, i8::from_le_bytes),
            4 => words(data, i16::from_le_bytes),
            5 => words(data, u16::from_le_bytes),
            6 => words(data, i32::from_le_bytes),
            7 => words(data, u32::from_le_bytes),
            8 => words(data, i64::from_le_bytes),
            9 => words(data, u64::from_le_bytes),
            11 => words(data, f32::from_le_bytes),
            12 => words(data, f64::from_le_bytes),
            _ => None,
        }
    }
}

fn words<T: Display, const N: usize>(data: &[u8], read: fn([u8; N]) -> T) -> Option<Vec<String>> {
    let (elements, rest) = data.as_chunks();
    rest.is_empty().then(|| elements.iter().map(|element| read(*element).to_string()).collect())
}

fn bytes<T: FromStr, const N: usize>(words: &[&str], write: fn(T) -> [u8; N]) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::with_capacity(words.len() * N);
    for word in words {
        bytes.extend(write(number(word)?));
    }
    Ok(bytes)
}

fn number<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("{word:?}, expected a number of the type"))
}
