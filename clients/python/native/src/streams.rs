//! Calls with many answers, and with many requests too.

use std::pin::Pin;

use bytes::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::server::Inside;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, mpsc};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Streaming};

use super::call::{calls, path_of, refused, wait};

type Opening = Pin<Box<dyn Future<Output = tonic::Result<tonic::Response<Streaming<Bytes>>>> + Send>>;

/// A call with many answers: an iterator of them. Threads may share it.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Stream {
    state: Mutex<State>,
    /// Where requests go, if there is more than one.
    requests: Option<std::sync::Mutex<Option<mpsc::UnboundedSender<Bytes>>>>,
    cancelled: CancellationToken,
    runtime: Handle,
}

/// How far the call is.
enum State {
    /// The first answer has not been asked for.
    Opening(Opening),
    Open(Box<Streaming<Bytes>>),
    Ended,
}

impl Stream {
    /// A call with one request. It begins when the first answer is asked for.
    pub(crate) fn of_one(
        runtime: &Handle,
        inside: Inside,
        path: &str,
        request: Request<Bytes>,
    ) -> PyResult<Stream> {
        let path = path_of(path)?;
        let opening = async move { calls(inside).server_streaming(request, path, super::codec::Raw).await };
        Ok(Stream::new(runtime, Box::pin(opening), None))
    }

    /// A call with many requests. It begins when the first answer is asked for.
    pub(crate) fn of_many(
        runtime: &Handle,
        inside: Inside,
        path: &str,
        request: Request<()>,
    ) -> PyResult<Stream> {
        let path = path_of(path)?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let request = request.map(|()| UnboundedReceiverStream::new(receiver));
        let opening = async move { calls(inside).streaming(request, path, super::codec::Raw).await };
        Ok(Stream::new(runtime, Box::pin(opening), Some(sender)))
    }

    fn new(runtime: &Handle, opening: Opening, requests: Option<mpsc::UnboundedSender<Bytes>>) -> Stream {
        Stream {
            state: Mutex::new(State::Opening(opening)),
            requests: requests.map(|sender| std::sync::Mutex::new(Some(sender))),
            cancelled: CancellationToken::new(),
            runtime: runtime.clone(),
        }
    }

    /// The next answer, unless there is none.
    async fn next(&self) -> tonic::Result<Option<Bytes>> {
        let mut state = self.state.lock().await;
        let answer = tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Ok(None),
            answer = state.next() => answer,
        };
        if !matches!(answer, Ok(Some(_))) {
            *state = State::Ended; // which drops the call
        }
        answer
    }
}

impl State {
    async fn next(&mut self) -> tonic::Result<Option<Bytes>> {
        if let State::Opening(opening) = self {
            let answers = opening.await?.into_inner();
            *self = State::Open(Box::new(answers));
        }
        match self {
            State::Open(answers) => answers.message().await,
            State::Opening(_) | State::Ended => Ok(None),
        }
    }
}

#[pymethods]
impl Stream {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// Waits for the next answer.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let answer = wait(py, &self.runtime, self.next())?;
        let answer = answer.map_err(|status| refused(py, &status))?;
        Ok(answer.map(|answer| PyBytes::new(py, &answer)))
    }

    /// Sends a request.
    fn send(&self, message: &[u8]) -> PyResult<()> {
        let ended = || PyValueError::new_err("the call takes no more requests");
        let requests = self.requests.as_ref().ok_or_else(ended)?;
        let requests = requests.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // A call that has ended says why with its next answer.
        let _ = requests.as_ref().ok_or_else(ended)?.send(Bytes::copy_from_slice(message));
        Ok(())
    }

    /// Says that no more requests come.
    fn end(&self) {
        if let Some(requests) = &self.requests {
            requests.lock().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        }
    }

    /// Ends the call: no more answers come, not even to a thread that waits for one.
    fn cancel(&self) {
        self.cancelled.cancel();
        if let Ok(mut state) = self.state.try_lock() {
            *state = State::Ended;
        }
    }
}
