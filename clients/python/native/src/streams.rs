//! Calls with many answers, and optionally with many requests.
//!
//! A task of the runtime makes the call, so that it continues while Python does other work.

use std::process;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use tonic::{Response, Streaming};

use super::call::{refused, until};
use super::executor::Executor;
use super::session::Block;
use super::steps::{Actions, Steps, answer_of_stream};

/// Most answers that wait to be read; with more, the call pauses.
const UNREAD: usize = 16;

/// Number of unanswered requests from which on further ones wait to be sent together.
const AHEAD: u64 = 8;

/// What was read of an answer to a step, and the answer if Python must read it.
type StepRead<'py> = (Bound<'py, PyAny>, Option<Bound<'py, PyBytes>>);

/// A call with many answers, as an iterator. Threads may share it.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Stream {
    answers: Mutex<mpsc::Receiver<tonic::Result<Bytes>>>,
    traffic: Arc<Traffic>,
    cancelled: CancellationToken,
    call: JoinHandle<()>,
    executor: Executor,
    process: u32,
}

/// The requests of a call and counts of its messages, which decide when requests leave together.
struct Traffic {
    /// Channel for requests, if the call takes more than one. An open one keeps the call open on the server.
    requests: std::sync::Mutex<Option<mpsc::UnboundedSender<Bytes>>>,
    /// Requests that Python has made, sent or not.
    asked: AtomicU64,
    sent: AtomicU64,
    answered: AtomicU64,
}

impl Traffic {
    fn requests(&self) -> MutexGuard<'_, Option<mpsc::UnboundedSender<Bytes>>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the server that no more requests come. Answers still arrive.
    fn end(&self) {
        self.requests().take();
    }

    /// Whether fewer than [`AHEAD`] of the requests that were sent are unanswered.
    fn is_low(&self) -> bool {
        self.sent.load(Relaxed) < self.answered.load(Relaxed) + AHEAD
    }

    /// Counts every request as sent.
    fn send(&self) {
        self.sent.store(self.asked.load(Relaxed), Relaxed);
    }
}

impl Stream {
    /// Starts a call as a task, which ends after the last answer, at the timeout, or when `closed` is cancelled.
    pub(crate) fn new(
        py: Python<'_>,
        executor: &Executor,
        closed: CancellationToken,
        opening: impl Future<Output = tonic::Result<Response<Streaming<Bytes>>>> + Send + 'static,
        timeout: Option<Duration>,
        requests: Option<mpsc::UnboundedSender<Bytes>>,
    ) -> Stream {
        let (sender, answers) = mpsc::channel(UNREAD);
        let requests = std::sync::Mutex::new(requests);
        let (asked, sent, answered) = Default::default();
        let traffic = Arc::new(Traffic { requests, asked, sent, answered });
        let counted = traffic.clone();
        let call = executor.handle().spawn(async move {
            let passed = until(&closed, timeout, pass_on(opening, &sender, &counted)).await;
            counted.end();
            if let Err(status) = passed {
                // The reader may have left.
                let _ = sender.send(Err(status)).await;
            }
        });
        executor.run_ready(py);
        Stream {
            answers: Mutex::new(answers),
            traffic,
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
    traffic: &Traffic,
) -> tonic::Result<()> {
    let mut answers = opening.await?.into_inner();
    while let Some(answer) = answers.message().await? {
        traffic.answered.fetch_add(1, Relaxed);
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

    /// Waits for the next answer, which should be one to the step with this number, and copies it into a block. Returns
    /// True, or the last states of episodes as an encoded `FinalBatch`; or else False and the answer, which Python must
    /// read. `None` if no more answers come.
    fn read_step<'py>(
        &self,
        py: Python<'py>,
        steps: &Steps,
        block: &Bound<'py, Block>,
        number: u64,
    ) -> PyResult<Option<StepRead<'py>>> {
        let Some(answer) = self.read(py)? else { return Ok(None) };
        let filled = steps.fill(py, number, block, || answer_of_stream(answer.clone()))?;
        let is_unread = filled.is_exact_instance_of::<PyBool>() && !filled.is_truthy()?;
        Ok(Some((filled, is_unread.then(|| PyBytes::new(py, &answer)))))
    }

    /// Sends a request and returns at once. Requests may wait to leave together.
    fn send(&self, py: Python<'_>, message: &[u8]) {
        self.write(py, Bytes::copy_from_slice(message));
    }

    /// Sends a request for a step of all environments of a session.
    fn send_step(&self, py: Python<'_>, actions: &Actions, session: String, number: u64) {
        self.write(py, actions.streamed(session, number));
    }

    /// Tells the server that no more requests come. Answers still arrive.
    fn end(&self) {
        self.traffic.end();
    }

    /// Ends the call. No more answers come, not even to a thread that waits for one.
    fn cancel(&self) {
        self.cancelled.cancel();
        self.traffic.end();
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
            None => {
                self.traffic.send();
                self.executor.wait(py, self.next())?
            }
        };
        answer.map_err(refused)
    }

    fn write(&self, py: Python<'_>, message: Bytes) {
        // If the call has ended, its next answer gives the reason.
        if let Some(requests) = &*self.traffic.requests() {
            let _ = requests.send(message);
        }
        self.traffic.asked.fetch_add(1, Relaxed);
        if self.traffic.is_low() {
            self.traffic.send();
            self.executor.run_ready(py);
        }
    }
}
