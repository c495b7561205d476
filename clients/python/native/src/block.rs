//! Memory that numpy arrays view, with every tensor of the answer to a step, and arrays of actions.

#![allow(unsafe_code)] // the buffer protocol: see `Block`

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::{process, ptr};

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use tetrion::service::direct::SLACK;

/// Memory with every tensor of the answer to a step. Python sees it as a buffer of bytes, which it may change.
///
/// # Why this is sound
/// The block's vector never moves: its capacity exceeds the size of the tensors by `SLACK` bytes, which is all that writers
/// need, and `fill` ends the process if it has moved. Its length changes only in `fill`. A call takes the block
/// under the GIL and gives it back afterwards, so two calls cannot fill it at once. Python's buffers stay valid,
/// because each holds a reference to the block. Writers replace all bytes and read none, so Python's changes do not matter.
/// If a thread uses an array while another thread steps the session into it, it may see bytes of both steps, as with
/// every numpy array that is written concurrently.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Block {
    bytes: UnsafeCell<Vec<u8>>,
    start: *mut u8,
    len: usize,
    is_taken: AtomicBool,
    /// Whether a job has panicked while it filled the block.
    is_broken: AtomicBool,
    /// Number of episodes with last states in the block.
    num_ended: usize,
}

// SAFETY: see above; `is_taken` ensures that only one call at a time reaches the vector.
unsafe impl Send for Block {}
// SAFETY: as for `Send`.
unsafe impl Sync for Block {}

impl Block {
    pub(crate) fn new(len: usize) -> Block {
        Block::with(vec![0; len], 0)
    }

    /// A block with these bytes, the last states of so many episodes.
    pub(crate) fn with(mut bytes: Vec<u8>, num_ended: usize) -> Block {
        bytes.reserve_exact(SLACK);
        let (start, len) = (bytes.as_mut_ptr(), bytes.len());
        Block {
            bytes: UnsafeCell::new(bytes),
            start,
            len,
            is_taken: false.into(),
            is_broken: false.into(),
            num_ended,
        }
    }

    /// This block, if it has the size of a session's blocks.
    ///
    /// # Errors
    /// `ValueError` if it has another.
    pub(crate) fn of_size(&self, len: usize) -> PyResult<&Block> {
        if self.len == len { Ok(self) } else { Err(PyValueError::new_err("the block is another session's")) }
    }

    /// Lets a job replace the contents. `None` if this or an earlier job has panicked.
    pub(crate) fn fill<T>(&self, job: impl FnOnce(&mut Vec<u8>) -> T) -> PyResult<Option<T>> {
        if self.is_broken.load(Relaxed) {
            return Ok(None);
        }
        if self.is_taken.swap(true, Acquire) {
            return Err(PyValueError::new_err("another thread steps this session into the same arrays"));
        }
        // SAFETY: no other call has the vector until `is_taken` is false again.
        let bytes = unsafe { &mut *self.bytes.get() };
        let done = catch_unwind(AssertUnwindSafe(|| job(bytes)));
        if !ptr::eq(bytes.as_ptr(), self.start) {
            process::abort(); // numpy views freed memory
        }
        self.is_broken.store(done.is_err() || bytes.len() != self.len, Relaxed);
        self.is_taken.store(false, Release);
        Ok(done.ok())
    }
}

#[pymethods]
impl Block {
    /// Number of episodes whose last states are in the block; 0 in a block for the answers of a session.
    #[getter]
    fn num_ended(&self) -> usize {
        self.num_ended
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

/// The elements of an array of this type with one dimension and this many rows.
fn read_array<T: Element + TryInto<i32>>(array: &Bound<'_, PyAny>, rows: usize) -> Option<Vec<i32>> {
    let buffer = PyBuffer::<T>::get(array).ok()?;
    if buffer.dimensions() != 1 || buffer.item_count() != rows {
        return None;
    }
    buffer.to_vec(array.py()).ok()?.into_iter().map(|action| action.try_into().ok()).collect()
}
