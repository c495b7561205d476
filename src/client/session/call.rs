//! Calls with one answer.

use std::future::Future;

use tonic::{Response, Status};

use crate::ClientError;
use crate::connection::LinkedServer;
use crate::patience::{CallSettings, Patience};

/// Makes a call, and makes it again while the server is gone.
pub(super) async fn patiently<A, F: Future<Output = Result<A, ClientError>>>(
    settings: &CallSettings,
    call: impl Fn() -> F,
) -> Result<A, ClientError> {
    let mut patience = Patience::new();
    loop {
        match call().await {
            Err(error) if error.is_gone() => patience.after(error, settings).await?,
            answered => return answered,
        }
    }
}

/// A request with its deadline.
pub(super) fn request<Q>(server: &LinkedServer, settings: &CallSettings, message: Q) -> tonic::Request<Q> {
    let mut request = server.request(message);
    if let Some(timeout) = settings.timeout {
        request.set_timeout(timeout);
    }
    request
}

/// Waits for the answer of a call. The server knows the deadline too; this one is for a server that does not answer at
/// all.
pub(super) async fn answer<A>(
    server: &LinkedServer,
    settings: &CallSettings,
    call: impl Future<Output = Result<Response<A>, Status>>,
) -> Result<A, ClientError> {
    let answered = match settings.timeout {
        Some(timeout) => tokio::time::timeout(timeout, call)
            .await
            .unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer came in time"))),
        None => call.await,
    };
    answered.map(Response::into_inner).map_err(|status| server.error(&status))
}
