//! Memory that numpy arrays view, with every tensor of the answer to a step, and arrays of actions.

#![allow(unsafe_code)] // the buffer protocol: see `Block`

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Mutex, PoisonError};
use std::{process, ptr};

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};
use tetrion::service::direct::SLACK;

/// Memory with every tensor of an answer. Python sees it as a buffer of bytes, which it may change.
///
/// # Why this is sound
/// The block's vector never moves: its capacity exceeds the size of the tensors by `SLACK` bytes, which is all that writers
/// need, and `fill` ends the process if it has moved. Its length changes only in `fill`. A call
/// that fills or reads the block sets `is_taken` first, with or without the GIL, and is refused if it is set. Python's buffers stay valid,
/// because each holds a reference to the block. Readers accept any bytes, so Python's changes can be wrong, but not unsound.
/// If a thread uses an array while another thread steps the session into it, it may see bytes of both steps, as with
/// every numpy array that is written concurrently.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Block {
    bytes: UnsafeCell<Vec<u8>>,
    start: *mut u8,
    pub(crate) len: usize,
    is_taken: AtomicBool,
    /// Number of environments in the answer.
    pub(crate) rows: usize,
    /// Number of episodes that have ended in the answer, with their last states in `finals`.
    num_ended: AtomicUsize,
    /// The last states, in a block that is made when the first episode ends.
    finals: PyOnceLock<Py<Block>>,
}

// SAFETY: see above; `is_taken` ensures that only one call at a time reaches the vector.
unsafe impl Send for Block {}
// SAFETY: as for `Send`.
unsafe impl Sync for Block {}

impl Block {
    /// A block with these bytes, of so many rows.
    pub(crate) fn new(mut bytes: Vec<u8>, rows: usize) -> Block {
        bytes.reserve_exact(SLACK);
        let (start, len) = (bytes.as_mut_ptr(), bytes.len());
        Block {
            bytes: UnsafeCell::new(bytes),
            start,
            len,
            is_taken: false.into(),
            rows,
            num_ended: 0.into(),
            finals: PyOnceLock::new(),
        }
    }

    /// Notes that no last states belong to the answer.
    pub(crate) fn forget_finals(&self) {
        self.num_ended.store(0, Relaxed);
    }

    /// Lets a job replace the last states of so many episodes that have ended, in a block of this size.
    ///
    /// # Errors
    /// As for [`Block::fill`].
    pub(crate) fn fill_finals(
        &self,
        py: Python<'_>,
        num_ended: usize,
        len: usize,
        job: impl FnOnce(&mut [u8]),
    ) -> PyResult<()> {
        let made = || Py::new(py, Block::new(vec![0; len], self.rows));
        self.finals.get_or_try_init(py, made)?.get().fill_with(|bytes| job(bytes))?;
        self.num_ended.store(num_ended, Relaxed);
        Ok(())
    }

    /// Lets a job replace the contents, like `fill`, if the job cannot fail.
    ///
    /// # Errors
    /// `ValueError` if another thread fills the block, or the job has panicked.
    pub(crate) fn fill_with<T>(&self, job: impl FnOnce(&mut Vec<u8>) -> T) -> PyResult<T> {
        let filled = self.fill(|bytes| Ok::<_, ()>(job(bytes)))?;
        filled.and_then(Result::ok).ok_or_else(|| PyValueError::new_err("the answer broke its reader"))
    }

    /// Lets a job read the contents.
    ///
    /// # Errors
    /// `ValueError` if another thread fills the block.
    pub(crate) fn read<T>(&self, job: impl FnOnce(&[u8]) -> T) -> PyResult<T> {
        self.fill_with(|bytes| job(bytes))
    }

    /// Lets a job replace the contents. The result says whether the job did; if not, nothing has changed. `None` if the job
    /// has panicked.
    ///
    /// # Errors
    /// `ValueError` if another thread fills the block.
    pub(crate) fn fill<T, E>(
        &self,
        job: impl FnOnce(&mut Vec<u8>) -> Result<T, E>,
    ) -> PyResult<Option<Result<T, E>>> {
        if self.is_taken.swap(true, Acquire) {
            return Err(PyValueError::new_err("another thread steps this session into the same arrays"));
        }
        // SAFETY: no other call has the vector until `is_taken` is false again.
        let bytes = unsafe { &mut *self.bytes.get() };
        let done = catch_unwind(AssertUnwindSafe(|| job(bytes)));
        if !ptr::eq(bytes.as_ptr(), self.start) {
            process::abort(); // numpy views freed memory
        }
        let is_whole = bytes.len() == self.len;
        self.is_taken.store(false, Release);
        assert!(is_whole || !matches!(done, Ok(Ok(_))), "a job fills its block");
        Ok(done.ok())
    }
}

#[pymethods]
impl Block {
    /// Number of environments in the answer.
    #[getter]
    fn rows(&self) -> usize {
        self.rows
    }

    /// Number of episodes that have ended in the answer, with their last states in `finals`.
    #[getter]
    pub(crate) fn num_ended(&self) -> usize {
        self.num_ended.load(Relaxed)
    }

    /// The block with last states, if there were any yet.
    #[getter]
    fn finals(&self, py: Python<'_>) -> Option<Py<Block>> {
        self.finals.get(py).map(|finals| finals.clone_ref(py))
    }

    /// A view of all bytes.
    unsafe fn __getbuffer__(this: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let block = this.get();
        // SAFETY: Python passes a view to fill in. The memory lives as long as the block, to which the view holds a
        // reference.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                this.as_ptr(),
                block.start.cast::<c_void>(),
                block.len as isize,
                0,
                flags,
            )
        };
        if filled == 0 {
            Ok(())
        } else {
            Err(PyErr::take(this.py()).unwrap_or_else(|| PyBufferError::new_err("no buffer")))
        }
    }
}

/// Arrays that are handed out, and the arrays whose memory they show.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Loan {
    arrays: Py<PyTuple>,
    /// The number of references to each before a caller had any.
    references: Mutex<Vec<isize>>,
}

#[pymethods]
impl Loan {
    #[new]
    fn new(arrays: Py<PyTuple>) -> Loan {
        Loan { arrays, references: Mutex::default() }
    }

    /// Counts the references before the first caller has any.
    fn begin(&self, py: Python<'_>) {
        let references = self.arrays.bind(py).iter_borrowed().map(|array| references_of(&array)).collect();
        *self.references.lock().unwrap_or_else(PoisonError::into_inner) = references;
    }

    /// Whether a caller holds one of the arrays, or one that was derived from them.
    fn is_out(&self, py: Python<'_>) -> bool {
        let references = self.references.lock().unwrap_or_else(PoisonError::into_inner);
        let arrays = self.arrays.bind(py).iter_borrowed();
        arrays.zip(&*references).any(|(array, &references)| references_of(&array) != references)
    }
}

fn references_of(object: &Bound<'_, PyAny>) -> isize {
    // SAFETY: the tuple holds the object, and the GIL is held.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) }
}

/// A dictionary for each row of these columns, which are lists of one length.
#[pyfunction]
pub(crate) fn rows<'py>(
    py: Python<'py>,
    names: Vec<Bound<'py, PyString>>,
    columns: Vec<Bound<'py, PyList>>,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    let count = columns.first().map_or(0, |column| column.len());
    let row = |at: usize| {
        let row = PyDict::new(py);
        for (name, column) in names.iter().zip(&columns) {
            row.set_item(name, column.get_item(at)?)?;
        }
        Ok(row)
    };
    (0..count).map(row).collect()
}

/// The actions in the form that most callers use: an array of integers. `None` for subclasses of numpy's array: a masked one
/// hides elements that its buffer shows.
pub(crate) fn read_actions(actions: &Bound<'_, PyAny>, rows: usize) -> Option<Vec<i32>> {
    static ARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let array = ARRAY.import(actions.py(), "numpy", "ndarray").ok()?;
    if !actions.get_type().is(array) {
        return None;
    }
    read_array::<i64>(actions, rows).or_else(|| read_array::<i32>(actions, rows))
}

/// Environments in the form that this package has them: an array of 64-bit integers.
///
/// # Errors
/// `ValueError` if a number is negative or has more than 32 bits; those of Python's buffers if it is another object.
pub(crate) fn read_ids(env_ids: &Bound<'_, PyAny>) -> PyResult<Vec<u32>> {
    let buffer = PyBuffer::<i64>::get(env_ids)?;
    let ids = buffer.to_vec(env_ids.py())?.into_iter().map(|id| id.try_into().ok()).collect::<Option<_>>();
    ids.ok_or_else(|| PyValueError::new_err("there are no such environments"))
}

/// The elements of an array of this type with one dimension and this many rows.
fn read_array<T: Element + TryInto<i32>>(array: &Bound<'_, PyAny>, rows: usize) -> Option<Vec<i32>> {
    let buffer = PyBuffer::<T>::get(array).ok()?;
    if buffer.dimensions() != 1 || buffer.item_count() != rows {
        return None;
    }
    buffer.to_vec(array.py()).ok()?.into_iter().map(|action| action.try_into().ok()).collect()
}
