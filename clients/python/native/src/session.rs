//! Steps of a session without messages, into blocks of memory that numpy arrays look into.
//!
//! The surprising decision: what is unusual is not handled here. If actions are no plain array of integers, or a call is
//! refused, the answer is False, and the caller makes the call with messages, which does it or says what is wrong.

#![allow(unsafe_code)] // the buffer protocol: see `Block`

use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;
use std::{process, ptr};

use pyo3::buffer::{Element, PyBuffer};
use pyo3::exceptions::{PyBufferError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes};
use tetrion::service::Direct;
use tetrion::service::direct::{Extent, SLACK};
use tonic::Status;

/// Work for which releasing the GIL pays.
const LONG: Duration = Duration::from_micros(20);

/// A session of this process.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Session {
    direct: Direct,
    extents: Vec<Extent>,
    block_bytes: usize,
    is_long: bool,
    /// The last sequence number that this caller knows of. It changes with the call itself, so that no signal comes between.
    number: AtomicU64,
}

/// Memory with every tensor of the answer to a step. Python sees it as a read-only buffer of bytes.
///
/// # Why this is sound
/// Its vector never moves: it has `SLACK` more bytes of capacity than the tensors take, which is all that writers need, and
/// `fill` ends the process if it has moved. Its length changes only in `fill`, for which a block is taken under the GIL and given
/// back: two calls cannot fill it at once. Buffers that Python got stay valid, because each holds a reference to the block. A
/// thread that reads an array while another thread steps the session into it sees some bytes of either step, as with every
/// numpy array that is written meanwhile.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Block {
    bytes: UnsafeCell<Vec<u8>>,
    start: *mut u8,
    len: usize,
    is_taken: AtomicBool,
    /// Whether a job panicked while it filled this.
    is_broken: AtomicBool,
}

// SAFETY: see above; the vector is reached by one call at a time, which `is_taken` ensures.
unsafe impl Send for Block {}
// SAFETY: the same.
unsafe impl Sync for Block {}

impl Block {
    fn new(len: usize) -> Block {
        let mut bytes = Vec::with_capacity(len + SLACK);
        bytes.resize(len, 0);
        let start = bytes.as_mut_ptr();
        Block { bytes: UnsafeCell::new(bytes), start, len, is_taken: false.into(), is_broken: false.into() }
    }

    /// Lets a job replace the contents. None if the job panicked, or an earlier one did.
    fn fill<T>(&self, job: impl FnOnce(&mut Vec<u8>) -> T) -> PyResult<Option<T>> {
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
            process::abort(); // numpy looks into memory that is gone
        }
        self.is_broken.store(done.is_err() || bytes.len() != self.len, Relaxed);
        self.is_taken.store(false, Release);
        Ok(done.ok())
    }
}

#[pymethods]
impl Block {
    /// A read-only view of all bytes.
    unsafe fn __getbuffer__(this: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let block = this.get();
        // SAFETY: Python passes a view to fill in. The memory lives as long as the block, to which the view gets a reference.
        let filled = unsafe {
            ffi::PyBuffer_FillInfo(
                view,
                this.as_ptr(),
                block.start.cast::<c_void>(),
                block.len as isize,
                1,
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

impl Session {
    pub(crate) fn new(direct: Direct) -> Session {
        let extents = direct.extents();
        let block_bytes = extents.last().map_or(0, |extent| extent.start + extent.len);
        let is_long = direct.work() > LONG;
        Session { direct, extents, block_bytes, is_long, number: AtomicU64::new(0) }
    }

    /// Does a job, without the GIL if it is long or must wait for another call, which may need the GIL. The job is told whether it
    /// may wait; if not, and it would have to, it returns None.
    fn run<T: Send>(&self, py: Python<'_>, mut job: impl FnMut(bool) -> Option<T> + Send) -> Option<T> {
        if !self.is_long
            && let Some(done) = job(false)
        {
            return Some(done);
        }
        py.detach(|| job(true))
    }

    /// Takes the actions.
    fn take<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, Block>,
        actions: &[i32],
    ) -> PyResult<Bound<'py, PyAny>> {
        let block = self.own(block)?;
        let step = |bytes: &mut Vec<u8>| {
            self.run(py, |may_wait| {
                self.numbered(|number| self.direct.step(actions, number, bytes, may_wait))
            })
        };
        match block.fill(step)?.flatten() {
            Some(Ok(Some(finals))) => Ok(PyBytes::new(py, &finals).into_any()),
            done => Ok(PyBool::new(py, matches!(done, Some(Ok(_)))).to_owned().into_any()),
        }
    }

    /// Makes a call with the next number, which counts if the call was done.
    fn numbered<T>(&self, call: impl FnOnce(u64) -> Option<Result<T, Status>>) -> Option<Result<T, Status>> {
        let next = self.number.load(Relaxed) + 1;
        let done = call(next)?;
        if done.is_ok() {
            self.number.store(next, Relaxed);
        }
        Some(done)
    }

    /// A block, if it is of the size of this session's.
    fn own<'a>(&self, block: &'a Bound<'_, Block>) -> PyResult<&'a Block> {
        let block = block.get();
        if block.len != self.block_bytes {
            return Err(PyValueError::new_err("the block is another session's"));
        }
        Ok(block)
    }
}

/// The actions, if they are what most callers pass: an array of integers.
fn read_actions(actions: &Bound<'_, PyAny>, rows: usize) -> Option<Vec<i32>> {
    read_array::<i64>(actions, rows).or_else(|| read_array::<i32>(actions, rows))
}

/// The elements of an array of this type with one dimension and so many rows.
fn read_array<T: Element + TryInto<i32>>(array: &Bound<'_, PyAny>, rows: usize) -> Option<Vec<i32>> {
    let buffer = PyBuffer::<T>::get(array).ok()?;
    if buffer.dimensions() != 1 || buffer.item_count() != rows {
        return None;
    }
    buffer.to_vec(array.py()).ok()?.into_iter().map(|action| action.try_into().ok()).collect()
}

#[pymethods]
impl Session {
    /// The first byte of each tensor in a block: rewards, terminated, truncated, observations, infos, and masks if it has them.
    fn places(&self) -> Vec<usize> {
        self.extents.iter().map(|extent| extent.start).collect()
    }

    /// The last sequence number that this caller knows of.
    #[getter]
    fn number(&self) -> u64 {
        self.number.load(Relaxed)
    }

    #[setter]
    fn set_number(&self, number: u64) {
        self.number.store(number, Relaxed);
    }

    /// A new block.
    fn block(&self) -> Block {
        Block::new(self.block_bytes)
    }

    /// Steps all environments, with the answer in a block. Returns whether it was done; instead of True the last states of ended
    /// episodes, as an encoded `FinalBatch`, if there are any.
    fn step<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, Block>,
        actions: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let Some(actions) = read_actions(actions, self.direct.num_envs() as usize) else {
            return Ok(PyBool::new(py, false).to_owned().into_any());
        };
        self.take(py, block, &actions)
    }

    /// Steps the only environment of a session of one, like `step`.
    fn step_one<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, Block>,
        action: i32,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.take(py, block, &[action])
    }

    /// Begins episodes in all environments, with the answer in a block, by one seed each or, without, the next ones.
    /// Returns whether it was done.
    fn reset(&self, py: Python<'_>, block: &Bound<'_, Block>, seeds: Option<Vec<u64>>) -> PyResult<bool> {
        let block = self.own(block)?;
        let reset = |bytes: &mut Vec<u8>| {
            self.run(py, |may_wait| {
                self.numbered(|number| self.direct.reset(seeds.as_deref(), number, bytes, may_wait))
            })
        };
        Ok(matches!(block.fill(reset)?.flatten(), Some(Ok(()))))
    }
}
