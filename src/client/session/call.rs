//! One call to a server, repeated while it is lost on the way.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;
use tonic::{Response, Status};

use crate::ClientError;
use crate::Link;
use crate::connection::{CALL_TIMEOUT, FIRST_REST, LONGEST_REST, LinkedServer};
use tetrion_protocol::pb::environment_service_client::EnvironmentServiceClient;

/// Makes a call, and repeats it while it is lost on the way.
pub(super) async fn call<Q: Clone, A>(
    server: &LinkedServer,
    patience: Duration,
    message: Q,
    send: impl AsyncFn(EnvironmentServiceClient<Link>, tonic::Request<Q>) -> Result<Response<A>, Status>,
) -> Result<A, ClientError> {
    let start = Instant::now();
    let mut rest = FIRST_REST;
    loop {
        let mut request = server.request(message.clone());
        request.set_timeout(CALL_TIMEOUT);
        let answer = deadline(send(server.environments(), request)).await;
        match answer.map_err(|status| server.error(&status)) {
            Ok(answer) => return Ok(answer.into_inner()),
            Err(error @ ClientError::Lost { .. }) if start.elapsed() + rest >= patience => return Err(error),
            Err(ClientError::Lost { .. }) => {
                tokio::time::sleep(rest).await;
                rest = (rest * 2).min(LONGEST_REST);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Adds a deadline. The server gets it too; this one is for a server that does not answer at all.
async fn deadline<A>(call: impl Future<Output = Result<A, Status>>) -> Result<A, Status> {
    let answered = tokio::time::timeout(CALL_TIMEOUT, call).await;
    answered.unwrap_or_else(|_| Err(Status::deadline_exceeded("no answer came in time")))
}
