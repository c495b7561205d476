//! Calls with many answers.
//!
//! A task of the runtime makes the call, so that it continues while Python does other work.

use std::process;
use std::time::Duration;

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Response, Streaming};

use super::call::{refused, until};
use super::executor::Executor;

/// Most answers that wait to be read; with more, the call pauses.
const UNREAD: usize = 16;

/// A call with many answers, as an iterator. Threads may share it.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Stream {
    answers: Mutex<mpsc::Receiver<tonic::Result<Bytes>>>,
    cancelled: CancellationToken,
    call: JoinHandle<()>,
    executor: Executor,
    process: u32,
}

impl Stream {
    /// Starts a call as a task, which ends after the last answer, at the timeout, or when `closed` is cancelled.
    pub(crate) fn new(
        py: Python<'_>,
        executor: &Executor,
        closed: CancellationToken,
        opening: impl Future<Output = tonic::Result<Response<Streaming<Bytes>>>> + Send + 'static,
        timeout: Option<Duration>,
    ) -> Stream {
        let (sender, answers) = mpsc::channel(UNREAD);
        let call = executor.handle().spawn(async move {
            let passed = until(&closed, timeout, pass_on(opening, &sender)).await;
            if let Err(status) = passed {
                // The reader may have left.
                let _ = sender.send(Err(status)).await;
            }
        });
        executor.run_ready(py);
        Stream {
            answers: Mutex::new(answers),
            cancelled: CancellationToken::new(),
            call,
            executor: executor.clone(),
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
    sender: &mpsc::Sender<tonic::Result<Bytes>>,
) -> tonic::Result<()> {
    let mut answers = opening.await?.into_inner();
    while let Some(answer) = answers.message().await? {
        if sender.send(Ok(answer)).await.is_err() {
            break;
        }
    }
    Ok(())
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
        Ok(self.read(py)?.map(|answer| PyBytes::new(py, &answer)))
    }

    /// Ends the call. No more answers come, not even to a thread that waits for one.
    fn cancel(&self) {
        self.cancelled.cancel();
        self.call.abort();
    }
}

impl Stream {
    fn read(&self, py: Python<'_>) -> PyResult<Option<Bytes>> {
        // An answer that is there is read without the work of a wait.
        let read = self.answers.try_lock().ok().and_then(|mut answers| answers.try_recv().ok());
        let answer = match read {
            Some(_) if self.cancelled.is_cancelled() => Ok(None),
            Some(answer) => answer.map(Some),
            None => self.executor.wait(py, self.next())?,
        };
        answer.map_err(refused)
    }
}
