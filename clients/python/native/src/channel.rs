//! A connection to a server: the Rust client's connection, for messages that Python encodes.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use std::{mem, process};

use http::Uri;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tetrion::client::{ClientError, ClientIdentity, ConnectOptions, endpoint};
use tokio_util::sync::CancellationToken;

use super::call::{Metadata, Stub, closed, refused};
use super::executor::{Driver, Executor};
use super::streams::Stream;

/// A connection to a server. It connects at the first call, and again after a loss. Threads may share it.
#[pyclass(frozen, module = "tetrion._native")]
pub(crate) struct Channel {
    /// `None` once the connection is closed.
    stub: Mutex<Option<Stub<tonic::transport::Channel>>>,
    process: u32,
}

impl Channel {
    fn lock(&self) -> MutexGuard<'_, Option<Stub<tonic::transport::Channel>>> {
        self.stub.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn stub(&self) -> PyResult<Stub<tonic::transport::Channel>> {
        self.lock().clone().ok_or_else(|| refused(closed()))
    }
}

impl Drop for Channel {
    /// Leaves the connection alone in a forked child, which has none of the threads that its end would wake.
    fn drop(&mut self) {
        if self.process != process::id() {
            mem::forget(self.lock().take());
        }
    }
}

/// The contents of three files, each empty or in PEM, and the name in the server's certificate.
type TlsContents = (Vec<u8>, Vec<u8>, Vec<u8>, Option<String>);

#[pymethods]
impl Channel {
    /// Prepares a connection to `HOST:PORT` or `unix:PATH`.
    ///
    /// `tls` has the contents of three files, or empty bytes: authorities, the client's certificate, and its key. Then comes
    /// the name that the server's certificate must have, by default the host.
    /// `waits` has three times in seconds: the most for connecting, the silence after which the server gets a ping, and
    /// the most for the answer to a ping.
    ///
    /// # Errors
    /// `ValueError` if the address or the files cannot be used.
    #[new]
    fn new(address: &str, tls: Option<TlsContents>, waits: (f64, f64, f64)) -> PyResult<Channel> {
        let mut options = ConnectOptions::default();
        let mut url = address.to_owned();
        let is_plain = tls.is_none();
        if let Some((authorities, certificates, key, server_name)) = tls {
            let text =
                |file: Vec<u8>| (!file.is_empty()).then(|| String::from_utf8_lossy(&file).into_owned());
            options.authorities = text(authorities);
            options.server_name = server_name;
            options.identity = text(certificates)
                .zip(text(key))
                .map(|(certificates, key)| ClientIdentity { certificates, key });
            url = format!("https://{address}");
        }
        let mut endpoint = endpoint(&url, &options)
            .map_err(|error| {
                PyValueError::new_err(match error {
                    ClientError::Connect { reason, .. } => format!("tls cannot be used: {reason}"),
                    error => error.to_string(),
                })
            })?
            .connect_timeout(Duration::from_secs_f64(waits.0))
            .http2_keep_alive_interval(Duration::from_secs_f64(waits.1))
            .keep_alive_timeout(Duration::from_secs_f64(waits.2))
            .keep_alive_while_idle(true);
        if is_plain {
            // The host protects pages in browsers, and may be the name of a tunnel, which a server does not know.
            endpoint = endpoint.origin(Uri::from_static("http://localhost"));
        }
        let driver = Driver::of_this_process()
            .map_err(|error| PyRuntimeError::new_err(format!("a connection cannot be made: {error}")))?;
        let executor = Executor::Waiting(driver);
        let target = {
            let _entered = executor.handle().enter();
            endpoint.connect_lazy()
        };
        let stub = Stub { target, executor, closed: CancellationToken::new() };
        Ok(Channel { stub: Mutex::new(Some(stub)), process: process::id() })
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
        self.stub()?.call(py, path, message, metadata, timeout)
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
        self.stub()?.stream(py, path, message, metadata, timeout)
    }

    /// Closes the connection, which ends every call.
    fn close(&self) {
        if let Some(stub) = self.lock().take() {
            stub.closed.cancel();
        }
    }
}
