//! The extension module of the Python package: the services in Python's own process.
//!
//! Python encodes and decodes messages as it does for a server, and a call passes the same layers; only sockets and HTTP/2 are
//! missing. Steps and resets have a second way, without messages: see `session`. Nothing here knows what messages mean.
//! `program` is the command line of the `tetrion` program.
//!
//! The surprising decision: every wait releases the GIL, and wakes up ten times a second to look for signals. So Ctrl-C ends any
//! call, and a call that waits for another thread never keeps that thread from running Python.

mod call;
mod codec;
mod program;
mod session;
mod streams;

use bytes::Bytes;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::server::{Inside, ServerConfig};
use tokio::runtime::{Builder, Runtime};

use call::{Metadata, path_of, refused, request, unary, wait};
use session::{Block, Session};
use streams::Stream;

pyo3::create_exception!(
    tetrion._native,
    CallError,
    pyo3::exceptions::PyException,
    "A refused call: the number of its code, its message, and the bytes of its details."
);

/// The services of this process.
#[pyclass(frozen, module = "tetrion._native")]
struct Services {
    inside: Inside,
    runtime: Runtime,
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
        let inside = {
            let _entered = runtime.enter();
            Inside::start(&ServerConfig { num_threads, ..ServerConfig::default() })
        };
        Ok(Services { inside: inside.map_err(|error| failed(&error))?, runtime })
    }

    /// Makes a call with one answer, and returns it.
    fn call<'py>(
        &self,
        py: Python<'py>,
        path: &str,
        message: &[u8],
        metadata: Metadata,
        timeout: Option<f64>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let request = request(Bytes::copy_from_slice(message), metadata, timeout)?;
        let answer = wait(py, self.runtime.handle(), unary(self.inside.clone(), path_of(path)?, request))?;
        Ok(PyBytes::new(py, &answer.map_err(|status| refused(py, &status))?))
    }

    /// A session, for steps without messages.
    fn session(&self, py: Python<'_>, name: &str) -> PyResult<Session> {
        self.inside.session(name).map(Session::new).map_err(|status| refused(py, &status))
    }

    /// Begins a call with one request and many answers.
    fn stream(
        &self,
        path: &str,
        message: &[u8],
        metadata: Metadata,
        timeout: Option<f64>,
    ) -> PyResult<Stream> {
        let request = request(Bytes::copy_from_slice(message), metadata, timeout)?;
        Stream::of_one(self.runtime.handle(), self.inside.clone(), path, request)
    }

    /// Begins a call with many requests and many answers.
    fn exchange(&self, path: &str, metadata: Metadata) -> PyResult<Stream> {
        Stream::of_many(self.runtime.handle(), self.inside.clone(), path, request((), metadata, None)?)
    }
}

#[pymodule]
mod _native {
    #[pymodule_export]
    use super::program::main;
    #[pymodule_export]
    use super::{Block, CallError, Services, Session, Stream};
}
