//! Calls with many answers, and optionally with many requests.
//!
//! A task of the runtime makes the call, so that it continues while Python does other work.

use std::process;
use std::sync::PoisonError;

use bytes::Bytes;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::server::Inside;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Streaming};

use super::call::{calls, path_of, refused, wait};
use super::codec::Raw;

/// Most answers that wait to be read; with more, the call pauses.
const UNREAD: usize = 16;

/// A call with many answers, as an iterator. Threads may share it.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Stream {
    answers: Mutex<mpsc::Receiver<tonic::Result<Bytes>>>,
    /// Channel for requests, if the call takes more than one.
    requests: Option<std::sync::Mutex<Option<mpsc::UnboundedSender<Bytes>>>>,
    cancelled: CancellationToken,
    call: JoinHandle<()>,
    runtime: Handle,
    process: u32,
}

impl Stream {
    /// Starts a call with one request.
    pub(crate) fn of_one(
        runtime: &Handle,
        inside: Inside,
        path: &str,
        request: Request<Bytes>,
    ) -> PyResult<Stream> {
        let path = path_of(path)?;
        let opening = async move { calls(inside).server_streaming(request, path, Raw).await };
        Ok(Stream::new(runtime, opening, None))
    }

    /// Starts a call with many requests.
    pub(crate) fn of_many(
        runtime: &Handle,
        inside: Inside,
        path: &str,
        request: Request<()>,
    ) -> PyResult<Stream> {
        let path = path_of(path)?;
        let (sender, receiver) = mpsc::unbounded_channel();
        let request = request.map(|()| UnboundedReceiverStream::new(receiver));
        let opening = async move { calls(inside).streaming(request, path, Raw).await };
        Ok(Stream::new(runtime, opening, Some(sender)))
    }

    fn new(
        runtime: &Handle,
        opening: impl Future<Output = tonic::Result<Response<Streaming<Bytes>>>> + Send + 'static,
        requests: Option<mpsc::UnboundedSender<Bytes>>,
    ) -> Stream {
        let (sender, answers) = mpsc::channel(UNREAD);
        Stream {
            answers: Mutex::new(answers),
            requests: requests.map(|sender| std::sync::Mutex::new(Some(sender))),
            cancelled: CancellationToken::new(),
            call: runtime.spawn(pass_on(opening, sender)),
            runtime: runtime.clone(),
            process: process::id(),
        }
    }

    /// The next answer; `None` after the last.
    async fn next(&self) -> tonic::Result<Option<Bytes>> {
        let mut answers = self.answers.lock().await;
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Ok(None),
            answer = answers.recv() => answer.transpose(),
        }
    }
}

/// Makes the call and passes its answers on, as long as the iterator exists.
async fn pass_on(
    opening: impl Future<Output = tonic::Result<Response<Streaming<Bytes>>>> + Send,
    sender: mpsc::Sender<tonic::Result<Bytes>>,
) {
    let mut answers = match opening.await {
        Ok(answers) => answers.into_inner(),
        Err(status) => return drop(sender.send(Err(status)).await),
    };
    while let Some(answer) = answers.message().await.transpose() {
        let failed = answer.is_err();
        if sender.send(answer).await.is_err() || failed {
            return;
        }
    }
}

impl Drop for Stream {
    /// A forked child has no thread that could end the call.
    fn drop(&mut self) {
        if self.process == process::id() {
            self.call.abort();
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
        let requests = requests.lock().unwrap_or_else(PoisonError::into_inner);
        // If the call has ended, its next answer gives the reason.
        let _ = requests.as_ref().ok_or_else(ended)?.send(Bytes::copy_from_slice(message));
        Ok(())
    }

    /// Ends the requests.
    fn end(&self) {
        if let Some(requests) = &self.requests {
            requests.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    /// Ends the call. No more answers come, not even to a thread that waits for one.
    fn cancel(&self) {
        self.cancelled.cancel();
        self.call.abort();
    }
}
