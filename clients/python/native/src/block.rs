//! Memory that numpy arrays view, with every tensor of the answer to a step, and arrays of actions.

#![allow(unsafe_code)] // the buffer protocol: see `Block`

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::{Acquire, Release};
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
    pub(crate) len: usize,
    is_taken: AtomicBool,
    /// Number of environments in the answer; of last states, number of episodes.
    pub(crate) rows: usize,
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
        Block { bytes: UnsafeCell::new(bytes), start, len, is_taken: false.into(), rows }
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
    /// Number of environments in the answer; of last states, number of episodes.
    #[getter]
    fn rows(&self) -> usize {
        self.rows
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
