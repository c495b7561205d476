//! The calls of a session over one long call.

use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::{mem, process};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::client::ClientError;
use tetrion::client::session::{Answered, Asked, ENUMERATE_PLACEMENTS, SessionStream};
use tetrion::protocol::pb;
use tokio::sync::Mutex;

use super::block::Block;
use super::call::decoded;
use super::executor::Executor;
use super::failure::raised;
use super::placements::{ReadPlacements, listed};
use super::session::{PySession, asked, encoded_answer, step};

/// One long call for many requests to a session.
#[pyclass(frozen, name = "SessionStream", module = "tetrion._native")]
pub(crate) struct PySessionStream {
    session: Py<PySession>,
    stream: Mutex<SessionStream>,
    is_closed: AtomicBool,
    process: u32,
}

impl PySessionStream {
    fn executor(&self) -> &Executor {
        &self.session.get().executor
    }

    /// Sends a request, after what an interrupted call has left is done.
    pub(crate) fn push(&self, py: Python<'_>, asked: Asked) -> PyResult<()> {
        let session = self.session.get();
        if let (Ok(mut stream), Some(mut held)) = (self.stream.try_lock(), session.try_held())
            && stream.is_ready(held.get())
        {
            let _entered = self.executor().handle().enter();
            stream.send(held.get(), asked);
            if stream.is_flush_due() {
                drop((stream, held));
                self.executor().run_ready(py);
            }
            return Ok(());
        }
        session.wait(py, async {
            let (mut stream, mut held) = (self.stream.lock().await, session.held().await);
            stream.mend(held.get()).await?;
            stream.send(held.get(), asked);
            Ok(())
        })
    }

    /// Waits for the answer to the earliest request without one.
    pub(crate) fn pull(&self, py: Python<'_>) -> PyResult<Answered> {
        let session = self.session.get();
        // An answer that is here is read without the work of a wait.
        if let (Ok(mut stream), Some(mut held)) = (self.stream.try_lock(), session.try_held()) {
            let _entered = self.executor().handle().enter();
            if let Some(received) = stream.receive_now(held.get()) {
                return received.map_err(raised);
            }
        }
        session.wait(py, async {
            let (mut stream, mut held) = (self.stream.lock().await, session.held().await);
            if stream.in_flight() == 0 {
                return Err(ClientError::Answer("no request waits for an answer".to_owned()));
            }
            stream.receive(held.get()).await
        })
    }

    /// Sends a request and waits for its answer. If the wait ends without one, the caller no longer waits for it.
    pub(crate) fn exchange(&self, py: Python<'_>, asked: Asked) -> PyResult<Answered> {
        let answered = self.push(py, asked).and_then(|()| self.pull(py));
        if answered.is_err() {
            self.abandon();
        }
        answered
    }

    /// No longer waits for the answers that are missing.
    pub(crate) fn abandon(&self) {
        if let Ok(mut stream) = self.stream.try_lock() {
            stream.abandon();
        }
    }
}

impl Drop for PySessionStream {
    /// A forked child has no thread that could end the call.
    fn drop(&mut self) {
        if self.process != process::id() {
            mem::forget(mem::take(self.stream.get_mut()));
        }
    }
}

#[pymethods]
impl PySessionStream {
    /// A stream that opens with its first request.
    #[new]
    pub(crate) fn new(session: Py<PySession>) -> PySessionStream {
        PySessionStream { session, stream: Mutex::default(), is_closed: false.into(), process: process::id() }
    }

    /// Number of requests for whose answers Python waits.
    pub(crate) fn in_flight(&self, py: Python<'_>) -> PyResult<usize> {
        match self.stream.try_lock() {
            Ok(stream) => Ok(stream.in_flight()),
            Err(_) => Ok(self.executor().wait(py, self.stream.lock())?.in_flight()),
        }
    }

    /// Steps all environments like `Session.step`. The short way is open while nothing is in flight.
    fn step(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        actions: &Bound<'_, PyAny>,
    ) -> PyResult<Option<usize>> {
        self.take(py, block.get(), self.session.get().actions(actions).as_deref())
    }

    /// Starts episodes like `Session.reset`, while nothing is in flight.
    fn reset(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        seeds: Option<Vec<u64>>,
        env_ids: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<bool> {
        Ok(self.is_idle() && self.session.get().reset(py, block, seeds, env_ids)?)
    }

    /// Makes a call of this kind with an encoded request. Returns the encoded answer.
    pub(crate) fn call<'py>(
        &self,
        py: Python<'py>,
        kind: &str,
        request: &[u8],
    ) -> PyResult<Bound<'py, PyBytes>> {
        let answered = self.exchange(py, asked(kind, request)?)?;
        Ok(encoded_answer(py, &answered))
    }

    /// Starts episodes like `Session.reset_some`, while nothing is in flight.
    fn reset_some(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        seeds: Option<Vec<u64>>,
        env_ids: &Bound<'_, PyAny>,
    ) -> PyResult<bool> {
        Ok(self.is_idle() && self.session.get().reset_some(py, block, seeds, env_ids)?)
    }

    /// Makes a call of this kind with an encoded request, and the answer in a block, like `Session.observe`.
    fn observe<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, Block>,
        kind: &str,
        request: &[u8],
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let session = self.session.get();
        let block = session.own(block.get(), block.get().rows)?;
        session.fill(py, block, &self.exchange(py, asked(kind, request)?)?)
    }

    /// Lists placements of so many environments, by an encoded request.
    fn placements(&self, py: Python<'_>, request: &[u8], positions: usize) -> PyResult<ReadPlacements> {
        listed(self.list(py, &decoded(request)?)?, positions)
    }

    /// Waits for the answer to the earliest request that was sent ahead, the placements of so many environments.
    fn receive_placements(&self, py: Python<'_>, positions: usize) -> PyResult<ReadPlacements> {
        listed(self.pull(py)?.decode().map_err(raised)?, positions)
    }

    /// Sends an encoded request of this kind without waiting.
    fn send(&self, py: Python<'_>, kind: &str, request: &[u8]) -> PyResult<()> {
        self.push(py, asked(kind, request)?)
    }

    /// Sends a step of all environments without waiting. Returns whether the actions are a plain array of integers.
    fn send_step(&self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<bool> {
        let Some(actions) = self.session.get().actions(actions) else { return Ok(false) };
        self.push(py, step(&actions)).map(|()| true)
    }

    /// Waits for the answer to the earliest request, a step, and copies it into a block, like `Session.observe`.
    fn receive_step<'py>(
        &self,
        py: Python<'py>,
        block: &Bound<'py, Block>,
    ) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let session = self.session.get();
        let block = session.own(block.get(), block.get().rows)?;
        session.fill(py, block, &self.pull(py)?)
    }

    /// Ends the stream in an orderly way.
    pub(crate) fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.is_closed.store(true, Relaxed);
        self.session.get().wait(py, async {
            self.stream.lock().await.close().await;
            Ok(())
        })
    }
}

impl PySessionStream {
    /// Steps the only environment of a session, like `step`.
    pub(crate) fn step_one(
        &self,
        py: Python<'_>,
        block: &Bound<'_, Block>,
        action: i32,
    ) -> PyResult<Option<usize>> {
        self.take(py, block.get(), self.session.get().is_open().then_some(&[action]))
    }

    /// Lists placements, the short way if there is one.
    pub(crate) fn list(
        &self,
        py: Python<'_>,
        request: &pb::EnumeratePlacementsRequest,
    ) -> PyResult<pb::EnumeratePlacementsResponse> {
        let short = if self.is_idle() { self.session().enumerate(py, request) } else { None };
        match short {
            Some(answer) => Ok(answer),
            None => {
                let asked = Asked::new(&ENUMERATE_PLACEMENTS, request);
                self.exchange(py, asked)?.decode().map_err(raised)
            }
        }
    }

    pub(crate) fn session(&self) -> &PySession {
        self.session.get()
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Relaxed)
    }

    /// Whether the stream is open, and nothing is on its way.
    pub(crate) fn is_idle(&self) -> bool {
        !self.is_closed() && self.stream.try_lock().is_ok_and(|stream| stream.is_idle())
    }

    /// Steps all environments. Does nothing without actions, on a closed stream, or if another answer comes first.
    fn take(&self, py: Python<'_>, block: &Block, actions: Option<&[i32]>) -> PyResult<Option<usize>> {
        let Some(actions) = actions else { return Ok(None) };
        let session = self.session.get();
        let block = session.own(block, actions.len())?;
        if self.is_idle() {
            if session.step_directly(py, block, actions)? {
                return Ok(Some(block.num_ended()));
            }
        } else if self.is_closed() || self.in_flight(py)? > 0 {
            return Ok(None);
        }
        let answered = self.exchange(py, step(actions))?;
        session.fill(py, block, &answered)?;
        Ok(Some(block.num_ended()))
    }
}
