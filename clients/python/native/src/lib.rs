//! The extension module of the Python package: the services in Python's own process, and connections to servers.
//!
//! A call in this process passes the same layers as on a server; only sockets and HTTP/2 are missing. Python reads and
//! writes messages field by field: see `messages`. Sessions and evaluations are those of the Rust client: see `session` and
//! `evaluations`. `program` is the command line of the `tetrion` program.
//!
//! The surprising decision: every wait releases the GIL, and wakes up ten times per second to check for signals. So
//! Ctrl-C ends any call, and a call that waits for another thread never prevents that thread from running Python.

mod block;
mod call;
mod channel;
mod columns;
mod evaluations;
mod executor;
mod failure;
mod listing;
mod messages;
mod optimizer;
mod pictures;
mod placements;
mod program;
mod recorded;
mod replay;
mod session;
mod session_stream;
mod single;
mod streams;
mod way;

use std::{mem, process};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::server::{Inside, ServerConfig};
use tetrion::service::ServerLimits;
use tokio::runtime::{Builder, Runtime};
use tokio_util::sync::CancellationToken;

use block::Block;
use call::{Metadata, Stub};
use channel::Channel;
use executor::Executor;
use listing::PyListing;
use session::PySession;
use session_stream::PySessionStream;
use single::PySingle;
use streams::Stream;

pyo3::create_exception!(
    tetrion._native,
    CallError,
    pyo3::exceptions::PyException,
    "A refused call: the name of its code, its message, its reason, metadata and violations, the time to wait, and its id."
);

/// The services in this process.
#[pyclass(frozen, module = "tetrion._native")]
struct Services {
    /// `None` only while this value is dropped.
    running: Option<(Stub<Inside>, Runtime)>,
    process: u32,
}

impl Services {
    fn stub(&self) -> &Stub<Inside> {
        &self.running.as_ref().expect("it is not being dropped").0
    }
}

impl Drop for Services {
    /// Dropping would wait for threads that a forked child does not have, so a child leaves the services as they are.
    fn drop(&mut self) {
        if self.process != process::id() {
            mem::forget(self.running.take());
        }
    }
}

#[pymethods]
impl Services {
    /// Starts the services. Evaluations play on `num_threads` threads; 0 for one per core.
    #[new]
    fn new(num_threads: usize) -> PyResult<Services> {
        let failed = |error: &dyn std::error::Error| {
            PyRuntimeError::new_err(format!("the services cannot start: {error}"))
        };
        let runtime =
            Builder::new_multi_thread().worker_threads(2).thread_name("tetrion").enable_time().build();
        let runtime = runtime.map_err(|error| failed(&error))?;
        let target = {
            let _entered = runtime.enter();
            Inside::start(&config(num_threads))
        };
        let target = target.map_err(|error| failed(&error))?;
        let executor = Executor::Threads(runtime.handle().clone());
        let stub = Stub { target, executor, closed: CancellationToken::new() };
        Ok(Services { running: Some((stub, runtime)), process: process::id() })
    }

    /// Makes a call with one answer. Returns the answer.
    fn call<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        message: &[u8],
        metadata: Metadata,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        self.stub().call(py, path, message, metadata, timeout)
    }

    /// Starts a call with one request and many answers.
    fn stream(
        &self,
        py: Python<'_>,
        path: &str,
        message: &[u8],
        metadata: Metadata,
        timeout: Option<f64>,
    ) -> PyResult<Stream> {
        self.stub().stream(py, path, message, metadata, timeout)
    }
}

/// The settings of a server without flags, except for limits on numbers, which protect callers of a server from each
/// other. Here memory is the only limit.
fn config(num_threads: usize) -> ServerConfig {
    const MANY: u32 = 1 << 20;
    let limits = ServerLimits {
        max_sessions: MANY,
        max_envs: 1 << 24,
        max_watches: MANY,
        max_watches_per_caller: MANY,
        max_evaluations: MANY,
        max_evaluations_per_caller: MANY,
        max_calls: MANY,
        max_calls_per_connection: MANY,
        ..ServerLimits::default()
    };
    ServerConfig { num_threads, limits, ..ServerConfig::default() }
}

#[pymodule]
mod _native {
    use pyo3::prelude::*;
    use tetrion::engine::RULES_VERSION;
    use tetrion::protocol::revision::PROTOCOL_REVISION;

    #[pymodule_export]
    use super::block::{Loan, rows};
    #[pymodule_export]
    use super::evaluations::{PyEvaluationRun, PySpread};
    #[pymodule_export]
    use super::failure::AnswerError;
    #[pymodule_export]
    use super::messages::{PyMessage, PyMessageKind, decoded_message, enums, fields, message_kinds, methods};
    #[pymodule_export]
    use super::optimizer::{InvalidParameterError, PyOptimizer, PyRounds};
    #[pymodule_export]
    use super::pictures::watched_picture;
    #[pymodule_export]
    use super::placements::read_placements;
    #[pymodule_export]
    use super::program::main;
    #[pymodule_export]
    use super::recorded::{RecordingError, read_recording, record, snapshot_side};
    #[pymodule_export]
    use super::replay::PyReplay;
    #[pymodule_export]
    use super::{
        Block, CallError, Channel, PyListing, PySession, PySessionStream, PySingle, Services, Stream,
    };

    /// Adds the version of the rules by which the services play, and the revision of the protocol.
    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("RULES_VERSION", RULES_VERSION)?;
        module.add("PROTOCOL_REVISION", PROTOCOL_REVISION)
    }
}
