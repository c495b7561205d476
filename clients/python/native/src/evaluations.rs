//! Evaluations: the Rust client plays many games on the servers that Python names, and collects what comes.

use std::sync::{MutexGuard, PoisonError};
use std::time::Duration;
use std::{mem, process};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::client::{
    CallSettings, Client, ClientError, EvaluationCall, EvaluationNews, EvaluationProgress, Link,
    RunningEvaluation, SpreadEvaluation,
};
use tetrion::protocol::pb::evaluate_policies_response::Event;
use tetrion::protocol::results::{encode_estimates, encode_results};
use tetrion::protocol::{duration, pb};
use tokio::sync::Mutex;
use tokio_util::sync::CancellationToken;
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::call::{Metadata, decoded, message, metadata_of, refused, seconds};
use super::executor::Executor;
use super::failure::{Failed, described, raised};
use super::way::{Way, way};

/// Servers by their names, each a [`Channel`] or [`Services`].
type Servers<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// All results, what was played, and the summary, as encoded messages.
type EncodedOutcome<'py> = (Bound<'py, PyBytes>, Bound<'py, PyBytes>, Bound<'py, PyBytes>);

/// An evaluation in progress. One thread at a time waits for its news, and any may close it.
#[pyclass(frozen, name = "EvaluationRun", module = "tetrion._native")]
pub(crate) struct PyEvaluationRun {
    /// `None` once it is closed.
    run: Mutex<Option<RunningEvaluation>>,
    metadata: MetadataMap,
    min_revision: u32,
    patience: Duration,
    executor: Executor,
    /// Cancelled with the connection.
    disconnected: CancellationToken,
    cancelled: CancellationToken,
    process: u32,
}

fn links(servers: &Servers<'_>) -> PyResult<Vec<(String, Link)>> {
    servers.iter().map(|(name, server)| Ok((name.clone(), way(server)?.link))).collect()
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
        let Way { executor, closed: disconnected, .. } = way(first)?;
        let metadata = metadata_of(metadata).map_err(refused)?;
        let (min_revision, patience) = (request.min_revision, seconds(patience));
        let client = Client::over(links(&servers)?, &metadata, min_revision, CallSettings::new(patience));
        let run = client.start_evaluation(request, num_servers).map_err(raised)?;
        Ok(PyEvaluationRun {
            run: Mutex::new(Some(run)),
            metadata,
            min_revision,
            patience,
            executor,
            disconnected,
            cancelled: CancellationToken::new(),
            process: process::id(),
        })
    }

    /// Gives further calls to these servers.
    fn use_servers(&self, py: Python<'_>, servers: Servers<'_>) -> PyResult<()> {
        let settings = CallSettings::new(self.patience);
        let client = Client::over(links(&servers)?, &self.metadata, self.min_revision, settings);
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
                () = self.disconnected.cancelled() => return Err(Failed::disconnected()),
                () = self.cancelled.cancelled() => None,
                news = run.next() => Some(news.map_err(Failed::from)?),
            };
            if news.is_none() {
                guard.take();
            }
            Ok(news.flatten())
        })?;
        let Some(news) = news.map_err(Failed::raised)? else { return Ok(None) };
        let (kind, news) = match news {
            EvaluationNews::Started(started) => ("started", message(py, &*started).into_any()),
            EvaluationNews::Games(games) => ("results", message(py, &encode_results(&games)).into_any()),
            EvaluationNews::Estimates(some) => {
                ("estimates", message(py, &encode_estimates(&some)).into_any())
            }
            EvaluationNews::Progress(now) => ("progress", message(py, &encode_progress(now)).into_any()),
            EvaluationNews::Lost(error) => {
                let failed = described(&Failed::from(error).status());
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
