//! Evaluations: the Rust client plays many games on the servers that Python names, and collects what comes.

use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;
use std::{mem, process};

use prost::Message;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::client::{
    Client, ClientError, EvaluationCall, EvaluationNews, EvaluationProgress, Link, RunningEvaluation,
    SpreadEvaluation,
};
use tetrion::protocol::pb::evaluate_policies_response::Event;
use tetrion::protocol::results::{encode_estimates, encode_results};
use tetrion::protocol::{duration, pb};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::Services;
use super::call::{Metadata, closed, metadata_of, refused};
use super::channel::Channel;
use super::executor::Executor;
use super::failure::{described, failure};

pyo3::create_exception!(
    tetrion._native,
    AnswerError,
    pyo3::exceptions::PyException,
    "An answer that does not fit its request: the problem."
);

/// Servers by their names, each a [`Channel`] or [`Services`].
type Servers<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// All results, what was played, and the summary, as encoded messages.
type EncodedOutcome<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// An evaluation in progress. One thread at a time waits for its news, and any may close it.
#[pyclass(frozen, name = "EvaluationRun", module = "tetrion._native")]
pub(crate) struct PyEvaluationRun {
    /// `None` once it is closed.
    run: Mutex<Option<RunningEvaluation>>,
    settings: CallSettings,
    executor: Executor,
    /// Cancelled with the connection.
    disconnected: CancellationToken,
    cancelled: CancellationToken,
    process: u32,
}

/// What further calls need besides their servers.
struct CallSettings {
    metadata: MetadataMap,
    min_revision: u32,
    patience: Duration,
}

impl CallSettings {
    fn client(&self, links: impl IntoIterator<Item = (String, Link)>) -> Client {
        Client::over(links, &self.metadata, self.min_revision, self.patience)
    }
}

/// The way to a server, who waits for it, and what ends it.
fn way(server: &Bound<'_, PyAny>) -> PyResult<(Link, Executor, CancellationToken)> {
    if let Ok(channel) = server.cast::<Channel>() {
        let stub = channel.get().stub()?;
        return Ok((Link::new(stub.target), stub.executor, stub.closed));
    }
    let services = server.cast::<Services>().map_err(|_| PyTypeError::new_err("expected a connection"))?;
    let stub = services.get().stub().clone();
    Ok((Link::new(stub.target), stub.executor, stub.closed))
}

fn links(servers: &Servers<'_>) -> PyResult<Vec<(String, Link)>> {
    servers.iter().map(|(name, server)| Ok((name.clone(), way(server)?.0))).collect()
}

#[pymethods]
impl PyEvaluationRun {
    /// Prepares an evaluation from its encoded request; `next` begins it. `num_servers` is about how many servers there
    /// will be.
    #[new]
    fn new(
        request: &[u8],
        servers: Servers<'_>,
        num_servers: usize,
        metadata: Metadata,
        patience: f64,
    ) -> PyResult<PyEvaluationRun> {
        let request = decoded::<pb::EvaluatePoliciesRequest>(request)?;
        let (_, first) = servers.first().ok_or_else(|| PyValueError::new_err("there is no server"))?;
        let (_, executor, disconnected) = way(first)?;
        let metadata = metadata_of(metadata).map_err(refused)?;
        let settings =
            CallSettings { metadata, min_revision: request.min_revision, patience: seconds(patience) };
        let client = settings.client(links(&servers)?);
        let run = client.start_evaluation(request, num_servers).map_err(raised)?;
        Ok(PyEvaluationRun {
            run: Mutex::new(Some(run)),
            settings,
            executor,
            disconnected,
            cancelled: CancellationToken::new(),
            process: process::id(),
        })
    }

    /// Gives further calls to these servers.
    fn use_servers(&self, py: Python<'_>, servers: Servers<'_>) -> PyResult<()> {
        let client = self.settings.client(links(&servers)?);
        if let Some(run) = self.executor.wait(py, self.run.lock())?.as_mut() {
            run.use_servers(&client);
        }
        Ok(())
    }

    /// Waits for the next news: its kind, and an encoded message, or for a lost call the arguments of a `CallError`.
    /// `None` after the last, or once the run is closed.
    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<(&'static str, Bound<'py, PyAny>)>> {
        let news = self.executor.wait(py, async {
            let mut guard = self.run.lock().await;
            let Some(run) = guard.as_mut() else { return Ok(None) };
            let news = tokio::select! {
                biased;
                () = self.disconnected.cancelled() => return Err(NewsError::Call(Box::new(closed()))),
                () = self.cancelled.cancelled() => None,
                news = run.next() => Some(news.map_err(NewsError::from)?),
            };
            if news.is_none() {
                guard.take();
            }
            Ok(news.flatten())
        })?;
        let Some(news) = news.map_err(|error: NewsError| error.raised())? else { return Ok(None) };
        let (kind, news) = match news {
            EvaluationNews::Started(started) => ("started", message(py, &*started).into_any()),
            EvaluationNews::Games(games) => ("results", message(py, &encode_results(&games)).into_any()),
            EvaluationNews::Estimates(some) => {
                ("estimates", message(py, &encode_estimates(&some)).into_any())
            }
            EvaluationNews::Progress(now) => ("progress", message(py, &encode_progress(now)).into_any()),
            EvaluationNews::Lost(error) => {
                let failed = match NewsError::from(error) {
                    NewsError::Call(status) => described(&failure(*status)),
                    NewsError::Answer(problem) => described(&Status::internal(problem)),
                };
                ("lost", failed.into_pyobject(py)?.into_any())
            }
        };
        Ok(Some((kind, news)))
    }

    /// Everything that has come, in order: the results, what was played, and the summary.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<EncodedOutcome<'py>> {
        let run = self.executor.wait(py, self.run.lock())?;
        let run = run.as_ref().ok_or_else(|| PyRuntimeError::new_err("the evaluation was closed"))?;
        outcome(py, run.spread())
    }

    /// Ends the games on the servers. A thread that waits for news gets none. Does nothing in a forked child.
    fn close(&self) {
        if self.process != process::id() {
            return;
        }
        self.cancelled.cancel();
        if let Ok(mut run) = self.run.try_lock() {
            run.take();
        }
    }
}

impl Drop for PyEvaluationRun {
    /// A forked child has no thread that could end the calls.
    fn drop(&mut self) {
        if self.process != process::id() {
            mem::forget(self.run.get_mut().take());
        }
    }
}

/// An evaluation without connections: it says which call to make next, and takes what came of it.
#[pyclass(frozen, name = "Spread", module = "tetrion._native")]
pub(crate) struct PySpread(std::sync::Mutex<SpreadEvaluation>);

impl PySpread {
    fn spread(&self) -> MutexGuard<'_, SpreadEvaluation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl PySpread {
    /// An evaluation from its encoded request, before the first call. `num_servers` is about how many servers there will
    /// be.
    #[new]
    fn new(request: &[u8], num_servers: usize, patience: f64) -> PyResult<PySpread> {
        let spread = SpreadEvaluation::new(decoded(request)?, num_servers, seconds(patience));
        Ok(PySpread(std::sync::Mutex::new(spread.map_err(raised)?)))
    }

    /// Names the servers that get calls from now on.
    fn set_servers(&self, names: Vec<String>) {
        self.spread().set_servers(names);
    }

    /// The next call to make, if a server has room for one: its number, the name of the server, and the encoded request.
    fn hand_out<'py>(&self, py: Python<'py>) -> Option<(usize, String, Bound<'py, PyBytes>)> {
        let EvaluationCall { number, server, request } = self.spread().hand_out()?;
        Some((number, server, message(py, &request)))
    }

    /// Takes an encoded message of a call.
    fn take(&self, number: usize, answer: &[u8]) -> PyResult<()> {
        let taken = self.spread().take(number, decoded(answer)?);
        taken.map(drop).map_err(raised)
    }

    /// Takes the encoded progress of a call in progress.
    fn hear(&self, number: usize, progress: &[u8]) -> PyResult<()> {
        self.spread().hear(number, &decoded(progress)?);
        Ok(())
    }

    /// Takes the end of a call; a lost one is made again.
    fn end(&self, number: usize, is_lost: bool) -> PyResult<()> {
        let ended = match is_lost {
            true => Err(ClientError::Lost {
                address: String::new(),
                message: String::new(),
                status: Box::new(Status::unavailable("the call was lost")),
            }),
            false => Ok(()),
        };
        self.spread().end(number, ended).map(drop).map_err(raised)
    }

    /// Whether it is time for a report.
    fn is_report_due(&self) -> bool {
        self.spread().is_report_due()
    }

    /// An encoded report on everything so far.
    fn report<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        message(py, &encode_progress(self.spread().report()))
    }

    /// Whether no call is left to make or to wait for.
    fn is_over(&self) -> bool {
        self.spread().is_over()
    }

    /// Everything that has come, in order: the results, what was played, and the summary.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<EncodedOutcome<'py>> {
        outcome(py, &self.spread())
    }
}

/// Why a wait for news failed.
enum NewsError {
    Call(Box<Status>),
    Answer(String),
}

impl From<ClientError> for NewsError {
    fn from(error: ClientError) -> NewsError {
        match error {
            ClientError::Lost { status, .. } | ClientError::Refused { status, .. } => NewsError::Call(status),
            ClientError::Answer(problem) => NewsError::Answer(problem),
            error => NewsError::Answer(error.to_string()),
        }
    }
}

impl NewsError {
    fn raised(self) -> PyErr {
        match self {
            NewsError::Call(status) => refused(*status),
            NewsError::Answer(problem) => AnswerError::new_err(problem),
        }
    }
}

fn raised(error: ClientError) -> PyErr {
    NewsError::from(error).raised()
}

fn outcome<'py>(py: Python<'py>, spread: &SpreadEvaluation) -> PyResult<EncodedOutcome<'py>> {
    let summary = spread.summary().map_err(raised)?;
    let results = match spread.results() {
        Event::Results(results) => message(py, &results),
        Event::Estimates(estimates) => message(py, &estimates),
        _ => unreachable!("results are games or estimates"),
    };
    let started = spread.started().map(|started| message(py, started));
    Ok((results, started.unwrap_or_else(|| PyBytes::new(py, b"")), message(py, &summary)))
}

fn encode_progress(now: EvaluationProgress) -> pb::EvaluationProgress {
    let EvaluationProgress { games, num_games, pieces, lines, elapsed } = now;
    let (games_done, pieces_done, lines_done) = (games, pieces, lines);
    pb::EvaluationProgress {
        games_done,
        num_games,
        pieces_done,
        lines_done,
        elapsed: duration::encode(elapsed),
    }
}

fn message<'py>(py: Python<'py>, message: &impl Message) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &message.encode_to_vec())
}

fn decoded<M: Message + Default>(bytes: &[u8]) -> PyResult<M> {
    M::decode(bytes).map_err(|error| AnswerError::new_err(error.to_string()))
}

/// A time in seconds; decades stand for ever.
fn seconds(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, 1e9))
}
