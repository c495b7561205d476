//! What the Rust client makes its calls through: a connection to a server, or the services in this process.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use tetrion::client::Link;
use tetrion::server::Inside;
use tetrion::service::Direct;
use tokio_util::sync::CancellationToken;
use tonic::Status;

use super::Services;
use super::channel::Channel;
use super::executor::Executor;

/// The way to a server.
pub(crate) struct Way {
    pub(crate) link: Link,
    /// Who waits for it.
    pub(crate) executor: Executor,
    /// Cancelled when the connection is closed.
    pub(crate) closed: CancellationToken,
    /// The services, if they are in this process.
    inside: Option<Inside>,
}

impl Way {
    pub(crate) fn is_inside(&self) -> bool {
        self.inside.is_some()
    }

    /// The short way to a session, if it is in this process.
    pub(crate) fn direct(&self, name: &str) -> Option<Result<Direct, Box<Status>>> {
        self.inside.as_ref().map(|inside| inside.session(name).map_err(Box::new))
    }
}

/// The way that a `Channel` or `Services` leads.
pub(crate) fn way(to: &Bound<'_, PyAny>) -> PyResult<Way> {
    if let Ok(channel) = to.cast::<Channel>() {
        let stub = channel.get().stub()?;
        let link = Link::new(stub.target);
        return Ok(Way { link, executor: stub.executor, closed: stub.closed, inside: None });
    }
    let services = to.cast::<Services>().map_err(|_| PyTypeError::new_err("expected a connection"))?;
    let stub = services.get().stub().clone();
    let inside = Some(stub.target.clone());
    Ok(Way { link: Link::new(stub.target), executor: stub.executor, closed: stub.closed, inside })
}
