//! One game as Gymnasium wants it: a step returns a tuple of new arrays and Python's numbers, which are made here.
//!
//! Python takes 3 us to read a dozen arrays of one element; the game takes 0.05 us.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString};

use super::block::Block;
use super::failure::AnswerError;
use super::listing::PyListing;
use super::session::PySession;
use super::session_stream::PySessionStream;

/// The only environment of a session.
#[pyclass(frozen, name = "Single", module = "tetrion._native")]
pub(crate) struct PySingle {
    source: StepSource,
    /// The memory for its answers.
    block: Py<Block>,
    observations: Vec<DictEntry>,
    infos: Vec<DictEntry>,
    /// Places of the reward and of both flags.
    outcome: [usize; 3],
    /// Place and length of the action mask.
    mask: Option<(usize, usize)>,
    was_allowed: AtomicBool,
}

/// What takes the steps.
enum StepSource {
    Stream(Py<PySessionStream>),
    Listing(Py<PyListing>),
}

impl StepSource {
    fn session(&self) -> &PySession {
        match self {
            StepSource::Stream(stream) => stream.get().session(),
            StepSource::Listing(listing) => listing.get().session(),
        }
    }

    fn step_one(&self, py: Python<'_>, block: &Bound<'_, Block>, action: i32) -> PyResult<Option<usize>> {
        match self {
            StepSource::Stream(stream) => stream.get().step_one(py, block, action),
            StepSource::Listing(listing) => listing.get().step_one(py, block, action),
        }
    }
}

/// An entry of a dictionary.
struct DictEntry {
    name: Py<PyString>,
    value: EntryValue,
}

/// What makes the value of an entry from the answer.
enum EntryValue {
    /// This function, which returns a new array.
    Array(Py<PyAny>),
    /// Python's number at this place.
    Number(NumberKind, usize),
    /// The number at this place, in this type of numpy.
    Scalar(NumberKind, usize, Py<PyAny>),
    /// The member of this list with the number at this place, its last one for -1.
    Choice(NumberKind, usize, Py<PyList>),
}

/// The type of a number. Unsigned numbers of 64 bits are read with a sign, bit for bit.
#[derive(Clone, Copy)]
enum NumberKind {
    Bool,
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    I64,
    F32,
    F64,
}

impl NumberKind {
    /// The kind that numpy writes like this.
    fn of(dtype: &str) -> Option<NumberKind> {
        Some(match dtype {
            "|b1" => NumberKind::Bool,
            "|i1" => NumberKind::I8,
            "|u1" => NumberKind::U8,
            "<i2" => NumberKind::I16,
            "<u2" => NumberKind::U16,
            "<i4" => NumberKind::I32,
            "<u4" => NumberKind::U32,
            "<i8" | "<u8" => NumberKind::I64,
            "<f4" => NumberKind::F32,
            "<f8" => NumberKind::F64,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            NumberKind::Bool | NumberKind::I8 | NumberKind::U8 => 1,
            NumberKind::I16 | NumberKind::U16 => 2,
            NumberKind::I32 | NumberKind::U32 | NumberKind::F32 => 4,
            NumberKind::I64 | NumberKind::F64 => 8,
        }
    }

    fn integer(self, bytes: &[u8], at: usize) -> i64 {
        match self {
            NumberKind::Bool | NumberKind::U8 => bytes[at].into(),
            NumberKind::I8 => (bytes[at] as i8).into(),
            NumberKind::I16 => i16::from_le_bytes(part(bytes, at)).into(),
            NumberKind::U16 => u16::from_le_bytes(part(bytes, at)).into(),
            NumberKind::I32 => i32::from_le_bytes(part(bytes, at)).into(),
            NumberKind::U32 => u32::from_le_bytes(part(bytes, at)).into(),
            NumberKind::I64 => i64::from_le_bytes(part(bytes, at)),
            NumberKind::F32 | NumberKind::F64 => self.float(bytes, at) as i64,
        }
    }

    fn float(self, bytes: &[u8], at: usize) -> f64 {
        match self {
            NumberKind::F32 => f32::from_le_bytes(part(bytes, at)).into(),
            NumberKind::F64 => f64::from_le_bytes(part(bytes, at)),
            _ => self.integer(bytes, at) as f64,
        }
    }

    fn number<'py>(self, py: Python<'py>, bytes: &[u8], at: usize) -> Bound<'py, PyAny> {
        match self {
            NumberKind::Bool => PyBool::new(py, bytes[at] != 0).to_owned().into_any(),
            NumberKind::F32 | NumberKind::F64 => PyFloat::new(py, self.float(bytes, at)).into_any(),
            _ => PyInt::new(py, self.integer(bytes, at)).into_any(),
        }
    }
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes[at..at + N].try_into().expect("N bytes")
}

impl PySingle {
    fn dict<'py>(py: Python<'py>, entries: &[DictEntry], bytes: &[u8]) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        for DictEntry { name, value } in entries {
            let name = name.bind(py);
            match value {
                EntryValue::Array(copy) => dict.set_item(name, copy.bind(py).call0()?)?,
                EntryValue::Number(kind, at) => dict.set_item(name, kind.number(py, bytes, *at))?,
                EntryValue::Scalar(kind, at, made) => {
                    dict.set_item(name, made.bind(py).call1((kind.number(py, bytes, *at),))?)?;
                }
                EntryValue::Choice(kind, at, choices) => {
                    let (choices, number) = (choices.bind(py), kind.integer(bytes, *at));
                    let place = if number == -1 { choices.len() as i64 - 1 } else { number };
                    let choice = usize::try_from(place).ok().and_then(|place| choices.get_item(place).ok());
                    let wrong = || AnswerError::new_err(format!("{name} is {number}, which is no category"));
                    dict.set_item(name, choice.ok_or_else(wrong)?)?;
                }
            }
        }
        Ok(dict)
    }
}

/// The observation, the reward, terminated, truncated and the info.
type GymnasiumStep<'py> = (Bound<'py, PyDict>, f64, bool, bool, Bound<'py, PyDict>);

#[pymethods]
impl PySingle {
    /// Reads the answers to calls of a `SessionStream` or a `Listing` in this block.
    ///
    /// # Arguments
    /// The entries of observations and of infos: a name, what kind of value it is, the type of the number as numpy writes it,
    /// its place in the block, and what makes the value. Then the places of reward, terminated and truncated, and place and
    /// length of the action mask, if there is one.
    #[new]
    fn new(
        calls: &Bound<'_, PyAny>,
        block: Py<Block>,
        observations: Vec<EntryParts<'_>>,
        infos: Vec<EntryParts<'_>>,
        outcome: [usize; 3],
        mask: Option<(usize, usize)>,
    ) -> PyResult<PySingle> {
        let source = if let Ok(stream) = calls.cast::<PySessionStream>() {
            StepSource::Stream(stream.clone().unbind())
        } else {
            let listing = calls.cast::<PyListing>().map_err(|_| PyTypeError::new_err("expected calls"))?;
            StepSource::Listing(listing.clone().unbind())
        };
        let entries =
            |entries: Vec<EntryParts<'_>>| entries.into_iter().map(entry).collect::<PyResult<Vec<_>>>();
        let (observations, infos) = (entries(observations)?, entries(infos)?);
        let ends = observations.iter().chain(&infos).map(|entry| entry.value.end());
        let [reward, terminated, truncated] = outcome;
        let ends = ends
            .chain([reward + 4, terminated + 1, truncated + 1])
            .chain(mask.map(|(start, len)| start + len));
        if ends.max().is_some_and(|end| end > block.get().len) {
            return Err(PyValueError::new_err("the block is another session's"));
        }
        Ok(PySingle { source, block, observations, infos, outcome, mask, was_allowed: true.into() })
    }

    /// Takes an action. Returns what Gymnasium's `step` does, or None if nothing was done.
    fn step<'py>(&self, py: Python<'py>, action: i32) -> PyResult<Option<GymnasiumStep<'py>>> {
        let block = self.block.bind(py);
        if let Some((start, len)) = self.mask {
            let at = usize::try_from(action).ok().filter(|at| *at < len);
            let is_allowed = |bytes: &[u8]| at.is_some_and(|at| bytes[start + at] != 0);
            self.was_allowed.store(block.get().read(is_allowed)?, Relaxed);
        }
        if self.source.session().is_heard() {
            return Ok(None); // Python tells the listeners
        }
        let done = self.source.step_one(py, block, action)?;
        done.map(|_| self.stepped(py)).transpose()
    }

    /// What Gymnasium's `step` returns for the answer in the block.
    fn stepped<'py>(&self, py: Python<'py>) -> PyResult<GymnasiumStep<'py>> {
        self.block.get().read(|bytes| {
            let observation = PySingle::dict(py, &self.observations, bytes)?;
            let info = PySingle::dict(py, &self.infos, bytes)?;
            let [reward, terminated, truncated] = self.outcome;
            Ok((
                observation,
                NumberKind::F32.float(bytes, reward),
                bytes[terminated] != 0,
                bytes[truncated] != 0,
                info,
            ))
        })?
    }

    /// The observation and the info of the answer in the block.
    fn seen<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyDict>, Bound<'py, PyDict>)> {
        self.block.get().read(|bytes| {
            let observation = PySingle::dict(py, &self.observations, bytes)?;
            Ok((observation, PySingle::dict(py, &self.infos, bytes)?))
        })?
    }

    /// Whether the mask allowed the last action. True without masks.
    #[getter]
    fn was_allowed(&self) -> bool {
        self.was_allowed.load(Relaxed)
    }
}

/// The name of an entry, the kind of its value, the type and the place of a number, and what makes the value.
type EntryParts<'py> = (Bound<'py, PyString>, String, String, usize, Bound<'py, PyAny>);

fn entry((name, value, dtype, at, made): EntryParts<'_>) -> PyResult<DictEntry> {
    let kind =
        || NumberKind::of(&dtype).ok_or_else(|| PyValueError::new_err(format!("no number is {dtype}")));
    let value = match &*value {
        "array" => EntryValue::Array(made.unbind()),
        "number" => EntryValue::Number(kind()?, at),
        "scalar" => EntryValue::Scalar(kind()?, at, made.unbind()),
        "choice" => EntryValue::Choice(kind()?, at, made.cast_into::<PyList>()?.unbind()),
        other => return Err(PyValueError::new_err(format!("no value is {other}"))),
    };
    Ok(DictEntry { name: name.unbind(), value })
}

impl EntryValue {
    /// The end of its number in a block.
    fn end(&self) -> usize {
        match self {
            EntryValue::Array(_) => 0,
            EntryValue::Number(kind, at)
            | EntryValue::Scalar(kind, at, _)
            | EntryValue::Choice(kind, at, _) => at + kind.size(),
        }
    }
}
